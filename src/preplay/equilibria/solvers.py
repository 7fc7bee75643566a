"""Equilibria of the meta-game: regret minimization on the folded game, always with a certificate.

All methods are members of one family (`Rule`): two sweeps a side and iteration over the decisions
that can pay. The gap is measured by exact best responses at a geometric schedule, for the average and
for the last strategy; each side keeps whichever guaranteed most so far. At the end the pair is
certified again on the whole tree, by code that knows nothing of the folded game.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from preplay.arguments import check_number, check_whole, shown
from preplay.equilibria import iteration
from preplay.equilibria.folding import COST, FoldedGame, fold
from preplay.equilibria.iteration import Rule, State
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


@dataclass(frozen=True)
class Method:
    """A rule for the regrets, and when to restart the average."""

    rule: Rule
    restart: float = 0.0
    """Restart from the best strategies when the gap has fallen to this fraction; 0 never."""


ITERATIONS = 100_000
"""The most iterations unless something else is asked for."""
SMALL = 300
"""Up to so many decisions the linear program takes hundredths of a second, and is exact."""
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "sweep": Method(Rule(alpha=2.0, gamma=2.0, trust=0.2, eager=1.0), restart=0.3),
        "cfr": Method(Rule(floor=-math.inf)),
        "cfr+": Method(Rule(gamma=1.0)),
        "dcfr": Method(Rule(alpha=1.5, beta=0.5, floor=-math.inf, gamma=2.0)),
        "pcfr+": Method(Rule(gamma=2.0, trust=1.0)),
        "pcfr+/restarts": Method(Rule(gamma=2.0, trust=1.0), restart=0.3),
        "pdcfr+": Method(Rule(alpha=2.3, gamma=5.0, trust=1.0)),
        "sapcfr+": Method(Rule(gamma=2.0, trust=1 / 3)),
        "sapdcfr+": Method(Rule(alpha=2.3, gamma=5.0, trust=1 / 3)),
    }
)
"""The iterative methods by name. Besides: "lp", and "auto": "lp" for small games, else "sweep"."""

FIRST_CHECK = 6
"""The gap is first measured after so many iterations,"""
CHECK_GROWTH = 1.2
"""then whenever the number of iterations has grown by this factor."""
WARMTH = 0.5
"""Size of the regrets of a warm start, in costs (λ / P) of the decision."""
WARM_AGE = 1.0
"""Iterations that the regrets of a warm start count as."""
AGREEMENT = 1e-9
"""How far the gaps on the folded game and on the whole tree may differ (rounding only)."""
SHORT = 50
"""Iterations of the default when a linear program is out of time."""
BLOCK_SECONDS = 0.05
"""The time and the `stop` callback are looked at about this often."""


class SolverProgress(NamedTuple):
    """One measurement on the way."""

    iteration: int
    seconds: float
    gap: float
    """The best exact gap so far, leaf values taken as exact."""

    def __str__(self) -> str:
        return f"{self.iteration:,} iterations  gap {self.gap:.2e}  {self.seconds:.1f} s"


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
    best = _Best(game)
    watch = _Watch(began, gap, iterations, seconds, progress, stop)
    if method == "auto":
        free = iterations is None or iterations >= ITERATIONS
        method = "lp" if free and game.size <= SMALL else "sweep"
    warm = None if start is None else _start(tree, game, start)
    if method == "lp":
        done = _by_program(game, warm, best, watch)
    else:
        done = _minimize(game, METHODS[method], warm, best, watch)
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


def _by_program(game: FoldedGame, start: Mixed | None, best: _Best, watch: _Watch) -> int:
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
        return _minimize(game, METHODS["sweep"], None, best, short)
    best.offer(masses)
    watch.record(done, best.gap)
    return done


class _Best:
    """The strategy of each side that guaranteed it most so far, as in-book masses."""

    def __init__(self, game: FoldedGame) -> None:
        self.game = game
        self.masses: Mixed = (np.zeros(0), np.zeros(0))
        self.secured = [-math.inf, -math.inf]
        self._mass = [np.empty((len(side.history), 2)) for side in game.sides]
        self._worth = [np.empty((len(side.history), 2)) for side in game.sides]

    @property
    def gap(self) -> float:
        return max(0.0, -sum(self.secured))

    def offer(self, masses: Mixed) -> None:
        """Measure both strategies against their best responses and keep what is better than before."""
        kept = list(self.masses)
        for own, other in ((0, 1), (1, 0)):
            side, rival = self.game.sides[own], self.game.sides[other]
            mass = self._mass[own]
            cost = iteration.masses(side, masses[own], mass)
            against = iteration.best_response(rival, side, mass, self._worth[other])
            if -against - cost > self.secured[own]:
                self.secured[own] = -against - cost
                kept[own] = mass[:, 1].copy()
        self.masses = kept[0], kept[1]


@dataclass
class _Watch:
    """The limits of a run, and its trace."""

    began: float
    gap: float
    iterations: int | None
    seconds: float | None
    progress: Callable[[SolverProgress], None] | None
    stop: Callable[[], bool] | None
    trace: list[SolverProgress] = field(default_factory=list)

    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    def interrupted(self) -> bool:
        """Whether time is up or the caller wants to stop."""
        late = self.seconds is not None and self.elapsed() >= self.seconds
        return late or (self.stop is not None and self.stop())

    def record(self, iteration: int, gap: float) -> None:
        point = SolverProgress(iteration, self.elapsed(), gap)
        self.trace.append(point)
        if self.progress is not None:
            self.progress(point)


def _minimize(game: FoldedGame, method: Method, start: Mixed | None, best: _Best, watch: _Watch) -> int:
    """Iterate until the gap is reached or the watch says stop; returns the iterations done."""
    one, two = game.sides
    states = iteration.new_state(one), iteration.new_state(two)
    age = 0.0
    if start is not None:
        age = WARM_AGE
        best.offer(start)
        watch.record(0, best.gap)
        if best.gap <= watch.gap:
            return 0
        for side, state in zip(game.sides, states, strict=True):
            state.regret[:, 0] = WARMTH * side.table[:, COST]
        _resume(game, states, start)
    iteration.forward(two, states[1], states[0].worth, 0.0)
    done, restarted, weights, reference = 0, 0, 0.0, math.inf
    check, block = FIRST_CHECK, 1
    while True:
        most = check if watch.iterations is None else min(check, watch.iterations)
        interrupted = False
        while done < most and not interrupted:
            until, clock = min(most, done + block), time.perf_counter()
            weights = iteration.iterate(
                one, two, *states, method.rule, done, until, restarted, weights, age
            )
            pace = (time.perf_counter() - clock) / (until - done)
            block = max(1, int(BLOCK_SECONDS / max(pace, 1e-9)))
            done = until
            interrupted = watch.interrupted()
        best.offer((states[0].mean, states[1].mean))
        best.offer((states[0].mass[:, 1], states[1].mass[:, 1]))
        watch.record(done, best.gap)
        if best.gap <= watch.gap or interrupted or done == watch.iterations:
            return done
        check = max(done + 1, int(done * CHECK_GROWTH))
        if math.isinf(reference):
            reference = best.gap
        elif best.gap < method.restart * reference:
            reference, restarted, weights = best.gap, done, 0.0
            _resume(game, states, best.masses)
            states[0].worth[:] = 0.0
            states[1].worth[:] = 0.0
            iteration.forward(two, states[1], states[0].worth, 0.0)


def _resume(game: FoldedGame, states: tuple[State, State], masses: Mixed) -> None:
    """Let both sides go on from the given in-book masses."""
    for side, state, held in zip(game.sides, states, masses, strict=True):
        iteration.resume(side, state, held)


def _start(tree: Tree, game: FoldedGame, start: Equilibrium | Mixed) -> Mixed:
    """The in-book masses of a start; raises InputError unless it belongs to this tree."""
    x = start.x if isinstance(start, Equilibrium) else start
    if not isinstance(x, tuple) or len(x) != 2:
        raise InputError(f"start is {shown(x)}; expected an equilibrium, or a mixed book of each side")
    every = decisions(tree)
    return game.gather((check_mixed(tree, x[0], 1, every), check_mixed(tree, x[1], 2, every)))
