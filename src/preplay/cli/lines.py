"""A book as an indented tree of lines: what may happen after the line above, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from preplay.cli import show
from preplay.text import harmless

if TYPE_CHECKING:
    from preplay.book import Entry

History = tuple[str, ...]
OTHERS = 30
"""About what the columns beside the lines take."""
Write = Callable[[Sequence[str], str | None], str]
"""Writes a history, or a move after it, as people read it."""


def print_lines(
    entries: Sequence[Entry],
    write: Write | None,
    columns: Mapping[str, Callable[[Entry], str]],
    most: int,
    *,
    more: str,
) -> None:
    """The `most` lines that are met most often, with columns; `more` says how to see the others."""
    if most:
        chosen = sorted(entries, key=lambda e: (-e.probability * e.reach, len(e.history)))[:most]
        rows = [
            (text, *(column(entry) for column in columns.values())) for entry, text in tree(chosen, write)
        ]
        right = range(1, 1 + len(columns))
        show.print_table(("line", *columns), rows, right=right, cut=0)
    if len(entries) > most:
        show.say(f"... and {len(entries) - most:,} more ({more})")


def tree(entries: Sequence[Entry], write: Write | None) -> list[tuple[Entry, str]]:
    """Entries in the order of a tree with their texts: the likeliest branch first, deeper ones indented.

    Of each entry's history, all own beginnings must be among the entries.
    """
    from preplay.book import previous

    known = {entry.history: entry for entry in entries}
    above = {history: previous(history, known) for history in known}
    below: dict[History | None, list[Entry]] = {}
    for entry in entries:
        below.setdefault(above[entry.history], []).append(entry)
    deepest = max((_depth(history, above) for history in known), default=0)
    step = 2 if 2 * deepest <= show.width() // 3 else 1
    rows: list[tuple[Entry, str]] = []
    waiting = [(entry, 0) for entry in reversed(below.get(None, []))]
    while waiting:
        entry, depth = waiting.pop()
        before = above[entry.history]
        rows.append(
            (entry, " " * step * depth + line(entry, None if before is None else known[before], write))
        )
        after = sorted(below.get(entry.history, ()), key=lambda e: e.probability * e.reach)
        waiting += [(child, depth + 1) for child in after]
    return rows


def _depth(history: History, above: Mapping[History, History | None]) -> int:
    depth = 0
    before = above[history]
    while before is not None:
        depth, before = depth + 1, above[before]
    return depth


def line(entry: Entry, before: Entry | None, write: Write | None) -> str:
    """What happens after the previous own history, and the answer: "c5 2. Nf3", or "falls walk: jump"."""
    start = 0
    if before is not None:  # a sure move stands in the line above
        start = len(before.history) + (len(before.moves) == 1)
    sure = len(entry.moves) == 1
    if write is None:
        happened, answer = " ".join(entry.history[start:]), moves(entry, write)
        room = max(12, show.width() - OTHERS - len(answer))  # long names: what is played says most
        happened = show.shortened(happened, room, tail=True)
        return harmless(f"{happened}: {answer}" if happened else answer)
    known = write(entry.history[:start], None)
    played = (*entry.history, *entry.moves) if sure else entry.history
    happened = write(played, None)[len(known) :].strip()
    mixed = moves(entry, write)
    return harmless(happened if sure else f"{happened}: {mixed}" if happened else mixed)


def moves(entry: Entry, write: Write | None, most: int = 4) -> str:
    """What a book plays at an entry, the likeliest moves first: "e4", or "e4 60% / d4 40%"."""
    likely = sorted(entry.moves.items(), key=lambda item: -item[1])[:most]
    shares = (("" if p > 0.9995 else f" {p:.0%}") for _, p in likely)
    names = (move if write is None else write(entry.history, move) for move, _ in likely)
    rest = " …" if len(entry.moves) > most else ""
    return " / ".join(name + share for name, share in zip(names, shares, strict=True)) + rest
