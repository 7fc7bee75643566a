"""Games of one's own: from Python objects, and from a module that a matchup file names."""

from __future__ import annotations

import csv
import json
import runpy
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay as command

import preplay
from preplay import CHANCE, FINAL, InputError
from preplay.cli.prepare import print_book
from preplay.matchup.model import label_of
from preplay.report.gather import gather

EXAMPLES = Path(__file__).parents[2] / "examples"
History = tuple[str, ...]


class Coins:
    """Player 1 bets high or low, chance tosses, player 2 guesses: small enough to know by hand."""

    longest, widest = 3, 2

    def root(self) -> History:
        return ()

    def history(self, state: History) -> History:
        return state

    def player(self, state: History) -> int:
        return (1, CHANCE, 2, FINAL)[len(state)]

    def actions(self, state: History) -> tuple[str, ...]:
        return (("high", "low"), ("heads", "tails"), ("heads", "tails"))[len(state)]

    def chance(self, state: History) -> dict[str, float]:
        return {"heads": 0.75, "tails": 0.25}

    def next(self, state: History, action: str) -> History:
        return (*state, action)

    def utility(self, state: History) -> float:
        return (1.0 if state[0] == "high" else 0.5) * (state[1] != state[2])


def coin(state: History) -> dict[str, float]:
    return {"high": 0.5, "low": 0.5} if not state else {"heads": 0.5, "tails": 0.5}


def knows(state: History) -> dict[str, float]:
    """Depends on the history: player 2 sees what chance did."""
    return {"high": 1.0} if not state else {state[1]: 1.0}


def coins(**more: Any) -> preplay.Matchup[History]:
    return preplay.make_matchup(Coins(), coin, knows, name="coins", **more)


def test_by_hand() -> None:
    first = preplay.prepare(coins(), 1, 0.01)
    assert (first.baseline, first.value, first.size) == (0.375, 0.5, 1)
    second = preplay.prepare(coins(), 2, 0.01)
    assert second.value == 1.0  # it never lets player 1 win
    assert second.size == 4
    dear = preplay.prepare(
        coins(), 2, 0.1
    )  # only what is met with probability 3/8 pays, where much is lost
    assert {e.history for e in dear.book.entries} == {("high", "heads")}
    both = preplay.equilibrium(coins(), 0.01)
    assert both.baseline == 0.375
    assert both.lower <= both.value <= both.upper
    assert preplay.frontier(coins(), 2).points[-1].value == 1.0


def test_saved_reported_swept_and_exported_like_the_built_in_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = coins(cost=0.01, sides=("better", "guesser"))
    result = preplay.prepare(named, "guesser", save=tmp_path / "run")
    assert result.side == "guesser"
    assert preplay.load_run(tmp_path / "run") == result
    page = gather(tmp_path / "run")
    assert (page["worth"]["value"], page["sides"]) == (1.0, ["better", "guesser"])
    assert preplay.equilibrium(named, save=tmp_path / "both").run is not None
    assert gather(tmp_path / "both")["kind"] == "mixed"
    assert command(capsys, "draw", tmp_path / "both", "--side", "better")[0] == 0
    assert command(capsys, "export", tmp_path / "run", "--json", tmp_path / "book.json")[0] == 0
    assert preplay.load_book(tmp_path / "book.json") == result.book
    assert command(capsys, "report", tmp_path / "run", "-o", tmp_path / "page.html")[0] == 0
    swept = preplay.sweep(named, "cost", [0.2, 0.01], side="guesser", save=tmp_path / "sweep")
    assert [p.size for p in swept.points] == [0, 4]
    assert preplay.load_run(tmp_path / "sweep") == swept
    assert gather(tmp_path / "sweep")["series"][0]["side"] == "guesser"
    with pytest.raises(preplay.StoreError, match="belongs to another run"):
        preplay.prepare(coins(cost=0.01), 2, save=tmp_path / "run")


