"""Showing results: JSON, tables, and the live line of progress."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from preplay.book import Entry
    from preplay.growth import GrowthProgress
    from preplay.judging import Judged
    from preplay.matchup import Matchup


def print_json(data: Any) -> None:
    """One JSON object on stdout."""
    print(json.dumps(data, allow_nan=False))


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Columns as wide as their widest cell; those in `right` are aligned to the right."""
    widths = [max(len(row[c]) for row in (titles, *rows)) for c in range(len(titles))]
    for row in (titles, ["-" * width for width in widths], *rows):
        cells = [
            cell.rjust(width) if c in right else cell.ljust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def one_in(probability: float) -> str:
    """A probability as players say it: every game, 1 in 12."""
    if probability <= 0.0:
        return "never"
    n = 1.0 / probability
    if n < 1.05:
        return "always"
    return f"1 in {n:.1f}" if n < 10 else f"1 in {n:,.0f}"


def moves(matchup: Matchup[Any], entry: Entry, most: int = 4) -> str:
    """What a book plays at an entry, the likeliest moves first: "e4", or "e4 60% / d4 40%"."""
    likely = sorted(entry.moves.items(), key=lambda item: -item[1])[:most]
    shares = (("" if p > 0.9995 else f" {p:.0%}") for _, p in likely)
    names = (matchup.write_move(entry.history, move) for move, _ in likely)
    rest = " …" if len(entry.moves) > most else ""
    return " / ".join(name + share for name, share in zip(names, shares, strict=True)) + rest


def histories(count: int) -> str:
    """So many histories: "1 history", "1,200 histories"."""
    return f"{count:,} {'history' if count == 1 else 'histories'}"


def print_judged(judged: Judged) -> None:
    """What second opinions made of a promise."""
    rounds = f"{judged.rounds} {'round' if judged.rounds == 1 else 'rounds'}"
    print(f"  judged               in {rounds}, {judged.searches:,} deep searches")
    for line in judged.lines():
        print(f"{'':23}{line}")


def finite(number: float) -> float | None:
    """JSON has no infinity: None stands for it."""
    return number if math.isfinite(number) else None


def progress_line(
    quiet: bool, telling: Callable[[], str] | None = None
) -> Callable[[GrowthProgress], None] | None:
    """A live line on a terminal; nothing when quiet or when stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        return None

    def show(now: GrowthProgress) -> None:
        rate = now.questions / now.seconds if now.seconds > 0.0 else 0.0
        parts = [histories(now.histories)]
        if telling is not None:
            parts.append(telling())
        parts.append(f"{rate:,.0f}/s")
        if not math.isnan(now.up):
            parts += [f"net {now.low:.4f}", f"upper {now.up:.4f}"]
        parts.append(f"{now.seconds:.0f} s, {_time_left(now, rate)}")
        width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        print("\r" + "  ".join(parts)[:width].ljust(width), end="", file=sys.stderr, flush=True)

    return show


def _time_left(now: GrowthProgress, rate: float) -> str:
    """At least what the questions already known take; more may come up."""
    return f"at least {now.waiting / rate:.0f} s left" if rate > 0.0 else f"{now.waiting} waiting"


def text_line(quiet: bool, telling: Callable[[], str] | None = None) -> Callable[[str], None] | None:
    """A live line of free text, under the same conditions."""
    if quiet or not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        parts = [text] if telling is None else [text, telling()]
        width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        print("\r" + "  ".join(parts)[:width].ljust(width), end="", file=sys.stderr, flush=True)

    return show


def end_progress(shown: object) -> None:
    """Leave the live line behind."""
    if shown is not None:
        print(file=sys.stderr)
