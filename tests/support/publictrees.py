"""Small random trees, and the meta-game on them by plain enumeration: slow, and nothing shared with
the code under test."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from preplay.tree import Tree, check_arrays, from_parents

Book = frozenset[int]

compiling = settings(deadline=None, max_examples=60)  # the first example may have to compile the loops


@st.composite
def trees(draw: st.DrawFn, most: int = 16, radius: bool = False, estimates: bool | None = None) -> Tree:
    """Up to about `most` histories: unequal depths, chance, double moves, zero probabilities.

    With `estimates`, decisions have a value of their own, which stands where both have stopped; by
    default some trees have none (their values are exact), some at every decision, some here and there.
    """
    noted = [0.0, 0.5, 1.0] if estimates is None else [1.0] if estimates else [0.0]
    share = draw(st.sampled_from(noted))
    parent, player, base, prep, value = [-1], [0], [1.0], [1.0], [0.5]
    spread = [0.0]
    k = 0
    while k < len(parent):
        room = most - len(parent)
        kinds: list[int | str] = (
            ["leaf"] if room < 2 else [1, 2, 1, 2, 0] if k < 3 else [1, 2, 1, 2, 0, "leaf"]
        )
        kind = draw(st.sampled_from(kinds))
        if kind == "leaf":
            player[k] = draw(st.sampled_from([-1, 1, 2]))
            value[k] = draw(st.integers(0, 10)) / 10
            spread[k] = draw(st.integers(0, 3)) / 20 if radius else 0.0
        else:
            player[k] = int(kind)
            count = draw(st.integers(1, min(3, room)))
            plans = [draw(weights(count)) for _ in range(2)]
            if kind == 0:
                plans[1] = plans[0]
            for first, second in zip(*plans, strict=True):
                parent.append(k)
                player.append(0)
                base.append(first)
                prep.append(second)
                value.append(float("nan"))
                spread.append(0.0)
            value[k] = float("nan")
            if kind != 0 and (share == 1.0 or (share > 0.0 and draw(st.booleans()))):
                value[k] = draw(st.integers(0, 10)) / 10
                spread[k] = draw(st.integers(0, 3)) / 20 if radius else 0.0
        k += 1
    tree = from_parents(parent, player, base, prep, value, radius=spread)
    check_arrays(tree)
    return tree


@functools.cache
def weights(count: int) -> st.SearchStrategy[list[float]]:
    """A distribution over `count` actions, often with zeros."""
    whole = [parts for parts in itertools.product(range(5), repeat=count) if any(parts)]
    return st.sampled_from(whole).map(lambda parts: [part / sum(parts) for part in parts])


COSTS = st.tuples(*[st.sampled_from([0.0, 0.001, 0.01, 0.03, 0.1, 0.4])] * 2)


def own(tree: Tree, side: int, mask: np.ndarray | None = None) -> list[int]:
    """The histories that `side` can memorize."""
    return [
        k
        for k in range(tree.size)
        if tree.player[k] == side and len(tree.children(k)) and (mask is None or mask[k])
    ]


def before(tree: Tree, k: int, side: int) -> int | None:
    """The own history before k."""
    k = int(tree.parent[k])
    while k >= 0 and tree.player[k] != side:
        k = int(tree.parent[k])
    return None if k < 0 else k


def books(tree: Tree, side: int, mask: np.ndarray | None = None) -> list[Book]:
    """Every prefix-closed set of own histories."""
    found: list[Book] = [frozenset()]
    for k in own(tree, side, mask):  # prefixes come first in the tree's order
        above = before(tree, k, side)
        found += [book | {k} for book in found if above is None or above in book]
    return found


def v(tree: Tree, k: int) -> float:
    """v(h): the estimate, or base against base."""
    if not np.isnan(tree.value[k]):
        return float(tree.value[k])
    return sum(float(tree.base[c]) * v(tree, c) for c in tree.children(k))


def utility(tree: Tree, one: Book, two: Book, k: int = 0, stopped: frozenset[int] = frozenset()) -> float:
    """u of two pure books, by walking every line: v(h) where the second of the two stops."""
    if not len(tree.children(k)):
        return float(tree.value[k])
    mover = int(tree.player[k])
    column = tree.base
    if mover > 0 and mover not in stopped:
        if k in (one if mover == 1 else two):
            column = tree.prep
        else:
            stopped = stopped | {mover}
            if len(stopped) == 2:
                return v(tree, k)
    return sum(
        float(column[c]) * utility(tree, one, two, c, stopped)
        for c in tree.children(k)
        if column[c] > 0.0
    )


def matrix(tree: Tree, costs: tuple[float, float], mask: np.ndarray | None = None) -> np.ndarray:
    """The meta-game as a matrix: rows are player 1's books, columns player 2's."""
    rows, columns = books(tree, 1, mask), books(tree, 2, mask)
    return np.array(
        [[utility(tree, a, b) - costs[0] * len(a) + costs[1] * len(b) for b in columns] for a in rows]
    )


def matrix_value(game: np.ndarray) -> float:
    """The value of a matrix game by linear programming."""
    rows, columns = game.shape
    answer = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-game.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert answer.status == 0
    assert answer.x is not None
    return float(answer.x[-1])


def law(tree: Tree, side: int, x: np.ndarray) -> Iterator[tuple[Book, float]]:
    """The pure books of a mixed one with probabilities, each history decided on its own."""
    for book in books(tree, side):
        p = 1.0
        for k in own(tree, side):
            above = before(tree, k, side)
            if above is None or above in book:
                limit = 1.0 if above is None else x[above]
                stay = x[k] / limit if limit > 0.0 else 0.0
                p *= stay if k in book else 1.0 - stay
        yield book, p


def mixed_payoff(tree: Tree, costs: tuple[float, float], x: tuple[np.ndarray, np.ndarray]) -> float:
    """The payoff of a pair of mixed books, as the mean over pure ones."""
    pairs = itertools.product(law(tree, 1, x[0]), law(tree, 2, x[1]))
    return sum(
        p * q * (utility(tree, a, b) - costs[0] * len(a) + costs[1] * len(b))
        for (a, p), (b, q) in pairs
        if p * q > 0.0
    )


def indicator(tree: Tree, book: Book) -> np.ndarray:
    """A pure book as a mixed one."""
    x = np.zeros(tree.size)
    x[list(book)] = 1.0
    return x


def random_mixed(
    tree: Tree, side: int, rng: np.random.Generator, mask: np.ndarray | None = None
) -> np.ndarray:
    """A mixed book with every kind of entry: 0, 1 and in between."""
    x = np.zeros(tree.size)
    for k in own(tree, side, mask):
        above = before(tree, k, side)
        limit = 1.0 if above is None else x[above]
        x[k] = limit * rng.choice([0.0, 1.0, rng.random(), rng.random()])
    return x


def complete(depth: int, branching: int, seed: int) -> Tree:
    """A full tree with alternating players, random policies and values."""
    rng = np.random.default_rng(seed)
    sizes = [branching**d for d in range(depth + 1)]
    n = sum(sizes)
    level = np.repeat(np.arange(depth + 1), sizes)
    inner = (n - 1) // branching
    value = np.where(level == depth, rng.random(n), np.nan)
    return from_parents(
        np.append(-1, np.repeat(np.arange(inner), branching)),
        np.where(level == depth, -1, 1 + level % 2),
        np.append(1.0, rng.dirichlet(np.ones(branching), inner).ravel()),
        np.append(1.0, rng.dirichlet(np.ones(branching), inner).ravel()),
        value,
    )


def reachable(tree: Tree, k: int, side: int) -> bool:
    """Whether k can be met by a side in book, whatever the others do."""
    while tree.parent[k] >= 0:
        above = int(tree.parent[k])
        either = max(tree.base[k], tree.prep[k]) if tree.player[above] == 3 - side else 0.0
        move = tree.prep[k] if tree.player[above] == side else either
        if (tree.base[k] if tree.player[above] == 0 else move) == 0.0:
            return False
        k = above
    return True
