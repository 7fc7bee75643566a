"""Compiled passes over a hideout: what a mix leaves a preparer, and regret sweeps for large ones."""

from __future__ import annotations

import numpy as np

from preplay.compiled import jit, jit_of
from preplay.hardening.hideout import HIDES, LEAF, OWN, Hideout
from preplay.tree import Bools, Floats


@jit
def plan(at: Hideout, mix: Floats) -> Floats:
    """[n] y(h): the product of the hider's own choices before each history."""
    y = np.ones(len(at.parent))
    for k in range(1, len(y)):
        above = at.parent[k]
        y[k] = y[above] * mix[k] if at.kind[above] == HIDES else y[above]
    return y


@jit
def mixed(at: Hideout, y: Floats) -> Floats:
    """[n] the mix of a plan: P(action into k) at the hider's histories, 1 elsewhere.

    Where the hider itself never comes, its first choice.
    """
    mix = np.ones(len(at.parent))
    for k in range(1, len(mix)):
        above = at.parent[k]
        if at.kind[above] == HIDES:
            if y[above] > 0.0:
                mix[k] = max(0.0, y[k] / y[above])
            else:
                mix[k] = 1.0 if at.lead[k] else 0.0
    return mix


@jit
def reaches(at: Hideout, base: bool) -> Floats:
    """[n] how likely each history is, the hider's choices aside; with the preparer on base or prep."""
    reach = np.ones(len(at.parent))
    for k in range(1, len(reach)):
        reach[k] = reach[at.parent[k]] * (at.base[k] if base else at.share[k])
    return reach


@jit
def respond(
    at: Hideout, reach: Floats, y: Floats, cost: float, hoping: bool, stay: Bools, hope: Floats
) -> float:
    """What the best book nets against a plan: one backward pass with max.

    `stay` is filled with the book; with `hoping`, going on from an open history may bring everything for
    one more memorized history, and `hope` is filled with what that adds.
    """
    n = len(at.parent)
    net = np.zeros(n)
    for k in range(n - 1, -1, -1):
        kind = at.kind[k]
        mass = reach[k] * y[k]
        if kind == LEAF:
            net[k] = mass * at.value[k]
            if hoping and at.open[k] and mass - cost > net[k]:
                hope[k] = mass - cost - net[k]
                net[k] = mass - cost
            continue
        total = 0.0
        for c in range(at.first[k], at.first[k] + at.children[k]):
            total += net[c]
        if kind == OWN:
            net[k] = mass * at.value[k]
            if total - cost > net[k]:
                stay[k] = True
                net[k] = total - cost
        else:
            net[k] = total
    held = np.ones(n, dtype=np.bool_)
    for k in range(n):
        if k > 0:
            above = at.parent[k]
            held[k] = held[above] and (at.kind[above] != OWN or stay[above])
        if at.kind[k] == OWN:
            stay[k] = stay[k] and held[k]
        if not held[k]:
            hope[k] = 0.0
    return float(net[0])


@jit
def evade(at: Hideout, reach: Floats, x: Floats, drop: Floats, toll: float) -> float:
    """The least that a mixed book x earns against any mix, what it gives away counted at `toll` each."""
    n = len(at.parent)
    before = previous(at, x)
    worth = np.zeros(n)
    for k in range(n - 1, -1, -1):
        kind = at.kind[k]
        if kind == LEAF:
            worth[k] = reach[k] * before[k] * at.value[k]
            continue
        start, end = at.first[k], at.first[k] + at.children[k]
        if kind == HIDES:
            best = np.inf
            for c in range(start, end):
                best = min(best, worth[c] + toll * drop[c])
            worth[k] = best
        else:
            for c in range(start, end):
                worth[k] += worth[c]
            if kind == OWN:
                worth[k] += reach[k] * (before[k] - x[k]) * at.value[k]
    return float(worth[0])


@jit
def previous(at: Hideout, x: Floats) -> Floats:
    """[n] x at the preparer's own history before each history; 1 where there is none."""
    before = np.ones(len(at.parent))
    for k in range(1, len(before)):
        above = at.parent[k]
        before[k] = x[above] if at.kind[above] == OWN else before[above]
    return before


