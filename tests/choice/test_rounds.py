"""Choosing and judging in turns, and the book of first choices beside it: never worse, and checked."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, count_plans, games, own_histories, plans

from preplay import response
from preplay.game import Side, walk
from preplay.games import tabular
from preplay.growth import Limits
from preplay.judging import Judge
from preplay.matchup import Matchup
from preplay.preparation import Prepared, prepare
from preplay.value import Exact, Value, ValueFunction

BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
SIDES, COSTS = st.sampled_from([1, 2]), st.sampled_from([0.003, 0.01, 0.03])
DEVIATIONS = st.sampled_from([1, 2, None])
MENUS = games(depth=5, own=12, menus=True)
MOST = 2000
"""Books to enumerate."""


def guess(history: History) -> float:
    """A value that has nothing to do with the game."""
    return hashlib.sha256(repr(history).encode()).digest()[0] / 255


def matchup_of(raw: Raw, most: int | None, judged: bool = True) -> tuple[Matchup[Any], set[History]]:
    """A game with menus and noisy values, and what its judge, who knows the exact ones, was asked."""
    game = tabular.parse(raw)
    exact = Exact(game, (BASE, BASE))
    asked: set[History] = set()

    class Asked:
        def values(self, states: Sequence[tabular.Node]) -> list[Value]:
            new = [state.history for state in states]
            assert asked.isdisjoint(new), "the judge was asked twice"
            asked.update(new)
            return list(exact.values(states))

    def noisy(node: tabular.Node) -> float:
        return 0.5 * exact.values([node])[0].mean + 0.5 * guess(node.history)

    offers = tuple(tabular.TabularMenus() if offered else None for offered in game.offers)
    judge: Judge[Any] | None = Judge(Asked(), exact) if judged else None
    matchup: Matchup[Any] = Matchup(
        "test", game, (BASE, BASE), (PREP, PREP), ValueFunction(noisy), judge, enumerable=True,
        menus=(offers[0], offers[1]), deviations=(most, most),
    )  # fmt: skip
    return matchup, asked


def in_use(raw: Raw, matchup: Matchup[Any], asked: set[History], side: Side) -> Raw:
    """The game with the values in use written into it: the judge's where it was asked."""
    told = copy.deepcopy(raw)
    exact = Exact(matchup.game, matchup.base)
    for history in own_histories(raw["root"], side):
        node = told["root"]
        for action in history:
            node = node["actions"][action]["to"]
        oracle = exact if history in asked else matchup.value
        node["value"] = oracle.values([walk(matchup.game, history)])[0].mean
    return told


def best_net(raw: Raw, side: int, cost: float, most: int | None) -> float:
    return max(value - cost * len(plan) for value, plan in plans(raw["root"], side, most))


def rests_on(prepared: Prepared) -> set[History]:
    tree, side = prepared.tree, prepared.side
    ends = response.exits(tree, side, prepared.book)
    return {tree.history(int(k)) for k in ends if tree.player[k] == side}


def prep_leads(raw: Raw, side: int) -> bool:
    """Whether prep plays the first choice of every menu for sure, as engines do."""

    def visit(node: Raw) -> bool:
        if "utility" in node:
            return True
        edges = node["actions"].values()
        marked = [edge["prep"] for edge in edges if edge.get("menu")] if node["player"] == side else []
        return (not marked or max(marked) == 1.0) and all(visit(edge["to"]) for edge in edges)

    return visit(raw["root"])


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS)
def test_the_rounds_end_with_the_best_book_of_the_class(
    raw: Raw, side: Side, cost: float, most: int | None
) -> None:
    matchup, asked = matchup_of(raw, most)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    prepared = prepare(matchup, side, cost)
    best, fixed, judged = prepared.response, prepared.fixed, prepared.judged
    assert fixed is not None
    assert judged is not None
    told = in_use(raw, matchup, asked, side)
    nets = best_net(told, side, cost, most), best_net(told, side, cost, 0)
    assert rests_on(prepared) <= asked
    assert judged.left == 0
    assert judged.after == best.value == pytest.approx(judged.fresh, abs=1e-9)
    assert best.net == pytest.approx(max(nets[0], fixed.net), abs=1e-9)
    assert fixed.net - 1e-9 <= min(best.net, nets[1])
    assert best.upper >= best.net
    if prep_leads(raw, side):
        assert best.net == pytest.approx(nets[0], abs=1e-9)
        assert not fixed.played


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS, st.integers(1, 40), st.booleans())
def test_never_worse_than_the_fixed_book_wherever_it_is_cut(
    raw: Raw, side: Side, cost: float, most: int | None, histories: int, judged: bool
) -> None:
    matchup, asked = matchup_of(raw, most, judged)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    limits = Limits(histories=histories)
    prepared = prepare(matchup, side, cost, limits=limits)
    plain = prepare(matchup_of(raw, 0, judged)[0], side, cost, limits=limits)
    assert prepared.fixed is not None
    assert plain.fixed is None
    assert prepared.fixed.net == pytest.approx(plain.response.net, abs=1e-12)
    assert prepared.response.net >= plain.response.net - 1e-12
    if prepared.fixed.played:
        assert prepared.choice is None
        assert prepared.response.net == prepared.fixed.net
    told = in_use(raw, matchup, asked, side)
    assert prepared.response.upper >= best_net(told, side, cost, most) - 1e-9
