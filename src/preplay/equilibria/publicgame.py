"""The meta-game on the public tree: exact payoffs, best responses and certificates.

A side's only private state at a history is whether it is still in its book. With the mixed book
x(h) = P(h in S), the prep reach P(h) and X(h) = x of the previous own history, the reach of h by a
side is `X P + O`, where O is the mass of the books that were left before, followed by base play.
The payoff is v(h) at the history where the second of the two sides stops (fact 10), or the value of
the leaf that is reached before.
Everything here works on the whole tree with plain backward and forward passes; the solvers work on a
smaller, equivalent game and are checked against this module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from preplay.arguments import check_both, check_number
from preplay.equilibria import passes
from preplay.errors import InputError
from preplay.game import Side, other
from preplay.tree import Bools, Floats, Tree

Costs = tuple[float, float]
"""λ_1 and λ_2: what one memorized history costs each side."""
Mixed = tuple[Floats, Floats]
"""x_1 and x_2, each [n]: the probability that a history is in the side's book; 0 where it is not own."""

TOLERANCE = 1e-9
"""How far a mixed book may be from non-increasing along own prefixes, or outside [0, 1]."""


@dataclass(frozen=True)
class Certificate:
    """What a pair of mixed books guarantees, by exact best responses. Player 1's point of view."""

    payoff: float
    """The meta-game payoff of the pair, values as estimated."""
    lower: float
    """No book of player 2 brings player 1 below this when it plays its mixed book."""
    upper: float
    """No book of player 1 gets above this against player 2's mixed book."""
    solver_gap: float
    """upper - lower if all values were exact and nothing was left to expand."""
    radius_error: float
    """What the radii of the values add to the gap (the sampling error of Theorem 4)."""
    open_error: float
    """What books that go on at open histories could add to the gap."""

    @property
    def gap(self) -> float:
        """The pair is an ε-Nash equilibrium of the true meta-game with this ε."""
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class BestResponse:
    """A best pure book against the opponent's mixed book, and what it earns for its own side."""

    book: Bools  # [n] whether the history is memorized
    gain: float
    """Utility of the side (player 2's is minus player 1's) minus the cost of the book."""


def decisions(tree: Tree, side: Side | None = None) -> Bools:
    """[n] the histories that can be memorized: a player moves, and the tree goes on."""
    inner = ~tree.leaves
    return inner & ((tree.player > 0) if side is None else (tree.player == side))


def allowed(tree: Tree, memorizable: Bools | None) -> Bools:
    """[n] decisions, less those that the caller's mask rules out."""
    own = decisions(tree)
    if memorizable is None:
        return own
    mask = np.asarray(memorizable)
    if mask.shape != (tree.size,) or mask.dtype != np.bool_:
        raise InputError(
            f"memorizable has shape {mask.shape} and type {mask.dtype}; expected {tree.size} booleans"
        )
    return own & mask


def check_costs(costs: Costs) -> Costs:
    """The two costs as floats; raises InputError unless both are finite and not negative."""
    check_both("costs", costs)
    for cost in costs:
        check_number("cost", cost, finite=True)
    return float(costs[0]), float(costs[1])


def check_mixed(tree: Tree, x: Floats, side: Side, mask: Bools) -> Floats:
    """`x` as a clean mixed book of `side`; raises InputError when it is none.

    Rounding in the last digits is repaired, so that what is certified is a true mixed book.
    """
    x = np.asarray(x, dtype=np.float64)
    if x.shape != (tree.size,):
        raise InputError(f"mixed book of side {side} has shape {x.shape}; expected ({tree.size},)")
    own = mask & (tree.player == side)
    clean = np.where(own, x, 0.0)
    passes.descend(tree.parent, tree.player, np.int8(side), clean)
    worst = int(np.argmax(np.where(np.isnan(x), np.inf, np.abs(x - clean))))
    if not abs(x[worst] - clean[worst]) <= TOLERANCE:
        raise InputError(
            f"mixed book of side {side}: probability {x[worst]} at history {worst}; expected at most "
            f"{clean[worst]:.9g} (own histories only, not above the previous own one, within [0, 1])"
        )
    return clean


def payoff(tree: Tree, costs: Costs, x: Mixed) -> float:
    """u - λ_1 E|S_1| + λ_2 E|S_2| of two mixed books, in one forward pass a side."""
    costs, mask = check_costs(costs), decisions(tree)
    one, two = check_mixed(tree, x[0], 1, mask), check_mixed(tree, x[1], 2, mask)
    utility = float(ends(tree, (one, two)) @ stops(tree, tree.value))
    return utility - costs[0] * float(one.sum()) + costs[1] * float(two.sum())


