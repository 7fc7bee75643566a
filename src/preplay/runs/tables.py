"""Results as pandas tables, for those who have pandas."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preplay.errors import InputError
from preplay.matchup.model import label_of
from preplay.matchup.source import BY_ENGINES, sides_of
from preplay.text import cell

if TYPE_CHECKING:
    from pandas import DataFrame

    from preplay.book import Book


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> DataFrame:
    """A DataFrame with these columns, even of no rows; pandas is optional, and missed in one line."""
    try:
        import pandas
    except ImportError:
        raise InputError("tables need pandas; install it with `pip install 'preplay[pandas]'`") from None
    return pandas.DataFrame([dict(row) for row in rows], columns=list(columns))


ENTRY = ("side", "history", "moves", "reach", "gain", "value", "probability", "score")
"""The columns of a book."""


def book_table(*books: Book) -> DataFrame:
    """A row for each memorized history of the books; histories and moves as text."""
    rows = [
        {name: getattr(entry, name, None) for name in ENTRY}
        | {"side": _label(book), "history": " ".join(entry.history), "moves": _moves(entry.moves)}
        for book in books
        for entry in book.entries
    ]
    return table(rows, ENTRY)


def _label(book: Book) -> str | int:
    """What the book's side is called in results, as far as its provenance tells: a number, or a name."""
    identity = book.provenance.get("identity")
    matchup = identity.get("matchup") if isinstance(identity, dict) else None
    told = matchup if isinstance(matchup, dict) else {}
    if "sides" in told or told.get("kind") in BY_ENGINES:  # others are called by number
        return label_of(sides_of(told)[book.side - 1])
    return ("white", "black")[book.side - 1] if book.start else book.side


LEARNED = (
    *("number", "line", "move", "probability", "others"),
    *("reach", "gain", "value", "cumulative_value", "in_book"),
)
"""The columns of a book as CSV: those of a chess book without its boards."""


def book_csv(book: Book) -> str:
    """A row for each memorized history of any game, in the order worth learning; lines as actions.

    `cumulative_value` is what the book is worth to one who has learned down to this row.
    """
    from preplay.chess.books.lines import learning_order

    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(LEARNED)
    value = book.value - sum(entry.gain * entry.probability for entry in book.entries)
    for number, index in enumerate(learning_order(book), 1):
        entry = book.entries[index]
        value += entry.gain * entry.probability
        (move, share), *others = sorted(entry.moves.items(), key=lambda item: -item[1])
        rest = " ".join(f"{name} {p:.10g}" for name, p in others if p > 0.0)
        numbers = (entry.reach, entry.gain, entry.value, value, entry.probability)
        told = [cell(" ".join(entry.history)), cell(move), f"{share:.10g}", cell(rest)]
        writer.writerow([number, *told, *(f"{x:.10g}" for x in numbers)])
    return target.getvalue()


def _moves(moves: Mapping[str, float]) -> str:
    """One move as it is, several with their shares."""
    if len(moves) == 1:
        return next(iter(moves))
    return " ".join(f"{move}:{share:.6g}" for move, share in moves.items())
