"""The chosen book, with what each entry is worth and what else could have been played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from preplay import response
from preplay.book import Book, Decision, Entry
from preplay.game import S, Side, walk
from preplay.matchup import Matchup
from preplay.preparation.found import Prepared
from preplay.tree import Ints, Tree


def book_of(
    matchup: Matchup[S],
    prepared: Prepared,
    nodes: Ints | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Book:
    """The chosen book (or another one on the same tree) with what each entry is worth."""
    tree, side, best = prepared.tree, prepared.side, prepared.response
    chosen = best.nodes if nodes is None else nodes
    own, gain = response.gains(tree, side)
    gain_of = dict(zip(own.tolist(), gain.tolist(), strict=True))
    reach = response.reach(tree, side)
    entries = [entry(tree, side, int(k), float(reach[k]), gain_of[int(k)]) for k in np.sort(chosen)]
    if prepared.choice is not None:
        if tree.position is None:
            decisions = prepared.choice.decisions
        else:
            from preplay.choice import shared

            decisions = shared.decisions(prepared.choice)
        decided = [decisions.get(int(k)) for k in np.sort(chosen)]
        entries = _explained(matchup, side, entries, decided, prepared.narrow)
    written = matchup.notation
    return Book(
        side=side,
        entries=matchup.scored(side, entries),
        baseline=best.baseline,
        value=best.value if nodes is None else response.evaluate(tree, side, chosen),
        cost=best.cost,
        upper=best.upper,
        error=best.error,
        positions=best.positions if nodes is None else None,
        unprepared=None if prepared.played is not None else best.unprepared,
        start=written.start if written else "",
        chess960=written is not None and written.chess960,
        known=matchup.known[side - 1] or {},
        provenance=dict(provenance or {}),
    )


def _explained(
    matchup: Matchup[S],
    side: Side,
    entries: list[Entry],
    decided: list[Decision | None],
    narrow: bool,
) -> list[Entry]:
    """The entries with what else the book could have played, and what the preparation thinks of it.

    Of a `narrow` class nobody knows what an option is worth at most.
    """
    menus = matchup.menus[side - 1]
    states = [walk(matchup.game, e.history) for e, d in zip(entries, decided, strict=True) if d]
    asked = iter(menus.menus(states) if menus is not None and states else ())
    told = []
    for plain, decision in zip(entries, decided, strict=True):
        if decision is None:
            told.append(plain)
            continue
        opinions = dict(next(asked, ()))
        options = tuple(
            replace(o, opinion=opinions.get(o.move), most=1.0 if narrow else o.most)
            for o in decision.options
        )
        told.append(replace(plain, decision=replace(decision, options=options)))
    return told


def entry(tree: Tree, side: Side, k: int, reach: float, gain: float) -> Entry:
    """One memorized history of a tree as a book entry."""
    value = float(tree.value[k])
    return Entry(
        history=tree.history(k),
        moves=moves(tree, k),
        reach=reach,
        gain=gain,
        value=value if side == 1 else 1.0 - value,
    )


def moves(tree: Tree, k: int) -> dict[str, float]:
    """What prep plays at a history of a tree."""
    return {
        tree.names[tree.action[c]]: float(tree.prep[c]) for c in tree.children(k) if tree.prep[c] > 0.0
    }