def test_books_that_are_not_of_chess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are tables of actions; what needs boards says so in one line."""
    result = preplay.prepare(coins(sides=("better", "guesser")), 2, 0.01, save=tmp_path / "run")
    preplay.equilibrium(coins(), 0.01, save=tmp_path / "both")
    table = tmp_path / "book.csv"
    assert command(capsys, "export", tmp_path / "run", "--csv", table)[0] == 0
    rows = list(csv.DictReader(table.read_text().splitlines()))
    by_line = {row["line"]: row for row in rows}
    assert by_line.keys() == {" ".join(e.history) for e in result.book.entries}
    assert {row["line"].split()[1] for row in rows if row["move"] == "heads"} == {"heads"}
    assert [row["line"] for row in rows[:2]] == ["high heads", "low heads"]  # what gains most
    assert float(rows[-1]["cumulative_value"]) == pytest.approx(result.value)
    assert float(rows[0]["cumulative_value"]) == pytest.approx(0.625 + result.book.entries[0].gain)
    assert command(capsys, "export", tmp_path / "both", "--side", 2, "--csv", table)[0] == 0
    games = EXAMPLES / "rival.pgn"
    for words, message in (
        (("export", tmp_path / "run", "--pgn", tmp_path / "x.pgn"), "expected --json or --csv for other"),
        (("check", tmp_path / "run", games), "a book of 'coins', which is not chess; expected a chess"),
        (("check", tmp_path / "run" / "book.json", games), "a book of 'coins', which is not chess"),
        (("check", tmp_path / "run", games, "--opponent", "Rival"), "'coins', which is not chess"),
        (("uci", "--book", tmp_path / "run"), "a book of 'coins', which is not chess"),
        (
            ("uci", "--install-hint", "--book", tmp_path / "run" / "book.json"),
            "book: 'high' at the start is no move of chess; expected a chess book",
        ),
        (("uci", "--as-opponent", tmp_path / "run"), "a run of 'coins' (kind 'python'); expected chess"),
    ):
        code, out, err = command(capsys, *words)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert message in err


class OddCoins(Coins):
    """Tails come more often."""

    def chance(self, state: History) -> dict[str, float]:
        return {"heads": 0.25, "tails": 0.75}


def test_another_game_does_not_take_up_a_run(tmp_path: Path) -> None:
    def odd(**more: Any) -> preplay.Matchup[History]:
        return preplay.make_matchup(OddCoins(), coin, knows, name="coins", **more)

    def shy(state: History) -> dict[str, float]:
        return {"low": 1.0} if not state else {state[1]: 1.0}

    preplay.prepare(coins(), 1, 0.01, save=tmp_path / "a")
    preplay.equilibrium(coins(), 0.01, save=tmp_path / "b")
    preplay.sweep(coins(), "cost", [0.2, 0.01], side=1, save=tmp_path / "c")
    others = (
        odd(),
        preplay.make_matchup(Coins(), coin, shy, name="coins"),
        coins(value={"model": "rollouts", "samples": 20}),
        coins(identity={"version": 2}),
    )
    for other in others:
        for again in (
            lambda m: preplay.prepare(m, 1, 0.01, save=tmp_path / "a"),
            lambda m: preplay.equilibrium(m, 0.01, save=tmp_path / "b"),
            lambda m: preplay.sweep(m, "cost", [0.2, 0.01], side=1, save=tmp_path / "c"),
        ):
            with pytest.raises(preplay.StoreError, match="belongs to another run"):
                again(other)
    assert preplay.prepare(coins(), 1, 0.01, save=tmp_path / "a").value == 0.5


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"cost": -1.0}, "cost -1"),
        ({"cost": float("nan")}, "cost nan"),
        ({"cost": (0.1, 0.1, 0.1)}, "3 costs; expected one, or one for each side"),
        ({"sides": ("a",)}, "sides \\('a',\\); expected two different names"),
        ({"sides": ("a", "a")}, "expected two different names"),
        ({"identity": {"x": {1, 2}}}, "identity: .*; expected JSON data"),
        ({"identity": [1]}, "identity \\[1\\]; expected a dict of JSON data"),
    ],
)
def test_matchups_that_cannot_be(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        coins(**more)


class Wide(Coins):
    widest: Any = "two"


class Endless(Coins):
    def player(self, state: History) -> int:
        return 1 + len(state) % 2

    def actions(self, state: History) -> tuple[str, ...]:
        return ("heads", "tails")


class Bets(Coins):
    def utility(self, state: History) -> Any:
        return state[1] == state[2]  # true and false are 1 and 0


class Nothing(Coins):
    def utility(self, state: History) -> Any:
        return None


def test_a_game_has_its_rules_and_answers_with_numbers() -> None:
    games: list[tuple[Any, str]] = [(Wide(), "widest 'two'"), (None, "game None has no `longest`")]
    for game, message in games:
        with pytest.raises(InputError, match=message):
            preplay.make_matchup(game, coin, knows)
    assert preplay.prepare(preplay.make_matchup(Bets(), coin, knows), 1, 0.01).value == 0.5
    odd: Any = lambda state: {"high": "much"}  # noqa: E731
    none: Any = preplay.ValueFunction(lambda state: None)  # type: ignore[arg-type, return-value]
    for matchup, message in (
        (preplay.make_matchup(Nothing(), coin, knows), "utility None; expected a number in \\[0, 1\\]"),
        (preplay.make_matchup(Coins(), odd, knows), "probability of 'high' is much; expected a number"),
        (preplay.make_matchup(Coins(), coin, knows, value=none), "value None ± 0.0; expected a mean"),
    ):
        with pytest.raises(preplay.GameError, match=message):
            preplay.prepare(matchup, 1, 0.01)


def test_matches_of_an_endless_game_and_of_another_ones_book_are_refused() -> None:
    def heads(state: History) -> dict[str, float]:
        return {"heads": 1.0}

    half = preplay.ValueFunction[History](lambda state: 0.5)
    endless = preplay.make_matchup(Endless(), heads, heads, value=half)
    unread = preplay.prepare(coins(), 1, 0.9)
    read = preplay.prepare(coins(), 1, 0.01)
    with pytest.raises(InputError, match=r"of another game \(name was 'coins', now 'own'\)"):
        preplay.match(endless, unread, 2)
    with preplay.open_matchup("synthetic") as other:
        with pytest.raises(InputError, match=r"of another game \(kind was 'python', now 'synthetic'\)"):
            preplay.match(other, unread, 2)
        with pytest.raises(InputError, match=r"of another game \(kind was 'synthetic', now 'python'\)"):
            preplay.match(endless, preplay.prepare(other, 1, 0.5), 2)
    told_nothing = [replace(found.book, provenance={}) for found in (unread, read)]
    with pytest.raises(preplay.GameError, match="a history of 4 actions; expected at most 3"):
        preplay.match(endless, told_nothing[0], 2)
    with pytest.raises(InputError, match="the book plays 'high'; expected one of 'heads', 'tails'"):
        preplay.match(endless, told_nothing[1], 2)


def test_a_sweep_names_the_argument_that_there_is_not() -> None:
    with pytest.raises(InputError, match="did you mean 'name'"):
        preplay.sweep(lambda name="a": coins(), "nam", ["b"], side=1)


def test_a_function_plays_what_the_game_has() -> None:
    for base, prep, message in (
        (
            coin,
            lambda state: {"edge": 1.0},
            "prep plays 'edge'; expected one of 'high', 'low'",
        ),
        (lambda state: {"edge": 1.0}, knows, "base plays 'edge'"),
        (lambda state: ["high"], knows, "base gives list; expected a distribution"),
    ):
        matchup: Any = preplay.make_matchup(Coins(), base, prep, cost=0.01)  # type: ignore[arg-type]
        with pytest.raises(preplay.GameError, match=message):
            preplay.prepare(matchup, 1)


def test_a_function_is_swept_over_its_argument(tmp_path: Path) -> None:
    def build(bias: float = 0.5) -> preplay.Matchup[History]:
        def board(state: History) -> dict[str, float]:
            return {"high": bias, "low": 1 - bias} if not state else coin(state)

        return preplay.make_matchup(Coins(), board, knows, cost=0.01, identity={"bias": bias})

    heard: list[object] = []
    asked: dict[str, Any] = {"side": 1, "save": tmp_path / "run", "progress": heard.append}
    swept = preplay.sweep(build, "bias", [0.0, 0.5, 1.0], measures=["gain"], **asked)
    assert [p.gain for p in swept.points] == pytest.approx([0.25, 0.125, 0.0])
    assert len(heard) == 3
    assert "bias=0.5" in str(heard[1])
    assert preplay.sweep(build, "bias", [0.0, 0.5, 1.0], measures=["gain"], **asked) == swept
    assert len(heard) == 3  # nothing was computed again
    mistakes: list[tuple[Any, list[float], str]] = [
        (build(), [1.0], "where only the cost can vary"),
        (build, [], "expected at least one"),
        (lambda bias: 1, [1.0], "gives int"),
    ]
    for source, values, message in mistakes:
        with pytest.raises(InputError, match=message):
            preplay.sweep(source, "bias", values, side=1)


def test_values_by_roll_outs_and_by_ones_own_word() -> None:
    sampled = coins(value={"model": "adaptive", "epsilon": 0.1}, cost=0.05)
    result = preplay.prepare(sampled, 2)
    assert result.error > 0.0
    assert result.value == pytest.approx(1.0, abs=result.error)
    told = coins(value=preplay.ValueFunction(lambda state: 0.25))
    assert preplay.prepare(told, 1, 0.01).baseline == 0.25


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": 7}, "base is 7; expected a policy"),
        ({"prep": (coin, coin, coin)}, "prep: 3 policies; expected one, or one for each side"),
        ({"value": 7}, "value is 7; expected an evaluator or a table"),
        ({"value": {"modle": "exact"}}, "unknown key 'modle'; did you mean 'model'?"),
    ],
)
def test_mistakes_are_told_in_one_line(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"game": Coins(), "base": coin, "prep": knows}
    with pytest.raises(InputError) as error:
        preplay.make_matchup(**(given | change))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ((), "history ['high', 'heads']: no actions where the game is not over; expected at least one"),
        (("heads", "tails", "heads"), "the action 'heads' twice; expected each action once"),
        (("heads", "tails", "edge"), "3 actions; expected at most 2, the game's `widest`"),
        (iter(("heads", "tails")), "actions are <tuple_iterator object"),
    ],
)
@pytest.mark.parametrize("policy", ["function", "uniform", "search", "mcts"])
def test_actions_that_cannot_be_are_told_in_one_line(actions: Any, message: str, policy: str) -> None:
    class Odd(Coins):
        def actions(self, state: History) -> tuple[str, ...]:
            answer: tuple[str, ...] = actions if len(state) == 2 else super().actions(state)
            return answer

    game = Odd()
    base: Any = {
        "function": coin,
        "uniform": preplay.Uniform(game),
        "search": preplay.SearchPolicy(game, 1),
        "mcts": preplay.MctsPolicy(game, 5),
    }[policy]
    value = preplay.ValueFunction[History](lambda state: 0.5)
    with pytest.raises(preplay.GameError) as error:
        preplay.prepare(preplay.make_matchup(game, (coin, base), coin, value=value), 1, 0.01)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


class Traps:
    """Player 1 plays solid or sets a trap, player 2 answers, and player 1 finishes; by two ways there."""

    longest, widest = 3, 3

    def root(self) -> History:
        return ()

    def history(self, state: History) -> History:
        return state

    def player(self, state: History) -> int:
        return (1, 2, 1, FINAL)[len(state)]

    def actions(self, state: History) -> tuple[str, ...]:
        return (("solid", "trap", "wild"), ("see", "fall"), ("take", "leave"))[len(state)]

    def chance(self, state: History) -> dict[str, float]:
        return {}

    def next(self, state: History, action: str) -> History:
        return (*state, action)

    def utility(self, state: History) -> float:
        first, second, last = state
        kept = {"solid": 0.5, "trap": 0.25, "wild": 0.0}[first]
        return kept if second == "see" else (1.0 if last == "take" and first != "solid" else kept)


def tempted(state: History) -> dict[str, float]:
    """At the board: player 1 does anything, player 2 mostly falls for it."""
    if len(state) == 1:
        return {"see": 0.25, "fall": 0.75}
    actions = Traps().actions(state)
    return dict.fromkeys(actions, 1.0 / len(actions))


def sound(state: History) -> dict[str, float]:
    return {("solid", "see", "take")[len(state)]: 1.0}


def opinion(state: History) -> dict[str, float]:
    """What a book may play at the start; elsewhere what prep does."""
    return {"wild": 0.0, "trap": 0.25, "solid": 0.5} if not state else {}


def traps(prep: Any = sound, **more: Any) -> preplay.Matchup[History]:
    return preplay.make_matchup(Traps(), tempted, prep, name="traps", cost=0.01, **more)


def tabular(menus: Any) -> dict[str, Any]:
    """The same game as a file tells it."""
    game = Traps()

    def node(state: History) -> dict[str, Any]:
        if game.player(state) == FINAL:
            return {"utility": game.utility(state)}
        base, prep, menu = tempted(state), sound(state), menus(state)
        edges = {
            a: {"base": base.get(a, 0.0), "prep": prep.get(a, 0.0), "to": node(game.next(state, a))}
            | ({"menu": True} if a in menu else {})
            for a in game.actions(state)
        }
        return {"player": game.player(state), "actions": edges}

    return {"format": "preplay-game/1", "root": node(())}


def test_books_choose_from_menus_of_ones_own(tmp_path: Path) -> None:
    fixed = preplay.prepare(traps(), 1)
    free = preplay.prepare(traps(menus=opinion), 1, save=tmp_path / "run")
    assert [dict(e.moves) for e in fixed.book.entries] == [{"solid": 1.0}]
    # Three times in four the trap is worth 1 if what follows is learned too.
    assert free.value == pytest.approx(0.75 * 1.0 + 0.25 * 0.25)
    entry = free.book.entries[0]
    assert entry.deviates
    assert entry.decision is not None
    assert [(o.move, o.opinion) for o in entry.decision.options] == [
        ("solid", 0.5),
        ("trap", 0.25),
        ("wild", 0.0),
    ]
    assert preplay.load_run(tmp_path / "run") == free
    file = tmp_path / "traps.json"
    file.write_text(json.dumps(tabular(opinion)))
    with preplay.open_matchup(str(file)) as same:
        assert preplay.prepare(same, 1, 0.01).net == pytest.approx(free.net, abs=1e-12)
    for more, moves in (
        ({"choose": 2}, ["solid", "trap"]),
        ({"margin": 0.25}, ["solid", "trap"]),
        ({"choose": 1}, ["solid"]),
        ({"deviations": 0}, ["solid"]),
        ({"margin": 0.1}, ["solid"]),
    ):
        best = preplay.prepare(traps(menus=opinion, **more), 1).book.entries[0]
        decided = best.decision
        assert [o.move for o in decided.options] == moves if decided else moves == ["solid"]
    with pytest.raises(preplay.StoreError, match="belongs to another run"):
        preplay.prepare(traps(menus=opinion, choose=2), 1, save=tmp_path / "run")
    with pytest.raises(preplay.StoreError, match="belongs to another run"):
        preplay.prepare(traps(), 1, save=tmp_path / "run")


def test_a_search_offers_its_best_actions_and_a_side_can_hide_among_them() -> None:
    search = preplay.SearchPolicy(Traps(), 3)
    (menu,) = traps(search, choose=2).menus[0].menus([()])  # type: ignore[union-attr]
    assert [action for action, _ in menu] == ["solid", "trap"]
    # The search thinks that player 2 sees everything; at the board three in four do not.
    free = preplay.prepare(traps(search, choose=3), 1)
    assert free.value == pytest.approx(0.75 + 0.25 * 0.25)
    mixed = preplay.harden(traps(menus=(None, lambda state: {"see": 1.0, "fall": 0.0})), 2, 0.01)
    assert mixed.lower <= mixed.value <= mixed.upper


def test_a_judge_of_ones_own_word() -> None:
    rosy: Any = preplay.ValueFunction(lambda state: 0.9 if len(state) < 3 else Traps().utility(state))
    exact = preplay.prepare(traps(), 1)
    for judge in ("exact", preplay.Exact(Traps(), traps().base), traps(value=rosy, judge="exact").judge):
        judged = preplay.prepare(traps(value=rosy, judge=judge), 1)
        assert judged.judged is not None
        assert judged.judged.searches > 0
        assert judged.net == pytest.approx(exact.net)
    with pytest.raises(InputError, match="a judge of exact or sampled values; expected an evaluator's"):
        traps(judge="exact")


def test_memory_by_position(tmp_path: Path) -> None:
    """What player 1 does last is one thing to learn, whatever was the first move."""

    def place(state: History) -> tuple[Any, ...]:
        return len(state), *state[1:]

    def wild(state: History) -> dict[str, float]:
        return {"trap": 0.5, "wild": 0.5} if not state else {"take": 1.0}

    by_history = preplay.prepare(traps((wild, sound)), 1, 0.05)
    by_position = preplay.prepare(traps((wild, sound), position=place), 1, 0.05, save=tmp_path / "run")
    assert (by_history.size, by_position.size) == (3, 2)
    assert by_history.value == by_position.value
    assert preplay.load_run(tmp_path / "run") == by_position
    with pytest.raises(preplay.StoreError, match="belongs to another run"):
        preplay.prepare(traps((wild, sound)), 1, 0.05, save=tmp_path / "run")
    assert preplay.frontier(traps((wild, sound), position=place), 1, 0.05).points[-1].size == 2


def fickle(state: History) -> dict[str, float]:
    """Depends on the first move, which the position does not tell."""
    if not state:
        return {"trap": 0.5, "wild": 0.5}
    return {"take" if state[0] == "trap" else "leave": 1.0}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"menus": 7}, "menus is 7; expected a function from a state to a dict"),
        ({"menus": (opinion,)}, "menus: 1 of them; expected one, or one for each side"),
        ({"choose": 2}, "choose 2: matchup 'traps' has no menus; expected `menus` of it, or a Search"),
        ({"menus": opinion, "choose": 0}, "choose 0; expected a whole number of at least 1"),
        ({"menus": opinion, "deviations": -1}, "deviations -1; expected a whole number of at least 0"),
        ({"menus": opinion, "margin": float("nan")}, "margin nan; expected a number of at least 0"),
        ({"menus": lambda s: ["trap"]}, "history []: menus gives list; expected a dict from actions"),
        (
            {"menus": lambda s: {"trip": 1.0}},
            "menus offers 'trip'; expected some of solid, trap, wild",
        ),
        ({"menus": lambda s: {"trap": "good"}}, "menus thinks 'good' of 'trap'; expected a number"),
        ({"judge": 7, "value": preplay.ValueFunction(len)}, "judge is 7; expected an evaluator, a Judge"),
        ({"position": 7}, "position is 7; expected a function of a state"),
        ({"position": list}, "history []: position gives list; expected something hashable"),
        ({"position": lambda s: 0}, "history ['solid', 'fall']: not the actions of []"),
        (
            {"prep": fickle, "position": lambda s: (len(s), *s[1:])},
            "not the prep of ['wild', 'fall'], which has the same position; expected the same prep",
        ),
    ],
)
def test_what_cannot_be_chosen_judged_or_remembered(more: dict[str, Any], message: str) -> None:
    with pytest.raises(preplay.PreplayError) as error:
        preplay.prepare(traps(**more), 1)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_matchup_file_chooses_and_remembers(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sys.modules["test_own_game"] = sys.modules[__name__]
    source = """
