"""What a sweep or the paper's Figure 1 found: points with their measures, kept and found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from preplay.errors import StoreError
from preplay.experiments import figure1 as experiment
from preplay.experiments.figure1 import Reference
from preplay.experiments.sweep import Point, as_csv, column, marking, read_points, setting_text
from preplay.files import write_text
from preplay.runs.directory import FIGURES, POINTS, POINTS_TABLE, RESULT, RUN, Run
from preplay.runs.encoding import beside, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

MEASURED = ("value", "size")
"""What is told of each point unless something else is asked for."""


class SweepProgress(NamedTuple):
    """A point is done."""

    point: Point
    done: int
    total: int

    def __str__(self) -> str:
        p = self.point
        return (
            f"[{self.done}/{self.total}] {p.side} {p.key}={p.label}: value {p.value:.4f}, "
            f"size {p.size}, {p.searches:,} searches, {p.seconds:.0f} s"
        )


def _rows(result: SweepResult) -> list[dict[str, Any]]:
    """The points as the JSON tells them: side, setting, the chosen measures, how each ended."""
    return [
        {"side": p.side, column(result.key): p.setting}
        | {measure: p.measure(measure) for measure in result.measures}
        | {"ending": p.ending}
        | ({} if p.whole else {name: p.measure(name) for name in marking([p], result.measures)[0]})
        for p in result.points
    ]


@dataclass(frozen=True, kw_only=True)
class SweepResult:
    """The best books at many values of one setting."""

    key: str
    """The setting that varies."""
    points: tuple[Point, ...] = told(_rows, whole=True)
    """What was found at each value."""
    measures: tuple[str, ...] = beside(MEASURED)
    """What the JSON tells of each point."""
    columns: tuple[str, ...] = beside(MEASURED)
    """What the table tells of each point."""
    command: str = beside("sweep")
    """`sweep` or `figure1`."""
    cost: float | None = beside()
    """The price of a memorized history, where all points have the same."""
    published: tuple[Reference, ...] = beside(())
    """Points to draw as well."""
    name: str = beside("")
    """The matchup's name."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def csv(self) -> str:
        """The points as CSV: side, setting, measures."""
        return as_csv(self.points, self.key, self.columns)

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """A table, and the paper's figure; each point is in a file of its own as soon as it is done."""
        kept: dict[str, Callable[[Path], None]] = {POINTS_TABLE: partial(write_text, text=self.csv())}
        if self.command == "figure1":
            from preplay.figures import save_figure

            kept |= dict.fromkeys(FIGURES, lambda path: save_figure(self.plot(), path))
        return kept

    @classmethod
    def found(cls, run: Run) -> SweepResult:
        """The points of a `sweep` or `figure1` run, those of an unfinished one too."""
        points = read_points(run.path(POINTS))
        if not points:
            raise StoreError(
                f"{run.directory}: has no points yet; finish its `preplay {run.command} --save`"
            )
        key = run.identity.get("key", points[0].key)
        others = [p.key for p in points if p.key != key] if "key" in run.identity else []
        if others:
            raise StoreError(f"{run.path(POINTS)}: a point of {others[0]!r}; {RUN} says {key!r}")
        rows, settings = _kept_rows(run, key), column(key)
        place = {(str(row["side"]), setting_text(row.get(settings))): k for k, row in enumerate(rows)}
        points.sort(key=lambda p: place.get((str(p.side), p.label), len(place)))
        told_of = rows[0] if rows else dict.fromkeys(experiment.with_fresh(MEASURED, points))
        asked = takewhile(lambda name: name != "ending", told_of)  # what follows is of points cut short
        measures = tuple(name for name in asked if name not in ("side", settings))
        return cls(
            key=key,
            points=tuple(points),
            measures=measures,
            columns=experiment.with_fresh(experiment.COLUMNS, points)
            if run.command == "figure1"
            else measures,
            command=run.command,
            cost=run.identity.get("cost"),
            name=run.name,
            run=run,
        )

    def to_pandas(self) -> DataFrame:
        """A row for each point, with all that was measured: needs pandas."""
        from preplay.experiments.measures import BOOK
        from preplay.runs.tables import table

        rows = [
            {"side": p.side, column(self.key): p.setting, "ending": p.ending}
            | {name: p.measure(name) for name in (*BOOK, *p.besides)}
            for p in self.points
        ]
        besides = dict.fromkeys(name for p in self.points for name in p.besides)
        return table(rows, ("side", column(self.key), *BOOK, *besides, "ending"))

    def plot(self) -> Figure:
        """The measures against the setting, or the paper's Figure 1, as a matplotlib Figure."""
        from preplay.figures import figure1_figure, sweep_figure

        if self.command == "figure1":
            return figure1_figure(experiment.by_side(self.points), self.cost or 0.0, self.published)
        title = f"{self.name}, side {self.points[0].side}" if self.points else self.name
        return sweep_figure(self.points, column(self.key), self.measures, title)


def _kept_rows(run: Run, key: str) -> list[dict[str, Any]]:
    """The points as the kept result tells them; none where the sweep is not finished."""
    if not run.path(RESULT).exists():
        return []
    rows = run.read(RESULT).get("points")
    if not isinstance(rows, list) or any(
        not isinstance(row, dict)
        or "side" not in row
        or not row.keys() & {key, column(key)}
        or not isinstance(row["side"], str | int)
        for row in rows
    ):
        raise StoreError(f"{run.path(RESULT)}: damaged (points)")
    return rows
