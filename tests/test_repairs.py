"""What to mend of what is known already, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from preplay.game import Side, other
from preplay.games import tabular
from preplay.growth import Pays, grow
from preplay.repairs import Repair, repairs
from preplay.response import best_book
from preplay.value import ValueFunction


def known(move: str, to: dict[str, Any]) -> dict[str, Any]:
    """A history at which the game plays a move by itself, as it does what a player knows."""
    return {"player": "chance", "actions": {move: {"prob": 1, "to": to}}}


def parsed(root: dict[str, Any]) -> tabular.TabularGame:
    return tabular.parse({"format": "preplay-game/1", "root": root})


def game(side: Side) -> tabular.TabularGame:
    """The opponent plays x or y; after both a move is known. After x it pays to memorize one more."""

    def result(mine: float) -> dict[str, float]:
        return {"utility": mine if side == 1 else 1.0 - mine}

    own = {
        "player": side,
        "actions": {
            "good": {"base": 0.5, "prep": 1, "to": result(1.0)},
            "bad": {"base": 0.5, "prep": 0, "to": result(0.0)},
        },
    }
    ways = {"x": known("k", own), "y": known("l", result(0.2)), "z": known("m", result(0.95))}
    shares = {"x": 0.5, "y": 0.25, "z": 0.25}
    actions = {name: {"base": shares[name], "prep": shares[name], "to": to} for name, to in ways.items()}
    return parsed({"player": other(side), "actions": actions})


@pytest.mark.parametrize("side", [1, 2])
def test_the_dearest_first_net_of_what_is_memorized_after_it(side: Side) -> None:
    rules, base = game(side), tabular.TabularPolicy("base")
    prep = tabular.TabularPolicy("prep")
    tree = grow(rules, side, (base, base), prep, tabular.TabularValue(), Pays(0.1)).tree
    best = best_book(tree, side, 0.1)
    assert best.size == 1
    alone = ValueFunction[tabular.Node](lambda state: 0.9 if side == 1 else 0.1)
    found = repairs(rules, alone, tree, best)
    # y: 0.9 alone, 0.2 with what is known. x: 1 with the book, whose price 0.1 is paid half of the time.
    # z earns more than the player would alone: nothing to repair.
    assert [(r.history, r.moves) for r in found] == [(("y",), ("l",)), (("x",), ("k",))]
    assert [r.loss for r in found] == pytest.approx([0.25 * 0.7, 0.5 * 0.1])
    assert [(r.reach, r.value, r.worth) for r in found] == [
        pytest.approx((0.25, 0.9, 0.2)),
        pytest.approx((0.5, 0.9, 0.8)),
    ]


def test_where_nothing_is_known_nothing_is_to_repair() -> None:
    only = {"a": {"base": 1, "prep": 1, "to": {"utility": 0.0}}}
    rules = parsed({"player": 1, "actions": only})
    base, value = tabular.TabularPolicy("base"), tabular.TabularValue()
    tree = grow(rules, 1, (base, base), base, value, Pays(0.1)).tree
    assert repairs(rules, value, tree, best_book(tree, 1, 0.1)) == ()


def test_a_loss_is_counted_by_how_often_it_is_met() -> None:
    assert Repair(("a",), ("b",), 0.5, 0.6, 0.4).loss == pytest.approx(0.1)