import preplay
from test_own_game import Traps, opinion, sound, tempted
class Placed(Traps):
    merges = True
    def position(self, state):
        return len(state), *state[1:]
def build(game=Traps, menus=opinion):
    return preplay.make_matchup(game(), tempted, sound, menus=menus, cost=0.01)
def placed():
    return build(Placed)
def plain():
    return build(menus=None)
"""
    file = written(module, source)
    words = ("prepare", file, "--side", 1, "--json")
    values = [
        json.loads(command(capsys, *words, *more)[1])["value"]
        for more in ((), ("--choose", 2), ("--choose", 1), ("--deviations", 0), ("--margin", 0.1))
    ]
    assert values == [pytest.approx(v) for v in (0.8125, 0.8125, 0.5, 0.5, 0.5)]
    saved = ("--choose", 2, "--deviations", 1, "--save", tmp_path / "run")
    assert command(capsys, *words, *saved)[0] == 0
    kept = preplay.load_run(tmp_path / "run").run.matchup
    assert (kept["choose"], kept["deviations"]) == (2, 1)
    assert command(capsys, "match", tmp_path / "run", "--games", 20)[0] == 0
    assert command(capsys, "harden", file, "--side", 1, "--cost", 0.01, "--choose", 2)[0] == 0
    found = json.loads(
        command(capsys, *words[:1], written(module, source, matchup="my_coins:placed"), *words[2:],
                "--set", "memory=positions")[1]
    )  # fmt: skip
    assert found["value"] == pytest.approx(0.8125)
    for more, keys, message in (
        (("--choose", 2), {"matchup": "my_coins:plain"}, "choose 2: matchup 'own' has no menus"),
        ((), {"memory": "positions"}, "memory = 'positions', but its game has no `position`"),
        ((), {"memory": "boards"}, "memory = \"boards\"; expected 'histories' or 'positions'"),
    ):
        code, _, err = command(capsys, "prepare", written(module, source, **keys), "--side", 1, *more)
        assert (code, err.count("\n")) == (1, 1)
        assert message in err


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Path]:
    """A folder with a module of one's own, forgotten afterwards."""
    before = list(sys.path)
    yield tmp_path / "my_coins.py"
    sys.path[:] = before
    sys.modules.pop("my_coins", None)


