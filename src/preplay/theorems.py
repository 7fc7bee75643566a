"""The paper's bounds: Theorem 1 (predictable play is exploitable), Theorem 2, Lemmas 1 and 3."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from preplay import response
from preplay.arguments import check_player, check_real, check_whole, is_number, shown
from preplay.errors import InputError
from preplay.game import FINAL, Side
from preplay.policy import TOLERANCE
from preplay.tree import Bools, Ints, Tree, part_of


@dataclass(frozen=True, eq=False)
class Theorem1:
    """What a book of bounded size is sure to earn against a side that plays with little randomness."""

    side: Side
    advantage: float
    epsilon: float
    entropy: float  # in nats, of the distribution over the first histories with the advantage
    p_norm: float  # the probability of reaching one of them with the side on prep
    firsts: int  # how many there are
    size_bound: float  # L * ceil((1 - epsilon) * exp(entropy / epsilon)); inf when past all numbers
    guarantee: float  # (1 - epsilon) * advantage * p_norm
    nodes: Ints  # the book that the proof constructs, as tree indices
    value: float  # what that book truly earns
    complete: bool  # False: growth was cut short, and the theorem speaks of the firsts found so far


def theorem1(tree: Tree, side: Side, advantage: float, epsilon: float, longest: int) -> Theorem1:
    """Theorem 1 on a tree grown with the goal `Advantage(advantage)`; any other is refused.

    The proof memorizes all own histories before the z likeliest first ones. It holds for any part of
    the first histories as well, so a tree cut short still gives a true guarantee.
    """
    response.check_tree(tree)
    check_player(side)
    check_theorem1(advantage, epsilon)
    check_whole("longest", longest, 1)
    tree.check_fixed()
    _check_ends(tree, side, advantage)
    return _theorem1(tree, side, advantage, epsilon, longest)


def _check_ends(tree: Tree, side: Side, advantage: float) -> None:
    """Raise InputError unless a tree ends where the side first has the advantage, or was cut short."""
    pi, own = response.reach(tree, side), tree.player == side
    if np.isnan(pi).any():
        raise InputError(f"Theorem 1 for side {side} on a tree that was grown for the other")
    stands = _stands(tree, side, advantage) | (own & np.isnan(tree.value))
    # What nobody looked at, as hardly ever met, may have any value: its radius says so.
    ended = tree.leaves & ~tree.open & (pi > 0.0) & (tree.radius < 0.5)
    if np.any(own & np.where(tree.leaves, ended & ~stands, stands)):
        raise InputError(
            f"advantage {advantage:g} on a tree that was grown for something else; expected one that "
            f"ends where side {side} first has it, grown with Advantage({advantage:g})"
        )


def _theorem1(tree: Tree, side: Side, advantage: float, epsilon: float, longest: int) -> Theorem1:
    pi = response.reach(tree, side)
    entropy, p_norm, firsts = _firsts(tree, side, advantage)
    z = _allowed(entropy, epsilon)
    likeliest = firsts[np.argsort(-pi[firsts], kind="stable")]
    kept = likeliest[: int(min(z, len(likeliest)))]
    book: set[int] = set()
    for first in kept.tolist():
        k = int(tree.parent[first])
        while k >= 0:
            if tree.player[k] == side:
                book.add(k)
            k = int(tree.parent[k])
    nodes = np.array(sorted(book), dtype=np.int32)
    return Theorem1(
        side=side,
        advantage=advantage,
        epsilon=epsilon,
        entropy=entropy,
        p_norm=p_norm,
        firsts=len(firsts),
        size_bound=longest * z,
        guarantee=(1.0 - epsilon) * advantage * p_norm,
        nodes=nodes,
        value=response.evaluate(tree, side, nodes),
        complete=tree.complete,
    )


def check_theorem1(advantage: float, epsilon: float) -> None:
    """Raise InputError unless v is in [0, 1] and ε strictly between 0 and 1."""
    if not (is_number(advantage) and 0.0 <= advantage <= 1.0):
        raise InputError(f"advantage {shown(advantage)}; expected a number in [0, 1]")
    if not (is_number(epsilon) and 0.0 < epsilon < 1.0):
        raise InputError(f"epsilon {shown(epsilon)}; expected a number strictly between 0 and 1")


LEVELS = 25
"""Advantages v that a scan tries, and as many ε."""


def most_useful(tree: Tree, side: Side, cost: float, longest: int, least: float = 0.0) -> Theorem1 | None:
    """The v and ε for which Theorem 1 says most on a tree: its guarantee, less what a book of the size
    that it allows costs at most. None where it never says more than `least`, what no book is worth.

    The first histories with value >= v are looked for anywhere in the tree, so any grown tree will do:
    of what lies beyond it the theorem then says nothing (it holds for a part of the first histories).
    """
    best: tuple[float, float, float] | None = None
    mine = tree.value_for(side)
    top = float(np.nanmax(np.where(tree.leaves | (tree.player == side), mine - tree.radius, np.nan)))
    for advantage in np.linspace(top, 0.0, LEVELS, endpoint=False).tolist():
        cut = until(tree, side, advantage)
        entropy, p_norm, _ = _firsts(cut, side, advantage)
        for epsilon in np.linspace(0.0, 1.0, LEVELS, endpoint=False)[1:].tolist():
            size = longest * _allowed(entropy, epsilon)
            says = (1.0 - epsilon) * advantage * p_norm - cost * size
            if says > max(least, best[0] if best else -math.inf):
                best = says, advantage, epsilon
    if best is None:
        return None
    return _theorem1(until(tree, side, best[1]), side, best[1], best[2], longest)


def until(tree: Tree, side: Side, advantage: float) -> Tree:
    """The same tree, which ends where the side first has an advantage."""
    stands = _stands(tree, side, advantage)
    keep = np.ones(tree.size, dtype=np.bool_)
    for k in range(1, tree.size):
        above = tree.parent[k]
        keep[k] = keep[above] and not stands[above]
    return part_of(tree, keep)


def _stands(tree: Tree, side: Side, advantage: float) -> Bools:
    """[n] where the side surely has the advantage, on its turn.

    A game that ends counts as ending on the side's turn, as in the paper.
    """
    value = tree.value_for(side)
    own: Bools = (tree.player == side) | (tree.player == FINAL)
    return own & np.greater_equal(np.maximum(0.0, value - tree.radius), advantage)


def _firsts(tree: Tree, side: Side, advantage: float) -> tuple[float, float, Ints]:
    """Entropy and P_norm of the first histories with the advantage, and which they are."""
    pi = response.reach(tree, side)
    firsts = np.flatnonzero(tree.leaves & _stands(tree, side, advantage) & (pi > 0.0))
    p_norm = float(pi[firsts].sum())
    shares = pi[firsts] / p_norm if len(firsts) else pi[firsts]
    return max(0.0, float(-(shares * np.log(shares)).sum())), p_norm, firsts.astype(np.int32)


def _allowed(entropy: float, epsilon: float) -> float:
    """How many first histories the theorem's book leads to: ⌈(1 - ε) e^(H / ε)⌉."""
    exponent = entropy / epsilon
    if exponent >= 700.0:
        return math.inf
    # Less a hair, so that a whole number with a rounding error is not rounded up.
    return math.ceil((1.0 - epsilon) * math.exp(exponent) * (1.0 - 1e-12))


