"""The best book where a position reached by several histories is learned, and paid, once.

A book is then a closed set of histories, and its price that of their different positions. On a grown
tree this is a closure problem: memorizing a history needs the one before it and its position. Its linear
program is totally unimodular, so HiGHS solves it exactly. With menus or a budget it is an integer
program. A position has one move, however it is reached.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from preplay import response
from preplay.book import Alternative, Decision, Hoped
from preplay.choice.menus import Choice, Plans, cut, options_of
from preplay.errors import SolverError
from preplay.game import Side
from preplay.response import BestBook, Frontier
from preplay.tree import CHOOSES, Bools, Floats, Ints, Tree

ZERO = 1e-9
"""Net values nearer than this are the same."""
WHOLE = 1e-6
"""A share of a history within this of 0 or 1 is none, or all of it."""
SCALE = 1e4
"""HiGHS calls what is within 1e-6 of the best the best: in units so small that is less than `ZERO`."""


def choose(tree: Tree, side: Side, cost: float, budget: int | None = None) -> Choice:
    """The book with the largest value - cost * positions, of at most `budget` positions.

    On a tree with menus, over all choices from them too. `upper` counts what open histories could hold.
    """
    if tree.position is None:
        raise SolverError("memory by position needs a tree that was grown for it")
    if tree.choice is None:
        tree = replace(tree, choice=np.zeros(tree.size, dtype=np.int8))
    pi = response.reach(tree, side)
    value = tree.value_for(side)
    plans = Plans.of(tree, side, pi, value)
    program = _Program.of(tree, plans)
    picked, extra = program.solve(plans.gain, cost, budget)
    net = plans.empty + extra
    fixed, index = cut(tree, options_of(tree, plans, picked, plans.gain))
    best = book_of(fixed, side, cost, budget, np.sort(index[plans.node[picked]]))
    if abs(best.net - net) > response.AGREEMENT:
        raise SolverError(f"the chosen book nets {best.net:.12g}, the solver said {net:.12g}")
    upper, hope = net, _hopeful(tree, side, pi, value)
    if hope is not None:
        upper = max(net, hope.empty + program.solve(hope.gain, cost, budget)[1])
    best = replace(best, upper=max(upper, best.net))
    origin = np.flatnonzero(index >= 0).astype(np.int32)
    return Choice(tree, fixed, origin, best, stale=False)


def _hopeful(tree: Tree, side: Side, pi: Floats, value: Floats) -> Plans | None:
    """The plans with all that they may gain; None where all is known."""
    if tree.complete and not tree.radius.any():
        return None
    high = response.highest(tree, side, value)
    hope = Plans.of(tree, side, pi, high)
    gain = np.where(tree.open[hope.node], pi[hope.node] * (1.0 - high[hope.node]), hope.gain)
    return replace(hope, gain=gain)


def decisions(made: Choice) -> dict[int, Decision]:
    """Where the best book does not play the first of a menu: what each option would have been worth.

    A position has one move however it is reached, so an option is worth what the best of all books with
    that move there nets, more than the best of those without the position, on top of stopping there, as a
    share of the games that come there; all of them books that lead there as this one does. Where no
    positions meet this is what `menus` says. Where something is still open, `most` counts all that it may
    hold. Each number is an integer program of its own, so this is for the final choice alone.
    """
    tree, best = made.source, made.best
    assert tree.position is not None
    assert tree.choice is not None
    side, cost, budget = best.side, best.cost, best.budget
    pi = response.reach(tree, side)
    value = tree.value_for(side)
    plans = Plans.of(tree, side, pi, value)
    program, hope = _Program.of(tree, plans), _hopeful(tree, side, pi, value)
    high = response.highest(tree, side, value)
    here = {int(made.origin[k]): int(k) for k in best.nodes}
    left = _left(made, cost)
    found: dict[int, Decision] = {}
    for place in dict.fromkeys(int(tree.position[k]) for k in here):
        meet = [k for k in here if tree.position[k] == place and tree.choice[k] == CHOOSES]
        options = list(tree.children(meet[0])) if meet else []
        moves = [int(tree.action[c]) for c in options]
        after = int(made.tree.first[here[meet[0]]]) if meet else 0
        played = moves.index(int(made.tree.action[after])) if meet else 0
        if not played:
            continue
        top = _first_on_their_lines(plans, meet)
        mass, stop = float(pi[top].sum()), float((pi[top] * value[top]).sum())
        way = _way(plans, top)
        never = {(place, move): False for move in moves}
        without = program.solve(plans.gain, cost, budget, never, way)[1]
        worths = []
        for move in moves:
            extra = program.solve(plans.gain, cost, budget, {(place, move): True}, way)[1]
            worth = most = (stop + extra - without) / mass
            if hope is not None:
                more = program.solve(hope.gain, cost, budget, {(place, move): True}, way)[1]
                hoped_for = float((pi[top] * high[top]).sum()) + hope.empty - plans.empty + more
                most = min(1.0, max(worth, (hoped_for - without) / mass))
            worths.append(Alternative(tree.names[move], worth, most))
        for k in meet:
            hoped = _hoped(made, here[k], left, worths[0].worth)
            found[here[k]] = Decision(tuple(worths), played, hoped)
    return found


def _first_on_their_lines(plans: Plans, histories: Sequence[int]) -> list[int]:
    """Those histories of a position that none of the others leads to: it may come again on a line."""
    several = set(histories)
    return [k for k in histories if several.isdisjoint(int(plans.node[j]) for j in _way(plans, [k]))]


def _way(plans: Plans, histories: Sequence[int]) -> set[int]:
    """The plans that lead to these histories."""
    way: set[int] = set()
    for k in histories:
        j = int(plans.above[np.flatnonzero(plans.node == k)[0]])
        while j >= 0:
            way.add(j)
            j = int(plans.above[j])
    return way


def _left(made: Choice, cost: float) -> Floats:
    """[n] value mass from each history on with the book, less its share of the price of positions."""
    tree, best = made.tree, made.best
    assert tree.position is not None
    side = best.side
    pi = response.reach(tree, side)
    value = tree.value_for(side)
    inside = np.zeros(tree.size, dtype=np.bool_)
    inside[best.nodes] = True
    places = tree.position[best.nodes]
    share = dict(zip(*np.unique(places, return_counts=True), strict=True))
    mass = pi * np.nan_to_num(value)
    for k in range(tree.size - 1, -1, -1):  # parents come before their children
        if inside[k] or (tree.player[k] != side and not tree.leaves[k]):
            mass[k] = sum(mass[c] for c in tree.children(k))
            if inside[k]:
                mass[k] -= cost / share[tree.position[k]]
    return mass


def _hoped(made: Choice, k: int, left: Floats, first: float) -> Hoped | None:
    """The reply that the move at `k` of the fixed tree lives from, against the first choice's worth."""
    tree = made.tree
    after = int(tree.first[k])
    if tree.player[after] == made.best.side or tree.leaves[after]:
        return None
    pi = response.reach(tree, made.best.side)
    replies = list(tree.children(after))
    best = max(replies, key=lambda r: float(left[r] - pi[r] * first))
    name = tree.names[tree.action[best]]
    return Hoped(name, float(tree.base[best]), float(left[best] / pi[best]))


