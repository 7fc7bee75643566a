"""Polyglot opening books, written and read: 16 bytes for each move in each position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import chess
import chess.polyglot
import numpy as np
import numpy.typing as npt

from preplay.book import Book
from preplay.chess.books.lines import known_moves, spots
from preplay.errors import InputError

FULL = 65535
"""The weight of a move that is always played."""

RECORD = np.dtype([("key", ">u8"), ("move", ">u2"), ("weight", ">u2"), ("learn", ">u4")])
"""One entry, highest byte first."""


class PolyglotMove(NamedTuple):
    """A move in a position, as Polyglot stores it."""

    key: int
    """Zobrist key of the position."""
    move: int
    """Target square, source square and promotion in 6 + 6 + 3 bits, castling as king takes rook."""
    weight: int
    """1 to 65535: how often, compared with the other moves in the position."""


@dataclass(frozen=True, eq=False)
class PolyglotBook:
    """A Polyglot book in memory, in the order of its keys."""

    keys: npt.NDArray[np.uint64]  # [n] ascending
    moves: npt.NDArray[np.uint16]  # [n]
    weights: npt.NDArray[np.uint16]  # [n]

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, board: chess.Board) -> Mapping[chess.Move, int]:
        """The weights of the book's legal moves here; empty when the book does not know the position.

        Moves of weight 0 were deleted; illegal ones belong to another position with the same key.
        """
        key = np.uint64(chess.polyglot.zobrist_hash(board))
        low, high = np.searchsorted(self.keys, key, "left"), np.searchsorted(self.keys, key, "right")
        answer: dict[chess.Move, int] = {}
        for k in range(int(low), int(high)):
            weight = int(self.weights[k])
            move = decode(int(self.moves[k]), board)
            if weight and move is not None:
                answer[move] = answer.get(move, 0) + weight
        return dict(sorted(answer.items(), key=lambda item: -item[1]))


def choices(book: Book) -> tuple[PolyglotMove, ...]:
    """The book's positions and moves as Polyglot has them: by key, then by weight.

    One entry per position and move, however the position was reached. A weight is 65535 times the
    probability that a player who holds this book plays the move there, and never below 1: in a pure
    book the weights of a position sum to 65535, in a mixed one to its share x(h) of that. What the book
    extends is in it too, all moves of a position alike.
    """
    answer: list[PolyglotMove] = []
    for key, spot in spots(book, chess.polyglot.zobrist_hash).items():
        for move, p in spot.weights().items():
            weight = min(FULL, max(1, round(FULL * p)))
            answer.append(PolyglotMove(key, encode(move, spot.board), weight))
    for board, moves in known_moves(book):
        key, weight = chess.polyglot.zobrist_hash(board), max(1, FULL // len(moves))
        answer += [PolyglotMove(key, encode(move, board), weight) for move in moves]
    return tuple(sorted(answer, key=lambda choice: (choice.key, -choice.weight, choice.move)))


def polyglot_bytes(book: Book) -> bytes:
    """The book as a Polyglot file; a mixed one is refused, for readers take its shares for moves'."""
    if book.mixed:
        raise InputError(
            "a mixed book as Polyglot: how often to play by the book at all cannot be said there; draw a "
            "pure book first (preplay draw RUN --side SIDE --seed N -o book.json), and export that file"
        )
    table = np.zeros(0, RECORD)
    if book.size or book.known:
        table = np.array([(*choice, 0) for choice in choices(book)], RECORD)
    return table.tobytes()


def read_polyglot(path: str | Path) -> PolyglotBook:
    """The Polyglot book in a file; raises InputError when it cannot be one."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the book {path}: {error.strerror}") from None
    return parse_polyglot(data, str(path))


def parse_polyglot(data: bytes, name: str) -> PolyglotBook:
    """The Polyglot book in `data`; `name` is what errors call it."""
    if len(data) % RECORD.itemsize:
        raise InputError(
            f"{name}: {len(data)} bytes; a Polyglot book has a multiple of {RECORD.itemsize}"
        )
    table = np.frombuffer(data, RECORD)
    keys = table["key"].astype(np.uint64)
    unsorted = np.flatnonzero(keys[1:] < keys[:-1])
    if len(unsorted):
        k = int(unsorted[0]) + 1
        raise InputError(
            f"{name}: the key of entry {k + 1} is below the one before; expected sorted keys"
        )
    moves = table["move"].astype(np.uint16)
    # Entries of key 0 may be a header of text, which is no move.
    broken = np.flatnonzero((keys != 0) & (((moves >> 12) > 4) | (moves >> 15 > 0)))
    if len(broken):
        k = int(broken[0])
        raise InputError(f"{name}: entry {k + 1} has the move {moves[k]:#06x}; expected a Polyglot move")
    return PolyglotBook(keys, moves, table["weight"].astype(np.uint16))


def encode(move: chess.Move, board: chess.Board) -> int:
    """A legal move in Polyglot's 16 bits."""
    plain = chess.Move.from_uci(board.uci(move, chess960=True))
    promotion = plain.promotion - 1 if plain.promotion else 0
    return promotion << 12 | plain.from_square << 6 | plain.to_square


def decode(raw: int, board: chess.Board) -> chess.Move | None:
    """The legal move of `board` that `raw` means, or None."""
    source, target, promotion = raw >> 6 & 63, raw & 63, raw >> 12
    if source == target:
        return None
    name = chess.square_name(source) + chess.square_name(target)
    if promotion:
        name += chess.piece_symbol(promotion + 1)
    try:
        return board.parse_uci(name)
    except ValueError:
        return None
