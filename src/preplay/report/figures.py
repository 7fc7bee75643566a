"""Figures of results. Matplotlib's object interface: no global state, files only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from preplay.errors import InputError
from preplay.files import replacing
from preplay.response import Frontier

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#666666"
"""Colours that colour-blind people tell apart (Okabe and Ito)."""


def plot_frontier(front: Frontier, path: Path, title: str = "") -> None:
    """Value against memory, with the price at which each size is bought on a second axis."""
    figure, axis = new_figure()
    sizes = np.concatenate(([0], front.size))
    values = np.concatenate(([front.unprepared], front.value))
    axis.plot(
        sizes, values, color=BLUE, linewidth=2, marker="o", markersize=3.5, label="value of the best book"
    )
    axis.axhline(front.unprepared, color=GREY, linewidth=1, linestyle=":")
    axis.annotate("no preparation", (sizes[-1], front.unprepared), (-4, 4), textcoords="offset points",
                  ha="right", color=GREY, fontsize=9)  # fmt: skip
    axis.set_xlabel("memorized histories")
    axis.set_ylabel("value for the side", color=BLUE)
    if len(front.cost):
        price = axis.twinx()
        price.step(front.size, front.cost, where="pre", color=ORANGE, linewidth=1.2)
        price.set_yscale("log")
        price.set_ylabel("cost below which it pays", color=ORANGE)
        price.spines["top"].set_visible(False)
    axis.set_title(title or "Memory against value", loc="left", fontsize=11)
    save_figure(figure, path)


def new_figure(width: float = 7.0, height: float = 4.2) -> tuple[Any, Any]:
    """A figure with one plain axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axis = figure.subplots()
    axis.spines["top"].set_visible(False)
    axis.grid(True, linewidth=0.4, alpha=0.5)
    return figure, axis


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format its suffix names."""
    kinds = (".svg", ".png", ".pdf")
    if path.suffix.lower() not in kinds:
        raise InputError(f"figure '{path}'; expected a name ending in {', '.join(kinds)}")
    with replacing(path) as temporary:
        # No date in the file: the same result gives the same bytes.
        stamp: dict[str, None] = {} if path.suffix.lower() == ".png" else {"Date": None}
        if path.suffix.lower() == ".pdf":
            stamp = {"CreationDate": None}
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, metadata=stamp)
