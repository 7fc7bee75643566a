"""v(h) by roll-outs: base against base, played to the end many times (Theorem 3 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from preplay.arguments import check_rules, check_whole, is_number, shown
from preplay.errors import InputError
from preplay.game import Game, S
from preplay.sampling.samplers import PlayoutRequest, Sampler, at, check_sampler
from preplay.value import Value

_AT_ONCE = 2**18
"""How many outcomes are kept in memory before they are summed up."""


def theorem3_samples(epsilon: float, delta: float, cost: float, longest: int, widest: int) -> int:
    """K of Algorithm 1: with K playouts a history, the book is within ε of the best, but for chance δ.

    K = 16 ln(|W|/δ)/ε² with |W| ≤ A²(L+1)/λ: the histories of reach at least λ and what follows them. The
    paper's Chernoff step, 2|W| exp(-K(ε/2)²/2), then gives 2δ²/|W|, well below δ: `hoeffding_samples` has
    what that step needs when it is made with Hoeffding's constant. A² successors of a history are
    enough where the sides alternate and chance is silent; in other games count the histories.
    """
    check_guarantee(epsilon, delta)
    histories = theorem3_histories(cost, longest, widest)
    return math.ceil(16.0 * math.log(histories / delta) / epsilon**2)


def enough_samples(
    epsilon: float, delta: float, cost: float, longest: int, widest: int
) -> tuple[int, float]:
    """Playouts a history, and the δ of each, so that all values that matter at a cost are ε-near.

    Hoeffding's inequality over the histories of Theorem 3; for the theorem's book they must be ε/2-near.
    """
    histories = theorem3_histories(cost, longest, widest)
    return hoeffding_samples(2.0 * epsilon, delta, histories), delta / histories


def theorem3_histories(cost: float, longest: int, widest: int) -> float:
    """|W| ≤ A²(L+1)/λ: how many histories may matter at a cost."""
    if not cost > 0.0:
        raise InputError(f"cost {cost}; expected a number above 0")
    return max(2.0, widest**2 * (longest + 1) / cost)


def hoeffding_samples(epsilon: float, delta: float, histories: float) -> int:
    """The playouts a history that Theorem 3 needs: about an eighth of the paper's K.

    All of `histories` estimates are within ε/2 but for a chance of 2n exp(-Kε²/2) = δ.
    """
    check_guarantee(epsilon, delta)
    return math.ceil(2.0 * math.log(2.0 * max(1.0, histories) / delta) / epsilon**2)


def check_guarantee(epsilon: float, delta: float) -> None:
    """Raise InputError unless ε is above 0 and δ in (0, 1)."""
    if not (is_number(epsilon) and 0.0 < epsilon < math.inf):
        raise InputError(f"epsilon {shown(epsilon)}; expected a number above 0")
    if not (is_number(delta) and 0.0 < delta < 1.0):
        raise InputError(f"delta {shown(delta)}; expected a probability above 0 and below 1")


@dataclass(frozen=True)
class Rollouts(Generic[S]):
    """An evaluator: the mean of a fixed number of playouts, as in Algorithm 1.

    Each radius holds but for a chance of `delta`; to have all of n hold together, give δ/n.
    """

    game: Game[S]
    sampler: Sampler[S]
    samples: int
    delta: float

    def __post_init__(self) -> None:
        check_rules(self.game)
        check_sampler(self.sampler)
        check_whole("samples", self.samples, 1)
        check_guarantee(1.0, self.delta)

    def values(self, states: Sequence[S]) -> list[Value]:
        """The mean outcome at each state, with Hoeffding's radius (0 where nothing is random)."""
        radius = math.sqrt(math.log(2.0 / self.delta) / (2.0 * self.samples))
        totals = [0.0] * len(states)
        answer: dict[int, Value] = {}
        starts = [at(self.game, state) for state in states]
        block = max(1, _AT_ONCE // max(1, len(states)))
        for first in range(0, self.samples, block):
            count = min(block, self.samples - first)
            waiting = [k for k in range(len(states)) if k not in answer]
            requests = [PlayoutRequest(starts[k], first, count) for k in waiting]
            for k, (utilities, certain) in zip(waiting, self.sampler.play(requests), strict=True):
                totals[k] += float(utilities.sum())
                if certain:
                    answer[k] = Value(float(utilities[0]))
        return [answer.get(k, Value(min(1.0, t / self.samples), radius)) for k, t in enumerate(totals)]
