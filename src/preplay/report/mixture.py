"""A `preplay equilibrium` run as data for the page: both mixed books on one tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from preplay import book as books
from preplay import tree as trees
from preplay.equilibria.strategy import behaviour
from preplay.errors import StoreError
from preplay.report import notation, words
from preplay.report.cut import columns, cut, shares
from preplay.runs import Run
from preplay.tree import Floats, Tree

MOST = 30_000
"""Histories on a page at most; rarer parts of the books are left out beyond that."""
LEAST = (1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.5)
"""A history is shown below while some book holds it with this probability."""


def mixture(run: Run) -> dict[str, Any]:
    """What the page needs of an equilibrium in mixed books."""
    result = run.read("result.json")
    whole = trees.load(run.path("tree.npz"))
    x = held(run, whole, result["sides"]["1"], 1), held(run, whole, result["sides"]["2"], 2)
    above = whole.player[np.maximum(whole.parent, 0)]
    move = np.where(above == 0, whole.base, behaviour(whole, 1, x[0]) * behaviour(whole, 2, x[1]))
    move[0] = 1.0
    value = expected(whole, move)
    kept = _kept(whole, x)
    for least in LEAST:
        shown = cut(whole, ~whole.leaves & (kept >= least))
        if shown.tree.size <= MOST:
            break
    tree, original = shown.tree, shown.original
    start, chess960 = _start(run)
    written = None
    matchup = run.identity.get("matchup", {})
    if words.is_chess(matchup):
        written = notation.standard(tree, start, chess960, {})
    return {
        "chess": written is not None,
        "start": start,
        **notation.before(matchup),
        "worth": {
            key: result.get(key)
            for key in ("value", "lower", "upper", "gap", "method", "iterations", "seconds")
        }
        | {
            "costs": result.get("costs") or run.identity.get("costs"),
            "baseline": result.get("baseline", value_of_base(whole)),
            "utility": result.get("utility", float(value[0])),
            "alone": [result.get("only_one_prepares", {}).get(s) for s in ("1", "2")],
            "entropy": [result["sides"][s].get("entropy", {}).get("play") for s in ("1", "2")],
            "sizes": [result["sides"][s]["expected_size"] for s in ("1", "2")],
            "least": least,
        },
        "trace": [
            [row["iteration"], row["seconds"], float(f"{row['gap']:.4g}")]
            for row in result.get("trace", ())
        ],
        "tree": columns(tree, *((written.moves, written.labels) if written else (None, None)))
        | {
            "p": shares(move[original])[1:],
            "prep": shares(tree.prep)[1:],
            "value": shares(value[original]),
            "x": shares(x[0][original] + x[1][original]),
        },
    }


def held(run: Run, tree: Tree, side: Mapping[str, Any], number: int) -> Floats:
    """[n] x(h) of one side's mixed book."""
    x = np.zeros(tree.size)
    for row in side["book"]:
        k = tree.get(tuple(row["history"]))
        if k is None or tree.player[k] != number:
            line = " ".join(row["history"])
            raise StoreError(f"{run.directory}: result.json holds '{line}', which tree.npz does not")
        x[k] = row["probability"]
    return x


def expected(tree: Tree, move: Floats) -> Floats:
    """[n] player 1's value of each history when moves are made with the probabilities `move`."""
    value = np.where(tree.leaves, tree.value, 0.0)
    depth = tree.depth()
    for level in range(int(depth.max()), 0, -1):
        at = np.flatnonzero(depth == level)
        np.add.at(value, tree.parent[at], move[at] * value[at])
    return value


def value_of_base(tree: Tree) -> float:
    """Player 1's value when nobody prepares."""
    return float(expected(tree, tree.base)[0])


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


def _start(run: Run) -> tuple[str, bool]:
    """The start position, from whichever side's book was kept."""
    for side in (1, 2):
        path = run.path(f"book-{side}.json")
        if path.exists():
            book = books.load(path)
            return book.start, book.chess960
    return "", False
