"""Compiled loops of the one-sided solvers. `side` is 1 or 2, values are from that side's view.

A *forest* holds the own histories that can be memorized: `node` are their tree indices, ascending, and
`above` the forest index of the previous own history, -1 for the first ones. Since parents come before
children, every pass is one loop forwards or backwards.
"""

from __future__ import annotations

import numpy as np

from preplay.compiled import jit, jit_of, step
from preplay.tree import CHOOSES, ROUNDING, Bools, Bytes, Floats, Ints


@jit
def reach(parent: Ints, player: Bytes, base: Floats, prep: Floats, side: int) -> Floats:
    """[n] probability of each history with `side` on prep, the others on base."""
    n = len(parent)
    pi = np.empty(n)
    pi[0] = 1.0
    for k in range(1, n):
        p = parent[k]
        pi[k] = pi[p] * (prep[k] if player[p] == side else base[k])
    return pi


@jit
def forest(
    parent: Ints, first: Ints, player: Bytes, opened: Bools, pi: Floats, value: Floats, side: int
) -> tuple[Ints, Ints, Floats, float]:
    """The forest's `node`, `above` and `gain`, and the value of the empty book."""
    n = len(parent)
    mass = np.zeros(n)  # value mass at the next own or final histories
    total = 0
    for k in range(n - 1, -1, -1):
        leaf = first[k] == first[k + 1]
        stops = leaf or player[k] == side
        if stops and (not leaf or opened[k]):
            total += 1
        if k > 0:
            mass[parent[k]] += pi[k] * value[k] if stops else mass[k]
    empty = pi[0] * value[0] if player[0] == side or first[0] == first[1] else mass[0]
    node = np.empty(total, dtype=np.int32)
    above = np.empty(total, dtype=np.int32)
    gain = np.empty(total)
    inside = np.empty(n, dtype=np.int32)  # forest index of the last own history up to and with k
    j = 0
    for k in range(n):
        before = np.int32(-1) if k == 0 else inside[parent[k]]
        leaf = first[k] == first[k + 1]
        inside[k] = before
        if opened[k] if leaf else player[k] == side:
            node[j] = k
            above[j] = before
            gain[j] = 0.0 if leaf else mass[k] - pi[k] * value[k]
            inside[k] = j
            j += 1
    return node, above, gain, empty


@jit
def heaviest(above: Ints, weight: Floats) -> tuple[Bools, float]:
    """The prefix-closed subset with the largest sum of weights, and that sum: one backward pass."""
    m = len(above)
    below = weight.copy()
    total = 0.0
    for j in range(m - 1, -1, -1):
        if below[j] > 0.0:
            if above[j] >= 0:
                below[above[j]] += below[j]
            else:
                total += below[j]
    chosen = np.zeros(m, dtype=np.bool_)
    for j in range(m):
        chosen[j] = below[j] > 0.0 and (above[j] < 0 or chosen[above[j]])
    return chosen, total


@jit
def play(
    parent: Ints, first: Ints, player: Bytes, pi: Floats, value: Floats, chosen: Bools, side: int
) -> float:
    """The value mass where play leaves the book `chosen` [n] or the tree: the book valued forward."""
    n = len(parent)
    inside = np.empty(n, dtype=np.bool_)
    total = 0.0
    for k in range(n):
        inside[k] = k == 0 or (inside[parent[k]] and (player[parent[k]] != side or chosen[parent[k]]))
        if inside[k]:
            leaf = first[k] == first[k + 1]
            if leaf or (player[k] == side and not chosen[k]):
                total += pi[k] * value[k]
    return total


@jit
def exits(parent: Ints, first: Ints, player: Bytes, chosen: Bools, side: int) -> Bools:
    """[n] whether play that follows the book `chosen` [n] leaves it, or the tree, at a history."""
    n = len(parent)
    inside = np.empty(n, dtype=np.bool_)
    leaving = np.zeros(n, dtype=np.bool_)
    for k in range(n):
        inside[k] = k == 0 or (inside[parent[k]] and (player[parent[k]] != side or chosen[parent[k]]))
        leaving[k] = inside[k] and (first[k] == first[k + 1] or (player[k] == side and not chosen[k]))
    return leaving


@step
def _denser(total: Floats, count: Ints, a: int, b: int) -> bool:
    return bool(total[a] * count[b] > total[b] * count[a])


