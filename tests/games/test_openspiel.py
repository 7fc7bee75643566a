from __future__ import annotations

import pickle
import random
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, walk
from preplay.games.openspiel import OpenSpielGame, OpenSpielState, numbered, openspiel, suitable
from preplay.matchup import open_matchup
from preplay.policy import Uniform
from preplay.value import Exact

pyspiel = pytest.importorskip("pyspiel")

SMALL = [
    "tic_tac_toe",
    "connect_four(rows=4,columns=4)",
    "breakthrough(rows=4,columns=3)",
    "pig(winscore=6,horizon=12)",
    "dots_and_boxes",
    "oware",
    "python_tic_tac_toe",
    "backgammon(hyper_backgammon=true)",
]
EFG = """EFG 2 R "twice in a row, chance, sum 4" { "One" "Two" } ""
p "" 1 1 "" { "L" "M" "R" } 0
p "" 1 2 "" { "x" "y" } 0
t "" 1 "" { 3, 1 }
c "" 1 "" { "h" 0.25 "t" 0.75 } 0
t "" 2 "" { 0, 4 }
t "" 3 "" { 4, 0 }
p "" 2 1 "" { "u" "v" } 0
t "" 4 "" { 2.5, 1.5 }
t "" 5 "" { 1, 3 }
t "" 6 "" { 2, 2 }
"""


def children(spiel: Any) -> list[Any]:
    return [spiel.child(action) for action in spiel.legal_actions()]


def uniform_return(spiel: Any) -> float:
    """Player 1's mean return under uniform play, by OpenSpiel's states alone."""
    if spiel.is_terminal():
        return float(spiel.returns()[0])
    if spiel.is_chance_node():
        return sum(float(p) * uniform_return(spiel.child(a)) for a, p in spiel.chance_outcomes())
    below = children(spiel)
    return sum(map(uniform_return, below)) / len(below)


def perft(game: OpenSpielGame, depth: int) -> list[int]:
    """Histories after 0, 1, …, `depth` actions."""
    level, counts = [game.root()], [1]
    for _ in range(depth):
        open_ = [s for s in level if game.player(s) != FINAL]
        level = [game.next(s, a) for s in open_ for a in game.actions(s)]
        counts.append(len(level))
        assert len({s.history for s in level}) == len(level)
    return counts


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("tic_tac_toe", [1, 9, 72, 504, 3024, 15120]),
        ("connect_four", [1, 7, 49, 343, 2401, 16807]),
        ("chess", [1, 20, 400, 8902]),
        ("pig", [1, 2, 8, 20]),  # roll or stop; six faces, or roll or stop; …
        ("backgammon", [1, 30]),  # the first roll says who begins, so it is no double
    ],
)
def test_known_numbers_of_histories(name: str, counts: list[int]) -> None:
    assert perft(openspiel(name), len(counts) - 1) == counts


@pytest.mark.parametrize(
    "name",
    [
        "tic_tac_toe",
        "connect_four(rows=3,columns=3,x_in_row=3)",
        "breakthrough(rows=4,columns=2)",
        "pig(winscore=4,diceoutcomes=3,horizon=6)",
        "nim(pile_sizes=1;2;3)",
        "misere(game=nim(pile_sizes=1;2;2))",
    ],
)
def test_uniform_play_is_worth_what_openspiel_alone_says(name: str) -> None:
    game = openspiel(name)
    # Three plies in, to keep tic-tac-toe small; further where chance or the same player moves on.
    state = walk(game, [])
    for _ in range(3):
        state = game.next(state, game.actions(state)[0])
    (value,) = Exact(game, (Uniform(game), Uniform(game))).values([state])
    low, high = game.spiel.min_utility(), game.spiel.max_utility()
    assert value.mean == pytest.approx((uniform_return(state.spiel) - low) / (high - low), abs=1e-12)


@pytest.mark.parametrize(
    "name", ["connect_four(rows=3,columns=3,x_in_row=3)", "pig(winscore=3,horizon=4)"]
)
def test_uniform_play_is_worth_what_openspiels_own_evaluation_says(name: str) -> None:
    from open_spiel.python.algorithms import expected_game_score
    from open_spiel.python.policy import UniformRandomPolicy

    game = openspiel(name)
    uniform = UniformRandomPolicy(game.spiel)
    one, two = expected_game_score.policy_value(game.spiel.new_initial_state(), [uniform, uniform])
    (value,) = Exact(game, (Uniform(game), Uniform(game))).values([game.root()])
    assert value.mean == pytest.approx((one + 1) / 2, abs=1e-12)
    assert value.for_player(2).mean == pytest.approx((two + 1) / 2, abs=1e-12)


