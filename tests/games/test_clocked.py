"""Clocked games against an expansion written for these tests: books, flags, saved time, memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from clockedgames import FULL, HALF, LEVELS, Blend, Spend, decision, expand, half, one_line
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, books, games, own_histories, v, worth

from preplay import response
from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, Side, walk
from preplay.games import tabular
from preplay.games.clocked import (
    RESIGN,
    AtTheBoard,
    Clocked,
    ClockedState,
    FromMemory,
    Keeping,
    ShareOfTheRest,
    TimeRule,
    geometric_levels,
    timed,
    untimed,
)
from preplay.games.tabular import Node, TabularGame, TabularPolicy
from preplay.growth import Pays, grow
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.samplers import Playouts
from preplay.sampling.streams import Streams
from preplay.tree import Tree
from preplay.value import Exact

SIDES = st.sampled_from([1, 2])
COSTS = st.sampled_from([0.003, 0.01, 0.03, 0.1])


def grown(
    game: TabularGame,
    clocked: Clocked[Node],
    rule: TimeRule,
    side: Side,
    cost: float,
    keeping: float = 0.0,
) -> Tree:
    effort: Any = Keeping(clocked, Blend(), keeping) if keeping else Blend()
    at_board = AtTheBoard(clocked, rule, effort)
    base = (at_board, at_board)
    prep = FromMemory(TabularPolicy("prep"))
    return grow(clocked, side, base, prep, Exact(clocked, base), Pays(cost)).tree


def reachable(root: Raw, side: int) -> list[History]:
    """Own histories that the side's preparation can come to."""
    found = []
    for history in own_histories(root, side):
        node, possible = root, True
        for name in history:
            edge = node["actions"][name]
            possible = possible and (node["player"] != side or edge["prep"] > 0)
            node = edge["to"]
        if possible:
            found.append(history)
    return found


def trimmed(root: Raw, side: int) -> Raw:
    """Without what a side's preparation can never come to, which no book needs: fewer books to try.

    Where the side may stop, what it then earns stands in for the branches that are gone.
    """
    if "utility" in root:
        return root
    actions = {}
    for name, e in root["actions"].items():
        if root["player"] != side or e["prep"] > 0:
            actions[name] = e | {"to": trimmed(e["to"], side)}
    answer = {"player": root["player"], "actions": actions}
    return answer | ({"value": v(root)} if root["player"] != "chance" else {})


BUDGETS = st.tuples(st.integers(0, 6), st.integers(0, 6))
INCREMENTS = st.tuples(st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=100, deadline=None)
@given(games(depth=4), SIDES, COSTS, BUDGETS, INCREMENTS)
def test_best_book_is_the_best_of_all_books(
    raw: Raw, side: Side, cost: float, budget: tuple[int, int], increment: tuple[int, int]
) -> None:
    check_against_all_books(raw, side, cost, budget, increment, HALF, half)


@settings(max_examples=60, deadline=None)
@given(games(depth=4), SIDES, COSTS, BUDGETS)
def test_a_side_that_keeps_what_it_searched_is_told_apart_by_its_past(
    raw: Raw, side: Side, cost: float, budget: tuple[int, int]
) -> None:
    check_against_all_books(raw, side, cost, budget, (1, 1), HALF, half, keeping=0.8)


@settings(max_examples=40, deadline=None)
@given(games(depth=4), SIDES, COSTS, BUDGETS)
def test_a_rule_may_depend_on_the_past_too(
    raw: Raw, side: Side, cost: float, budget: tuple[int, int]
) -> None:
    """This side thinks twice as long after a move that took no time."""

    def rule(game: Clocked[Any], state: ClockedState[Any]) -> int:
        past = state.spent[game.mover(state) - 1]
        return 2 if past and past[-1] == 0 else 1

    def spend(left: int, increment: int, past: Sequence[int]) -> int:
        return 2 if past and past[-1] == 0 else 1

    check_against_all_books(raw, side, cost, budget, (0, 0), rule, spend)


