"""Figures: the same result gives the same bytes, and everything has a place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweeppoints import point

from preplay.experiments import figure1
from preplay.experiments.sweep import as_csv
from preplay.figures import BLUE, figure1_figure, save_figure, sweep_figure


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_result_gives_the_same_figure(kind: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    for path in (first, second):
        save_figure(figure1_figure({"white": [point("white", 0.1), point("white", 1.0)]}, 1e-3), path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.filterwarnings("error")
def test_figure_1_has_a_place_for_no_randomness(tmp_path: Path) -> None:
    path = tmp_path / "f.svg"
    published = [figure1.Reference("white", 0.0, 0.9, 10), figure1.Reference("white", 1.0, 0.8, 20)]
    points = [point("white", 0.0), point("white", 0.1), point("white", 100.0)]
    save_figure(figure1_figure({"white": points}, 1e-3, published), path)
    assert "r = 0" in path.read_text()
    save_figure(figure1_figure({"white": points[1:]}, 1e-3), path)
    assert "r = 0" not in path.read_text()
    save_figure(figure1_figure({"white": points[:1], "black": [point("black", 0)]}, 1e-3), path)
    save_figure(figure1_figure({}, 1e-3), path)


def test_figure_1_over_published_points_and_another_figure(tmp_path: Path) -> None:
    """Both kinds of CSV are read, and each curve has its own style and name."""
    (tmp_path / "theirs.csv").write_text("side,randomness,utility,size\nwhite,1,0.5,3\nwhite,10,0.4,5\n")
    ours = as_csv([point("white", 1.0), point("white", 10.0)], "randomness", figure1.COLUMNS)
    (tmp_path / "dearer.csv").write_text(ours)
    read = [p for name in ("theirs", "dearer") for p in figure1.read_reference(tmp_path / f"{name}.csv")]
    assert [(p.name, p.utility) for p in read[:2]] == [("theirs", 0.5), ("theirs", 0.4)]
    assert [p.utility for p in read[2:]] == [point("white", 1.0).value] * 2
    figure = figure1_figure({"white": [point("white", 1.0), point("white", 10.0)]}, 1e-3, read)
    assert {"theirs", "dearer"} <= {text.get_text() for text in figure.legends[0].get_texts()}
    drawn = {line.get_linestyle() for axes in figure.axes for line in axes.get_lines()}
    assert {":", "-."} <= drawn


def drawn(panel: Any) -> tuple[list[float], list[list[float]]]:
    """Where a panel has hollow points, and its bounds: place, lower, upper."""
    hollow = [line for line in panel.get_lines() if line.get_markerfacecolor() == "white"]
    assert all(line.get_color() == BLUE for line in hollow)
    ends = [np.asarray(span) for lines in panel.collections for span in lines.get_segments()]
    return (
        [float(x) for line in hollow for x in line.get_xdata()],
        [[float(span[0, 0]), *span[:, 1].tolist()] for span in ends],
    )


def test_each_measure_is_marked_where_it_was_cut_itself(tmp_path: Path) -> None:
    """A book is whole though its equilibrium is not, and has bounds only where it was cut."""

    def at(r: float, ending: str, low: float, high: float) -> Any:
        bounds = {"equilibrium": 0.5, "equilibrium_lower": low, "equilibrium_upper": high}
        return point(1, r, ending=ending, besides={"entropy": 1.0} | bounds)

    points = [
        at(3.0, "histories, bounds: seconds, equilibrium: gap", 0.25, 0.75),
        at(1.0, "complete", 0.5, 0.5),
        at(2.0, "equilibrium: histories", 0.375, 0.625),
        at(4.0, "seconds", 0.4375, 0.5625),  # solved, to the wide gap that was asked for
    ]
    figure = sweep_figure(points, "randomness", ("net", "size", "equilibrium", "entropy"))
    net, size, equilibrium, entropy = (drawn(panel) for panel in figure.axes)
    assert net == ([3.0, 4.0], [[3.0, 0.88, 0.89], [4.0, 0.88, 0.89]])
    assert size == ([3.0, 4.0], [])
    wide = [[2.0, 0.375, 0.625], [3.0, 0.25, 0.75], [4.0, 0.4375, 0.5625]]
    assert equilibrium == ([2.0, 3.0], wide)
    assert entropy == ([3.0], [])
    legends = [panel.get_legend() for panel in figure.axes]
    told = [[text.get_text() for text in legend.get_texts()] for legend in legends if legend]
    assert told == [["certified bounds", "cut short"], ["cut short"]] * 2
    save_figure(figure, tmp_path / "f.png")


def test_numbers_are_drawn_from_left_to_right() -> None:
    points = [point(1, r, size=int(10 * r)) for r in (0.4, 0.1, 2)]
    (panel,) = sweep_figure(points, "randomness", ["size"]).axes
    (line,) = panel.get_lines()
    assert np.asarray(line.get_xdata()).tolist() == [0.1, 0.4, 2.0]
    assert np.asarray(line.get_ydata()).tolist() == [1, 4, 20]
    assert panel.get_legend() is None
    assert panel.get_xscale() == "log"
    (panel,) = sweep_figure([point(1, "b"), point(1, "a")], "model", ["size"]).axes
    assert [text.get_text() for text in panel.get_xticklabels()] == ["b", "a"]
