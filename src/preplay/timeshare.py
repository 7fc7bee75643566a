"""What a book is worth under a clock, and how much of that is saved time.

Three kinds of games are played from the start: without the book, with the book when every memorized move
is charged the time that base would take there, and with the book as it is. The first step is what better
moves bring, the second what saved time brings. No game had a part in choosing the book, so the promise is
not tinged by the choice. All three use the same random numbers, which makes their differences sharper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, NamedTuple

import numpy as np

from preplay.game import Distribution, S, Side, walk
from preplay.games.clocked import Clocked, ClockedState, TimeRule, timed
from preplay.growth.stopping import NEVER, Stop
from preplay.policy import Policy
from preplay.rollouts import Request, at
from preplay.streams import Streams, play_alike
from preplay.tree import Floats

History = tuple[str, ...]
Memory = Mapping[History, Distribution]
"""A book: what to play at each memorized history."""
BLOCK = 100
"""Games of each kind between two looks at the stop sign."""
FRESH = 3
"""The purpose of these games, which no others have: the choice of the book has not seen their dice."""


class Mean(NamedTuple):
    """An average of played games and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.error:.4f}"


@dataclass(frozen=True)
class TimeShare:
    """A book of `side`, valued with and without what the clock adds; errors are standard errors."""

    side: Side
    games: int
    """Of each of the three kinds."""
    without: Mean
    """The side's score without the book."""
    charged: Mean
    """With the book, if its moves took the time that base takes."""
    value: Mean
    """With the book."""
    gain: Mean
    moves: Mean
    """What better moves bring: `charged` less `without`."""
    time: Mean
    """What saved time brings: `value` less `charged`."""
    share: Mean | None
    """`time` as a share of `gain`; None where the gain is not clear of 0 (two standard errors)."""

    def as_data(self) -> dict[str, Any]:
        """As JSON data."""
        data: dict[str, Any] = {}
        for f in fields(self):
            item = getattr(self, f.name)
            data[f.name] = item._asdict() if isinstance(item, Mean) else item
        return data

    def lines(self) -> list[str]:
        """As people read it."""
        share = "" if self.share is None else f": {self.share.mean:.0%} ± {self.share.error:.0%} of it"
        return [
            f"Played afresh, {self.games:,} games each (± standard error)",
            f"  without the book     {self.without}",
            f"  with the book        {self.value}",
            f"  gain                 {self.gain}",
            f"  from better moves    {self.moves}  (if book moves took time: {self.charged})",
            f"  from saved time      {self.time}{share}",
        ]


@dataclass(frozen=True)
class ByTheBook(Generic[S]):
    """Plays from a book, and its base policy outside."""

    key: Callable[[S], History]
    """Where in the book a state is looked up."""
    book: Memory
    base: Policy[S]
    time: Callable[[S], int] | None = None
    """What a book move is charged; None: nothing."""

    @property
    def prefetch(self) -> Callable[[Sequence[S]], None] | None:
        """Tells the base policy what it will be asked, if it wants to know."""
        tell = getattr(self.base, "prefetch", None)
        return None if tell is None else lambda states: tell([s for s in states if not self.holds(s)])

    def holds(self, state: S) -> bool:
        """Whether the book has something to say."""
        return self.key(state) in self.book

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """The book's moves, else those of the base policy, in one batch."""
        asked = [state for state in states if not self.holds(state)]
        answers = iter(self.base.distributions(asked) if asked else ())
        return [self._from_memory(state) if self.holds(state) else next(answers) for state in states]

    def _from_memory(self, state: S) -> Distribution:
        moves = self.book[self.key(state)]
        if self.time is None:
            return moves
        time = self.time(state)
        return {timed(move, time): p for move, p in moves.items()}


def time_share(
    game: Clocked[S],
    base: tuple[Policy[ClockedState[S]], Policy[ClockedState[S]]],
    side: Side,
    book: Memory,
    rule: TimeRule,
    games: int,
    seed: int,
    *,
    stop: Stop = NEVER,
    progress: Callable[[int], None] | None = None,
) -> TimeShare:
    """Play the book of `side` against the opponent's base; `rule` says what base would take for a move.

    Stopped early, it answers with the games that all three kinds have finished.
    """
    inner = game.game
    played = {inner.history(walk(game, history).inner): moves for history, moves in book.items()}
    free = ByTheBook(game.history, book, base[side - 1])
    charged = ByTheBook(
        lambda state: inner.history(state.inner), played, base[side - 1], lambda state: rule(game, state)
    )
    samplers = [
        Streams(game, (mine, base[1]) if side == 1 else (base[0], mine), seed)
        for mine in (base[side - 1], charged, free)
    ]
    scores: list[list[Floats]] = [[], [], []]
    start = replace(at(game, game.root()), purpose=FRESH)
    for first in range(0, games, BLOCK):
        count = min(BLOCK, games - first)
        try:
            with stop.interruptible():
                block = play_alike(samplers, Request(start, first, count))
        except KeyboardInterrupt:
            if not stop.asked:
                raise
            break
        for kind, outcome in zip(scores, block, strict=True):
            kind.append(outcome.utilities if side == 1 else 1.0 - outcome.utilities)
        if progress is not None:
            progress(first + count)
        if stop.asked:
            break
    return shares(side, *(np.concatenate([np.zeros(0), *kind]) for kind in scores))


def shares(side: Side, without: Floats, charged: Floats, value: Floats) -> TimeShare:
    """The account of games that were played with the same random numbers in all three kinds."""
    gain, time = value - without, value - charged
    total, saved = mean_of(gain), mean_of(time)
    share = None
    if total.mean > 2.0 * total.error:
        ratio = saved.mean / total.mean
        # The delta method: to first order the ratio varies as (time - ratio * gain) / mean gain.
        share = Mean(ratio, mean_of((time - ratio * gain) / total.mean).error)
    return TimeShare(
        side=side,
        games=len(value),
        without=mean_of(without),
        charged=mean_of(charged),
        value=mean_of(value),
        gain=total,
        moves=mean_of(charged - without),
        time=saved,
        share=share,
    )


def mean_of(numbers: Floats) -> Mean:
    """The mean of independent numbers and its standard error; ± 1/2 where there are fewer than two."""
    if len(numbers) < 2:
        return Mean(float(numbers.mean()) if len(numbers) else 0.5, 0.5)
    return Mean(float(numbers.mean()), float(numbers.std(ddof=1)) / math.sqrt(len(numbers)))
