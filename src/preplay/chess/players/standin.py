"""An engine that stands in for a person where no games tell: a narrow choice, a wide one, and a rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from preplay.chess.engines.analysis import Analysis
from preplay.errors import InputError
from preplay.game import Distribution
from preplay.policy import REST, softmax

NARROW = 2
"""Moves among which the narrow choice is made."""
SPAN = 3000.0
"""Centipawns beyond which scores do not differ: mates are finite."""


@dataclass(frozen=True)
class StandIn:
    """How often it plays what, given what a search says. One search serves all.

    The defaults are what games of four grandmasters gave; see docs/people.md.
    """

    choice: float = 0.03
    """How often it plays the engine's own choice: what a `Skill Level` or `UCI_Elo` would play."""
    narrow: float = 0.35
    """How often it chooses among the best two."""
    narrow_randomness: float = 30.0
    """r of that choice, in centipawns."""
    wide_randomness: float = 110.0
    """r of the choice among all moves that the search scored, which is the rest of the time."""
    rest: float = 0.07
    """The share of the moves that the search did not score, together."""

    def __post_init__(self) -> None:
        shares = {"choice": self.choice, "narrow": self.narrow, "rest": self.rest}
        for name, share in shares.items():
            if not 0.0 <= share < 1.0:
                raise InputError(f"opponent: {name} = {share}; expected a share in [0, 1)")
        if self.choice + self.narrow > 1.0 + 1e-12:
            raise InputError(
                f"opponent: choice + narrow = {self.choice + self.narrow}; expected at most 1"
            )
        if not (self.narrow_randomness > 0.0 and self.wide_randomness > 0.0):
            raise InputError("opponent: a randomness of 0 or less; expected centipawns above 0")

    def distribution(self, analysis: Analysis, legal: int) -> Distribution:
        """The probabilities of the moves of a search where `legal` moves are legal."""
        scores = [max(-SPAN, min(SPAN, float(line.score))) for line in analysis.lines]
        moves = [line.move for line in analysis.lines]
        shares = dict.fromkeys(moves, 0.0)
        for move, p in zip(moves, softmax(scores[:NARROW], self.narrow_randomness), strict=False):
            shares[move] += self.narrow * p
        wide = 1.0 - self.narrow - self.choice
        for move, p in zip(moves, softmax(scores, self.wide_randomness), strict=True):
            shares[move] += wide * p
        own = analysis.best if analysis.best in shares else moves[0]
        shares[own] += self.choice
        rest = self.rest if legal > len(moves) else 0.0
        named = {move: (1.0 - rest) * p for move, p in shares.items() if p > 0.0}
        return named | {REST: rest} if rest > 0.0 else named

    def as_data(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> StandIn:
        """The inverse of `as_data`."""
        return cls(**{name: float(data[name]) for name in cls.__dataclass_fields__})
