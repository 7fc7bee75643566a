"""The paper's way to hide, beside the mix: softmax over the same menus, one temperature everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from preplay.hardening import passes
from preplay.hardening.hideout import HIDES, Hideout
from preplay.hardening.program import LARGE, given_away, guarding
from preplay.hardening.replies import hopes, nets
from preplay.policy import softmax
from preplay.tree import Floats

GRID = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
"""Randomness of the softmax beside the mix, in mean distances of menu moves from the first choice."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Softmax:
    """What one temperature leaves a preparer."""

    randomness: float
    """In the units of the menu's opinions: centipawns in chess. 0: always the first choice."""
    value: float
    """A preparer nets at least this much against it."""
    loss: float
    """What it gives away against one who does not prepare."""
    mix: float | None = None
    """The most that a preparer nets against a mix that gives away no more than this; None: on a tree that
    is too large for one more linear program."""


@dataclass(frozen=True, eq=False)
class SoftmaxPair:
    """One temperature and a mix that gives away no more, both as plans."""

    randomness: float
    plan: Floats
    loss: float
    mix: Floats | None


def softmax_pairs(at: Hideout, cost: float, y: Floats) -> list[SoftmaxPair]:
    """Every temperature of the grid beside the mix y, or where y gives away more than that temperature
    does (or leaves more, because y may give away less), beside the best mix within its loss."""
    mine, most, found = given_away(at, y), hopes(at, y, cost)[1], []
    for randomness in _temperatures(at):
        plan = _plan(at, randomness)
        loss = given_away(at, plan)
        same = y if mine <= loss + ROUNDING else None
        better = same is not None and most <= nets(at.lowest, plan, cost)[0] + ROUNDING
        if not better and len(at.parent) < LARGE:
            same = guarding(at, cost, loss)
        found.append(SoftmaxPair(randomness, plan, loss, same))
    return found


def compared(at: Hideout, cost: float, beside: Sequence[SoftmaxPair]) -> tuple[Softmax, ...]:
    """What each leaves a preparer for sure, and its mix at most."""
    found = []
    for rival in beside:
        most = None if rival.mix is None else hopes(at, rival.mix, cost)[1]
        found.append(Softmax(rival.randomness, nets(at.lowest, rival.plan, cost)[0], rival.loss, most))
    return tuple(found)


def undecided(at: Hideout, cost: float, beside: Sequence[SoftmaxPair]) -> Floats | None:
    """[n] where to grow so that one more mix is known to be no worse than its temperature, by hope; None:
    that is known of all, or no growing would tell."""
    for rival in beside:
        if rival.mix is None:
            continue
        hope, upper = hopes(at, rival.mix, cost)
        if nets(at.lowest, rival.plan, cost)[0] < upper - ROUNDING:
            hope = np.maximum(hope, hopes(at, rival.plan, cost)[0])
            if hope.any():
                return hope
    return None


def _temperatures(at: Hideout) -> list[float]:
    """The randomness values to compare with: none, and the grid in the menus' own scale."""
    above = np.maximum(at.parent, 0)
    others = (at.kind[above] == HIDES) & (at.parent >= 0) & ~at.lead
    lead = np.zeros(len(at.parent))
    leads = np.flatnonzero(at.lead)
    lead[at.parent[leads]] = at.opinion[leads]
    behind = lead[above[others]] - at.opinion[others]
    behind = behind[~np.isnan(behind)]
    scale = float(np.mean(np.abs(behind))) if len(behind) else 0.0
    return [0.0, *(_round(scale * part) for part in GRID)] if scale > 0.0 else [0.0]


def _round(number: float) -> float:
    """Two digits are enough for a randomness."""
    return float(f"{number:.2g}")


def _plan(at: Hideout, randomness: float) -> Floats:
    mix = np.ones(len(at.parent))
    for k in np.flatnonzero(at.kind == HIDES).tolist():
        below = slice(int(at.first[k]), int(at.first[k] + at.children[k]))
        mix[below] = softmax(_heard(at.opinion[below]).tolist(), randomness)
    return passes.plan(at, mix)


def _heard(opinions: Floats) -> Floats:
    """What a softmax goes by: it never draws a move without an opinion, unless all are such."""
    told = ~np.isnan(opinions)
    return np.where(told, opinions, -np.inf) if told.any() else np.zeros_like(opinions)
