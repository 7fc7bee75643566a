"""Reading the main lines of PGN text, compiled: thousands of games a second, broken ones marked.

Comments, variations, annotations and move numbers are passed over. A game ends at its result, or where
the next one's tags begin. A move that is illegal or ambiguous, or a word that is none, breaks the game,
not the file; a pass (`--`) ends it, for nobody passes in a game: what follows was written by hand.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from preplay.chess.players.squares import (
    BISHOP,
    BLACK_KING,
    KING,
    KNIGHT,
    PASSED,
    PAWN,
    QUEEN,
    RIGHTS,
    ROOK,
    START,
    START_MORE,
    TURN,
    WHITE_KING,
    Keys,
    More,
    Squares,
    attacked,
    key_of,
    make,
    reaches,
    safe,
)
from preplay.compiled import always

Text = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint16]

FINE: Final = 0
BROKEN: Final = 1
TAGS, MOVES, END, PLIES, FLAG, AT = 0, 1, 2, 3, 4, 5
"""Columns of a game: where its tags and its moves begin and where it ends, the half-moves kept, its flag,
and where the word is that broke it."""

_SPACE, _NEWLINE, _RETURN, _TAB = ord(" "), ord("\n"), ord("\r"), ord("\t")
_OPEN, _CLOSE, _LEFT, _RIGHT, _BRACKET, _QUOTE = (
    ord("{"),
    ord("}"),
    ord("("),
    ord(")"),
    ord("["),
    ord('"'),
)
_REST, _ESCAPE, _NOTE, _DOT, _DASH, _SLASH = ord(";"), ord("%"), ord("$"), ord("."), ord("-"), ord("/")
_STAR, _EQUALS, _TAKES, _CHECK, _MATE, _GOOD, _BAD = (ord(c) for c in "*=x+#!?")
_ZERO, _ONE, _TWO, _EIGHT, _NINE, _A, _E, _H, _Z = (ord(c) for c in "01289aehZ")
_CASTLES = (ord("O"), _ZERO, ord("o"))
_KNIGHTS, _BISHOPS, _ROOKS, _QUEENS, _KINGS = ((ord(c), ord(c.lower())) for c in "NBRQK")
_MARK = (0xEF, 0xBB, 0xBF)
_NOTHING: Final = -1
_PASS: Final = -2


@always
def _man_of(letter: int) -> int:
    """The piece that a letter of SAN stands for; 0 for none."""
    if letter in _KNIGHTS:
        return KNIGHT
    if letter in _BISHOPS:
        return BISHOP
    if letter in _ROOKS:
        return ROOK
    if letter in _QUEENS:
        return QUEEN
    if letter in _KINGS:
        return KING
    return 0


@always
def _castle(board: Squares, more: More, long: bool) -> int:
    """Castling as a code, or nothing where it is not legal."""
    side = more[TURN]
    king = 4 if side == 1 else 60
    right = (2 if long else 1) << (0 if side == 1 else 2)
    at = more[WHITE_KING] if side == 1 else more[BLACK_KING]
    if not more[RIGHTS] & right or at != king:
        return _NOTHING
    step = -1 if long else 1
    for away in range(1, 4 if long else 3):
        if board[king + step * away] != 0:
            return _NOTHING
    for away in range(3):
        if attacked(board, king + step * away, -side):
            return _NOTHING
    return int(king | (king + 2 * step) << 6)


@always
def read_move(text: Text, begin: int, end: int, board: Squares, more: More) -> int:
    """The code of the move that text[begin:end] stands for; negative if it is none here."""
    while end > begin and text[end - 1] in (_CHECK, _MATE, _GOOD, _BAD):
        end -= 1
    size = end - begin
    if size < 2:
        return _NOTHING
    first = text[begin]
    second = text[begin + 1]
    if size == 2 and ((first == _DASH and second == _DASH) or (first == _Z and second == _ZERO)):
        return _PASS
    if first in _CASTLES:
        if size == 3 and second == _DASH and text[begin + 2] == first:
            return _castle(board, more, False)
        if size == 5 and second == _DASH and text[begin + 3] == _DASH and text[begin + 4] == first:
            return _castle(board, more, True)
        return _NOTHING
    side = more[TURN]
    man = PAWN
    if first < _A:  # a capital
        man = _man_of(first)
        if man == 0:
            return _NOTHING
        begin += 1
    promoted = 0
    last = text[end - 1]
    if last < _ONE or last > _EIGHT:  # not a rank: a promotion
        promoted = _man_of(last)
        if promoted in (0, KING) or man != PAWN:
            return _NOTHING
        end -= 1
        if end > begin and text[end - 1] == _EQUALS:
            end -= 1
    if end - begin < 2:
        return _NOTHING
    file = text[end - 2] - _A
    rank = text[end - 1] - _ONE
    if file < 0 or file > 7 or rank < 0 or rank > 7:
        return _NOTHING
    target = rank * 8 + file
    end -= 2
    if end > begin and text[end - 1] in (_TAKES, _DASH):
        end -= 1
    from_file = from_rank = -1
    if begin < end and _A <= text[begin] <= _H:
        from_file = text[begin] - _A
        begin += 1
    if begin < end and _ONE <= text[begin] <= _EIGHT:
        from_rank = text[begin] - _ONE
        begin += 1
    if begin != end:
        return _NOTHING
    if man == PAWN and from_file < 0:
        from_file = file
    if (man == PAWN and rank in (0, 7)) != (promoted != 0):
        return _NOTHING
    found = _NOTHING
    for source in range(64):
        if board[source] != side * man:
            continue
        if (from_file >= 0 and source & 7 != from_file) or (from_rank >= 0 and source >> 3 != from_rank):
            continue
        if not reaches(board, source, target, man, side, more[PASSED]):
            continue
        if not safe(board, more, source, target):
            continue
        if found >= 0:
            return _NOTHING  # ambiguous
        found = source | target << 6 | promoted << 12
    return int(found)


@always
def _tag_line(text: Text, at: int, size: int) -> bool:
    """Whether a line that begins at `at` is a tag: a bracket, a letter, and a quote behind it."""
    if text[at] != _BRACKET or at + 1 >= size:
        return False
    at += 1
    while at < size and text[at] == _SPACE:
        at += 1
    begin = at
    while at < size and (text[at] >= 65 or _ZERO <= text[at] <= _NINE) and text[at] != 93:
        at += 1
    if at == begin:
        return False
    while at < size and text[at] in (_SPACE, _TAB):
        at += 1
    return at < size and text[at] == _QUOTE


@always
def _result(text: Text, begin: int, end: int) -> bool:
    """Whether a word is the result of a game."""
    size = end - begin
    if size == 1:
        return bool(text[begin] == _STAR)
    if size == 3 and text[begin + 1] == _DASH:
        return bool(
            (text[begin] == _ONE and text[begin + 2] == _ZERO)
            or (text[begin] == _ZERO and text[begin + 2] == _ONE)
        )
    if size in (3, 7):  # 1/2-1/2, and 1/2 as some write it
        return bool(text[begin] == _ONE and text[begin + 1] == _SLASH and text[begin + 2] == _TWO)
    return False


@always
def read_games(
    text: Text, most: int, last: bool, games: Offsets, keys: Keys, codes: Codes
) -> tuple[int, int, int]:
    """Read the games of `text` into the tables: how many, half-moves in all, and where the rest begins.

    At most the first `most` half-moves of each are kept. Unless this is the `last` part of the text, a
    game without the beginning of the next is left for the next part. It stops when the tables are full.
    """
    size = len(text)
    board = START.copy()
    more = START_MORE.copy()
    at = count = total = 0
    whole_total = 0
    fresh = True  # at the beginning of a line
    while count < len(games):
        # Between games.
        while at < size and (text[at] <= _SPACE or text[at] in _MARK):
            fresh = text[at] == _NEWLINE or (fresh and text[at] != _SPACE)
            at += 1
        begin = at
        if at >= size or total + most > len(keys):
            return count, whole_total, begin
        game = games[count]
        game[TAGS] = at
        while at < size and fresh and text[at] == _BRACKET:  # tags, a line each
            while at < size and text[at] != _NEWLINE:
                at += 1
            while at < size and text[at] <= _SPACE:
                at += 1
        game[MOVES] = at
        game[FLAG] = FINE
        game[AT] = 0
        board[:] = START
        more[:] = START_MORE
        plies = 0
        over = passed = broken = False
        depth = 0
        while at < size and not over:
            c = text[at]
            fresh = at == 0 or text[at - 1] == _NEWLINE or text[at - 1] == _RETURN
            if c <= _SPACE:
                at += 1
            elif fresh and c == _BRACKET and _tag_line(text, at, size):
                break
            elif c == _OPEN:
                opened = at
                while at < size and text[at] != _CLOSE:
                    if text[at] == _BRACKET and text[at - 1] == _NEWLINE and _tag_line(text, at, size):
                        break  # it was never closed: the next game begins
                    at += 1
                if at < size and text[at] == _CLOSE:
                    at += 1
                elif not broken and (at < size or last):
                    broken = True
                    game[AT] = opened
            elif c == _REST or (fresh and c == _ESCAPE):
                while at < size and text[at] != _NEWLINE:
                    at += 1
            elif c == _LEFT:
                depth += 1
                at += 1
            elif c == _RIGHT:
                depth = max(0, depth - 1)
                at += 1
            else:
                word = at
                if _ZERO <= c <= _NINE:
                    while at < size and _ZERO <= text[at] <= _NINE:
                        at += 1
                    if at < size and text[at] == _DOT:  # a move number
                        while at < size and text[at] == _DOT:
                            at += 1
                        continue
                    at = word
                while (
                    at < size
                    and text[at] > _SPACE
                    and text[at] != _OPEN
                    and text[at] != _LEFT
                    and text[at] != _RIGHT
                    and text[at] != _REST
                    and not (text[at] == _NOTE and at > word)
                ):
                    at += 1
                if depth or (at == size and not last):
                    continue
                if _result(text, word, at):
                    over = True
                    continue
                if passed or broken:
                    continue
                if c in (_NOTE, _GOOD, _BAD, _DOT):
                    continue
                if _ZERO <= c <= _NINE and (at == word + 1 or _ZERO <= text[word + 1] <= _NINE):
                    continue  # a number without its dot
                if at - word == 4 and c == _E and text[word + 1] == _DOT:
                    continue  # e.p.
                code = read_move(text, word, at, board, more)
                if code == _PASS:
                    passed = True
                elif code < 0:
                    broken = True
                    game[AT] = word
                elif plies < most:
                    keys[total + plies] = key_of(board, more)
                    codes[total + plies] = code
                    plies += 1
                    make(board, more, code & 63, code >> 6 & 63, code >> 12)
                else:
                    make(board, more, code & 63, code >> 6 & 63, code >> 12)
        if at >= size and not last and not over:
            return count, whole_total, begin
        fresh = at < size and (at == 0 or text[at - 1] == _NEWLINE)
        game[END] = at
        game[PLIES] = plies
        game[FLAG] = BROKEN if broken else FINE
        total += plies
        whole_total = total
        count += 1
    return count, whole_total, at
