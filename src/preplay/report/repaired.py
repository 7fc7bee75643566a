"""Which known moves lose, as data for the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from preplay.book import Book
from preplay.chess.books.lines import numbered, start_board
from preplay.repairs import Repair
from preplay.runs.prepared import PrepareResult
from preplay.tree import Tree

MOST = 100
"""Rows that a page shows."""


def repaired(result: PrepareResult, tree: Tree, chess_moves: bool) -> dict[str, Any] | None:
    """The known moves that lose, the dearest first: [node, line, move, reach, value, worth, loss] each.

    `node` is the history in the tree of the page, or null where that has been cut away. None: nothing was
    known before the book.
    """
    if result.repairs is None:
        return None
    say = _written(result.book) if chess_moves else _plain
    rows = []
    for repair in result.repairs[:MOST]:
        numbers = (repair.reach, repair.value, repair.worth, repair.loss)
        rows.append([tree.get(repair.history), *say(repair), *(float(f"{x:.6g}") for x in numbers)])
    return {"count": len(result.repairs), "rows": rows}


def _plain(repair: Repair) -> tuple[str, str]:
    return " ".join(repair.history), " / ".join(repair.moves)


def _written(book: Book) -> Callable[[Repair], tuple[str, str]]:
    """The line and the known move after it as chess players write them, with their numbers."""
    start = start_board(book)

    def say(repair: Repair) -> tuple[str, str]:
        board = start.copy()
        sans = [board.san_and_push(board.parse_uci(move)) for move in repair.history]
        known = " / ".join(board.san(board.parse_uci(move)) for move in repair.moves)
        line = numbered(start, sans)
        return line, numbered(start, [*sans, known])[len(line) :].strip()

    return say
