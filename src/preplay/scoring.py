"""What the results of a match say: score and Elo with error bars, superiority, SPRT, and agreement.

Everything here is about one side's results, which are independent games: wins, draws and losses, or
utilities in [0, 1].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple

from preplay.errors import InputError

LEVEL = 0.95
"""The default confidence of intervals."""


class Interval(NamedTuple):
    """An estimate with its standard error and a confidence interval."""

    mean: float
    error: float
    """One standard deviation of the estimate."""
    low: float
    high: float


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of one side."""

    wins: int
    draws: int
    losses: int

    def __post_init__(self) -> None:
        if min(self.wins, self.draws, self.losses) < 0:
            raise InputError(
                f"results +{self.wins} ={self.draws} -{self.losses}; expected no negative count"
            )

    @property
    def games(self) -> int:
        """How many games were played."""
        return self.wins + self.draws + self.losses

    @property
    def counts(self) -> dict[float, int]:
        """The games by their utility."""
        return {0.0: self.losses, 0.5: self.draws, 1.0: self.wins}


Results = Tally | Mapping[float, int]
"""Games by their result, or by their utility: how often each was seen."""


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test after some games."""

    llr: float
    """Log-likelihood ratio of `elo1` to `elo0`."""
    lower: float
    """Stop and accept `elo0` at or below this."""
    upper: float
    """Stop and accept `elo1` at or above this."""
    decision: Literal["elo0", "elo1", "go on"]
    elo0: float
    elo1: float
    alpha: float
    """How often a true `elo0` may be rejected."""
    beta: float
    """How often a true `elo1` may be rejected."""


@dataclass(frozen=True)
class Agreement:
    """Whether the utility that was promised is the one that was played."""

    promised: float
    radius: float
    """The promise itself is 95 % sure within this."""
    games: int
    played: Interval
    z: float
    """Standard deviations between the played mean and the promise."""
    p_value: float
    """How often chance alone brings a difference this large, if the promise is right."""

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the usual five percent."""
        return self.p_value >= 1 - LEVEL


def score(results: Results, level: float = LEVEL) -> Interval:
    """The mean utility of a game, with Wilson's interval for the observed spread of results.

    The interval has every mean that the games do not reject by `agreement`'s test, so it stays in
    [0, 1] and does not collapse when all games end alike.
    """
    counts = _counts(results)
    n, mean = _games(counts), _mean(counts)
    variance = sum(c * (u - mean) ** 2 for u, c in counts.items()) / n
    reject = normal_quantile((1 + level) / 2)

    def edge(inside: float, outside: float) -> float:
        for _ in range(45):
            middle = (inside + outside) / 2
            if abs(_z(counts, middle)) <= reject:
                inside = middle
            else:
                outside = middle
        return inside

    return Interval(mean, math.sqrt(variance / n), edge(mean, 0.0), edge(mean, 1.0))


def elo(score: float) -> float:
    """The rating difference at which a side is expected to score `score`; infinite at 0 and 1."""
    if not 0.0 <= score <= 1.0:
        raise InputError(f"score {score}; expected a number in [0, 1]")
    if score in {0.0, 1.0}:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def expected_score(elo: float) -> float:
    """The score that a rating difference promises."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_difference(results: Results, level: float = LEVEL) -> Interval:
    """The Elo difference of the score; its error by the delta method, its interval from the score's."""
    points = score(results, level)
    slope = points.mean * (1 - points.mean) * math.log(10) / 400
    error = points.error / slope if slope > 0 else math.inf
    return Interval(elo(points.mean), error, elo(points.low), elo(points.high))


def superiority(results: Results) -> float:
    """Likelihood of superiority: how surely the side with these results is the stronger one.

    The score is compared with its spread among equals. Of wins, draws and losses that leaves
    (wins - losses) / sqrt(wins + losses): draws say nothing about it.
    """
    return normal_cdf(_z(_counts(results), 0.5))


