"""The paper's bounds: Theorem 1 (predictable play is exploitable), Theorem 2, Lemma 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from preplay import response
from preplay.errors import InputError
from preplay.game import FINAL, Side
from preplay.tree import Ints, Tree


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
    """Theorem 1 on a tree grown with the goal `Advantage(advantage)`.

    The proof memorizes all own histories before the z likeliest first ones. It holds for any part of
    the first histories as well, so a tree cut short still gives a true guarantee.
    """
    check_theorem1(advantage, epsilon)
    pi = response.reach(tree, side)
    value = tree.value if side == 1 else 1.0 - tree.value
    # A game that ends counts as ending on the side's turn, as in the paper.
    stops = tree.leaves & ((tree.player == side) | (tree.player == FINAL))
    firsts = np.flatnonzero(stops & (value - tree.radius >= advantage) & (pi > 0.0))
    p_norm = float(pi[firsts].sum())
    shares = pi[firsts] / p_norm if len(firsts) else pi[firsts]
    entropy = max(0.0, float(-(shares * np.log(shares)).sum()))
    exponent = entropy / epsilon
    count = (1.0 - epsilon) * math.exp(exponent) if exponent < 700.0 else math.inf
    likeliest = firsts[np.argsort(-pi[firsts], kind="stable")]
    kept = likeliest[: math.ceil(count)] if count < len(likeliest) else likeliest
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
        size_bound=longest * math.ceil(count - 1e-9) if math.isfinite(count) else math.inf,
        guarantee=(1.0 - epsilon) * advantage * p_norm,
        nodes=nodes,
        value=response.evaluate(tree, side, nodes),
        complete=tree.complete,
    )


def check_theorem1(advantage: float, epsilon: float) -> None:
    """Raise InputError unless v is in [0, 1] and ε strictly between 0 and 1."""
    if not 0.0 <= advantage <= 1.0:
        raise InputError(f"advantage {advantage}; expected a number in [0, 1]")
    if not 0.0 < epsilon < 1.0:
        raise InputError(f"epsilon {epsilon}; expected a number strictly between 0 and 1")


@dataclass(frozen=True)
class Lemma1:
    """How many histories are met with probability at least p, and the bound on that number."""

    p: float
    count: int
    bound: float  # (L + 1) / p


def lemma1(tree: Tree, side: Side, p: float, longest: int) -> Lemma1:
    """Lemma 1 on a tree grown with the goal `Lemma1(p)`."""
    response.check_cost(p)
    count = int(np.sum(response.reach(tree, side) >= p))
    return Lemma1(p=p, count=count, bound=(longest + 1) / p)


def theorem2(advantage: float, value: float, cost: float, longest: int) -> float:
    """Theorem 2: a side that holds its opponent to `value` in equilibrium plays with this much entropy.

    `advantage` is v' and `value` v of the paper, both for the opponent, whose cost is `cost`. The proof
    needs cost * L < e^-5 and v' > v + 0.01; otherwise the bound is void, and 0 is returned.
    """
    if cost * longest >= math.exp(-5.0) or advantage <= value + 0.01:
        return 0.0
    return (advantage - value - 0.01) * (math.log(1.0 / (cost * longest)) - 5.0)
