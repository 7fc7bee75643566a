"""Regret minimization on the folded game.

All methods are members of one family (`Rule`): two sweeps a side and iteration over the decisions
that can pay. The gap is measured by exact best responses at a geometric schedule, for the average and
for the last strategy; each side keeps whichever guaranteed most so far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from preplay.equilibria import iteration
from preplay.equilibria.folding import COST, FoldedGame
from preplay.equilibria.iteration import Rule, State
from preplay.equilibria.publicgame import Mixed


@dataclass(frozen=True)
class Method:
    """A rule for the regrets, and when to restart the average."""

    rule: Rule
    restart: float = 0.0
    """Restart from the best strategies when the gap has fallen to this fraction; 0 never."""


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


class Best:
    """The strategy of each side that guaranteed it most so far, as in-book masses."""

    def __init__(self, game: FoldedGame) -> None:
        self.game = game
        self.masses: Mixed = (np.zeros(0), np.zeros(0))
        self.secured = [-math.inf, -math.inf]
        self._mass = [np.empty((len(side.history), 2)) for side in game.sides]
        self._worth = [np.empty((len(side.history), 2)) for side in game.sides]

    @property
    def gap(self) -> float:
        """How far the two may be from an equilibrium of the folded game."""
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
class Watch:
    """The limits of a run, and its trace."""

    began: float
    gap: float
    iterations: int | None
    seconds: float | None
    progress: Callable[[SolverProgress], None] | None
    stop: Callable[[], bool] | None
    trace: list[SolverProgress] = field(default_factory=list)

    def elapsed(self) -> float:
        """Seconds since the work began."""
        return time.perf_counter() - self.began

    def interrupted(self) -> bool:
        """Whether time is up or the caller wants to stop."""
        late = self.seconds is not None and self.elapsed() >= self.seconds
        return late or (self.stop is not None and self.stop())

    def record(self, iteration: int, gap: float) -> None:
        """Put a measurement into the trace and tell it."""
        point = SolverProgress(iteration, self.elapsed(), gap)
        self.trace.append(point)
        if self.progress is not None:
            self.progress(point)


def minimize(game: FoldedGame, method: Method, start: Mixed | None, best: Best, watch: Watch) -> int:
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
