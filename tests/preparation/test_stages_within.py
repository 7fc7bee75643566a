"""`--within`: the work goes on until the bound of the books that are asked for is as near as that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from randomgames import Raw

from preplay.games import tabular
from preplay.growth import Grown, Limits
from preplay.matchup import Matchup
from preplay.preparation import Prepared, prepare, stages
from preplay.preparation.comparing import best_of
from preplay.preparation.stages import loose


def edge(base: float, prep: float, to: Raw, menu: bool = False) -> Raw:
    return {"base": base, "prep": prep, "to": to, "menu": menu}


def prepared(root: Raw, gap: float, budget: int | None, cost: float | None = None) -> Prepared:
    """The best book of a game that is grown history by history, not as a whole."""
    game = tabular.parse({"format": tabular.FORMAT, "root": root})
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    offers = tabular.TabularMenus() if game.offers[0] else None
    matchup: Matchup[Any] = Matchup(
        "test", game, (base, base), (prep, prep), tabular.TabularValue(), menus=(offers, None), window=1
    )
    return prepare(matchup, 1, cost, budget, Limits(gap=gap))


LONG: Raw = {
    "player": 1,
    "value": 0.5,
    "actions": {
        "long": edge(1, 1, {"player": 1, "actions": {
            "on": edge(0, 1, {"utility": 1.0}),
            "off": edge(1, 0, {"utility": 0.5}),
        }}, True),
        "short": edge(0, 0, {"player": 2, "actions": {
            "bad": edge(0.98, 0, {"player": 1, "actions": {"end": edge(1, 1, {"utility": 0.9})}}),
            "good": edge(0.02, 1, {"utility": 0.0}),
        }}, True),
    },
}  # fmt: skip
"""Two moves win for sure, so nobody need look far into the other one: but of one move it is the best."""


def test_within_is_about_books_of_the_size_that_is_allowed() -> None:
    any_size = prepared(LONG, 0.02, None, 0.003)
    assert any_size.response.net == pytest.approx(0.994)
    one = prepared(LONG, 0.02, 1, 0.003).response
    assert one.net == pytest.approx(0.98 * 0.9 - 0.003)
    assert one.upper - one.net <= 0.02


RARE: Raw = {
    "player": 1,
    "value": 0.5,
    "actions": {
        "go": edge(1, 1, {"player": 2, "actions": {
            "often": edge(0.9, 1, {"utility": 0.5}),
            "seldom": edge(0.1, 0, {"player": 1, "actions": {"on": edge(1, 1, {"utility": 0.5})}}),
        }}),
    },
}  # fmt: skip
"""What is not known of the rare reply is worth 0.05 to the side, at most."""


def test_a_budget_alone_leaves_prices_their_part_of_the_gap() -> None:
    found = prepared(RARE, 0.05, 5)
    assert found.response.upper - found.value <= 0.05
    assert found.cost > 1e-3


def test_a_bound_that_judging_moved_away_is_worked_on() -> None:
    found = prepared(LONG, 0.02, None, 0.003)
    best = found.response
    cut = replace(found, grown=replace(found.grown, ending="gap"))
    far = replace(cut, response=replace(best, upper=best.net + 0.03))
    assert not loose(cut, 0.02).stale
    assert loose(far, 0.02).stale
    assert not loose(far, 0.04).stale


def test_growth_goes_on_where_its_own_bound_was_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where memory is by position, and judged values moved what growth had compared."""
    asked: list[str] = []
    really = stages.chosen_on

    def far_at_first(grown: Grown, *rest: Any) -> Prepared:
        found = really(grown, *rest)
        asked.append(grown.ending)
        return replace(found, response=replace(found.response, upper=1.5)) if len(asked) == 1 else found

    monkeypatch.setattr(stages, "chosen_on", far_at_first)
    plain = {"player": 1, "value": 0.5, "actions": LONG["actions"]["long"]["to"]["actions"]}
    rare = {"player": 2, "actions": {"x": edge(0.95, 1, plain), "y": edge(0.05, 0, RARE)}}
    assert prepared(rare, 0.1, None, 0.003).response.upper < 1.1
    assert asked[0] == "gap"
    assert len(asked) == 2


def test_it_is_not_complete_where_a_smaller_class_that_was_cut_short_is_the_best() -> None:
    """Prep may play what no menu offers: then a class of fewer deviations is no part of a larger one."""
    last = prepared(LONG, 0.0, None, 0.003)
    better = replace(last.response, value=last.value + 0.1, upper=1.1)
    first = replace(last, response=better, grown=replace(last.grown, ending="gap"))
    assert last.grown.ending == "complete"
    assert best_of([first, last]).grown.ending == "gap"
    assert best_of([last, last]).grown.ending == "complete"