SOURCE = """
from contextlib import contextmanager
import preplay
from test_own_game import Coins, coin, knows
def build(cost=0.01):
    return preplay.make_matchup(Coins(), coin, knows, cost=cost, sides=("better", "guesser"))
@contextmanager
def open_it():
    print("opened")
    yield build()
    print("closed")
def broken():
    return 1 / 0
def none():
    return None
number = 7
"""


def written(module: Path, text: str = SOURCE, **more: object) -> Path:
    sys.modules["test_own_game"] = sys.modules[__name__]
    module.write_text(text)
    keys = {"matchup": "my_coins:build"} | more
    file = module.with_suffix(".toml")
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in keys.items()]
    file.write_text('kind = "python"\n' + "".join(lines))
    return file


def test_every_command_takes_a_matchup_file_of_ones_own_game(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(module)
    code, out, err = command(
        capsys, "prepare", file, "--side", "guesser", "--json", "--save", tmp_path / "a"
    )
    assert (code, err) == (0, "")
    assert (json.loads(out)["value"], json.loads(out)["side"]) == (1.0, "guesser")
    run = preplay.load_run(tmp_path / "a").run
    assert run.matchup["matchup"] == "my_coins:build"
    assert len(run.matchup["sha256"]) == 64
    assert run.sides == ("better", "guesser")
    for words in (
        ("frontier", file, "--side", 2),
        ("bounds", file, "--side", 1, "--advantage", 0.4, "--epsilon", 0.5),
        ("equilibrium", file, "--save", tmp_path / "b"),
        ("draw", tmp_path / "b", "--side", "guesser"),
        ("report", tmp_path / "b", "-o", tmp_path / "b.html"),
        ("prepare", "my_coins:build", "--side", 1),
        ("match", file, "--side", "guesser", "--games", 20),
        ("match", tmp_path / "a", "--games", 20),
    ):
        code, out, err = command(capsys, *words)
        assert (code, err) == (0, ""), words
    module.write_text(SOURCE + "\n# changed\n")
    code, _, err = command(capsys, "prepare", file, "--side", "guesser", "--save", tmp_path / "a")
    assert code == 1
    assert "matchup.sha256 was" in err
    with preplay.open_matchup(str(written(module, cost=0.3))) as matchup:
        assert matchup.costs == (0.3, 0.3)


def test_modules_of_one_name_in_two_folders_and_one_that_was_changed(tmp_path: Path) -> None:
    sys.modules["test_own_game"] = sys.modules[__name__]
    found = []
    for folder, cost in (("a", "0.01"), ("b", "0.02"), ("a", "0.01"), ("b", "0.03")):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "same_name.py").write_text(SOURCE.replace("cost=0.01", f"cost={cost}"))
        (place / "m.toml").write_text('kind = "python"\nmatchup = "same_name:build"\n')
        with preplay.open_matchup(str(place / "m.toml")) as matchup:
            found.append((matchup.costs[0], matchup.config["sha256"]))
    assert [cost for cost, _ in found] == [0.01, 0.02, 0.01, 0.03]
    assert len(set(found)) == len({digest for _, digest in found}) == 3