@jit_of(lambda at, reach, cost, iterations, *_: 20 * iterations * len(reach))
def match_regrets(
    at: Hideout,
    reach: Floats,
    cost: float,
    iterations: int,
    start: int,
    regret: Floats,
    book: Floats,
    mean_y: Floats,
    mean_x: Floats,
) -> None:
    """Regret matching+ of both, in turn: the hider over its menus, the preparer over staying or not.

    `regret` [n] is that of the hider's action into k, `book` [n, 2] the preparer's of staying and of
    stopping at k; the means weigh iteration t by t. Iterations start + 1 to start + iterations.
    """
    n = len(at.parent)
    mix, stay = np.ones(n), np.zeros(n)
    worth, net = np.zeros(n), np.zeros(n)
    for t in range(start + 1, start + iterations + 1):
        _match(at, regret, book, mix, stay)
        y = plan(at, mix)
        _prepares(at, reach * y, cost, stay, book, net)
        _match(at, regret, book, mix, stay)
        x = np.zeros(n)
        before = np.ones(n)
        for k in range(n):
            if k > 0:
                above = at.parent[k]
                before[k] = x[above] if at.kind[above] == OWN else before[above]
            if at.kind[k] == OWN:
                x[k] = before[k] * stay[k]
        _hides(at, reach, x, before, mix, regret, worth)
        weight = 2.0 / (t + 1.0)
        for k in range(n):
            mean_y[k] += weight * (y[k] - mean_y[k])
            mean_x[k] += weight * (x[k] - mean_x[k])


@jit
def _prepares(at: Hideout, mass: Floats, cost: float, stay: Floats, book: Floats, net: Floats) -> None:
    """The preparer's regrets against a mix that brings `mass` [n] to each history, from below."""
    for k in range(len(mass) - 1, -1, -1):
        if at.kind[k] == LEAF:
            net[k] = mass[k] * at.value[k]
            continue
        total = 0.0
        for c in range(at.first[k], at.first[k] + at.children[k]):
            total += net[c]
        if at.kind[k] == OWN:
            more = total - cost - mass[k] * at.value[k]
            book[k, 0] = max(0.0, book[k, 0] + (1.0 - stay[k]) * more)
            book[k, 1] = max(0.0, book[k, 1] - stay[k] * more)
            net[k] = mass[k] * at.value[k] + stay[k] * more
        else:
            net[k] = total


@jit
def _hides(
    at: Hideout, reach: Floats, x: Floats, before: Floats, mix: Floats, regret: Floats, worth: Floats
) -> None:
    """The hider's regrets against the mixed book x: what each action leaves the preparer, from below."""
    for k in range(len(x) - 1, -1, -1):
        kind = at.kind[k]
        if kind == LEAF:
            worth[k] = reach[k] * before[k] * at.value[k]
            continue
        total = 0.0
        for c in range(at.first[k], at.first[k] + at.children[k]):
            total += worth[c] * (mix[c] if kind == HIDES else 1.0)
        if kind == OWN:
            total += reach[k] * (before[k] - x[k]) * at.value[k]
        worth[k] = total
        if kind == HIDES:
            for c in range(at.first[k], at.first[k] + at.children[k]):
                regret[c] = max(0.0, regret[c] + total - worth[c])


@jit
def _match(at: Hideout, regret: Floats, book: Floats, mix: Floats, stay: Floats) -> None:
    """Play in proportion to regrets."""
    for k in range(len(at.parent)):
        if at.kind[k] == OWN:
            total = book[k, 0] + book[k, 1]
            stay[k] = book[k, 0] / total if total > 0.0 else 0.5
        elif at.kind[k] == HIDES:
            total = 0.0
            for c in range(at.first[k], at.first[k] + at.children[k]):
                total += regret[c]
            for c in range(at.first[k], at.first[k] + at.children[k]):
                mix[c] = regret[c] / total if total > 0.0 else 1.0 / at.children[k]
