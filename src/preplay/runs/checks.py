"""Games that were really played, held against the book of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from preplay.book import Book
from preplay.chess.check import Checked, Summary, check_file


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Where each game left the book, and how often."""

    side: Literal["white", "black"]
    """Whose book it is."""
    games: tuple[Checked, ...]
    """The games in the order of their file."""
    summary: Summary
    """All of them together."""


def check(book: Book, games: str | Path, *, player: str = "") -> CheckResult:
    """Where each game of a PGN file left the book; with `player` only their games with its colour."""
    report = check_file(book, games, player=player)
    return CheckResult(
        side="white" if report.side == 1 else "black", games=report.rows, summary=report.summary
    )
