"""preplay report: a page to explore a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from preplay.cli import options


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder made with --save.")],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="OTHER", help="A second run, for a page that compares two books.", show_default=False
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The HTML file to write, or a folder, if it ends in /."
        ),
    ] = "report.html",
    alternatives: Annotated[
        int,
        typer.Option(
            "--alternatives",
            min=0,
            max=20,
            help="Also ask the engine for its best moves, so many at each position of a chess book; they "
            "are kept with the run.",
        ),
    ] = 0,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    workers: options.Workers = None,
    store: options.Store = None,
    quiet: options.Silent = False,
) -> None:
    """Write an HTML page to explore a run and to learn it.

    It is one file, or a folder for a phone: board, trainer, order to learn, what to trust.

    A match is shown with its book where it is kept in RUN/match (`preplay match RUN --save RUN/match`).
    Runs of `bounds` and matches of games other than chess have no page.

    Example: preplay report runs/white -o report.html --open
    """
    from preplay.errors import InputError
    from preplay.report.page import write_report

    for option, value in (("workers", workers), ("store", store)):
        if value is not None and not alternatives:
            raise InputError(f"--{option} {value}: expected together with --alternatives N")
    if alternatives:
        _ask(run, alternatives, workers, store, quiet)
    target = Path(output)
    folder = output.endswith(("/", "\\")) or target.is_dir()
    written = write_report(run, target, other, folder=folder)
    if not quiet:
        print(f"Written: {written} ({written.stat().st_size / 1000:,.0f} kB)")
    if show:
        import webbrowser

        webbrowser.open(written.absolute().as_uri())


def _ask(directory: Path, most: int, workers: int | None, store: Path | None, quiet: bool) -> None:
    """Ask the engine what else could be played, and keep it with the run."""
    from preplay.errors import InputError
    from preplay.report.alternatives import alternatives, keep
    from preplay.runs import open_run
    from preplay.runs.reopening import reopened

    run = open_run(directory)
    if run.command != "prepare" or run.matchup.get("kind") != "chess":
        raise InputError(f"{directory}: --alternatives needs a chess book of `prepare` without a clock")
    book = run.book()
    with reopened(run, workers=workers, store=store) as matchup:
        keep(run, book, alternatives(matchup, book, most), most)
        if not quiet:
            print(f"Alternatives at {len(book.entries):,} histories, {matchup.searches():,} searches")
