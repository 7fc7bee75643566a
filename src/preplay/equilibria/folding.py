"""The public game folded to its decisions: what the solvers iterate on.

Two exact steps make it small. **Dropping**: a history where staying in book cannot pay, whatever the
opponent does, is never memorized; bounds are sharpened round by round. **Folding**: between two
decisions nothing is left to choose, so chance, forced play and leaves become constants. Every leaf
depends on one decision of each side, the last before it, in one of two states each (in book or
left): its worth is added to a 2 x 2 matrix at the later of the two decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from preplay.compiled import jit
from preplay.equilibria.publicgame import Costs, Mixed
from preplay.tree import Bools, Bytes, Floats, Ints, Tree

BASE, PREP, COST, LEFT_LEFT, LEFT_IN, IN_LEFT, IN_IN = range(7)
"""Columns of `Decisions.table`; the matrix is [own state]_[rival's state], from the own point of view."""

ROUNDS = 12
"""At most so many rounds of dropping; each is one pass up and one down the tree."""


class Decisions(NamedTuple):
    """One side's m decisions in the order of the tree; index 0 stands for the start of the game.

    The mass that leaves (or stays in) book at a decision d reaches the next own decision e with
    probability table[e, BASE] (or PREP), rival and chance aside.
    """

    history: Ints  # [m] the history in the tree, -1 at index 0
    previous: Ints  # [m] the own decision before
    rival: Ints  # [m] the opponent's last decision before
    straight: Floats  # [m] the prep reach P of the history by its own side
    table: Floats  # [m, 7] see the column names; COST is λ / P


@dataclass(frozen=True, eq=False)
class FoldedGame:
    """Both sides' decisions, equivalent to the public game of a tree of n histories."""

    sides: tuple[Decisions, Decisions]
    histories: int

    @property
    def size(self) -> int:
        """The number of decisions left to make, both sides together."""
        return sum(len(side.history) - 1 for side in self.sides)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together."""
        return sum(array.nbytes for side in self.sides for array in side)

    def spread(self, masses: Mixed) -> Mixed:
        """In-book masses [m] of both sides as mixed books [n]: x = mass / P at decisions, else 0."""
        one, two = (self._spread(side, mass) for side, mass in zip(self.sides, masses, strict=True))
        return one, two

    def gather(self, x: Mixed) -> Mixed:
        """The in-book masses [m] of mixed books [n]; what they hold elsewhere is dropped."""
        one, two = (book[side.history] * side.straight for side, book in zip(self.sides, x, strict=True))
        one[0] = two[0] = 1.0
        return one, two

    def _spread(self, side: Decisions, mass: Floats) -> Floats:
        x = np.zeros(self.histories)
        x[side.history[1:]] = np.clip(mass[1:] / side.straight[1:], 0.0, 1.0)
        return x


def fold(tree: Tree, costs: Costs, mask: Bools, *, drop: bool = True) -> FoldedGame:
    """The folded game of `tree`; only histories in `mask` may be memorized.

    `drop=False` keeps decisions that cannot pay too (all but those that are never reached in book).
    """
    keep = mask & (tree.player > 0) & ~tree.leaves
    arrays = (tree.first, tree.player, tree.base, tree.prep, tree.value)
    if drop:
        _drop(tree.parent, *arrays, costs, keep, ROUNDS)
    one, two = _fold(*arrays, costs, keep)
    return FoldedGame(sides=(Decisions(*one), Decisions(*two)), histories=tree.size)


@jit
def _drop(
    parent: Ints,
    first: Ints,
    player: Bytes,
    base: Floats,
    prep: Floats,
    value: Floats,
    costs: Costs,
    keep: Bools,
    rounds: int,
) -> None:
    """Clear `keep` where staying in book cannot pay against any mixed book of the opponent.

    Going down: the prep reach of each side, and the most that the opponent can make of its reach
    (best over its stopping times). Going up: the interval [low, high] of values that a history can
    still take, and what staying in book can gain. The gain of staying at h over leaving is at most
    the better of two bounds, both times reach and minus the cost of h: (1) best value after prep minus
    worst value after base; (2) what prep instead of base can bring at h alone, plus what the
    next own histories can gain.
    """
    n = len(parent)
    chance = np.ones(n)
    inside = np.ones((2, n))
    outside = np.zeros((2, n))
    low = np.empty(n)
    high = np.empty(n)
    gain = np.zeros((2, n))
    for _ in range(rounds):
        for k in range(1, n):
            above = parent[k]
            mover = player[above]
            chance[k] = chance[above]
            for side in range(2):
                inside[side, k] = inside[side, above]
                outside[side, k] = outside[side, above]
            if mover == 0:
                chance[k] *= base[k]
            else:
                side = mover - 1
                outside[side, k] = max(outside[side, above], inside[side, above]) * base[k]
                inside[side, k] = inside[side, above] * prep[k] if keep[above] else 0.0
        changed = False
        for k in range(n - 1, -1, -1):
            if first[k] == first[k + 1]:
                low[k] = high[k] = value[k]
                gain[0, k] = gain[1, k] = 0.0
                continue
            one = two = 0.0
            base_low = base_high = prep_low = prep_high = 0.0
            switch_up = switch_down = 0.0
            for c in range(first[k], first[k + 1]):
                one += gain[0, c]
                two += gain[1, c]
                base_low += base[c] * low[c]
                base_high += base[c] * high[c]
                prep_low += prep[c] * low[c]
                prep_high += prep[c] * high[c]
                more = prep[c] - base[c]
                switch_up += more * (high[c] if more > 0.0 else low[c])
                switch_down += more * (low[c] if more > 0.0 else high[c])
            mover = player[k]
            low[k] = base_low
            high[k] = base_high
            gain[0, k] = 0.0 if mover == 1 else one
            gain[1, k] = 0.0 if mover == 2 else two
            if keep[k]:
                side = mover - 1
                reach = chance[k] * inside[side, k] * max(inside[1 - side, k], outside[1 - side, k])
                if side == 0:
                    most = min(reach * (prep_high - base_low), one + reach * max(0.0, switch_up))
                else:
                    most = min(reach * (base_high - prep_low), two + reach * max(0.0, -switch_down))
                if most > costs[side]:
                    gain[side, k] = most - costs[side]
                    low[k] = min(base_low, prep_low)
                    high[k] = max(base_high, prep_high)
                else:
                    keep[k] = False
                    changed = True
        if not changed:
            break


_Arrays = tuple[Ints, Ints, Ints, Floats, Floats]


@jit
def _fold(
    first: Ints,
    player: Bytes,
    base: Floats,
    prep: Floats,
    value: Floats,
    costs: Costs,
    keep: Bools,
) -> tuple[_Arrays, _Arrays]:
    """The arrays of both sides' `Decisions`."""
    n = len(player)
    count = np.ones(2, dtype=np.int64)
    for k in range(n):
        if keep[k]:
            count[player[k] - 1] += 1
    most = max(count[0], count[1])
    history = np.full((2, most), -1, dtype=np.int32)
    previous = np.zeros((2, most), dtype=np.int32)
    rival = np.zeros((2, most), dtype=np.int32)
    straight = np.ones((2, most))
    table_one = np.zeros((count[0], 7))
    table_two = np.zeros((count[1], 7))

    # At each history: the last decision of each side, and the probability of getting from there to
    # here by the own moves in between, had the side left its book there or stayed.
    last = np.zeros((2, n), dtype=np.int32)
    left = np.zeros((2, n))
    stayed = np.ones((2, n))
    chance = np.ones(n)
    inside = np.ones((2, n), dtype=np.bool_)  # whether the side can still be in book here
    made = np.ones(2, dtype=np.int64)
    for k in range(n):
        mover = player[k]
        if first[k] == first[k + 1]:
            one, two = last[0, k], last[1, k]
            worth = chance[k] * value[k]
            if history[0, one] >= history[1, two]:
                row = table_one[one]
                row[LEFT_LEFT] += worth * left[0, k] * left[1, k]
                row[LEFT_IN] += worth * left[0, k] * stayed[1, k]
                row[IN_LEFT] += worth * stayed[0, k] * left[1, k]
                row[IN_IN] += worth * stayed[0, k] * stayed[1, k]
            else:
                row = table_two[two]
                row[LEFT_LEFT] -= worth * left[0, k] * left[1, k]
                row[LEFT_IN] -= worth * stayed[0, k] * left[1, k]
                row[IN_LEFT] -= worth * left[0, k] * stayed[1, k]
                row[IN_IN] -= worth * stayed[0, k] * stayed[1, k]
            continue
        side = mover - 1
        d = 0
        if mover > 0 and keep[k] and inside[side, k]:
            d = made[side]
            made[side] += 1
            history[side, d] = k
            previous[side, d] = last[side, k]
            rival[side, d] = last[1 - side, k]
            straight[side, d] = straight[side, last[side, k]] * stayed[side, k]
            row = table_one[d] if side == 0 else table_two[d]
            row[BASE] = left[side, k]
            row[PREP] = stayed[side, k]
            row[COST] = costs[side] / straight[side, d]
        for c in range(first[k], first[k + 1]):
            chance[c] = chance[k]
            for each in range(2):
                last[each, c] = last[each, k]
                left[each, c] = left[each, k]
                stayed[each, c] = stayed[each, k]
                inside[each, c] = inside[each, k]
            if mover == 0:
                chance[c] *= base[c]
            elif d > 0:
                last[side, c] = d
                left[side, c] = base[c]
                stayed[side, c] = prep[c]
                inside[side, c] = prep[c] > 0.0
            else:
                left[side, c] *= base[c]
                stayed[side, c] *= base[c]
                inside[side, c] = False
    a, b = made[0], made[1]  # fewer than counted where decisions are cut off by others
    one_arrays = (history[0, :a].copy(), previous[0, :a].copy(), rival[0, :a].copy())
    two_arrays = (history[1, :b].copy(), previous[1, :b].copy(), rival[1, :b].copy())
    return (
        (*one_arrays, straight[0, :a].copy(), table_one[:a]),
        (*two_arrays, straight[1, :b].copy(), table_two[:b]),
    )
