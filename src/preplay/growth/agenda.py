"""In which order growth asks: the widest interval first, or what the most promising plan hangs on."""

from __future__ import annotations

import heapq
from array import array
from typing import Protocol

from preplay.growth.builder import CLOSED, EXPANDED, Builder
from preplay.growth.intervals import Intervals


class Agenda(Protocol):
    """The histories about which something is to be asked."""

    def add(self, k: int, priority: float) -> None:
        """Something is to be asked about `k`."""
        ...

    def discard(self, k: int) -> None:
        """Nothing is to be asked about `k` any more."""
        ...

    def take(self) -> int | None:
        """What to ask about next; None: nothing."""
        ...

    def clear(self) -> None:
        """Forget all."""
        ...

    def __len__(self) -> int: ...


class ByPriority:
    """Largest priority first, and of equals the earliest: one heap, for books that play prep."""

    def __init__(self, built: Builder) -> None:
        self._stage = built.stage
        self._heap: list[tuple[float, int]] = []

    def add(self, k: int, priority: float) -> None:
        """Something is to be asked about `k`."""
        heapq.heappush(self._heap, (-priority, k))

    def discard(self, k: int) -> None:
        """Closed histories are passed over when their turn comes."""

    def take(self) -> int | None:
        """What to ask about next; None: nothing."""
        while self._heap:
            k = heapq.heappop(self._heap)[1]
            if self._stage[k] != CLOSED:
                return k
        return None

    def clear(self) -> None:
        """Forget all."""
        self._heap.clear()

    def __len__(self) -> int:
        return len(self._heap)


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

    def discard(self, k: int) -> None:
        """Nothing is to be asked about `k` any more."""
        if k in self._waiting:
            self._waiting.discard(k)
            self._urgent.pop(k, None)
            self._count(k, -1)

    def take(self) -> int | None:
        """What to ask about next; None: nothing."""
        if not self._waiting:
            return None
        k = next(iter(self._urgent)) if self._urgent else self._descend()
        self.discard(k)
        return k

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
