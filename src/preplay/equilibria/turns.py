"""Growing and solving in turns: the tree is expanded where a best response could still gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from preplay.equilibria.hopes import promise
from preplay.equilibria.minimizing import SolverProgress
from preplay.equilibria.publicgame import Mixed, certify
from preplay.equilibria.solvers import Equilibrium, solve
from preplay.game import S
from preplay.growth import Contested, ContestedGrowth
from preplay.stopping import Stop
from preplay.tree import Floats

WIDTH = 32
"""Open histories expanded between two solutions, at least; at most a quarter of the tree."""


@dataclass
class Solver:
    """Solves a growing tree again and again, and counts all of that as one piece of work."""

    costs: tuple[float, float]
    method: str
    iterations: int | None
    seconds: float | None
    stop: Stop
    progress: Callable[[SolverProgress], None] | None
    trace: list[SolverProgress] = field(default_factory=list)
    iterated: int = 0
    spent: float = 0.0

    def solved(self, grown: Contested, start: Mixed | None, gap: float, *, told: bool) -> Equilibrium:
        """The equilibrium on a tree; `told` where it is not on the way to a larger one."""
        found = solve(
            grown.tree,
            self.costs,
            gap=gap,
            method=self.method,
            iterations=self.iterations,
            seconds=self.seconds,
            start=start if self.method != "lp" else None,
            memorizable=grown.memorizable,
            progress=self.progress if told else None,
            stop=lambda: self.stop.asked,
        )
        steps = (SolverProgress(self.iterated + i, self.spent + s, g) for i, s, g in found.trace)
        self.trace.extend(steps)
        self.iterated, self.spent = self.iterated + found.iterations, self.spent + found.seconds
        return replace(found, iterations=self.iterated, seconds=self.spent, trace=tuple(self.trace))

    def take_up(self, found: Equilibrium) -> Equilibrium:
        """Count what an earlier run did."""
        self.trace.extend(found.trace)
        self.iterated, self.spent = found.iterations, found.seconds
        return found


def in_turns(growth: ContestedGrowth[S], solver: Solver, gap: float) -> tuple[Contested, Equilibrium]:
    """Grow and solve in turns until the gap is as asked, nothing in W is left, or a limit is reached."""
    stop, costs = solver.stop, solver.costs
    grown = growth.grown()
    kept = _recalled(growth, grown, costs)
    found = solver.solved(grown, None, gap, told=True) if kept is None else solver.take_up(kept)
    best = grown, found
    while growth.ending == "complete":
        if not stop.asked:  # else the solver may have been stopped on its way
            growth.mark(**_remembered(grown, found))
        if growth.due:
            growth.save()
        if found.open_error <= gap / 4.0:
            if found.solver_gap <= gap:
                break
            found = solver.solved(grown, found.x, gap, told=True)
            if found.open_error <= gap / 4.0 or stop.asked:
                break
        before = grown
        growth.adopt(_most_hopeful(grown, costs, found.x))
        grown = growth.grown()
        start = _carried(before, grown, found.x)
        found = solver.solved(grown, start, max(gap, found.open_error / 8.0), told=False)
        best = min(best, (grown, found), key=lambda pair: pair[1].gap)
    if found.solver_gap > gap and growth.ending != "complete" and not stop.asked:
        found = solver.solved(grown, found.x, gap, told=True)
    if growth.ending == "complete" and not stop.asked:
        growth.mark(**_remembered(grown, found))
    growth.save()
    if growth.ending != "complete" and best[1].gap < found.gap:  # cut short in an expansion
        return replace(best[0], ending=growth.ending), best[1]
    if stop.asked and found.solver_gap > gap:  # all that matters may be grown, but it is not solved
        grown = replace(grown, ending="interrupted")
    return grown, found


def _most_hopeful(grown: Contested, costs: tuple[float, float], x: Mixed) -> list[int]:
    """The open histories where a best response to the mixed books could gain most, to expand next."""
    hopes = promise(grown.tree, costs, x, memorizable=grown.memorizable)
    chosen = np.argsort(-hopes, kind="stable")[: max(WIDTH, grown.tree.size // 4)]
    return [int(k) for k in grown.order[chosen[hopes[chosen] > 0.0]]]


def _carried(before: Contested, after: Contested, x: Mixed) -> Mixed:
    """Mixed books of a smaller tree on the larger one: new histories are not memorized yet."""
    rows = np.zeros((2, after.histories))
    rows[:, : before.histories] = _numbered(before, x)
    return rows[0, after.order], rows[1, after.order]


def _numbered(grown: Contested, x: Mixed) -> Floats:
    """Both mixed books as rows, by the growth's own numbering."""
    rows = np.zeros((2, grown.histories))
    rows[:, grown.order] = x
    return rows


def _remembered(grown: Contested, found: Equilibrium) -> dict[str, npt.NDArray[Any]]:
    """What a checkpoint holds of a solution."""
    return {
        "books": _numbered(grown, found.x),
        "method": np.array(found.method),
        "solver": np.array([found.iterations, found.seconds, found.decisions]),
        "trace": np.array(found.trace, dtype=np.float64).reshape(-1, 3),
    }


def _recalled(
    growth: ContestedGrowth[S], grown: Contested, costs: tuple[float, float]
) -> Equilibrium | None:
    """The solution that a checkpoint had, certified anew on its tree; None where it has none."""
    if "books" not in growth.kept:
        return None
    one, two = (growth.kept["books"].astype(np.float64))[:, grown.order]
    iterations, seconds, decisions = growth.kept["solver"].tolist()
    sure = certify(grown.tree, costs, one, two, memorizable=grown.memorizable)
    return Equilibrium.of(
        sure,
        (one, two),
        costs,
        method=str(growth.kept["method"]),
        iterations=int(iterations),
        seconds=seconds,
        decisions=int(decisions),
        trace=tuple(SolverProgress(int(i), s, g) for i, s, g in growth.kept["trace"].tolist()),
    )
