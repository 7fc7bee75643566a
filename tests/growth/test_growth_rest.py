"""The rest of the opponent's moves: one leaf that ends the book, as in a game that spells it out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import Raw, games, v

from preplay import response
from preplay.errors import GameError
from preplay.game import Distribution, Side
from preplay.games import tabular
from preplay.growth import Goal, Limits, Pays, grow
from preplay.policy import REST, Policy, PolicyFunction
from preplay.tree import Tree, check_arrays

SIDES = st.sampled_from([1, 2])
COSTS = st.sampled_from([0.003, 0.01, 0.03, 0.1])
SHARE = 0.2


class Surprising:
    """A player of a tabular game who plays something else with a probability."""

    def distributions(self, states: Sequence[tabular.Node]) -> list[Distribution]:
        plain = tabular.TabularPolicy("base").distributions(states)
        return [{a: (1 - SHARE) * p for a, p in d.items()} | {REST: SHARE} for d in plain]


def spelled_out(node: Raw, side: int) -> Raw:
    """The same game with the surprise as an action whose utility is what the position is worth."""
    if "utility" in node:
        return node
    spelled = copy.deepcopy(node)
    if node["player"] != "chance":
        spelled["value"] = v(node)
    for name, edge in node["actions"].items():
        spelled["actions"][name]["to"] = spelled_out(edge["to"], side)
    if node["player"] not in ("chance", side):
        for edge in spelled["actions"].values():
            edge["base"] *= 1 - SHARE
        spelled["actions"]["tail"] = {"base": SHARE, "prep": 0, "to": {"utility": v(node)}}
    return spelled


def grown(raw: Raw, side: Side, opponent: Policy[Any], goal: Goal, **more: Any) -> Tree:
    base, prep = (opponent, opponent), tabular.TabularPolicy("prep")
    tree = grow(tabular.parse(raw), side, base, prep, tabular.TabularValue(), goal, **more).tree
    check_arrays(tree)
    return tree


@settings(max_examples=80, deadline=None)
@given(games(depth=5, own=40, estimates=True), SIDES, COSTS)
def test_the_rest_is_one_leaf_at_the_opponents_position(raw: Raw, side: Side, cost: float) -> None:
    tree = grown(raw, side, Surprising(), Pays(cost))
    whole = {"format": "preplay-game/1", "root": spelled_out(raw["root"], side)}
    other = grown(whole, side, tabular.TabularPolicy("base"), Pays(cost))
    ours, theirs = response.best_book(tree, side, cost), response.best_book(other, side, cost)
    assert ours.upper == pytest.approx(theirs.upper, abs=1e-9)
    assert ours.net == pytest.approx(theirs.net, abs=1e-9)
    rest = [k for k in range(tree.size) if k and tree.names[tree.action[k]] == REST]
    assert all(tree.leaves[k] and not tree.open[k] for k in rest)
    assert all(tree.player[k] == 3 - side for k in rest)
    above = cost * (1.0 + 1e-9)  # what just pays for itself may be in one book and not in the other
    curve, expected = response.frontier(tree, side, above), response.frontier(other, side, above)
    assert curve.value == pytest.approx(expected.value, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(games(depth=5, own=40), SIDES, COSTS, st.integers(1, 60), st.integers(1, 8))
def test_growth_cut_short_stays_certified_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory,
    raw: Raw,
    side: Side,
    cost: float,
    histories: int,
    window: int,
) -> None:
    whole = response.best_book(grown(raw, side, Surprising(), Pays(cost)), side, cost)
    checkpoint = tmp_path_factory.mktemp("growth") / "checkpoint.npz"
    limits = Limits(histories=histories, window=window)
    part = grown(raw, side, Surprising(), Pays(cost), limits=limits, checkpoint=checkpoint)
    best = response.best_book(part, side, cost)
    assert best.net <= whole.net + 1e-9 <= best.upper + 2e-9
    resumed = grown(raw, side, Surprising(), Pays(cost), checkpoint=checkpoint)
    assert response.best_book(resumed, side, cost).net == pytest.approx(whole.net, abs=1e-12)


def test_the_rest_asks_one_question_more(tmp_path: Path) -> None:
    leaf = {"base": 0.5, "prep": 0.5, "to": {"utility": 0.4}}
    own = {"player": 1, "actions": {"a": leaf, "b": leaf}}
    edge = {"base": 0.5, "prep": 0.5, "to": own}
    raw = {"format": "preplay-game/1", "root": {"player": 2, "actions": {"x": edge, "y": edge}}}
    game, table = tabular.parse(raw), tabular.TabularPolicy("base")
    value = tabular.TabularValue()
    plain = grow(game, 1, (table, table), table, value, Pays(0.01))
    rest = grow(game, 1, (table, Surprising()), table, value, Pays(0.01))
    assert rest.values == plain.values + 1
    assert rest.histories == plain.histories + 1


def test_the_rest_is_the_opponents_alone() -> None:
    raw = {
        "format": "preplay-game/1",
        "root": {"player": 1, "actions": {"a": {"base": 1, "prep": 1, "to": {"utility": 0.2}}}},
    }
    base, table = (
        tabular.TabularPolicy("base"),
        PolicyFunction[tabular.Node](lambda _: {"a": 0.5, REST: 0.5}),
    )
    with pytest.raises(GameError, match="expected it of the opponent alone"):
        grow(tabular.parse(raw), 1, (base, base), table, tabular.TabularValue(), Pays(0.01))
