"""Decisions that cannot pay, whatever the opponent does: bounds from below, sharpened round by round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preplay.compiled import jit_of, step
from preplay.tree import Bools, Bytes, Floats, Ints

IN_OUT, OUT_IN, BOTH = range(3)
"""Who is in book at a history: player 1 alone, player 2 alone, both. When both are out all is paid."""


class _Known(NamedTuple):
    """What is known of each history, by who is in book or by side."""

    chance: Floats  # [n] the product of chance's moves before
    inside: Floats  # [2, n] the prep reach of each side
    outside: Floats  # [2, n] the most that it can make of its reach, by stopping where that is best
    low: Floats  # [3, n] values that the history can still take
    high: Floats  # [3, n]
    gain: Floats  # [2, n] the most that staying in book here and below can gain
    wait: Floats  # [2, n] the value at the next own histories with the opponent on base
    late: Floats  # [2, n] the most that stopping there, not before, can be worth; 0 if v is exact


class _Sums(NamedTuple):
    """The same over the children of one history."""

    base_low: Floats  # [3]
    base_high: Floats  # [3]
    prep_low: Floats  # [3]
    prep_high: Floats  # [3]
    gain: Floats  # [2]
    base_wait: Floats  # [2]
    prep_wait: Floats  # [2]
    late: Floats  # [2]
    switch: Floats  # [2] what prep instead of base can bring once the side has left


@jit_of(lambda parent, *_: 180 * len(parent))
def drop(
    parent: Ints,
    first: Ints,
    player: Bytes,
    base: Floats,
    prep: Floats,
    value: Floats,
    costs: tuple[float, float],
    keep: Bools,
    rounds: int,
) -> None:
    """Clear `keep` where staying in book cannot pay against any mixed book of the opponent.

    The gain of staying at h over leaving is at most the better of two bounds, both times reach and minus
    the cost of h: (1) best value after prep minus worst value of leaving; (2) what staying at h alone,
    and stopping at the next own histories, can bring, plus what those can gain.
    """
    n = len(parent)
    known = _Known(
        np.ones(n),
        np.ones((2, n)),
        np.zeros((2, n)),
        np.empty((3, n)),
        np.empty((3, n)),
        np.zeros((2, n)),
        np.empty((2, n)),
        np.zeros((2, n)),
    )
    sums = _Sums(
        np.empty(3),
        np.empty(3),
        np.empty(3),
        np.empty(3),
        np.empty(2),
        np.empty(2),
        np.empty(2),
        np.empty(2),
        np.empty(2),
    )
    for _ in range(rounds):
        _down(parent, player, base, prep, keep, known)
        changed = False
        for k in range(n - 1, -1, -1):
            if first[k] == first[k + 1]:
                known.low[:, k] = value[k]
                known.high[:, k] = value[k]
                known.wait[:, k] = value[k]
                known.gain[:, k] = 0.0
                known.late[:, k] = 0.0
                continue
            _sum(first[k], first[k + 1], base, prep, known, sums)
            for state in range(3):
                known.low[state, k] = sums.base_low[state]
                known.high[state, k] = sums.base_high[state]
            for side in range(2):
                known.gain[side, k] = sums.gain[side]
                known.wait[side, k] = sums.base_wait[side]
                known.late[side, k] = sums.late[side]
            if player[k] > 0:
                side = player[k] - 1
                most = _most(k, side, value[k], known, sums) if keep[k] else 0.0
                if keep[k] and not most > costs[side]:
                    keep[k] = False
                    changed = True
                known.gain[side, k] = most - costs[side] if keep[k] else 0.0
                _decide(k, side, value[k], keep[k], known, sums)
        if not changed:
            break


@step
def _down(parent: Ints, player: Bytes, base: Floats, prep: Floats, keep: Bools, known: _Known) -> None:
    """Reaches from the root down, given what may still be memorized."""
    chance, inside, outside = known.chance, known.inside, known.outside
    for k in range(1, len(parent)):
        above = parent[k]
        mover = player[above]
        chance[k] = chance[above]
        for side in range(2):
            inside[side, k] = inside[side, above]
            outside[side, k] = outside[side, above]
        if mover == 0:
            chance[k] *= base[k]
        else:
            side = mover - 1
            outside[side, k] = max(outside[side, above], inside[side, above]) * base[k]
            inside[side, k] = inside[side, above] * prep[k] if keep[above] else 0.0


@step
def _sum(start: int, end: int, base: Floats, prep: Floats, known: _Known, sums: _Sums) -> None:
    """Fill `sums` from the children `start` to `end`."""
    for state in range(3):
        sums.base_low[state] = sums.base_high[state] = 0.0
        sums.prep_low[state] = sums.prep_high[state] = 0.0
    for side in range(2):
        sums.gain[side] = sums.base_wait[side] = sums.prep_wait[side] = 0.0
        sums.late[side] = sums.switch[side] = 0.0
    low, high = known.low, known.high
    for c in range(start, end):
        b, p = base[c], prep[c]
        for state in range(3):
            sums.base_low[state] += b * low[state, c]
            sums.base_high[state] += b * high[state, c]
            sums.prep_low[state] += p * low[state, c]
            sums.prep_high[state] += p * high[state, c]
        for side in range(2):
            sums.gain[side] += known.gain[side, c]
            sums.base_wait[side] += b * known.wait[side, c]
            sums.prep_wait[side] += p * known.wait[side, c]
            sums.late[side] += p * known.late[side, c]
        more = p - b
        sums.switch[0] += more * (high[OUT_IN, c] if more > 0.0 else low[OUT_IN, c])
        sums.switch[1] -= more * (low[IN_OUT, c] if more > 0.0 else high[IN_OUT, c])


@step
def _most(k: int, side: int, value: float, known: _Known, sums: _Sums) -> float:
    """The most that the mover can gain by staying at `k`, its cost aside."""
    rival = 1 - side
    if side == 0:
        if_in = sums.prep_high[BOTH] - sums.base_low[OUT_IN]
        if_out = sums.prep_high[IN_OUT] - value
        next_out = sums.prep_wait[side] - value
    else:
        if_in = sums.base_high[IN_OUT] - sums.prep_low[BOTH]
        if_out = value - sums.prep_low[OUT_IN]
        next_out = value - sums.prep_wait[side]
    next_in = sums.switch[side] + sums.late[side]
    weight = known.chance[k] * known.inside[side, k]
    met_in, met_out = weight * known.inside[rival, k], weight * known.outside[rival, k]
    first = max(met_in * if_in, met_out * if_out)
    second = sums.gain[side] + max(0.0, met_in * next_in, met_out * next_out)
    return float(min(first, second))


@step
def _decide(k: int, side: int, value: float, stay: bool, known: _Known, sums: _Sums) -> None:
    """What a decision can be worth: the mover stops here, or stays if that may pay."""
    low, high, late = known.low, known.high, known.late
    rival = 1 - side
    alone = IN_OUT if side == 0 else OUT_IN
    left = OUT_IN if side == 0 else IN_OUT
    low[alone, k] = high[alone, k] = value
    low[BOTH, k] = sums.base_low[left]
    high[BOTH, k] = sums.base_high[left]
    late[side, k] = 0.0
    known.wait[side, k] = value
    # The other side waits for its next own history while this one stops here, or stays.
    waited = sums.base_wait[rival] - value
    late[rival, k] = waited if rival == 0 else -waited
    if stay:
        late[rival, k] = max(late[rival, k], sums.late[rival])
        low[alone, k] = min(low[alone, k], sums.prep_low[alone])
        high[alone, k] = max(high[alone, k], sums.prep_high[alone])
        low[BOTH, k] = min(low[BOTH, k], sums.prep_low[BOTH])
        high[BOTH, k] = max(high[BOTH, k], sums.prep_high[BOTH])
