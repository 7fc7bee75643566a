"""What growth refuses: mistakes of a caller and of a game, each with one clear line."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from winlossgames import random_game

from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL
from preplay.games import tabular
from preplay.games.playout import playouts
from preplay.growth import Pays, grow, grow_contested
from preplay.policy import PolicyFunction, Uniform
from preplay.sampling.samplers import PlayoutRequest, Playouts, at
from preplay.sampling.streams import Streams
from preplay.value import Exact, ValueFunction

BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
VALUE = tabular.TabularValue()


def game() -> tabular.TabularGame:
    return tabular.parse(random_game(np.random.default_rng(3), depth=4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"side": 3}, "side 3; expected 1 or 2"),
        ({"side": True}, "side True; expected 1 or 2"),
        ({"side": "white"}, "side 'white'; expected 1 or 2"),
        ({"prep": lambda state: {}}, "prep is a function; .* wrap a plain function in PolicyFunction"),
        ({"base": (BASE, lambda state: {})}, "base of side 2 is a function; expected a policy"),
        ({"base": BASE}, "base is a TabularPolicy; expected a pair of policies, one for each side"),
        ({"base": (BASE,)}, "base is a tuple; expected a pair of policies"),
        ({"value": lambda state: 0.5}, "value is a function; .* wrap a plain function in ValueFunction"),
        ({"value": {"a": 1}}, "value is a dict; expected an evaluator"),
        ({"goal": 0.01}, "goal 0.01; expected one as Pays"),
        ({"choices": 3}, r"choices 3; expected a Choices, as Choices\(menus, deviations=1\)"),
        ({"goal": Pays(math.nan)}, "cost nan; expected a number of at least 0"),
        ({"goal": Pays(-1.0)}, "cost -1.0; expected a number of at least 0"),
        ({"goal": Pays("x")}, "cost 'x'; expected a number of at least 0"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    usual = {"side": 1, "base": (BASE, BASE), "prep": PREP, "value": VALUE, "goal": Pays(0.01)}
    given: dict[str, Any] = usual | change
    with pytest.raises(InputError, match=message):
        grow(game(), **given)


def test_both_sides_are_checked_too() -> None:
    bases: Any = BASE
    with pytest.raises(InputError, match="base is a TabularPolicy; expected a pair"):
        grow_contested(game(), bases, (PREP, PREP), VALUE, (0.01, 0.01))
    with pytest.raises(InputError, match="cost nan; expected a number of at least 0"):
        grow_contested(game(), (BASE, BASE), (PREP, PREP), VALUE, (math.nan, 0.01))
    preps: Any = (PREP, lambda state: {})
    with pytest.raises(InputError, match="prep of side 2 is a function"):
        grow_contested(game(), (BASE, BASE), preps, VALUE, (0.01, 0.01))


def test_action_names_are_text() -> None:
    names: Any = {0: 1.0}
    numbers = PolicyFunction[tabular.Node](lambda state: names)
    with pytest.raises(GameError, match="action 0; expected a name, as text"):
        grow(game(), 1, (BASE, BASE), numbers, VALUE, Pays(0.001))
    with pytest.raises(GameError, match="action 0; expected a name, as text"):
        grow_contested(game(), (numbers, BASE), (PREP, PREP), VALUE, (0.001, 0.001))


@dataclass(frozen=True)
class Endless:
    """A game that says it is short and never ends."""

    longest: int = 12
    widest: int = 2
    luck: bool = False

    def root(self) -> tuple[str, ...]:
        return ()

    def history(self, state: tuple[str, ...]) -> tuple[str, ...]:
        return state

    def player(self, state: tuple[str, ...]) -> int:
        return CHANCE if self.luck and len(state) % 3 == 2 else 1 + len(state) % 2

    def actions(self, state: tuple[str, ...]) -> tuple[str, ...]:
        return ("a", "b")

    def chance(self, state: tuple[str, ...]) -> dict[str, float]:
        return {"a": 0.5, "b": 0.5}

    def next(self, state: tuple[str, ...], action: str) -> tuple[str, ...]:
        return (*state, action)

    def utility(self, state: tuple[str, ...]) -> float:
        raise AssertionError("it never ends")


HALF = ValueFunction[tuple[str, ...]](lambda state: 0.5)


def policies(rules: Endless) -> tuple[Any, Any]:
    first = PolicyFunction[tuple[str, ...]](lambda state: {"a": 1.0})
    return first, Uniform(rules)


@pytest.mark.parametrize("luck", [False, True])
@pytest.mark.parametrize(
    "go_on",
    [
        lambda rules, first, even: grow(rules, 1, (first, first), first, HALF, Pays(1e-3)),
        lambda rules, first, even: grow_contested(rules, (first,) * 2, (first,) * 2, HALF, (1e-3, 1e-3)),
        lambda rules, first, even: Exact(rules, (first, first)).values([rules.root()]),
        lambda rules, first, even: Playouts(rules, (even, even)).play(
            [PlayoutRequest(at(rules, rules.root()), 0, 3)]
        ),
        lambda rules, first, even: Streams(rules, (even, even)).play(
            [PlayoutRequest(at(rules, rules.root()), 0, 3)]
        ),
        lambda rules, first, even: playouts(rules)(rules.root(), random.Random(1)),
    ],
    ids=["grow", "grow_contested", "exact", "playouts", "streams", "random games"],
)
def test_an_endless_game_ends_with_an_error(go_on: Callable[..., Any], luck: bool) -> None:
    rules = Endless(luck=luck)
    with pytest.raises(GameError, match=r"a history of 13 actions; expected at most 12.*longest"):
        go_on(rules, *policies(rules))


def test_a_game_may_be_as_long_as_it_says() -> None:
    @dataclass(frozen=True)
    class Ending(Endless):
        def player(self, state: tuple[str, ...]) -> int:
            return FINAL if len(state) == 12 else super().player(state)

        def utility(self, state: tuple[str, ...]) -> float:
            return 1.0

    rules = Ending()
    first, even = policies(rules)
    grown = grow(rules, 1, (first, even), first, Exact(rules, (first, even)), Pays(1e-3))
    assert grown.ending == "complete"
    with pytest.raises(GameError, match="a history of 12 actions; expected at most 11"):
        Playouts(replace(rules, longest=11), (even, even)).play(
            [PlayoutRequest(at(rules, rules.root()), 0, 1)]
        )
