from __future__ import annotations

import math
import random
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nestedgame import Branch, NestedGame, State, chance, decisions, lattice

from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, walk
from preplay.games import search
from preplay.games.openspiel import openspiel
from preplay.games.search import SearchMenus, SearchPolicy
from preplay.policy import check_distribution

Node = Branch | float


def estimate(node: Node) -> float:
    """Some fixed number for each subtree."""
    return zlib.crc32(repr(node).encode()) % 11 / 10


def plain(node: Node, depth: int) -> float:
    """Minimax without any pruning."""
    if not isinstance(node, Branch):
        return node
    if node.player == 0:
        return sum(p * plain(child, depth) for p, child in zip(node.weights, node.children, strict=True))
    if depth == 0:
        return estimate(node)
    below = [plain(child, depth - 1) for child in node.children]
    return max(below) if node.player == 1 else min(below)


@settings(deadline=None)
@given(decisions, st.integers(1, 6), st.sampled_from([None, lambda state: state.node]))
def test_values_are_those_of_plain_minimax(
    start: Branch, depth: int, key: Callable[[State], Node] | None
) -> None:
    game = NestedGame(start)
    policy = SearchPolicy(game, depth, evaluate=lambda state: estimate(state.node), key=key)
    got = policy.values(game.root())
    assert list(got) == list(game.actions(game.root()))
    assert list(got.values()) == pytest.approx(
        [plain(child, depth - 1) for child in start.children], abs=1e-12
    )


@pytest.mark.parametrize("keyed", [True, False])
def test_positions_met_under_different_bounds_keep_their_values(keyed: bool) -> None:
    for seed in range(60):
        start = lattice(random.Random(seed), layers=5)
        game, depth = NestedGame(start), 3 + seed % 4
        key = (lambda state: state.node) if keyed else None
        got = SearchPolicy(game, depth, evaluate=lambda state: estimate(state.node), key=key).values(
            game.root()
        )
        assert list(got.values()) == pytest.approx(
            [plain(c, depth - 1) for c in start.children], abs=1e-12
        )


@settings(deadline=None)
@given(decisions, st.integers(1, 4), st.floats(0.01, 10))
def test_the_mover_prefers_by_softmax(start: Branch, depth: int, randomness: float) -> None:
    game = NestedGame(start)
    policy = SearchPolicy(game, depth, randomness, evaluate=lambda state: estimate(state.node))
    (p,) = policy.distributions([game.root()])
    check_distribution(p, "root")
    sign = 1 if start.player == 1 else -1
    values = {a: sign * v for a, v in policy.values(game.root()).items()}
    for a in p:
        for b in p:
            assert math.log(p[a] / p[b]) == pytest.approx((values[a] - values[b]) / randomness, abs=1e-6)


@settings(deadline=None)
@given(decisions, st.integers(1, 4))
def test_without_randomness_the_first_of_the_best_is_played(start: Branch, depth: int) -> None:
    game = NestedGame(start)
    policy = SearchPolicy(game, depth, key=lambda state: state.node)
    scores = {a: v if start.player == 1 else 1 - v for a, v in policy.values(game.root()).items()}
    first = max(scores, key=lambda a: scores[a])
    assert policy.distributions([game.root()]) == [{first: 1.0}]


def test_chance_costs_no_depth() -> None:
    lottery = chance([1.0, Branch(2, (0.0, 1.0))], [1, 3])
    game = NestedGame(Branch(1, (lottery, 0.5)))
    assert SearchPolicy(game, 1).values(game.root()) == {"a0": 0.25 + 0.75 * 0.5, "a1": 0.5}
    assert SearchPolicy(game, 2).values(game.root()) == {"a0": 0.25, "a1": 0.5}


def test_only_undecided_decisions_are_estimated() -> None:
    asked: list[State] = []

    def evaluate(state: State) -> float:
        asked.append(state)
        return 0.5

    leaf = Branch(1, (0.0, 1.0))
    game = NestedGame(Branch(1, (leaf, chance([leaf, 0.0], [1, 1]), 1.0)))
    SearchPolicy(game, 1, evaluate=evaluate).values(game.root())
    assert [state.history for state in asked] == [("a0",), ("a1", "a0")]


def test_a_key_saves_visits() -> None:
    shared = Branch(2, (0.2, 0.4))
    visits = {True: 0, False: 0}
    for keyed in visits:

        def evaluate(_: State, keyed: bool = keyed) -> float:
            visits[keyed] += 1
            return 0.5

        game = NestedGame(Branch(1, tuple(Branch(2, (shared, 0.9)) for _ in range(5))))
        key = (lambda state: state.node) if keyed else None
        SearchPolicy(game, 2, evaluate=evaluate, key=key).values(game.root())
    assert visits == {True: 1, False: 5}


@pytest.mark.parametrize(
    ("name", "depth"),
    [("tic_tac_toe", 9), ("breakthrough(rows=4,columns=3)", 5), ("pig(winscore=6,horizon=12)", 4)],
)
def test_positions_give_the_same_values_as_histories(name: str, depth: int) -> None:
    pytest.importorskip("pyspiel")
    game = openspiel(name)
    with_key, without = SearchPolicy(game, depth, key=game.position), SearchPolicy(game, depth)
    assert with_key.values(game.root()) == pytest.approx(without.values(game.root()), abs=1e-12)


