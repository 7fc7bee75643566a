from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, norm

from preplay.errors import InputError
from preplay.scoring import (
    Tally,
    agreement,
    elo,
    elo_difference,
    expected_score,
    most_likely,
    normal_cdf,
    normal_quantile,
    score,
    sprt,
    superiority,
)

tallies = st.builds(Tally, *[st.integers(0, 400)] * 3).filter(lambda tally: tally.games > 0)


@pytest.mark.parametrize(
    ("points", "difference"),
    [(0.5, 0.0), (0.75, 190.8485), (0.64, 99.9510), (10 / 11, 400.0), (1.0, math.inf), (0.0, -math.inf)],
)
def test_elo_of_a_score(points: float, difference: float) -> None:
    assert elo(points) == pytest.approx(difference, abs=1e-4)
    assert expected_score(elo(points)) == pytest.approx(points)


def test_score_and_elo_by_hand() -> None:
    tally = Tally(60, 30, 10)
    points, difference = score(tally), elo_difference(tally)
    assert points.mean == 0.75
    # variance 0.6 (1 - .75)^2 + 0.3 (.5 - .75)^2 + 0.1 (.75)^2 = 0.1125
    assert points.error == pytest.approx(math.sqrt(0.1125 / 100))
    assert difference.mean == pytest.approx(190.8485, abs=1e-4)
    step = 1e-6
    slope = (elo(0.75 + step) - elo(0.75 - step)) / (2 * step)
    assert difference.error == pytest.approx(slope * points.error, rel=1e-6)
    assert difference.low == pytest.approx(elo(points.low))
    assert difference.high == pytest.approx(elo(points.high))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 500), st.integers(0, 500))
