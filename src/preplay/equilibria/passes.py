"""Compiled passes over the whole tree: down with reaches, up with values."""

from __future__ import annotations

import numpy as np

from preplay.compiled import jit
from preplay.tree import Bools, Bytes, Floats, Ints


@jit
def chance(parent: Ints, player: Bytes, base: Floats) -> Floats:
    """[n] the product of the chance moves before each history."""
    reach = np.ones(len(parent))
    for k in range(1, len(parent)):
        above = parent[k]
        reach[k] = reach[above] * base[k] if player[above] == 0 else reach[above]
    return reach


@jit
def descend(parent: Ints, player: Bytes, side: np.int8, x: Floats) -> None:
    """Clip x at own histories to [0, x(previous own history)], in place."""
    last = np.ones(len(parent))  # x at the last own history before k
    for k in range(len(parent)):
        if k > 0:
            above = parent[k]
            last[k] = x[above] if player[above] == side else last[above]
        if player[k] == side:
            x[k] = max(0.0, min(x[k], last[k])) if x[k] == x[k] else 0.0


@jit
def previous(parent: Ints, player: Bytes, side: np.int8, x: Floats) -> Floats:
    """[n] X(h): x at the own history before each history; 1 where there is none."""
    last = np.ones(len(parent))
    for k in range(1, len(parent)):
        above = parent[k]
        last[k] = x[above] if player[above] == side else last[above]
    return last


@jit
def masses(
    parent: Ints, player: Bytes, base: Floats, prep: Floats, side: np.int8, x: Floats
) -> tuple[Floats, Floats]:
    """[n] the prep reach P of `side`, and the reach X P + O of its mixed book x."""
    n = len(parent)
    straight = np.ones(n)
    inside = np.ones(n)  # X P
    outside = np.zeros(n)  # O
    for k in range(1, n):
        above = parent[k]
        if player[above] == side:
            staying = min(x[above] * straight[above], inside[above])
            straight[k] = straight[above] * prep[k]
            inside[k] = staying * prep[k]
            outside[k] = (outside[above] + inside[above] - staying) * base[k]
        else:
            straight[k] = straight[above]
            inside[k] = inside[above]
            outside[k] = outside[above]
    for k in range(n):
        inside[k] += outside[k]
    return straight, inside


@jit
def best(
    parent: Ints,
    first: Ints,
    player: Bytes,
    base: Floats,
    straight: Floats,
    outside: Floats,
    inside: Floats,
    mask: Bools,
    side: np.int8,
    cost: float,
    stay: Bools,
) -> float:
    """Fill `stay` with the best book; return what it earns. `outside` and `inside` enter at leaves.

    `outside` is the worth of a history when the side has left its book, without its own reach;
    `inside` when it is still in book, with its prep reach.
    """
    n = len(first) - 1
    for k in range(n - 1, -1, -1):
        if first[k] == first[k + 1]:
            continue
        out = 0.0
        staying = 0.0
        own = player[k] == side
        for c in range(first[k], first[k + 1]):
            out += base[c] * outside[c] if own else outside[c]
            staying += inside[c]
        outside[k] = out
        if own:
            leaving = straight[k] * out
            staying -= cost
            if mask[k] and straight[k] > 0.0 and staying > leaving:
                stay[k] = True
                inside[k] = staying
            else:
                inside[k] = leaving
        else:
            inside[k] = staying
    # Below a history that is left nothing is memorized.
    held = np.ones(n, dtype=np.bool_)
    for k in range(n):
        if k > 0:
            above = parent[k]
            held[k] = stay[above] if player[above] == side else held[above]
        if player[k] == side:
            stay[k] = stay[k] and held[k]
    return float(inside[0])


@jit
def backward(
    first: Ints,
    player: Bytes,
    base: Floats,
    straight: Floats,
    outside: Floats,
    mask: Bools,
    side: np.int8,
    cost: float,
    stay: Floats,
    advantage: Floats,
) -> None:
    """Fill `advantage` of staying over leaving when the side itself goes on with `stay` below."""
    n = len(first) - 1
    inside = straight * outside
    for k in range(n - 1, -1, -1):
        if first[k] == first[k + 1]:
            continue
        out = 0.0
        staying = 0.0
        own = player[k] == side
        for c in range(first[k], first[k + 1]):
            out += base[c] * outside[c] if own else outside[c]
            staying += inside[c]
        outside[k] = out
        inside[k] = staying
        if own:
            leaving = straight[k] * out
            if mask[k]:
                advantage[k] = staying - cost - leaving
            inside[k] = leaving + stay[k] * advantage[k]
