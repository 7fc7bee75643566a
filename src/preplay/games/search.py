"""A player who looks a few moves ahead: softmax over the values of a depth-limited search."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from preplay.arguments import check_function, check_number, check_rules, check_seed, check_whole, is_share
from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, ONE, Distribution, Game, S, actions_of
from preplay.games.playout import playouts
from preplay.policy import Menu, Option, menu_of, softmax
from preplay.randomness import SEARCH, seed_of
from preplay.value import utility_of

KEPT = 200_000
"""Positions of earlier searches that are remembered, about."""


@dataclass
class Found:
    """What searches found. It is handed on to later ones where all of it is exact: means are rounded, and
    an answer would depend on what was asked before."""

    known: dict[tuple[int, Hashable], tuple[float, float]] = field(default_factory=dict)
    """Bounds on the value by depth and key."""
    means: bool = False
    """Whether there was chance."""


@dataclass(frozen=True)
class SearchPolicy(Generic[S]):
    """Plays an action with probability proportional to exp(value / randomness).

    An action's value is the mover's, in [0, 1], by a search `depth` decisions deep: minimax, and the
    mean at chance, which costs no depth. So a `randomness` of 0.1 makes an action that is 0.1 better
    e times as likely; 0 plays the first of the best. The answer at a history depends on nothing else.
    """

    game: Game[S]
    depth: int
    """Decisions to look ahead, the first action included."""
    randomness: float = 0.0
    evaluate: Callable[[S], float] | None = None
    """Player 1's value, in [0, 1], where the search ends before the game; neither final nor chance."""
    rollouts: int = 0
    """Without `evaluate`: the mean of so many random games; 0 is 1/2 everywhere."""
    seed: int = 0
    """Of the random games; each leaf has its own by its history."""
    key: Callable[[S], Hashable] | None = None
    """What tells states with different futures apart, to search a position once however reached."""
    _found: Found = field(default_factory=Found, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_rules(self.game)
        check_whole("search depth", self.depth, 1)
        check_number("search randomness", self.randomness, finite=True)
        check_whole("search rollouts", self.rollouts)
        check_seed(self.seed)
        check_function("evaluate", self.evaluate)
        check_function("key", self.key)
        if self.rollouts and self.evaluate is not None:
            raise InputError(
                f"search rollouts {self.rollouts} with an evaluation; expected one of the two"
            )

    @property
    def by_position(self) -> bool:
        """Unless random games or somebody's evaluation tell histories apart."""
        return self.rollouts == 0 and self.evaluate is None

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """What the search likes at each state; actions of probability 0 are left out."""
        return [self._distribution(state) for state in states]

    def values(self, state: S) -> dict[str, float]:
        """Player 1's value of every action at a decision, exact for the depth."""
        found = self._found if self.by_position and not self._found.means else Found()
        if len(found.known) > KEPT:
            found.known.clear()
        search = _Search(self.game, self._estimate(), self.key, found)
        actions = actions_of(self.game, state)
        return {a: search.value(self.game.next(state, a), self.depth - 1, 0.0, 1.0) for a in actions}

    def _distribution(self, state: S) -> Distribution:
        actions = actions_of(self.game, state)
        if len(actions) == 1:
            return {actions[0]: 1.0}
        values = self.values(state)
        first = self.game.player(state) == ONE
        scores = [v if first else 1.0 - v for v in values.values()]
        return {a: p for a, p in zip(values, softmax(scores, self.randomness), strict=True) if p > 0.0}

    def _estimate(self) -> Callable[[S], float]:
        if self.evaluate is not None:
            return self.evaluate
        if self.rollouts == 0:
            return lambda _: 0.5
        game, seed, count = self.game, self.seed, self.rollouts
        play = playouts(game)

        def mean(state: S) -> float:
            rng = random.Random(seed_of(seed, game.history(state), stream=SEARCH))
            return sum(play(state, rng) for _ in range(count)) / count

        return mean


@dataclass(frozen=True)
class SearchMenus(Generic[S]):
    """Offers the actions that a search thinks best, in its values from 0 to 1."""

    policy: SearchPolicy[S]
    most: int
    margin: float = 1.0

    def menus(self, states: Sequence[S]) -> list[Menu]:
        """The best `most` actions at each state within `margin` of the best; the earliest of equals."""
        return [self._menu(state) for state in states]

    def _menu(self, state: S) -> Menu:
        first = self.policy.game.player(state) == ONE
        values = self.policy.values(state)
        options = [Option(a, v if first else 1.0 - v) for a, v in values.items()]
        return menu_of(options, self.most, self.margin)


@dataclass(frozen=True)
class _Search(Generic[S]):
    """One search: alpha-beta that is exact inside its window, with a table of positions when keyed."""

    game: Game[S]
    estimate: Callable[[S], float]
    key: Callable[[S], Hashable] | None
    found: Found

    def value(self, state: S, depth: int, low: float, high: float) -> float:
        """Player 1's value if it lies between `low` and `high`, else a bound on that side of it."""
        player = self.game.player(state)
        if player == FINAL:
            return utility_of(self.game, state)
        if self.key is None:
            return self._look(state, player, depth, low, high)
        if player == CHANCE or depth == 0:
            low, high = 0.0, 1.0  # exact at no extra price
        place = (depth, self.key(state))
        least, most = self.found.known.get(place, (0.0, 1.0))
        if least >= high or least == most:
            return least
        if most <= low:
            return most
        value = self._look(state, player, depth, low, high)
        self.found.known[place] = (least if value <= low else value, most if value >= high else value)
        return value

    def _look(self, state: S, player: int, depth: int, low: float, high: float) -> float:
        game = self.game
        if player == CHANCE:
            self.found.means = True
            mean = 0.0
            for action, p in game.chance(state).items():
                if p > 0.0:
                    mean += p * self.value(game.next(state, action), depth, 0.0, 1.0)
            return min(mean, 1.0)
        if depth == 0:
            value = self.estimate(state)
            if not is_share(value):
                raise GameError(
                    f"history {game.history(state)}: value {value}; expected a number in [0, 1]"
                )
            return value
        if player == ONE:
            best = 0.0
            for action in game.actions(state):
                best = max(best, self.value(game.next(state, action), depth - 1, max(low, best), high))
                if best >= high:
                    break
            return best
        best = 1.0
        for action in game.actions(state):
            best = min(best, self.value(game.next(state, action), depth - 1, low, min(high, best)))
            if best <= low:
                break
        return best