def best_books(tree: Tree, side: Side, cost: float) -> list[BestBook]:
    """The best books of a tree without menus for all costs from `cost` on, the smallest first.

    Best sets of positions grow as the cost falls, as in fact 4. Between two of them another one is best
    somewhere if it is where these two are equal.
    """
    whole = choose(tree, side, cost).best
    empty = book_of(tree, side, cost, None, np.zeros(0, dtype=np.int32))
    found = {empty.size: empty, whole.size: whole}
    gaps = [(empty, whole)]
    while gaps:
        less, more = gaps.pop()
        if more.size - less.size < 2:
            continue
        price = (more.value - less.value) / (more.size - less.size)
        between = choose(tree, side, price).best
        if less.size < between.size < more.size and between.net > less.value - price * less.size + ZERO:
            found[between.size] = between
            gaps += [(less, between), (between, more)]
    return [found[size] for size in sorted(found) if size]


def frontier(tree: Tree, side: Side, cost: float | None = None) -> Frontier:
    """All best books for costs from `cost` on, sizes in positions, and the order in which to learn.

    `cost` is at least the one that the tree was grown for, which is the default.
    """
    cost = tree.prices[side - 1] if cost is None else cost
    tree.check_price(side, cost)
    response.check_cost(cost)
    books = best_books(tree, side, cost)
    own, gain = response.gains(tree, side)
    order: dict[int, None] = {}
    learned = []
    for book in books:  # all of the smaller ones with it is as good, should it leave out any of them
        order |= dict.fromkeys(book.nodes.tolist())
        learned.append(len(order))
    empty = response.evaluate(tree, side, np.zeros(0, dtype=np.int32))
    sizes, values = [0, *(b.size for b in books)], [empty, *(b.value for b in books)]
    gain_of = dict(zip(own.tolist(), gain.tolist(), strict=True))
    return Frontier(
        side=side,
        unprepared=empty,
        cost=np.diff(values) / np.diff(sizes),
        size=np.array(sizes[1:], dtype=np.int32),
        value=np.array(values[1:]),
        order=np.array(list(order), dtype=np.int32),
        gain=np.array([gain_of[k] for k in order]),
        learned=np.array(learned, dtype=np.int32),
    )


