"""preplay figure1: the paper's experiment in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from preplay.cli import options, show


def figure1(
    spec: Annotated[str, typer.Option("--matchup", help="The chess matchup to vary.")] = "chess",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer values, fewer nodes: a few minutes.")
    ] = False,
    side: Annotated[str, typer.Option("--side", help="white, black or both.")] = "both",
    cost: options.Cost = None,
    randomness: Annotated[
        str | None,
        typer.Option(
            "--randomness",
            help="Values of r, separated by commas; 0: always the best move.",
            show_default=False,
        ),
    ] = None,
    changes: options.Set = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the points as CSV.")
    ] = None,
    plot: options.Plot = None,
    overlay: Annotated[
        list[Path] | None,
        typer.Option(
            "--overlay",
            metavar="CSV",
            help="Points to draw as well, published ones or another figure's; may be repeated.",
        ),
    ] = None,
    fresh: Annotated[
        int,
        typer.Option(
            "--fresh", min=0, help="Value so many of the books again, by searches ten times as long."
        ),
    ] = 0,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Utility and size of the best book against how randomly the opponent plays (Figure 1).

    Limits are for each point; one that was cut short is shown with its certified bound.

    Example: preplay figure1 --quick --plot figure1.svg
    """
    from preplay.cli.sweep import check_outputs, numbers, tell
    from preplay.errors import InputError
    from preplay.experiments.figure1 import read_reference
    from preplay.game import Side
    from preplay.runs.sweeps import figure1 as figure1_run
    from preplay.stopping import on_interrupt

    sides: tuple[Side, ...]
    if side == "both":
        sides = (1, 2)
    elif side in ("white", "black", "1", "2"):
        sides = (1,) if side in ("white", "1") else (2,)
    else:
        raise InputError(f"side '{side}'; expected white, black or both")
    check_outputs(csv, plot)
    with on_interrupt() as stop:
        result = figure1_run(
            spec,
            quick=quick,
            sides=sides,
            cost=cost,
            randomness=() if randomness is None else numbers(randomness),
            changes=changes or (),
            published=[point for path in overlay or () for point in read_reference(path)],
            fresh=fresh,
            histories=histories,
            seconds=seconds,
            workers=workers,
            cluster=cluster,
            store=store,
            save=save,
            stop=stop,
            progress=show.progress(quiet or as_json, lasting=True),
        )
    tell(result, csv, plot, as_json)
    if stop.asked:
        raise typer.Exit(130)
