"""The mix that leaves a preparer least, on a hideout: one linear program, or regret sweeps (fact 11).

With y the hider's plan, the best book nets f(root), where `f(h) >= reach·y(h)·v(h)` and
`f(h) >= Σ f(next) - λ` at the preparer's histories, and f is the sum of what follows elsewhere. The least
f(root) over all plans is a linear program; what the mix gives away is linear in y too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array

from preplay.errors import InputError, SolverError
from preplay.hardening import passes
from preplay.hardening.hideout import HIDES, LEAF, OWN, Hideout
from preplay.tree import Floats

_linprog: Any = linprog  # its published types know no sparse matrices

LARGE = 20_000
"""From so many histories on regret sweeps are used, unless what is given away is limited."""
BLOCK = 200
"""Sweeps between two looks at the gap."""


class Solved(NamedTuple):
    """A plan that leaves a preparer little, whatever lies beyond, and the least that any plan leaves."""

    y: Floats  # [n] the plan
    rival: Floats  # [n] the plan that leaves least if nothing lies beyond: where to look further
    lower: float
    method: str


def solve(
    at: Hideout,
    cost: float,
    loss: float | None,
    gap: float,
    method: str | None = None,
    most: int = 20_000,
) -> Solved:
    """The plan that leaves the best book least and gives away at most `loss`."""
    chosen = method or ("lp" if len(at.parent) < LARGE or loss is not None else "sweep")
    if chosen == "lp":
        rival, lower = _program(at, cost, loss, False)
        safe = _program(at, cost, loss, True)[0] if at.open.any() else rival
        return Solved(safe, rival, lower, "lp")
    if chosen != "sweep" or loss is not None:
        raise InputError(f"method '{chosen}'; expected lp, or sweep without a limit of the loss")
    return _sweeps(at, cost, gap, most)


def drops(at: Hideout) -> Floats:
    """[n] what the action into k gives away against an unprepared opponent: how far it is behind the
    hider's best by the values that follow, times how often an opponent on base comes there."""
    n = len(at.parent)
    waits = np.where(np.isnan(at.value), 0.0, at.value)
    for k in range(n - 1, -1, -1):
        if at.kind[k] in (LEAF, OWN):
            continue
        below = slice(int(at.first[k]), int(at.first[k] + at.children[k]))
        # The preparer's next own histories; the hider goes on by its best action.
        waits[k] = waits[below].min() if at.kind[k] == HIDES else float(at.share[below] @ waits[below])
    above = np.maximum(at.parent, 0)
    from_menu = (at.kind[above] == HIDES) & (at.parent >= 0)
    return np.where(from_menu, (waits - waits[above]) * passes.reaches(at, True)[above], 0.0)


def given_away(at: Hideout, y: Floats) -> float:
    """What a plan costs the hider against an opponent who does not prepare."""
    return float(drops(at) @ y)


def _program(at: Hideout, cost: float, loss: float | None, hoping: bool) -> tuple[Floats, float]:
    """The plan that leaves least, and how little.

    With `hoping` a preparer who goes on from an open history gets everything for one more memorized
    history: the plan then guards against what lies beyond.
    """
    n = len(at.parent)
    hopes = at.open if hoping else np.zeros(n, dtype=np.bool_)
    reach = passes.reaches(at, False)
    rows, columns, values = [], [], []
    limits: list[float] = []

    def put(row: int, column: int, value: float) -> None:
        rows.append(row)
        columns.append(column)
        values.append(value)

    # Columns: y [n], then f [n]. Equalities first.
    equal = 0
    for k in range(n):
        below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
        if at.kind[k] == LEAF and hopes[k]:
            continue
        if at.kind[k] == LEAF:
            put(equal, n + k, 1.0)
            put(equal, k, -reach[k] * at.value[k])
            equal += 1
            continue
        if at.kind[k] == HIDES:
            put(equal, k, -1.0)
            for c in below:
                put(equal, c, 1.0)
            equal += 1
        else:
            for c in below:
                put(equal, c, 1.0)
                put(equal, k, -1.0)
                equal += 1
        if at.kind[k] != OWN:
            put(equal, n + k, 1.0)
            for c in below:
                put(equal, n + c, -1.0)
            equal += 1
    a_eq = csr_array(coo_array((values, (rows, columns)), shape=(equal, 2 * n)))
    rows, columns, values = [], [], []
    row = 0
    for k in np.flatnonzero(at.kind == OWN).tolist():
        put(row, n + k, -1.0)
        put(row, k, reach[k] * at.value[k])
        limits.append(0.0)
        put(row + 1, n + k, -1.0)
        for c in range(int(at.first[k]), int(at.first[k] + at.children[k])):
            put(row + 1, n + c, 1.0)
        limits.append(cost)
        row += 2
    for k in np.flatnonzero(hopes).tolist():
        for worth, price in ((at.value[k], 0.0), (1.0, cost)):
            put(row, n + k, -1.0)
            put(row, k, reach[k] * worth)
            limits.append(price)
            row += 1
    if loss is not None:
        drop = drops(at)
        for k in np.flatnonzero(drop).tolist():
            put(row, k, drop[k])
        limits.append(loss)
        row += 1
    a_ub = csr_array(coo_array((values, (rows, columns)), shape=(row, 2 * n))) if row else None
    objective = np.zeros(2 * n)
    objective[n] = 1.0
    bounds = np.column_stack(
        [
            np.concatenate([np.zeros(n), np.full(n, -np.inf)]),
            np.concatenate([np.ones(n), np.full(n, np.inf)]),
        ]
    )
    bounds[0] = 1.0, 1.0
    answer = _linprog(
        objective,
        A_ub=a_ub,
        b_ub=np.array(limits) if row else None,
        A_eq=a_eq,
        b_eq=np.zeros(equal),
        bounds=bounds,
        method="highs",
    )
    if answer.status == 2:
        raise InputError(f"no mix gives away at most {loss}; expected a larger loss")
    if answer.status != 0:
        raise SolverError(f"the linear program was not solved: {answer.message}")
    y = np.clip(answer.x[:n], 0.0, 1.0)
    return passes.plan(at, _clean(at, passes.mixed(at, y))), float(answer.fun)


def _clean(at: Hideout, mix: Floats) -> Floats:
    """The mix with shares that sum to exactly 1: what is certified is a true mix."""
    for k in np.flatnonzero(at.kind == HIDES).tolist():
        below = slice(int(at.first[k]), int(at.first[k] + at.children[k]))
        mix[below] /= mix[below].sum()
    return mix


def _sweeps(at: Hideout, cost: float, gap: float, most: int) -> Solved:
    n = len(at.parent)
    reach = passes.reaches(at, False)
    regret, book, mean_y, mean_x = np.zeros(n), np.zeros((n, 2)), np.zeros(n), np.zeros(n)
    done, best, lower = 0, (np.inf, np.ones(n)), -np.inf
    zeros = np.zeros(n)
    while done < most:
        passes.sweep(at, reach, cost, BLOCK, done, regret, book, mean_y, mean_x)
        done += BLOCK
        y = passes.plan(at, _clean(at, passes.mixed(at, mean_y)))
        upper = passes.respond(at, reach, y, cost, False, np.zeros(n, dtype=np.bool_), np.zeros(n))
        if upper < best[0]:
            best = upper, y
        x = np.where(at.kind == OWN, mean_x, 0.0)
        lower = max(lower, passes.evade(at, reach, x, zeros, 0.0) - cost * float(x.sum()))
        if best[0] - lower <= gap:
            break
    return Solved(best[1], best[1], lower, "sweep")
