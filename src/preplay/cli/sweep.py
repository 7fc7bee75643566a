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
    values: Annotated[str, typer.Option("--values", help="Its values, separated by commas.")],
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
    from preplay.errors import InputError
    from preplay.experiments.sweep import Task, check_measures
    from preplay.growth import Limits
    from preplay.matchup import load_config
    from preplay.matchup.model import side_named
    from preplay.matchup.opening import sides_of
    from preplay.report.figures import plot_sweep

    measures = measure or ["value", "size"]
    check_measures(measures)
    name, config = load_config(spec, changes or ())
    who = side_named(side, sides_of(config))
    tasks = []
    for text in values.split(","):
        setting = _setting(text)
        price: Any = cost
        changed = config
        if key == "cost":
            if isinstance(setting, str):
                raise InputError(f"--values {text}: expected a number as cost")
            price = setting
        else:
            _, changed = load_config(spec, [*(changes or ()), f"{key}={text.strip()}"])
        limits = Limits(histories, seconds)
        tasks.append(Task(name, changed, who, key, setting, price, budget, store, limits))
    identity = {
        "matchup": config,
        "side": who,
        "key": key,
        "values": values,
        "cost": cost,
        "budget": budget,
        "histories": histories,
    }
    points, complete = run(tasks, "sweep", name, identity, save, workers, quiet or as_json)
    if plot is not None:
        plot_sweep(
            points, key, measures, plot, title=f"{name}, side {points[0].side}" if points else name
        )
    report_points(points, key, measures, csv, save, as_json, plot)
    if not complete:
        raise typer.Exit(130)


def run(
    tasks: Sequence[Task],
    command: str,
    name: str,
    identity: Mapping[str, Any],
    save: Path | None,
    workers: int | None,
    quiet: bool,
) -> tuple[list[Point], bool]:
    """Compute the points (or take them up again), telling of each on stderr; False when interrupted."""
    import os

    from preplay import runs
    from preplay.experiments.sweep import run_tasks
    from preplay.growth import on_interrupt

    kept = runs.start(save, command, name, identity, {}).path("points.jsonl") if save else None

    def tell(point: Point, done: int, total: int) -> None:
        if not quiet:
            print(
                f"[{done}/{total}] {point.side} {point.key}={point.setting}: value {point.value:.4f}, "
                f"size {point.size}, {point.searches:,} searches, {point.seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with on_interrupt() as stop:
        points = run_tasks(tasks, workers or cores, kept, stop=stop, tell=tell)
        return points, not stop.asked


def report_points(
    points: Sequence[Point],
    key: str,
    measures: Sequence[str],
    csv: Path | None,
    save: Path | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Write and print what a sweep found."""
    from dataclasses import asdict

    from preplay.experiments.sweep import as_csv
    from preplay.files import write_text

    text = as_csv(points, key, measures)
    if csv is not None:
        write_text(csv, text)
    if save is not None:
        write_text(save / "points.csv", text)
        every = {"key": key, "points": [asdict(point) for point in points]}
        write_text(save / "result.json", json.dumps(every, indent=1) + "\n")
    rows: list[dict[str, Any]] = [
        {"side": p.side, key: p.setting} | {m: p.measure(m) for m in measures} | {"ending": p.ending}
        for p in points
    ]
    if as_json:
        show.print_json({"key": key, "points": rows})
        return
    cells = [(str(p.side), str(p.setting), *(_cell(p.measure(m)) for m in measures)) for p in points]
    show.print_table(("side", key, *measures), cells, right=range(1, 2 + len(measures)))
    for path in (csv, plot, save):
        if path is not None:
            print(f"\nWritten: {path}")


def numbers(text: str) -> list[float]:
    """Numbers separated by commas."""
    from preplay.errors import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"'{text}'; expected numbers separated by commas") from None


def _setting(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _cell(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:.5f}"
