"""A clock for the whole game, around any game: the paper's second example.

What a side does is now a move *and* the time it takes, so histories tell the time. An action is written
"e2e4@350", or plain "e2e4" when it takes no time, which is how a memorized move is played. A side that
takes more time than it has left loses at once, whatever the move.

How a side plays is a function of the clocked history: policies may depend on the clocks and on what they
did before, and no key ever merges two histories that differ in time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, runtime_checkable

from preplay.arguments import check_listed, check_rules, is_whole, shown
from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, Side
from preplay.policy import Ahead, Policy, ahead_of

RESIGN = "resign"
"""The action of giving up, in clocked games that have it."""
_TIMED = re.compile(r"(.*)@(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ClockedState(Generic[S]):
    """A clocked history: the history of the game inside, and what happened on the clocks."""

    inner: S
    player: int
    """Who moves; `FINAL` when the game is over."""
    left: tuple[int, int]
    """What each side has left."""
    spent: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The time of each move so far, by side."""
    actions: tuple[str, ...] = ()
    lost: int = 0
    """The side that overstepped the time or resigned; 0 if none did."""


def timed(action: str, time: int) -> str:
    """The name of an action that takes so much time."""
    if _TIMED.fullmatch(action):
        raise GameError(f"action '{action}'; in a clocked game '@' and a number at the end mean time")
    return f"{action}@{time}" if time else action


def untimed(name: str) -> tuple[str, int]:
    """The action and the time that a name stands for."""
    match = _TIMED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


@dataclass(frozen=True)
class Clocked(Generic[S]):
    """`game`, with a budget of time for each side. Time is counted in whole units, whatever these are."""

    game: Game[S]
    budget: tuple[int, int]
    """What each side has for the whole game."""
    increment: tuple[int, int] = (0, 0)
    """What each side gets after each of its moves."""
    levels: tuple[int, ...] = (1,)
    """The times that a move may take, ascending; besides, any move may take none."""
    resigning: bool = False
    """Whether a side may resign instead of moving."""

    def __post_init__(self) -> None:
        check_rules(self.game)
        for name, pair in (("budget", self.budget), ("increment", self.increment)):
            if not isinstance(pair, tuple) or len(pair) != 2 or not all(map(is_whole, pair)):
                raise InputError(
                    f"clock {name} {shown(pair)}; expected a pair, a whole number for each side"
                )
        if min(self.budget) < 0 or min(self.increment) < 0:
            raise InputError(f"clock of {self.budget} + {self.increment}; expected numbers of at least 0")
        check_listed("times", self.levels)
        levels = list(self.levels)
        rising = all(map(is_whole, levels)) and levels == sorted(set(levels))
        if not levels or not rising or levels[0] < 1:
            raise InputError(f"times {levels}; expected rising whole numbers above 0")

    @property
    def longest(self) -> int:
        """A clock makes no game longer."""
        return self.game.longest

    @property
    def widest(self) -> int:
        """Every move with every time."""
        return (self.game.widest + self.resigning) * (len(self.levels) + 1)

    def root(self) -> ClockedState[S]:
        """The empty history: nobody has spent anything."""
        inner = self.game.root()
        return ClockedState(inner, self.game.player(inner), self.budget)

    def history(self, state: ClockedState[S]) -> tuple[str, ...]:
        """The actions with their times."""
        return state.actions

    def player(self, state: ClockedState[S]) -> int:
        """As in the game, until a side has lost on time or resigned."""
        return state.player

    def actions(self, state: ClockedState[S]) -> Sequence[str]:
        """Every action with every time, those that overstep the time among them."""
        actions = self.game.actions(state.inner)
        if state.player == CHANCE:
            return actions
        moves = [*actions, RESIGN] if self.resigning else actions
        return [timed(action, time) for action in moves for time in (0, *self.levels)]

    def chance(self, state: ClockedState[S]) -> Distribution:
        """Chance takes no time."""
        return self.game.chance(state.inner)

    def next(self, state: ClockedState[S], action: str) -> ClockedState[S]:
        """The history after an action; the clock of the mover goes down, then up by its increment."""
        actions = (*state.actions, action)
        if state.player == CHANCE:
            inner = self.game.next(state.inner, action)
            return ClockedState(inner, self.game.player(inner), state.left, state.spent, actions)
        move, time = untimed(action)
        if action != timed(move, time) or (time and time not in self.levels):
            raise GameError(
                f"history {list(state.actions)}: action '{action}'; "
                f"expected a plain name or one with '@' and a time of {list(self.levels)}"
            )
        k = self.mover(state) - 1
        left = state.left[k] - time
        spent = _put(state.spent, k, (*state.spent[k], time))
        if left < 0 or (move == RESIGN and self.resigning):
            clocks = _put(state.left, k, max(0, left))
            return ClockedState(state.inner, FINAL, clocks, spent, actions, lost=state.player)
        inner = self.game.next(state.inner, move)
        clocks = _put(state.left, k, left + self.increment[k])
        return ClockedState(inner, self.game.player(inner), clocks, spent, actions)

    def utility(self, state: ClockedState[S]) -> float:
        """Nothing for a side that overstepped or resigned; else as in the game."""
        return float(state.lost == 2) if state.lost else self.game.utility(state.inner)

    def mover(self, state: ClockedState[S]) -> Side:
        """The side to move, where it is a side's turn."""
        if state.player not in (1, 2):
            raise GameError(f"history {list(state.actions)}: no side is to move; nobody can spend time")
        return 1 if state.player == 1 else 2


def _put(pair: tuple[Any, Any], k: int, item: Any) -> tuple[Any, Any]:
    return (item, pair[1]) if k == 0 else (pair[0], item)


