"""Policies: distributions, what is offered, and the rest of the moves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from preplay.errors import GameError
from preplay.policy import REST, Option, check_distribution, menu_of, probability, softmax, spread_rest


def test_the_rest_at_the_board_is_one_of_the_other_moves() -> None:
    spread = spread_rest({"a": 0.5, "b": 0.3, REST: 0.2}, ["a", "b", "c", "d"])
    assert dict(spread) == pytest.approx({"a": 0.5, "b": 0.3, "c": 0.1, "d": 0.1})
    assert dict(spread_rest({"a": 0.6, REST: 0.4}, ["a"])) == {"a": 1.0}
    assert dict(spread_rest({"a": 1.0}, ["a", "b"])) == {"a": 1.0}
    assert np.isclose(sum(spread.values()), 1.0)


def test_randomness_0_is_the_first_best_and_more_of_it_is_even() -> None:
    assert softmax([1.0, 3.0, 3.0], 0.0) == [0.0, 1.0, 0.0]
    one, two = softmax([10.0, 30.0], 20.0)
    assert (two / one, one + two) == pytest.approx((math.e, 1.0))
    assert softmax([0.0, 1e6], 1.0) == [0.0, 1.0]  # no overflow
    assert softmax([0.0, 1.0], 1e9) == pytest.approx([0.5, 0.5])


def test_a_menu_leads_with_the_first_choice_whatever_is_thought_of_it() -> None:
    options = [Option("a", 1.0), Option("b", 3.0), Option("c", 2.0), Option("d", None)]
    assert [o.action for o in menu_of(options, 3, math.inf)] == ["b", "c", "a"]
    assert [o.action for o in menu_of(options, 4, 1.0)] == ["b", "c"]
    assert [o.action for o in menu_of(options, 2, math.inf, first="d")] == ["d", "b"]
    assert [o.action for o in menu_of(options, 1, math.inf, first="a")] == ["a"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "here: no actions; expected a distribution over at least one action"),
        ({0: 1.0}, "here: action 0; expected a name, as text"),
        ({"a": 1.5}, "here: probability of 'a' is 1.5; expected a number in [0, 1]"),
        ({"a": math.nan}, "here: probability of 'a' is nan; expected a number in [0, 1]"),
        ({"a": 0.5, "b": 0.4}, "here: probabilities sum to 0.9; expected 1"),
    ],
)
def test_what_is_no_distribution(given: Any, message: str) -> None:
    with pytest.raises(GameError) as told:
        check_distribution(given, "here")
    assert str(told.value) == message
    check_distribution({"a": 0.25, "b": 0.75}, "here")


def test_those_that_are_not_named_share_the_rest() -> None:
    play = {"a": 0.5, "b": 0.2, REST: 0.3}
    assert [probability(play, action, 5) for action in ("a", "b", "c")] == pytest.approx([0.5, 0.2, 0.1])
    assert probability(play, "c", 2) == probability({"a": 1.0}, "c", 3) == 0.0
