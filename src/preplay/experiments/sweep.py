"""One setting over many values: a best book each, on all cores, resumable."""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from preplay.errors import InputError, PreplayError, nearest
from preplay.game import Side
from preplay.growth import Limits, Stop

MEASURES = (
    "value",
    "size",
    "net",
    "upper",
    "baseline",
    "unprepared",
    "gain",
    "histories",
    "questions",
    "searches",
    "seconds",
)
"""What a sweep can tell of each point."""


@dataclass(frozen=True)
class Point:
    """One best book of a sweep, from the point of view of its side."""

    side: str
    key: str
    setting: Any
    value: float
    size: int
    net: float
    upper: float
    baseline: float
    unprepared: float
    histories: int
    questions: int
    searches: int
    seconds: float
    ending: str
    engines: str = ""
    """Which engines answered."""

    @property
    def gain(self) -> float:
        """What the book earns over no preparation."""
        return self.value - self.unprepared

    def measure(self, name: str) -> float:
        """One of `MEASURES`."""
        return float(getattr(self, name))


@dataclass(frozen=True)
class Task:
    """What one worker process has to do."""

    name: str
    config: Mapping[str, Any]
    side: Side
    key: str
    setting: Any
    cost: float | None
    budget: int | None
    store: Path | None
    limits: Limits


def check_measures(names: Sequence[str]) -> None:
    """Raise InputError for a measure that sweeps do not have."""
    for name in names:
        if name not in MEASURES:
            raise InputError(f"measure '{name}'; {nearest(name, MEASURES)}")


def run_task(task: Task) -> Point:
    """Prepare at one setting, with one engine process of each kind."""
    from preplay.matchup.opening import from_config
    from preplay.prepare import prepare

    with from_config(task.name, task.config, workers=1, store=task.store) as matchup:
        prepared = prepare(matchup, task.side, task.cost, task.budget, task.limits)
        best, grown = prepared.response, prepared.grown
        return Point(
            side=matchup.sides[task.side - 1],
            key=task.key,
            setting=task.setting,
            value=best.value,
            size=best.size,
            net=best.net,
            upper=best.upper,
            baseline=best.baseline,
            unprepared=best.unprepared,
            histories=grown.histories,
            questions=grown.questions,
            searches=matchup.searches(),
            seconds=grown.seconds,
            ending=grown.ending,
            engines=", ".join(sorted(set(matchup.versions.values()))),
        )


def run_tasks(
    tasks: Sequence[Task],
    workers: int,
    kept: Path | None = None,
    *,
    stop: Stop,
    tell: Callable[[Point, int, int], None] | None = None,
) -> list[Point]:
    """All points, in the order of the tasks; those in the file `kept` are not computed again.

    Each worker is a process of its own with one engine, so narrow trees leave no core idle. A stop
    request ends the workers; what their engines found is in the store.
    """
    done = {(p.side, p.key, json.dumps(p.setting)): p for p in read_points(kept)} if kept else {}
    names = {1: "", 2: ""}
    found: dict[int, Point] = {}
    for number, task in enumerate(tasks):
        names[task.side] = _side_name(task)
        point = done.get((names[task.side], task.key, json.dumps(task.setting)))
        if point is not None:
            found[number] = point
    rest = [number for number in range(len(tasks)) if number not in found]
    for number, point in _computed(tasks, rest, workers, stop):
        found[number] = point
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(point)) + "\n")
        if tell is not None:
            tell(point, len(found), len(tasks))
    return [found[number] for number in sorted(found)]


def _computed(
    tasks: Sequence[Task], rest: Sequence[int], workers: int, stop: Stop
) -> Iterator[tuple[int, Point]]:
    if not rest or stop.asked:
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(min(workers, len(rest)), context, initializer=_ignore_interrupts)
    try:
        futures = {executor.submit(run_task, tasks[number]): number for number in rest}
        with stop.interruptible():
            for future in as_completed(futures):
                yield futures[future], future.result()
    except KeyboardInterrupt:
        return
    except BrokenProcessPool:
        raise PreplayError("a worker process died; the same command goes on from here") from None
    finally:
        for process in list((executor._processes or {}).values()):
            process.terminate()
        executor.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole group; only the parent acts on it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _side_name(task: Task) -> str:
    return ("white", "black")[task.side - 1] if task.config.get("kind") == "chess" else str(task.side)


def read_points(path: Path) -> list[Point]:
    """Points kept by an earlier run; a last line cut off by a kill is passed over."""
    if not path.exists():
        return []
    points = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            points.append(Point(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return points


def as_csv(points: Sequence[Point], key: str, measures: Sequence[str]) -> str:
    """The points as CSV: side, setting, measures."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["side", key, *measures])
    for point in points:
        row = [getattr(point, m) for m in measures]
        writer.writerow(
            [point.side, point.setting, *(round(x, 6) if isinstance(x, float) else x for x in row)]
        )
    return text.getvalue()
