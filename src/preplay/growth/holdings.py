"""Where each side can still be in its book when both prepare, and what has to be known there."""

from __future__ import annotations

import math
from collections.abc import Iterator

from preplay.game import CHANCE
from preplay.growth.builder import CLOSED, EXPANDED, Builder
from preplay.growth.reaches import Reaches

InBooks = tuple[bool, bool]
"""Whether each side can be in its book."""


class Holdings:
    """Which histories matter, which are adopted, and where a side can be in its book because of them."""

    def __init__(self, built: Builder, everything: bool) -> None:
        self._built = built
        self.everything = everything
        """Adopt all that is open; else only what is asked for."""
        self.reaches: list[Reaches] = []
        self.worthy: list[bool] = []  # in W, for the mover
        self.adopted: list[bool] = []
        self.held: list[InBooks] = []

    def add(self, reach: Reaches, worthy: bool) -> None:
        """A new history, where nobody is in a book yet as far as is known."""
        self.reaches.append(reach)
        self.worthy.append(worthy)
        self.adopted.append(False)
        self.held.append((False, False))

    # --- what is needed where ---------------------------------------------------------------------

    def open(self, k: int) -> bool:
        """Whether the mover of `k` may be in book there and has not adopted what is in W."""
        return self.worthy[k] and not self.adopted[k] and self.held[k][self._built.player[k] - 1]

    def valued(self, k: int) -> bool:
        """Whether v(h) counts: the mover may stop here, and the other side may have stopped before."""
        mover = self._built.player[k]
        if mover not in (1, 2) or self._built.stage[k] == CLOSED:
            return False
        if self._built.is_rest(k):
            return any(self.held[k])
        return self.held[k][mover - 1] and self.reaches[k].outside[2 - mover] > 0.0

    def expanding(self, k: int) -> bool:
        """Whether play goes on from here with a side in its book."""
        mover = self._built.player[k]
        if self._built.stage[k] == CLOSED or self._built.is_rest(k):
            return False
        if mover == CHANCE:
            return any(self.held[k])
        return self.held[k][2 - mover] or (self.adopted[k] and self.held[k][mover - 1])

    def unvalued(self, k: int) -> bool:
        """Whether v(h) counts and is not known."""
        return self.valued(k) and math.isnan(self._built.value[k])

    def unexpanded(self, k: int) -> bool:
        """Whether play goes on from here, and it is not known how."""
        return self.expanding(k) and self._built.stage[k] != EXPANDED

    # --- what follows from what -------------------------------------------------------------------

    def arrive(self, k: int, held: InBooks) -> Iterator[int]:
        """Sides may now be in book at `k`: so they may below, as far as is known. Where that is new."""
        stack = [(k, held)]
        while stack:
            k, (one, two) = stack.pop()
            before = self.held[k]
            merged = before[0] or one, before[1] or two
            if merged == before:
                continue
            self.held[k] = merged
            if self.everything and self.open(k):
                self.adopted[k] = True
            yield k
            stack.extend(self._onward(k))

    def follow(self, k: int) -> Iterator[int]:
        """Something became possible at `k`: the histories at and below it where something is new."""
        yield k
        for child, held in self._onward(k):
            yield from self.arrive(child, held)

    def _onward(self, k: int) -> list[tuple[int, InBooks]]:
        """The children of `k`, and which sides can be in book there."""
        built, (one, two) = self._built, self.held[k]
        if built.stage[k] != EXPANDED:
            return []
        children = range(built.first[k], built.first[k] + built.count[k])
        mover = built.player[k]
        if mover == CHANCE:
            return [(c, (one, two)) for c in children if built.base[c] > 0.0]
        stays = self.adopted[k] and self.held[k][mover - 1]
        found = []
        for c in children:
            prepared = stays and built.prep[c] > 0.0
            other = self.held[k][2 - mover] and (prepared or built.base[c] > 0.0)
            found.append((c, (prepared, other) if mover == 1 else (other, prepared)))
        return found

    def cut(self) -> None:
        """Adopt nothing more by itself, and give up adopting what is not expanded yet."""
        self.everything = False
        for k, adopted in enumerate(self.adopted):
            if adopted and self._built.stage[k] != EXPANDED:
                self.adopted[k] = False
