"""The part of a tree that a page shows, written as compact columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from preplay.tree import Bools, Floats, Ints, Tree, part_of


@dataclass(frozen=True, eq=False)
class Cut:
    """A tree without what lies below some of its histories."""

    tree: Tree
    original: Ints  # [n] the index of each history in the whole tree


@dataclass(frozen=True)
class Continuation:
    """What was looked at beyond the end of a book: the studied move and the answers to it."""

    move: str
    replies: tuple[tuple[str, float], ...]
    """The opponent's answers with their probabilities, the most probable first."""

    @property
    def spread(self) -> float:
        """The effective number of answers, e to the entropy; 1 when the answer is certain."""
        p = np.array([share for _, share in self.replies])
        p = p[p > 0.0]
        return float(np.exp(-(p @ np.log(p)))) if len(p) else 1.0


def cut(tree: Tree, expand: Bools) -> Cut:
    """The tree with the children only of the histories in `expand` [n]."""
    alive = np.ones(tree.size, dtype=np.bool_)
    level = np.arange(1)
    while len(level):  # the children of a level are a run of indices
        level = np.arange(int(tree.first[level[0]]), int(tree.first[level[-1] + 1]))
        above = tree.parent[level]
        alive[level] = alive[above] & expand[above]
    kept = np.flatnonzero(alive)
    return Cut(part_of(tree, alive), kept.astype(np.int32))


def columns(tree: Tree, moves: list[str] | None, labels: list[str] | None) -> dict[str, Any]:
    """The shape of a tree and its moves: `moves` for a board, `labels` as people write them.

    Children counts in breadth-first order give the shape. Players are one letter each: 1, 2, c for
    chance, f for final.
    """
    names, places = _table(moves[1:] if moves else [tree.names[a] for a in tree.action[1:]])
    data: dict[str, Any] = {
        "kids": np.diff(tree.first).tolist(),
        "player": "".join({1: "1", 2: "2", 0: "c", -1: "f"}[p] for p in tree.player.tolist()),
        "names": names,
        "move": places,
    }
    if labels is not None:
        data["labels"], data["say"] = _table(labels[1:])
    return data


def rounded(numbers: Floats) -> list[float | None]:
    """Numbers with six significant digits; None where there is none."""
    return [None if math.isnan(x) else float(f"{x:.6g}") for x in numbers.tolist()]


def _table(words: list[str]) -> tuple[list[str], list[int]]:
    """Each different word once, and which one stands where."""
    known: dict[str, int] = {}
    places = [known.setdefault(word, len(known)) for word in words]
    return list(known), places


def dropped(tree: Tree, grown: Mapping[str, Any]) -> dict[int, Continuation]:
    """What growth looked at below leaves of `tree` before it dropped it, from a checkpoint's columns."""
    parts = (grown[name].tolist() for name in ("first", "count", "action", "prep", "base"))
    first, count, action, prep, base = parts
    names = [str(name) for name in grown["names"]]
    place = {0: 0}
    found: dict[int, Continuation] = {}

    def below(j: int) -> range:
        return range(first[j], first[j] + count[j])

    for k in range(tree.size):
        if k not in place:
            continue
        j = place[k]
        children = tree.children(k)
        if len(children):
            by_name = {names[action[c]]: c for c in below(j)}
            for c in children:
                if (match := by_name.get(tree.names[tree.action[c]])) is not None:
                    place[c] = match
        elif count[j]:
            best = max(below(j), key=lambda c: -1.0 if math.isnan(prep[c]) else prep[c])
            replies = [(names[action[c]], base[c]) for c in below(best) if base[c] >= 0.0]
            found[k] = continuation(names[action[best]], replies)
    return found


def unchosen(tree: Tree, k: int) -> Continuation:
    """What the tree itself holds below a history that was left out of the book."""
    best = max(tree.children(k), key=lambda c: float(np.nan_to_num(tree.prep[c])))
    replies = [(tree.names[tree.action[c]], float(tree.base[c])) for c in tree.children(best)]
    return continuation(tree.names[tree.action[best]], [(name, p) for name, p in replies if p >= 0.0])


def continuation(move: str, replies: list[tuple[str, float]]) -> Continuation:
    """A continuation with its answers in order."""
    ordered = sorted(replies, key=lambda reply: -reply[1])
    return Continuation(move, tuple((name, float(f"{p:.4g}")) for name, p in ordered))
