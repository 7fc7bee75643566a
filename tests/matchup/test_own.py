"""Games of one's own: from Python objects, and from a module that a matchup file names."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay as command

import preplay
from preplay import CHANCE, FINAL, InputError
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
    ],
)
def test_matchups_that_cannot_be(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        coins(**more)


def test_a_function_plays_what_the_game_has() -> None:
    for base, prep, message in (
        (
            coin,
            lambda state: {"edge": 1.0},
            "prep plays 'edge'; expected one of high, low",
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
