"""A book with its provenance: what a side memorizes, and what made it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from preplay.arguments import as_path, check_listed, check_made
from preplay.errors import InputError
from preplay.files import parse_json, read_text, write_text
from preplay.frozen import freeze, frozen
from preplay.game import Distribution, Side

if TYPE_CHECKING:
    import numpy as np

FORMAT = "preplay-book/1"
MOST = 1e9
"""Numbers in a book are not larger: sums of them stay finite."""
SAME = 1e-9
"""Numbers that are no further apart are the same but for rounding."""
FILE = "book.json"
"""What the book of a run is called in its directory."""

Against = Literal["base", "book", "mix"]
MADE_BY: Mapping[str, Against] = {"equilibrium": "book", "harden": "mix"}
"""By the command that made a book: whom its values are against, unless it is the opponent's base."""

KnownMoves = Mapping[str, tuple[str, ...]]
"""What a player knows before memorizing anything: moves by position, in chess by its EPD."""


@dataclass(frozen=True)
class Hoped:
    """The reply that a chosen move lives from."""

    reply: str
    probability: float
    """How often the opponent gives it."""
    worth: float
    """What the side has after it, as `Alternative.worth`."""


@dataclass(frozen=True)
class Alternative:
    """One option of a menu at a memorized history, from the point of view of the book's side."""

    move: str
    worth: float
    """What the game is worth from here with this move and the best book after it, less the price of the
    memory from here on, as a share of the games that get here."""
    most: float
    """No book with this move nets more from here. Larger than `worth` where the move was given up before
    all about it was known. Where a budget binds, both are for the places the rest of the book leaves."""
    opinion: float | None = None
    """What the policy that offers it thinks of it: in chess the engine's centipawns. None: the
    engine scored other moves only."""

    @property
    def exact(self) -> bool:
        """Whether its worth is known, and not only a bound for it."""
        return self.most - self.worth < 5e-5

    @property
    def earns(self) -> str:
        """Its worth in words, or the most that it could be."""
        if not self.exact and self.most >= 1.0:
            return f"at least {self.worth:.4f}, not known how much"
        return f"{self.worth:.4f}" if self.exact else f"at most {self.most:.4f}"


