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
    import numpy as np

    from preplay import book as books
    from preplay.errors import InputError
    from preplay.runs import open_run

    kept = open_run(run)
    if kept.command != "equilibrium":
        raise InputError(f"{run}: made by `preplay {kept.command}`; expected an equilibrium run")
    drawn = books.draw(kept.book(side), np.random.default_rng(seed), seed)
    if output is not None:
        books.save(drawn, output)
    if as_json:
        show.print_json(
            {
                "side": kept.label(drawn.side),
                "seed": seed,
                "size": drawn.size,
                "book": [{"history": list(e.history), "moves": dict(e.moves)} for e in drawn.entries],
            }
        )
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
