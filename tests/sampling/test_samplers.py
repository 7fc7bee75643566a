"""Playouts: reproducible, asked once, unbiased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from coingames import coin, playouts
from hypothesis import HealthCheck, given, settings
from randomgames import Raw, games, v
from scipy import stats

from preplay.errors import GameError
from preplay.game import Distribution, walk
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticState
from preplay.games.tabular import Node, parse
from preplay.policy import PolicyFunction, Uniform
from preplay.sampling.rollouts import Rollouts
from preplay.sampling.samplers import PlayoutRequest, Playouts, UniformPlayouts, at, lottery, sampler_of
from preplay.value import Exact


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
