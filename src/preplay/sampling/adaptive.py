"""Roll-outs that may be stopped at any time: estimates whose radius holds at every sample size.

The radius is an empirical Bernstein bound. For an outcome X in [0, 1] with mean μ, a guess g in [0, 1]
made before it, a rate t in (0, 1) and ψ(t) = -ln(1 - t) - t,

    E exp(t(X - μ) - (X - g)² ψ(t)) ≤ 1,    since exp(t x - x² ψ(t)) ≤ 1 + t x for x = X - g ≥ -1,

and the same with signs turned. The product over playouts is a supermartingale, so by Ville's inequality

    |Σ (X - μ)| ≤ (ln(2 / δ) + ψ(t) Σ (X - g)²) / t

at all times at once, but for a chance of δ. A few rates share δ, one for every scale of Σ (X - g)².
At variance 1/4 this is about a sixth wider than Hoeffding's bound for one fixed time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple

import numpy as np

from preplay.arguments import check_rules, check_whole
from preplay.game import Game, S
from preplay.sampling.rollouts import check_guarantee
from preplay.sampling.samplers import Outcomes, PlayoutRequest, Sampler, at, check_sampler
from preplay.value import Value

RATES = tuple(math.ldexp(0.8, -k) for k in range(14))
"""The rates t; the smallest serves ten thousand million playouts of variance 1/4."""
PARTS = 4
"""δ is split evenly between growth, own histories, pools of exits and the book as a whole."""
_TOLLS = tuple(-math.log1p(-t) - t for t in RATES)


class Estimate(NamedTuple):
    """What playouts of one start told so far, for player 1."""

    samples: int = 0
    total: float = 0.0
    """The sum of the outcomes."""
    spread: float = 0.0
    """The sum of (X - g)², with g the mean of the outcomes before (and of 1/2)."""
    certain: bool = False
    """Nothing is random from there on: one playout tells all."""

    @property
    def mean(self) -> float:
        """The mean outcome, 1/2 before the first."""
        return self.total / self.samples if self.samples else 0.5

    def after(self, outcomes: Outcomes) -> Estimate:
        """The estimate with further playouts of the same start, in the order of their numbers."""
        x = outcomes.utilities
        if not len(x) or self.certain:
            return self
        if outcomes.certain:
            return Estimate(1, float(x[0]), 0.0, True)
        before = self.total + np.cumsum(x) - x
        guess = (0.5 + before) / (self.samples + np.arange(1, len(x) + 1))
        spread = self.spread + float(np.sum((x - guess) ** 2))
        return Estimate(self.samples + len(x), self.total + float(x.sum()), spread)

    def radius(self, delta: float) -> float:
        """How far the true value may be from the mean, at every time at once but for a chance of δ."""
        if self.certain:
            return 0.0
        known = max(self.mean, 1.0 - self.mean)
        if not self.samples:
            return known
        price = math.log(2.0 * len(RATES) / delta)
        bounds = ((price + toll * self.spread) / rate for rate, toll in zip(RATES, _TOLLS, strict=True))
        return min(known, min(bounds) / self.samples)


@dataclass(frozen=True)
class AdaptiveRollouts(Generic[S]):
    """An evaluator that begins with few playouts and goes on where asked to.

    All radii it ever returns hold together, but for a chance of a quarter of `delta`; the rest is for
    the decision (`sharpen`). The k-th history asked about has its own share of the quarter, so the
    order of asking matters to the radius, though not to the mean.
    """

    game: Game[S]
    sampler: Sampler[S]
    delta: float
    first: int = 8
    """Playouts of a history when it is first asked about; with 0 every value is 1/2 ± 1/2."""
    asked: int = 0
    """Histories asked about in an earlier part of the same run, whose shares are spent."""
    estimates: dict[tuple[str, ...], Estimate] = field(default_factory=dict, repr=False, compare=False)
    """What is known, in the order asked."""
    _places: dict[tuple[str, ...], int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_rules(self.game)
        check_sampler(self.sampler)
        check_guarantee(1.0, self.delta)
        check_whole("first", self.first)
        check_whole("asked", self.asked)

    def afresh(self) -> AdaptiveRollouts[S]:
        """The same before its first playout."""
        return replace(self, estimates={}, _places={})

    @property
    def samples(self) -> int:
        """Playouts so far."""
        return sum(estimate.samples for estimate in self.estimates.values())

    def values(self, states: Sequence[S]) -> list[Value]:
        """The mean at each state, after `first` playouts where there were none."""
        new = {self.game.history(state): state for state in states}
        new = {history: state for history, state in new.items() if history not in self.estimates}
        self.more(list(new.values()), [self.first] * len(new))
        return [self.value(state) for state in states]

    def value(self, state: S) -> Value:
        """What is known of a state that was asked about."""
        history = self.game.history(state)
        estimate = self.estimates[history]
        return Value(estimate.mean, estimate.radius(self.delta / PARTS * _share(self._place(history))))

    def more(self, states: Sequence[S], counts: Sequence[int]) -> None:
        """Further playouts of different states, all in one batch."""
        starts = [at(self.game, state) for state in states]
        for start in starts:  # before any of its playouts: a share must not depend on them
            self._place(start.key)
        known = [self.estimates.get(start.key, Estimate()) for start in starts]
        requests = [
            PlayoutRequest(start, estimate.samples, 0 if estimate.certain else count)
            for start, estimate, count in zip(starts, known, counts, strict=True)
        ]
        outcomes = self.sampler.play(requests)
        for start, estimate, outcome in zip(starts, known, outcomes, strict=True):
            self.estimates[start.key] = estimate.after(outcome)

    def kept(self) -> str:
        """All that is known, as text that a checkpoint can hold."""
        known = [(self.estimates.get(history, Estimate()), history) for history in self._places]
        return json.dumps([[*estimate, *history] for estimate, history in known])

    def recall(self, text: str) -> None:
        """Take up what an earlier part of the same run had `kept`."""
        for samples, total, spread, certain, *history in json.loads(text):
            key = tuple(history)
            self._place(key)
            if samples and key not in self.estimates:
                self.estimates[key] = Estimate(samples, total, spread, certain)

    def _place(self, history: tuple[str, ...]) -> int:
        return self._places.setdefault(history, self.asked + len(self._places) + 1)


def _share(k: int) -> float:
    """The k-th share of 1, k = 1, 2, …: they sum to 1 and fall hardly faster than 1/k."""
    return 1.0 / math.log2(k + 1) - 1.0 / math.log2(k + 2)
