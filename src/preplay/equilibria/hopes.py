"""Which open histories a certificate turns on: where to grow next."""

from __future__ import annotations

import numpy as np

from preplay.equilibria.publicgame import Costs, Mixed, allowed, bracket, check_costs, meet, respond
from preplay.game import Side
from preplay.tree import Bools, Floats, Tree


def promise(tree: Tree, costs: Costs, x: Mixed, *, memorizable: Bools | None = None) -> Floats:
    """[n] what each open history adds to the certified gap; 0 where it adds nothing.

    Against the other side's mixed book, a side's most hopeful response goes on at an open history if
    the best utility there, for one more memorized history, beats stopping at the values that are
    kindest to the side. The gap counts that hope until the history is grown.
    """
    prices, mask = check_costs(costs), allowed(tree, memorizable)
    total = np.zeros(tree.size)
    meeting, (low, high) = meet(tree, *x), bracket(tree)
    kindest: tuple[tuple[Side, Floats], ...] = ((1, high), (2, low))
    for side, stop in kindest:
        total += respond(tree, meeting, prices[side - 1], side, mask, stop, True)[2]
    return total
