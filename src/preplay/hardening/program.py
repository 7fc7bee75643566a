"""The mix that leaves a preparer least, on a hideout: one linear program, or regret sweeps (fact 11).

With y the hider's plan, the best book nets f(root), where `f(h) >= reach·y(h)·v(h)` and
`f(h) >= Σ f(next) - λ` at the preparer's histories, and f is the sum of what follows elsewhere. The least
f(root) over all plans is a linear program; what the mix gives away is linear in y too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preplay.errors import InputError
from preplay.hardening import passes
from preplay.hardening.hideout import HIDES, LEAF, OWN, Hideout
from preplay.programs import Rows, minimize
from preplay.tree import Bools, Floats

LARGE = 20_000
"""From so many histories on regret sweeps are used, unless what is given away is limited."""
BLOCK = 200
"""Sweeps between two looks at the gap."""


class Solved(NamedTuple):
    """A plan that leaves a preparer little, whatever lies beyond, and the least that any plan leaves."""

    y: Floats  # [n] the plan
    rival: Floats  # [n] the plan that leaves least if nothing lies beyond: where to look further
    x: Floats  # [n] the mixed book that leaves the hider no better plan than the rival
    lower: float
    method: str


def least_plan(
    at: Hideout,
    cost: float,
    loss: float | None,
    gap: float,
    method: str | None = None,
    most: int = 20_000,
) -> Solved:
    """The plan that leaves the best book least and gives away at most `loss`."""
    chosen = method or ("lp" if len(at.parent) < LARGE or loss is not None else "sweep")
    if chosen != "lp" and (chosen != "sweep" or loss is not None):
        raise InputError(f"method '{chosen}'; expected lp, or sweep without a limit of the loss")
    if chosen == "sweep":
        found = _sweeps(at, cost, gap, most)
        return found._replace(lower=_sweeps(at.lowest, cost, gap, most).lower) if _unsure(at) else found
    rival, x, lower = _program(at, cost, loss, False)
    if _unsure(at):
        lower = _program(at.lowest, cost, loss, False, drops(at))[2]
    safe = guarding(at, cost, loss) if at.open.any() else rival
    return Solved(safe, rival, x, lower, "lp")


def guarding(at: Hideout, cost: float, loss: float | None) -> Floats:
    """[n] the plan that leaves least if a preparer who goes on from an open history gets everything."""
    return _program(at, cost, loss, True)[0]


def _unsure(at: Hideout) -> bool:
    """Whether values come with a radius."""
    return bool((at.radius > 0.0).any())


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


def _below(at: Hideout, k: int) -> range:
    return range(int(at.first[k]), int(at.first[k] + at.children[k]))


def _equalities(at: Hideout, reach: Floats, hopes: Bools) -> Rows:
    """What a plan is, and f where the preparer decides nothing; columns: y [n], then f [n]."""
    n, rows = len(at.parent), Rows()
    for k in range(n):
        kind, below = at.kind[k], _below(at, k)
        if kind == LEAF:
            if not hopes[k]:
                rows.append((n + k, 1.0), (k, -reach[k] * at.value[k]))
            continue
        if kind == HIDES:
            rows.append((k, -1.0), *((c, 1.0) for c in below))
        else:
            for c in below:
                rows.append((c, 1.0), (k, -1.0))
        if kind != OWN:
            rows.append((n + k, 1.0), *((n + c, -1.0) for c in below))
    return rows


def _program(
    at: Hideout, cost: float, loss: float | None, hoping: bool, drop: Floats | None = None
) -> tuple[Floats, Floats, float]:
    """The plan that leaves least, the mixed book against which no plan leaves less, and how little.

    With `hoping` a preparer who goes on from an open history gets everything for one more memorized
    history: the plan then guards against what lies beyond. What is given away is by the values of `at`
    unless `drop` says it.
    """
    n = len(at.parent)
    hopes = at.open if hoping else np.zeros(n, dtype=np.bool_)
    reach = passes.reaches(at, False)
    equal, most, limits = _equalities(at, reach, hopes), Rows(), []
    own = np.flatnonzero(at.kind == OWN)
    for k in own.tolist():
        most.append((n + k, -1.0), (k, reach[k] * at.value[k]))
        most.append((n + k, -1.0), *((n + c, 1.0) for c in _below(at, k)))
        limits += [0.0, cost]
    for k in np.flatnonzero(hopes).tolist():
        for worth, price in ((at.value[k], 0.0), (1.0, cost)):
            most.append((n + k, -1.0), (k, reach[k] * worth))
            limits.append(price)
    if loss is not None:
        drop = drops(at) if drop is None else drop
        most.append(*((k, drop[k]) for k in np.flatnonzero(drop).tolist()))
        limits.append(loss)
    objective = np.zeros(2 * n)
    objective[n] = 1.0
    lowest = np.concatenate([np.zeros(n), np.full(n, -np.inf)])
    highest = np.concatenate([np.ones(n), np.full(n, np.inf)])
    lowest[0] = 1.0
    answer, _ = minimize(
        objective, (lowest, highest), [(most, np.array(limits))], [(equal, np.zeros(equal.count))]
    )
    assert answer is not None  # there was no limit of time
    y = np.clip(answer.x[:n], 0.0, 1.0)
    x = np.zeros(n)
    if len(own):  # the price of the row "go on" is how much of the mixed book goes on there
        x[own] = np.clip(-answer.prices[1 : 2 * len(own) : 2], 0.0, 1.0)
    return passes.plan(at, _clean(at, passes.mixed(at, y))), x, answer.objective


def _clean(at: Hideout, mix: Floats) -> Floats:
    """The mix with shares that sum to exactly 1: what is certified is a true mix."""
    for k in np.flatnonzero(at.kind == HIDES).tolist():
        below = slice(int(at.first[k]), int(at.first[k] + at.children[k]))
        total = mix[below].sum()  # 0 where rounding left a plan that comes here and goes nowhere
        mix[below] = mix[below] / total if total > 0.0 else at.lead[below]
    return mix


def _sweeps(at: Hideout, cost: float, gap: float, most: int) -> Solved:
    n = len(at.parent)
    reach = passes.reaches(at, False)
    regret, book, mean_y, mean_x = np.zeros(n), np.zeros((n, 2)), np.zeros(n), np.zeros(n)
    done, best, lower = 0, (np.inf, np.ones(n)), -np.inf
    zeros = np.zeros(n)
    while done < most:
        passes.match_regrets(at, reach, cost, BLOCK, done, regret, book, mean_y, mean_x)
        done += BLOCK
        y = passes.plan(at, _clean(at, passes.mixed(at, mean_y)))
        upper = passes.respond(at, reach, y, cost, False, np.zeros(n, dtype=np.bool_), np.zeros(n))
        if upper < best[0]:
            best = upper, y
        x = np.where(at.kind == OWN, mean_x, 0.0)
        lower = max(lower, passes.evade(at, reach, x, zeros, 0.0) - cost * float(x.sum()))
        if best[0] - lower <= gap:
            break
    return Solved(best[1], best[1], np.where(at.kind == OWN, mean_x, 0.0), lower, "sweep")
