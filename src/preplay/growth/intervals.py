"""What the subtree of each history is worth at best and at least: the bounds that prune and certify.

All numbers are value mass (reach times value) for the side, net of the costs below. A history that nobody
asked about yet may hold anything between 0 and its reach. An own history is worth the better of stopping
there and going on; all others are worth the sum of their children. An own history whose children, less
its cost, cannot beat stopping there is closed for good (facts 2 and 3 of docs/model.md). Where a book
chooses among the children, going on is worth the best of them, and an option that cannot beat another one
is closed too (fact 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from preplay.growth.builder import CLOSED, EXPANDED, Builder
from preplay.growth.columns import Defaults
from preplay.tree import ROUNDING

STALE = 1.0 - 1.0 / 128.0
"""Bounds move upwards when the interval shrinks to less than this part of what it was.

Intervals only shrink, so one that is out of date is still true; in the end all shrink to a point.
"""

BOUNDS = ("up", "low", "stop_up", "stop_low", "on_up", "on_low")
"""What is kept of every history, as far as it was worked out."""


class Intervals:
    """Bounds by history, kept up to date from below."""

    def __init__(
        self,
        built: Builder,
        certain: bool,
        dropped: Callable[[int], None],
        beaten: Callable[[int, float, float], None] | None = None,
        shared: bool = False,
    ) -> None:
        self.built = built
        self.certain = certain
        self.dropped = dropped
        """Called with every history that is given up while something was still open about it."""
        self.beaten = beaten
        """Called with every option that cannot beat another one, and the most and the least that it may
        earn; None: options stay, whatever they may earn."""
        self.shared = shared
        """Whether a price may be paid elsewhere already: the upper bounds then leave it out."""
        self.up: list[float] = []
        self.low: list[float] = []
        self._later = Defaults()
        self.stop_up = self._later.numbers(-math.inf)  # own histories: the most that stopping may earn
        self.stop_low = self._later.numbers(-math.inf)
        self.on_up = self._later.numbers(-math.inf)  # the most that the children may earn, less the cost
        self.on_low = self._later.numbers(-math.inf)
        self.price: dict[int, float] = {}  # what going on costs where options are compared
        self.unsettled: list[int] = []
        """What was learned of these is not in the bounds of the histories above them yet."""

    def add(self, up: list[float], low: list[float]) -> None:
        """Bounds of new histories."""
        self.up.extend(up)
        self.low.extend(low)
        if len(self.on_low) < len(self.up):
            self._later.cover(len(self.up))

    def stopping(
        self,
        histories: Sequence[int],
        reaches: Sequence[float],
        highs: Sequence[float],
        lows: Sequence[float],
        hopes: Sequence[float],
    ) -> None:
        """Own histories got their values; going on from each may earn up to its hope."""
        stop_up, stop_low, on_up = self.stop_up, self.stop_low, self.on_up
        for k, reach, high, low, hope in zip(histories, reaches, highs, lows, hopes, strict=True):
            stop_up[k], stop_low[k], on_up[k] = reach * high, reach * low, hope
        self.unsettled.extend(histories)

    def going_on(self, k: int, up: list[float], low: list[float], cost: float) -> None:
        """The children of `k` are there, with these bounds; going on to them costs this much."""
        self.add(up, low)
        if k in self.built.choosing:
            self.price[k] = cost
        else:
            self.on_up[k] = math.fsum(up) - (0.0 if self.shared else cost)
            self.on_low[k] = math.fsum(low) - cost
        self.unsettled.append(k)

    def settle(self) -> None:
        """Bring the bounds of what is new, and then of the histories above it, (nearly) up to date.

        It is done for many at once, level by level: they share most of the histories above them.
        """
        parent, choosing, stop_low = self.built.parent, self.built.choosing, self.stop_low
        stage, certain = self.built.stage, self.certain
        all_up, all_low, on_up, on_low = self.up, self.low, self.on_up, self.on_low
        changed = dict.fromkeys(self.unsettled)
        self.unsettled.clear()
        while changed:
            above: dict[int, None] = {}
            for k in changed:
                if choosing and k in choosing:
                    self.compare(k)
                up, low, least = on_up[k], on_low[k], stop_low[k]
                if least >= 0.0:  # it is possible to stop here
                    most = self.stop_up[k]
                    if up <= least and certain:
                        if stage[k] != CLOSED:
                            self.drop(k)
                        up, low = most, least
                    if up < most:  # noqa: PLR1730 (a call to max takes four times as long)
                        up = most
                    if low < least:  # noqa: PLR1730
                        low = least
                before_up, before_low = all_up[k], all_low[k]
                if up - low > (before_up - before_low) * STALE:
                    continue
                all_up[k], all_low[k] = up, low
                over = parent[k]
                if over >= 0:
                    on_up[over] += up - before_up
                    on_low[over] += low - before_low
                    above[over] = None
            changed = above

    def compare(self, k: int) -> None:
        """What going on from `k` is worth by the best option; options that cannot be it are closed."""
        first, up, low = self.built.first[k], self.up, self.low
        options = range(first, first + self.built.count[k])
        best = max(options, key=low.__getitem__)  # the first of equals
        self.on_up[k] = max(up[c] for c in options) - (0.0 if self.shared else self.price[k])
        self.on_low[k] = low[best] - self.price[k]
        if self.beaten is None or not self.certain:
            return
        for c in options:
            behind = up[c] <= low[best] if c > best else up[c] < low[best] - ROUNDING
            if behind and c != best and self.built.stage[c] != CLOSED:
                self.drop(c)
                self.beaten(c, up[c], low[c])

    def drop(self, k: int) -> None:
        """Make `k` a leaf: nothing below it is of interest any more."""
        stage = self.built.stage
        if stage[k] == CLOSED:
            return
        first, count, stack = self.built.first, self.built.count, [k]
        while stack:
            j = stack.pop()
            if stage[j] == EXPANDED:
                stack.extend(range(first[j], first[j] + count[j]))
            elif stage[j] != CLOSED:
                self.dropped(j)
            stage[j] = CLOSED

    def columns(self) -> dict[str, npt.NDArray[np.float64]]:
        """What a checkpoint keeps: bounds as out of date as they are."""
        return {name: np.array(getattr(self, name)[: len(self.built)]) for name in BOUNDS}

    def restore(self, columns: Mapping[str, npt.NDArray[Any]], cost: float) -> None:
        """Take the bounds of a checkpoint; going on from where a book chooses costs this much."""
        for name in BOUNDS:
            getattr(self, name).extend(columns[name].tolist())
        self.price.update(dict.fromkeys(self.built.choosing, cost))
