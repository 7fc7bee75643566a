"""Compiled rules of chess for reading games fast: moves made, attacks, and a hash of the position.

A board is 64 bytes from a1 to h8: 0 empty, 1 to 6 White's pawn, knight, bishop, rook, queen and king,
negative for Black's. `more` holds the rest: who moves (1 or -1), the castling rights as bits (White's
king's side, queen's side, Black's), the square passed by a pawn or -1, and both kings' squares.
python-chess knows the same rules and is what the tests hold this against.
"""

from __future__ import annotations

import chess
import chess.polyglot
import numpy as np
import numpy.typing as npt

from preplay.compiled import always

Squares = npt.NDArray[np.int8]
More = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = 1, 2, 3, 4, 5, 6
TURN, RIGHTS, PASSED, WHITE_KING, BLACK_KING = 0, 1, 2, 3, 4
START = np.array(
    [4, 2, 3, 5, 6, 3, 2, 4] + [1] * 8 + [0] * 32 + [-1] * 8 + [-4, -2, -3, -5, -6, -3, -2, -4],
    dtype=np.int8,
)
START_MORE = np.array([1, 15, -1, 4, 60], dtype=np.int64)
RANDOM: Keys = np.array(chess.polyglot.POLYGLOT_RANDOM_ARRAY, dtype=np.uint64)
"""Polyglot's numbers: 12 x 64 for the men, 4 for castling, 8 for en passant, one for White to move."""
LOST_RIGHTS = np.zeros(64, dtype=np.int64)
LOST_RIGHTS[[4, 7, 0, 60, 63, 56]] = [3, 1, 2, 12, 4, 8]
STEPS = np.array([8, -8, 1, -1, 9, 7, -7, -9], dtype=np.int64)
FILES = np.array([0, 0, 1, -1, 1, -1, 1, -1], dtype=np.int64)
LEAPS = np.array([[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]], dtype=np.int64)


class _Hasher(chess.polyglot.ZobristHasher):
    """Polyglot's hash, but a passed square counts only where the capture is legal."""

    def hash_ep_square(self, board: chess.Board) -> int:
        if board.ep_square is not None and board.has_legal_en_passant():
            return self.array[772 + chess.square_file(board.ep_square)]
        return 0


_hasher = _Hasher(chess.polyglot.POLYGLOT_RANDOM_ARRAY)


def board_key(board: chess.Board) -> int:
    """64 bits that are equal for positions with the same men, mover, castling and legal en passant."""
    return int(_hasher(board))


def move_code(move: chess.Move) -> int:
    """A move in 16 bits: from, to, and the piece promoted to; castling as the king's two steps."""
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


def coded_move(code: int) -> chess.Move:
    """The inverse of `move_code`."""
    return chess.Move(code & 63, code >> 6 & 63, (code >> 12) or None)


@always
def attacked(board: Squares, square: int, by: int) -> bool:
    """Whether the side `by` (1 or -1) attacks a square."""
    file = square & 7
    rank = square >> 3
    behind = rank - by  # where a pawn would stand that attacks the square
    if 0 <= behind < 8:
        if file > 0 and board[behind * 8 + file - 1] == by * PAWN:
            return True
        if file < 7 and board[behind * 8 + file + 1] == by * PAWN:
            return True
    for k in range(8):
        f = file + LEAPS[k, 0]
        r = rank + LEAPS[k, 1]
        if 0 <= f < 8 and 0 <= r < 8 and board[r * 8 + f] == by * KNIGHT:
            return True
    for k in range(8):
        at = square
        f = file
        steps = 0
        while True:
            at += STEPS[k]
            f += FILES[k]
            if at < 0 or at > 63 or f < 0 or f > 7:
                break
            steps += 1
            man = board[at] * by
            if man == 0 and board[at] == 0:
                continue
            if man == QUEEN or (man == ROOK and k < 4) or (man == BISHOP and k >= 4):
                return True
            if man == KING and steps == 1:
                return True
            break
    return False