@dataclass(frozen=True)
class Decision:
    """A memorized history at which the book had a choice."""

    options: tuple[Alternative, ...]
    """All of the menu, the first choice first."""
    played: int
    """Which of them the book plays."""
    hoped: Hoped | None = None
    """Where it is not the first choice: what the difference lives from, if the opponent moves next."""


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
    score: int | None = None
    """Chess: what the engine of the preparation says here, in centipawns, mates beyond 31,000."""
    decision: Decision | None = None
    """Where the book chose its move: what else it could have played, and what that was worth."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "moves", frozen(dict(self.moves)))

    @property
    def deviates(self) -> bool:
        """Whether the book plays another move than the first choice."""
        return self.decision is not None and self.decision.played > 0


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
    unprepared: float | None = None
    """Value with nothing memorized, taken where the side first moves, or against a prepared opponent:
    where gains add up from. None: as `baseline`."""
    positions: int | None = None
    """How many different positions the entries are, where memory is by position; None: all differ."""
    start: str = ""
    """Chess: FEN of the start position (empty: the standard one). Other games: empty."""
    chess960: bool = False
    known: KnownMoves = field(default_factory=dict)
    """What the side plays besides, at no cost: one of the moves of each position, all alike."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """The configuration, versions and seeds of the run."""
    against: Against = "base"
    """Whom the values are against: the opponent's base play, their mixed book of an equilibrium, or the
    mix that they hide behind."""

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def size(self) -> int:
        """The number of memorized histories, or positions where memory is by position."""
        return len(self.entries) if self.positions is None else self.positions

    @property
    def memory(self) -> str:
        """Its size in words: "1 history", "61 histories", "9 positions"."""
        one = "history" if self.positions is None else "position"
        return f"{self.size:,} {one if self.size == 1 else self.unit}"

    @property
    def unit(self) -> str:
        """What its size counts: histories, or positions where memory is by position."""
        return "histories" if self.positions is None else "positions"

    @property
    def without(self) -> float:
        """What the side has when it memorizes nothing of this book."""
        return self.baseline if self.unprepared is None else self.unprepared

    @property
    def net(self) -> float:
        """Value minus the price of the memory."""
        return self.value - self.cost * self.size

    @property
    def mixed(self) -> bool:
        """Whether some history is memorized only with a probability."""
        return any(entry.probability < 1.0 for entry in self.entries)


def check_book(book: object) -> None:
    """Raise InputError for what is no book, as where the result that holds it is given."""
    check_made("book", book, Book, "as prepare(...).book is")


def save(book: Book, path: Path | str) -> None:
    """Write a `preplay-book/1` file."""
    check_book(book)
    write_text(as_path("path", path), dumps(book))


def dumps(book: Book) -> str:
    """A book as the text of a `preplay-book/1` file."""
    data = {"format": FORMAT} | asdict(book)
    if book.positions is None:
        del data["positions"]
    if not book.known:
        del data["known"]
    if book.against == "base":
        del data["against"]
    for entry in data["entries"]:
        if entry["decision"] is None:
            del entry["decision"]
    return json.dumps(data, indent=1) + "\n"


def load(path: Path | str) -> Book:
    """Read a `preplay-book/1` file; anything else is an InputError."""
    from pydantic import TypeAdapter, ValidationError

    path = as_path("path", path)
    text = read_text(path, f"a {FORMAT} book")
    data = parse_json(text, path)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path}: not a book; expected a JSON object with format '{FORMAT}'")
    try:
        book = TypeAdapter(Book).validate_json(text, strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise InputError(f"{path}: damaged book ({place}: {problem['msg'].lower()})") from None
    if wrong := _wrong(book):
        raise InputError(f"{path}: damaged book ({wrong})")
    if "against" not in data:  # books of version 0.1.0 do not say it
        book = replace(book, against=MADE_BY.get(str(book.provenance.get("command")), "base"))
    return book


def _wrong(book: Book) -> str:
    """What cannot be in a book, or nothing."""
    told = ("baseline", "value", "cost", "upper", "error", "unprepared")
    numbers = {name: number for name in told if (number := getattr(book, name)) is not None}
    for k, entry in enumerate(book.entries):
        if not entry.moves:
            return f"entries.{k}.moves: empty"
        shares = {f"entries.{k}.moves.{move}": p for move, p in entry.moves.items()}
        shares |= {f"entries.{k}.reach": entry.reach, f"entries.{k}.probability": entry.probability}
        for place, p in shares.items():
            if not 0.0 <= p <= 1.0 + 1e-9:
                return f"{place} = {p}; expected a number in [0, 1]"
        if entry.decision is not None and not 0 <= entry.decision.played < len(entry.decision.options):
            return f"entries.{k}.decision.played = {entry.decision.played}; expected one of the options"
        numbers |= {f"entries.{k}.gain": entry.gain, f"entries.{k}.value": entry.value}
    odd = [place for place, x in numbers.items() if not abs(x) <= MOST]
    return f"{odd[0]} = {numbers[odd[0]]}; expected a number of at most {MOST:g}" if odd else ""


def merge(books: Iterable[Book]) -> Book:
    """One book out of several of the same side and start: later books win where they disagree.

    Gains add up (fact 1), so where the books rest on the same values that of the merged one is known.
    Where they do not, it may be anything, and its error says so. No bound is known: what each book
    certified was for its own price and limits.
    """
    check_listed("books", books)
    books = tuple(books)
    for book in books:
        check_book(book)
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
    merged = Book(
        side=first.side,
        entries=ordered,
        baseline=first.baseline,
        value=0.5,
        cost=first.cost,
        upper=1.0,
        error=0.5,
        unprepared=first.unprepared,
        start=first.start,
        chess960=first.chess960,
        known={place: moves for book in books for place, moves in book.known.items()},
        provenance={"merged": [dict(book.provenance) for book in books]},
        against=first.against,
    )
    if not all(_add_up(book, first, entries) for book in books):
        return merged
    value = first.without + math.fsum(entry.gain * entry.probability for entry in ordered)
    return replace(merged, value=value, error=max(book.error for book in books))


def _add_up(book: Book, first: Book, entries: Mapping[tuple[str, ...], Entry]) -> bool:
    """Whether a book rests on the values that the first one and the merged entries rest on."""
    start = book.value - math.fsum(entry.gain * entry.probability for entry in book.entries)
    same = (book.against, book.known) == (first.against, first.known) and book.positions is None
    return (
        same
        and math.isclose(book.without, first.without, abs_tol=SAME)
        and math.isclose(start, book.without, abs_tol=SAME)
        and all(_alike(entry, entries[entry.history]) for entry in book.entries)
    )


def _alike(one: Entry, two: Entry) -> bool:
    numbers = ((one.gain, two.gain), (one.probability, two.probability))
    return one.moves == two.moves and all(math.isclose(a, b, abs_tol=SAME) for a, b in numbers)


def draw(book: Book, rng: np.random.Generator, seed: int | None = None) -> Book:
    """A pure book drawn from a mixed one: at each history stay with x(h) / x(previous own), else stop.

    Every history is then in the drawn book with its probability x(h), and the book is prefix-closed.
    Its value is what it earns against the opponent that the mixed book's gains are for.
    """
    from numpy.random import Generator

    check_book(book)
    check_made("rng", rng, Generator, "as numpy.random.default_rng(0)")
    histories = {entry.history: entry for entry in book.entries}
    kept: dict[tuple[str, ...], Entry] = {}
    for entry in sorted(book.entries, key=lambda e: (len(e.history), e.history)):
        above = previous(entry.history, histories)
        before = 1.0 if above is None else histories[above].probability
        stays = rng.random() * before < entry.probability
        if stays and (above is None or above in kept):
            kept[entry.history] = replace(entry, probability=1.0)
    source = dict(book.provenance) | ({} if seed is None else {"drawn with seed": seed})
    start = book.value - sum(entry.gain * entry.probability for entry in book.entries)
    value = start + sum(entry.gain for entry in kept.values())
    return replace(book, entries=tuple(kept.values()), value=value, provenance=source)


def previous(
    history: tuple[str, ...], histories: Mapping[tuple[str, ...], Entry]
) -> tuple[str, ...] | None:
    """The longest proper beginning of `history` that is in the book too."""
    for length in range(len(history) - 1, -1, -1):
        if history[:length] in histories:
            return history[:length]
    return None
