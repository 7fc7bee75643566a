"""How likely a history can be made when both sides prepare (fact 7 of docs/model.md)."""

from __future__ import annotations

import math
from typing import NamedTuple

from preplay.game import CHANCE


class Reaches(NamedTuple):
    """How likely a history can be: chance, each side in its book, each side out of it at best."""

    chance: float
    inside: tuple[float, float]
    outside: tuple[float, float]

    def matters(self, side: int) -> float:
        """The reach that counts for `side` (0 or 1): in its book, the opponent as they like."""
        other = 1 - side
        return self.chance * self.inside[side] * max(self.inside[other], self.outside[other])

    @property
    def most(self) -> float:
        """The largest probability of the history under any two books."""
        return self.chance * math.prod(map(max, zip(self.inside, self.outside, strict=True)))

    def after(self, player: int, base: float, prep: float) -> Reaches:
        """After an action that the mover's base and prep choose with these probabilities."""
        if player == CHANCE:
            return self._replace(chance=self.chance * base)
        inside, outside = list(self.inside), list(self.outside)
        outside[player - 1] = max(outside[player - 1], inside[player - 1]) * base
        inside[player - 1] *= prep
        return Reaches(self.chance, (inside[0], inside[1]), (outside[0], outside[1]))


CERTAIN = Reaches(1.0, (1.0, 1.0), (0.0, 0.0))
"""That of the root: both sides are in their books."""
