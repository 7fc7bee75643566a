"""Kuhn's behaviour strategies, entropies and the condition of Theorem 2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from publictrees import before, compiling, law, random_mixed, trees, utility, v

from preplay.equilibria import solve
from preplay.equilibria.strategy import behaviour, first_advantages, play_entropy
from preplay.tree import Tree, from_parents

SEEDS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def line_probability(tree: Tree, book: frozenset[int], side: int, k: int) -> float:
    """The side's own part of the probability of reaching k with a pure book."""
    p = 1.0
    while tree.parent[k] >= 0:
        above = int(tree.parent[k])
        if tree.player[above] == side:
            p *= float((tree.prep if above in book else tree.base)[k])
        k = above
    return p


@compiling
@given(trees(), SEEDS, st.sampled_from([1, 2]))
def test_behaviour_reaches_what_the_mixed_book_reaches(tree: Any, rng: Any, side: Any) -> None:
    x = random_mixed(tree, side, rng)
    move = behaviour(tree, side, x)
    laws = [(book, p) for book, p in law(tree, side, x) if p > 0.0]
    for k in range(tree.size):
        product, at = 1.0, k
        while at > 0:
            product *= move[at]
            at = int(tree.parent[at])
        mean = sum(p * line_probability(tree, book, side, k) for book, p in laws)
        assert product == pytest.approx(mean, abs=1e-12)
        if tree.player[k] == side and len(tree.children(k)):
            assert sum(move[c] for c in tree.children(k)) == pytest.approx(1.0)


@compiling
@given(trees(), SEEDS)
def test_entropy_of_play(tree: Any, rng: Any) -> None:
    x = random_mixed(tree, 1, rng), random_mixed(tree, 2, rng)
    one, two = behaviour(tree, 1, x[0]), behaviour(tree, 2, x[1])
    total = 0.0
    for k in np.flatnonzero(tree.leaves):
        p, at = 1.0, int(k)
        while at > 0:
            above = int(tree.parent[at])
            p *= tree.base[at] if tree.player[above] == 0 else one[at] * two[at]
            at = above
        total -= p * math.log(p) if p > 0.0 else 0.0
    found = play_entropy(tree, x)
    assert found.total == pytest.approx(total, abs=1e-12)
    assert found.total == pytest.approx(sum(found.sides) + found.chance, abs=1e-12)


@compiling
@given(trees(most=14), SEEDS, st.sampled_from([1, 2]), st.integers(0, 10), st.booleans())
def test_first_advantages_by_walking(  # noqa: C901  # the slow way, written out
    tree: Any, rng: Any, side: Any, tenths: Any, partly: bool
) -> None:
    level = tenths / 10 - 1e-6
    other = 3 - side
    x = random_mixed(tree, other, rng)
    laws = [(book, p) for book, p in law(tree, other, x) if p > 0.0]
    studied = rng.random(tree.size) < 0.7 if partly else None

    def met(k: int, book: frozenset[int]) -> float:
        """The opponent's and chance's part of the probability of k."""
        p = line_probability(tree, book, other, k)
        while k > 0:
            above = int(tree.parent[k])
            p *= float(tree.base[k]) if tree.player[above] == 0 else 1.0
            k = above
        return p

    def stopped(k: int, book: frozenset[int]) -> bool:
        above = before(tree, k, other)
        return above is not None and above not in book

    def value(k: int) -> float:
        """What stopping at k earns, against the books that come there."""
        parts = [(met(k, book) * p, book) for book, p in laws]
        total = sum(p for p, _ in parts)
        if not total > 0.0:
            return mine(v(tree, k))
        return sum(p * mine(after(k, book)) for p, book in parts) / total

    def after(k: int, book: frozenset[int]) -> float:
        out = frozenset({other}) if stopped(k, book) else frozenset()
        books = (frozenset(), book) if side == 1 else (book, frozenset())
        return utility(tree, *books, k, out)

    def mine(worth: float) -> float:
        return worth if side == 1 else 1.0 - worth

    found: dict[int, float] = {}

    def walk(k: int, p: float) -> None:
        if p == 0.0:
            return
        if tree.player[k] in (side, -1) and value(k) >= level:
            found[k] = p * sum(met(k, book) * q for book, q in laws)
        elif tree.player[k] != side or studied is None or studied[k]:
            for c in tree.children(k):
                walk(c, p * float(tree.prep[c]) if tree.player[k] == side else p)

    walk(0, 1.0)
    reached = sum(found.values())
    parts = [p / reached for p in found.values() if p > 0.0]
    (answer,) = first_advantages(tree, side, x, [level], studied)
    assert answer.reached == pytest.approx(reached, abs=1e-12)
    assert answer.entropy == pytest.approx(-sum(p * math.log(p) for p in parts), abs=1e-9)


def maze(doors: int, opens: float, side: int) -> Tree:
    """The opponent picks one of many doors; prep always has the key, base only rarely."""
    other = 3 - side
    parent = np.concatenate([[-1], np.zeros(doors, int), np.repeat(np.arange(1, doors + 1), 2)])
    player = np.concatenate([[other], np.full(doors, side), np.full(2 * doors, -1)])
    base = np.concatenate([[1.0], np.full(doors, 1 / doors), np.tile([opens, 1 - opens], doors)])
    prep = np.concatenate([[1.0], np.full(doors, 1 / doors), np.tile([1.0, 0.0], doors)])
    prep[1 : doors + 1] = 0.0
    prep[1] = 1.0  # studied play of the opponent always takes the first door
    wins = 1.0 if side == 1 else 0.0
    value = np.concatenate([np.full(doors + 1, np.nan), np.tile([wins, 1 - wins], doors)])
    return from_parents(parent, player, base, prep, value)


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("doors", [1_500, 20_000])
def test_theorem_2_on_a_game_that_meets_its_conditions(side: Any, doors: Any) -> None:
    cost, longest = 1e-4, 2
    tree = maze(doors, 0.2, side)
    costs = (cost, 0.01) if side == 1 else (0.01, cost)
    result = solve(tree, costs, gap=1e-9)
    value = result.value if side == 1 else 1.0 - result.value
    opponent = result.x[2 - side]
    nontrivial = 0
    levels = (value + 0.05, (value + 1) / 2, 0.95)
    for level, found in zip(levels, first_advantages(tree, side, opponent, levels), strict=True):
        assert found.reached == pytest.approx(1.0)
        bound = (level - value - 0.01) * (math.log(1 / (cost * longest)) - 5)
        assert found.entropy >= bound - 1e-9
        nontrivial += bound > 0.01
    assert nontrivial