@step
def _meld(left: Ints, right: Ints, total: Floats, count: Ints, a: int, b: int) -> int:
    """One skew heap out of two, the densest block on top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if _denser(total, count, b, a):
        a, b = b, a
    top = at = a
    rest = right[at]
    right[at] = left[at]
    while rest >= 0:
        if _denser(total, count, b, rest):
            rest, b = b, rest
        left[at] = rest
        at = rest
        rest = right[at]
        right[at] = left[at]
    left[at] = b
    return top


@jit
def blocks(above: Ints, gain: Floats) -> tuple[Ints, Floats, Ints]:
    """[m] the block head of each own history, and each head's gain and size.

    Each history takes in the blocks below it as long as they are denser than itself. In the end
    densities fall along every path, so the blocks in falling density are the nested optimal books.
    """
    m = len(above)
    total = gain.copy()
    count = np.ones(m, dtype=np.int32)
    left = np.full(m, -1, dtype=np.int32)
    right = np.full(m, -1, dtype=np.int32)
    below = np.full(m, -1, dtype=np.int32)  # heap of the blocks hanging from each block
    head = np.full(m, -1, dtype=np.int32)
    for j in range(m - 1, -1, -1):
        top = below[j]
        while top >= 0 and _denser(total, count, top, j):
            total[j] += total[top]
            count[j] += count[top]
            head[top] = j
            rest = _meld(left, right, total, count, left[top], right[top])
            top = _meld(left, right, total, count, rest, below[top])
        below[j] = top
        left[j] = right[j] = -1
        if above[j] >= 0:
            below[above[j]] = _meld(left, right, total, count, below[above[j]], j)
    for j in range(m):
        head[j] = j if head[j] < 0 else head[head[j]]
    return head, total, count


@jit
def losses(above: Ints, weight: Floats) -> Floats:
    """[m] how much the heaviest subset loses when a history is forced into it."""
    m = len(above)
    below = weight.copy()
    for j in range(m - 1, -1, -1):
        if below[j] > 0.0 and above[j] >= 0:
            below[above[j]] += below[j]
    lost = np.empty(m)
    for j in range(m):
        lost[j] = (lost[above[j]] if above[j] >= 0 else 0.0) + max(0.0, -below[j])
    return lost


@jit
def plans(
    parent: Ints,
    first: Ints,
    player: Bytes,
    opened: Bools,
    choice: Bytes,
    pi: Floats,
    value: Floats,
    side: int,
) -> tuple[Ints, Ints, Ints, Floats, float]:
    """The forest where books choose: a *plan* for each own history and option of it.

    `node` is the history, `option` the child that is played (-1: all of them, as prep does), `above` the
    plan that leads here, `gain` what it adds. The plans of a history stand side by side, in the order of
    its options; a book holds at most one of them. Last comes the value of the empty book.
    """
    n = len(parent)
    mass = np.zeros(n)  # value mass at the next own or final histories
    total = 0
    for k in range(n - 1, -1, -1):
        leaf = first[k] == first[k + 1]
        stops = leaf or player[k] == side
        if stops and (not leaf or opened[k]):
            total += first[k + 1] - first[k] if choice[k] == CHOOSES else 1
        if k > 0:
            mass[parent[k]] += pi[k] * value[k] if stops else mass[k]
    empty = pi[0] * value[0] if player[0] == side or first[0] == first[1] else mass[0]
    node = np.empty(total, dtype=np.int32)
    option = np.empty(total, dtype=np.int32)
    above = np.empty(total, dtype=np.int32)
    gain = np.empty(total)
    inside = np.empty(n, dtype=np.int32)  # the last plan up to and with k; the first one where k chooses
    j = 0
    for k in range(n):
        before = np.int32(-1)
        if k > 0:
            p = parent[k]
            before = inside[p] + (k - first[p] if choice[p] == CHOOSES else 0)
        leaf = first[k] == first[k + 1]
        inside[k] = before
        if opened[k] if leaf else player[k] == side:
            inside[k] = j
            if choice[k] == CHOOSES:
                for c in range(first[k], first[k + 1]):
                    stops = first[c] == first[c + 1] or player[c] == side
                    node[j], option[j], above[j] = k, c, before
                    gain[j] = (pi[c] * value[c] if stops else mass[c]) - pi[k] * value[k]
                    j += 1
            else:
                node[j], option[j], above[j] = k, -1, before
                gain[j] = 0.0 if leaf else mass[k] - pi[k] * value[k]
                j += 1
    return node, option, above, gain, empty


@jit
def inherited(parent: Ints, stays: Bools) -> Bools:
    """[n] whether a history and all before it stay."""
    alive = stays.copy()
    for k in range(1, len(parent)):
        alive[k] = alive[k] and alive[parent[k]]
    return alive


@jit
def heaviest_plan(node: Ints, above: Ints, weight: Floats, beaten: Bools) -> tuple[Bools, Floats, float]:
    """The heaviest closed set of plans, one a history at most; what each plan is worth; and the sum.

    One backward pass with a max over the plans of a history, none that is beaten; of plans that are equal
    but for rounding the first.
    """
    m = len(node)
    below = weight.copy()
    best = np.zeros(m, dtype=np.bool_)
    total = 0.0
    end = m
    while end > 0:  # [start, end) are the plans of one history
        start = end - 1
        while start > 0 and node[start - 1] == node[start]:
            start -= 1
        top = start
        for j in range(start + 1, end):
            if beaten[top] or (below[j] > below[top] + ROUNDING and not beaten[j]):
                top = j
        best[top] = True
        if below[top] > 0.0:
            if above[top] >= 0:
                below[above[top]] += below[top]
            else:
                total += below[top]
        end = start
    chosen = np.zeros(m, dtype=np.bool_)
    for j in range(m):
        chosen[j] = best[j] and below[j] > 0.0 and (above[j] < 0 or chosen[above[j]])
    return chosen, below, total


@step
def preorder(above: Ints) -> tuple[Ints, Ints]:
    """How many hang from each member of a forest, itself included, and its place in preorder."""
    m = len(above)
    size = np.ones(m, dtype=np.int32)
    for j in range(m - 1, -1, -1):
        if above[j] >= 0:
            size[above[j]] += size[j]
    place = np.empty(m, dtype=np.int32)
    cursor = np.empty(m, dtype=np.int32)
    free = 0
    for j in range(m):
        if above[j] >= 0:
            place[j] = cursor[above[j]]
            cursor[above[j]] += size[j]
        else:
            place[j] = free
            free += size[j]
        cursor[j] = place[j] + 1
    return size, place


@jit_of(lambda node, above, weight, budget: 4 * len(above) * (budget + 2))
def knapsack(node: Ints, above: Ints, weight: Floats, budget: int) -> tuple[Bools, float]:
    """The heaviest closed set of at most `budget` plans, one a history at most, by dynamic programming.

    Where nothing is chosen each history has one plan, itself. In preorder, with the plans of a history
    in a row, let best[i, b] be the most that the plans from i on can add with b places: take i and go on
    with what hangs from it, or go on to the next plan of the same history, behind the last one to what
    comes after all of them. O(plans * budget).
    """
    m = len(node)
    size, place = preorder(above)
    at = np.empty(m, dtype=np.int32)
    after = np.empty(m, dtype=np.int32)  # by plan: where to go on when its history is done with
    for j in range(m - 1, -1, -1):
        at[place[j]] = j
        last = j == m - 1 or node[j + 1] != node[j]
        after[j] = place[j] + size[j] if last else after[j + 1]
    for j in range(m):  # behind the last history of a plan comes what is behind the plan's own history
        if above[j] >= 0 and after[j] == place[above[j]] + size[above[j]]:
            after[j] = after[above[j]]
    best = np.zeros((m + 1, budget + 1))
    for i in range(m - 1, -1, -1):
        j = at[i]
        inside = i + 1 if size[j] > 1 else after[j]
        beside = after[j] if j == m - 1 or node[j + 1] != node[j] else i + size[j]
        for b in range(1, budget + 1):
            best[i, b] = max(best[beside, b], weight[j] + best[inside, b - 1])
    chosen = np.zeros(m, dtype=np.bool_)
    i = 0
    b = budget
    while i < m and b > 0:
        j = at[i]
        if best[i, b] == best[after[j], b]:
            i = after[j]
            continue
        inside = i + 1 if size[j] > 1 else after[j]
        if weight[j] + best[inside, b - 1] >= best[i, b] - ROUNDING:  # the first of equals
            chosen[j] = True
            i = inside
            b -= 1
        else:
            i += size[j]
    return chosen, best[0, budget]