def check_against_all_books(
    raw: Raw,
    side: Side,
    cost: float,
    budget: tuple[int, int],
    increment: tuple[int, int],
    rule: TimeRule,
    spend: Spend,
    keeping: float = 0.0,
) -> None:
    root = expand(raw["root"], budget, increment, spend, keeping)
    few = trimmed(root, side)
    assume("actions" in few and len(reachable(few, side)) <= 9)
    best = max(worth(few, side, book) - cost * len(book) for book in books(few, side))
    game = tabular.parse(raw)
    clocked = Clocked(game, budget, increment, LEVELS)
    tree = grown(game, clocked, rule, side, cost, keeping)
    found = response.best_book(tree, side, cost)
    assert found.net == pytest.approx(best, abs=1e-9)
    assert found.upper == pytest.approx(best, abs=1e-9)
    book = frozenset(tree.history(int(k)) for k in found.nodes)
    assert worth(root, side, book) == pytest.approx(found.value, abs=1e-9)
    assert found.baseline == pytest.approx(v(root) if side == 1 else 1 - v(root), abs=1e-12)


def test_saved_time_alone_can_make_a_history_worth_memorizing() -> None:
    """Prep plays what base plays at the root: without a clock a place in the book buys nothing there."""
    raw, cost = one_line(), 0.03
    game = tabular.parse(raw)
    base, prep = TabularPolicy("base"), TabularPolicy("prep")
    plain = grow(game, 1, (base, base), prep, tabular.TabularValue(), Pays(cost)).tree
    assert response.best_book(plain, 1, cost).size == 0

    clocked = Clocked(game, (4, 4), levels=LEVELS)
    tree = grown(game, clocked, ShareOfTheRest(0.5), 1, cost)
    best = response.best_book(tree, 1, cost)
    assert [tree.history(int(k)) for k in best.nodes] == [()]
    # Thinking, the side has 2 left and takes 1 of them; from memory it has 4 left and takes 2.
    assert best.unprepared == pytest.approx(0.5 + 0.5 * 1 / FULL)
    assert best.value == pytest.approx(0.5 + 0.5 * 2 / FULL)
    assert best.value - best.unprepared > cost


def test_a_side_that_cannot_pay_for_its_move_loses() -> None:
    raw = {
        "format": "preplay-game/1",
        "root": decision(1, a=(1, 1, decision(2, b=(1, 1, decision(1, c=(1, 1, 1.0)))))),
    }
    game = tabular.parse(raw)
    clocked = Clocked(game, (1, 5), levels=LEVELS)
    tree = grown(game, clocked, lambda g, s: 1, 1, 0.1)
    best = response.best_book(tree, 1, 0.1)
    assert best.baseline == 0.0  # the second move comes too late
    assert best.value == 1.0  # from memory the first takes nothing, and there is time for the second
    assert [tree.history(int(k)) for k in best.nodes] == [()]
    over = walk(clocked, ["a@1", "b@1", "c@1"])
    assert (clocked.player(over), over.lost, clocked.utility(over)) == (FINAL, 1, 0.0)
    won = walk(clocked, ["a@1", "b@1", "c"])
    assert (clocked.player(won), won.lost, clocked.utility(won)) == (FINAL, 0, 1.0)
    late = walk(clocked, ["a", "b@6"])
    assert (late.lost, clocked.utility(late), late.left) == (2, 1.0, (1, 0))


def test_clocks_go_down_by_the_time_and_up_by_the_increment() -> None:
    raw = {
        "format": "preplay-game/1",
        "root": decision(1, a=(1, 1, decision(2, b=(1, 1, decision(2, c=(1, 1, 0.25)))))),
    }
    clocked = Clocked(tabular.parse(raw), (5, 7), (1, 2), LEVELS, resigning=True)
    state = walk(clocked, ["a@4", "b@3"])
    assert state.left == (5 - 4 + 1, 7 - 3 + 2)
    assert state.spent == ((4,), (3,))
    assert clocked.history(state) == ("a@4", "b@3")
    end = clocked.next(state, "c")
    assert end.left == (2, 8)
    assert clocked.utility(end) == 0.25
    gone = clocked.next(state, timed(RESIGN, 2))
    assert (clocked.player(gone), clocked.utility(gone), gone.actions[-1]) == (FINAL, 1.0, "resign@2")
    # The increment comes after the move: it does not save who has nothing left before it.
    assert walk(Clocked(tabular.parse(raw), (1, 7), (9, 0), LEVELS), ["a@2"]).lost == 1


def test_chance_takes_no_time_and_keeps_its_names() -> None:
    raw = {
        "format": "preplay-game/1",
        "root": {
            "player": "chance",
            "actions": {"six@1": {"prob": 1.0, "to": decision(1, a=(1, 1, 1.0))}},
        },
    }
    clocked = Clocked(tabular.parse(raw), (3, 3))
    assert clocked.player(clocked.root()) == CHANCE
    assert clocked.actions(clocked.root()) == ("six@1",)
    state = clocked.next(clocked.root(), "six@1")
    assert (state.left, state.actions) == ((3, 3), ("six@1",))
    assert clocked.actions(state) == ["a", "a@1"]
    assert (clocked.longest, clocked.widest) == (2, 2)


