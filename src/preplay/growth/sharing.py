"""Memory by position: histories that lead to one position are learned, and paid, once.

A position can pay only if all its histories together may gain more than its price: the sum of
π(h)(1 - v(h)) over those met so far. Until then they wait in a pool. *Proof.* When growth ends, let a
book go on from histories that still wait. Without them it loses at most the sum of their π(h)(1 - v(h)),
which is no more than the price of their positions, and this it saves: no other history of theirs was
met. ∎
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic

from preplay.game import S


class Pools(Generic[S]):
    """The own histories met so far, by position."""

    def __init__(self, key: Callable[[S], Hashable]) -> None:
        self._key = key
        self._numbers: dict[Hashable, int] = {}
        self._hope: list[float] = []  # by position: what its histories may gain together
        self._waiting: list[list[tuple[int, S]]] = []
        self.position: dict[int, int] = {}
        """The number of the position of each own history that was valued."""

    def enter(self, k: int, state: S, hope: float) -> int:
        """A history got its value and may gain up to `hope`; the number of its position."""
        number = self._numbers.setdefault(self._key(state), len(self._numbers))
        if number == len(self._hope):
            self._hope.append(0.0)
            self._waiting.append([])
        self.position[k] = number
        self._hope[number] += hope
        return number

    def wait(self, k: int, state: S) -> None:
        """Nothing is asked about a history until its position may pay."""
        self._waiting[self.position[k]].append((k, state))

    def released(self, number: int, cost: float) -> list[tuple[int, S]]:
        """The histories of a position that need wait no longer."""
        if self._hope[number] <= cost:
            return []
        free, self._waiting[number] = self._waiting[number], []
        return free
