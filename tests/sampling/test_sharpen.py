"""A first guess may be anything: what playouts make certain about the book does not rest on it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import Raw, books, games, worth

from preplay import response
from preplay.game import Side
from preplay.games import tabular
from preplay.games.tabular import Node, TabularPolicy
from preplay.growth import Pays, grow
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.sharpen import sharpen
from preplay.sampling.streams import Streams
from preplay.tree import Tree
from preplay.value import Value

BASE = (TabularPolicy("base"), TabularPolicy("base"))
EPSILON = 0.3


class Guess:
    """A number that has nothing to do with the game, and a radius that admits all others."""

    def values(self, states: Sequence[Node]) -> list[Value]:
        numbers = [hashlib.sha256(repr(s.history).encode()).digest()[0] / 255 for s in states]
        return [Value(x, max(x, 1 - x)) for x in numbers]


def guessed(raw: Raw, side: Side, cost: float) -> tuple[Any, Tree, AdaptiveRollouts[Node]]:
    game = tabular.parse(raw)
    tree = grow(game, side, BASE, TabularPolicy("prep"), Guess(), Pays(cost)).tree
    return game, tree, AdaptiveRollouts(game, Streams(game, BASE, seed=7), 0.01, first=0)


@settings(max_examples=15, deadline=None)
@given(games(depth=3, own=6), st.sampled_from([1, 2]), st.sampled_from([0.02, 0.1]))
def test_the_guarantee_holds_whatever_the_guess(raw: Raw, side: Side, cost: float) -> None:
    game, tree, rollouts = guessed(raw, side, cost)
    found = sharpen(game, tree, side, cost, rollouts, EPSILON, trusted=True)
    assert found.ending in ("certified", "open")
    book = frozenset(tree.history(int(k)) for k in found.book)
    net = worth(raw["root"], side, book) - cost * len(book)
    best = max(worth(raw["root"], side, b) - cost * len(b) for b in books(raw["root"], side))
    assert net >= best - found.regret - 1e-9
    assert found.lower - 1e-9 <= net <= best <= found.upper + 1e-9
    if found.ending == "certified":
        assert found.regret <= EPSILON


@settings(max_examples=15, deadline=None)
@given(games(depth=3, own=6), st.sampled_from([1, 2]))
def test_without_playouts_the_guess_decides(raw: Raw, side: Side) -> None:
    game, tree, rollouts = guessed(raw, side, 0.02)
    found = sharpen(game, tree, side, 0.02, rollouts, EPSILON, most=0, trusted=True)
    assert found.samples == 0 or found.ending == "certified"  # there was nothing to decide
    assert sorted(found.book) == list(response.best_book(tree, side, 0.02).nodes)
