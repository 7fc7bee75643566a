"""How a side plays: a distribution over actions at each history, asked for in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from preplay.errors import GameError
from preplay.game import Distribution, Game, S, S_contra

T = TypeVar("T")
TOLERANCE = 1e-9
"""How far probabilities may sum from 1."""


class Policy(Protocol[S_contra]):
    """A behaviour strategy. It is asked about many histories at once, so engines can work in parallel.

    A policy that is also `Prefetching` is told beforehand what it will be asked.
    """

    def distributions(self, states: Sequence[S_contra]) -> Sequence[Distribution]:
        """The distribution over actions at each of `states`, in their order."""
        ...


@runtime_checkable
class Prefetching(Protocol[S_contra]):
    """A policy or evaluator that works in the background."""

    def prefetch(self, states: Sequence[S_contra]) -> None:
        """These states will be asked about soon; returns at once and lets the work begin."""
        ...


@runtime_checkable
class Cancelling(Protocol[S_contra]):
    """One that can give up work that has not begun."""

    def cancel(self, states: Sequence[S_contra]) -> None:
        """These states, which were prefetched, will not be asked about after all."""
        ...


@dataclass(frozen=True)
class Ahead(Generic[S]):
    """How to let somebody work before the answer is needed."""

    prefetch: Callable[[Sequence[S]], None]
    cancel: Callable[[Sequence[S]], None]

    def of(self, states: Callable[[Sequence[T]], Sequence[S]]) -> Ahead[T]:
        """The same for a wrapper: `states` says what its own states mean to the one inside."""
        return Ahead(lambda given: self.prefetch(states(given)), lambda given: self.cancel(states(given)))


@runtime_checkable
class Wrapping(Protocol[S]):
    """A policy or evaluator around another, which works ahead if that one does."""

    def ahead(self) -> Ahead[S] | None:
        """How the one inside works ahead; None: it does not."""
        ...


def ahead_of(oracle: object) -> Ahead[Any] | None:
    """How a policy or evaluator can work ahead; None: it answers when it is asked."""
    if isinstance(oracle, Wrapping):
        return oracle.ahead()
    if not isinstance(oracle, Prefetching):
        return None
    return Ahead(oracle.prefetch, oracle.cancel if isinstance(oracle, Cancelling) else _ignore)


def _ignore(states: Sequence[Any]) -> None:
    """Work that cannot be given up is done in vain."""


@dataclass(frozen=True)
class Uniform(Generic[S]):
    """Every action with the same probability."""

    game: Game[S]

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """1 / (number of actions) at each state."""
        answer: list[Distribution] = []
        for state in states:
            actions = self.game.actions(state)
            answer.append(dict.fromkeys(actions, 1 / len(actions)))
        return answer


@dataclass(frozen=True)
class PolicyFunction(Generic[S]):
    """A policy from a plain function of one state."""

    function: Callable[[S], Distribution]

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """The function's answer at each state."""
        return [self.function(state) for state in states]


def softmax(scores: Sequence[float], randomness: float) -> list[float]:
    """Probabilities proportional to exp(score / randomness); randomness 0 is the first best score.

    The paper's randomizing opponent (section 5), with scores in centipawns and `randomness` its r.
    """
    best = max(scores)
    if randomness == 0:
        top = scores.index(best)
        return [1.0 if k == top else 0.0 for k in range(len(scores))]
    weights = [math.exp((score - best) / randomness) for score in scores]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def check_distribution(distribution: Distribution, where: str) -> None:
    """Raise GameError unless the probabilities are in [0, 1] and sum to 1."""
    if not distribution:
        raise GameError(f"{where}: no actions; expected a distribution over at least one action")
    total = 0.0
    for action, p in distribution.items():
        if not 0.0 <= p <= 1.0 + TOLERANCE:
            raise GameError(f"{where}: probability of '{action}' is {p}; expected a number in [0, 1]")
        total += p
    if abs(total - 1.0) > TOLERANCE:
        raise GameError(f"{where}: probabilities sum to {total:.12g}; expected 1")
