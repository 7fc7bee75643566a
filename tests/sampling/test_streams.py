"""Playouts at their own pace: the right means, and nothing depends on company or order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from randomgames import Raw, games, v

from preplay.errors import GameError
from preplay.game import Distribution
from preplay.games import tabular
from preplay.games.tabular import Node, TabularPolicy
from preplay.policy import PolicyFunction
from preplay.sampling.samplers import PlayoutRequest, at, lottery
from preplay.sampling.streams import Streams, play_alike

BASE = (TabularPolicy("base"), TabularPolicy("base"))


@settings(max_examples=15, deadline=None)
@given(games(depth=4))
def test_means_are_those_of_base_against_base(raw: Raw) -> None:
    game = tabular.parse(raw)
    (outcome,) = Streams(game, BASE).play([PlayoutRequest(at(game, game.root()), 0, 400)])
    spread = max(0.25**0.5, float(outcome.utilities.std())) / 400**0.5
    assert outcome.utilities.mean() == pytest.approx(v(raw["root"]), abs=5 * spread)
    if outcome.certain:
        assert np.ptp(outcome.utilities) == 0.0
        assert outcome.utilities[0] == pytest.approx(v(raw["root"]))


@settings(max_examples=15, deadline=None)
@given(games(depth=4))
def test_a_playout_depends_on_its_start_and_number_alone(raw: Raw) -> None:
    game = tabular.parse(raw)
    root = at(game, game.root())
    below = [at(game, child) for child in game.root().children.values()]
    whole = Streams(game, BASE, seed=3).play(
        [PlayoutRequest(root, 0, 20), *(PlayoutRequest(b, 0, 5) for b in below)]
    )
    alone = Streams(game, BASE, seed=3, at_once=1)
    for request, outcome in zip(
        [PlayoutRequest(root, 7, 6), *(PlayoutRequest(b, 0, 5) for b in below)],
        [whole[0].utilities[7:13], *(o.utilities for o in whole[1:])],
        strict=True,
    ):
        assert np.array_equal(alone.play([request])[0].utilities, outcome)
    first, second = play_alike([alone, Streams(game, BASE, seed=4)], PlayoutRequest(root, 0, 20))
    assert np.array_equal(first.utilities, whole[0].utilities)
    assert np.array_equal(
        second.utilities, Streams(game, BASE, seed=4).play([PlayoutRequest(root, 0, 20)])[0].utilities
    )


def coin(player: int, p: float) -> Raw:
    sides = {"heads": (p, 1.0), "tails": (1 - p, 0.0)}
    edges = {n: {"base": q, "prep": 0.5, "to": {"utility": u}} for n, (q, u) in sides.items()}
    return {"player": player, "actions": edges}


def test_a_lottery_draws_its_states_by_their_weights() -> None:
    raw = {"format": "preplay-game/1", "root": coin(1, 0.5)}
    game = tabular.parse(raw)
    ends = list(game.root().children.values())
    start = lottery((), ends, [3.0, 1.0], purpose=1)
    (outcome,) = Streams(game, BASE).play([PlayoutRequest(start, 0, 2000)])
    assert outcome.utilities.mean() == pytest.approx(0.75, abs=0.05)
    assert not outcome.certain
    (nothing,) = Streams(game, BASE).play([PlayoutRequest(start, 0, 0)])
    assert len(nothing.utilities) == 0
    assert not nothing.certain


def test_searches_are_asked_ahead_for_as_many_games_as_are_under_way() -> None:
    raw = {"format": "preplay-game/1", "root": coin(2, 0.25)}
    game = tabular.parse(raw)
    log: list[str] = []

    class Thinker:
        def prefetch(self, states: Sequence[Node]) -> None:
            log.append("ask")

        def distributions(self, states: Sequence[Node]) -> Sequence[Distribution]:
            log.append("answer")
            return [state.base for state in states]

    thinker: Any = Thinker()
    Streams(game, (thinker, thinker), at_once=3).play([PlayoutRequest(at(game, game.root()), 0, 5)])
    assert log == ["ask"] * 3 + ["answer", "ask"] * 2 + ["answer"] * 3


def test_nonsense_is_told() -> None:
    game = tabular.parse({"format": "preplay-game/1", "root": coin(1, 0.5)})
    bad: Any = PolicyFunction(lambda state: {"heads": 0.7})
    with pytest.raises(GameError, match=r"history \[\]: probabilities sum to 0.7"):
        Streams(game, (bad, bad)).play([PlayoutRequest(at(game, game.root()), 0, 1)])
