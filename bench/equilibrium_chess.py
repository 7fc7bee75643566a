"""Equilibrium methods on the public tree of a saved chess equilibrium: iterations and seconds to a gap.

preplay equilibrium chess --cost 2e-3 --set white.randomness=10 --set black.randomness=10 --save RUN
python bench/equilibrium_chess.py RUN --plot methods.svg
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from preplay import runs
from preplay.equilibria import METHODS, solve
from preplay.figures import save_figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--gap", type=float, default=1e-6)
    parser.add_argument("--iterations", type=int, default=20_000)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    run = runs.open_run(given.run)
    grown = run.tree()
    adopted = ~grown.open
    grown = replace(grown, open=np.zeros_like(grown.open))
    costs = tuple(run.identity["costs"])
    print(f"{grown.size:,} histories, costs {costs}; iterations and seconds to a gap of {given.gap:g}")
    traces = {}
    for method in (*METHODS, "lp"):
        found = solve(
            grown, costs, gap=given.gap, method=method, iterations=given.iterations, memorizable=adopted
        )
        reached = "" if found.solver_gap <= given.gap else f"  not reached: {found.solver_gap:.1e}"
        print(f"  {method:<16} {found.iterations:>7,} {found.seconds:>9.3f} s{reached}")
        traces[method] = found.trace
    if given.plot is not None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axis = figure.subplots()
        for method, trace in traces.items():
            if len(trace) > 1:
                width = 2.4 if method == "sweep" else 1.1
                points = [(max(1, p.iteration), max(p.gap, 1e-12)) for p in trace]
                axis.loglog(*zip(*points, strict=True), label=method, linewidth=width)
        axis.set_xlabel("iterations")
        axis.set_ylabel("certified gap")
        axis.grid(True, which="major", linewidth=0.4, alpha=0.5)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(fontsize=8, frameon=False)
        axis.set_title(f"The chess equilibrium, {grown.size:,} histories", loc="left", fontsize=11)
        save_figure(figure, given.plot)


if __name__ == "__main__":
    main()