def ends(tree: Tree, x: Mixed) -> Floats:
    """[n] how often two mixed books are paid by the value of each history."""
    open_play, stopped = _paid(tree, *x)
    return np.where(tree.leaves, open_play, stopped)


def outcomes(tree: Tree, x: Mixed) -> Floats:
    """[n] player 1's expected utility of two mixed books, given that play comes to a leaf.

    Some of the play that comes there was settled before, where both had stopped. At other histories, and
    where play never comes, v(h).
    """
    mask = decisions(tree)
    one, two = check_mixed(tree, x[0], 1, mask), check_mixed(tree, x[1], 2, mask)
    open_play, stopped = _paid(tree, one, two)
    stop = stops(tree, tree.value)
    before = passes.settled(tree.parent, tree.base, stopped)
    worth = open_play * stop + passes.settled(tree.parent, tree.base, stopped * stop)
    value = stop.copy()
    np.divide(worth, open_play + before, out=value, where=tree.leaves & (open_play + before > 0.0))
    return value


def _paid(tree: Tree, one: Floats, two: Floats) -> tuple[Floats, Floats]:
    """[n] how often play comes to each history with a side in its book, and how often it is settled
    there, because the second side stops."""
    straight_one, in_one, out_one = _masses(tree, 1, one)
    straight_two, in_two, out_two = _masses(tree, 2, two)
    chance = passes.chance(tree.parent, tree.player, tree.base)
    stopping_one = _stopping(tree, 1, one, straight_one, in_one)
    stopping_two = _stopping(tree, 2, two, straight_two, in_two)
    stopped = stopping_one * out_two + stopping_two * out_one
    open_play = in_one * in_two + in_one * out_two + out_one * in_two
    return open_play * chance, stopped * chance


def stops(tree: Tree, value: Floats) -> Floats:
    """[n] v(h) where both sides have stopped: `value`, and base play to it where it says nothing."""
    return passes.stops(tree.first, tree.base, value)


def best_response(
    tree: Tree, costs: Costs, side: Side, opponent: Floats, *, memorizable: Bools | None = None
) -> BestResponse:
    """The best pure book of `side` against a mixed book of the other side; of equals the smallest."""
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    clean = check_mixed(tree, opponent, other(side), decisions(tree))
    gain, stay, _ = respond(tree, costs[side - 1], side, clean, mask, tree.value, False)
    return BestResponse(book=stay, gain=gain)


def advantages(
    tree: Tree, costs: Costs, side: Side, x: Mixed, *, memorizable: Bools | None = None
) -> Floats:
    """[n] what staying in book at an own history adds for `side` over leaving there, cost included.

    Weighted by everything but the side's own choices, which is the counterfactual advantage of
    fact 6: P(h) (Σ prep V_in - V_out) - λ, with V_in under the side's own mixed book below.
    """
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    every = decisions(tree)
    one, two = check_mixed(tree, x[0], 1, every), check_mixed(tree, x[1], 2, every)
    own, rival = (one, two) if side == 1 else (two, one)
    prep = _masses(tree, side, own)[0]
    worth = _worth(tree, side, rival, tree.value)
    advantage = np.zeros(tree.size)
    stay = np.zeros(tree.size)
    previous = passes.previous(tree.parent, tree.player, np.int8(side), own)
    np.divide(own, previous, out=stay, where=previous > 0.0)
    arrays = tree.first, tree.player, tree.base
    passes.backward(*arrays, prep, worth, mask, np.int8(side), costs[side - 1], stay, advantage)
    return advantage


def certify(
    tree: Tree, costs: Costs, x1: Floats, x2: Floats, *, memorizable: Bools | None = None
) -> Certificate:
    """Bounds on the value of the meta-game from a pair of mixed books: two exact best responses.

    The lower bound prices every v(h) at value - radius, the upper one at value + radius (within
    [0, 1]), so the gap holds whatever the true values are. A book that goes on at an open history is
    granted the best utility there for one more memorized history, which no real book can beat.
    """
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    one, two = check_mixed(tree, x1, 1, mask), check_mixed(tree, x2, 2, mask)
    paid = costs[0] * float(one.sum()), costs[1] * float(two.sum())

    def bounds(low: Floats, high: Floats, opened: bool) -> tuple[float, float]:
        below = respond(tree, costs[1], 2, one, mask, low, opened)[0]
        above = respond(tree, costs[0], 1, two, mask, high, opened)[0]
        return -below - paid[0], above + paid[1]

    value, radius = tree.value, tree.radius
    lower, upper = bounds(value, value, False)
    plain = sampled = total = upper - lower
    if np.any(radius > 0.0):
        low = np.maximum(value - radius, np.minimum(value, 0.0))
        high = np.minimum(value + radius, np.maximum(value, 1.0))
        lower, upper = bounds(low, high, False)
        sampled = total = upper - lower
    else:
        low = high = value
    if np.any(tree.open):
        lower, upper = bounds(low, high, True)
        total = upper - lower
    if upper < lower:  # equal up to rounding: an exact equilibrium
        lower = upper = (lower + upper) / 2
    return Certificate(
        payoff=payoff(tree, costs, (one, two)),
        lower=lower,
        upper=upper,
        solver_gap=max(plain, 0.0),
        radius_error=max(sampled - plain, 0.0),
        open_error=max(total - sampled, 0.0),
    )


