"""Algorithm 1: the best book against a fixed opponent, for a cost, for a size limit, for all costs.

Gains add up (fact 1 of docs/model.md), so the best book is the heaviest prefix-closed subtree. All
results are from the point of view of the preparing side, and every book is valued a second time,
independently, by playing it forward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from preplay import _kernels as kernels
from preplay.arguments import check_made, check_number, check_player, check_whole, shown
from preplay.errors import InputError, SolverError
from preplay.game import Side
from preplay.tree import Bools, Floats, Ints, Tree

AGREEMENT = 1e-9
"""How far the value of the solver's pass and the value of forward play may be apart."""
TABLE = 400_000_000
"""The largest knapsack table, in entries of eight bytes."""


@dataclass(frozen=True, eq=False)
class BestBook:
    """The best book for a cost and perhaps a size limit, from the point of view of `side`."""

    side: Side
    cost: float
    budget: int | None
    baseline: float  # v of the root: nobody prepares
    unprepared: float  # the empty book, valued at the first own histories: the baseline if v is exact
    value: float  # what the book earns, costs not subtracted
    upper: float  # no book has a larger value - cost * size
    error: float  # how far the radius of estimated v(h) can move `value`; 0 when they are exact
    nodes: Ints  # [size] the book's histories as indices of the tree, ascending
    reach: Floats  # [size] how often each is met
    gain: Floats  # [size] what memorizing it adds to the value
    positions: int | None = None  # how many are paid for, where memory is by position

    @property
    def size(self) -> int:
        """The number of memorized histories, or positions where memory is by position."""
        return len(self.nodes) if self.positions is None else self.positions

    @property
    def net(self) -> float:
        """Value less the price of the memory: what the best book maximizes."""
        return self.value - self.cost * self.size


@dataclass(frozen=True, eq=False)
class Frontier:
    """Every optimal size and value as the cost falls, and the order in which to learn."""

    side: Side
    unprepared: float  # the value of the empty book
    cost: Floats  # [points] falling; just below cost[j] the best book has size[j] and value[j]
    size: Ints  # [points]
    value: Floats  # [points]
    order: Ints  # [size[-1]] tree indices in the order worth learning; every prefix of it is a book
    gain: Floats  # [size[-1]] what each of them adds to the value
    learned: Ints | None = None  # [points] histories of each book, where sizes count their positions

    def book(self, j: int) -> Ints:
        """The histories of the best book just below cost[j], ascending."""
        return np.sort(self.order[: (self.size if self.learned is None else self.learned)[j]])


def reach(tree: Tree, side: Side) -> Floats:
    """[n] π(h): the probability of each history with `side` on prep and everybody else as ever."""
    return kernels.reach(tree.parent, tree.player, tree.base, tree.prep, side)


def best_book(tree: Tree, side: Side, cost: float, budget: int | None = None) -> BestBook:
    """The prefix-closed set of own histories with the largest value - cost * size.

    With a `budget` it has at most that many histories, and the cost may be 0. `upper` counts what open
    histories could still hold (fact 3), and estimated values at the upper end of their radius.
    """
    check_tree(tree)
    check_player(side)
    check_budget(budget)  # before anything is compared with it
    check_cost(cost, zero=budget is not None)
    tree.check_fixed()
    price = tree.prices[side - 1]
    if budget is None or cost >= price or math.isinf(price):
        tree.check_price(side, cost)
        return best_known(tree, side, cost, budget)
    priced = best_known(tree, side, price)
    if priced.size < budget:
        raise InputError(
            f"budget {budget} on a tree that was grown for a price of {price:g}, at which the best book "
            f"has {priced.size}; expected at most that, or a tree grown for a lower price"
        )
    # Fact 5: any book of at most B histories nets at most this.
    upper = priced.upper + (price - cost) * budget
    best = best_known(tree, side, cost, budget)
    return replace(best, upper=max(best.net, min(1.0, upper)))


