"""Equilibria of the meta-game, always with a certificate.

The folded game is solved by regret minimization or by a linear program. At the end the pair is
certified again on the whole tree, by code that knows nothing of the folded game.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

import numpy as np

from preplay.arguments import check_number, check_whole, shown
from preplay.equilibria.folding import FoldedGame, fold
from preplay.equilibria.minimizing import METHODS, Best, SolverProgress, Watch, minimize
from preplay.equilibria.publicgame import (
    Certificate,
    Costs,
    Mixed,
    allowed,
    certify,
    check_costs,
    check_mixed,
    decisions,
)
from preplay.errors import InputError, SolverError, nearest
from preplay.response import check_tree
from preplay.tree import Bools, Tree

ITERATIONS = 100_000
"""The most iterations unless something else is asked for."""
SMALL = 300
"""Up to so many decisions the linear program takes hundredths of a second, and is exact."""
AGREEMENT = 1e-9
"""How far the gaps on the folded game and on the whole tree may differ (rounding only)."""
SHORT = 50
"""Iterations of the default when a linear program is out of time."""


class SolverAccount(TypedDict):
    """What a solver says of its own work."""

    method: str
    iterations: int
    seconds: float
    decisions: int
    trace: tuple[SolverProgress, ...]


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A certified ε-Nash equilibrium in mixed books, ε = `gap`. Values are player 1's."""

    value: float
    """The middle of lower and upper: the value of the meta-game up to gap / 2."""
    lower: float
    upper: float
    gap: float
    """upper - lower, sampling error and unexpanded leaves included."""
    solver_gap: float
    """The part of the gap that more iterations could close."""
    radius_error: float
    """The part of the gap that comes from the radii of the leaf values (Theorem 4)."""
    open_error: float
    """The part of the gap that comes from leaves that might still be expanded."""
    payoff: float
    """What the pair of mixed books pays player 1 in the meta-game."""
    x: Mixed = field(repr=False)  # two arrays [n]
    """The probability of each history being in each side's book; 0 at histories that are not its own."""
    expected_size: tuple[float, float]
    costs: Costs
    method: str
    iterations: int
    seconds: float
    decisions: int
    """Histories of both sides that could pay at all, whatever the opponent does."""
    trace: tuple[SolverProgress, ...] = field(repr=False)

    @classmethod
    def of(cls, sure: Certificate, x: Mixed, costs: Costs, **found: Unpack[SolverAccount]) -> Equilibrium:
        """A pair of mixed books with what is sure of it, and what the solver says of itself."""
        return cls(
            value=(sure.lower + sure.upper) / 2,
            lower=sure.lower,
            upper=sure.upper,
            gap=sure.gap,
            solver_gap=sure.solver_gap,
            radius_error=sure.radius_error,
            open_error=sure.open_error,
            payoff=sure.payoff,
            x=x,
            expected_size=(float(x[0].sum()), float(x[1].sum())),
            costs=costs,
            **found,
        )


def check_limits(gap: float, iterations: int | None, seconds: float | None) -> None:
    """Raise InputError for limits of a solver that are none."""
    check_number("gap", gap)
    if iterations is not None:
        check_whole("iterations", iterations)
    if seconds is not None:
        check_number("seconds", seconds)


def check_method(method: str) -> None:
    """Raise InputError unless `solve` knows the method."""
    if method not in ("auto", "lp", *METHODS):
        raise InputError(f"unknown method '{method}'; {nearest(str(method), ['auto', 'lp', *METHODS])}")


def solve(
    tree: Tree,
    costs: Costs,
    *,
    gap: float = 1e-6,
    method: str = "auto",
    iterations: int | None = ITERATIONS,
    seconds: float | None = None,
    start: Equilibrium | Mixed | None = None,
    memorizable: Bools | None = None,
    progress: Callable[[SolverProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Equilibrium:
    """An equilibrium of the meta-game on `tree`, to the asked gap or until a limit or `stop` says so.

    `start` is an equilibrium (or pair of mixed books) of the same tree to go on from, for other costs
    say; a linear program asks only whether it will do. `memorizable` [n] marks the histories that may be
    memorized at all. `gap` is about what the solver can close; the error of the leaf values comes
    on top and is part of the result's `gap`.
    """
    began = time.perf_counter()
    check_tree(tree)
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    check_method(method)
    check_limits(gap, iterations, seconds)
    tree.check_price(1, costs[0])
    tree.check_price(2, costs[1])
    leaf_values = tree.value[tree.leaves]
    if not np.all(np.isfinite(leaf_values)):
        raise InputError("a leaf of the tree has no value; expected one at every leaf")
    game = fold(tree, costs, mask)
    best = Best(game)
    watch = Watch(began, gap, iterations, seconds, progress, stop)
    if method == "auto":
        free = iterations is None or iterations >= ITERATIONS
        method = "lp" if free and game.size <= SMALL else "sweep"
    warm = None if start is None else _start(tree, game, start)
    if method == "lp":
        done = _by_program(game, warm, best, watch)
    else:
        done = minimize(game, METHODS[method], warm, best, watch)
    x = game.spread(best.masses)
    certificate = certify(tree, costs, *x, memorizable=memorizable)
    if not abs(certificate.solver_gap - best.gap) <= AGREEMENT:
        raise SolverError(
            f"the gap is {certificate.solver_gap:.3g} on the tree but {best.gap:.3g} on the folded game; "
            "expected the same"
        )
    return Equilibrium.of(
        certificate,
        x,
        costs,
        method=method,
        iterations=done,
        seconds=time.perf_counter() - began,
        decisions=game.size,
        trace=tuple(watch.trace),
    )


def _by_program(game: FoldedGame, start: Mixed | None, best: Best, watch: Watch) -> int:
    """The linear program, unless the start will do; returns the iterations done."""
    from preplay.equilibria.lp import solve_lp  # and HiGHS, which the others do without

    if start is not None:
        best.offer(start)
        if best.gap <= watch.gap:
            watch.record(0, best.gap)
            return 0
    masses, done = solve_lp(game, watch.seconds)
    if masses is None:  # out of time: a short run of the default is better than nothing
        short = replace(watch, iterations=SHORT, seconds=None)
        return minimize(game, METHODS["sweep"], None, best, short)
    best.offer(masses)
    watch.record(done, best.gap)
    return done


def _start(tree: Tree, game: FoldedGame, start: Equilibrium | Mixed) -> Mixed:
    """The in-book masses of a start; raises InputError unless it belongs to this tree."""
    x = start.x if isinstance(start, Equilibrium) else start
    if not isinstance(x, tuple) or len(x) != 2:
        raise InputError(f"start is {shown(x)}; expected an equilibrium, or a mixed book of each side")
    every = decisions(tree)
    return game.gather((check_mixed(tree, x[0], 1, every), check_mixed(tree, x[1], 2, every)))
