"""Which open leaves a certificate turns on: where to grow next."""

from __future__ import annotations

import numpy as np

from preplay.compiled import jit
from preplay.equilibria import passes
from preplay.equilibria.publicgame import Costs, Mixed, _reach, _respond, allowed, check_costs
from preplay.game import Side
from preplay.tree import Bools, Bytes, Floats, Ints, Tree


def promise(tree: Tree, costs: Costs, x: Mixed, *, memorizable: Bools | None = None) -> Floats:
    """[n] what each open leaf adds to the certified gap; 0 where it adds nothing.

    Against the other side's mixed book, a side's most hopeful response goes on below an open leaf if
    the best utility there, for one more memorized history, beats its value. The gap counts that hope
    until the leaf is expanded.
    """
    prices, mask = check_costs(costs), allowed(tree, memorizable)
    chance = passes.chance(tree.parent, tree.player, tree.base)
    total = np.zeros(tree.size)
    sides: tuple[tuple[Side, Side], ...] = ((1, 2), (2, 1))
    for side, opponent in sides:
        theirs = x[opponent - 1]
        _, stay = _respond(tree, prices[side - 1], side, theirs, mask, tree.value, True)
        mine = np.where(tree.leaves, tree.value if side == 1 else 1.0 - tree.value, 0.0)
        reach = _reach(tree, opponent, theirs)[1] * chance
        reach *= _reach(tree, side, np.zeros(tree.size))[0]
        hope = np.where(tree.open, reach * (1.0 - mine) - prices[side - 1], 0.0)
        total += np.where(
            _held(tree.parent, tree.player, np.int8(side), stay), np.maximum(hope, 0.0), 0.0
        )
    return total


@jit
def _held(parent: Ints, player: Bytes, side: np.int8, stay: Bools) -> Bools:
    """[n] whether the side is still in its book when a history is reached."""
    held = np.ones(len(parent), dtype=np.bool_)
    for k in range(1, len(parent)):
        above = parent[k]
        held[k] = held[above] and (player[above] != side or stay[above])
    return held
