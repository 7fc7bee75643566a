"""Figures: the same result gives the same bytes, and everything has a place."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweeppoints import point

from preplay.experiments import figure1
from preplay.experiments.sweep import as_csv
from preplay.figures import figure1_figure, save_figure


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
