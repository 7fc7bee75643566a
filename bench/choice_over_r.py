"""Saved runs of `preplay prepare --deviations D` beside each other: honest net and size over r.

for r in 1 10 30 100; do for d in 0 1 2; do
  preplay prepare chess --side white --cost 1e-3 --choose 3 --margin 40 --deviations $d \
    --set black.randomness=$r --set prep.multipv=3 --set value.model=linear --save runs/r$r-d$d
done; done
python bench/choice_over_r.py runs/r* --plot over_r.svg --csv over_r.csv

In place of runs it takes the table that it wrote before.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from matplotlib.figure import Figure

import preplay
from preplay.figures import save_figure
from preplay.runs.prepared import PrepareResult


@dataclass(frozen=True)
class Point:
    """One run, net of memory."""

    randomness: float
    deviations: int
    size: int
    promised: float
    fresh: float
    error: float
    upper: float
    unprepared: float
    ending: str
    rounds: int
    judged: int
    left: int
    histories: int
    questions: int


def point(directory: Path) -> Point:
    """The honest figures of a saved run; only what a judge and a fresh search have seen is taken."""
    run = preplay.load_run(directory, PrepareResult)
    judged = run.judged
    if judged is None or judged.fresh is None or run.run is None:
        raise SystemExit(f"{directory}: no fresh value; expected a judged run that had time for it")
    matchup = run.run.identity["matchup"]
    other = matchup["black" if run.side == "white" else "white"]
    paid = run.net - run.value
    return Point(
        other["randomness"],
        int(matchup["prep"].get("deviations", 0)),
        run.size,
        run.net,
        judged.fresh + paid,
        judged.error,
        run.upper,
        run.baseline,
        run.ending,
        judged.rounds,
        judged.searches,
        judged.left,
        run.histories,
        run.questions,
    )


def table(path: Path) -> list[Point]:
    """The points of a table that was written before."""
    kinds = {"int": int, "float": float, "str": str}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [Point(**{f.name: kinds[str(f.type)](row[f.name]) for f in fields(Point)}) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    found = [p for path in given.runs for p in (table(path) if path.suffix == ".csv" else [point(path)])]
    points = sorted(found, key=lambda p: (p.randomness, p.deviations))
    for p in points:
        print(
            f"r = {p.randomness:<6g} D = {p.deviations}  {p.size:3} histories  net {p.promised:.4f}, "
            f"fresh {p.fresh:.4f} ± {p.error:.4f}, upper {p.upper:.4f}, {p.ending}; "
            f"{p.rounds} rounds, {p.judged} judged, {p.left} left; {p.questions:,} questions"
        )
    if given.csv is not None:
        with given.csv.open("w", newline="", encoding="utf-8") as file:
            rows = csv.DictWriter(file, list(asdict(points[0])), lineterminator="\n")
            rows.writeheader()
            rows.writerows(asdict(p) for p in points)
    if given.plot is not None:
        save_figure(figure(points), given.plot)


def figure(points: list[Point]) -> Figure:
    """Net and size over r, one line for each D; what was cut short has an open mark."""
    drawing = Figure(figsize=(9.0, 3.8), layout="constrained")
    left, right = drawing.subplots(1, 2)
    for deviations, mark in zip(sorted({p.deviations for p in points}), "os^D", strict=False):
        mine = [p for p in points if p.deviations == deviations]
        over = [p.randomness for p in mine]
        others = f"at most {deviations} other move{'s' if deviations > 1 else ''} a line"
        name = "first choices alone" if deviations == 0 else others
        nets = [p.fresh for p in mine]
        (line,) = left.plot(over, nets, "-", label=name)
        left.errorbar(over, nets, [p.error for p in mine], fmt="none", color=line.get_color(), capsize=2)
        right.plot(over, [p.size for p in mine], "-", color=line.get_color(), label=name)
        for p in mine:
            face = line.get_color() if p.ending == "complete" else "white"
            for axes, height in ((left, p.fresh), (right, p.size)):
                axes.plot([p.randomness], [height], mark, color=line.get_color(), markerfacecolor=face)
    first = [p for p in points if p.deviations == 0]
    left.plot(
        [p.randomness for p in first], [p.unprepared for p in first], ":", color="grey", label="no book"
    )
    over = sorted({p.randomness for p in points})
    for axes, what in ((left, "net of memory, by a fresh search"), (right, "histories memorized")):
        axes.set(xscale="log", xlabel="the opponent's randomness r", ylabel=what)
        axes.set_xticks(over, [f"{r:g}" for r in over])
        axes.minorticks_off()
    right.set_ylim(bottom=0)
    left.legend(fontsize=8, loc=(0.02, 0.16))
    cut = "" if all(p.ending == "complete" for p in points) else "; open marks: cut short"
    drawing.suptitle(f"What choosing adds{cut}", fontsize=10)
    return drawing


if __name__ == "__main__":
    main()
