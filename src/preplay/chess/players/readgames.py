"""Games that were really played, read from PGN: who, from where, and the moves of the main line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from preplay.errors import InputError
from preplay.game import Side

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")
"""What no text has; the 0x1a that ended files under DOS may stay, and so may 0x80 to 0x9f, which are
letters in Windows' idea of Latin-1."""


@dataclass(frozen=True)
class ReadGame:
    """One game of a file."""

    headers: chess.pgn.Headers
    start: chess.Board
    moves: tuple[chess.Move, ...]
    tagged: bool
    """Whether it has tags; a result after the moves is none, though it is among the headers."""

    @property
    def standard(self) -> bool:
        """Whether it is chess (Chess960 too), and no other variant."""
        return self.start.uci_variant == "chess"

    def player(self, side: Side) -> str:
        """Who had that side; empty if the file does not say."""
        return self.headers.get("White" if side == 1 else "Black", "")


class _MainLine(chess.pgn.BaseVisitor[ReadGame]):
    """Reads the moves that were played and skips variations; the first mistake ends it."""

    def __init__(self) -> None:
        self._headers = chess.pgn.Headers({})
        self._start: chess.Board | None = None
        self._moves: list[chess.Move] = []
        self._tagged = self._ended = False

    def begin_headers(self) -> chess.pgn.Headers:
        return self._headers

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self._headers[tagname] = tagvalue
        self._tagged = True

    def visit_board(self, board: chess.Board) -> None:
        if self._start is None:
            self._start = board.copy(stack=False)

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._ended |= not move  # nobody passes in a game: what follows was written by hand
        if not self._ended:
            self._moves.append(move)

    def visit_result(self, result: str) -> None:
        self._headers.setdefault("Result", result)

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def handle_error(self, error: Exception) -> None:
        raise InputError(str(error))

    def result(self) -> ReadGame:
        start = self._start or chess.Board()
        return ReadGame(self._headers, start, tuple(self._moves), self._tagged)


def read_pgn(path: str | Path) -> str:
    """The text of a PGN file: UTF-8, or the Latin-1 that PGN was before."""
    try:
        return Path(path).read_text(encoding="utf-8-sig", errors="strict")
    except UnicodeDecodeError:
        return Path(path).read_text(encoding="latin-1")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def games(text: str, name: str) -> Iterator[ReadGame]:
    """The games in `text`; InputError with the game's number at a mistake, or if there are none."""
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        what = f"control character 0x{ord(found[0]):02x} in line {line}"
        raise InputError(f"{name}: not PGN text ({what}); expected UTF-8 or Latin-1")
    handle = io.StringIO(text.rstrip("\x1a \r\n"))
    number = 0
    while True:
        number += 1
        try:
            game = chess.pgn.read_game(handle, Visitor=_MainLine)
        except InputError as error:
            raise InputError(f"{name}: game {number}: {error}") from None
        if game is None:
            break
        if not game.tagged and not any(game.moves):
            raise InputError(f"{name}: game {number} has neither tags nor moves; expected PGN")
        yield game
    if number == 1:
        raise InputError(f"{name}: no games; expected PGN")
