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
from typing import NamedTuple

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


class Arrivals(NamedTuple):
    """How the mass of one side's mixed book comes to each history, rival and chance aside."""

    straight: Floats  # [n] P: the reach with prep all the way; does not depend on the book
    inside: Floats  # [n] what arrives in book
    outside: Floats  # [n] O: what arrives out of it
    stopping: Floats  # [n] E: what arrives in book at an own history and leaves it there


class Meeting(NamedTuple):
    """A mixed book of each side on a public tree: all that payoffs and best responses ask of them."""

    chance: Floats  # [n] the product of the chance moves before
    sides: tuple[Arrivals, Arrivals]


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
    paid = costs[0] * float(one.sum()), costs[1] * float(two.sum())
    return _utility(tree, meet(tree, one, two), stops(tree, tree.value)) - paid[0] + paid[1]


def _utility(tree: Tree, meeting: Meeting, stop: Floats) -> float:
    """What two mixed books earn player 1 before their price, v(h) by `stop`."""
    return float(_ends(tree, meeting) @ stop)


def ends(tree: Tree, x: Mixed) -> Floats:
    """[n] how often two mixed books are paid by the value of each history."""
    return _ends(tree, meet(tree, *x))


def _ends(tree: Tree, meeting: Meeting) -> Floats:
    open_play, stopped = _paid(meeting)
    return np.where(tree.leaves, open_play, stopped)


def outcomes(tree: Tree, x: Mixed) -> Floats:
    """[n] player 1's expected utility of two mixed books, given that play comes to a leaf.

    Some of the play that comes there was settled before, where both had stopped. At other histories, and
    where play never comes, v(h).
    """
    mask = decisions(tree)
    one, two = check_mixed(tree, x[0], 1, mask), check_mixed(tree, x[1], 2, mask)
    open_play, stopped = _paid(meet(tree, one, two))
    stop = stops(tree, tree.value)
    before = passes.settled(tree.parent, tree.base, stopped)
    worth = open_play * stop + passes.settled(tree.parent, tree.base, stopped * stop)
    value = stop.copy()
    np.divide(worth, open_play + before, out=value, where=tree.leaves & (open_play + before > 0.0))
    return value


def _paid(meeting: Meeting) -> tuple[Floats, Floats]:
    """[n] how often play comes to each history with a side in its book, and how often it is settled
    there, because the second side stops."""
    chance, (one, two) = meeting
    stopped = one.stopping * two.outside + two.stopping * one.outside
    open_play = one.inside * two.inside + one.inside * two.outside + one.outside * two.inside
    return open_play * chance, stopped * chance


def stops(tree: Tree, value: Floats) -> Floats:
    """[n] v(h) where both sides have stopped: `value`, and base play to it where it says nothing."""
    return passes.stops(tree.first, tree.base, value)


def bracket(tree: Tree) -> tuple[Floats, Floats]:
    """[n] the least and the most that v(h) can be, within [0, 1]: value - radius and value + radius."""
    value, radius = tree.value, tree.radius
    if not np.any(radius > 0.0):
        stop = stops(tree, value)
        return stop, stop
    low = np.maximum(value - radius, np.minimum(value, 0.0))
    high = np.minimum(value + radius, np.maximum(value, 1.0))
    return stops(tree, low), stops(tree, high)


def best_response(
    tree: Tree, costs: Costs, side: Side, opponent: Floats, *, memorizable: Bools | None = None
) -> BestResponse:
    """The best pure book of `side` against a mixed book of the other side; of equals the smallest."""
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    clean = check_mixed(tree, opponent, other(side), decisions(tree))
    meeting = against(tree, side, clean)
    gain, stay, _ = respond(tree, meeting, costs[side - 1], side, mask, stops(tree, tree.value), False)
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
    own, meeting = (one, two)[side - 1], meet(tree, one, two)
    prep = meeting.sides[side - 1].straight
    worth = _worth(tree, meeting, side, stops(tree, tree.value))
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
    meeting = meet(tree, one, two)

    def bounds(low: Floats, high: Floats, opened: bool) -> tuple[float, float]:
        below = respond(tree, meeting, costs[1], 2, mask, low, opened)[0]
        above = respond(tree, meeting, costs[0], 1, mask, high, opened)[0]
        return -below - paid[0], above + paid[1]

    stop, (low, high) = stops(tree, tree.value), bracket(tree)
    lower, upper = bounds(stop, stop, False)
    plain = sampled = total = upper - lower
    if np.any(tree.radius > 0.0):
        lower, upper = bounds(low, high, False)
        sampled = total = upper - lower
    if np.any(tree.open):
        lower, upper = bounds(low, high, True)
        total = upper - lower
    if upper < lower:  # equal up to rounding: an exact equilibrium
        lower = upper = (lower + upper) / 2
    return Certificate(
        payoff=_utility(tree, meeting, stop) - paid[0] + paid[1],
        lower=lower,
        upper=upper,
        solver_gap=max(plain, 0.0),
        radius_error=max(sampled - plain, 0.0),
        open_error=max(total - sampled, 0.0),
    )


