"""Games that were really played, as boards and moves: who, from where, and the moves of the main line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import chess
import chess.pgn

from preplay.chess.players.archive import GamePart, GameTags, read_parts
from preplay.chess.players.sources import parts_of
from preplay.chess.players.squares import coded_move
from preplay.errors import InputError
from preplay.game import Side

LONGEST = 1200
"""Half-moves that a game may have."""
_move = lru_cache(maxsize=1 << 16)(coded_move)


@dataclass(frozen=True)
class ReadGame:
    """One game of a file."""

    number: int
    """Which game of the file, from 1."""
    tags: GameTags
    start: chess.Board
    moves: tuple[chess.Move, ...]

    @property
    def standard(self) -> bool:
        """Whether it is chess (Chess960 too), and no other variant."""
        return not self.tags.variation

    def player(self, side: Side) -> str:
        """Who had that side; empty if the file does not say."""
        return self.tags.white if side == 1 else self.tags.black


class _MainLine(chess.pgn.BaseVisitor[tuple[chess.Board, tuple[chess.Move, ...]]]):
    """The moves that were played from an odd start; variations are skipped, the first mistake ends it."""

    def __init__(self) -> None:
        self._start: chess.Board | None = None
        self._moves: list[chess.Move] = []
        self._ended = False

    def visit_board(self, board: chess.Board) -> None:
        if self._start is None:
            self._start = board.copy(stack=False)

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._ended |= not move  # nobody passes in a game: what follows was written by hand
        if not self._ended:
            self._moves.append(move)

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def handle_error(self, error: Exception) -> None:
        raise InputError(str(error))

    def result(self) -> tuple[chess.Board, tuple[chess.Move, ...]]:
        return self._start or chess.Board(), tuple(self._moves)


def read_file(path: str | Path, broken: list[str]) -> Iterator[ReadGame]:
    """The games of a PGN file, packed or not; what is wrong with those left out is added to `broken`."""
    yield from _games(read_parts(parts_of(Path(path)), str(path), LONGEST), str(path), broken)


def _games(parts: Iterator[GamePart], name: str, broken: list[str]) -> Iterator[ReadGame]:
    usual = chess.Board()
    for part in parts:
        broken += part.broken
        for k, tags in enumerate(part.tags):
            number = int(part.numbers[k])
            if k not in part.odd:
                codes = part.codes[int(part.bounds[k]) : int(part.bounds[k + 1])]
                yield ReadGame(number, tags, usual, tuple(_move(code) for code in codes.tolist()))
            elif tags.variation:
                yield ReadGame(number, tags, usual, ())
            else:
                try:
                    played = chess.pgn.read_game(io.StringIO(part.odd[k]), Visitor=_MainLine)
                except (InputError, ValueError) as error:
                    broken.append(f"{name}: game {number}: {error}")
                else:
                    yield ReadGame(number, tags, *(played or (usual, ())))
