"""Speed of the core: solvers per history, bytes per history, growth, and what pruning saves.

Figures are the best of a few runs in one process; compare them within one run only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from preplay import response
from preplay.game import CHANCE, FINAL
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticValue
from preplay.growth import Goal, Grown, Lemma1, Limits, Pays, grow
from preplay.tree import Tree, from_parents


def random_tree(
    histories: int, branching: int = 3, luck: float = 0.1, seed: int = 0, randomness: float = 0.5
) -> Tree:
    """A random Tree of about `histories` histories, made in one go.

    Each history has 1 to 2 * branching - 1 children, players alternate by depth but for chance, and the
    values are the exact ones of base against base.
    """
    rng = np.random.default_rng(seed)
    parents = [np.array([-1], dtype=np.int64)]
    level = np.zeros(1, dtype=np.int64)
    total = 1
    while total < histories and len(level):
        children = rng.integers(1, 2 * branching, size=len(level))
        room = histories - total
        children = np.where(np.cumsum(children) <= room, children, 0)
        if not children.any():
            break
        parents.append(np.repeat(level, children))
        level = np.arange(total, total + len(parents[-1]))
        total += len(level)
    parent = np.concatenate(parents)
    depth = np.repeat(np.arange(len(parents)), [len(p) for p in parents])
    leaf = np.ones(total, dtype=np.bool_)
    leaf[parent[1:]] = False
    player = np.where(rng.random(total) < luck, CHANCE, 1 + depth % 2)
    player[leaf] = FINAL
    columns = []
    for _ in range(2):
        weight = np.exp(rng.normal(size=total) / randomness)
        weight[0] = 1.0
        sums = np.bincount(parent[1:], weights=weight[1:], minlength=total)
        weight[1:] /= sums[parent[1:]]
        columns.append(weight)
    base, prep = columns
    prep = np.where(player[np.maximum(parent, 0)] == CHANCE, base, prep)
    value = np.where(leaf, rng.random(total), 0.0)
    starts = np.cumsum([0] + [len(p) for p in parents])
    for d in range(len(parents) - 1, 0, -1):
        rows = slice(int(starts[d]), int(starts[d + 1]))
        above = slice(int(starts[d - 1]), int(starts[d]))
        value[above] += np.bincount(
            parent[rows] - above.start, base[rows] * value[rows], above.stop - above.start
        )
    return from_parents(parent, player, base, prep, np.clip(value, 0.0, 1.0))


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def solvers(sizes: list[int]) -> None:
    print("histories   best book    frontier   budget 100   (ns per history)   bytes per history")
    small = random_tree(1_000)
    for work in (response.best_book, response.frontier):  # compile first
        work(small, 1, 1e-3)
    response.best_book(small, 1, 0.0, 3)
    for size in sizes:
        tree = random_tree(size)
        runs = 5 if size <= 1_000_000 else 2
        cost = 1.0 / tree.size
        book = best_of(runs, lambda tree=tree, cost=cost: response.best_book(tree, 1, cost))  # type: ignore[misc]
        front = best_of(runs, lambda tree=tree: response.frontier(tree, 1))  # type: ignore[misc]
        limit = best_of(1, lambda tree=tree: response.best_book(tree, 1, 0.0, 100))  # type: ignore[misc]
        scale = 1e9 / tree.size
        print(
            f"{tree.size:>10,} {book * scale:>10.1f} {front * scale:>11.1f} {limit * scale:>11.1f} "
            f"{'':>19} {tree.nbytes / tree.size:>13.1f}"
        )


def pruning(cost: float) -> None:
    game = SyntheticGame(longest=40, widest=3)
    base, prep = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.2)

    def grown(goal: Goal) -> Grown:
        return grow(game, 1, (base, base), prep, SyntheticValue(), goal, Limits(window=256))

    print(f"\ngrowth at cost {cost:g}    histories   values asked   µs per history")
    rows = {}
    for name, goal in (("plain Lemma 1", Lemma1(cost)), ("pruned", Pays(cost))):
        start = time.perf_counter()
        rows[name] = grown(goal)
        took = time.perf_counter() - start
        done = rows[name]
        print(f"{name:<20} {done.histories:>12,} {done.values:>14,} {took / done.histories * 1e6:>14.1f}")
    ratio = rows["plain Lemma 1"].values / rows["pruned"].values
    nets = [response.best_book(done.tree, 1, cost).net for done in rows.values()]
    print(f"{ratio:.1f} times fewer evaluations; the same net: {nets[0]:.9f} and {nets[1]:.9f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    given = parser.parse_args()
    solvers([10_000, 100_000] if given.quick else [10_000, 100_000, 1_000_000, 10_000_000])
    pruning(1e-3 if given.quick else 1e-4)


if __name__ == "__main__":
    main()
