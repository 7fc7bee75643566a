"""The meta-game on the public tree: exact payoffs, best responses and certificates.

A side's only private state at a history is whether it is still in its book. With the mixed book
x(h) = P(h in S), the prep reach P(h) and X(h) = x of the previous own history, the reach of h by a
side is `X P + O`, where O is the mass of the books that were left before, followed by base play.
Everything here works on the whole tree with plain backward and forward passes; the solvers work on a
smaller, equivalent game and are checked against this module.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from preplay.equilibria import passes
from preplay.errors import InputError
from preplay.game import Side
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
    """The meta-game payoff of the pair, leaf values as estimated."""
    lower: float
    """No book of player 2 brings player 1 below this when it plays its mixed book."""
    upper: float
    """No book of player 1 gets above this against player 2's mixed book."""
    solver_gap: float
    """upper - lower if all leaf values were exact and nothing was left to expand."""
    radius_error: float
    """What the radii of the leaf values add to the gap (the sampling error of Theorem 4)."""
    open_error: float
    """What books reaching below unexpanded leaves could add to the gap."""

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
    if len(costs) != 2:
        raise InputError(f"got {len(costs)} costs; expected one for each of the two sides")
    for cost in costs:
        if not (math.isfinite(cost) and cost >= 0.0):
            raise InputError(f"cost {cost}; expected a finite number that is not negative")
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
    reach = _reach(tree, 1, one)[1] * _reach(tree, 2, two)[1]
    reach *= passes.chance(tree.parent, tree.player, tree.base)
    leaves = tree.leaves
    utility = float(reach[leaves] @ tree.value[leaves])
    return utility - costs[0] * float(one.sum()) + costs[1] * float(two.sum())


def best_response(
    tree: Tree, costs: Costs, side: Side, opponent: Floats, *, memorizable: Bools | None = None
) -> BestResponse:
    """The best pure book of `side` against a mixed book of the other side; of equals the smallest."""
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    clean = check_mixed(tree, opponent, 2 if side == 1 else 1, decisions(tree))
    gain, stay = _respond(tree, costs[side - 1], side, clean, mask, tree.value, False)
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
    own, other = (one, two) if side == 1 else (two, one)
    prep, _ = _reach(tree, side, own)
    weight = _weights(tree, side, other, tree.value)
    advantage = np.zeros(tree.size)
    stay = np.zeros(tree.size)
    previous = passes.previous(tree.parent, tree.player, np.int8(side), own)
    np.divide(own, previous, out=stay, where=previous > 0.0)
    arrays = tree.first, tree.player, tree.base
    passes.backward(*arrays, prep, weight, mask, np.int8(side), costs[side - 1], stay, advantage)
    return advantage


def certify(
    tree: Tree, costs: Costs, x1: Floats, x2: Floats, *, memorizable: Bools | None = None
) -> Certificate:
    """Bounds on the value of the meta-game from a pair of mixed books: two exact best responses.

    The lower bound prices every leaf at value - radius, the upper one at value + radius (within
    [0, 1]), so the gap holds whatever the true values are. A book that goes on below an open leaf is
    granted the best utility there for one more memorized history, which no real book can beat.
    """
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    one, two = check_mixed(tree, x1, 1, mask), check_mixed(tree, x2, 2, mask)
    paid = costs[0] * float(one.sum()), costs[1] * float(two.sum())

    def bounds(low: Floats, high: Floats, opened: bool) -> tuple[float, float]:
        below, _ = _respond(tree, costs[1], 2, one, mask, low, opened)
        above, _ = _respond(tree, costs[0], 1, two, mask, high, opened)
        return -below - paid[0], above + paid[1]

    value, radius = tree.value, tree.radius
    lower, upper = bounds(value, value, False)
    plain = sampled = total = upper - lower
    leaves = tree.leaves
    if np.any(radius[leaves] > 0.0):
        low = np.maximum(value - radius, np.minimum(value, 0.0))
        high = np.minimum(value + radius, np.maximum(value, 1.0))
        lower, upper = bounds(low, high, False)
        sampled = total = upper - lower
    else:
        low = high = value
    if np.any(tree.open[leaves]):
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


def _reach(tree: Tree, side: Side, x: Floats) -> tuple[Floats, Floats]:
    """[n] the prep reach P(h) of `side`, and its reach of h with the mixed book x."""
    return passes.masses(tree.parent, tree.player, tree.base, tree.prep, np.int8(side), x)


def _weights(tree: Tree, side: Side, opponent: Floats, value: Floats) -> Floats:
    """[n] at leaves chance times the opponent's reach times the utility of `side`; 0 elsewhere."""
    _, reach = _reach(tree, 2 if side == 1 else 1, opponent)
    reach *= passes.chance(tree.parent, tree.player, tree.base)
    reach *= np.where(tree.leaves, value if side == 1 else -value, 0.0)
    return reach


def _respond(
    tree: Tree, cost: float, side: Side, opponent: Floats, mask: Bools, value: Floats, opened: bool
) -> tuple[float, Bools]:
    """A best response in one backward pass with max: what it earns `side`, and the pure book."""
    prep, _ = passes.masses(
        tree.parent, tree.player, tree.base, tree.prep, np.int8(side), np.zeros(tree.size)
    )
    weight = _weights(tree, side, opponent, value)
    inside = prep * weight
    if opened:
        _, reach = _reach(tree, 2 if side == 1 else 1, opponent)
        most = 1.0 if side == 1 else 0.0
        hope = prep * reach * passes.chance(tree.parent, tree.player, tree.base) * most - cost
        reachable = tree.open & tree.leaves & (prep > 0.0)
        inside = np.where(reachable, np.maximum(inside, hope), inside)
    stay = np.zeros(tree.size, dtype=np.bool_)
    arrays = tree.parent, tree.first, tree.player, tree.base
    gain = passes.best(*arrays, prep, weight, inside, mask, np.int8(side), cost, stay)
    return gain, stay
