from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nestedgame import Branch, NestedGame, State, chance, decisions

from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, walk
from preplay.games.mcts import MctsMenus, MctsPolicy
from preplay.games.openspiel import OpenSpielGame, OpenSpielState, openspiel
from preplay.games.playout import sample
from preplay.policy import Policy, Uniform, check_distribution

Player = Callable[[int], Policy[OpenSpielState]]


def minimax(node: Branch | float) -> float:
    if not isinstance(node, Branch):
        return node
    below = [minimax(child) for child in node.children]
    if node.player == 0:
        return sum(p * v for p, v in zip(node.weights, below, strict=True))
    return max(below) if node.player == 1 else min(below)


def match(game: OpenSpielGame, one: Player, two: Player, games: int) -> float:
    """The mean score of `one` over games with sides taken in turn; players are made by number of game."""
    rng, score = random.Random(0), 0.0
    for k in range(games):
        pair = (one(k), two(k)) if k % 2 == 0 else (two(k), one(k))
        state = game.root()
        while (player := game.player(state)) != FINAL:
            if player == CHANCE:
                p = game.chance(state)
            else:
                (p,) = pair[player - 1].distributions([state])
            state = game.next(state, sample(p.items(), rng.random()))
        score += game.utility(state) if k % 2 == 0 else 1.0 - game.utility(state)
    return score / games


@settings(deadline=None)
@given(decisions, st.integers(1, 60), st.floats(0, 2), st.floats(0, 3), st.integers(0, 99))
def test_the_answer_is_the_share_of_visits(
    start: Branch, simulations: int, exploration: float, temperature: float, seed: int
) -> None:
    game = NestedGame(start)
    policy = MctsPolicy(game, simulations, exploration, temperature, seed)
    visits = policy.visits(game.root())
    assert list(visits) == list(game.actions(game.root()))
    assert sum(visits.values()) == simulations
    (p,) = policy.distributions([game.root()])
    check_distribution(p, "root")
    if temperature == 0:
        first = max(visits, key=lambda a: visits[a])
        assert p == {first: 1.0}
    elif temperature > 0.2:
        weights = {a: n ** (1 / temperature) for a, n in visits.items()}
        expected = {a: w / sum(weights.values()) for a, w in weights.items() if w}
        assert p == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(decisions, st.integers(0, 99))
def test_with_many_simulations_the_action_is_nearly_best(start: Branch, seed: int) -> None:
    game = NestedGame(start)
    (answer,) = MctsPolicy(game, 4000, 0.7, seed=seed).distributions([game.root()])
    values = dict(zip(game.actions(game.root()), map(minimax, start.children), strict=True))
    (action,) = answer
    best = max(values.values()) if start.player == 1 else min(values.values())
    assert abs(values[action] - best) <= 0.1


def test_chance_is_met_as_often_as_it_happens() -> None:
    # A lottery worth 0.6 against sure things on both sides of it; the outcome of weight 0 never comes.
    lottery = chance([1.0, 0.0, Branch(1, (0.0, 0.0))], [6, 4, 0])
    for sure, best in ((0.5, "a0"), (0.7, "a1")):
        game = NestedGame(Branch(1, (lottery, sure)))
        assert MctsPolicy(game, 3000).distributions([game.root()]) == [{best: 1.0}]
        game = NestedGame(Branch(2, (lottery, sure)))
        assert MctsPolicy(game, 3000).distributions([game.root()]) != [{best: 1.0}]


def test_each_action_is_tried_before_any_is_tried_twice() -> None:
    game = NestedGame(Branch(1, (0.0, 0.0, 1.0, 0.0)))
    assert set(MctsPolicy(game, 4).visits(game.root()).values()) == {1}
    assert sorted(MctsPolicy(game, 5).visits(game.root()).items()) == [
        ("a0", 1),
        ("a1", 1),
        ("a2", 2),
        ("a3", 1),
    ]


def test_estimates_are_asked_once_for_each_new_decision() -> None:
    asked: list[tuple[str, ...]] = []

    def evaluate(state: State) -> float:
        asked.append(state.history)
        return 0.5

    inner = Branch(2, (0.0, 1.0))
    game = NestedGame(Branch(1, (inner, chance([inner, 0.0], [1, 1]), 1.0)))
    MctsPolicy(game, 300, evaluate=evaluate).visits(game.root())
    assert sorted(asked) == [("a0",), ("a1", "a0")]


