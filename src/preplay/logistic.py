"""A logistic curve from scores to results, fitted to games, with the errors of its parameters."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from preplay.tree import Floats

PRIOR_MEAN = np.array([0.0, 0.5])
PRIOR_DEVIATION = np.array([1.0, 0.5])
"""What is believed of intercept and slope before any game: worth about four games, so that a few games,
or games that all end alike, give a curve too."""

LINE_STEP = 4
"""Moves between the lengths of lines that are told apart."""
LINE_PRIOR = 0.3
LINE_PAIRS = 30
"""What is believed of how far lines are from the curve before any game, and how many pairs of games of
one line it is worth."""

FEW = 20
"""Games that a curve must go through before its values are called results."""


@dataclass(frozen=True)
class Curve:
    """score = σ(intercept + slope · pawns), from the point of view of player 1."""

    intercept: float
    slope: float
    """For a pawn."""
    intercept_error: float
    """One standard error, as `slope_error`."""
    slope_error: float
    correlation: float
    """Of the two errors."""
    games: int
    positions: int
    line_errors: tuple[float, ...] = ()
    """How far single lines of 0, 4, 8, ... moves are from the curve, as standard deviations of the
    intercept; longer ones are as the last."""

    @property
    def tells(self) -> Literal["results", "model"]:
        """What its values are: below `FEW` games it is a guess rather than a measurement."""
        return "results" if self.games >= FEW else "model"

    def score(self, pawns: float) -> float:
        """The expected result at a score."""
        return 1.0 / (1.0 + math.exp(-self.intercept - self.slope * pawns))

    def pawns(self, score: float) -> float:
        """The inverse of `score`, strictly between 0 and 1."""
        return (math.log(score / (1.0 - score)) - self.intercept) / self.slope

    def turning(self, scores: Floats) -> tuple[Floats, Floats]:
        """How each expected result that the curve gave moves with the intercept, and with the slope."""
        steep = scores * (1.0 - scores)
        inner = np.where(steep > 0.0, scores, 0.5)
        pawns = (np.log(inner / (1.0 - inner)) - self.intercept) / self.slope
        return steep, steep * pawns

    def error(self, scores: Sequence[float], weights: Sequence[float], lengths: Sequence[int]) -> float:
        """One standard error of the weighted sum of expected results that the curve gave.

        All of them move together with the two parameters, so their errors do not average out. What is
        special about the lines, of these lengths in moves of both sides, does, if there are many.
        """
        by_intercept, by_slope = self.turning(np.asarray(scores, dtype=np.float64))
        along = self.error_along(float(np.dot(weights, by_intercept)), float(np.dot(weights, by_slope)))
        return math.hypot(along, self.error_of_lines(scores, weights, lengths))

    def error_of_lines(
        self, scores: Sequence[float], weights: Sequence[float], lengths: Sequence[int]
    ) -> float:
        """The part of the error that comes from what is special about each line."""
        if not self.line_errors:
            return 0.0
        last = len(self.line_errors) - 1
        apart = np.array([self.line_errors[min(length // LINE_STEP, last)] for length in lengths])
        each = apart * np.asarray(weights) * self.turning(np.asarray(scores, dtype=np.float64))[0]
        return math.sqrt(float(np.square(each).sum()))

    def error_along(self, by_intercept: float, by_slope: float) -> float:
        """One standard error of what moves so much with the intercept, and with the slope."""
        a, b = by_intercept * self.intercept_error, by_slope * self.slope_error
        return math.sqrt(max(0.0, a * a + b * b + 2.0 * self.correlation * a * b))


def fitted(games: Sequence[tuple[Sequence[float], float]], alike: bool = False) -> Curve:
    """The likeliest curve given games as (scores on the way in pawns, result).

    A draw counts as half a win and half a loss. Positions of one game share its result, so the errors
    are those of independent games (the sandwich estimate, by game), not of positions. Where both sides
    play alike every game is as likely with the sides exchanged: it counts both ways, and a level position
    is worth one half.
    """
    pawns = np.array([x for scores, _ in games for x in scores], dtype=np.float64)
    results = np.array([result for scores, result in games for _ in scores], dtype=np.float64)
    owner = np.array([k for k, (scores, _) in enumerate(games) for _ in scores], dtype=np.int64)
    positions = len(pawns)
    if alike:
        pawns, results = np.concatenate((pawns, -pawns)), np.concatenate((results, 1.0 - results))
        owner = np.concatenate((owner, owner))
    rows = np.column_stack((np.ones(len(pawns)), pawns))
    precision = np.diag(1.0 / np.square(PRIOR_DEVIATION))
    place = _most_likely(rows, results, precision)
    expected = _sigmoid(rows @ place)
    bread = np.linalg.inv(rows.T @ (rows * (expected * (1.0 - expected))[:, None]) + precision)
    pull = np.zeros((len(games), 2))
    np.add.at(pull, owner, rows * (results - expected)[:, None])
    n = len(games)
    spread = bread @ (pull.T @ pull * (n / max(1, n - 2)) + precision) @ bread
    errors = np.sqrt(np.diag(spread))
    return Curve(
        intercept=float(place[0]),
        slope=float(place[1]),
        intercept_error=float(errors[0]),
        slope_error=float(errors[1]),
        correlation=float(spread[0, 1] / (errors[0] * errors[1])),
        games=n,
        positions=positions,
    )


def line_error(curve: Curve, games: Sequence[tuple[Hashable, float, float]]) -> float:
    """How far lines are from a curve, given games as (line, score in pawns, result).

    If a line moves the intercept by ε, the product of the residuals of two of its games is expected to be
    ε² times both steepnesses of the curve. The mean over all pairs, with a prior that is worth few.
    """
    lines: dict[Hashable, list[tuple[float, float]]] = {}
    for line, pawns, result in games:
        expected = curve.score(pawns)
        lines.setdefault(line, []).append((result - expected, expected * (1.0 - expected)))
    together = 2.0 * LINE_PAIRS * 0.25**2
    product, steep = together * LINE_PRIOR**2, together
    for each in lines.values():
        off, by = np.array(each).T
        product += float(off.sum() ** 2 - np.square(off).sum())
        steep += float(by.sum() ** 2 - np.square(by).sum())
    return math.sqrt(max(0.0, product / steep))


def _most_likely(rows: Floats, results: Floats, precision: Floats) -> Floats:
    """Newton's method with halved steps where a whole one overshoots; the target is concave."""

    def target(at: Floats) -> float:
        t = rows @ at
        away = at - PRIOR_MEAN
        return float((results * t - np.logaddexp(0.0, t)).sum() - 0.5 * away @ precision @ away)

    place = PRIOR_MEAN.copy()
    for _ in range(100):
        expected = _sigmoid(rows @ place)
        uphill = rows.T @ (results - expected) - precision @ (place - PRIOR_MEAN)
        curved = rows.T @ (rows * (expected * (1.0 - expected))[:, None]) + precision
        step = np.linalg.solve(curved, uphill)
        before, size = target(place), 1.0
        while target(place + size * step) < before and size > 1e-9:
            size /= 2.0
        place = place + size * step
        if float(np.abs(size * step).max()) < 1e-12:
            break
    return place


def _sigmoid(t: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * t))


@dataclass(frozen=True)
class Bin:
    """Positions whose expected results are near each other, and what was played from them."""

    low: float
    """In pawns, as `high`."""
    high: float
    positions: int
    expected: float
    played: float
    error: float
    """One standard error of `played`."""


def reliability(curve: Curve, games: Sequence[tuple[Sequence[float], float]], bins: int = 8) -> list[Bin]:
    """Expected against played, in parts of equally many positions by their score."""
    points = sorted((x, result, k) for k, (scores, result) in enumerate(games) for x in scores)
    parts = np.array_split(np.arange(len(points)), min(bins, max(1, len(points) // 5)))
    found = []
    for part in parts:
        if not len(part):
            continue
        rows = [points[i] for i in part]
        played = float(np.mean([result for _, result, _ in rows]))
        by_game: dict[int, float] = {}
        for _, result, k in rows:
            by_game[k] = by_game.get(k, 0.0) + result - played
        error = math.sqrt(sum(x * x for x in by_game.values())) / len(rows)
        expected = float(np.mean([curve.score(x) for x, _, _ in rows]))
        found.append(Bin(rows[0][0], rows[-1][0], len(rows), expected, played, error))
    return found