def book_of(tree: Tree, side: Side, cost: float, budget: int | None, nodes: Ints) -> BestBook:
    """A set of histories as a book: valued by playing it forward, its positions counted."""
    assert tree.position is not None
    own, gain = response.gains(tree, side)
    gain_of = dict(zip(own.tolist(), gain.tolist(), strict=True))
    pi = response.reach(tree, side)
    value = tree.value_for(side)
    ends = response.exits(tree, side, nodes)
    earned = response.evaluate(tree, side, nodes)
    places = len(set(tree.position[nodes].tolist()))
    return BestBook(
        side=side,
        cost=cost,
        budget=budget,
        baseline=float(value[0]),
        unprepared=response.evaluate(tree, side, nodes[:0]),
        value=earned,
        upper=earned - cost * places,
        error=float(np.dot(pi[ends], tree.radius[ends])),
        nodes=nodes.astype(np.int32),
        reach=pi[nodes],
        gain=np.array([gain_of[k] for k in nodes.tolist()]),
        positions=places,
    )


@dataclass(frozen=True, eq=False)
class _Program:
    """Variables are the plans, and then the (position, move) pairs that are paid for, all 0 or 1."""

    plans: int
    pairs: int
    number: dict[tuple[int, int], int]  # where each (position, move) stands among the pairs
    played: dict[tuple[int, int], list[int]]  # the plans of each (position, move)
    after: csr_array  # @ x <= 0: a plan needs the plan before it and its pair
    single: csr_array  # @ x <= 1: one plan a history, one move a position

    @classmethod
    def of(cls, tree: Tree, plans: Plans) -> _Program:
        assert tree.position is not None
        m = len(plans.node)
        numbers: dict[tuple[int, int], int] = {}
        after: list[dict[int, float]] = []
        single: list[dict[int, float]] = []
        for _, group in groupby(range(m), key=lambda j: plans.node[j]):
            beside = list(group)
            above = int(plans.above[beside[0]])
            if above >= 0:
                after.append(dict.fromkeys(beside, 1.0) | {above: -1.0})
            elif len(beside) > 1:
                single.append(dict.fromkeys(beside, 1.0))
        leaves, unknown = tree.leaves, dict[int, int]()
        played: dict[tuple[int, int], list[int]] = {}
        for j in range(m):
            k = int(plans.node[j])
            if (place := int(tree.position[k])) >= 0 and leaves[k]:
                unknown[j] = place
            elif place >= 0:
                pair = place, _move(tree, k, int(plans.option[j]))
                played.setdefault(pair, []).append(j)
                after.append({j: 1.0, m + numbers.setdefault(pair, len(numbers)): -1.0})
        moves: dict[int, list[int]] = {}
        for (place, _), q in numbers.items():
            moves.setdefault(place, []).append(m + q)
        for j, place in unknown.items():  # it may turn out to play whatever move its position has
            if place not in moves:
                moves[place] = [m + numbers.setdefault((place, -1), len(numbers))]
            after.append({j: 1.0} | dict.fromkeys(moves[place], -1.0))
        single += [dict.fromkeys(several, 1.0) for several in moves.values() if len(several) > 1]
        size = m + len(numbers)
        return cls(m, len(numbers), numbers, played, _matrix(after, size), _matrix(single, size))

    def solve(
        self,
        gain: Floats,
        cost: float,
        budget: int | None,
        forced: Mapping[tuple[int, int], bool] | None = None,
        through: Collection[int] = (),
    ) -> tuple[Bools, float]:
        """The plans of the best book and what they add, net of the price of their positions.

        `forced` says of some (position, move) pairs whether they are played; the plans of `through`
        are in the book.
        """
        if not self.plans or budget == 0:
            return np.zeros(self.plans, dtype=np.bool_), 0.0
        limits = []
        if self.after.shape[0]:
            limits.append(LinearConstraint(self.after, -np.inf, 0.0))
        if self.single.shape[0]:
            limits.append(LinearConstraint(self.single, -np.inf, 1.0))
        if budget is not None:
            count = np.concatenate((np.zeros(self.plans), np.ones(self.pairs)))
            limits.append(LinearConstraint(count[None, :], -np.inf, float(budget)))
        integral = budget is not None or self.single.shape[0] > 0
        low, high = np.zeros(self.plans + self.pairs), np.ones(self.plans + self.pairs)
        low[list(through)] = 1.0
        for pair, inside in (forced or {}).items():
            some = np.zeros(self.plans + self.pairs)
            some[self.played.get(pair, [])] = 1.0
            limits.append(LinearConstraint(some[None, :], float(inside), math.inf if inside else 0.0))
            integral = True
        found = milp(
            SCALE * np.concatenate((-gain, np.full(self.pairs, cost))),
            constraints=limits,
            bounds=Bounds(low, high),
            integrality=np.full(self.plans + self.pairs, int(integral)),
            options={"mip_rel_gap": 0.0},
        )
        if found.x is None:
            raise SolverError(f"HiGHS found no best book by position ({found.message})")
        x = np.round(found.x)
        if np.abs(found.x - x).max() > WHOLE:
            raise SolverError("HiGHS memorized a part of a history; expected all or nothing")
        chosen = x[: self.plans] > 0.5
        return chosen, float(gain[chosen].sum() - cost * x[self.plans :].sum())


def _move(tree: Tree, k: int, option: int) -> int:
    """A number for what is played at an expanded history: the action, or -1 for a mixture."""
    children = tree.children(k)
    if option >= 0:
        return int(tree.action[option])
    return int(tree.action[children[0]]) if len(children) == 1 else -1


def _matrix(rows: list[dict[int, float]], columns: int) -> csr_array:
    values = [value for row in rows for value in row.values()]
    places = [column for row in rows for column in row]
    starts = np.cumsum([0, *(len(row) for row in rows)])
    return csr_array(
        (np.array(values, dtype=float), np.array(places, dtype=np.int64), starts), (len(rows), columns)
    )
