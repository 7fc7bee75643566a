"""Pure books drawn from the mixed one of an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from preplay import book as books
from preplay.book import Book
from preplay.errors import InputError
from preplay.runs.directory import Run
from preplay.runs.encoding import told


def _entries(book: Book) -> list[Mapping[str, Any]]:
    return [{"history": entry.history, "moves": entry.moves} for entry in book.entries]


@dataclass(frozen=True, kw_only=True)
class DrawResult:
    """A pure book to memorize for one game."""

    side: str | int
    """Whose book it is."""
    seed: int
    """What decided which book was drawn."""
    size: int
    """How many histories, or positions, are to be memorized."""
    book: Book = told(_entries)
    """The book; its histories and moves in JSON."""


def draw(run: Run, side: str, seed: int = 0) -> DrawResult:
    """Draw a pure book from a side's mixed one; the same seed draws the same."""
    if run.command != "equilibrium":
        raise InputError(f"{run.directory}: made by `preplay {run.command}`; expected an equilibrium run")
    drawn = books.draw(run.book(side), np.random.default_rng(seed), seed)
    return DrawResult(side=run.label(drawn.side), seed=seed, size=drawn.size, book=drawn)
