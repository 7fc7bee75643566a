"""A plan as people play and learn it: a policy by history, and both sides' books."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from preplay.book import Book, Entry
from preplay.game import Distribution, S, other
from preplay.hardening import passes
from preplay.hardening.hideout import HIDES, OWN, Hideout, Hiding
from preplay.hardening.mixes import ByHistory
from preplay.hardening.replies import LEAST, hopes, nets
from preplay.matchup import Matchup
from preplay.tree import Bools, Floats


def unprepared(at: Hideout, y: Floats) -> float:
    """What a preparer without a book has against a plan."""
    reach = passes.reaches(at, False) * y
    return float((reach * np.where(_first_own(at), at.value, 0.0)).sum())


def books(
    matchup: Matchup[S],
    growth: Hiding[S],
    at: Hideout,
    y: Floats,
    cost: float,
    error: float,
    provenance: Mapping[str, Any] | None,
) -> tuple[ByHistory, Book, Book]:
    """The mix by history, the mix as a book, and the best book against it, certain within an error."""
    value, stay = nets(at, y, cost)
    policy, entries = _policy(growth, at, y)
    best = _best_book(growth, at, passes.reaches(at, False) * y, stay)
    preparer, without = other(growth.side), unprepared(at, y)
    theirs = Book(
        preparer,
        matchup.scored(preparer, best),
        baseline=without,
        value=value + cost * len(best),
        cost=cost,
        upper=hopes(at, y, cost)[1],
        error=error,
        unprepared=without,
        start=matchup.notation.start if matchup.notation else "",
        chess960=matchup.notation is not None and matchup.notation.chess960,
        provenance=dict(provenance or {}),
        against="mix",
    )
    mine = replace(
        theirs,
        side=growth.side,
        entries=tuple(entries),
        baseline=1.0 - without,
        unprepared=1.0 - without,
        value=1.0 - theirs.value,
        cost=0.0,
        upper=1.0 - theirs.value,
        against="book",
    )
    return policy, mine, theirs


def _first_own(at: Hideout) -> Bools:
    """[n] where an unprepared preparer is valued: its first own histories, and games that end before."""
    n = len(at.parent)
    before = np.zeros(n, dtype=np.bool_)
    for k in range(1, n):
        above = at.parent[k]
        before[k] = before[above] or at.kind[above] == OWN
    found: Bools = ~before & ((at.children == 0) | (at.kind == OWN))
    return found


def _policy(growth: Hiding[S], at: Hideout, y: Floats) -> tuple[ByHistory, list[Entry]]:
    """The mix by history where the hider comes, the likeliest moves first, and as entries of a book."""
    mix, met = passes.mixed(at, y), passes.reaches(at, False) * y
    policy: dict[tuple[str, ...], Distribution] = {}
    entries = []
    for k in np.flatnonzero((at.kind == HIDES) & (y > LEAST)).tolist():
        below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
        shares = {growth.names[c]: float(mix[c]) for c in below if mix[c] > LEAST}
        total = math.fsum(shares.values())
        moves = {a: p / total for a, p in sorted(shares.items(), key=lambda item: -item[1])}
        history = growth.history(k)
        policy[history] = moves
        entries.append(Entry(history, moves, min(1.0, float(met[k])), 0.0, 1.0 - _worth(at, k, mix)))
    return policy, sorted(entries, key=lambda entry: len(entry.history))


def _worth(at: Hideout, k: int, mix: Floats) -> float:
    """The preparer's value at a history of the hider, who plays the mix, at the next own histories."""
    if not math.isnan(at.value[k]):
        return float(at.value[k])
    below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
    kind = at.kind[k]
    return math.fsum((mix[c] if kind == HIDES else at.share[c]) * _worth(at, c, mix) for c in below)


def _best_book(growth: Hiding[S], at: Hideout, reach: Floats, stay: Bools) -> list[Entry]:
    """The preparer's best book, with gains that add up (fact 1)."""
    entries = []
    for k in np.flatnonzero(stay).tolist():
        below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
        moves = {growth.names[c]: float(at.share[c]) for c in below}
        after, stack = 0.0, list(below)
        while stack:
            c = stack.pop()
            if at.children[c] == 0 or at.kind[c] == OWN:
                after += float(reach[c] * at.value[c])
            else:
                stack.extend(range(int(at.first[c]), int(at.first[c] + at.children[c])))
        gain = after - float(reach[k] * at.value[k])
        met, value = float(reach[k]), float(at.value[k])
        entries.append(Entry(growth.history(k), moves, met, gain, value))
    return sorted(entries, key=lambda entry: len(entry.history))
