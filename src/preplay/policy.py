"""How a side plays: a distribution over actions at each history, asked for in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from preplay.arguments import check_function, check_number, check_rules, is_share, shown
from preplay.errors import GameError, InputError
from preplay.game import Distribution, Game, S, S_contra, actions_of

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
class Positional(Protocol):
    """A policy that may say that it looks at the position alone, however it was reached."""

    @property
    def by_position(self) -> bool:
        """Whether histories with the same position have the same distribution."""
        ...


def by_position(policy: object) -> bool:
    """Whether a policy says that it looks at the position alone."""
    return isinstance(policy, Positional) and policy.by_position


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


class Option(NamedTuple):
    """An action that a book may play at an own history, for sure."""

    action: str
    opinion: float | None
    """What the policy that offers it thinks of it, in its own units; more is better for the mover. None:
    it thought of other actions only."""

    @property
    def liking(self) -> float:
        """The opinion to rank by: where there is none, below all others."""
        return -math.inf if self.opinion is None else self.opinion


Menu = tuple[Option, ...]
"""The actions that a book may choose from, the first choice first; empty: the book plays prep."""


@runtime_checkable
class Menus(Protocol[S_contra]):
    """What a book may play instead of prep's first choice. Like a policy it is asked in batches."""

    def menus(self, states: Sequence[S_contra]) -> Sequence[Menu]:
        """The menu at each of `states`, in their order."""
        ...


@dataclass(frozen=True)
class Choices(Generic[S]):
    """What the books of a side may choose from (fact 9 of docs/model.md)."""

    menus: Menus[S]
    deviations: int | None = None
    """How many moves of a line may be others than the first of the menu; None: any number. Where they are
    spent the book plays prep, so with 0 it is the book that plays prep everywhere."""


def menu_of(options: Sequence[Option], most: int, margin: float, first: str | None = None) -> Menu:
    """The best `most` of `options`, none more than `margin` behind the best; `first` leads, if given.

    Equals keep their order. The first choice is on the menu whatever is thought of it.
    """
    ranked = sorted(options, key=lambda option: -option.liking)
    least = ranked[0].liking - margin
    lead = [option for option in ranked if option.action == first] or ranked[:1]
    others = [option for option in ranked if option.action != lead[0].action and option.liking >= least]
    return (*lead, *others[: most - 1])


REST: Final = "(rest)"
"""A reserved action of opponents: all moves that their distribution does not name, together.

Its share is what the opponent plays beyond the moves that were thought of (fact 12 of docs/model.md)."""


def spread_rest(distribution: Distribution, actions: Sequence[str]) -> Distribution:
    """The same play with `REST` as what it stands for: the actions without a share of their own, equally.

    Where every action is named, the share goes to all in proportion.
    """
    if REST not in distribution:
        return distribution
    named = {action: p for action, p in distribution.items() if action != REST}
    others = [action for action in actions if action not in named]
    rest = distribution[REST]
    if others:
        return named | dict.fromkeys(others, rest / len(others))
    total = math.fsum(named.values())
    return {action: p / total for action, p in named.items()}


def probability(play: Distribution, action: str, legal: int) -> float:
    """How likely an action is, one of so many; those that are not named share `REST` equally."""
    if action in play:
        return play[action]
    named = len(play) - (REST in play)
    return play.get(REST, 0.0) / (legal - named) if legal > named else 0.0


def is_policy(given: object) -> bool:
    """Whether somebody can be asked for distributions; a class of policies cannot."""
    return callable(getattr(given, "distributions", None)) and not isinstance(given, type)


def check_policy(policy: object, what: str) -> None:
    """Raise InputError unless somebody can be asked for distributions."""
    if not is_policy(policy):
        plain = "; wrap a plain function in PolicyFunction" if callable(policy) else ""
        raise InputError(
            f"{what} is a {type(policy).__name__}; expected a policy with `distributions`{plain}"
        )


def check_pair(policies: object, what: str) -> None:
    """Raise InputError unless there is a policy for each side."""
    if not isinstance(policies, Sequence) or len(policies) != 2:
        raise InputError(
            f"{what} is a {type(policies).__name__}; expected a pair of policies, one for each side"
        )
    for side, policy in enumerate(policies, 1):
        check_policy(policy, f"{what} of side {side}")


@dataclass(frozen=True)
class Uniform(Generic[S]):
    """Every action with the same probability."""

    game: Game[S]

    def __post_init__(self) -> None:
        check_rules(self.game)

    @property
    def by_position(self) -> bool:
        """Always: it knows nothing but the actions."""
        return True

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """1 / (number of actions) at each state."""
        answer: list[Distribution] = []
        for state in states:
            actions = actions_of(self.game, state, self._widest)
            answer.append(dict.fromkeys(actions, 1 / len(actions)))
        return answer

    @cached_property
    def _widest(self) -> int:
        return self.game.widest


@dataclass(frozen=True)
class PolicyFunction(Generic[S]):
    """A policy from a plain function of one state."""

    function: Callable[[S], Distribution]

    def __post_init__(self) -> None:
        check_function("policy", self.function, "a function from a state to a distribution")

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """The function's answer at each state."""
        return [self.function(state) for state in states]


def softmax(scores: Sequence[float], randomness: float) -> list[float]:
    """Probabilities proportional to exp(score / randomness); randomness 0 is the first best score.

    The paper's randomizing opponent (section 5), with scores in centipawns and `randomness` its r. What
    scores -inf is never played.
    """
    check_number("randomness", randomness)
    try:
        best = max(scores)
        sound = math.isfinite(best) and not math.isnan(math.fsum(scores))
    except (TypeError, ValueError, OverflowError):
        sound = False
    if not sound or isinstance(scores, Mapping):
        raise InputError(f"scores {shown(scores)}; expected a list of at least one number")
    if randomness == 0:
        top = list(scores).index(best)
        return [1.0 if k == top else 0.0 for k in range(len(scores))]
    weights = [math.exp((score - best) / randomness) for score in scores]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def check_answers(answers: object, asked: int) -> None:
    """Raise GameError unless a policy, menus or an evaluator gave one answer to each question."""
    if not isinstance(answers, Sized):
        raise GameError(f"{shown(answers)} is no list of answers; expected one for each question")
    if len(answers) != asked:
        raise GameError(f"{len(answers)} answers to {asked} questions; expected one each")


def check_distribution(distribution: Distribution, where: str) -> None:
    """Raise GameError unless the probabilities are in [0, 1] and sum to 1."""
    if type(distribution) is not dict and not isinstance(distribution, Mapping):
        raise GameError(f"{where}: {shown(distribution)}; expected a dict from actions to probabilities")
    if not distribution:
        raise GameError(f"{where}: no actions; expected a distribution over at least one action")
    total = 0.0
    for action, p in distribution.items():
        if not isinstance(action, str):
            raise GameError(f"{where}: action {action!r}; expected a name, as text")
        if not (type(p) is float and 0.0 <= p <= 1.0) and not is_share(p, 1.0 + TOLERANCE):
            raise GameError(f"{where}: probability of '{action}' is {p}; expected a number in [0, 1]")
        total += p
    if abs(total - 1.0) > TOLERANCE:
        raise GameError(f"{where}: probabilities sum to {total:.12g}; expected 1")
