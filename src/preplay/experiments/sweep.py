"""One setting over many values: a best book each, on all cores, resumable."""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from preplay import journal
from preplay.experiments.measures import BOOK, BOUNDS, CERTIFIED, EQUILIBRIUM, MEASURES
from preplay.experiments.workers import computed
from preplay.frozen import freeze
from preplay.game import Side
from preplay.growth import Limits
from preplay.matchup import Matchup
from preplay.matchup.source import BY_ENGINES, from_config
from preplay.stopping import NEVER, Stop
from preplay.text import cell


@dataclass(frozen=True)
class Besides:
    """What is measured besides the best book."""

    bounds: tuple[float, float] | None = None
    """Theorem 1's advantage and ε."""
    gap: float | None = None
    """The certified gap that an equilibrium is solved to."""


@dataclass(frozen=True)
class Point:
    """One best book of a sweep, from the point of view of its side."""

    side: str | int
    """What it is called in results: 1 or 2, in chess `white` or `black`."""
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
    """`complete`, or what cut the book short, and what cut anything else short, by its name."""
    engines: str = ""
    """Which engines answered."""
    fresh: float | None = None
    """What a search that took no part in the choice says of the book, where one was asked."""
    besides: Mapping[str, int | float | None] = field(default_factory=dict)
    """What was measured besides the book; None: beyond all numbers."""

    def __post_init__(self) -> None:
        freeze(self)
        if isinstance(self.side, str) and self.side.isdecimal():  # as older versions kept it
            object.__setattr__(self, "side", int(self.side))

    @property
    def whole(self) -> bool:
        """Whether nothing cut the work short; else `upper` says how much more there may be."""
        return self.ending == "complete"

    def cut(self, measure: str) -> bool:
        """Whether the work that a measure rests on was cut short: the book's, or what has its own."""
        whose = "equilibrium" if measure in EQUILIBRIUM else "bounds" if measure in BOUNDS else ""
        whose = "lemma 1" if measure == "reached" else whose
        short = [] if self.whole else self.ending.split(", ")
        return any(part.rpartition(": ")[0] == whose for part in short)

    def between(self, measure: str) -> tuple[float, float] | None:
        """The certified bounds of a measure that has them: the net of a cut book, an equilibrium."""
        if measure == "net" and self.cut(measure):
            return self.net, self.upper
        low, high = (self.besides.get(f"equilibrium_{name}") for name in ("lower", "upper"))
        return None if measure != "equilibrium" or low is None or high is None else (low, high)

    @property
    def gain(self) -> float:
        """What the book earns over no preparation."""
        return self.value - self.unprepared

    def measure(self, name: str) -> float | None:
        """One of `MEASURES`; sizes and counts are integers."""
        if name in self.besides:
            return self.besides[name]
        number: float = getattr(self, name)
        return number

    @property
    def label(self) -> str:
        """The setting as text."""
        return setting_text(self.setting)


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
    label: str
    """What the side is called."""
    cluster: str | None = None
    """Where its engines are; None: here."""
    engines: int = 1
    """How many of them."""
    afresh: bool = False
    """Whether the matchup's judge takes no part in the choice, but values the chosen book afresh."""
    besides: Besides = Besides()


Opening = Callable[[Task], AbstractContextManager[Matchup[Any]]]
"""How a task comes to its matchup."""


def opened(task: Task) -> AbstractContextManager[Matchup[Any]]:
    """The matchup that a task's configuration names, with the task's own engines."""
    return from_config(
        task.name, task.config, workers=task.engines, store=task.store, cluster=task.cluster
    )


@dataclass(frozen=True)
class Determined:
    """What determines the results of tasks."""

    shared: Mapping[str, Any]
    """The matchup, as it says itself what it is, and the cost, where all tasks have them in common."""
    own: Mapping[str, Mapping[str, Any]]
    """By the text of its setting: what a task has of its own."""
    versions: Mapping[str, str]
    """Engines and libraries that make the answers."""