def lemma3(cost: float, longest: int) -> float:
    """Lemma 3: at most this many histories can matter to a side when both prepare."""
    _check_price(cost, longest)
    return (longest + 2) * (longest + 1) / cost


def price_of_both(costs: tuple[float, float], longest: int) -> float:
    """The price at which Lemma 1 counts as many histories for one side as Lemma 3 does for both: what
    sampled values of an equilibrium need their confidence for."""
    return 1.0 / ((longest + 2) * sum(1.0 / cost for cost in costs))


@dataclass(frozen=True)
class Lemma1Count:
    """How many histories are met with probability at least p, and the bound on that number."""

    p: float
    count: int
    bound: float  # (L + 1) / p


def lemma1(tree: Tree, side: Side, p: float, longest: int) -> Lemma1Count:
    """Lemma 1 on a tree grown with the goal `Lemma1(p)` of `growth.goals`."""
    response.check_cost(p)
    tree.check_price(side, p)
    count = int(np.sum(response.reach(tree, side) >= p))
    return Lemma1Count(p=p, count=count, bound=(longest + 1) / p)


def theorem2(advantage: float, value: float, cost: float, longest: int) -> float:
    """Theorem 2: a side that holds its opponent to `value` in equilibrium plays with this much entropy.

    `advantage` is v' and `value` v of the paper, both for the opponent, whose cost is `cost` and whose
    prep must always win against the side. The proof needs cost * L < e^-5 and v + 0.01 < v' <= 1, else
    the bound is void, and 0 is returned. `entropy_floor` needs neither and is never lower.
    """
    check_real("advantage", advantage)
    check_real("value", value)
    _check_price(cost, longest)
    least = max(value, 0.0) + 0.01  # the empty book nets 0 or more: no equilibrium value is below 0
    if cost * longest >= math.exp(-5.0) or not least < advantage <= 1.0:
        return 0.0
    return (advantage - least) * (math.log(1.0 / (cost * longest)) - 5.0)


def entropy_floor(
    advantage: float, value: float, cost: float, longest: int, p_norm: float = 1.0
) -> float:
    """The sharpest bound that Theorem 2's argument gives, for any P_norm of the opponent's prep.

    The opponent may memorize what comes before the z likeliest first histories with advantage v'. That
    nets P_norm * v' * (their share) - cost * L * z, which cannot exceed v: the z likeliest have a share
    of at most (v + cost * L * z) / (P_norm * v'), for every z. The distribution that meets all these
    limits majorizes every other that keeps them, so it has the least entropy.
    """
    for name, given in (("advantage", advantage), ("value", value), ("p_norm", p_norm)):
        check_real(name, given)
    if not 0.0 <= p_norm <= 1.0 + TOLERANCE:  # sums of probabilities are rounded
        raise InputError(f"p_norm {shown(p_norm)}; expected a probability, a number in [0, 1]")
    _check_price(cost, longest)
    most, line = max(value, 0.0), cost * longest
    mass = p_norm * advantage
    if most + line >= mass or advantage > 1.0:
        return 0.0
    first, step = (most + line) / mass, line / mass
    steps = math.floor((1.0 - first) / step)
    rest = max(0.0, 1.0 - first - steps * step)
    return _surprise(first) + steps * _surprise(step) + _surprise(rest)


def _surprise(p: float) -> float:
    return -p * math.log(p) if p > 0.0 else 0.0


def _check_price(cost: float, longest: int) -> None:
    response.check_cost(cost)
    check_whole("longest", longest, 1)
