"""A fixed number of playouts: as many as Theorem 3 needs, within their radius."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from coingames import coin, playouts
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from preplay.errors import InputError
from preplay.games.tabular import Node
from preplay.sampling.rollouts import Rollouts, hoeffding_samples, theorem3_samples
from preplay.sampling.samplers import PlayoutRequest

# --- how many playouts ------------------------------------------------------------------------------


def test_theorem3_on_paper() -> None:
    # 16 ln(2² · 5 / (0.1 · 0.01)) / 0.1² by hand
    assert theorem3_samples(0.1, 0.1, 0.01, longest=4, widest=2) == math.ceil(1600 * math.log(20_000))


@given(
    st.floats(0.001, 1),
    st.floats(1e-9, 0.99),
    st.floats(1e-5, 3),
    st.integers(1, 200),
    st.integers(1, 200),
)
def test_the_paper_s_k_keeps_its_promise(
    epsilon: float, delta: float, cost: float, longest: int, widest: int
) -> None:
    histories = max(2.0, widest**2 * (longest + 1) / cost)
    k = theorem3_samples(epsilon, delta, cost, longest, widest)
    chernoff = 2 * histories * math.exp(-k / 2 * (epsilon / 2) ** 2)
    assert chernoff <= delta * (1 + 1e-9)
    assert hoeffding_samples(epsilon, delta, histories) <= k


@given(st.floats(0.001, 0.5), st.floats(1e-9, 0.99), st.integers(1, 10**9))
def test_hoeffding_samples_are_as_few_as_the_inequality_allows(
    epsilon: float, delta: float, histories: int
) -> None:
    def fails(k: int) -> float:
        return 2 * histories * math.exp(-2 * k * (epsilon / 2) ** 2)

    k = hoeffding_samples(epsilon, delta, histories)
    assert fails(k) <= delta * (1 + 1e-9)
    assert fails(k - 1) >= delta * (1 - 1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.1, 0.1), "epsilon 0.0; expected a number above 0"),
        ((0.1, 0.0, 0.1), "delta 0.0; expected a probability above 0 and below 1"),
        ((0.1, 1.0, 0.1), "delta 1.0; expected a probability above 0 and below 1"),
        ((0.1, 0.1, 0.0), "cost 0.0; expected a number above 0"),
        ((math.nan, 0.1, 0.1), "epsilon nan; expected a number above 0"),
    ],
)
def test_mistakes(arguments: tuple[float, float, float], message: str) -> None:
    with pytest.raises(InputError) as error:
        theorem3_samples(*arguments, longest=4, widest=2)
    assert str(error.value) == message


def test_at_least_one_sample() -> None:
    game = coin(0.5)
    with pytest.raises(InputError, match="samples 0; expected"):
        Rollouts(game, playouts(game), 0, 0.1)


# --- a fixed number of playouts ---------------------------------------------------------------------


def test_the_radius_covers() -> None:
    # 1500 estimates at δ = 0.1 each: more failures than this happen once in a million runs.
    game = coin(0.4)
    misses = 0
    for seed in range(1500):
        (value,) = Rollouts(game, playouts(game, seed), 20, 0.1).values([game.root()])
        misses += abs(value.mean - 0.4) > value.radius
    assert misses <= stats.binom.ppf(1 - 1e-6, 1500, 0.1)
    assert value.radius == pytest.approx(math.sqrt(math.log(20) / 40))


def test_many_samples_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    game = coin(0.4)
    states = [game.root(), game.root()]
    whole = Rollouts(game, playouts(game), 100, 0.1).values(states)
    monkeypatch.setattr("preplay.sampling.rollouts._AT_ONCE", 14)
    assert Rollouts(game, playouts(game), 100, 0.1).values(states) == whole
    assert Rollouts(game, playouts(game), 100, 0.1).values([]) == []


def test_nothing_random_needs_one_playout() -> None:
    game = coin(1.0)
    calls = 0
    sampler = playouts(game)

    class Counting:
        def play(self, requests: Sequence[PlayoutRequest[Node]]) -> Any:
            nonlocal calls
            calls += sum(request.count for request in requests)
            return sampler.play(requests)

    (value,) = Rollouts(game, Counting(), 10**7, 0.1).values([game.root()])
    assert value == (1.0, 0.0)
    assert calls < 10**6
