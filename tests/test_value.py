"""Exact values against the obvious recursion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from randomgames import Raw, at, games, own_histories, v

from preplay.errors import GameError, InputError
from preplay.game import FINAL, walk
from preplay.games import tabular
from preplay.policy import PolicyFunction
from preplay.value import Exact, FirstGuess, Value, ValueFunction, utility_of


def sorted_letters(state: str) -> str:
    return "".join(sorted(state))


@dataclass(frozen=True)
class Letters:
    """Two letters are said in turn; player 1 wins if there is an a."""

    win: float = 1.0
    longest = 2
    widest = 2

    def root(self) -> str:
        return ""

    def history(self, state: str) -> tuple[str, ...]:
        return tuple(state)

    def player(self, state: str) -> int:
        return FINAL if len(state) == 2 else 1 + len(state)

    def actions(self, state: str) -> tuple[str, ...]:
        return ("a", "b")

    def chance(self, state: str) -> dict[str, float]:
        raise AssertionError

    def next(self, state: str, action: str) -> str:
        return state + action

    def utility(self, state: str) -> float:
        return self.win if "a" in state else 0.0


@settings(max_examples=100, deadline=None)
@given(games(depth=5, own=40))
def test_exact_values_are_those_of_base_against_base(raw: Raw) -> None:
    game = tabular.parse(raw)
    base = tabular.TabularPolicy("base")
    exact, table = Exact(game, (base, base)), tabular.TabularValue()
    for side in (1, 2):
        for history in own_histories(raw["root"], side):
            state = walk(game, history)
            expected = pytest.approx(v(at(raw["root"], history)), abs=1e-12)
            assert exact.values([state])[0].mean == expected
            assert table.values([state])[0].mean == expected


def test_positions_of_one_key_are_played_out_once() -> None:
    """Two ways to one position: with a key the second one asks nobody."""
    asked: list[tuple[str, ...]] = []

    def even(state: str) -> dict[str, float]:
        asked.append(tuple(state))
        return {"a": 0.5, "b": 0.5}

    base = PolicyFunction(even)
    plain, merged = Exact(Letters(), (base, base)), Exact(Letters(), (base, base), key=sorted_letters)
    assert plain.values([""]) == [Value(0.75)]
    assert sorted(asked) == [(), ("a",), ("b",)]
    asked.clear()
    assert merged.values(["ab", "ba", ""]) == [Value(1.0), Value(1.0), Value(0.75)]
    assert len(merged.known) == 6  # "", a, b, aa, ab, bb
    assert len(plain.known) == 7


def test_a_game_that_is_too_large_or_no_game() -> None:
    base = PolicyFunction[str](lambda state: {"a": 0.5, "b": 0.5})
    with pytest.raises(InputError, match="exact values of more than 3 histories"):
        Exact(Letters(), (base, base), most=3).values([""])
    with pytest.raises(GameError, match=r"utility 2\.0; expected a number in \[0, 1\]"):
        Exact(Letters(win=2.0), (base, base)).values([""])


def test_a_first_guess_leaves_everything_possible() -> None:
    guess = FirstGuess(ValueFunction[float](lambda state: state))
    for value in guess.values([0.0, 0.3, 1.0]):
        assert value.mean - value.radius <= 0.0
        assert value.mean + value.radius >= 1.0


@pytest.mark.parametrize("utility", [7.0, -0.1, math.nan, None, "1"])
def test_a_utility_is_a_number_in_the_interval(utility: Any) -> None:
    assert utility_of(Letters(1), "ab") == 1
    with pytest.raises(GameError, match=r"history \['a', 'b'\]: utility .*; expected a number in"):
        utility_of(Letters(utility), "ab")
