"""What a preparer gets against a plan of the hider, and which values that rests on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from preplay.hardening import passes
from preplay.hardening.hideout import LEAF, OWN, Hideout
from preplay.hardening.program import Solved
from preplay.tree import Bools, Floats

LEAST = 1e-9
"""Shares and masses below this do not count."""


def hopes(at: Hideout, y: Floats, cost: float) -> tuple[Floats, float]:
    """[n] what going on from open histories may add for the preparer, and the most that it nets then."""
    hope = np.zeros(len(at.parent))
    stay = np.zeros(len(at.parent), dtype=np.bool_)
    return hope, passes.respond(at.highest, passes.reaches(at, False), y, cost, True, stay, hope)


def nets(at: Hideout, y: Floats, cost: float) -> tuple[float, Bools]:
    """What the best book of this hideout nets, and which histories it holds."""
    stay = np.zeros(len(at.parent), dtype=np.bool_)
    reach = passes.reaches(at, False)
    return passes.respond(at, reach, y, cost, False, stay, np.zeros(len(at.parent))), stay


def exit_shares(at: Hideout, y: Floats, x: Floats) -> Floats:
    """[n] how likely play leaves a (mixed) book x at each history, where v(h) then counts."""
    stays = np.where(at.kind == OWN, x, 0.0)
    ends = (at.kind == LEAF) | (at.kind == OWN)
    left = passes.reaches(at, False) * y * np.maximum(0.0, passes.previous(at, x) - stays)
    return np.where(ends, left, 0.0)


def unjudged(at: Hideout, found: Solved, plans: Iterable[Floats], cost: float) -> list[int]:
    """The histories with an estimated value that the result rests on, the likeliest first.

    What the best mix leaves changes with v(h) as often as play leaves the preparer's mixed book at h; the
    certificate of a plan rests on the exits of the best book against it, and of the empty one.
    """
    weight = exit_shares(at, found.rival, found.x)
    for y in (found.y, *plans):
        for book in (nets(at, y, cost)[1].astype(np.float64), np.zeros(len(at.parent))):
            weight = np.maximum(weight, exit_shares(at, y, book))
    nodes = np.flatnonzero(at.estimated & (weight > LEAST))
    ranked: list[int] = nodes[np.lexsort((nodes, -weight[nodes]))].tolist()
    return ranked
