"""The explicit game G': Lemma 4, and its size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from publictrees import COSTS, Book, books, compiling, complete, reachable, trees, utility

from preplay.equilibria.explicit import (
    CHANCE,
    TERMINAL,
    UNIT,
    ExplicitGame,
    explicit_game,
    explicit_size,
)
from preplay.errors import InputError

SEEDS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def play(game: ExplicitGame, one: Book, two: Book, index: int = 0) -> float:
    """Player 1's expected payoff in G' when both follow pure books."""
    node = game.nodes[index]
    if node.player == TERMINAL:
        return float(node.payoff / UNIT)
    if node.player == CHANCE:
        return sum(
            float(p / UNIT) * play(game, one, two, c)
            for p, c in zip(node.probabilities, node.children, strict=True)
        )
    stays = node.history in (one if node.player == 1 else two)
    return play(game, one, two, node.children[0 if stays else 1])


@compiling
@given(trees(most=20), COSTS, SEEDS)
def test_lemma_4(tree: Any, costs: Any, rng: Any) -> None:
    game = explicit_game(tree, costs)
    options = books(tree, 1), books(tree, 2)
    for _ in range(10):
        one, two = (side[rng.integers(len(side))] for side in options)
        expected = utility(tree, one, two)
        # Histories that prep cannot reach are never asked about, so G' does not charge for them.
        paid = [sum(reachable(tree, k, s) for k in book) for s, book in ((1, one), (2, two))]
        expected += -costs[0] * paid[0] + costs[1] * paid[1]
        assert play(game, one, two) == pytest.approx(expected, abs=1e-9)


@compiling
@given(trees(most=30), SEEDS)
def test_size_is_known_beforehand(tree: Any, rng: Any) -> None:
    mask = rng.random(tree.size) < 0.7
    for memorizable in (None, mask):
        game = explicit_game(tree, (0.1, 0.1), memorizable=memorizable)
        assert explicit_size(tree, memorizable=memorizable) == len(game.nodes)
        for index, node in enumerate(game.nodes):
            assert all(game.nodes[c].parent == index for c in node.children)


def test_sizes_of_full_trees() -> None:
    assert explicit_size(complete(10, 2, 0)) == 73_727
    assert explicit_size(complete(12, 2, 0)) == 401_407


def test_too_large_is_refused() -> None:
    with pytest.raises(InputError, match="73,727 nodes; expected at most 1,000"):
        explicit_game(complete(10, 2, 0), (0.1, 0.1), limit=1_000)