def test_without_draws_the_interval_is_wilsons(games: int, wins: int) -> None:
    wins = min(wins, games)
    points = score(Tally(wins, 0, games - wins))
    wilson = binomtest(wins, games).proportion_ci(0.95, "wilson")
    assert (points.low, points.high) == pytest.approx((wilson.low, wilson.high), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(tallies)
def test_the_interval_holds_the_mean_and_stays_a_utility(tally: Tally) -> None:
    points = score(tally)
    assert 0.0 <= points.low <= points.mean <= points.high <= 1.0
    assert points.low < points.high


@pytest.mark.parametrize(("draw", "win"), [(0.3, 0.5), (0.9, 0.06), (0.0, 0.98)])
def test_the_interval_covers_the_truth_as_often_as_it_says(draw: float, win: float) -> None:
    rng = np.random.default_rng(5)
    truth = win + draw / 2
    hits = 0
    for wins, draws, losses in rng.multinomial(200, [win, draw, 1 - win - draw], size=400):
        points = score(Tally(int(wins), int(draws), int(losses)))
        hits += points.low <= truth <= points.high
    assert hits / 400 == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize(
    ("tally", "los"),
    [
        (Tally(0, 7, 0), 0.5),
        (Tally(10, 80, 10), 0.5),
        (Tally(20, 0, 10), norm.cdf(10 / math.sqrt(30))),
        (Tally(10, 99, 20), 1 - norm.cdf(10 / math.sqrt(30))),
    ],
)
def test_superiority(tally: Tally, los: float) -> None:
    assert superiority(tally) == pytest.approx(los)


def test_normal_distribution() -> None:
    for z in (-5.0, -1.96, 0.0, 0.3, 4.0):
        assert normal_cdf(z) == pytest.approx(norm.cdf(z))
        assert normal_quantile(norm.cdf(z)) == pytest.approx(z, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(tallies, st.floats(0.02, 0.98))
def test_most_likely_distribution_beats_a_general_optimizer(tally: Tally, mean: float) -> None:
    found = most_likely(tally.counts, mean)
    assert sum(found.values()) == pytest.approx(1.0)
    assert sum(u * p for u, p in found.items()) == pytest.approx(mean, abs=1e-9)
    assert min(found.values()) >= 0.0

    def loss(draw: float) -> float:
        win = mean - draw / 2
        chances = (1 - win - draw, draw, win)
        pairs = zip(chances, (tally.losses, tally.draws, tally.wins), strict=True)
        return -sum(c * math.log(max(p, 1e-300)) for p, c in pairs if c)

    most = 2 * min(mean, 1 - mean)
    best = min(loss(float(d)) for d in np.linspace(0.0, most, 2001))
    start = float(min(np.linspace(0.0, most, 201), key=lambda d: loss(float(d))))
    polished = minimize_scalar(loss, bounds=(max(0.0, start - most / 200), min(most, start + most / 200)))
    assert loss(found[0.5]) <= min(best, float(polished.fun)) + 1e-6


def test_sprt_by_hand() -> None:
    # Without draws the three results are a coin: the ratio is Bernoulli's.
    p0, p1 = expected_score(0.0), expected_score(50.0)
    test = sprt(Tally(30, 0, 20), 0.0, 50.0)
    assert test.llr == pytest.approx(
        30 * math.log(p1 / p0) + 20 * math.log((1 - p1) / (1 - p0)), rel=1e-9
    )
    assert test.upper == pytest.approx(math.log(0.95 / 0.05))
    assert test.lower == -test.upper
    assert test.decision == "go on"
    assert sprt(Tally(90, 0, 10), 0.0, 50.0).decision == "elo1"
    assert sprt(Tally(10, 0, 90), 0.0, 50.0).decision == "elo0"
    assert sprt(Tally(0, 0, 0), 0.0, 50.0).llr == 0.0


def test_sprt_llr_of_a_long_match() -> None:
    """For small differences it is close to n (s1 - s0)(2 s - s0 - s1) / (2 variance)."""
    tally = Tally(2600, 5000, 2400)
    n, s = tally.games, 0.51
    variance = 0.26 * 0.49**2 + 0.5 * 0.01**2 + 0.24 * 0.51**2
    s0, s1 = expected_score(0.0), expected_score(5.0)
    approximation = n * (s1 - s0) * (2 * s - s0 - s1) / (2 * variance)
    assert sprt(tally, 0.0, 5.0).llr == pytest.approx(approximation, rel=0.02)


@pytest.mark.parametrize(("truth", "wrong"), [(0.0, "elo1"), (60.0, "elo0")])
def test_sprt_errs_as_rarely_as_it_says(truth: float, wrong: str) -> None:
    rng = np.random.default_rng(11)
    draw = 0.4
    win = expected_score(truth) - draw / 2
    mistakes = 0
    for _ in range(150):
        counts = np.zeros(3, dtype=int)
        decision = "go on"
        while decision == "go on":
            counts += rng.multinomial(10, [win, draw, 1 - win - draw])
            decision = sprt(Tally(*map(int, counts)), 0.0, 60.0, 0.1, 0.1).decision
        mistakes += decision == wrong
    assert mistakes / 150 <= 0.16


def test_agreement_by_hand() -> None:
    played = [1.0] * 70 + [0.0] * 30
    test = agreement(0.6, played)
    # A coin of 0.6: the spread of the mean is sqrt(0.6 * 0.4 / 100).
    z = 0.1 / math.sqrt(0.24 / 100)
    assert test.z == pytest.approx(z)
    assert test.p_value == pytest.approx(2 * norm.sf(z))
    assert not test.agrees
    assert test.played.mean == pytest.approx(0.7)
    assert test.games == 100
    assert agreement(0.7, played).p_value == 1.0
    assert agreement(0.65, played).agrees
    assert agreement(0.6, played, radius=0.06).agrees
    # both means are estimates: the variances add
    own = test.played.mean - 0.6
    both = agreement(0.6, played, radius=1.96 * abs(own / test.z))
    assert both.z == pytest.approx(test.z / 2**0.5, rel=1e-3)


def test_agreement_when_all_games_end_alike() -> None:
    assert agreement(0.99, [1.0] * 100).agrees
    assert not agreement(0.9, [1.0] * 100).agrees
    assert agreement(1.0, [1.0] * 5).p_value == 1.0
    assert agreement(1.0, [1.0, 0.5]).p_value == 0.0
    assert agreement(0.5, [0.5] * 400).p_value == 1.0
    assert agreement(0.0, [0.0]).agrees


@pytest.mark.parametrize("chances", [(0.2, 0.5, 0.3), (0.0, 0.9, 0.1), (0.02, 0.0, 0.98)])
def test_agreement_rejects_the_truth_about_one_time_in_twenty(
    chances: tuple[float, float, float],
) -> None:
    rng = np.random.default_rng(3)
    truth = chances[1] / 2 + chances[2]
    rejected = 0
    for _ in range(400):
        played = rng.choice([0.0, 0.5, 1.0], 300, p=chances)
        rejected += not agreement(truth, played.tolist()).agrees
    assert rejected / 400 == pytest.approx(0.05, abs=0.04)


def test_agreement_notices_a_wrong_promise() -> None:
    rng = np.random.default_rng(4)
    noticed = sum(
        not agreement(0.5, rng.choice([0.0, 0.5, 1.0], 400, p=(0.2, 0.4, 0.4)).tolist()).agrees
        for _ in range(100)
    )
    assert noticed >= 95


def test_any_utilities() -> None:
    test = agreement(0.6, [0.25, 0.61, 0.8, 0.7] * 20)
    assert test.played.mean == pytest.approx(0.59)
    assert test.agrees
    assert score({0.3: 4}).mean == pytest.approx(0.3)


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"results \+-1 =0 -0"):
        Tally(-1, 0, 0)
    with pytest.raises(InputError, match="no games"):
        score(Tally(0, 0, 0))
    with pytest.raises(InputError, match="expected elo0 < elo1"):
        sprt(Tally(1, 1, 1), 5.0, 5.0)
    with pytest.raises(InputError, match="alpha 0 and beta"):
        sprt(Tally(1, 1, 1), 0.0, 5.0, 0, 0.05)
    with pytest.raises(InputError, match=r"utility 1\.5; expected a number in \[0, 1\]"):
        agreement(0.5, [1.5])
    with pytest.raises(InputError, match="promised utility 2"):
        agreement(2, [1.0])
    with pytest.raises(InputError, match=r"score 1\.2"):
        elo(1.2)


def test_utilities_are_results_too() -> None:
    tally = Tally(7, 5, 3)
    same = {1.0: 7, 0.5: 5, 0.0: 3}
    assert superiority(same) == superiority(tally)
    assert elo_difference(same) == elo_difference(tally)
    assert sprt(same, 0.0, 100.0) == sprt(tally, 0.0, 100.0)
    # A mean of 0.8 is worth its Elo whatever it is made of.
    steady = {0.75: 20, 0.85: 20}
    assert elo_difference(steady).mean == pytest.approx(elo(0.8))
    assert elo(0.7) < elo_difference(steady).low
    assert superiority(steady) > 0.999
    assert superiority({0.44: 5}) < 0.5
    assert sprt(steady, 0.0, 200.0).decision == "elo1"
