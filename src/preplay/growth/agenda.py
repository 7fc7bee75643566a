"""In which order growth asks: the widest interval first, or what the most promising plan hangs on."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from preplay.growth.builder import CLOSED, EXPANDED, Builder
from preplay.growth.intervals import Intervals


class Agenda(Protocol):
    """The histories about which something is to be asked."""

    def add(self, k: int, priority: float) -> None:
        """Something is to be asked about `k`."""
        ...

    def add_all(self, histories: Iterable[int], priorities: Sequence[float]) -> None:
        """Something is to be asked about several histories."""
        ...

    def discard(self, k: int) -> None:
        """Nothing is to be asked about `k` any more."""
        ...

    def take(self, most: int) -> list[int]:
        """At most so many histories to ask about next, the most promising first."""
        ...

    def clear(self) -> None:
        """Forget all."""
        ...

    def __len__(self) -> int: ...


NEAR = 2048
"""At least so many of the histories that wait are put in order at once."""


class ByPriority:
    """Largest priority first, and of equals the earliest: for books that play prep.

    Only the most promising are kept in order. All others are far: they lie as they came, until those
    that are near have been taken. Most of what is met is far, so adding costs next to nothing.
    Priorities are often equal, so those that are near lie together by priority.
    """

    def __init__(self, built: Builder) -> None:
        self._stage = built.stage
        self._near: list[float] = []  # a heap of priorities, negative
        self._equals: dict[float, list[int]] = {}  # for each of them a heap of histories
        self._count = 0  # of those that are near
        self._most = 2 * NEAR  # of those that may be
        self._least = -math.inf  # priorities from this on are near
        self._far = array("i")
        self._priority = array("d")  # of those that are far

    def add(self, k: int, priority: float) -> None:
        """Something is to be asked about `k`."""
        self.add_all((k,), (priority,))

    def add_all(self, histories: Iterable[int], priorities: Sequence[float]) -> None:
        """Something is to be asked about several histories."""
        least, equals = self._least, self._equals
        if max(priorities) < least:
            self._far.extend(histories)
            self._priority.extend(priorities)
            return
        for k, priority in zip(histories, priorities, strict=True):
            if priority < least:
                self._far.append(k)
                self._priority.append(priority)
                continue
            key = -priority
            if key in equals:
                heapq.heappush(equals[key], k)
            else:
                equals[key] = [k]
                heapq.heappush(self._near, key)
            self._count += 1
        if self._count > self._most:
            self._part()

    def discard(self, k: int) -> None:
        """Closed histories are passed over when their turn comes."""

    def take(self, most: int) -> list[int]:
        """At most so many histories to ask about next, the most promising first."""
        stage, taken = self._stage, list[int]()
        while len(taken) < most and len(self):
            if not self._count:
                self._approach()
            first = self._equals[self._near[0]]
            before = len(first)
            while first and len(taken) < most:
                k = heapq.heappop(first)
                if stage[k] != CLOSED:
                    taken.append(k)
            self._count -= before - len(first)
            if not first:
                del self._equals[heapq.heappop(self._near)]
        return taken

    def _part(self) -> None:
        """Too many are near: only the most promising of them stay."""
        for key, first in self._equals.items():
            self._far.extend(first)
            self._priority.extend([-key] * len(first))
        self._approach()

    def _approach(self) -> None:
        """Put the most promising of the far histories in order."""
        far, priority = np.array(self._far), np.array(self._priority)
        some = max(NEAR, len(far) // 16)
        self._least = -math.inf if len(far) <= some else float(-np.partition(-priority, some)[some])
        near = priority >= self._least
        self._count = int(np.count_nonzero(near))
        self._most = 2 * max(NEAR, self._count)
        order = np.lexsort((far[near], -priority[near]))
        equals: dict[float, list[int]] = {}
        for key, k in zip((-priority[near][order]).tolist(), far[near][order].tolist(), strict=True):
            equals.setdefault(key, []).append(k)
        self._equals, self._near = equals, list(equals)  # in order, and so heaps
        self._far = array("i", far[~near].tobytes())
        self._priority = array("d", priority[~near].tobytes())

    def clear(self) -> None:
        """Forget all."""
        self._near, self._equals, self._count, self._most = [], {}, 0, 2 * NEAR
        self._far, self._priority, self._least = array("i"), array("d"), -math.inf

    def __len__(self) -> int:
        return self._count + len(self._far)


class MostPromising:
    """Follows the plan that may still be best: for books that choose their moves (fact 9).

    From the root it goes to the option that may earn most, elsewhere to the child with the widest
    interval, until it meets a history about which something is to be asked. So no option is looked into
    further than it takes to see that another one is better.
    """

    def __init__(self, built: Builder, bounds: Intervals, first: float) -> None:
        self._built, self._bounds = built, bounds
        self._first = first
        """Priorities from this on go before everything else, in the order of their coming."""
        self._urgent: dict[int, None] = {}
        self._waiting: set[int] = set()
        self._below = array("i")  # how many are waiting at and below each history

    def add(self, k: int, priority: float) -> None:
        """Something is to be asked about `k`."""
        if priority >= self._first:
            self._urgent[k] = None
        self._waiting.add(k)
        self._count(k, 1)

    def add_all(self, histories: Iterable[int], priorities: Sequence[float]) -> None:
        """Something is to be asked about several histories."""
        for k, priority in zip(histories, priorities, strict=True):
            self.add(k, priority)

    def discard(self, k: int) -> None:
        """Nothing is to be asked about `k` any more."""
        if k in self._waiting:
            self._waiting.discard(k)
            self._urgent.pop(k, None)
            self._count(k, -1)

    def take(self, most: int) -> list[int]:
        """At most so many histories to ask about next, the most promising first."""
        taken = list[int]()
        while len(taken) < most and self._waiting:
            k = next(iter(self._urgent)) if self._urgent else self._descend()
            self.discard(k)
            taken.append(k)
        return taken

    def clear(self) -> None:
        """Forget all."""
        for k in list(self._waiting):
            self.discard(k)

    def __len__(self) -> int:
        return len(self._waiting)

    def _descend(self) -> int:
        built, below = self._built, self._below
        up, low, choosing = self._bounds.up, self._bounds.low, built.choosing
        k = 0
        while built.stage[k] == EXPANDED:
            children = range(built.first[k], built.first[k] + built.count[k])
            open = [c for c in children if c < len(below) and below[c]]
            if k in choosing:
                k = max(open, key=up.__getitem__)
            else:
                k = max(open, key=lambda c: up[c] - low[c])
        return k

    def _count(self, k: int, change: int) -> None:
        below, parent = self._below, self._built.parent
        if len(below) < len(parent):
            below.extend([0] * (len(parent) - len(below)))
        while k >= 0:
            below[k] += change
            k = parent[k]
