"""How games of a match end: by the rules of chess, or settled before, if that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from preplay.chess.clock import ClockedChess, ClockedChessState
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import InputError
from preplay.games.clocked import RESIGN, ClockedState, untimed

FOREVER: Final = 12_000
"""Half-moves that no game reaches: there are at most 118 captures and pawn's moves that are not both at
once, and after fifty moves without one the game is over, 5,950 moves in all."""
RESIGNATION, FLAG, MODEL = "resignation", "time forfeit", "model"
SETTLED_WON, SETTLED_DRAWN, CUT = "settled as won", "settled as drawn", "cut as drawn"
SETTLED: Final = (SETTLED_WON, SETTLED_DRAWN)
IN_A_ROW: Final = 3
"""Own moves in a row whose searches say that the game is lost."""
QUIET: Final = 8
"""Half-moves in a row whose searches say that nothing happens."""
OPENING: Final = 80
"""Half-moves before which no game is settled as drawn."""


G = TypeVar("G", bound=ChessGame | ClockedChess)


@dataclass(frozen=True)
class Settling:
    """When a game is settled before its end; by default never. What was settled is counted."""

    resign: int | None = None
    """Centipawns: lost for a side whose own searches say so in three moves running."""
    draw: int | None = None
    """Centipawns: drawn after move 40 when eight searches running are within this of 0."""
    longest: int | None = None
    """Half-moves after which a game is cut as drawn."""

    def __post_init__(self) -> None:
        for name, least in (("resign", 1), ("draw", 0), ("longest", 1)):
            amount = getattr(self, name)
            if amount is not None and amount < least:
                raise InputError(f"{name} {amount}; expected a whole number of at least {least}")

    @property
    def by_score(self) -> bool:
        """Whether searches are asked."""
        return self.resign is not None or self.draw is not None

    @property
    def asked(self) -> bool:
        """Whether any game may be settled at all."""
        return self != Settling()

    def verdict(self, plies: int, scores: Sequence[int]) -> tuple[str, float] | None:
        """Why a game is over after so many half-moves, and the mover's result; None: it goes on.

        `scores` are those of the searches running, for their movers, the latest last.
        """
        own = scores[::-2][:IN_A_ROW]
        if self.resign is not None and len(own) == IN_A_ROW and max(own) <= -self.resign:
            return SETTLED_WON, 0.0
        last = scores[-QUIET:]
        still = self.draw is not None and len(last) == QUIET and max(map(abs, last)) <= self.draw
        return (SETTLED_DRAWN, 0.5) if still and plies >= OPENING else None


NEVER_SETTLED: Final = Settling()


def played_out(game: G, settling: Settling) -> G:
    """The game without the model's length: only its rules end it, or the length that was asked for."""
    length = settling.longest or FOREVER
    if isinstance(game, ClockedChess):
        return replace(game, game=replace(game.game, length=length))
    return replace(game, length=length)


def ending(state: ChessState | ClockedChessState) -> str:
    """Why the game is over at a final state."""
    if isinstance(state, ClockedState):
        if state.lost:
            return RESIGNATION if untimed(state.actions[-1])[0] == RESIGN else FLAG
        return ending(state.inner)
    board = state.board
    if board.is_checkmate():
        return "checkmate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_insufficient_material():
        return "insufficient material"
    if board.is_repetition(3):
        return "threefold repetition"
    if board.halfmove_clock >= 100:
        return "fifty moves"
    return CUT


def termination(reason: str, finished: bool) -> str:
    """The word of the PGN standard; `finished`: the game has a result."""
    if reason == FLAG:
        return FLAG
    if reason in (MODEL, SETTLED_WON, SETTLED_DRAWN, CUT):
        return "adjudication" if finished else "unterminated"
    return "normal"