def best_known(tree: Tree, side: Side, cost: float, budget: int | None = None) -> BestBook:
    """The best book on a tree as it is, whatever it was grown for.

    `upper` is then about the books of this tree; the caller knows what it says about others.
    """
    check_budget(budget)
    pi = reach(tree, side)
    value = _values(tree, side)
    node, above, gain, empty = _forest(tree, side, pi, value)
    picked, extra = _choose(above, gain - cost, budget)
    net, upper = empty + extra, empty + extra
    if not tree.complete or tree.radius.any():
        high = highest(tree, side, value)
        _, _, hope, start = _forest(tree, side, pi, high)
        hope = np.where(tree.open[node], pi[node] * (1.0 - high[node]), hope)
        upper = max(net, start + _choose(above, hope - cost, budget)[1])
    nodes = node[picked]
    chosen = np.zeros(tree.size, dtype=np.bool_)
    chosen[nodes] = True
    earned = _play(tree, side, pi, value, chosen)
    if abs(earned - cost * len(nodes) - net) > AGREEMENT:
        raise SolverError(
            f"the book nets {earned - cost * len(nodes):.12g} when played, the solver said {net:.12g}"
        )
    return BestBook(
        side=side,
        cost=cost,
        budget=budget,
        baseline=float(value[0]),
        unprepared=float(empty),
        value=earned,
        upper=float(max(upper, earned - cost * len(nodes))),
        error=_play(tree, side, pi, tree.radius, chosen) if tree.radius.any() else 0.0,
        nodes=nodes,
        reach=pi[nodes],
        gain=gain[picked],
    )


def highest(tree: Tree, side: Side, value: Floats) -> Floats:
    """[n] what each history can be worth to a side that plays base from there.

    An open history of somebody else was not looked into: the game may end below it, or the side's next
    history have any value, before anything is memorized.
    """
    unseen = tree.open & tree.leaves & (tree.player != side)
    return np.where(unseen, 1.0, np.minimum(1.0, value + tree.radius))


def evaluate(tree: Tree, side: Side, nodes: Ints) -> float:
    """What a given book earns for `side`, costs not subtracted, by playing it forward."""
    check_tree(tree)
    check_player(side)
    tree.check_fixed()
    nodes = _nodes(tree, nodes)
    chosen = np.zeros(tree.size, dtype=np.bool_)
    chosen[nodes] = True
    if np.any(tree.player[nodes] != side) or np.any(tree.leaves[nodes]):
        raise InputError("the book holds a history that is not an expanded one of its own side")
    pi = reach(tree, side)
    value = _values(tree, side)
    node, above, _, _ = _forest(tree, side, pi, value)
    mine = chosen[node]
    if np.any(mine[above >= 0] & ~mine[above[above >= 0]]):
        raise InputError("the book is not prefix-closed: an earlier own history is missing")
    return _play(tree, side, pi, value, chosen)


def _nodes(tree: Tree, given: Any) -> Ints:
    """Indices of a tree, as an array; InputError where they are none."""
    try:
        nodes = np.asarray(given)
    except ValueError:  # lists of different lengths
        nodes = np.asarray(None)
    if nodes.ndim == 1 and not nodes.size:
        return nodes.astype(np.int32)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= tree.size:
        raise InputError(
            f"nodes {shown(given)}; expected a list of the tree's histories, numbers below {tree.size}"
        )
    return nodes


def exits(tree: Tree, side: Side, nodes: Ints) -> Ints:
    """Where play leaves a book, ascending: the next own histories, ends of the game, ends of the tree."""
    chosen = np.zeros(tree.size, dtype=np.bool_)
    chosen[nodes] = True
    return np.flatnonzero(kernels.exits(tree.parent, tree.first, tree.player, chosen, side)).astype(
        np.int32
    )


def gains(tree: Tree, side: Side) -> tuple[Ints, Floats]:
    """The expanded own histories and what memorizing each adds, given all before it (fact 1)."""
    value = tree.value_for(side)
    node, _, gain, _ = _forest(tree, side, reach(tree, side), value)
    expanded = ~tree.leaves[node]
    return node[expanded], gain[expanded]


