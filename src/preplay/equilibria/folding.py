"""The public game folded to its decisions: what the solvers iterate on.

Two exact steps make it small. **Dropping**: a history where staying in book cannot pay, whatever the
opponent does, is never memorized; bounds are sharpened round by round. **Folding**: between two
decisions nothing is left to choose, so chance, forced play and values become constants. Every payment
(at a leaf, or where the second side stops) depends on one decision of each side, the last before it, in
one of two states each (in book or left): its worth is added to a 2 x 2 matrix at the later of the two
decisions. The mass that stops at a decision is what has left it less what had left before and came by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from preplay.compiled import jit_of, step
from preplay.equilibria import dropping
from preplay.equilibria.publicgame import Costs, Mixed, stops
from preplay.tree import Bools, Bytes, Floats, Ints, Tree

BASE, PREP, COST, LEFT_LEFT, LEFT_IN, IN_LEFT, IN_IN = range(7)
"""Columns of `Decisions.table`; the matrix is [own state]_[rival's state], from the own point of view."""

ROUNDS = 12
"""At most so many rounds of dropping; each is one pass up and one down the tree."""


Places = npt.NDArray[np.uint32]
"""Indices without a sign: compiled loops need not look whether they count from the end."""


class Decisions(NamedTuple):
    """One side's m decisions in the order of the tree; index 0 stands for the start of the game.

    The mass that leaves (or stays in) book at a decision d reaches the next own decision e with
    probability table[e, BASE] (or PREP), rival and chance aside.
    """

    history: Ints  # [m] the history in the tree, -1 at index 0
    previous: Places  # [m] the own decision before
    rival: Places  # [m] the opponent's last decision before
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
    arrays = (tree.first, tree.player, tree.base, tree.prep, stops(tree, tree.value))
    if drop:
        dropping.drop(tree.parent, *arrays, costs, keep, ROUNDS)
    one, two = _fold(*arrays, costs, keep)
    return FoldedGame(sides=(Decisions(*one), Decisions(*two)), histories=tree.size)


_Arrays = tuple[Ints, Places, Places, Floats, Floats]


@step
def _pay(
    history: Ints,
    one: int,
    two: int,
    tables: tuple[Floats, Floats],
    left_left: float,
    left_in: float,
    in_left: float,
    in_in: float,
) -> None:
    """Add what player 1 gets, by [state of player 1]_[of 2], at the later of two decisions."""
    if history[0, one] >= history[1, two]:
        row = tables[0][one]
        row[LEFT_LEFT] += left_left
        row[LEFT_IN] += left_in
        row[IN_LEFT] += in_left
        row[IN_IN] += in_in
    else:
        row = tables[1][two]
        row[LEFT_LEFT] -= left_left
        row[LEFT_IN] -= in_left
        row[IN_LEFT] -= left_in
        row[IN_IN] -= in_in


@jit_of(lambda first, *_: 40 * len(first))
def _fold(  # noqa: PLR0915  # one pass over a dozen arrays, which its parts would have to be handed
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
    previous = np.zeros((2, most), dtype=np.uint32)
    rival = np.zeros((2, most), dtype=np.uint32)
    straight = np.ones((2, most))
    table_one = np.zeros((count[0], 7))
    table_two = np.zeros((count[1], 7))

    # At each history: the last decision of each side, and the probability of getting from there to
    # here by the own moves in between, had the side left its book there or stayed.
    last = np.zeros((2, n), dtype=np.int32)
    left = np.zeros((2, n))
    stayed = np.ones((2, n))
    chance = np.ones(n)
    inside = np.ones((2, n), dtype=np.bool_)  # whether who stayed at the last decision is in book here
    made = np.ones(2, dtype=np.int64)
    for k in range(n):
        mover = player[k]
        worth = chance[k] * value[k]
        out = np.empty(2)  # of the mass that stayed at the last decision: what is out of book here
        for side in range(2):
            out[side] = 0.0 if inside[side, k] else stayed[side, k]
        if first[k] == first[k + 1]:
            _pay(
                history,
                last[0, k],
                last[1, k],
                (table_one, table_two),
                0.0,
                worth * left[0, k] * (stayed[1, k] - out[1]),
                worth * (stayed[0, k] - out[0]) * left[1, k],
                worth * (stayed[0, k] * stayed[1, k] - out[0] * out[1]),
            )
            continue
        side = mover - 1
        d = 0
        if mover > 0 and inside[side, k]:
            own, theirs = last[side, k], last[1 - side, k]
            if keep[k]:
                d = made[side]
                made[side] += 1
                history[side, d] = k
                previous[side, d] = own
                rival[side, d] = theirs
                straight[side, d] = straight[side, own] * stayed[side, k]
                row = table_one[d] if side == 0 else table_two[d]
                row[BASE] = left[side, k]
                row[PREP] = stayed[side, k]
                row[COST] = costs[side] / straight[side, d]
                row[LEFT_LEFT] += (worth if side == 0 else -worth) * left[1 - side, k]
                row[LEFT_IN] += (worth if side == 0 else -worth) * out[1 - side]
            # Who stops here while the other side is out is paid here: of a decision, all that has left
            # it, less what had left the one before.
            before = -left[side, k] if keep[k] else 0.0
            stopping = 0.0 if keep[k] else stayed[side, k]
            gone, held = worth * left[1 - side, k], worth * out[1 - side]
            one, two = (own, theirs) if side == 0 else (theirs, own)
            left_in = before * held if side == 0 else stopping * gone
            in_left = stopping * gone if side == 0 else before * held
            tables = table_one, table_two
            _pay(history, one, two, tables, before * gone, left_in, in_left, stopping * held)
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
    return (
        (
            history[0, :a].copy(),
            previous[0, :a].copy(),
            rival[0, :a].copy(),
            straight[0, :a].copy(),
            table_one[:a],
        ),
        (
            history[1, :b].copy(),
            previous[1, :b].copy(),
            rival[1, :b].copy(),
            straight[1, :b].copy(),
            table_two[:b],
        ),
    )