def test_answers_do_not_depend_on_the_batch() -> None:
    pytest.importorskip("pyspiel")
    game = openspiel("connect_four(rows=4,columns=4)")
    states = [walk(game, line) for line in (["x0"], ["x1"], ["x0", "o0"], [])]
    policy = MctsPolicy(game, 50, temperature=1.0, seed=5)
    together = policy.distributions(states)
    assert together == [policy.distributions([state])[0] for state in reversed(states)][::-1]
    assert together != MctsPolicy(game, 50, temperature=1.0, seed=6).distributions(states)
    one, two = walk(game, ["x0", "o1", "x2"]), walk(game, ["x2", "o1", "x0"])
    assert policy.visits(one) != policy.visits(two)  # one position, but randomness is the history's


@pytest.mark.parametrize(
    ("line", "best"),
    [
        (["x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)"], "x(0,2)"),  # wins
        (["x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)", "x(2,2)"], "o(1,2)"),  # wins, as player 2
        (["x(0,0)", "o(1,1)", "x(0,1)"], "o(0,2)"),  # blocks
        (["x(0,0)", "o(1,1)", "x(2,1)", "o(1,2)"], "x(1,0)"),  # blocks, as player 1
    ],
)
def test_a_win_in_one_is_taken_and_stopped(line: list[str], best: str) -> None:
    pytest.importorskip("pyspiel")
    game = openspiel("tic_tac_toe")
    for seed in range(5):
        assert MctsPolicy(game, 300, seed=seed).distributions([walk(game, line)]) == [{best: 1.0}]


@pytest.mark.parametrize(
    ("name", "weak", "games", "least"),
    [
        ("tic_tac_toe", 0, 20, 0.85),
        ("tic_tac_toe", 10, 20, 0.75),
        ("connect_four(rows=5,columns=5)", 0, 10, 0.9),
        ("connect_four(rows=5,columns=5)", 10, 10, 0.8),
        ("pig(winscore=20)", 0, 10, 0.7),
    ],
)
def test_more_simulations_are_stronger(name: str, weak: int, games: int, least: float) -> None:
    pytest.importorskip("pyspiel")
    game = openspiel(name)

    def strong_one(k: int) -> Policy[OpenSpielState]:
        return MctsPolicy(game, 500, seed=k)

    def weak_one(k: int) -> Policy[OpenSpielState]:
        return MctsPolicy(game, weak, seed=1000 + k) if weak else Uniform(game)

    assert match(game, strong_one, weak_one, games) >= least


def test_a_single_action_needs_no_simulation() -> None:
    game = NestedGame(Branch(1, (Branch(2, (0.0, 1.0)),)))
    policy = MctsPolicy(game, 10, evaluate=lambda _: math.nan)
    assert policy.distributions([game.root()]) == [{"a0": 1.0}]


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan])
def test_an_estimate_outside_the_scale_is_refused(value: float) -> None:
    game = NestedGame(Branch(1, (Branch(2, (0.0, 1.0)), 1.0)))
    with pytest.raises(GameError, match=r"history \('a0',\): value .*; expected a number in \[0, 1\]"):
        MctsPolicy(game, 5, evaluate=lambda _: value).distributions([game.root()])


@pytest.mark.parametrize(
    ("simulations", "exploration", "temperature", "message"),
    [
        (0, 1.0, 0.0, "simulations 0; expected a whole number of at least 1"),
        (5, -1.0, 0.0, "exploration -1.0; expected a finite number of at least 0"),
        (5, math.nan, 0.0, "exploration nan; expected"),
        (5, 1.0, -0.5, "temperature -0.5; expected"),
        (5, 1.0, math.inf, "temperature inf; expected"),
    ],
)
def test_wrong_numbers_are_refused(
    simulations: int, exploration: float, temperature: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        MctsPolicy(NestedGame(0.5), simulations, exploration, temperature)


def test_a_menu_is_what_is_visited_most() -> None:
    game = openspiel("tic_tac_toe")
    policy = MctsPolicy(game, 200)
    (menu,) = MctsMenus(policy, 3).menus([game.root()])
    visits = policy.visits(game.root())
    (played,) = policy.distributions([game.root()])
    assert dict(played) == {menu[0].action: 1.0}
    assert [o.opinion for o in menu] == sorted((n / 200 for n in visits.values()), reverse=True)[:3]
    assert [visits[o.action] / 200 for o in menu] == [o.opinion for o in menu]
    assert len(MctsMenus(policy, 9, 0.0).menus([game.root()])[0]) < 9


def test_a_utility_outside_the_scale_is_refused() -> None:
    game = NestedGame(Branch(1, (7.0, 1.0)))
    with pytest.raises(GameError, match=r"utility 7\.0; expected a number in \[0, 1\]"):
        MctsPolicy(game, 5).distributions([game.root()])