def respond(
    tree: Tree, cost: float, side: Side, opponent: Floats, mask: Bools, value: Floats, opened: bool
) -> tuple[float, Bools, Floats]:
    """A best response in one backward pass with max: what it earns `side`, the pure book, and by
    history what hopes at open histories add to that."""
    prep = _masses(tree, side, np.zeros(tree.size))[0]
    worth = _worth(tree, side, opponent, value)
    hope = np.full(tree.size, -np.inf)
    if opened:
        _, inside, outside = _masses(tree, other(side), opponent)
        reach = prep * (inside + outside) * passes.chance(tree.parent, tree.player, tree.base)
        most = 1.0 if side == 1 else 0.0
        here = tree.open & ~mask & (tree.player == side) & (prep > 0.0)
        hope[here] = reach[here] * most - cost
    stay = np.zeros(tree.size, dtype=np.bool_)
    added = np.zeros(tree.size)
    arrays = tree.parent, tree.first, tree.player, tree.base
    gain = passes.best(*arrays, prep, worth, hope, mask, np.int8(side), cost, stay, added)
    return gain, stay, added


def _masses(tree: Tree, side: Side, x: Floats) -> tuple[Floats, Floats, Floats]:
    """[n] the prep reach P(h) of `side`, and what of the mixed book x arrives in book and out of it."""
    return passes.masses(tree.parent, tree.player, tree.base, tree.prep, np.int8(side), x)


def _stopping(tree: Tree, side: Side, x: Floats, straight: Floats, inside: Floats) -> Floats:
    """[n] E(h): the mass that stops at an own history, of the mass `inside` that arrives in book."""
    staying = np.minimum(x * straight, inside)
    return np.where(decisions(tree, side), inside - staying, 0.0)


def stop_values(tree: Tree, side: Side, opponent: Floats) -> Floats:
    """[n] what a history is worth to `side`, in [0, 1], if it stops there, against a mixed book.

    The opponent may be in book there: then play goes on to where it stops. At histories that are not
    the side's own: if it had stopped before, and the opponent not. Where the opponent never comes, v(h).
    """
    clean = check_mixed(tree, opponent, other(side), decisions(tree))
    _, inside, outside = _masses(tree, other(side), clean)
    mine = stops(tree, tree.value) if side == 1 else 1.0 - stops(tree, tree.value)
    pay = _payments(tree, side, clean, mine)
    passes.leave(tree.first, tree.player, tree.base, pay.gone, pay.paid, np.int8(side))
    own = tree.player == side
    worth = np.where(tree.leaves, pay.full, pay.gone + np.where(own, pay.paid, 0.0))
    met = inside + np.where(own | tree.leaves, outside, 0.0)
    met *= passes.chance(tree.parent, tree.player, tree.base)
    value = mine.copy()
    np.divide(worth, met, out=value, where=met > 0.0)
    return value


def _worth(tree: Tree, side: Side, opponent: Floats, value: Floats) -> passes.Payments:
    """What is paid to `side`; player 2's utility is minus player 1's."""
    stop = stops(tree, value)
    return _payments(tree, side, opponent, stop if side == 1 else -stop)


def _payments(tree: Tree, side: Side, opponent: Floats, utility: Floats) -> passes.Payments:
    """What is paid to `side`, whose utility is given, against a mixed book of the opponent."""
    straight, inside, outside = _masses(tree, other(side), opponent)
    weight = passes.chance(tree.parent, tree.player, tree.base) * utility
    leaves = tree.leaves
    theirs = _stopping(tree, other(side), opponent, straight, inside)
    paid = np.where(tree.player == side, outside, theirs) * np.where(leaves, 0.0, weight)
    gone = np.where(leaves, weight * inside, 0.0)
    full = np.where(leaves, weight * (inside + outside), 0.0)
    return passes.Payments(gone, paid, full)
