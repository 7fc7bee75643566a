"""Hardening against brute force: all plans of the hider against all books of the preparer."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from publictrees import matrix_value
from randomgames import History, Raw, books, games, v

from preplay.errors import InputError
from preplay.game import Side, other
from preplay.games import tabular
from preplay.growth import Limits
from preplay.hardening import against, harden, played_by
from preplay.hardening.hideout import HIDES, Hideout, Hiding
from preplay.hardening.program import given_away, solve
from preplay.matchup import Matchup
from preplay.preparation import prepare
from preplay.stopping import NEVER

BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
SIDES = st.sampled_from([1, 2])
PRICES = st.sampled_from([0.01, 0.05, 0.1])


def matchup_of(raw: Raw) -> Matchup[tabular.Node]:
    menus = tabular.TabularMenus()
    value = tabular.TabularValue()
    game = tabular.parse(raw)
    return Matchup("test", game, (BASE, BASE), (PREP, PREP), value, menus=(menus, menus), enumerable=True)


def menus_of(root: Raw, side: int) -> dict[History, list[str]]:
    found: dict[History, list[str]] = {}

    def visit(node: Raw, history: History) -> None:
        if "utility" in node:
            return
        marked = [name for name, edge in node["actions"].items() if edge.get("menu")]
        if node["player"] == side and marked:
            found[history] = marked
        for name, edge in node["actions"].items():
            visit(edge["to"], (*history, name))

    visit(root, ())
    return found


def nets(root: Raw, side: int, book: frozenset[History], plan: dict[History, str], cost: float) -> float:
    """What a book of the preparer nets against a pure plan of the hider."""
    preparer = 3 - side

    def visit(node: Raw, history: History) -> float:
        if "utility" in node:
            return float(node["utility"])
        mover = node["player"]
        if mover == preparer and history not in book:
            return v(node)
        if history in plan:
            return visit(node["actions"][plan[history]]["to"], (*history, plan[history]))
        kind = {"chance": "prob", preparer: "prep"}.get(mover, "base")
        return sum(
            float(e[kind]) * visit(e["to"], (*history, name))
            for name, e in node["actions"].items()
            if e[kind] > 0.0
        )

    value = visit(root, ())
    return (value if preparer == 1 else 1.0 - value) - cost * len(book)


def enumerated(raw: Raw, side: int, cost: float) -> float:
    """The least that a mixed plan leaves the best book: a matrix game."""
    root = raw["root"]
    menus = menus_of(root, side)
    plans = [dict(zip(menus, choice, strict=True)) for choice in itertools.product(*menus.values())]
    every = list(books(root, 3 - side))
    assume(len(plans) * len(every) <= 4_000)
    game = np.array([[-nets(root, side, book, plan, cost) for book in every] for plan in plans])
    return -matrix_value(game)


@settings(max_examples=50, deadline=None)
@given(games(depth=4, own=7, estimates=True, menus=True), SIDES, PRICES)
def test_the_mix_leaves_least(raw: Raw, side: Side, cost: float) -> None:
    least = enumerated(raw, side, cost)
    found = harden(matchup_of(raw), side, cost, gap=1e-9)
    assert found.lower - 1e-7 <= least <= found.upper + 1e-7
    assert found.gap <= 1e-6
    # The best book against the mix, found by other code, nets what is said.
    meets = replace(played_by(matchup_of(raw), side, found.policy), menus=(None, None))
    best = prepare(meets, other(side), cost).response
    assert best.net == pytest.approx(found.value, abs=1e-7)
    assert found.books[2 - side].net == pytest.approx(found.value, abs=1e-9)
    gains = sum(e.gain for e in found.books[2 - side].entries)
    assert found.books[2 - side].without + gains == pytest.approx(found.books[2 - side].value, abs=1e-9)
    for moves in found.policy.values():
        assert sum(moves.values()) == pytest.approx(1.0)
    for softmax in found.softmax:
        assert softmax.value >= found.upper - 1e-6
    before = found.before()
    assert before is not None
    assert before.value == min(s.value for s in found.softmax)


def hideout(raw: Raw, side: Side) -> Hideout:
    """All of a game."""
    game = tabular.parse(raw)
    growth = Hiding(game, side, (BASE, BASE), PREP, tabular.TabularMenus(), tabular.TabularValue(), NEVER)
    while (now := growth.hideout()).open.any():
        growth.expand(np.flatnonzero(now.open).tolist())
    return growth.hideout()


@settings(max_examples=30, deadline=None)
@given(games(depth=5, own=15, estimates=True, menus=True), SIDES, PRICES)
def test_sweeps_and_the_program_agree(raw: Raw, side: Side, cost: float) -> None:
    at = hideout(raw, side)
    exact = solve(at, cost, None, 0.0, "lp")
    swept = solve(at, cost, None, 1e-4, "sweep", most=4_000)
    assert swept.lower <= exact.lower + 1e-9
    assert swept.lower >= exact.lower - 2e-3


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=9, menus=True), SIDES, PRICES, st.floats(0.0, 0.3))
def test_a_limit_of_the_loss_is_kept(raw: Raw, side: Side, cost: float, loss: float) -> None:
    free = harden(matchup_of(raw), side, cost, gap=1e-9)
    tight = harden(matchup_of(raw), side, cost, loss=loss, gap=1e-9)
    assert tight.loss <= loss + 1e-7
    assert tight.value >= free.value - 1e-7
    if free.loss <= loss:
        assert tight.value == pytest.approx(free.value, abs=1e-6)
    at = hideout(raw, side)
    for y in (solve(at, cost, 0.0, 0.0).y, solve(at, cost, None, 0.0).y):
        assert given_away(at, y) >= -1e-12
    before = tight.before(loss)
    if before is not None:
        assert tight.upper <= before.value + 1e-6


@settings(max_examples=20, deadline=None)
@given(games(depth=4, own=9, menus=True), SIDES, PRICES)
def test_a_preparer_who_chooses_gets_no_less(raw: Raw, side: Side, cost: float) -> None:
    matchup = matchup_of(raw)
    found = harden(matchup, side, cost, gap=1e-7)
    chosen = against(matchup, side, found.policy, cost)
    assert chosen is not None
    choosing = chosen.response.net, chosen.response.upper
    assert choosing[1] >= choosing[0] - 1e-12
    root = raw["root"]
    pure = all(
        max(e["prep"] for e in _at(root, h)["actions"].values()) == 1.0 for h in menus_of(root, 3 - side)
    )
    if pure and all(
        _at(root, h)["actions"][m[0]]["prep"] == 1.0
        or any(_at(root, h)["actions"][a]["prep"] == 1.0 for a in m)
        for h, m in menus_of(root, 3 - side).items()
    ):  # what prep plays is on every menu
        assert choosing[0] >= found.value - 1e-7


def _at(node: Raw, history: History) -> Raw:
    for name in history:
        node = node["actions"][name]["to"]
    return node


def test_hiding_by_hand() -> None:
    """Two equal answers: the preparer wins against each if he has learned it; the mix halves that."""
    learn = {
        "player": 1,
        "actions": {
            "right": {"base": 0.5, "prep": 1, "to": {"utility": 1}},
            "wrong": {"base": 0.5, "prep": 0, "to": {"utility": 0}},
        },
    }
    answers = {
        name: {"base": base, "prep": base, "menu": True, "to": learn}
        for name, base in (("x", 1), ("y", 0))
    }
    raw = {"format": "preplay-game/1", "root": {"player": 2, "actions": answers}}
    matchup: Any = matchup_of(raw)
    # Against "x" alone: learn one history, net 1 - 0.3. Against half and half: each is worth 0.25 < 0.3.
    assert prepare(replace(matchup, menus=(None, None)), 1, 0.3).response.net == pytest.approx(0.7)
    found = harden(matchup, 2, 0.3, gap=1e-9)
    assert found.value == pytest.approx(0.5, abs=1e-9)
    (mix,) = found.policy.values()
    assert 0.4 - 1e-9 <= mix["x"] <= 0.6 + 1e-9  # one share of at most 0.6 is not worth learning
    assert found.loss == pytest.approx(0.0)
    assert hideout(raw, 2).kind.tolist().count(HIDES) == 1


def test_what_cannot_be_hardened_is_refused() -> None:
    leaf = {"utility": 0.5}
    raw = {
        "format": "preplay-game/1",
        "root": {"player": 1, "actions": {"a": {"base": 1, "prep": 1, "to": leaf}}},
    }
    matchup: Any = matchup_of(raw)
    with pytest.raises(InputError, match="no moves to choose among"):
        harden(replace(matchup, menus=(None, None)), 1, 0.1)
    with pytest.raises(InputError, match="loss -1"):
        harden(matchup, 1, 0.1, loss=-1.0)
    with pytest.raises(InputError, match="cost 0"):
        harden(matchup, 1, 0.0)
    with pytest.raises(InputError, match="expected lp, or sweep"):
        harden(matchup, 2, 0.1, method="magic")
    assert harden(matchup, 2, 0.1, limits=Limits(1)).histories >= 1
