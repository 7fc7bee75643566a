"""preplay sweep: any setting over any values, any measure."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show
from preplay.experiments.measures import BOOK, BOUNDS, CERTIFIED, EQUILIBRIUM

if TYPE_CHECKING:
    from preplay.experiments.sweep import Point
    from preplay.runs.swept import SweepResult


def sweep(
    spec: options.Spec,
    side: options.SideName,
    key: Annotated[
        str, typer.Option("--key", help="The setting to vary, as in black.randomness; or cost.")
    ],
    values: Annotated[
        str, typer.Option("--values", help="Its values, separated by commas; lists and tables as JSON.")
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            help="What to tell of each point; may be repeated; default: value and size. "
            f"Of the best book: {', '.join(BOOK)}; of Theorem 1 and Lemma 1, with --advantage and "
            f"--epsilon: {', '.join(BOUNDS)}; of the equilibrium: {', '.join(EQUILIBRIUM)}.",
        ),
    ] = None,
    cost: options.Cost = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, help="At most this many histories.")
    ] = None,
    advantage: Annotated[
        float | None, typer.Option("--advantage", help="Theorem 1's v, for measures of it.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Theorem 1's ε, for measures of it.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option("--gap", min=0.0, help="To what gap equilibria are solved, if measured: 1e-4."),
    ] = None,
    changes: options.Set = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the points as CSV.")
    ] = None,
    plot: options.Plot = None,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the best book at each value of one setting.

    Example: preplay sweep synthetic --side 1 --key randomness --values 0.05,0.1,0.2,0.4
    """
    from preplay.runs.sweeps import sweep as sweep_run
    from preplay.runs.swept import MEASURED
    from preplay.stopping import on_interrupt

    check_outputs(csv, plot)
    with on_interrupt() as stop:
        result = sweep_run(
            spec,
            key,
            _settings(values),
            side=side,
            measures=measure or MEASURED,
            cost=cost,
            budget=budget,
            advantage=advantage,
            epsilon=epsilon,
            gap=gap,
            changes=changes or (),
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


def check_outputs(csv: Path | None, *figures: Path | None) -> None:
    """Raise InputError before any work for files that could not be written after it."""
    from preplay.figures import check_figure
    from preplay.files import check_apart, check_writable

    check_apart(csv, *figures)
    if csv is not None:
        check_writable(csv)
    for figure in figures:
        if figure is not None:
            check_figure(figure)


def tell(result: SweepResult, csv: Path | None, plot: Path | None, as_json: bool) -> None:
    """Write and print what a sweep found."""
    from preplay.experiments.sweep import column, marking
    from preplay.figures import save_figure
    from preplay.files import write_text
    from preplay.runs import as_data

    if csv is not None:
        write_text(csv, result.csv())
    if as_json:
        show.print_json(as_data(result))
    else:
        measures, marked = marking(result.points, result.measures)
        found = [[_cell(p, m) for m in measures] for p in result.points]
        cells = [
            (str(p.side), p.label, *row, *([p.ending] if marked else []))
            for p, row in zip(result.points, found, strict=True)
        ]
        heads = ("side", column(result.key), *measures, *(["ending"] if marked else []))
        show.print_table(heads, cells, right=range(1, 2 + len(measures)), cut=1, keys=2)
        if marked:
            print()
            bounded = "; bounds say what may be missing" if set(measures) & set(CERTIFIED) else ""
            show.say(f"Points that did not end complete were cut short{bounded}.")
    if plot is not None:
        save_figure(result.plot(), plot)
    if not as_json:
        show.kept(result, csv, plot)


def numbers(text: str) -> list[float]:
    """Numbers separated by commas."""
    from preplay.errors import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--randomness '{text}'; expected numbers separated by commas") from None


def _settings(text: str) -> list[Any]:
    """JSON values separated by commas; where they are not, what is between the commas, each by itself."""
    from preplay.errors import InputError

    if not text.strip():
        raise InputError("--values: expected values separated by commas")
    try:
        settings: list[Any] = json.loads(f"[{text}]")
    except ValueError:
        settings = [_setting(part) for part in text.split(",")]
    except RecursionError:
        raise InputError(f"--values {text[:80]}...: nested too deeply; expected values") from None
    return settings


def _setting(text: str) -> Any:
    """JSON, or a number that people write otherwise (.05, 1., +3), or the text itself."""
    with suppress(ValueError):
        return json.loads(text)
    word = text.strip()
    with suppress(ValueError):
        number = float(word)
        if math.isfinite(number) and "_" not in word:
            return int(word) if word.lstrip("+-").isdigit() else number
    return word


def _cell(point: Point, measure: str) -> str:
    number = point.measure(measure)
    if number is None:  # a bound, or a book that was not valued afresh
        return "-" if measure == "fresh" else "beyond all numbers"
    return f"{number:,}" if isinstance(number, int) else f"{number:.5f}"
