"""A book with its provenance: what a side memorizes, and what made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from preplay.game import Distribution, Side


@dataclass(frozen=True)
class Entry:
    """One memorized history. All values are from the point of view of the book's side."""

    history: tuple[str, ...]
    """The actions from the start position."""
    moves: Distribution
    """What to play here: the prep policy's distribution."""
    reach: float
    """How often the game gets here when the side plays its whole book, from 0 to 1."""
    gain: float
    """What memorizing this history adds to the value, before its cost."""
    value: float
    """v(h): the value here when the side stops playing by the book."""
    probability: float = 1.0
    """x(h): how often a mixed book holds this history; 1 in a pure book."""


@dataclass(frozen=True)
class Book:
    """A prefix-closed set of one side's histories, shortest first, with what made it."""

    side: Side
    entries: tuple[Entry, ...]
    baseline: float
    """Value for the side without preparation."""
    value: float
    """Value for the side with this book, costs not subtracted."""
    cost: float
    """Price of one memorized history."""
    upper: float
    """Certified bound: no book has a larger value minus cost."""
    start: str = ""
    """Chess: FEN of the start position (empty: the standard one). Other games: empty."""
    chess960: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """The configuration, versions and seeds of the run."""

    @property
    def size(self) -> int:
        """The number of memorized histories."""
        return len(self.entries)

    @property
    def net(self) -> float:
        """Value minus the price of the memory."""
        return self.value - self.cost * self.size

    @property
    def mixed(self) -> bool:
        """Whether some history is memorized only with a probability."""
        return any(entry.probability < 1.0 for entry in self.entries)