@given(st.text(), st.integers(0, 10**9))
def test_names_tell_the_action_and_its_time(action: str, time: int) -> None:
    try:
        name = timed(action, time)
    except GameError:
        assert untimed(action)[0] != action
        return
    assert untimed(name) == (action, time)


@pytest.mark.parametrize("action", ["a@0", "a@01", "a@5", "a@1@1", "b"])
def test_every_action_has_one_name(action: str) -> None:
    raw = {"format": "preplay-game/1", "root": decision(1, a=(1, 1, 1.0))}
    clocked = Clocked(tabular.parse(raw), (9, 9), levels=(1, 2))
    with pytest.raises((GameError, KeyError)):
        clocked.next(clocked.root(), action)
    assert action not in clocked.actions(clocked.root())


def test_nothing_merges_histories_that_differ_only_in_the_past() -> None:
    """Same position, same clocks, other times before: a side that keeps its searches plays otherwise."""
    hard = decision(1, good=(0.0, 1.0, 1.0), bad=(1.0, 0.0, 0.0))
    raw = {"format": "preplay-game/1", "root": decision(1, a=(1, 1, decision(1, b=(1, 1, hard))))}
    game = tabular.parse(raw)
    clocked = Clocked(game, (9, 9), levels=LEVELS)
    early, late = walk(clocked, ["a@4", "b@1"]), walk(clocked, ["a@1", "b@4"])
    assert early.left == late.left
    assert early.inner is late.inner
    at_board = AtTheBoard(clocked, lambda g, s: 1, Keeping(clocked, Blend(), 0.5))
    expected = [(1 + 1) / FULL, (1 + 2) / FULL]  # kept: (4/2 + 1)/2 = 1.5 and (1/2 + 4)/2 = 2.25, whole
    for sampler in (Playouts(clocked, (at_board, at_board)), Streams(clocked, (at_board, at_board))):
        exact = Exact(clocked, (at_board, at_board))
        adaptive = AdaptiveRollouts(clocked, sampler, 0.05, first=2000)
        assert [x.mean for x in exact.values([early, late])] == pytest.approx(expected)
        assert [x.mean for x in adaptive.values([early, late])] == pytest.approx(expected, abs=0.05)
        assert len(adaptive.estimates) == 2


def test_the_rule_takes_a_share_within_bounds_and_on_the_grid() -> None:
    raw = {"format": "preplay-game/1", "root": decision(1, a=(1, 1, 1.0))}
    levels = geometric_levels(10, 200, 1.5)
    assert levels == (10, 15, 22, 33, 50, 75, 113, 170)

    def takes(rule: ShareOfTheRest, left: int, increment: int = 0) -> int:
        clocked = Clocked(tabular.parse(raw), (left, 0), (increment, 0), levels)
        return rule(clocked, clocked.root())

    assert takes(ShareOfTheRest(0.1), 1000) == 75  # 100, rounded down
    assert takes(ShareOfTheRest(0.1), 760) == 75  # nearly the same clock, the same search
    assert takes(ShareOfTheRest(0.1, 0.5), 1000, 40) == 113
    assert takes(ShareOfTheRest(0.1, most=60), 1000) == 50
    assert takes(ShareOfTheRest(0.1, least=30), 100) == 22
    assert takes(ShareOfTheRest(0.1, least=30), 12) == 10  # no more than it has
    assert takes(ShareOfTheRest(0.1), 9) == 10  # too little for any move: it oversteps
    assert takes(ShareOfTheRest(0.5), 10**6) == 170


def test_mistakes_are_told() -> None:
    game = tabular.parse({"format": "preplay-game/1", "root": decision(1, a=(1, 1, 1.0))})
    with pytest.raises(InputError, match="expected numbers of at least 0"):
        Clocked(game, (-1, 3))
    with pytest.raises(InputError, match="expected rising whole numbers above 0"):
        Clocked(game, (1, 3), levels=(2, 1))
    with pytest.raises(InputError, match="ratio > 1"):
        geometric_levels(1, 10, 1.0)
    with pytest.raises(GameError, match="no side is to move"):
        Clocked(game, (1, 3)).mover(walk(Clocked(game, (1, 3)), ["a"]))