def against(tree: Tree, side: Side, opponent: Floats) -> Meeting:
    """A side that memorizes nothing yet and the opponent's mixed book, to respond to."""
    nothing = np.zeros(tree.size)
    return meet(tree, nothing, opponent) if side == 1 else meet(tree, opponent, nothing)


def respond(
    tree: Tree, meeting: Meeting, cost: float, side: Side, mask: Bools, stop: Floats, opened: bool
) -> tuple[float, Bools, Floats]:
    """A best response in one backward pass with max: what it earns `side`, the pure book, and by
    history what hopes at open histories add to that. Its own book in `meeting` does not matter."""
    prep, theirs = meeting.sides[side - 1].straight, meeting.sides[other(side) - 1]
    worth = _worth(tree, meeting, side, stop)
    hope = np.full(tree.size, -np.inf)
    if opened:
        reach = prep * (theirs.inside + theirs.outside) * meeting.chance
        most = 1.0 if side == 1 else 0.0
        here = tree.open & ~mask & (tree.player == side) & (prep > 0.0)
        hope[here] = reach[here] * most - cost
    stay = np.zeros(tree.size, dtype=np.bool_)
    added = np.zeros(tree.size)
    arrays = tree.parent, tree.first, tree.player, tree.base
    gain = passes.best(*arrays, prep, worth, hope, mask, np.int8(side), cost, stay, added)
    return gain, stay, added


def meet(tree: Tree, one: Floats, two: Floats) -> Meeting:
    """Both sides' mixed books, one pass down the tree each."""
    chance = passes.chance(tree.parent, tree.player, tree.base)
    return Meeting(chance, (_arrivals(tree, 1, one), _arrivals(tree, 2, two)))


def _arrivals(tree: Tree, side: Side, x: Floats) -> Arrivals:
    arrays = tree.parent, tree.player, tree.base, tree.prep
    straight, inside, outside = passes.masses(*arrays, np.int8(side), x)
    staying = np.minimum(x * straight, inside)
    stopping = np.where(decisions(tree, side), inside - staying, 0.0)
    return Arrivals(straight, inside, outside, stopping)


def stop_values(tree: Tree, side: Side, opponent: Floats) -> Floats:
    """[n] what a history is worth to `side`, in [0, 1], if it stops there, against a mixed book.

    The opponent may be in book there: then play goes on to where it stops. At histories that are not
    the side's own: if it had stopped before, and the opponent not. Where the opponent never comes, v(h).
    """
    clean = check_mixed(tree, opponent, other(side), decisions(tree))
    meeting = against(tree, side, clean)
    theirs = meeting.sides[other(side) - 1]
    stop = stops(tree, tree.value)
    mine = stop if side == 1 else 1.0 - stop
    pay = _payments(tree, meeting, side, mine)
    passes.leave(tree.first, tree.player, tree.base, pay.gone, pay.paid, np.int8(side))
    own = tree.player == side
    worth = np.where(tree.leaves, pay.full, pay.gone + np.where(own, pay.paid, 0.0))
    met = theirs.inside + np.where(own | tree.leaves, theirs.outside, 0.0)
    met *= meeting.chance
    value = mine.copy()
    np.divide(worth, met, out=value, where=met > 0.0)
    return value


def _worth(tree: Tree, meeting: Meeting, side: Side, stop: Floats) -> passes.Payments:
    """What is paid to `side`; player 2's utility is minus player 1's."""
    return _payments(tree, meeting, side, stop if side == 1 else -stop)


def _payments(tree: Tree, meeting: Meeting, side: Side, utility: Floats) -> passes.Payments:
    """What is paid to `side`, whose utility is given, against the opponent's mixed book."""
    theirs, weight, leaves = meeting.sides[other(side) - 1], meeting.chance * utility, tree.leaves
    where = np.where(tree.player == side, theirs.outside, theirs.stopping)
    paid = where * np.where(leaves, 0.0, weight)
    gone = np.where(leaves, weight * theirs.inside, 0.0)
    full = np.where(leaves, weight * (theirs.inside + theirs.outside), 0.0)
    return passes.Payments(gone, paid, full)
