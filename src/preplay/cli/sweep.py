"""preplay sweep: any setting over any values, any measure."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.experiments.sweep import Point, Task


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
        list[str] | None, typer.Option("--measure", help="What to tell of each point; may be repeated.")
    ] = None,
    cost: options.Cost = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, help="At most this many histories.")
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
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the best book at each value of one setting.

    Example: preplay sweep synthetic --side 1 --key randomness --values 0.05,0.1,0.2,0.4
    """
    from preplay.experiments.sweep import Task, check_measures, determine
    from preplay.growth import Limits
    from preplay.matchup import load_config
    from preplay.matchup.model import side_named
    from preplay.matchup.source import sides_of
    from preplay.report.figures import plot_sweep

    measures = measure or ["value", "size"]
    check_measures(measures)
    check_outputs(csv, plot)
    name, config = load_config(spec, changes or ())
    who = side_named(side, sides_of(config))
    limits = Limits(histories, seconds)
    settings = _settings(values)
    tasks = []
    for setting in settings:
        price, changed = cost, config
        if key == "cost":
            price = _cost(setting)
        else:
            _, changed = load_config(spec, [*(changes or ()), f"{key}={json.dumps(setting)}"])
        tasks.append(Task(name, changed, who, key, setting, price, budget, store, limits))
    results = determine(tasks)
    identity = {
        **results.shared,
        "side": who,
        "key": key,
        "values": settings,
        "own": results.own,
        "budget": budget,
        "histories": histories,
        "seconds": seconds,
    }
    points, complete = run(
        tasks, "sweep", name, identity, results.versions, save, workers, quiet or as_json
    )
    report_points(points, key, measures, measures, csv, save, as_json)
    if plot is not None:
        title = f"{name}, side {points[0].side}" if points else name
        plot_sweep(points, key, measures, plot, title=title)
    if not as_json:
        tell_written(csv, plot, save)
    if not complete:
        raise typer.Exit(130)


def check_outputs(csv: Path | None, *figures: Path | None) -> None:
    """Raise InputError before any work for files that could not be written after it."""
    from preplay.files import check_writable
    from preplay.report.figures import check_figure

    if csv is not None:
        check_writable(csv)
    for figure in figures:
        if figure is not None:
            check_figure(figure)


def run(
    tasks: Sequence[Task],
    command: str,
    name: str,
    identity: Mapping[str, Any],
    versions: Mapping[str, str],
    save: Path | None,
    workers: int | None,
    quiet: bool,
) -> tuple[list[Point], bool]:
    """Compute the points, or take them up again; False when interrupted.

    On a terminal, unless `quiet`, stderr hears of each.
    """
    import os

    from preplay import runs
    from preplay.experiments.sweep import run_tasks
    from preplay.stopping import on_interrupt

    kept = runs.start(save, command, name, identity, versions).path("points.jsonl") if save else None

    def tell(point: Point, done: int, total: int) -> None:
        print(
            f"[{done}/{total}] {point.side} {point.key}={point.label}: value {point.value:.4f}, "
            f"size {point.size}, {point.searches:,} searches, {point.seconds:.0f} s",
            file=sys.stderr,
            flush=True,
        )

    telling = tell if not quiet and sys.stderr.isatty() else None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with on_interrupt() as stop:
        points = run_tasks(tasks, workers or cores, kept, stop=stop, tell=telling)
        return points, not stop.asked


def report_points(
    points: Sequence[Point],
    key: str,
    measures: Sequence[str],
    columns: Sequence[str],
    csv: Path | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Write and print what a sweep found: `measures` on stdout, `columns` as CSV."""
    from preplay.experiments.sweep import as_csv
    from preplay.files import write_text

    rows: list[dict[str, Any]] = [
        {"side": p.side, key: p.setting} | {m: p.measure(m) for m in measures} | {"ending": p.ending}
        for p in points
    ]
    data = {"key": key, "points": rows}
    text = as_csv(points, key, columns)
    if csv is not None:
        write_text(csv, text)
    if save is not None:
        write_text(save / "points.csv", text)
        write_text(save / "result.json", json.dumps(data, indent=1) + "\n")
    if as_json:
        show.print_json(data)
        return
    cells = [(p.side, p.label, *(_cell(p.measure(m)) for m in measures)) for p in points]
    show.print_table(("side", key, *measures), cells, right=range(1, 2 + len(measures)))


def tell_written(*paths: Path | None) -> None:
    """Say where the results are as well."""
    for path in paths:
        if path is not None:
            print(f"\nWritten: {path}")


def numbers(text: str) -> list[float]:
    """Numbers separated by commas."""
    from preplay.errors import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"'{text}'; expected numbers separated by commas") from None


def _settings(text: str) -> list[Any]:
    """JSON values separated by commas; where they are not, what is between the commas, each by itself."""
    from preplay.errors import InputError

    if not text.strip():
        raise InputError("--values: expected values separated by commas")
    try:
        settings: list[Any] = json.loads(f"[{text}]")
    except ValueError:
        settings = [_setting(part) for part in text.split(",")]
    return settings


def _setting(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _cost(setting: Any) -> float:
    from preplay.errors import InputError

    if isinstance(setting, bool) or not isinstance(setting, (int, float)):
        raise InputError(f"--values {json.dumps(setting)}: expected a number as cost")
    return setting


def _cell(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:.5f}"
