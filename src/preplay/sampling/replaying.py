"""Games that say what a book is worth under a clock, and how much of that is saved time.

Three kinds of games are played from the start: without the book, with the book when every memorized move
is charged the time that base would take there, and with the book as it is. The first step is what better
moves bring, the second what saved time brings. No game had a part in choosing the book, so the promise is
not tinged by the choice. All three use the same random numbers, which makes their differences sharper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from preplay.game import Distribution, S, Side, walk
from preplay.games.clocked import Clocked, ClockedState, TimeRule, timed
from preplay.policy import Ahead, Policy, ahead_of
from preplay.randomness import FRESH
from preplay.sampling.samplers import PlayoutRequest, at
from preplay.sampling.streams import Streams, play_alike
from preplay.sampling.timeshare import Mean, TimeShare
from preplay.stopping import NEVER, Stop
from preplay.tree import Floats

History = tuple[str, ...]
Memory = Mapping[History, Distribution]
"""A book: what to play at each memorized history."""
PSEUDO = 2
"""Games added at either end of what is possible, for the least standard error."""


@dataclass(frozen=True)
class ByTheBook(Generic[S]):
    """Plays from a book, and its base policy outside."""

    key: Callable[[S], History]
    """Where in the book a state is looked up."""
    book: Memory
    base: Policy[S]
    time: Callable[[S], int] | None = None
    """What a book move is charged; None: nothing."""

    def ahead(self) -> Ahead[S] | None:
        """The base policy hears of what it will be asked."""
        inner: Ahead[S] | None = ahead_of(self.base)
        return inner and inner.of(lambda states: [state for state in states if not self.holds(state)])

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

    Stopped early, it answers with the first games, up to one that some kind has not finished.
    """
    inner = game.game
    played = {inner.history(walk(game, history).inner): moves for history, moves in book.items()}
    free = ByTheBook(game.history, book, base[side - 1])
    charged = ByTheBook(
        lambda state: inner.history(state.inner), played, base[side - 1], lambda state: rule(game, state)
    )
    kinds: tuple[Policy[ClockedState[S]], ...] = (base[side - 1], charged, free)
    samplers = [
        Streams(game, (mine, base[1]) if side == 1 else (base[0], mine), seed)
        for mine in (kinds if book else kinds[:1])  # without a book all three are the same games
    ]
    start = replace(at(game, game.root()), purpose=FRESH)
    outcomes = play_alike(samplers, PlayoutRequest(start, 0, games), stop=stop, progress=progress)
    scores = [o.utilities if side == 1 else 1.0 - o.utilities for o in outcomes]
    if not book:
        return shares(side, *scores * 3, wanted=games).without_a_book()
    return shares(side, *scores, wanted=games)


def shares(
    side: Side, without: Floats, charged: Floats, value: Floats, *, wanted: int | None = None
) -> TimeShare:
    """The account of games that were played with the same random numbers in all three kinds."""
    gain, time = value - without, value - charged
    total, saved = mean_of(gain, least=-1.0), mean_of(time, least=-1.0)
    share = None
    if total.mean > 2.0 * total.error:
        ratio, unit = saved.mean / total.mean, 1.0 / total.mean
        # The delta method: to first order the ratio varies as (time - ratio * gain) / mean gain.
        share = Mean(ratio, mean_of((time - ratio * gain) / total.mean, -unit, unit).error)
    return TimeShare(
        side=side,
        games=len(value),
        without=mean_of(without),
        charged=mean_of(charged),
        value=mean_of(value),
        gain=total,
        moves=mean_of(charged - without, least=-1.0),
        time=saved,
        share=share,
        wanted=len(value) if wanted is None else wanted,
    )


def mean_of(numbers: Floats, least: float = 0.0, most: float = 1.0) -> Mean:
    """The mean of independent numbers from `least` to `most`, and its standard error.

    Games that all end alike do not prove that every game does. So the standard error is never below
    that of as many games at the mean and `PSEUDO` more at either end, which is what Agresti and Coull's
    interval (add two successes and two failures) has where nothing else varies. Fewer than two numbers
    tell nothing: half of the range.
    """
    n = len(numbers)
    if n < 2:
        return Mean(float(numbers.mean()) if n else (least + most) / 2.0, (most - least) / 2.0)
    mean = float(numbers.mean())
    padded = n + 2 * PSEUDO
    centre = (n * mean + PSEUDO * (least + most)) / padded
    squares = n * (mean - centre) ** 2 + PSEUDO * ((least - centre) ** 2 + (most - centre) ** 2)
    floor = math.sqrt(squares) / padded
    return Mean(mean, max(float(numbers.std(ddof=1)) / math.sqrt(n), floor))