TimeRule = Callable[[Clocked[Any], ClockedState[Any]], int]
"""How much time the side to move takes: one of the game's levels, or 0."""


@dataclass(frozen=True)
class ShareOfTheRest:
    """A share of the time left and a part of the increment, within bounds, rounded down to a level.

    Rounding makes nearly equal clocks spend equally, so that their searches are shared. A side whose time
    does not even suffice for the lowest level oversteps.
    """

    share: float = 0.05
    increment: float = 0.75
    least: int = 1
    most: int | None = None

    def __call__(self, game: Clocked[Any], state: ClockedState[Any]) -> int:
        """The time that the side to move takes."""
        k = game.mover(state) - 1
        left, levels = state.left[k], game.levels
        want = self.share * left + self.increment * game.increment[k]
        want = max(want, self.least)
        if self.most is not None:
            want = min(want, self.most)
        return levels[max(0, bisect_right(levels, min(want, left)) - 1)]


def geometric_levels(least: int, most: int, ratio: float) -> tuple[int, ...]:
    """Times from `least` to at most `most`, each about `ratio` times the one before."""
    if not (1 <= least <= most and ratio > 1.0):
        raise InputError(
            f"times from {least} to {most}, ratio {ratio}; expected 1 <= least <= most, ratio > 1"
        )
    levels, time = [least], float(least)
    while (time := max(time * ratio, levels[-1] + 1.0)) <= most:
        levels.append(int(time))
    return tuple(levels)


class Effort(Protocol[S]):
    """How a side moves at the board when it takes a given time: a policy for each amount of effort.

    It sees the clocked history, so it may depend on all that was done before.
    """

    def distributions(
        self, states: Sequence[ClockedState[S]], efforts: Sequence[int]
    ) -> Sequence[Distribution]:
        """The distribution over the game's own actions at each state."""
        ...


@runtime_checkable
class EffortAhead(Protocol[S]):
    """An effort that works in the background."""

    def prefetch(self, states: Sequence[ClockedState[S]], efforts: Sequence[int]) -> None:
        """These will be asked about soon."""
        ...

    def cancel(self, states: Sequence[ClockedState[S]], efforts: Sequence[int]) -> None:
        """These will not be asked about after all."""
        ...


@dataclass(frozen=True)
class AtTheBoard(Generic[S]):
    """A base policy: a rule for the time, and how to move with that much."""

    game: Clocked[S]
    rule: TimeRule
    effort: Effort[S]

    def ahead(self) -> Ahead[ClockedState[S]] | None:
        """`effort` hears of what it will be asked, if it works ahead."""
        effort = self.effort
        if not isinstance(effort, EffortAhead):
            return None
        return Ahead(
            lambda states: effort.prefetch(*self._thinking(states)),
            lambda states: effort.cancel(*self._thinking(states)),
        )

    def _thinking(self, states: Sequence[ClockedState[S]]) -> tuple[list[ClockedState[S]], list[int]]:
        """The states in which there is time to think, and how much of it is taken."""
        thinking = [(s, t) for s in states if (t := self.rule(self.game, s)) <= self._left(s)]
        return [s for s, _ in thinking], [t for _, t in thinking]

    def distributions(self, states: Sequence[ClockedState[S]]) -> list[Distribution]:
        """What is played, with the time it takes. Who oversteps the time need not think."""
        times = [self.rule(self.game, state) for state in states]
        thinking = [k for k, state in enumerate(states) if times[k] <= self._left(state)]
        answers = self.effort.distributions([states[k] for k in thinking], [times[k] for k in thinking])
        if len(answers) != len(thinking):
            raise GameError(
                f"{len(answers)} distributions for {len(thinking)} histories; expected one each"
            )
        found = dict(zip(thinking, answers, strict=True))
        return [
            {timed(action, times[k]): p for action, p in found[k].items()}
            if k in found
            else {timed(self.game.game.actions(state.inner)[0], times[k]): 1.0}
            for k, state in enumerate(states)
        ]

    def _left(self, state: ClockedState[S]) -> int:
        return state.left[self.game.mover(state) - 1]


@dataclass(frozen=True)
class FromMemory(Generic[S]):
    """A prep policy: what the policy of the game inside plays, in no time."""

    policy: Policy[S]

    def ahead(self) -> Ahead[ClockedState[S]] | None:
        """As the policy inside."""
        inner: Ahead[S] | None = ahead_of(self.policy)
        return None if inner is None else inner.of(_inside)

    def distributions(self, states: Sequence[ClockedState[S]]) -> list[Distribution]:
        """The moves of the policy inside, which take no time."""
        answers = self.policy.distributions(_inside(states))
        return [{timed(action, 0): p for action, p in answer.items()} for answer in answers]


@dataclass(frozen=True)
class Keeping(Generic[S]):
    """A side that keeps what it searched before: a share of that effort counts for the next move.

    Its strength depends on its own past. A memorized move searches nothing, so who leaves the book has
    less to build on than who has been thinking all along.
    """

    game: Clocked[S]
    effort: Effort[S]
    share: float = 0.5

    def distributions(
        self, states: Sequence[ClockedState[S]], efforts: Sequence[int]
    ) -> Sequence[Distribution]:
        """As with the effort now and what is kept of the earlier ones."""
        kept = [self.kept(state) for state in states]
        return self.effort.distributions(states, [e + k for e, k in zip(efforts, kept, strict=True)])

    def kept(self, state: ClockedState[S]) -> int:
        """What is left of the effort of the earlier moves of the side to move."""
        effort = 0.0
        for time in state.spent[self.game.mover(state) - 1]:
            effort = self.share * (effort + time)
        return int(effort)


def _inside(states: Sequence[ClockedState[S]]) -> list[S]:
    """The states of the game inside."""
    return [state.inner for state in states]
