"""What a book is worth under a clock, and how much of that is saved time: the account of the games.

It is kept apart from the games themselves (`replaying`), because results without a clock know it too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from preplay.game import Side


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
    wanted: int
    """Games of each kind that were asked for; more than `games` where they were cut short."""

    def without_a_book(self) -> TimeShare:
        """What the same games say of the side that memorizes nothing."""
        none, same = Mean(0.0, 0.0), self.without
        return replace(self, charged=same, value=same, gain=none, moves=none, time=none, share=None)

    def lines(self) -> list[tuple[str, str]]:
        """As people read it: what each line is about, and what is said."""
        share = "" if self.share is None else f": {self.share.mean:.0%} ± {self.share.error:.0%} of it"
        cut = f" of {self.wanted:,}" if self.games < self.wanted else ""
        return [
            ("played afresh", f"{self.games:,}{cut} games each (± standard error)"),
            ("without the book", f"{self.without}"),
            ("with the book", f"{self.value}"),
            ("gain", f"{self.gain}"),
            ("from better moves", f"{self.moves}  (if book moves took time: {self.charged})"),
            ("from saved time", f"{self.time}{share}"),
        ]