def frontier(tree: Tree, side: Side, cost: float | None = None) -> Frontier:
    """All optimal books for costs above `cost` at once: the densest subtrees, merged (fact 4).

    `cost` is at least the one that the tree was grown for, which is the default; below that the tree does
    not tell.
    """
    check_tree(tree)
    check_player(side)
    tree.check_fixed()
    cost = tree.prices[side - 1] if cost is None else cost
    tree.check_price(side, cost)
    check_cost(cost, zero=True)
    value = _values(tree, side)
    node, above, gain, empty = _forest(tree, side, reach(tree, side), value)
    head, total, count = kernels.blocks(above, gain)
    heads = np.flatnonzero((head == np.arange(len(node))) & (total > np.maximum(cost * count, 1e-15)))
    density = total[heads] / count[heads]
    rank = np.lexsort((heads, -density))
    heads, density = heads[rank], density[rank]
    place = np.full(len(node), -1, dtype=np.int64)
    place[heads] = np.arange(len(heads))
    place = place[head]
    members = np.flatnonzero(place >= 0)
    order = members[np.argsort(place[members], kind="stable")]
    # Blocks of equal density enter at the same cost: one point, with the larger book.
    steps = np.abs(np.diff(density)) > 1e-12 * density[1:]
    begins = np.concatenate(([True], steps)) if len(heads) else np.zeros(0, dtype=np.bool_)
    ends = np.concatenate((steps, [True])) if len(heads) else begins
    return Frontier(
        side=side,
        unprepared=float(empty),
        cost=density[begins],
        size=np.cumsum(count[heads])[ends].astype(np.int32),
        value=(empty + np.cumsum(total[heads]))[ends],
        order=node[order],
        gain=gain[order],
    )


def _values(tree: Tree, side: Side) -> Floats:
    """[n] the values for the side, which its own histories must have."""
    if np.any(np.isnan(tree.value) & ((tree.player == side) | tree.leaves)):
        raise InputError(
            f"a history of side {side} has no value in this tree; expected one grown for its books alone"
        )
    return tree.value_for(side)


def check_tree(tree: Tree) -> None:
    """Raise InputError for what is no tree, as where arguments are swapped."""
    check_made("tree", tree, Tree, "as grow(...).tree is")


def check_cost(cost: float, *, zero: bool = False) -> None:
    """Raise InputError unless the cost is a finite number above 0 (or 0, where that makes sense)."""
    check_number("cost", cost, above=not zero, finite=True)


def check_budget(budget: int | None) -> None:
    """Raise InputError unless the budget is None or a number of histories."""
    if budget is not None:
        check_whole("budget", budget)


def _forest(tree: Tree, side: Side, pi: Floats, value: Floats) -> tuple[Ints, Ints, Floats, float]:
    return kernels.forest(tree.parent, tree.first, tree.player, tree.open, pi, value, side)


def _play(tree: Tree, side: Side, pi: Floats, value: Floats, chosen: Bools) -> float:
    return float(kernels.play(tree.parent, tree.first, tree.player, pi, value, chosen, side))


def _choose(above: Ints, weight: Floats, budget: int | None) -> tuple[Bools, float]:
    """The heaviest prefix-closed subset, of at most `budget` histories."""
    chosen, total = kernels.heaviest(above, weight)
    if budget is None or chosen.sum() <= budget:
        return chosen, float(total)
    if budget == 0:
        return np.zeros(len(above), dtype=np.bool_), 0.0
    kept = _worth_the_place(above, weight, budget)
    if len(kept) * (budget + 1) > TABLE:
        raise InputError(
            f"budget {budget} over {len(kept)} candidate histories needs a table of more than "
            f"{TABLE:,} entries; give a smaller budget or a larger cost"
        )
    place = np.full(len(above) + 1, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    few, most = kernels.knapsack(kept, place[above[kept]], weight[kept], budget)
    chosen = np.zeros(len(above), dtype=np.bool_)
    chosen[kept[few]] = True
    return chosen, float(most)


def _worth_the_place(above: Ints, weight: Floats, budget: int) -> Ints:
    """The histories that some best subset of at most `budget` may hold, by reduced-cost fixing.

    At the price p of a place where the frontier passes the budget, any such subset weighs at most
    `heaviest(weight - p) + p * budget`, less what forcing a history in loses. Where that is below a
    subset already known, the history is out.
    """
    head, total, count = kernels.blocks(above, weight)
    heads = np.flatnonzero((head == np.arange(len(above))) & (total > 0.0))
    heads = heads[np.argsort(-total[heads] / count[heads], kind="stable")]
    sizes = np.cumsum(count[heads])
    passed = int(np.searchsorted(sizes, budget, side="right"))
    known = float(total[heads[:passed]].sum())
    price = float(total[heads[passed]] / count[heads[passed]]) if passed < len(heads) else 0.0
    _, relaxed = kernels.heaviest(above, weight - price)
    lost = kernels.losses(above, weight - price)
    slack = 1e-12 * max(1.0, abs(relaxed))
    return np.flatnonzero(relaxed + price * budget - lost >= known - slack).astype(np.int32)