@pytest.mark.parametrize("kept", [0, 50, 200_000])
@pytest.mark.parametrize("name", ["tic_tac_toe", "pig(winscore=6,horizon=12)"])
def test_what_earlier_searches_found_changes_nothing(
    name: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(search, "KEPT", kept)
    game, rng = openspiel(name), random.Random(3)
    policy = SearchPolicy(game, 3, 0.2, key=game.position)
    for _ in range(12):
        state = game.root()
        while (player := game.player(state)) != FINAL:
            if player != CHANCE:
                assert policy.values(state) == SearchPolicy(game, 3, 0.2).values(state)
            moves = list(game.chance(state)) if player == CHANCE else list(game.actions(state))
            state = game.next(state, rng.choice(moves))


def test_tic_tac_toe_is_a_draw_and_threats_are_seen() -> None:
    pytest.importorskip("pyspiel")
    game = openspiel("tic_tac_toe")
    perfect = SearchPolicy(game, 9, key=game.position)
    assert set(perfect.values(game.root()).values()) == {0.5}
    # After a corner only the centre holds.
    answers = perfect.values(walk(game, ["x(0,0)"]))
    assert {a for a, v in answers.items() if v == 0.5} == {"o(1,1)"}
    threat = walk(game, ["x(0,0)", "o(1,1)", "x(0,1)"])
    assert SearchPolicy(game, 2).distributions([threat]) == [{"o(0,2)": 1.0}]


def test_rollouts_are_seeded_by_the_leaf_and_not_by_the_batch() -> None:
    pytest.importorskip("pyspiel")
    game = openspiel("connect_four(rows=4,columns=4)")
    states = [walk(game, line) for line in (["x0"], ["x1"], ["x0", "o0"], [])]
    policy = SearchPolicy(game, 2, 0.1, rollouts=3, seed=4)
    together = policy.distributions(states)
    assert together == [policy.distributions([state])[0] for state in reversed(states)][::-1]
    assert together != SearchPolicy(game, 2, 0.1, rollouts=3, seed=6).distributions(states)
    assert len(set(policy.values(states[3]).values())) > 1


def test_a_leaf_is_estimated_by_its_history_wherever_the_search_began() -> None:
    pytest.importorskip("pyspiel")
    game = openspiel("tic_tac_toe")
    one, two = walk(game, ["x(0,0)", "o(1,1)"]), walk(game, ["x(2,1)", "o(1,1)"])
    policy = SearchPolicy(game, 1, rollouts=40)
    here, there = policy.values(one)["x(2,1)"], policy.values(two)["x(0,0)"]
    assert here != there  # one position, two histories
    longer = SearchPolicy(game, 2, rollouts=40).values(walk(game, ["x(0,0)"]))
    assert longer["o(1,1)"] == max(policy.values(one).values())


def test_a_single_action_needs_no_search() -> None:
    game = NestedGame(Branch(1, (Branch(2, (0.0, 1.0)),)))
    policy = SearchPolicy(game, 1, evaluate=lambda _: math.nan)
    assert policy.distributions([game.root()]) == [{"a0": 1.0}]


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan])
def test_an_estimate_outside_the_scale_is_refused(value: float) -> None:
    game = NestedGame(Branch(1, (Branch(2, (0.0, 1.0)), 1.0)))
    with pytest.raises(GameError, match=r"history \('a0',\): value .*; expected a number in \[0, 1\]"):
        SearchPolicy(game, 1, evaluate=lambda _: value).distributions([game.root()])


@pytest.mark.parametrize(
    ("depth", "randomness", "rollouts", "evaluate", "message"),
    [
        (0, 0.0, 0, None, "search depth 0; expected a whole number of at least 1"),
        (1, -0.1, 0, None, "search randomness -0.1; expected"),
        (1, math.inf, 0, None, "search randomness inf; expected"),
        (1, math.nan, 0, None, "search randomness nan; expected"),
        (1, 0.0, -1, None, "search rollouts -1; expected a whole number of at least 0"),
        (1, 0.0, 2, lambda _: 0.5, "search rollouts 2 with an evaluation; expected one of the two"),
    ],
)
def test_wrong_numbers_are_refused(
    depth: int, randomness: float, rollouts: int, evaluate: Callable[[State], float] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        SearchPolicy(NestedGame(0.5), depth, randomness, evaluate=evaluate, rollouts=rollouts)


@settings(max_examples=60, deadline=None)
@given(decisions, st.integers(1, 3), st.integers(1, 4), st.sampled_from([0.0, 0.2, 1.0]))
def test_a_menu_is_the_best_actions_the_played_one_first(
    start: Branch, depth: int, most: int, margin: float
) -> None:
    game = NestedGame(start)
    policy = SearchPolicy(game, depth)
    state = game.root()
    (menu,) = SearchMenus(policy, most, margin).menus([state])
    (played,) = policy.distributions([state])
    values = policy.values(state)
    mine = {a: v if game.player(state) == 1 else 1.0 - v for a, v in values.items()}
    assert {menu[0].action: 1.0} == played
    assert [option.opinion for option in menu] == [mine[option.action] for option in menu]
    near = sorted((v for v in mine.values() if v >= max(mine.values()) - margin), reverse=True)
    assert [option.opinion for option in menu] == near[:most]


def test_a_utility_outside_the_scale_is_refused() -> None:
    game = NestedGame(Branch(1, (7.0, 1.0)))
    with pytest.raises(GameError, match=r"utility 7\.0; expected a number in \[0, 1\]"):
        SearchPolicy(game, 2).distributions([game.root()])
