"""Games, policies and values of one's own: held to their contracts, and told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import preplay
from preplay.errors import GameError, InputError, StoreError
from preplay.game import Distribution
from preplay.games import tabular

State = tuple[str, ...]
LONGEST = 6


class Ways:
    """Six choices between a and b in turn; player 1 wants many a."""

    longest, widest = LONGEST, 2

    def root(self) -> State:
        return ()

    def history(self, state: State) -> Any:
        return state

    def player(self, state: State) -> Any:
        return 1 + len(state) % 2 if len(state) < LONGEST else preplay.FINAL

    def actions(self, state: State) -> list[str]:
        return ["a", "b"]

    def chance(self, state: State) -> Distribution:
        raise AssertionError("there is no chance")

    def next(self, state: State, action: str) -> State:
        return (*state, action)

    def utility(self, state: State) -> float:
        return state.count("a") / LONGEST


class Always:
    """A policy object that gives one answer everywhere."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def distributions(self, states: Any) -> Any:
        return [self.answer for _ in states] if isinstance(self.answer, dict) else self.answer


def even(state: State) -> Distribution:
    return {"a": 0.5, "b": 0.5}


def sure(state: State) -> Distribution:
    return {"a": 1.0}


def made(**change: Any) -> preplay.Matchup[Any]:
    given: dict[str, Any] = {"game": Ways(), "base": even, "prep": sure, "cost": 0.01}
    return preplay.make_matchup(**(given | change))


def told(work: Callable[[], object]) -> str:
    with pytest.raises((GameError, InputError)) as caught:
        work()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def constant(mean: float) -> preplay.ValueFunction[State]:
    return preplay.ValueFunction(lambda state: mean)


def late(state: State) -> Distribution:
    return {"a": 1.0} if len(state) == LONGEST - 2 else even(state)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"value": constant(0.3)}, {"value": constant(0.9)}),
        (
            {"value": constant(0.3), "judge": constant(0.3)},
            {"value": constant(0.3), "judge": constant(0.4)},
        ),
        ({"base": even}, {"base": late}),
    ],
)
def test_a_kept_run_is_not_taken_up_by_another_matchup(one: Any, two: Any, tmp_path: Path) -> None:
    first = preplay.prepare(made(**one), 1, save=tmp_path / "run")
    assert preplay.prepare(made(**one), 1, save=tmp_path / "run") == first
    with pytest.raises(StoreError, match="belongs to another run"):
        preplay.prepare(made(**two), 1, save=tmp_path / "run")


@pytest.mark.parametrize("history", [(), "a", ["a"], None, ("b",)])
def test_a_history_is_the_tuple_of_the_actions(history: Any) -> None:
    class Wrong(Ways):
        def history(self, state: State) -> Any:
            return history if state else ()

    assert "expected the tuple of the actions so far" in told(lambda: made(game=Wrong()))


@pytest.mark.parametrize("player", [3, None, "1", -2, [1]])
def test_somebody_moves(player: Any) -> None:
    class Wrong(Ways):
        def player(self, state: State) -> Any:
            return player if len(state) == 1 else super().player(state)

    for work in (
        lambda: preplay.prepare(made(game=Wrong(), value=constant(0.5)), 1),
        lambda: preplay.equilibrium(made(game=Wrong(), value=constant(0.5))),
    ):
        message = told(work)
        assert f"history ['a']: player {player!r}; expected 1, 2, 0 (chance) or -1 (over)" in message


@pytest.mark.parametrize("which", ["base", "prep"])
def test_objects_play_what_the_game_has(which: str) -> None:
    matchup = made(**{which: Always({"z": 1.0})})
    for work in (lambda: preplay.prepare(matchup, 1), lambda: preplay.equilibrium(matchup)):
        assert f"{which} plays 'z'; expected one of 'a', 'b'" in told(work)
    assert f"{which} gives list" in told(lambda: preplay.prepare(made(**{which: lambda s: ["a"]}), 1))
    assert f"{which} answers []" in told(lambda: preplay.prepare(made(**{which: Always([])}), 1))
    assert f"{which} answers None" in told(lambda: preplay.prepare(made(**{which: Always(None)}), 1))


def test_a_policy_object_is_as_good_as_a_function() -> None:
    plain = preplay.prepare(made(), 1)
    objects = preplay.prepare(made(base=Always(even(())), prep=Always(sure(()))), 1)
    assert (objects.value, objects.net, objects.upper) == (plain.value, plain.net, plain.upper)


def test_probabilities_of_numpy() -> None:
    coarse = {"a": np.float32(0.25), "b": np.float32(0.75)}
    fine = {"a": 0.25, "b": 0.75}
    assert preplay.prepare(made(base=Always(coarse)), 1).value == pytest.approx(
        preplay.prepare(made(base=Always(fine)), 1).value, abs=1e-12
    )
    assert preplay.equilibrium(made(base=Always(coarse))).value == pytest.approx(
        preplay.equilibrium(made(base=Always(fine))).value, abs=1e-9
    )


@pytest.mark.parametrize("answer", [[0.5], [], None, [(0.5, 0.1, 0.2)], [None]])
def test_values_that_are_none(answer: Any) -> None:
    class Wrong:
        def values(self, states: Any) -> Any:
            return answer if answer is None else answer * len(states)

    for work in (
        lambda: preplay.prepare(made(value=Wrong()), 1),
        lambda: preplay.equilibrium(made(value=Wrong())),
    ):
        told(work)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": Ways}, "game is the class Ways; expected a game, as Ways(...)"),
        ({"base": preplay.Uniform}, "expected a policy, or a function"),
        ({"base": SimpleNamespace(distributions=1)}, "expected a policy, or a function"),
        ({"value": preplay.Exact}, "expected an evaluator or a table"),
        ({"value": SimpleNamespace(values=1)}, "expected an evaluator or a table"),
        ({"menus": tabular.TabularMenus}, "expected a function from a state to a dict of opinions"),
        ({"sides": ("both", "x")}, "expected two different names"),
        ({"sides": ("2", "1")}, "expected two different names"),
        ({"sides": ("a", "")}, "expected two different names"),
        ({"write": 3}, "write is 3; expected a function of a history"),
    ],
)
def test_parts_that_are_none(change: dict[str, Any], message: str) -> None:
    assert message in told(lambda: made(**change))
