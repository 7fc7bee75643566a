"""A book with its provenance: what a side memorizes, and what made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preplay.errors import InputError
from preplay.files import write_text
from preplay.game import Distribution, Side

if TYPE_CHECKING:
    import numpy as np

FORMAT = "preplay-book/1"


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
    error: float = 0.0
    """How far `value` may be off where it was sampled; 0 where it is exact or an engine's word."""
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


def save(book: Book, path: Path) -> None:
    """Write a `preplay-book/1` file."""
    write_text(path, json.dumps({"format": FORMAT} | asdict(book), indent=1) + "\n")


def load(path: Path) -> Book:
    """Read a `preplay-book/1` file; anything else is an InputError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; expected a {FORMAT} book") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error}); expected a {FORMAT} book") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise InputError(f"{path}: not a book; expected a JSON object with format '{FORMAT}'")
    try:
        entries = tuple(
            Entry(**(row | {"history": tuple(row["history"])})) for row in data.pop("entries")
        )
        return Book(entries=entries, **data)
    except (TypeError, KeyError) as error:
        raise InputError(f"{path}: damaged book ({error}); expected format '{FORMAT}'") from None


def merge(books: tuple[Book, ...]) -> Book:
    """One book out of several of the same side and start: later books win where they disagree."""
    if not books:
        raise InputError("no books to merge; expected at least one")
    first = books[0]
    for book in books[1:]:
        if (book.side, book.start, book.chess960) != (first.side, first.start, first.chess960):
            raise InputError(
                f"books of side {first.side} from '{first.start or 'the start'}' and of side {book.side} "
                f"from '{book.start or 'the start'}'; expected the same side and start"
            )
    entries = {entry.history: entry for book in books for entry in book.entries}
    ordered = tuple(sorted(entries.values(), key=lambda entry: (len(entry.history), entry.history)))
    return Book(
        side=first.side,
        entries=ordered,
        baseline=first.baseline,
        value=max(book.value for book in books),
        cost=first.cost,
        upper=max(book.upper for book in books),
        start=first.start,
        chess960=first.chess960,
        provenance={"merged": [dict(book.provenance) for book in books]},
    )


def draw(book: Book, rng: np.random.Generator, seed: int | None = None) -> Book:
    """A pure book drawn from a mixed one: at each history stay with x(h) / x(previous own), else stop.

    Every history is then in the drawn book with its probability x(h), and the book is prefix-closed.
    """
    histories = {entry.history: entry for entry in book.entries}
    kept: dict[tuple[str, ...], Entry] = {}
    for entry in sorted(book.entries, key=lambda e: (len(e.history), e.history)):
        above = previous(entry.history, histories)
        before = 1.0 if above is None else histories[above].probability
        stays = rng.random() * before < entry.probability
        if stays and (above is None or above in kept):
            kept[entry.history] = replace(entry, probability=1.0)
    source = dict(book.provenance) | ({} if seed is None else {"drawn with seed": seed})
    return replace(book, entries=tuple(kept.values()), provenance=source)


def previous(
    history: tuple[str, ...], histories: Mapping[tuple[str, ...], Entry]
) -> tuple[str, ...] | None:
    """The longest proper beginning of `history` that is in the book too."""
    for length in range(len(history) - 1, -1, -1):
        if history[:length] in histories:
            return history[:length]
    return None
