"""Mixed books in use: the play that they amount to.

A mixed book is an array x [n]: the probability of each own history being in the book, non-increasing
along own prefixes. It does not say how histories of different lines go together, and need not: all
laws with these marginals play the same (Kuhn's theorem).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from preplay.compiled import jit
from preplay.equilibria.publicgame import Mixed, check_mixed, decisions, stop_values
from preplay.game import FINAL, Side, other
from preplay.tree import Bools, Bytes, Floats, Ints, Tree


def behaviour(tree: Tree, side: Side, x: Floats) -> Floats:
    """[n] the behaviour strategy of a mixed book: P(action into k) where `side` moves, 1 elsewhere.

    At a history that the side itself never lets happen, base play. The product along a line is the
    side's reach, so that books and boards see the same play.
    """
    clean = check_mixed(tree, x, side, decisions(tree))
    return _behaviour(tree.parent, tree.player, tree.base, tree.prep, np.int8(side), clean)


@dataclass(frozen=True)
class PlayEntropy:
    """How random the play of a pair of mixed books is, in nats; the parts add up to the total."""

    total: float
    """Entropy of the line played, from the root to a leaf of the tree."""
    sides: tuple[float, float]
    """The parts chosen by player 1 and player 2: expected entropy of their moves."""
    chance: float


def play_entropy(tree: Tree, x: Mixed) -> PlayEntropy:
    """The entropy of play, by the chain rule: reach times the entropy of the move, summed."""
    one, two = behaviour(tree, 1, x[0]), behaviour(tree, 2, x[1])
    mover = _mover(tree)
    move = np.where(mover == 0, tree.base, one * two)
    move[0] = 1.0
    reach = _products(tree.parent, move)
    surprise = np.zeros(tree.size)
    np.log(move, out=surprise, where=move > 0.0)
    parts = reach * -surprise
    by = [float(parts[mover == who].sum()) for who in (1, 2, 0)]
    return PlayEntropy(total=sum(by), sides=(by[0], by[1]), chance=by[2])


@dataclass(frozen=True)
class FirstAdvantage:
    """Where a side that always plays prep first gets an advantage: what Theorems 1 and 2 speak of."""

    level: float
    """The advantage v': the value, with base from there on, that has to be reached."""
    entropy: float
    """Entropy (nats) of the first own history with that advantage, given that there is one."""
    reached: float
    """P_norm: how often prep gets the advantage at all, as far as the tree tells."""


def first_advantages(
    tree: Tree, side: Side, opponent: Floats, levels: Sequence[float], studied: Bools | None = None
) -> list[FirstAdvantage]:
    """For each level the law of the first own history worth that much to `side` against a mixed book.

    The value of a history is what stopping there earns, against the opponent as it then plays; a game
    that ends counts as ending on the side's turn, as in the paper. `studied` [n] marks the own
    histories where the tree knows what prep plays: beyond the others it does not follow, so that
    what it finds is a part of the first histories, of which the theorems hold as well.
    """
    them = other(side)
    mover = _mover(tree)
    move = np.where(mover == 0, tree.base, behaviour(tree, them, opponent))
    known = np.ones(tree.size, dtype=np.bool_) if studied is None else studied
    move = np.where(mover == side, np.where(known[np.maximum(tree.parent, 0)], tree.prep, 0.0), move)
    move[0] = 1.0
    reach = _products(tree.parent, move)
    value = stop_values(tree, side, opponent)
    own = (tree.player == side) | (tree.player == FINAL)
    return [_law(reach[_first(tree.parent, (value >= level) & own)], level) for level in levels]


def _law(p: Floats, level: float) -> FirstAdvantage:
    """What is told of histories that are met with the probabilities `p`, one at most in a game."""
    p = p[p > 0.0]
    reached = float(p.sum())
    entropy = float(-(p / reached) @ np.log(p / reached)) if reached > 0.0 else 0.0
    return FirstAdvantage(level=level, entropy=max(0.0, entropy), reached=reached)


def _mover(tree: Tree) -> Bytes:
    """[n] who made the move into each history; -1 at the root."""
    mover = tree.player[np.maximum(tree.parent, 0)].copy()
    mover[0] = -1
    return mover


@jit
def _behaviour(
    parent: Ints, player: Bytes, base: Floats, prep: Floats, side: np.int8, x: Floats
) -> Floats:
    n = len(parent)
    move = np.ones(n)
    straight = np.ones(n)
    inside = np.ones(n)
    outside = np.zeros(n)
    for k in range(1, n):
        above = parent[k]
        straight[k] = straight[above]
        inside[k] = inside[above]
        outside[k] = outside[above]
        if player[above] == side:
            held = min(x[above] * straight[above], inside[above])
            gone = outside[above] + (inside[above] - held)
            straight[k] *= prep[k]
            inside[k] = held * prep[k]
            outside[k] = gone * base[k]
            reach = held + gone
            move[k] = (inside[k] + outside[k]) / reach if reach > 0.0 else base[k]
    return move


@jit
def _products(parent: Ints, move: Floats) -> Floats:
    """[n] the product of `move` from the root down."""
    reach = move.copy()
    for k in range(1, len(parent)):
        reach[k] *= reach[parent[k]]
    return reach


@jit
def _first(parent: Ints, stands: Bools) -> Bools:
    """[n] the histories that stand and have no standing one before them."""
    n = len(parent)
    before = np.zeros(n, dtype=np.bool_)
    for k in range(1, n):
        before[k] = before[parent[k]] or stands[parent[k]]
    return stands & ~before
