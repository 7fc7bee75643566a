"""Books that choose their moves: the best one on a tree with menus, and the tree with its moves fixed.

At an own history with a menu a book plays one of its options for sure (fact 9 of docs/model.md). Once the
moves are chosen, what is left is a tree without menus: frontier, order to learn, forward play and all the
rest work on that one as ever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from preplay import _kernels as kernels
from preplay import response
from preplay.book import Alternative, Decision, Hoped
from preplay.errors import InputError, SolverError
from preplay.game import Side
from preplay.response import BestBook
from preplay.tree import BEATEN, CHOOSES, Bools, Floats, Ints, Tree, part_of


@dataclass(frozen=True, eq=False)
class Choice:
    """The best book with choice, on the tree with its moves fixed."""

    source: Tree  # the tree with menus
    tree: Tree  # [n] without menus: at each history that had one, one option is left
    origin: Ints  # [n] where each history of `tree` stands in `source`
    best: BestBook  # on `tree`; `upper` bounds every book of the class
    stale: bool  # an option that growth gave up may be best by the values in use: grow again

    @cached_property
    def decisions(self) -> dict[int, Decision]:
        """By index of `tree`: what each memorized history with a menu could have played instead."""
        return _decisions(self)


def choose(tree: Tree, side: Side, cost: float, budget: int | None = None) -> Choice:
    """The book with the largest value - cost * size over all sets and all choices from the menus.

    Of options that are worth the same the first counts. With a `budget` it has at most that many
    histories. Histories outside the book keep the option that would be best there.
    """
    response.check_cost(cost, zero=budget is not None)
    tree.check_price(side, cost)
    return choose_known(tree, side, cost, budget)


def choose_known(tree: Tree, side: Side, cost: float, budget: int | None = None) -> Choice:
    """The same on a tree as it is, whatever it was grown for, as `response.best_known`."""
    if tree.choice is None:
        tree = replace(tree, choice=np.zeros(tree.size, dtype=np.int8))
    pi = response.reach(tree, side)
    value = tree.value_for(side)
    plans = Plans.of(tree, side, pi, value)
    picked, worth, extra = _pick(plans, cost, budget)
    fixed, index = cut(tree, options_of(tree, plans, picked, worth))
    best = response.best_known(fixed, side, cost, budget)
    net = plans.empty + extra
    if abs(best.net - net) > response.AGREEMENT:
        raise SolverError(f"the chosen book nets {best.net:.12g}, the solver said {net:.12g}")
    upper, most = net, worth
    hope = _hopeful(tree, side, plans, pi, value, budget is not None)
    if hope is not None:
        _, most, more = _pick(hope, cost, budget)
        most = most + _more_by_stopping(tree, side, hope, pi, value)
        upper = max(net, hope.empty + more)
    best = replace(best, upper=max(upper, best.net))
    origin = np.flatnonzero(index >= 0).astype(np.int32)
    return Choice(tree, fixed, origin, best, _stale(plans, worth, most))


def _hopeful(
    tree: Tree, side: Side, plans: Plans, pi: Floats, value: Floats, limited: bool
) -> Plans | None:
    """The same plans with all that they may gain; None where no more is possible than is known."""
    given_up = limited and bool(plans.beaten.any())  # within a limit they may be best
    if tree.complete and not tree.radius.any() and not given_up:
        return None
    high = response.highest(tree, side, value)
    hope = Plans.of(tree, side, pi, high)
    open = tree.open[hope.node]
    gain = np.where(open, pi[hope.node] * (1.0 - high[hope.node]), hope.gain)
    none = np.zeros_like(hope.beaten)  # by other values than growth had, they may not be beaten
    return replace(hope, gain=gain, beaten=none)


def _more_by_stopping(tree: Tree, side: Side, hope: Plans, pi: Floats, value: Floats) -> Floats:
    """By how much more stopping may earn than it does by the values in use, at the history of each plan.

    What a plan of `_hopeful` is worth counts from there.
    """
    more: Floats = (pi * (response.highest(tree, side, value) - value))[hope.node]
    return more


def _stale(plans: Plans, worth: Floats, most: Floats) -> bool:
    """Whether an option that was given up may earn more than the best of its menu is worth."""
    best = np.full(int(plans.node.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, plans.node, np.where(plans.beaten, -np.inf, worth))
    return bool(np.any(plans.beaten & (most > best[plans.node] + response.AGREEMENT)))


@dataclass(frozen=True, eq=False)
class Plans:
    """The forest of (history, option), as `kernels.plans` makes it."""

    node: Ints
    option: Ints
    above: Ints
    gain: Floats
    empty: float
    beaten: Bools  # options that are worse than another one of the menu

    @classmethod
    def of(cls, tree: Tree, side: Side, pi: Floats, value: Floats) -> Plans:
        """The plans of a tree at these reaches and values."""
        assert tree.choice is not None
        node, option, above, gain, empty = kernels.plans(
            tree.parent, tree.first, tree.player, tree.open, tree.choice, pi, value, side
        )
        return cls(node, option, above, gain, empty, (tree.choice[option] == BEATEN) & (option >= 0))


def _pick(plans: Plans, cost: float, budget: int | None) -> tuple[Bools, Floats, float]:
    """The heaviest closed set of plans, what each is worth without a limit, and what the set adds."""
    weight = plans.gain - cost
    chosen, worth, total = kernels.heaviest_plan(plans.node, plans.above, weight, plans.beaten)
    if budget is None or chosen.sum() <= budget:
        return chosen, worth, float(total)
    if budget == 0:
        return np.zeros(len(chosen), dtype=np.bool_), worth, 0.0
    weight = np.where(plans.beaten, -2.0, weight)  # no book gains more than 1
    if len(weight) * (budget + 1) > response.TABLE:
        raise InputError(
            f"budget {budget} over {len(weight)} moves of candidate histories needs a table of more than "
            f"{response.TABLE:,} entries; give a smaller budget or a larger cost"
        )
    chosen, most = kernels.knapsack(plans.node, plans.above, weight, budget)
    return chosen, worth, float(most)


def options_of(tree: Tree, plans: Plans, picked: Bools, worth: Floats) -> Bools:
    """[n] the children that stay: those of no menu, and one option of each."""
    assert tree.choice is not None
    stays = np.ones(tree.size, dtype=np.bool_)
    stays[1:] = tree.choice[tree.parent[1:]] != CHOOSES
    offered = np.flatnonzero((plans.option >= 0) & ~plans.beaten)
    # The best plan of each history, a picked one before all others, and the first of equals.
    rank = np.lexsort((offered, -worth[offered], ~picked[offered], plans.node[offered]))
    ordered = offered[rank]
    _, firsts = np.unique(plans.node[ordered], return_index=True)
    stays[plans.option[ordered[firsts]]] = True
    return stays


def cut(tree: Tree, stays: Bools) -> tuple[Tree, Ints]:
    """The part of a tree whose every history `stays`, without menus, and [n] the new index or -1."""
    alive = kernels.inherited(tree.parent, stays)
    index = np.where(alive, np.cumsum(alive) - 1, -1).astype(np.int32)
    position = None if tree.position is None else tree.position[alive]
    return replace(part_of(tree, alive), prices=tree.prices, position=position), index


def _decisions(made: Choice) -> dict[int, Decision]:
    """What each memorized history with a menu could have played instead, and which reply it hopes for."""
    tree, side, cost, budget = made.source, made.best.side, made.best.cost, made.best.budget
    pi = response.reach(tree, side)
    value = tree.value_for(side)
    plans = Plans.of(tree, side, pi, value)
    hope = _hopeful(tree, side, plans, pi, value, budget is not None)
    picked, _, _ = _pick(plans, cost, budget)
    unlimited = _pick(plans, cost, None)[0]
    spare = None if budget is None or unlimited.sum() <= budget else budget - int(picked.sum())
    worth, below = _worths(plans, cost, spare, picked)
    most = worth
    if hope is not None:
        stopping = _more_by_stopping(tree, side, hope, pi, value)
        most = _worths(hope, cost, spare, picked)[0] + stopping
    extra = np.zeros(tree.size)  # what the book adds at a history to stopping there
    extra[plans.node[picked]] = below[picked]
    index = {int(k): j for j, k in enumerate(made.origin)}
    plan_of = {int(c): j for j, c in enumerate(plans.option) if c >= 0}

    def mass(k: int) -> float:
        """Value mass net of costs from `k` on, with the best book."""
        if tree.player[k] == side or tree.leaves[k]:
            return float(pi[k] * value[k] + extra[k])
        return sum(mass(c) for c in tree.children(k))

    found: dict[int, Decision] = {}
    for j in np.flatnonzero(picked & (plans.option >= 0)).tolist():
        k, played = int(plans.node[j]), int(plans.option[j])
        stop, reach = float(pi[k] * value[k]), float(pi[k])
        options = []
        for c in tree.children(k):
            low = float(worth[plan_of[c]])
            high = max(low, float(most[plan_of[c]]))
            name = tree.names[tree.action[c]]
            certain = (stop + low) / reach
            options.append(Alternative(name, certain, max(certain, min(1.0, (stop + high) / reach))))
        hoped = None
        first = int(tree.first[k])
        if played != first and tree.player[played] != side:
            replies = {r: mass(r) for r in tree.children(played)}
            # After a growth cut short `most` is mere hope: then compare with what is played.
            instead = min(options[0].most, options[played - first].worth)
            best = max(replies, key=lambda r: replies[r] - float(pi[r]) * instead, default=None)
            if best is not None:
                name = tree.names[tree.action[best]]
                hoped = Hoped(name, float(tree.base[best]), replies[best] / float(pi[best]))
        found[index[k]] = Decision(tuple(options), played - first, hoped)
    return found


def _worths(plans: Plans, cost: float, spare: int | None, picked: Bools) -> tuple[Floats, Floats]:
    """What each plan is worth, and what the picked ones add with all that was picked below them.

    Where a budget binds, with `spare` of its places empty, the plans of a history of the book are worth
    what they earn with the places that the rest of the book leaves: the picked one is the best of them.
    """
    weight = plans.gain - cost
    _, worth, _ = kernels.heaviest_plan(plans.node, plans.above, weight, plans.beaten)
    below, places = np.where(picked, weight, 0.0), picked.astype(np.int32)
    for j in np.flatnonzero(picked)[::-1]:
        if plans.above[j] >= 0:
            below[plans.above[j]] += below[j]
            places[plans.above[j]] += places[j]
    if spare is None:
        return worth, below
    size, place = kernels.preorder(plans.above)
    at = np.argsort(place).astype(np.int32)
    usable = np.where(plans.beaten, -2.0, weight)  # no book gains more than 1
    worth = worth.copy()
    places_at = dict(zip(plans.node[picked].tolist(), (places[picked] + spare).tolist(), strict=True))
    for j, k in enumerate(plans.node.tolist()):
        if k in places_at:
            hanging = np.sort(at[place[j] + 1 : place[j] + size[j]])
            worth[j] = weight[j] + _within(plans, usable, hanging, places_at[k] - 1)
    return worth, below


def _within(plans: Plans, weight: Floats, some: Ints, places: int) -> float:
    """The most that so many of some plans add, which hang from one that is taken."""
    if places == 0 or not len(some):
        return 0.0
    renumbered = np.full(len(weight), -1, dtype=np.int32)
    renumbered[some] = np.arange(len(some), dtype=np.int32)
    above = renumbered[plans.above[some]]
    return float(kernels.knapsack(plans.node[some], above, weight[some], places)[1])