def sprt(results: Results, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
    """Wald's test of `elo0` against `elo1`, the draw rate being whatever fits best under each.

    The generalized log-likelihood ratio of the results: under either hypothesis the most likely
    probabilities of win, draw and loss (or of the utilities seen) whose mean is the hypothesis' score.
    """
    if not elo0 < elo1:
        raise InputError(f"SPRT from elo0 {elo0} to elo1 {elo1}; expected elo0 < elo1")
    if not (0 < alpha < 1 and 0 < beta < 1 and alpha + beta < 1):
        raise InputError(
            f"SPRT with alpha {alpha} and beta {beta}; expected positive, with a sum below 1"
        )
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    llr = 0.0
    counts = _counts(results)
    if sum(counts.values()):
        zero, one = (most_likely(counts, expected_score(e)) for e in (elo0, elo1))
        llr = sum(c * math.log(one[u] / zero[u]) for u, c in counts.items() if c)
    decision: Literal["elo0", "elo1", "go on"] = "go on"
    if llr <= lower:
        decision = "elo0"
    elif llr >= upper:
        decision = "elo1"
    return Sprt(llr, lower, upper, decision, elo0, elo1, alpha, beta)


def agreement(promised: float, played: Sequence[float], radius: float = 0.0) -> Agreement:
    """A test whether `played` utilities have the `promised` mean, known within `radius` at 95 %.

    The mean of n games is compared with its spread if the promise holds: the spread of the most likely
    distribution on the seen utilities, 0 and 1 that has the promised mean. So a hundred wins in a hundred
    games do not contradict a promise of 0.99, as their own spread of nothing would. The promise's own
    error is independent of the games, so the variances add.
    """
    if not 0.0 <= promised <= 1.0:
        raise InputError(f"promised utility {promised}; expected a number in [0, 1]")
    counts = Counter(played)
    interval = score(counts)
    z = _z(counts, promised, radius / normal_quantile((1 + LEVEL) / 2))
    p_value = math.erfc(abs(z) / math.sqrt(2))
    return Agreement(promised, radius, len(played), interval, z, p_value)


def most_likely(counts: Mapping[float, int], mean: float) -> dict[float, float]:
    """The distribution with the given mean that makes `counts` most likely.

    It lives on the utilities of `counts`, 0 and 1. By Lagrange each seen u has probability
    c(u) / n / (1 + t (u - mean)); where even the last t leaves mass over, it goes to the unseen end.
    """
    n = _games(counts)
    answer = {0.0: 0.0, 1.0: 0.0, **dict.fromkeys(counts, 0.0)}
    if mean in {0.0, 1.0}:
        return {**answer, mean: 1.0}
    seen = [(u - mean, c) for u, c in counts.items() if c]
    t = _multiplier(seen, -1 / (1 - mean), 1 / mean)
    for u, c in counts.items():
        if c:
            answer[u] = c / n / (1 + t * (u - mean))
    left = 1 - math.fsum(answer.values())
    if left > 0:
        answer[0.0 if t > 0 else 1.0] += left
    return answer


def _multiplier(seen: Sequence[tuple[float, int]], low: float, high: float) -> float:
    """The t in [low, high] with sum c d / (1 + t d) = 0, or the end nearest to it, by guarded Newton."""

    def slope(t: float) -> float:
        return sum(c * d / (1 + t * d) if 1 + t * d > 0 else math.copysign(math.inf, d) for d, c in seen)

    if slope(high) >= 0:
        return high
    if slope(low) <= 0:
        return low
    t = 0.0
    for _ in range(200):
        value = slope(t)
        low, high = (t, high) if value > 0 else (low, t)
        ahead = t + value / sum(c * (d / (1 + t * d)) ** 2 for d, c in seen)
        ahead = ahead if low < ahead < high else (low + high) / 2
        if value == 0.0 or abs(ahead - t) <= 1e-15 * max(1.0, abs(t)):
            break
        t = ahead
    return t


def normal_cdf(z: float) -> float:
    """P(a standard normal variable is at most z)."""
    return math.erfc(-z / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """The z with `normal_cdf(z) == p`."""
    return NormalDist().inv_cdf(p)


def _z(counts: Mapping[float, int], promised: float, error: float = 0.0) -> float:
    n = _games(counts)
    difference = _mean(counts) - promised
    if difference == 0.0:
        return 0.0
    spread = sum(p * (u - promised) ** 2 for u, p in most_likely(counts, promised).items())
    variance = spread / n + error**2
    return difference / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, difference)


def _counts(results: Results) -> Mapping[float, int]:
    return results.counts if isinstance(results, Tally) else results


def _games(counts: Mapping[float, int]) -> int:
    wrong = [u for u in counts if not 0.0 <= u <= 1.0]
    if wrong:
        raise InputError(f"utility {wrong[0]}; expected a number in [0, 1]")
    n = sum(counts.values())
    if n == 0:
        raise InputError("no games; expected at least one result")
    return n


def _mean(counts: Mapping[float, int]) -> float:
    return math.fsum(u * c for u, c in counts.items()) / _games(counts)
