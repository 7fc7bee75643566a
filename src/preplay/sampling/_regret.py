"""Compiled loops of `sharpen`: what interval values imply for the book that is best by the means.

Arrays of shape [2, n] hold value masses from the side's point of view: in row 0 of a history itself, in
row 1 of the pool of exits below an own history.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from preplay.compiled import jit
from preplay.tree import Bools, Bytes, Floats, Ints

SUM: Final = 0  # the opponent or chance moves
DECISION: Final = 1  # an own history: stop here, or go on by the book
EXIT: Final = 2  # a leaf that counts with its own value
OPEN: Final = 3  # a leaf that might be worth expanding
POOLED: Final = 4  # a leaf that counts in the pool of the decision above it

_AGREED: Final = 1  # nothing counts while the two books do the same
_HIGHEST: Final = 2  # the best book counts as high as it may be
_LOWEST: Final = 3  # the chosen book counts as low as it may be


@jit
def own_above(parent: Ints, player: Bytes, side: int) -> Ints:
    """[n] the last own history before each, -1 where there is none."""
    above = np.empty(len(parent), dtype=np.int32)
    above[0] = -1
    for k in range(1, len(parent)):
        p = parent[k]
        above[k] = p if player[p] == side else above[p]
    return above


@jit
def backward(
    parent: Ints, kind: Bytes, mean: Floats, low: Floats, high: Floats, hope: Floats, cost: float
) -> tuple[float, float, float, float, Bools, Bools, Bools]:
    """The book that is best by the means: its net, the least it nets, the most any book nets, its regret.

    And for every history: whether the book goes on there, whether the most there is had by going on,
    and whether the regret there comes from deciding otherwise there. Children gather at their parents.
    """
    n = len(parent)
    net, least, most, regret = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    chosen, eager, torn = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for k in range(n - 1, -1, -1):
        if kind[k] == DECISION:
            go = net[k] + mean[1, k] - cost
            go_low = least[k] + low[1, k] - cost
            go_high = most[k] + high[1, k] - cost
            chosen[k] = go > mean[0, k]
            eager[k] = go_high > high[0, k]
            most[k] = max(go_high, high[0, k])
            if chosen[k]:
                otherwise = high[0, k] - go_low
                net[k], least[k] = go, go_low
            else:
                otherwise = go_high - low[0, k]
                net[k], least[k], regret[k] = mean[0, k], low[0, k], 0.0
            torn[k] = otherwise > regret[k]
            regret[k] = max(regret[k], otherwise)
        elif kind[k] == EXIT or kind[k] == OPEN:
            net[k], least[k], most[k] = mean[0, k], low[0, k], high[0, k]
            if kind[k] == OPEN:
                eager[k] = hope[k] > most[k]
                most[k] = max(most[k], hope[k])
                regret[k] = max(0.0, hope[k] - least[k])
                torn[k] = regret[k] > 0.0
        if k > 0:
            p = parent[k]
            net[p] += net[k]
            least[p] += least[k]
            most[p] += most[k]
            regret[p] += regret[k]
    return net[0], least[0], most[0], regret[0], chosen, eager, torn


@jit
def witnesses(parent: Ints, kind: Bytes, chosen: Bools, eager: Bools, torn: Bools) -> Bools:
    """[2, n] the own histories and pools whose intervals make up the regret of the root.

    Down to where the best book may decide otherwise the two books agree and nothing counts. From there
    on the best one counts as high as it may be, and the chosen one as low.
    """
    n = len(parent)
    marked = np.zeros((2, n), np.bool_)
    below = np.zeros(n, np.int8)
    for k in range(n):
        mode = _AGREED if k == 0 else below[parent[k]]
        if mode == 0 or kind[k] == POOLED:
            continue
        if kind[k] == SUM:
            below[k] = mode
            continue
        if mode == _AGREED:
            if torn[k]:
                marked[0, k] = True
                below[k] = _LOWEST if chosen[k] else _HIGHEST
            elif chosen[k]:
                below[k] = _AGREED
        else:
            goes = eager[k] if mode == _HIGHEST else chosen[k]
            marked[0, k] = not goes or kind[k] == OPEN
            below[k] = mode if goes else 0
        if below[k] > _AGREED:
            marked[1, k] = True
    return marked


@jit
def played(parent: Ints, kind: Bytes, chosen: Bools) -> tuple[Bools, Bools]:
    """[n] the histories of the chosen book, and those at which it is left."""
    n = len(parent)
    inside, book, exits = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for k in range(n):
        if k > 0 and not inside[parent[k]]:
            continue
        book[k] = kind[k] == DECISION and chosen[k]
        inside[k] = kind[k] == SUM or book[k]
        exits[k] = not inside[k]
    return book, exits
