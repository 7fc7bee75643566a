"""Playouts and the fixed number of them: reproducible, asked once, unbiased, within their radius."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from randomgames import Raw, games, v
from scipy import stats

from preplay.errors import GameError, InputError
from preplay.game import Distribution, walk
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticState
from preplay.games.tabular import Node, TabularGame, TabularPolicy, parse
from preplay.policy import PolicyFunction, Uniform
from preplay.sampling.rollouts import (
    PlayoutRequest,
    Playouts,
    Rollouts,
    UniformPlayouts,
    at,
    hoeffding_samples,
    lottery,
    sampler_of,
    theorem3_samples,
)
from preplay.value import Exact

BASE = (TabularPolicy("base"), TabularPolicy("base"))


def playouts(game: TabularGame, seed: int = 0, **options: Any) -> Playouts[Node]:
    return Playouts(game, BASE, seed, **options)


def coin(p: float) -> TabularGame:
    """Player 1 wins with probability p."""
    actions = {
        "win": {"base": p, "prep": 1, "to": {"utility": 1}},
        "lose": {"base": 1 - p, "prep": 0, "to": {"utility": 0}},
    }
    return parse({"format": "preplay-game/1", "root": {"player": 1, "actions": actions}})


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


# --- playouts ---------------------------------------------------------------------------------------


def synthetic(**options: Any) -> Playouts[SyntheticState]:
    game = SyntheticGame(longest=6, widest=3, luck=0.2, seed=5)
    policy = SyntheticPolicy(game, "base", randomness=0.5)
    return Playouts(game, (policy, policy), 7, **options)


def test_a_playout_does_not_depend_on_its_company() -> None:
    sampler = synthetic()
    game = sampler.game
    starts = [at(game, walk(game, path)) for path in ([], ["0"], ["1", "2"], ["2", "0", "1"])]
    pool = lottery((), [s.states[0] for s in starts[1:3]], [1, 2], purpose=1)
    together = sampler.play([PlayoutRequest(s, 0, 40) for s in [*starts, pool]])
    for options in ({"batch": 1}, {"batch": 7}, {"memory": 1}, {"memory": 0}):
        other = synthetic(**options)
        for start, expected in reversed(list(zip([*starts, pool], together, strict=True))):
            (late, early) = other.play([PlayoutRequest(start, 25, 15), PlayoutRequest(start, 0, 25)])
            outcomes = np.concatenate((early.utilities, late.utilities))
            assert np.array_equal(outcomes, expected.utilities)
        alone = [float(other.play([PlayoutRequest(starts[0], j, 1)])[0].utilities[0]) for j in range(5)]
        assert alone == together[0].utilities[:5].tolist()
    assert len({*together[0].utilities.tolist()}) > 10


def test_seeds_and_purposes_give_other_games() -> None:
    game = coin(0.5)
    root = game.root()

    def outcomes(seed: int, purpose: int) -> list[float]:
        start = lottery((), [root], [1.0], purpose)
        return list(playouts(game, seed).play([PlayoutRequest(start, 0, 64)])[0].utilities)

    plain = outcomes(0, 0)
    assert plain == outcomes(0, 0)
    assert plain != outcomes(1, 0)
    assert plain != outcomes(0, 1)
    assert outcomes(0, 1) != outcomes(0, 2)


def test_policies_are_asked_once_for_a_history_and_once_for_a_ply() -> None:
    game = SyntheticGame(longest=5, widest=3, seed=1)
    asked: Counter[tuple[str, ...]] = Counter()
    calls = 0
    inner = SyntheticPolicy(game, "base", randomness=2.0)

    class Counting:
        def distributions(self, states: Sequence[SyntheticState]) -> list[Distribution]:
            nonlocal calls
            calls += 1
            asked.update(state.path for state in states)
            return inner.distributions(states)

    sampler = Playouts(game, (Counting(), Counting()), 0)
    sampler.play([PlayoutRequest(at(game, game.root()), 0, 500)])
    assert calls == 5
    assert max(asked.values()) == 1
    assert len(sampler.known) == len(asked) > 100
    sampler.play(
        [PlayoutRequest(at(game, walk(game, ["0"])), 0, 500), PlayoutRequest(at(game, game.root()), 0, 9)]
    )
    assert max(asked.values()) == 1


def test_memory_is_bounded() -> None:
    sampler = synthetic(memory=10)
    sampler.play([PlayoutRequest(at(sampler.game, sampler.game.root()), 0, 200)])
    assert len(sampler.known) == 10


def test_the_order_of_a_mapping_does_not_matter() -> None:
    game = coin(0.3)

    def turned(state: Node) -> Distribution:
        return dict(reversed(state.base.items()))

    request = PlayoutRequest(at(game, game.root()), 0, 50)
    plain = playouts(game).play([request])[0]
    policy = PolicyFunction(turned)
    assert np.array_equal(plain.utilities, Playouts(game, (policy, policy)).play([request])[0].utilities)


@settings(deadline=None, max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(games(depth=4))
def test_playouts_have_the_value_as_their_mean(raw: Raw) -> None:
    # Hoeffding at δ = 1e-9: the whole test fails by chance less than once in ten million runs.
    game = parse(raw)
    sampler = playouts(game)
    (value,) = Rollouts(game, sampler, 1000, 1e-9).values([game.root()])
    assert abs(value.mean - v(raw["root"])) <= value.radius + 1e-12
    children = list(game.root().children.values())
    weights = [k + 1.0 for k in range(len(children))]
    (pool,) = sampler.play([PlayoutRequest(lottery((), children, weights, 1), 0, 1000)])
    raws = [edge["to"] for edge in raw["root"]["actions"].values()]
    expected = sum(w * v(node) for w, node in zip(weights, raws, strict=True)) / sum(weights)
    assert abs(pool.utilities.mean() - expected) <= (0.104 if not pool.certain else 1e-12)


def test_every_line_is_played_as_often_as_it_should() -> None:
    names = "abcdef"
    shares = [0.05, 0.1, 0.3, 0.0, 0.25, 0.3]
    actions = {
        a: {"prob": p, "to": {"utility": k / 10}}
        for k, (a, p) in enumerate(zip(names, shares, strict=True))
    }
    game = parse({"format": "preplay-game/1", "root": {"player": "chance", "actions": actions}})
    (outcomes,) = playouts(game, 3).play([PlayoutRequest(at(game, game.root()), 0, 4000)])
    counts = Counter(np.round(outcomes.utilities * 10).astype(int).tolist())
    assert counts[3] == 0
    seen = [counts[k] for k in range(6) if shares[k]]
    assert stats.chisquare(seen, [4000 * p for p in shares if p]).pvalue > 1e-4


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


# --- broken games -----------------------------------------------------------------------------------


def test_broken_policies_and_games() -> None:
    game = coin(0.5)
    request = PlayoutRequest(at(game, game.root()), 0, 2)
    half = PolicyFunction[Node](lambda _: {"win": 0.5})
    with pytest.raises(GameError, match=r"history \[\]: probabilities sum to 0.5; expected 1"):
        Playouts(game, (half, half)).play([request])

    class Silent:
        def distributions(self, states: Sequence[Node]) -> list[Distribution]:
            return []

    with pytest.raises(GameError, match="base policy of player 1: 0 distributions for 1 histories"):
        Playouts(game, (Silent(), Silent())).play([request])
    game.root().children["win"].utility = 2.0
    with pytest.raises(GameError, match=r"history \['win'\]: utility 2.0; expected a number in \[0, 1\]"):
        playouts(game).play([PlayoutRequest(at(game, game.root()), 0, 20)])


def test_uniform_games_are_played_by_the_game_itself() -> None:
    openspiel = pytest.importorskip("preplay.games.openspiel")
    game = openspiel.openspiel("tic_tac_toe")
    even = Uniform(game)
    sampler = sampler_of(game, (even, even), 5)
    assert isinstance(sampler, UniformPlayouts)
    assert isinstance(sampler_of(game, (even, PolicyFunction(lambda s: {})), 5), Playouts)
    start = walk(game, ["x(0,0)", "o(1,1)"])
    root, exact = at(game, start), Exact(game, (even, even))
    (many,) = sampler.play([PlayoutRequest(root, 0, 4000)])
    truth = exact.values([start])[0].mean
    assert many.utilities.mean() == pytest.approx(truth, abs=4 * 0.5 / 4000**0.5)
    assert not many.certain
    # A playout depends on its start and number alone.
    parts = sampler.play([PlayoutRequest(root, 1000, 500), PlayoutRequest(root, 0, 1000)])
    assert np.array_equal(np.concatenate([parts[1].utilities, parts[0].utilities]), many.utilities[:1500])
    after = game.next(start, game.actions(start)[0])
    pool = lottery(("a",), [start, after], [1.0, 3.0], 1)
    (mixed,) = sampler.play([PlayoutRequest(pool, 0, 4000)])
    means = [value.mean for value in exact.values([start, after])]
    wanted = 0.25 * means[0] + 0.75 * means[1]
    assert mixed.utilities.mean() == pytest.approx(wanted, abs=4 * 0.5 / 4000**0.5)


def test_a_uniform_game_without_a_choice_is_certain() -> None:
    openspiel = pytest.importorskip("preplay.games.openspiel")
    game = openspiel.openspiel("tic_tac_toe")
    moves = ["x(0,0)", "o(0,1)", "x(0,2)", "o(1,1)", "x(1,0)", "o(1,2)", "x(2,1)", "o(2,0)"]
    last = walk(game, moves)
    (outcome,) = UniformPlayouts(game).play([PlayoutRequest(at(game, last), 0, 3)])
    assert outcome.certain
    assert outcome.utilities.tolist() == [game.utility(game.next(last, "x(2,2)"))] * 3
