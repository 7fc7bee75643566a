"""Figures of results. Matplotlib's object interface: no global state, no windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from preplay.errors import InputError
from preplay.files import check_writable, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from preplay.equilibria import SolverProgress
    from preplay.experiments.figure1 import Reference
    from preplay.experiments.sweep import Point
    from preplay.logistic import Bin, Curve

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#666666"
"""Colours that colour-blind people tell apart (Okabe and Ito)."""


def frontier_figure(
    points: Sequence[tuple[float, int, float]],
    unprepared: float,
    title: str = "",
    memorized: str = "histories",
) -> Figure:
    """Value against memory, with the price at which each size is bought on a second axis.

    `points` are the cost, size and value of each best book, by falling cost; `memorized` is what is
    counted.
    """
    figure, axis = new_figure()
    sizes = np.array([0, *(size for _, size, _ in points)])
    values = np.array([unprepared, *(value for _, _, value in points)])
    axis.plot(
        sizes, values, color=BLUE, linewidth=2, marker="o", markersize=3.5, label="value of the best book"
    )
    axis.axhline(unprepared, color=GREY, linewidth=1, linestyle=":")
    axis.annotate("no preparation", (sizes[-1], unprepared), (-4, 4), textcoords="offset points",
                  ha="right", color=GREY, fontsize=9)  # fmt: skip
    _in_wholes(axis.xaxis)
    axis.set_xlabel(f"memorized {memorized}")
    axis.set_ylabel("value for the side", color=BLUE)
    if points:
        price = axis.twinx()
        costs = [cost for cost, _, _ in points]
        price.step(sizes, [costs[0], *costs], where="pre", color=ORANGE, linewidth=1.2)
        price.set_yscale("log")
        price.margins(y=0.2)  # clear of the line below
        _plain_numbers(price.yaxis)
        price.set_ylabel("cost below which it pays", color=ORANGE)
        price.spines["top"].set_visible(False)
    axis.set_title(title or "Memory against value", loc="left", fontsize=11)
    return figure


def _in_wholes(axis: Axis) -> None:
    """Ticks at whole numbers alone: nobody memorizes half a history."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def _plain_numbers(axis: Axis) -> None:
    """A few ticks of a logarithmic axis, written as prices are: 0.02, not as a power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())


def _blank(width: float, height: float) -> Figure:
    """An empty figure, which notebooks show although pyplot does not know it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    vars(figure).update(_repr_png_=partial(_as_png, figure))
    return figure


def _as_png(figure: Figure) -> bytes:
    picture = BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def new_figure(width: float = 7.0, height: float = 4.2) -> tuple[Figure, Any]:
    """A figure with one plain axis."""
    figure = _blank(width, height)
    axis = figure.subplots()
    axis.spines["top"].set_visible(False)
    axis.grid(True, linewidth=0.4, alpha=0.5)
    return figure, axis


def check_figure(path: Path) -> None:
    """Raise InputError unless a figure can be written to `path`; ask before long work."""
    _check_kind(path)
    check_writable(path)


