"""Results as pandas tables, for those who have pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from preplay.errors import InputError

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
        | {"side": book.side, "history": " ".join(entry.history), "moves": _moves(entry.moves)}
        for book in books
        for entry in book.entries
    ]
    return table(rows, ENTRY)


def _moves(moves: Mapping[str, float]) -> str:
    """One move as it is, several with their shares."""
    if len(moves) == 1:
        return next(iter(moves))
    return " ".join(f"{move}:{share:.6g}" for move, share in moves.items())
