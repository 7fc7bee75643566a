"""preplay draw: pure books from a mixed one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from preplay.cli import options, show
from preplay.cli.lines import print_lines


def draw(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by `equilibrium --save`.")],
    side: Annotated[str, typer.Option("--side", help="Whose book: 1 or 2, in chess white or black.")],
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, help="Decides which book is drawn; the same seed draws the same."),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the book to this file (.json)."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Draw a pure book from a mixed one, to memorize for one game.

    Example: preplay draw runs/eq --side white --seed 7 -o book.json
    """
    from preplay import book as books
    from preplay.runs import as_data, open_run
    from preplay.runs.drawn import draw as draw_book

    kept = open_run(run)
    found = draw_book(kept, side, seed)
    drawn = found.book
    if output is not None:
        books.save(drawn, output)
    if as_json:
        show.print_json(as_data(found))
    else:
        show.say(f"A pure book of {drawn.memory} for side {side} (seed {seed})")
        if drawn.entries:
            write = None
            if kept.is_chess:
                from preplay.chess.books.naming import writing

                write = writing(drawn)
            met = {"met": lambda e: show.one_in(e.reach)}
            print_lines(drawn.entries, write, met, 20, more="-o FILE or --json for all")
        if output is not None:
            print()
            show.written(output)