@always
def reaches(board: Squares, source: int, target: int, man: int, side: int, passed: int) -> bool:
    """Whether a man could go from source to target if its king did not matter; castling aside."""
    down = (target & 7) - (source & 7)
    up = (target >> 3) - (source >> 3)
    goal = board[target] * side
    if goal > 0:
        return False
    if man == PAWN:
        ahead = up * side
        if down == 0:
            if goal != 0 or ahead < 1:
                return False
            if ahead == 1:
                return True
            first = 1 if side == 1 else 6
            return ahead == 2 and (source >> 3) == first and board[source + 8 * side] == 0
        return abs(down) == 1 and ahead == 1 and (goal < 0 or target == passed)
    if man == KNIGHT:
        return abs(down * up) == 2
    if man == KING:
        return abs(down) <= 1 and abs(up) <= 1 and source != target
    straight = down == 0 or up == 0
    slanted = abs(down) == abs(up)
    if man == ROOK and not straight:
        return False
    if man == BISHOP and not slanted:
        return False
    if not (straight or slanted) or source == target:
        return False
    step = (1 if down > 0 else -1 if down < 0 else 0) + 8 * (1 if up > 0 else -1 if up < 0 else 0)
    at = source + step
    while at != target:
        if board[at] != 0:
            return False
        at += step
    return True


@always
def safe(board: Squares, more: More, source: int, target: int) -> bool:
    """Whether the mover's king stands safe after a move; the board is left as it was."""
    side = more[TURN]
    man = board[source]
    taken = board[target]
    beside = -1
    if man * side == PAWN and target == more[PASSED] and taken == 0 and (source - target) % 8 != 0:
        beside = target - 8 * side
    board[source] = 0
    board[target] = man
    if beside >= 0:
        board[beside] = 0
    king = target if man * side == KING else more[WHITE_KING] if side == 1 else more[BLACK_KING]
    fine = not attacked(board, king, -side)
    board[source] = man
    board[target] = taken
    if beside >= 0:
        board[beside] = -side * PAWN
    return fine


@always
def make(board: Squares, more: More, source: int, target: int, promoted: int) -> None:
    """Play a legal move; castling is the king's two steps."""
    side = more[TURN]
    man = board[source] * side
    if man == PAWN and target == more[PASSED] and board[target] == 0 and (source - target) % 8 != 0:
        board[target - 8 * side] = 0
    board[source] = 0
    board[target] = side * (promoted if promoted else man)
    more[PASSED] = -1
    if man == PAWN and abs(target - source) == 16:
        more[PASSED] = (source + target) // 2
    if man == KING:
        if target - source == 2:
            board[target + 1] = 0
            board[target - 1] = side * ROOK
        elif source - target == 2:
            board[target - 2] = 0
            board[target + 1] = side * ROOK
        more[WHITE_KING if side == 1 else BLACK_KING] = target
    more[RIGHTS] &= ~(LOST_RIGHTS[source] | LOST_RIGHTS[target])
    more[TURN] = -side


@always
def key_of(board: Squares, more: More) -> np.uint64:
    """The same as `board_key`, of the compiled board."""
    key = np.uint64(0)
    for square in range(64):
        man = board[square]
        if man != 0:
            kind = 2 * (abs(man) - 1) + (1 if man > 0 else 0)
            key ^= RANDOM[64 * kind + square]
    for right in range(4):
        if more[RIGHTS] >> right & 1:
            key ^= RANDOM[768 + right]
    passed = more[PASSED]
    side = more[TURN]
    if passed >= 0:
        file = passed & 7
        for near in range(-1, 2, 2):
            at = passed - 8 * side + near
            if 0 <= file + near < 8 and board[at] == side * PAWN and safe(board, more, at, passed):
                key ^= RANDOM[772 + file]
                break
    if side == 1:
        key ^= RANDOM[780]
    return key
