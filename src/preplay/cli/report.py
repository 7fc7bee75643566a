"""preplay report: a page to explore a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A directory made with --save.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.")
    ] = Path("report.html"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write one self-contained HTML page of a run: book, order to learn, quiz, curves.

    Example: preplay report runs/white -o report.html --open
    """
    from preplay.report.page import write_report

    write_report(run, output)
    print(f"Written: {output} ({output.stat().st_size / 1000:,.0f} kB)")
    if show:
        import webbrowser

        webbrowser.open(output.absolute().as_uri())