def test_what_a_policy_of_ones_own_raises_is_one_line(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raising = "def knows(state):\n    raise ValueError('oh')\ndef build"
    file = written(module, SOURCE.replace("def build", raising))
    code, out, err = command(capsys, "prepare", file, "--side", "guesser")
    assert (code, out) == (1, "")
    assert "my_coins:build': ValueError: oh (my_coins.py, line" in err
    assert len(err.strip().splitlines()) == 1


def test_the_example_is_swept_by_processes_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("dice_race.py", "dice_race.toml"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    words = ("sweep", tmp_path / "dice_race.toml", "--side", 1, "--key", "settings.courage")
    code, out, err = command(capsys, *words, "--values", "0.1,0.9", "--save", tmp_path / "run", "--json")
    assert (code, err) == (0, "")
    here = preplay.sweep(
        runpy.run_path(str(EXAMPLES / "dice_race.py"))["build"], "courage", [0.1, 0.9], side=1
    )
    found = [row["value"] for row in json.loads(out)["points"]]
    assert found == [p.value for p in here.points]
    assert command(capsys, "report", tmp_path / "run", "-o", tmp_path / "page.html")[0] == 0


def test_a_run_of_the_example_is_matched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("dice_race.py", "dice_race.toml"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    run, here = tmp_path / "run", ("--set", f"path={tmp_path}")
    assert command(capsys, "prepare", tmp_path / "dice_race.toml", "--side", 1, "--save", run)[0] == 0
    code, out, _ = command(capsys, "match", run, "--games", 4, *here, "--json")
    assert (code, json.loads(out)["games"]) == (0, 4)
    with (tmp_path / "dice_race.py").open("a") as file:
        file.write("# changed")
    code, _, err = command(capsys, "match", run, "--games", 4, *here)
    assert (code, err) == (1, f"preplay: {run}: the file of its game has changed since it was made\n")
    preplay.prepare(coins(), 1, 0.01, save=tmp_path / "own")
    code, _, err = command(capsys, "match", tmp_path / "own")
    assert code == 1
    assert err.endswith(
        "of a matchup made in Python, which commands cannot open; expected preplay.match\n"
    )


def test_a_run_of_a_tabular_game_is_matched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game, run = EXAMPLES / "game.json", tmp_path / "run"
    assert command(capsys, "prepare", game, "--side", 1, "--cost", 0.01, "--save", run)[0] == 0
    code, _, err = command(capsys, "match", run)
    assert (code, err) == (
        1,
        f"preplay: {run}: records no file of its tabular game; expected --set file=FILE\n",
    )
    code, out, _ = command(capsys, "match", run, "--games", 4, "--set", f"file={game}", "--json")
    assert (code, json.loads(out)["games"]) == (0, 4)


def test_what_a_function_opens_is_closed(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with preplay.open_matchup(str(written(module, matchup="my_coins:open_it"))) as matchup:
        assert preplay.prepare(matchup, 1).value == 0.5
        assert capsys.readouterr().out == "opened\n"
    assert capsys.readouterr().out == "closed\n"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"matchup": "build"}, "expected module:function"),
        ({"matchup": "no_such_thing:build"}, "no module named 'no_such_thing'; looked in"),
        ({"matchup": "my_coins:biuld"}, "my_coins has no 'biuld'; did you mean 'build'?"),
        ({"matchup": "my_coins:number"}, "is int; expected a function"),
        ({"matchup": "my_coins:none"}, "gives NoneType; expected a preplay.Matchup"),
        ({"matchup": "my_coins:broken"}, "ZeroDivisionError: division by zero (my_coins.py, line "),
        ({"settings": {"cots": 1}}, "unexpected keyword argument 'cots'; did you mean 'cost'?"),
        ({"stetings": {}}, "unknown key 'stetings'; did you mean 'settings'?"),
    ],
)
def test_wrong_files_are_told_in_one_line(
    module: Path, keys: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = keys.pop("settings", None)
    file = written(module, **keys)
    if table is not None:
        file.write_text(file.read_text() + f"[settings]\ncots = {table['cots']}\n")
    code, out, err = command(capsys, "prepare", file, "--side", 1)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


def test_code_that_is_none_is_told_in_one_line(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = command(capsys, "prepare", written(module, "def build(:\n"), "--side", 1)
    assert code == 1
    assert "SyntaxError: invalid syntax (my_coins.py, line 1)" in err


class Odd(Coins):
    """Answers as `how` says, where no game would."""

    def __init__(self, how: str) -> None:
        self.how = how

    def player(self, state: History) -> Any:
        odd = {"player 5": 5, "no player": None, "a list of players": [1]}
        return odd.get(self.how, super().player(state)) if len(state) == 1 else super().player(state)

    def chance(self, state: History) -> Any:
        listed = list(super().chance(state).items())
        return {"listed chance": listed, "no chance": None}.get(self.how, dict(listed))

    def actions(self, state: History) -> Any:
        odd = {"unhashable": [["a"], "b"], "text": "ab"}
        return odd.get(self.how, super().actions(state)) if len(state) == 2 else super().actions(state)

    def next(self, state: History, action: str) -> Any:
        return None if self.how == "nowhere" and len(state) == 2 else super().next(state, action)


@pytest.mark.parametrize("work", [preplay.prepare, preplay.bounds, preplay.equilibrium])
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("player 5", "player 5; expected 1, 2, 0 (chance) or -1 (over)"),
        ("no player", "player None; expected 1, 2, 0 (chance) or -1 (over)"),
        ("a list of players", "player [1]; expected 1, 2, 0 (chance) or -1 (over)"),
        ("listed chance", "expected a dict from actions to probabilities"),
        ("no chance", "None; expected a dict from actions to probabilities"),
        ("unhashable", "actions are [['a'], 'b']; expected a list of names"),
        ("text", "actions are 'ab'; expected a list of names"),
        ("nowhere", "a history told as None; expected the tuple of the actions so far"),
    ],
)
def test_what_no_game_answers(work: Any, how: str, message: str) -> None:
    """Values are exact, so it is them who meet it first, but for equilibria."""
    game: Any = Odd(how)
    more = {"advantage": 0.5, "epsilon": 0.5} if work is preplay.bounds else {}
    if work is preplay.equilibrium and how == "nowhere":
        return  # the game's own methods are asked about None before anybody sees a history
    more |= {} if work is preplay.equilibrium else {"side": 2}
    uniform = preplay.Uniform(game)
    matchup = preplay.make_matchup(game, uniform, uniform, cost=0.01)
    with pytest.raises(preplay.GameError) as error:
        work(matchup, **more)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["name", "kind", "sides", "choose", "settings"])