def test_a_constant_sum_game_with_chance_in_which_a_player_moves_twice() -> None:
    game = OpenSpielGame(pyspiel.load_efg_game(EFG))
    assert (game.longest, game.widest >= 3) == (3, True)
    root = game.root()
    assert game.actions(root) == ["L", "M", "R"]
    assert [game.player(walk(game, h)) for h in ([], ["L"], ["L", "y"], ["M"], ["R"])] == [
        1,
        1,
        CHANCE,
        2,
        FINAL,
    ]
    assert game.chance(walk(game, ["L", "y"])) == {"h": 0.25, "t": 0.75}
    finals = [["L", "x"], ["L", "y", "h"], ["L", "y", "t"], ["M", "u"], ["M", "v"], ["R"]]
    assert [game.utility(walk(game, h)) for h in finals] == [0.75, 0.0, 1.0, 0.625, 0.25, 0.5]


@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_line_keeps_the_contract(name: str, seed: int) -> None:
    game, rng = openspiel(name), random.Random(seed)
    state, before = game.root(), []
    while (player := game.player(state)) != FINAL:
        actions = game.actions(state)
        assert len(actions) == len(set(actions)) == len(state.spiel.legal_actions()) <= game.widest
        assert all(a == " ".join(a.split()) != "" for a in actions)
        if player == CHANCE:
            assert list(game.chance(state)) == list(actions)
            assert sum(game.chance(state).values()) == pytest.approx(1)
        else:
            assert player == state.spiel.current_player() + 1
        before.append((state, str(state.spiel), state.history))
        state = game.next(state, rng.choice(actions))
    assert len(state.history) == len(before) <= game.longest
    assert game.utility(state) in (0.0, 0.5, 1.0)
    for old, text, history in before:  # nothing that came after has changed what was there
        assert (str(old.spiel), old.history) == (text, history)
    assert walk(game, state.history) == state
    assert str(walk(game, state.history).spiel) == str(state.spiel)


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig(winscore=6,horizon=12)"])
def test_games_and_states_travel_between_processes(name: str) -> None:
    game = openspiel(name)
    state = walk(game, [game.actions(game.root())[0]])
    there: OpenSpielGame = pickle.loads(pickle.dumps(game))
    came: OpenSpielState = pickle.loads(pickle.dumps(state))
    assert came == state
    assert hash(came) == hash(state)
    assert there.actions(came) == game.actions(state)


def test_position_is_shared_by_transpositions_only() -> None:
    game = openspiel("tic_tac_toe")
    lines = [
        ["x(0,0)", "o(1,1)", "x(2,2)"],
        ["x(2,2)", "o(1,1)", "x(0,0)"],
        ["x(0,0)", "o(1,1)", "x(0,2)"],
    ]
    one, same, not_same = (game.position(walk(game, line)) for line in lines)
    assert one == same != not_same


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conect_four", "unknown OpenSpiel game 'conect_four'; did you mean 'connect_four'?"),
        ("zzz(rows=3)", "unknown OpenSpiel game 'zzz'; expected one of: amazons, "),
        ("", "unknown OpenSpiel game ''; expected one of: amazons, "),
        ("kuhn_poker", "has imperfect information; expected perfect information"),
        ("matrix_rps", "is simultaneous; expected players who move in turn"),
        ("mfg_crowd_modelling", "is mean-field; expected players who move in turn"),
        ("pig(players=3)", "has 3 players; expected 2"),
        ("2048", "is general-sum; expected zero or constant sum"),
        (
            "stones_and_gems",
            "samples its chance events; expected chance nodes with explicit probabilities",
        ),
        ("connect_four(rows=0)", "has no moves (longest history 0); expected at least one"),
        (
            "connect_four(foo=3)",
            "cannot be loaded: Unknown parameter 'foo'. Available parameters are: columns",
        ),
        ("connect_four(rows=4", "cannot be loaded: Missing closing bracket ')'"),
        ("connect_four(rows=x)", "cannot be loaded: Wrong type for parameter rows"),
        ("efg_game(filename=no_such_file.efg)", "cannot be loaded: "),
    ],
)
def test_an_unsuitable_game_is_one_clear_line(
    text: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError) as caught:
        openspiel(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_stderr_is_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError):
        openspiel("connect_four(foo=3)")
    print("still here", file=sys.stderr)
    assert capfd.readouterr().err == "still here\n"


