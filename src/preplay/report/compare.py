"""Two prepared books side by side: what each is worth, where they agree and where they differ."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from preplay.book import Book, Entry
from preplay.errors import InputError
from preplay.report import words
from preplay.runs.directory import Run, open_run
from preplay.runs.prepared import PrepareResult

MOST = 20_000
"""Positions that a page compares."""


def compared(directories: tuple[Path, Path]) -> dict[str, Any]:
    """What the page needs of two runs of `preplay prepare` for one side of one game."""
    runs = open_run(directories[0]), open_run(directories[1])
    for run in runs:
        if run.command != "prepare":
            raise InputError(
                f"{run.directory}: made by `preplay {run.command}`; only books of `prepare` are compared"
            )
    results = PrepareResult.found(runs[0]), PrepareResult.found(runs[1])
    first, second = (result.book for result in results)
    chess = runs[0].is_chess
    if words.game(runs[0].matchup, "") != words.game(runs[1].matchup, "") or first.side != second.side:
        pair = zip(runs, (first, second), strict=True)
        told = [f"{words.game(run.matchup, run.name)} for {run.sides[b.side - 1]}" for run, b in pair]
        places = f"{directories[0]} and {directories[1]}"
        raise InputError(f"{places}: {told[0]} and {told[1]}; expected the same game and side")
    rows = _chess_rows(first, second) if chess else _plain_rows(first, second)
    return {
        "kind": "compare",
        "command": "report",
        "matchup": " and ".join(run.name for run in runs),
        "created": max(run.created for run in runs),
        "side": first.side,
        "sides": list(words.sides(runs[0].matchup)),
        "rival": " and ".join(dict.fromkeys(words.rival(run.matchup, first.side) for run in runs)),
        "game": words.game(runs[0].matchup, runs[0].name),
        "chess": chess,
        "pieces": chess,
        "books": [_summary(run, result) for run, result in zip(runs, results, strict=True)],
        "rows": rows[:MOST],
    }


def _summary(run: Run, result: PrepareResult) -> dict[str, Any]:
    judged = result.judged
    return {
        "name": run.directory.name or str(run.directory),
        "matchup": run.name,
        "rival": words.players(run.matchup)[2 - result.book.side],
        "cost": result.cost,
        "size": result.size,
        "value": result.value,
        "without": result.book.without,
        "net": result.net,
        "upper": result.upper,
        "fresh": judged.fresh if judged else None,
        "made": run.created,
    }


Told = list[Any]
"""[move, how often met, gain] of a position in one of the books."""


def _chess_rows(first: Book, second: Book) -> list[dict[str, Any]]:
    from preplay.chess.books.lines import numbered, position_key, start_board, walk_book

    found: dict[Hashable, dict[str, Any]] = {}
    for which, book in enumerate((first, second)):
        start = start_board(book)
        for place in walk_book(book, notate=True):
            best = place.moves[0][0]
            line = numbered(start, place.sans)
            row = found.setdefault(
                position_key(place.board), {"line": line, "fen": place.board.fen(), "told": [None, None]}
            )
            said = [place.board.san(best), place.board.uci(best)]
            row["told"][which] = _told(row["told"][which], said, place.entry)
    return _ordered(found)


def _plain_rows(first: Book, second: Book) -> list[dict[str, Any]]:
    found: dict[Hashable, dict[str, Any]] = {}
    for which, book in enumerate((first, second)):
        for entry in book.entries:
            move = max(entry.moves, key=lambda name: entry.moves[name])
            row = found.setdefault(
                entry.history, {"line": " ".join(entry.history), "fen": "", "told": [None, None]}
            )
            row["told"][which] = _told(None, [move, move], entry)
    return _ordered(found)


def _told(before: Told | None, said: list[str], entry: Entry) -> Told:
    """A position may be reached in several ways: their reaches and gains add up."""
    reach, gain = (before[2], before[3]) if before else (0.0, 0.0)
    return [*said, float(f"{reach + entry.reach:.6g}"), float(f"{gain + entry.gain:.6g}")]


def _ordered(found: Mapping[Hashable, dict[str, Any]]) -> list[dict[str, Any]]:
    """The most frequent first."""
    return sorted(found.values(), key=lambda row: -max(told[2] for told in row["told"] if told))