def test_an_identity_does_not_lose_what_it_tells(key: str) -> None:
    with pytest.raises(InputError, match=f"identity has '{key}', which matchups have"):
        coins(identity={key: "another"})


def test_names_that_cannot_be_written_are_refused_before_they_are_kept(tmp_path: Path) -> None:
    class Broken(Coins):
        def actions(self, state: History) -> tuple[str, ...]:
            return ("\ud800", "low") if not state else super().actions(state)

    game = Broken()
    uniform = preplay.Uniform(game)
    with pytest.raises(preplay.GameError, match=r"action '\\ud800': holds .*; expected a name that can"):
        preplay.prepare(preplay.make_matchup(game, uniform, uniform), 2, 0.01, save=tmp_path / "run")
    assert not (tmp_path / "run" / "result.json").exists()


def test_what_a_matchup_writes_is_text() -> None:
    with pytest.raises(preplay.GameError, match="write gives None; expected text"):
        coins(write=lambda history, move: None).write_line(("high",))


def test_sides_may_be_called_like_numbers_or_colours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [label_of(name) for name in ("2", "²", "٣", "white")] == [2, "²", "٣", "white"]
    raised = coins(sides=("²", "³"))
    result = preplay.prepare(raised, "³", 0.01, save=tmp_path / "run")
    assert result.side == preplay.load_run(tmp_path / "run").side == "³"
    coloured = coins(sides=("white", "black"))
    print_book(coloured, preplay.prepare(coloured, "black", 0.01), 3)
    assert "points per 100 games" not in capsys.readouterr().out
