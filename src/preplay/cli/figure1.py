"""preplay figure1: the paper's experiment in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from preplay.cli import options

PAPER_NODES = ("white.nodes=4000", "black.nodes=4000", "prep.nodes=20000")
AS_PUBLISHED = ("judge=false", "value.model=linear")
"""The paper takes values as they are: no second opinions, no calibration, unless asked for."""
QUICK_NODES = ("white.nodes=1500", "black.nodes=1500", "prep.nodes=6000")


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
        Path | None, typer.Option("--overlay", metavar="CSV", help="Published points to draw as well.")
    ] = None,
    save: options.Save = None,
    workers: options.Workers = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Utility and size of the best book against how randomly the opponent plays (Figure 1).

    Example: preplay figure1 --quick --plot figure1.svg
    """
    from dataclasses import replace

    from preplay.cli.sweep import check_outputs, numbers, report_points, tell_written
    from preplay.cli.sweep import run as run_sweep
    from preplay.errors import InputError
    from preplay.experiments import figure1 as experiment
    from preplay.experiments.sweep import determine
    from preplay.game import Side
    from preplay.growth import Limits
    from preplay.matchup import load_config
    from preplay.report.figures import plot_figure1

    sides: tuple[Side, ...]
    if side == "both":
        sides = (1, 2)
    elif side in ("white", "black", "1", "2"):
        sides = (1,) if side in ("white", "1") else (2,)
    else:
        raise InputError(f"side '{side}'; expected white, black or both")
    check_outputs(csv, plot)
    nodes = QUICK_NODES if quick else PAPER_NODES
    own = (*nodes, *AS_PUBLISHED) if spec == "chess" else ()
    name, config = load_config(spec, (*own, *(changes or ())))
    if config.get("kind") != "chess":
        raise InputError(f"matchup '{spec}' is not chess; use `preplay sweep` for other games")
    values = numbers(randomness) if randomness else experiment.QUICK if quick else experiment.FULL
    experiment.check_randomness(values)
    price = cost if cost is not None else 1e-3 if quick else 1e-4
    config["cost"] = price
    published = experiment.read_reference(overlay) if overlay else []
    tasks = experiment.tasks(name, config, values, sides, price, store, Limits())
    results = determine([replace(tasks[0], config=config)])
    identity = {**results.shared, "randomness": list(values), "sides": list(sides)}
    points, complete = run_sweep(
        tasks, "figure1", name, identity, results.versions, save, workers, quiet or as_json
    )
    curves = experiment.by_side(points)
    ordered = [point for curve in curves.values() for point in curve]
    report_points(ordered, "randomness", ("value", "size"), experiment.COLUMNS, csv, save, as_json)
    for path in (plot, save / "figure1.svg" if save else None, save / "figure1.png" if save else None):
        if path is not None:
            plot_figure1(curves, path, price, published)
    if not as_json:
        tell_written(csv, plot, save)
    if not complete:
        raise typer.Exit(130)
