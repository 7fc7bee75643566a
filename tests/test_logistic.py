"""The curve from scores to results: the likeliest one, and errors that hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from preplay.logistic import PRIOR_DEVIATION, PRIOR_MEAN, fitted, line_error, reliability


def played(
    n: int, intercept: float, slope: float, seed: int, positions: int = 3
) -> list[tuple[list[float], float]]:
    """Games whose results follow a curve from their first score; later scores follow the result."""
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(n):
        first = float(rng.normal(0.3, 1.0))
        p = 1.0 / (1.0 + math.exp(-intercept - slope * first))
        drawn = rng.random() < 2.0 * min(p, 1.0 - p) * 0.6  # some draws, the mean as it is
        share = 0.6 * 2.0 * min(p, 1.0 - p)
        won = rng.random() < (p - share / 2.0) / (1.0 - share)
        result = 0.5 if drawn else float(won)
        games.append(([first] * positions, result))
    return games


def test_it_is_the_most_likely_curve() -> None:
    games = played(60, 0.3, 0.7, seed=1)

    def loss(at: np.ndarray) -> float:
        total = float((0.5 * np.square((at - PRIOR_MEAN) / PRIOR_DEVIATION)).sum())
        for scores, result in games:
            for x in scores:
                t = at[0] + at[1] * x
                total -= result * t - float(np.logaddexp(0.0, t))
        return total

    best = minimize(loss, np.zeros(2), tol=1e-10).x
    curve = fitted(games)
    assert (curve.intercept, curve.slope) == pytest.approx(tuple(best), abs=1e-4)
    assert (curve.games, curve.positions) == (60, 180)


def test_errors_are_those_of_games_and_cover_the_truth() -> None:
    """Positions of one game are no new games: three times as many leave the errors as they were."""
    few, many = (fitted(played(300, 0.3, 0.7, 5, positions)) for positions in (1, 3))
    assert many.intercept_error == pytest.approx(few.intercept_error, rel=0.1)
    assert many.slope_error == pytest.approx(few.slope_error, rel=0.1)
    inside, tries = 0, 100
    for seed in range(tries):
        curve = fitted(played(150, 0.28, 0.67, seed))
        off = abs(curve.score(0.5) - 1.0 / (1.0 + math.exp(-0.28 - 0.67 * 0.5)))
        inside += off <= 1.96 * curve.error([curve.score(0.5)], [1.0], [0])
    assert inside >= 88  # 95 expected; below 88 once in 300 such tests


def test_sides_that_play_alike_count_every_game_both_ways() -> None:
    """A level position is worth one half, the slope has the error of as many games, and it is the fit to
    games and their mirror images."""
    games = played(200, 0.0, 0.5, seed=4)
    mirrored = [([-x for x in scores], 1.0 - result) for scores, result in games]
    curve, both = fitted(games, alike=True), fitted(games + mirrored)
    assert (curve.intercept, curve.slope) == pytest.approx((0.0, both.slope), abs=1e-9)
    assert curve.score(0.0) == pytest.approx(0.5)
    assert curve.intercept_error < 0.02 < fitted(games).intercept_error
    assert curve.slope_error == pytest.approx(fitted(games).slope_error, rel=0.15)
    assert (curve.games, curve.positions) == (200, 600)


def test_how_far_lines_are_from_the_curve() -> None:
    """Forty lines of ten games with intercepts of their own, and the same games without."""
    curve = replace(fitted([]), intercept=0.2, slope=0.6)
    for own in (0.8, 0.0):
        found = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            games: list[tuple[Hashable, float, float]] = []
            for line in range(40):
                moved = rng.normal(0.0, own)
                for _ in range(10):
                    pawns = float(rng.normal(0.0, 1.0))
                    chance = 1.0 / (1.0 + math.exp(-0.2 - 0.6 * pawns - moved))
                    games.append((line, pawns, float(rng.random() < chance)))
            found.append(line_error(curve, games))
        assert np.mean(found) == pytest.approx(own, abs=0.15)
    assert line_error(curve, []) == pytest.approx(0.3)
    alone = replace(curve, line_errors=(0.0, 0.4))
    for length, apart in ((3, 0.0), (4, 0.1), (30, 0.1)):
        error = alone.error([0.5], [1.0], [length])
        assert error**2 - curve.error([0.5], [1.0], [length]) ** 2 == pytest.approx(apart**2)
    many = [0.5] * 100  # what is special about each line averages out
    assert alone.error_of_lines(many, [0.01] * 100, [9] * 100) == pytest.approx(0.1 / 10)


def test_few_games_and_games_that_all_end_alike_give_a_curve_too() -> None:
    nothing = fitted([])
    assert (nothing.intercept, nothing.slope, nothing.games) == (0.0, 0.5, 0)
    assert (nothing.intercept_error, nothing.slope_error) == pytest.approx((1.0, 0.5))
    wins = fitted([([0.5, 1.0], 1.0)] * 40)
    assert 0.9 < wins.score(0.5) < 1.0
    assert math.isfinite(wins.intercept_error + wins.slope_error + wins.correlation)


def test_the_error_of_a_promise_is_that_of_its_derivative() -> None:
    curve = fitted(played(80, 0.2, 0.6, seed=3))
    pawns, weights = [-1.0, 0.0, 2.5], [0.2, 0.5, 0.3]

    def promise(a: float, b: float) -> float:
        moved = replace(curve, intercept=a, slope=b)
        return sum(w * moved.score(x) for w, x in zip(weights, pawns, strict=True))

    step = 1e-6
    a, b = curve.intercept, curve.slope
    toward = np.array([promise(a + step, b) - promise(a, b), promise(a, b + step) - promise(a, b)]) / step
    together = curve.correlation * curve.intercept_error * curve.slope_error
    spread = np.array([[curve.intercept_error**2, together], [together, curve.slope_error**2]])
    expected = math.sqrt(toward @ spread @ toward)
    found = curve.error([curve.score(x) for x in pawns], weights, [0] * 3)
    assert found == pytest.approx(expected, rel=1e-4)
    assert curve.error([0.0, 1.0], [0.5, 0.5], [0, 0]) == 0.0  # games that are over need no curve
    assert curve.pawns(curve.score(1.7)) == pytest.approx(1.7)


def test_reliability_parts_hold_all_positions() -> None:
    games = played(200, 0.3, 0.7, seed=8)
    bins = reliability(fitted(games), games)
    assert sum(part.positions for part in bins) == 600
    assert all(a.high <= b.low for a, b in itertools.pairwise(bins))
    assert all(abs(part.expected - part.played) < 4 * part.error + 0.02 for part in bins)
    assert reliability(fitted([]), []) == []


def test_a_handful_of_games_makes_no_results() -> None:
    assert fitted(played(19, 0.3, 0.7, seed=2)).tells == "model"
    assert fitted(played(20, 0.3, 0.7, seed=2)).tells == "results"
