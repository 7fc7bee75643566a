"""Compiled passes over the whole tree: down with reaches, up with values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preplay.compiled import jit
from preplay.tree import Bools, Bytes, Floats, Ints


class Payments(NamedTuple):
    """What histories are worth to a side, without its own reach, against a mixed book of the opponent."""

    gone: Floats  # [n] at leaves: the side had left its book before
    paid: Floats  # [n] where the second side stops: the side at its own, the opponent at the others
    full: Floats  # [n] at leaves: the side is in its book


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
def stops(first: Ints, base: Floats, value: Floats) -> Floats:
    """[n] v(h) where both have stopped: the value given, else base play to the values below."""
    stop = value.copy()
    for k in range(len(first) - 2, -1, -1):
        if stop[k] != stop[k]:
            mean = 0.0
            for c in range(first[k], first[k + 1]):
                mean += base[c] * stop[c]
            stop[k] = mean
    return stop


@jit
def masses(
    parent: Ints, player: Bytes, base: Floats, prep: Floats, side: np.int8, x: Floats
) -> tuple[Floats, Floats, Floats]:
    """[n] the prep reach P of `side`, and what of its mixed book x arrives: in book, and out of it."""
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
    return straight, inside, outside


@jit
def settled(parent: Ints, base: Floats, stopped: Floats) -> Floats:
    """[n] what was `stopped` above each history, carried down by base play."""
    carried = np.zeros(len(parent))
    for k in range(1, len(parent)):
        above = parent[k]
        carried[k] = (carried[above] + stopped[above]) * base[k]
    return carried


@jit
def leave(first: Ints, player: Bytes, base: Floats, gone: Floats, paid: Floats, side: np.int8) -> None:
    """Fill `gone` from the leaves up: worths without the side's own reach, once it has left its book."""
    for k in range(len(first) - 2, -1, -1):
        if first[k] == first[k + 1]:
            continue
        own = player[k] == side
        out = 0.0
        for c in range(first[k], first[k + 1]):
            out += base[c] * gone[c] if own else gone[c]
        gone[k] = out if own else out + paid[k]


@jit
def best(  # noqa: PLR0913, PLR0917  # a loop over flat arrays
    parent: Ints,
    first: Ints,
    player: Bytes,
    base: Floats,
    straight: Floats,
    worth: Payments,
    hope: Floats,
    mask: Bools,
    side: np.int8,
    cost: float,
    stay: Bools,
    added: Floats,
) -> float:
    """Fill `stay` with the best book and return what it earns.

    `hope` is what going on at an own history that is not grown yet may bring, -inf elsewhere;
    `added` is filled with what it brings over stopping there.
    """
    n = len(first) - 1
    gone, paid, full = worth.gone, worth.paid, worth.full
    inside = np.zeros(n)
    for k in range(n - 1, -1, -1):
        own = player[k] == side
        if first[k] == first[k + 1]:
            inside[k] = straight[k] * full[k]
        else:
            out = 0.0
            staying = 0.0
            for c in range(first[k], first[k + 1]):
                out += base[c] * gone[c] if own else gone[c]
                staying += inside[c]
            if own:
                gone[k] = out
                inside[k] = straight[k] * (out + paid[k])
                if mask[k] and straight[k] > 0.0 and staying - cost > inside[k]:
                    stay[k] = True
                    inside[k] = staying - cost
            else:
                gone[k] = out + paid[k]
                inside[k] = staying
        if hope[k] > inside[k]:
            added[k] = hope[k] - inside[k]
            inside[k] = hope[k]
    # Below a history that is left nothing is memorized.
    held = np.ones(n, dtype=np.bool_)
    for k in range(n):
        if k > 0:
            above = parent[k]
            held[k] = stay[above] if player[above] == side else held[above]
        if player[k] == side:
            stay[k] = stay[k] and held[k]
        if not held[k]:
            added[k] = 0.0
    return float(inside[0])


@jit
def backward(
    first: Ints,
    player: Bytes,
    base: Floats,
    straight: Floats,
    worth: Payments,
    mask: Bools,
    side: np.int8,
    cost: float,
    stay: Floats,
    advantage: Floats,
) -> None:
    """Fill `advantage` of staying over leaving when the side itself goes on with `stay` below."""
    n = len(first) - 1
    gone, paid = worth.gone, worth.paid
    inside = straight * worth.full
    for k in range(n - 1, -1, -1):
        if first[k] == first[k + 1]:
            continue
        out = 0.0
        staying = 0.0
        own = player[k] == side
        for c in range(first[k], first[k + 1]):
            out += base[c] * gone[c] if own else gone[c]
            staying += inside[c]
        gone[k] = out if own else out + paid[k]
        inside[k] = staying
        if own:
            leaving = straight[k] * (out + paid[k])
            if mask[k]:
                advantage[k] = staying - cost - leaving
            inside[k] = leaving + stay[k] * advantage[k]
