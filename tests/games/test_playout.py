from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nestedgame import Branch, NestedGame, chance, decisions

from preplay.games.openspiel import OpenSpielState, openspiel
from preplay.games.playout import playouts, sample
from preplay.policy import Uniform
from preplay.value import Exact

GAMES = 4000
RADIUS = math.sqrt(math.log(2 / 1e-9) / (2 * GAMES))
"""Hoeffding: a right mean of so many games is further off with probability 1e-9."""


@settings(deadline=None)
@given(decisions, st.integers(0, 2**32))
def test_playouts_average_to_the_value_of_uniform_play(start: Branch, seed: int) -> None:
    game = NestedGame(start)
    rng, play = random.Random(seed), playouts(game)
    mean = sum(play(game.root(), rng) for _ in range(GAMES // 10)) / (GAMES // 10)
    (value,) = Exact(game, (Uniform(game), Uniform(game))).values([game.root()])
    assert abs(mean - value.mean) <= RADIUS * math.sqrt(10)


@pytest.mark.parametrize(
    "name", ["connect_four(rows=3,columns=3,x_in_row=3)", "pig(winscore=3,horizon=4)"]
)
def test_openspiels_playouts_average_to_the_value_of_uniform_play(name: str) -> None:
    pytest.importorskip("pyspiel")
    game, rng = openspiel(name), random.Random(1)
    play = playouts(game)
    assert play == game.playout
    mean = sum(play(game.root(), rng) for _ in range(GAMES)) / GAMES
    (value,) = Exact(game, (Uniform(game), Uniform(game))).values([game.root()])
    assert abs(mean - value.mean) <= RADIUS


class ByName:
    """A game without a `playout` of its own."""

    def __init__(self, game: object) -> None:
        for name in ("longest", "player", "actions", "chance", "next", "utility"):
            setattr(self, name, getattr(game, name))


@pytest.mark.parametrize("name", ["tic_tac_toe", "breakthrough(rows=5,columns=4)", "backgammon", "pig"])
def test_by_names_and_by_numbers_play_the_same_game(name: str) -> None:
    pytest.importorskip("pyspiel")
    game = openspiel(name)
    by_name: Callable[[OpenSpielState, random.Random], float]
    by_name = playouts(ByName(game))  # type: ignore[arg-type]
    for seed in range(5):
        root = game.root()
        assert by_name(root, random.Random(seed)) == game.playout(root, random.Random(seed))


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1).filter(any), st.floats(0, 1, exclude_max=True))
def test_a_draw_falls_on_an_outcome_that_can_happen(parts: list[int], draw: float) -> None:
    weights = chance([0.0] * len(parts), parts).weights
    k = sample(enumerate(weights), draw)
    assert weights[k] > 0
    assert sum(weights[:k]) - 1e-9 <= draw <= sum(weights[: k + 1]) + 1e-9


def test_a_draw_needs_an_outcome() -> None:
    with pytest.raises(ValueError, match="no outcome"):
        sample([("a", 0.0)], 0.5)