def determine(tasks: Sequence[Task], opening: Opening = opened) -> Determined:
    """Open each matchup once, searching nothing: engines and files tell which they are.

    Raises what the tasks would raise for settings, files or engines that cannot be used.
    """
    from preplay.response import check_cost

    known: dict[str, dict[str, Any]] = {}
    points: dict[str, dict[str, Any]] = {}
    versions: dict[str, list[str]] = {}
    for task in tasks:
        config = json.dumps([task.config, task.cost, task.setting if opening is not opened else None])
        if config not in known:
            with opening(task) as matchup:
                cost = task.cost if task.budget is not None else matchup.cost(task.side, task.cost)
                if cost is not None:
                    check_cost(cost)
                known[config] = {"matchup": matchup.identity, "cost": cost}
                for name, version in matchup.versions.items():
                    versions.setdefault(name, []).append(version)
        points[setting_text(task.setting)] = known[config]
    shared = _shared(list(points.values()))
    return Determined(
        shared,
        {setting: own for setting, point in points.items() if (own := _own(point, shared))},
        {name: ", ".join(dict.fromkeys(found)) for name, found in versions.items()},
    )


def _shared(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all tables say, and say alike."""
    shared: dict[str, Any] = {}
    for key in (key for key in tables[0] if all(key in table for table in tables)):
        values = [table[key] for table in tables]
        if all(isinstance(value, dict) for value in values):
            shared[key] = _shared(values)
        elif all(value == values[0] for value in values):
            shared[key] = values[0]
    return shared


def _own(table: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """What a table says beyond what is shared."""
    own: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and key in shared:
            if inner := _own(value, shared[key]):
                own[key] = inner
        elif key not in shared:
            own[key] = value
    return own


def setting_text(setting: Any) -> str:
    """A setting as people read it: plain text as it is, all else as JSON."""
    return setting if isinstance(setting, str) else json.dumps(setting)


def column(key: str) -> str:
    """What the column of a setting is called: as the setting, unless another column has that name."""
    return "setting" if key in ("side", "ending", *MEASURES) else key


def run_task(task: Task, opening: Opening = opened, stop: Stop = NEVER) -> Point:
    """Prepare at one setting, and measure what is asked for besides; a stop request cuts it short."""
    from preplay.judging import afresh
    from preplay.preparation import prepare

    with opening(task) as matchup:
        judge = matchup.judge if task.afresh else None
        chooser = replace(matchup, judge=None) if task.afresh else matchup
        prepared = prepare(chooser, task.side, task.cost, task.budget, task.limits, stop=stop)
        best, grown = prepared.response, prepared.grown
        fresh = prepared.judged.fresh if prepared.judged else None
        if judge is not None:
            found = afresh(matchup.game, judge.value, prepared, stop)
            fresh = found.value if found else None
        besides, endings = _besides(matchup, task, stop)
        short: list[str] = [grown.ending] if grown.ending != "complete" else []
        short += [f"{what}: {ending}" for what, ending in endings.items() if ending != "complete"]
        return Point(
            side=matchup.label(task.side),
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
            ending=", ".join(short) or "complete",
            engines=", ".join(sorted(set(matchup.versions.values()))),
            fresh=fresh,
            besides=besides,
        )


def _besides(
    matchup: Matchup[Any], task: Task, stop: Stop
) -> tuple[dict[str, int | float | None], dict[str, str]]:
    """What a task asks for besides the book, and how each of it ended."""
    found: dict[str, int | float | None] = {}
    endings: dict[str, str] = {}
    if task.besides.bounds is not None:
        from preplay.bounding import bound

        bounded = bound(matchup, task.side, *task.besides.bounds, task.cost, task.limits, stop=stop)
        first = bounded.theorem1
        assert first is not None  # an advantage and ε were given
        most = first.size_bound if math.isfinite(first.size_bound) else None
        numbers = (first.entropy, first.p_norm, first.firsts, most, first.guarantee, bounded.lemma1.count)
        found |= dict(zip(BOUNDS, numbers, strict=True))
        endings |= {"bounds": bounded.ending, "lemma 1": bounded.counting}
    if task.besides.gap is not None:
        from preplay.equilibria.contest import contest

        costs = matchup.cost(1, task.cost), matchup.cost(2, task.cost)
        result = contest(
            matchup,
            costs,
            gap=task.besides.gap,
            seconds=task.limits.seconds,
            limits=task.limits,
            stop=stop,
            one_by_one=False,
        )
        solved, me = result.equilibrium, task.side - 1
        bounds = (solved.value, solved.lower, solved.upper)
        if task.side == 2:
            bounds = (1.0 - solved.value, 1.0 - solved.upper, 1.0 - solved.lower)
        mine = solved.gap, solved.expected_size[me], result.entropy[me].play
        found |= dict(zip(EQUILIBRIUM, (*bounds, *mine), strict=True))
        short = solved.gap > task.besides.gap
        grown = result.grown.ending
        endings["equilibrium"] = "gap" if short and grown == "complete" else grown
    return found, endings


def run_tasks(
    tasks: Sequence[Task],
    workers: int,
    kept: Path | None = None,
    *,
    stop: Stop,
    tell: Callable[[Point, int, int], None] | None = None,
    opening: Opening | None = None,
) -> list[Point]:
    """All points, in the order of the tasks; those in the file `kept` are not computed again.

    Each worker is a process of its own with one engine, so narrow trees leave no core idle. A stop
    request ends the workers; what their engines found is in the store. With an `opening` of its own all
    is done in this process, and so are points that take less time than it takes to start another.
    """
    known = read_points(kept) if kept else []
    done = {(str(p.side), p.key, json.dumps(p.setting)): p for p in known}
    found: dict[int, Point] = {}
    for number, task in enumerate(tasks):
        point = done.get((task.label, task.key, json.dumps(task.setting)))
        if point is not None:
            found[number] = point
    rest = [number for number in range(len(tasks)) if number not in found]
    left = [tasks[number] for number in rest]
    points = _spread(left, workers, stop) if opening is None else _here(left, opening, stop)
    for place, point in points:
        found[rest[place]] = point
        if kept is not None:
            journal.append(kept, point)
        if tell is not None:
            tell(point, len(found), len(tasks))
    return [found[number] for number in sorted(found)]


def _here(tasks: Sequence[Task], opening: Opening, stop: Stop) -> Iterator[tuple[int, Point]]:
    """The number and the point of each task, one after the other; none that a stop cut short."""

    def whole(task: Task) -> Point | None:
        point = run_task(task, opening, stop)
        return None if stop.asked else point

    for number, task in enumerate(tasks):
        point = None if stop.asked else whole(task)
        if point is None:
            return
        yield number, point


QUICK = 0.8
"""Seconds for points in this process: about as much as it takes to start another."""


def _spread(tasks: Sequence[Task], workers: int, stop: Stop) -> Iterator[tuple[int, Point]]:
    """The number and the point of each task: by this process as far as it is quick, then by workers."""
    done = 0
    if not any(task.config.get("kind") in BY_ENGINES for task in tasks):
        for number, point in _here(tasks, opened, stop.until(time.monotonic() + QUICK)):
            yield number, point
            done += 1
    for number, point in computed(run_task, tasks[done:], workers, stop):
        yield done + number, point


def read_points(path: Path) -> list[Point]:
    """Points kept by an earlier run; a last line cut off by a kill is passed over."""
    return journal.records(path, Point)


def as_csv(points: Sequence[Point], key: str, measures: Sequence[str]) -> str:
    """The points as CSV: side, setting, measures; and where one was cut short, its bound and why."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    shown, marked = marking(points, measures)
    writer.writerow(["side", column(key), *shown, *(["ending"] if marked else [])])
    for point in points:
        row = [point.measure(m) for m in shown]
        numbers = [round(x, 6) if isinstance(x, float) else x for x in row]
        ending = [point.ending] if marked else []
        writer.writerow([point.side, cell(point.label), *numbers, *ending])
    return text.getvalue()


def marking(points: Sequence[Point], measures: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The measures to show, and whether to show how points ended: where one was cut short.

    Bounds are shown then too: what the best book may net at most, and between what an equilibrium lies.
    """
    if all(point.whole for point in points):
        return tuple(measures), False
    bounds = [
        bound
        for bound in CERTIFIED
        if any(name in (BOOK if bound in BOOK else EQUILIBRIUM) for name in measures)
    ]
    return (*measures, *(name for name in bounds if name not in measures)), True