def _check_kind(path: Path) -> None:
    kinds = (".svg", ".png", ".pdf")
    if path.suffix.lower() not in kinds:
        raise InputError(f"figure '{path}'; expected a name ending in {', '.join(kinds)}")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format its suffix names."""
    from matplotlib import rc_context

    _check_kind(path)
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "preplay"}):
        # No date in the file and no ids by chance: the same result gives the same bytes.
        stamp: dict[str, None] = {} if path.suffix.lower() == ".png" else {"Date": None}
        if path.suffix.lower() == ".pdf":
            stamp = {"CreationDate": None}
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, metadata=stamp)


def figure1_figure(
    sides: Mapping[str, Sequence[Point]], cost: float, published: Sequence[Reference] = ()
) -> Figure:
    """The paper's Figure 1: U (thick, left axis) and |S| (thin, right axis) against log10 r.

    r = 0, which has no logarithm, has its own place at the left.
    """
    from matplotlib.lines import Line2D

    figure = _blank(7.2, 3.4 * max(1, len(sides)))
    axes = np.atleast_1d(figure.subplots(max(1, len(sides)), 1, sharex=True))
    met = [float(p.setting) for points in sides.values() for p in points]
    met += [p.randomness for p in published if p.side in sides]
    logs = [math.log10(r) for r in met if r > 0.0] or [0.0]
    ticks = range(math.floor(min(logs)), math.ceil(max(logs)) + 1)
    zero = ticks[0] - 1
    names = dict.fromkeys(p.name for p in published)
    styles: dict[str, Any] = dict(zip(names, itertools.cycle((":", "-.", "--")), strict=False))
    for axis, (side, points) in zip(axes, sides.items(), strict=False):
        r = [_log_or(zero, float(p.setting)) for p in points]
        values = [p.value for p in points]
        axis.plot(r, values, color=BLUE, linewidth=3, marker="o", markersize=4)
        _mark_cut(axis, r, values, points, "value")
        if not all(p.whole for p in points):
            axis.fill_between(r, [p.net for p in points], [p.upper for p in points], color=BLUE,
                              alpha=0.15, linewidth=0)  # fmt: skip
        again = [(x, p.fresh) for x, p in zip(r, points, strict=True) if p.fresh is not None]
        if again:
            axis.plot(*zip(*again, strict=True), color=GREEN, linewidth=1.6, linestyle="--", marker="D",
                      markersize=4)  # fmt: skip
        axis.set_ylabel("U", color=BLUE, rotation=0, labelpad=12)
        least = min(p.value if p.fresh is None else min(p.value, p.fresh) for p in points)
        axis.set_ylim(min(0.45, least) - 0.02, 1.03)
        axis.grid(True, linewidth=0.4, alpha=0.5)
        axis.spines["top"].set_visible(False)
        axis.set_title(f"{side.capitalize()} prepares", loc="left", fontsize=11)
        size = axis.twinx()
        size.plot(r, [p.size for p in points], color=ORANGE, linewidth=1.1, marker="s", markersize=3)
        size.set_ylabel("|S|", color=ORANGE, rotation=0, labelpad=12)
        theirs = [p for p in published if p.side == side]
        size.set_ylim(0, 1.08 * max(1, *(p.size for p in points), *(p.size for p in theirs)))
        size.spines["top"].set_visible(False)
        _draw_published((axis, size), theirs, styles, zero)
    if 0.0 in met:
        axes[-1].set_xticks([zero, *ticks], ["r = 0", *map(str, ticks)])
    axes[-1].set_xlabel("log10 r, the opponent's randomness in centipawns")
    handles = [
        Line2D([], [], color=BLUE, linewidth=3, marker="o", label="U, memory not subtracted (left)"),
        Line2D([], [], color=ORANGE, linewidth=1.1, marker="s", label="|S|, memorized histories (right)"),
    ]
    if any(p.fresh is not None for points in sides.values() for p in points):
        label = "U by a fresh search (left)"
        handles.append(Line2D([], [], color=GREEN, linestyle="--", marker="D", label=label))
    if not all(p.whole for points in sides.values() for p in points):
        label = "net of memory: the best book lies between"
        handles.append(Line2D([], [], color=BLUE, alpha=0.15, linewidth=7, label=label))
    for name, style in styles.items():
        handles.append(Line2D([], [], color=GREY, linestyle=style, label=name))
    figure.legend(handles=handles, fontsize=8.5, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        f"What preparation is worth against a randomizing opponent (cost {cost:g})", fontsize=11
    )
    return figure


def _draw_published(
    axes: tuple[Axes, Axes], points: Sequence[Reference], styles: Mapping[str, Any], zero: float
) -> None:
    """U and |S| of other curves, each in its own style."""
    for name, style in styles.items():
        named = [p for p in points if p.name == name]
        at = [_log_or(zero, p.randomness) for p in named]
        utility, sizes = [p.utility for p in named], [p.size for p in named]
        axes[0].plot(at, utility, color=BLUE, linewidth=1.6, linestyle=style, alpha=0.8)
        axes[1].plot(at, sizes, color=ORANGE, linewidth=0.9, linestyle=style, alpha=0.8)


def _log_or(zero: float, r: float) -> float:
    return math.log10(r) if r > 0.0 else zero


def _mark_cut(
    axis: Axes, at: Sequence[float], shown: Sequence[float], points: Sequence[Point], measure: str
) -> None:
    """Points whose measure was cut short are hollow; bounds that can be seen are lines."""
    low, high = axis.get_ylim()
    spans = [(x, *span) for x, p in zip(at, points, strict=True) if (span := p.between(measure))]
    seen = [span for span in spans if span[2] - span[1] > 0.01 * (high - low)]
    if seen:
        axis.vlines(*zip(*seen, strict=True), color=GREY, linewidth=1.2, label="certified bounds")
    cut = [k for k, point in enumerate(points) if point.cut(measure)]
    if cut:
        axis.plot(
            [at[k] for k in cut],
            [shown[k] for k in cut],
            color=BLUE,
            linestyle="",
            marker="o",
            markersize=6,
            markerfacecolor="white",
            label="cut short",
        )
    if cut or seen:
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
        axis.legend(frameon=False, fontsize=8, ncols=2, **above)


def sweep_figure(points: Sequence[Point], key: str, measures: Sequence[str], title: str = "") -> Figure:
    """Each measure against the setting; a logarithmic axis where the values span decades."""
    figure = _blank(7.0, 2.6 * len(measures) + 0.4)
    axes = np.atleast_1d(figure.subplots(len(measures), 1, sharex=True))
    plain = all(isinstance(p.setting, (int, float)) and not isinstance(p.setting, bool) for p in points)
    if plain:  # a line from left to right
        points = sorted(points, key=lambda p: float(p.setting))
    at = [float(p.setting) for p in points] if plain else list(range(len(points)))
    for axis, measure in zip(axes, measures, strict=True):
        numbers = [p.measure(measure) for p in points]
        shown = [math.nan if number is None else number for number in numbers]
        axis.plot(at, shown, color=BLUE, linewidth=2, marker="o", markersize=4)
        _mark_cut(axis, at, shown, points, measure)
        axis.set_ylabel(measure)
        if measure == "size":
            _in_wholes(axis.yaxis)
        axis.grid(True, linewidth=0.4, alpha=0.5)
        axis.spines[["top", "right"]].set_visible(False)
    if plain and points and min(at) > 0 and max(at) / min(at) >= 20:
        axes[-1].set_xscale("log")
        if max(at) / min(at) <= 1000:  # more would not have room
            _plain_numbers(axes[-1].xaxis)
    if not plain:
        axes[-1].set_xticks(at, [p.label for p in points], rotation=30, ha="right")
    axes[-1].set_xlabel(key)
    figure.suptitle(title, fontsize=11)
    return figure


def trace_figure(trace: Sequence[SolverProgress], title: str = "") -> Figure:
    """The certified gap of an equilibrium against iterations and against seconds, on log axes."""
    figure = _blank(8.0, 3.6)
    left, right = figure.subplots(1, 2, sharey=True)
    gaps = [max(point.gap, 1e-16) for point in trace]
    left.loglog([max(1, point.iteration) for point in trace], gaps, color=BLUE, marker="o", markersize=3)
    right.loglog(
        [max(1e-6, point.seconds) for point in trace], gaps, color=BLUE, marker="o", markersize=3
    )
    left.set_xlabel("iterations")
    right.set_xlabel("seconds")
    left.set_ylabel("certified gap")
    seconds = [point.seconds for point in trace if point.seconds > 0.0]
    if seconds and max(seconds) < 10.0 * min(seconds):  # less than a decade: log ticks would collide
        right.set_xscale("linear")
        right.locator_params(axis="x", nbins=4)
    for axis in (left, right):
        axis.grid(True, which="both", linewidth=0.3, alpha=0.5)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=11)
    return figure


def reliability_figure(curve: Curve, bins: Sequence[Bin], title: str) -> Figure:
    """What was played against the score, and the curve through it with its 95 % band."""
    from preplay.judging import CONFIDENT

    figure, axis = new_figure()
    shown = max([2.0, *(max(abs(b.low), abs(b.high)) for b in bins)])
    pawns = np.linspace(-min(shown, 6.0), min(shown, 6.0), 121)
    scores = [curve.score(x) for x in pawns.tolist()]
    turning = zip(*curve.turning(np.array(scores)), strict=True)
    band = [CONFIDENT * curve.error_along(float(a), float(b)) for a, b in turning]
    low, high = (np.clip(np.add(scores, sign * np.array(band)), 0.0, 1.0) for sign in (-1.0, 1.0))
    axis.fill_between(pawns, low, high, color=BLUE, alpha=0.15, linewidth=0)
    axis.plot(pawns, scores, color=BLUE, linewidth=2, label="fitted")
    inside = [b for b in bins if b.positions]
    middle = [
        float(np.clip(curve.pawns(min(0.999, max(0.001, b.expected))), pawns[0], pawns[-1]))
        for b in inside
    ]
    axis.errorbar(middle, [b.played for b in inside], yerr=[CONFIDENT * b.error for b in inside], fmt="o",
                  color=ORANGE, markersize=4, capsize=2, label="played (95 %)")  # fmt: skip
    axis.set_xlabel("the engine's score for White, in pawns")
    axis.set_ylabel("result for White")
    axis.set_ylim(0.0, 1.0)
    axis.legend(frameon=False, loc="upper left")
    axis.set_title(title, loc="left", fontsize=11)
    return figure