def test_without_openspiel_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(
        InputError, match=r"OpenSpiel is not installed; .*pip install 'preplay\[openspiel\]'"
    ):
        openspiel("tic_tac_toe")


def test_every_suitable_game_loads() -> None:
    names = suitable()
    assert {"tic_tac_toe", "connect_four", "breakthrough", "pig", "backgammon", "chess", "go"} <= set(
        names
    )
    assert not {"kuhn_poker", "matrix_rps", "2048"} & set(names)
    for name in names:
        game = openspiel(name)
        assert game.actions(game.root())


def test_an_unknown_action_is_refused() -> None:
    game = openspiel("tic_tac_toe")
    with pytest.raises(GameError, match=r"history \('x\(0,0\)',\): no action 'o\(0,7\)'; did you mean"):
        game.next(walk(game, ["x(0,0)"]), "o(0,7)")
    line = ["x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)", "x(0,2)"]
    with pytest.raises(GameError, match="no action 'o\\(2,2\\)'; the game is over"):
        game.next(walk(game, line), "o(2,2)")


@pytest.mark.parametrize("returns", [(2.0, -2.0), (-1.5, 1.5), (1.0, 1.0), (float("nan"), 0.0)])
def test_returns_that_break_the_promise_are_refused(returns: tuple[float, float]) -> None:
    game = openspiel("tic_tac_toe")
    with pytest.raises(GameError, match="expected numbers from -1 to 1 that sum to 0"):
        game.utility(OpenSpielState(("a",), SimpleNamespace(returns=lambda: returns)))


def test_equal_names_get_their_numbers() -> None:
    assert numbered(("a", "b"), (4, 7)) == {"a": 4, "b": 7}
    assert numbered(("a", " b\n c"), (4, 7)) == {"a": 4, "b c": 7}
    assert numbered(("a", "b", "a"), (4, 7, 9)) == {"a#4": 4, "b": 7, "a#9": 9}
    assert numbered(("a", "a", "a#4"), (4, 7, 9)) == {"a#4": 4, "a#7": 7, "a#4#9": 9}
    with pytest.raises(GameError, match="expected different ones"):
        numbered(("a", "a"), (3, 3))


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "a#0", "a#1", "a#1#2", "#", ""]), max_size=6))
def test_names_are_distinct_whatever_openspiel_says(names: list[str]) -> None:
    assert list(numbered(tuple(names), tuple(range(len(names)))).values()) == list(range(len(names)))


@pytest.mark.parametrize(
    "text",
    [
        "breakthrough(rows=4,columns=2)",
        "clobber(rows=2,columns=4)",
        "connect_four(rows=3,columns=3,x_in_row=3)",
        "hex(board_size=2)",
        "nim(pile_sizes=2;3)",
        "othello",
        "tic_tac_toe",
    ],
)
def test_exact_values_know_transpositions(text: str) -> None:
    """A position has one value however it was reached: with a key the same numbers, to the last bit."""
    game = openspiel(text)
    assert game.merges
    rng = random.Random(7)
    base = (Uniform(game), Uniform(game))
    for _ in range(4):
        state = game.root()
        line = []
        while game.player(state) != FINAL:
            line.append(state)
            state = game.next(state, rng.choice(list(game.actions(state))))
        by_history = Exact(game, base, most=3_000)
        by_place = Exact(game, base, key=game.position)
        for compared, last in enumerate(reversed(line)):  # as far as it can be enumerated
            try:
                values = by_history.values([last])
            except InputError:
                assert compared > 1
                break
            assert by_place.values([last]) == values
        assert len(by_place.known) <= len(by_history.known)


def test_a_key_visits_each_position_once() -> None:
    with open_matchup("tic-tac-toe", ()) as matchup:
        value = matchup.value
        assert isinstance(value, Exact)
        (root,) = value.values([matchup.game.root()])
        assert len(value.known) == 5478  # the positions of the game
    assert root.mean == pytest.approx((0.585 + (1 - 0.585 - 0.288) / 2), abs=2e-3)
    with open_matchup("tic-tac-toe", ["base.policy=mcts"]) as matchup:
        value = matchup.value
        assert isinstance(value, Exact)
        assert value.key is None  # its random numbers belong to the history
