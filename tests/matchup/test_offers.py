"""Menus of a plain function: what prep likes best leads."""

from __future__ import annotations

import pytest

from preplay.games import tabular
from preplay.matchup.offers import OpinionMenus
from preplay.policy import PolicyFunction

ACTIONS = {name: {"base": 1 / 3, "prep": 1 / 3, "to": {"utility": 0.5}} for name in "abc"}
GAME = tabular.parse({"format": tabular.FORMAT, "root": {"player": 1, "actions": ACTIONS}})


@pytest.mark.parametrize(
    ("plays", "order"),
    [
        ({"b": 0.9, "c": 0.1}, "bc"),
        ({"a": 0.5, "b": 0.5}, "bc"),  # of equals the one that is offered
        ({"b": 0.4, "a": 0.6}, "cb"),  # not offered: by opinion
    ],
)
def test_what_prep_likes_best_leads_if_it_is_offered(plays: dict[str, float], order: str) -> None:
    menus = OpinionMenus(GAME, lambda state: {"b": 1.0, "c": 2.0}, PolicyFunction(lambda state: plays))
    (menu,) = menus.menus([GAME.root()])
    assert "".join(option.action for option in menu) == order
