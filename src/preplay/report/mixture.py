"""A `preplay equilibrium` run as data for the page: both mixed books on one tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from preplay.book import Book
from preplay.equilibria.publicgame import outcomes
from preplay.equilibria.strategy import behaviour
from preplay.errors import StoreError
from preplay.report import notation, openings
from preplay.report.cut import columns, cut, rounded
from preplay.report.drawings import drawn
from preplay.runs.directory import BOOKS, TREE, Run
from preplay.runs.equilibria import EquilibriumResult
from preplay.tree import Floats, Tree

MOST = 30_000
"""Histories on a page at most; rarer parts of the books are left out beyond that."""
LEAST = (1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.5)
"""A history is shown below while some book holds it with this probability."""


def mixture(run: Run) -> dict[str, Any]:
    """What the page needs of an equilibrium in mixed books."""
    result = EquilibriumResult.found(run)
    whole = result.tree
    x = held(run, whole, result.books[0]), held(run, whole, result.books[1])
    above = whole.player[np.maximum(whole.parent, 0)]
    move = np.where(above == 0, whole.base, behaviour(whole, 1, x[0]) * behaviour(whole, 2, x[1]))
    move[0] = 1.0
    value = expected(replace(whole, value=outcomes(whole, x)), move)
    kept = _kept(whole, x)
    for least in LEAST:
        shown = cut(whole, ~whole.leaves & (kept >= least))
        if shown.tree.size <= MOST:
            break
    tree, original = shown.tree, shown.original
    start, chess960 = result.books[0].start, result.books[0].chess960
    written = None
    matchup = run.matchup
    if run.is_chess:
        written = notation.standard(tree, start, chess960, {})
    early = notation.before(matchup)
    names = {}
    if written and not chess960:
        names = openings.named(tree, written.moves, start, early["played"])
    return {
        "chess": written is not None,
        "chess960": chess960,
        "drawing": None if written else drawn(tree, matchup),
        "start": start,
        **early,
        "worth": {
            key: getattr(result, key)
            for key in ("value", "lower", "upper", "gap", "method", "iterations", "seconds")
        }
        | {
            "costs": list(result.costs),
            "baseline": result.baseline,
            "utility": result.utility,
            "alone": list(result.only_one_prepares),
            "entropy": [side.entropy.play for side in result.sides],
            "sizes": [side.expected_size for side in result.sides],
            "least": least,
        },
        "trace": [[row.iteration, row.seconds, float(f"{row.gap:.4g}")] for row in result.trace],
        "tree": columns(tree, *((written.moves, written.labels) if written else (None, None)))
        | {
            "p": rounded(move[original])[1:],
            "prep": rounded(tree.prep)[1:],
            "value": rounded(value[original]),
            "openings": names,
            "x": rounded(x[0][original] + x[1][original]),
        },
    }


def held(run: Run, tree: Tree, book: Book) -> Floats:
    """[n] x(h) of one side's mixed book."""
    x = np.zeros(tree.size)
    for entry in book.entries:
        k = tree.get(entry.history)
        if k is None or tree.player[k] != book.side:
            line = " ".join(entry.history)
            raise StoreError(
                f"{run.directory}: {BOOKS[book.side - 1]} holds '{line}', which {TREE} does not"
            )
        x[k] = entry.probability
    return x


def expected(tree: Tree, move: Floats) -> Floats:
    """[n] player 1's value of each history when moves are made with the probabilities `move`."""
    value = np.where(tree.leaves, tree.value, 0.0)
    depth = tree.depth()
    for level in range(int(depth.max()), 0, -1):
        at = np.flatnonzero(depth == level)
        np.add.at(value, tree.parent[at], move[at] * value[at])
    return value


def _kept(tree: Tree, x: tuple[Floats, Floats]) -> Floats:
    """[n] the larger probability of the two books still to hold the line at a history."""
    last = np.ones((2, tree.size))
    depth = tree.depth()
    for level in range(int(depth.max()) + 1):
        at = np.flatnonzero(depth == level)
        if level:
            last[:, at] = last[:, tree.parent[at]]
        for side in (0, 1):
            own = at[tree.player[at] == side + 1]
            last[side, own] = x[side][own]
    kept: Floats = last.max(axis=0)
    return kept
