"""Showing results: JSON, tables, and the live line of progress."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from preplay.judging import Judged
    from preplay.logistic import Curve
    from preplay.runs.keeping import Result


GAP = 2
"""Columns between those of a table."""


def print_json(data: Any) -> None:
    """One JSON object on stdout."""
    print(json.dumps(data, allow_nan=False))


def width() -> int:
    """Columns of the terminal; where there is none, 100."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def print_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    cut: int | None = None,
    *,
    tail: bool = False,
    keys: int = 1,
) -> None:
    """Columns as wide as their widest cell; those in `right` are aligned to the right.

    So that the table fits the terminal, the cells of column `cut` are shortened: at their end, or at
    their beginning where the `tail` counts; what is too long elsewhere is wrapped. Columns that find no
    place even so follow below, beside the first `keys` columns once more.
    """
    widths = [max(len(row[c]) for row in (titles, *rows)) for c in range(len(titles))]
    if cut is not None:
        room = width() - (sum(widths) - widths[cut] + GAP * (len(widths) - 1))
        least = max(12, len(titles[cut]))
        widths[cut] = min(widths[cut], room if room >= least else max(least, width() // 3))
    beside = max(12, width() - sum(widths[:keys]) - GAP * keys)
    widths = [*widths[:keys], *(min(wide, beside) for wide in widths[keys:])]
    for number, columns in enumerate(_blocks(widths, keys)):
        if number:
            print()
        for row in (titles, ["-" * wide for wide in widths], *rows):
            cells = [
                _lines(row[c], widths[c], c >= keys and c != cut, tail and c == cut) for c in columns
            ]
            sides = [str.rjust if c in right else str.ljust for c in columns]
            for line in zip_longest(*cells, fillvalue=""):
                padded = (side(x, widths[c]) for side, x, c in zip(sides, line, columns, strict=True))
                print((" " * GAP).join(padded).rstrip())


def _lines(text: str, length: int, whole: bool, tail: bool) -> list[str]:
    """What stands in a cell: a text in lines where all of it is to be read, else in one, shortened."""
    if whole and len(text) > length:
        return textwrap.wrap(text, length, break_on_hyphens=False)
    return [shortened(text, length, tail)]


def _blocks(widths: Sequence[int], keys: int) -> list[list[int]]:
    """The columns of a table in blocks that fit the terminal, each with the first `keys` of them."""
    blocks = [list(range(keys))]
    for c in range(keys, len(widths)):
        block = blocks[-1]
        wide = sum(widths[k] for k in block) + widths[c] + GAP * len(block)
        if wide > width() and len(block) > keys:
            blocks.append([*range(keys), c])
        else:
            block.append(c)
    return blocks


def shortened(text: str, length: int, tail: bool = False) -> str:
    """The beginning of a text, or its end, in whole words as far as possible, with dots for the rest."""
    if len(text) <= length:
        return text
    if tail:
        kept = text[len(text) - length + 2 :]
        whole = kept if text[-len(kept) - 1] == " " else kept.partition(" ")[2]
        return "… " + whole if whole else "…" + text[len(text) - length + 1 :]
    kept = text[: length - 2]
    whole = kept if text[len(kept)] == " " else kept.rpartition(" ")[0]
    return whole + " …" if whole else text[: length - 1] + "…"


def say(text: str, indent: int = 0) -> None:
    """A sentence, wrapped to the terminal."""
    print(_filled(" " * indent + text, indent))


def fact(label: str, text: str, indent: int = 23, margin: int = 2) -> None:
    """A line of an account: what it is about, and what is said, wrapped to the terminal."""
    print(_filled((" " * margin + label).ljust(indent - 1) + " " + text, indent))


def _filled(text: str, indent: int) -> str:
    """A text in lines of the terminal's width; words with hyphens, as options are, stay whole."""
    return textwrap.fill(text, width(), subsequent_indent=" " * indent, break_on_hyphens=False)


def one_in(probability: float) -> str:
    """A probability as players say it: every game, 1 in 12."""
    if probability <= 0.0:
        return "never"
    n = 1.0 / probability
    if n < 1.05:
        return "always"
    return f"1 in {n:.1f}" if n < 9.95 else f"1 in {n:,.0f}"


def histories(count: int) -> str:
    """So many histories: "1 history", "1,200 histories"."""
    return f"{count:,} {'history' if count == 1 else 'histories'}"


def counted(count: int, noun: str) -> str:
    """So many of something whose plural ends in s: "1 game", "1,200 games"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_judged(judged: Judged, indent: int = 23) -> None:
    """What second opinions made of a promise."""
    fact("judged", f"{histories(judged.searches)} in {counted(judged.rounds, 'round')}", indent)
    for line in judged.lines():
        fact("", line, indent)


def written(*files: Path | None, about: str = "") -> None:
    """The files that were asked for and written, each with its path in one piece, to copy."""
    for file in files:
        if file is not None:
            print(f"Written: {file}{about}")


def kept(result: Result, *files: Path | None) -> None:
    """The files written of a result, then the directory that keeps it and what is in that."""
    from preplay.runs.directory import GAMES, GROWTHS, POINTS, RESULT, RUN

    if result.run is not None or any(files):
        print()
    written(*files)
    if result.run is not None:
        more = (GROWTHS, GAMES, POINTS)
        found = [path.name for name in more for path in sorted(result.run.directory.glob(name))]
        listed = dict.fromkeys([RUN, RESULT, *result.files(), *found])
        names, path = ", ".join(listed), str(result.run.directory)
        if len(f"Kept in {path}: {names}") <= width():
            print(f"Kept in {path}: {names}")
        else:
            print(f"Kept in {path}:")
            say(names, indent=2)


def print_scale(scores: str, curve: Curve | None) -> None:
    """What kind of numbers values are."""
    if curve is not None and scores == "results":
        level = f"a level position {curve.score(0.0):.3f} for White, a pawn {curve.score(1.0):.3f}"
        fact("results, not scores", f"by {curve.games:,} games of the two: {level}")
        fact(
            "",
            f"intercept {curve.intercept:.3f} ± {curve.intercept_error:.3f}, "
            f"slope {curve.slope:.3f} ± {curve.slope_error:.3f}",
        )
    elif curve is not None:
        fact("model scores", f"only {curve.games} games of the two were played so far")
    elif scores == "model":
        fact("model scores", 'not results of games; value.model = "calibrated" plays games for them')


def progress(
    quiet: bool, telling: Callable[[], str] | None = None, *, lasting: bool = False
) -> Callable[[object], None] | None:
    """Shows how work goes on a terminal: a live line, or a line each time where they are `lasting`.

    `telling` adds what the engines have done. Nothing is shown when quiet or when stderr is no terminal.
    """
    if quiet or not sys.stderr.isatty():
        return None

    def show(now: object) -> None:
        text = str(now) if telling is None else f"{now}  {telling()}"
        if lasting:
            print(_filled(text, 2), file=sys.stderr, flush=True)
            return
        room = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        print("\r" + shortened(text, room).ljust(room), end="", file=sys.stderr, flush=True)

    return show


def left(seconds: float | None) -> Callable[[], float | None]:
    """How many seconds are left of so many from now: opening a matchup may take some of them."""
    end = None if seconds is None else time.monotonic() + seconds
    return lambda: None if end is None else max(0.0, end - time.monotonic())


def end_progress(shown: object) -> None:
    """Leave the live line behind."""
    if shown is not None:
        print(file=sys.stderr)
