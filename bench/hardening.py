"""Saved `preplay harden` runs beside each other: what a preparer nets, over price and loss.

for c in 1e-2 3e-3 1e-3; do
  preplay harden chess --side black --cost $c --choose 4 --margin 60 --save runs/hard-$c; done
python bench/hardening.py runs/hard-* --plot hardening.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

from matplotlib.figure import Figure

import preplay
from preplay.figures import save_figure
from preplay.runs.hardened import HardenResult


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    found: list[HardenResult] = [preplay.load_run(run) for run in given.runs]
    found.sort(key=lambda result: -result.cost)
    rows = {
        "without a book": [f"{r.unprepared:.4f}" for r in found],
        "as the side plays now": [_number(r.unhardened) for r in found],
        "best softmax, at least": [_number(r.before.value if r.before else None) for r in found],
        "  its r, gives away": [_told(r) for r in found],
        "the mix": [f"{r.value:.4f}" for r in found],
        "  certified in": [f"[{r.lower:.4f}, {r.upper:.4f}]" for r in found],
        "  gives away": [f"{r.loss:.5f}" for r in found],
        "  within any softmax's loss, at most": [
            f"{max(s.mix or 0.0 for s in r.softmax):.4f}" for r in found
        ],
        "  least lead over a softmax": [
            f"{min(s.value - (s.mix or 0.0) for s in r.softmax):.4f}" for r in found
        ],
        "choosing its moves": [_number(r.choosing[0] if r.choosing else None) for r in found],
        "  by the first values, before memory": [
            _number(r.choosing_judged.before if r.choosing_judged else None) for r in found
        ],
        "histories in the mix": [f"{r.policy.size:,}" for r in found],
        "rounds, searches of the judge": [
            "" if r.judged is None else f"{r.judged.rounds}, {r.judged.searches}" for r in found
        ],
        "histories, questions": [f"{r.histories:,}, {r.questions:,}" for r in found],
    }
    print("price".ljust(40) + "".join(f"{r.cost:>20g}" for r in found))
    for name, cells in rows.items():
        print(name.ljust(40) + "".join(cell.rjust(20) for cell in cells))
    if given.plot is not None:
        save_figure(figure(found), given.plot)


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.4f}"


def _told(result: HardenResult) -> str:
    best = result.before
    return "" if best is None else f"{best.randomness:g}, {best.loss:.5f}"


def figure(found: list[HardenResult]) -> Figure:
    """Over the price, and at the lowest price over what is given away."""
    drawing = Figure(figsize=(9.0, 3.8), layout="constrained")
    left, right = drawing.subplots(1, 2)
    costs = [r.cost for r in found]
    lines = {
        "as the side plays now": [r.unhardened for r in found],
        "best softmax (at least)": [r.before.value if r.before else None for r in found],
        "the mix (at most)": [r.upper for r in found],
        "without a book": [r.unprepared for r in found],
    }
    for (name, values), mark in zip(lines.items(), "s^o.", strict=True):
        left.plot(costs, values, marker=mark, label=name)
    left.set(xscale="log", xlabel="price of a memorized history", ylabel="the preparer nets")
    left.invert_xaxis()
    left.legend(fontsize=8)
    last = found[-1]
    right.plot(
        [s.loss for s in last.softmax], [s.value for s in last.softmax], "^-", label="softmax (at least)"
    )
    right.plot(
        [s.loss for s in last.softmax],
        [s.mix for s in last.softmax],
        "o",
        label="a mix that gives away no more (at most)",
    )
    right.plot([last.loss], [last.upper], "*", markersize=12, label="the mix")
    right.set(xlabel=f"given away to the unprepared, at a price of {last.cost:g}")
    right.legend(fontsize=8)
    return drawing


if __name__ == "__main__":
    main()
