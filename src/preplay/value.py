"""What a history is worth when both sides play base from there on: v(h) of the paper."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Generic, NamedTuple, Protocol, runtime_checkable

from preplay.arguments import check_function, check_rules, check_whole, is_share, shown
from preplay.errors import GameError, InputError
from preplay.game import (
    CHANCE,
    FINAL,
    Distribution,
    Game,
    S,
    S_contra,
    Side,
    check_length,
    check_mover,
    history_of,
)
from preplay.policy import REST, Ahead, Policy, ahead_of, check_distribution, check_pair, spread_rest


class Value(NamedTuple):
    """Player 1's value of a history, and how far the true v(h) may be from it."""

    mean: float
    radius: float = 0.0

    def for_player(self, side: Side) -> Value:
        """The same value from the point of view of `side`."""
        return self if side == 1 else Value(1.0 - self.mean, self.radius)


class Evaluator(Protocol[S_contra]):
    """Estimates v(h). Like a policy it is asked in batches and may be `Prefetching`."""

    def values(self, states: Sequence[S_contra]) -> Sequence[Value]:
        """v at each of `states` (never final ones), for player 1."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """An evaluator that learns: growth keeps what it knows with a checkpoint."""

    def kept(self) -> str:
        """All that is known, as text."""
        ...

    def recall(self, text: str) -> None:
        """Take up what an earlier part of the same run had `kept`."""
        ...


def value_of(answer: Value, where: Callable[[], str]) -> Value:
    """An evaluator's answer, if it makes sense; `where` says of which history, should it not."""
    try:
        mean, radius = answer
    except (TypeError, ValueError):
        raise GameError(
            f"{where()}: value {shown(answer)}; expected a Value of mean and radius"
        ) from None
    if not (is_share(mean) and is_share(radius, inf)):
        raise GameError(
            f"{where()}: value {mean} ± {radius}; expected a mean in [0, 1] and a radius of at least 0"
        )
    return Value(mean, radius)


def utility_of(game: Game[S], state: S) -> float:
    """What the game says about its end, if it makes sense."""
    utility = game.utility(state)
    if not (type(utility) is float and 0.0 <= utility <= 1.0):
        check_utility(utility, game.history(state))
    return utility


def check_utility(utility: object, history: Sequence[str]) -> None:
    """Raise GameError for what is no utility of player 1."""
    if not is_share(utility):
        raise GameError(f"history {list(history)}: utility {shown(utility)}; expected a number in [0, 1]")


def is_evaluator(given: object) -> bool:
    """Whether somebody can be asked for values; a class of evaluators, or a dict, cannot."""
    return callable(getattr(given, "values", None)) and not isinstance(given, Mapping | type)


def check_evaluator(value: object, what: str = "value") -> None:
    """Raise InputError unless somebody can be asked for values."""
    if not is_evaluator(value):
        plain = "; wrap a plain function in ValueFunction" if callable(value) else ""
        raise InputError(
            f"{what} is a {type(value).__name__}; expected an evaluator with `values`{plain}"
        )


@dataclass(frozen=True)
class ValueFunction(Generic[S]):
    """An evaluator from a plain function of one state."""

    function: Callable[[S], float]

    def __post_init__(self) -> None:
        check_function("value", self.function, "a function from a state to a number")

    def values(self, states: Sequence[S]) -> list[Value]:
        """The function's answer at each state, with radius 0."""
        return [Value(self.function(state)) for state in states]


@dataclass(frozen=True)
class FirstGuess(Generic[S]):
    """The means of another evaluator, with radii that leave every other value possible."""

    evaluator: Evaluator[S]

    def ahead(self) -> Ahead[S] | None:
        """As the evaluator inside."""
        return ahead_of(self.evaluator)

    def values(self, states: Sequence[S]) -> list[Value]:
        """The same means; nothing is certain about them."""
        means = [value.mean for value in self.evaluator.values(states)]
        return [Value(mean, max(mean, 1.0 - mean)) for mean in means]


@dataclass(frozen=True)
class Exact(Generic[S]):
    """v(h) by playing out every line below h: exact, for games that can be enumerated.

    Values of all histories below are kept, so asking about a whole tree costs one visit per history, or
    per position where there is a key.
    """

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    known: dict[Hashable, float] = field(default_factory=dict, repr=False, compare=False)
    most: int = 3_000_000
    """Histories that may be played out; a game with more needs another kind of value."""
    key: Callable[[S], Hashable] | None = None
    """What tells states of different value apart, for rules and policies that look at it alone."""

    def __post_init__(self) -> None:
        check_rules(self.game)
        check_pair(self.base, "base")
        check_whole("most", self.most)
        check_function("key", self.key)

    def values(self, states: Sequence[S]) -> list[Value]:
        """The expected utility of base against base from each state."""
        return [Value(self._value(state)) for state in states]

    def _value(self, start: S) -> float:
        # Iterative post-order, so that long games do not exhaust Python's stack.
        game, known, longest = self.game, self.known, self.game.longest
        key_of = game.history if self.key is None else self.key
        stack: list[tuple[S, Hashable, list[tuple[float, Hashable]] | None]] = []
        stack.append((start, key_of(start), None))
        while stack:
            state, key, parts = stack.pop()
            if key in known:
                continue
            if parts is not None:
                mean = sum([p * known[child] for p, child in parts])
                known[key] = min(1.0, max(0.0, mean))  # rounding may leave the interval
                continue
            history = history_of(game, state)
            check_length(len(history), longest)
            if len(known) >= self.most:
                raise InputError(
                    f"exact values of more than {self.most:,} histories; expected a smaller game, or "
                    'values by games (value.model = "adaptive" or "rollouts")'
                )
            player = game.player(state)
            check_mover(player, history)
            if player == FINAL:
                known[key] = utility_of(game, state)
                continue
            parts = []
            stack.append((state, key, parts))
            for action, p in self._moves(state, player).items():
                if p > 0.0:
                    child = game.next(state, action)
                    below = key_of(child)
                    parts.append((p, below))
                    if below not in known:
                        stack.append((child, below, None))
        return known[key_of(start)]

    def _moves(self, state: S, player: int) -> Distribution:
        """What chance or the mover's base plays."""
        if player == CHANCE:
            distribution = self.game.chance(state)
        else:
            (distribution,) = self.base[player - 1].distributions([state])
            if REST in distribution:
                distribution = spread_rest(distribution, self.game.actions(state))
        try:
            check_distribution(distribution, "distribution")
        except GameError as error:
            raise GameError(f"history {self.game.history(state)}: {error}") from None
        return distribution
