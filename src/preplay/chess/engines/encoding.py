"""Analyses as few bytes: about 50 for two lines."""

from __future__ import annotations

import struct
from typing import Final

from preplay.chess.engines.analysis import Analysis, Line
from preplay.errors import StoreError

# nodes, milliseconds, flags (1: complete), best move, number of lines
_HEAD: Final = struct.Struct("<QIBHB")
# score, depth, wins, draws, losses (all 0xFFFF without wdl), number of pv moves
_LINE: Final = struct.Struct("<hHHHHB")
_NONE: Final = 0xFFFF
_PROMOTIONS: Final = "nbrq"
_SQUARES: Final = tuple(f"{file}{rank}" for rank in "12345678" for file in "abcdefgh")
_NUMBERS: Final = {name: number for number, name in enumerate(_SQUARES)}


def encode(analysis: Analysis) -> bytes:
    """The bytes of an analysis."""
    milliseconds = min(analysis.milliseconds, 0xFFFFFFFF)
    best = _pack(analysis.best)
    parts = [_HEAD.pack(analysis.nodes, milliseconds, int(analysis.complete), best, len(analysis.lines))]
    for line in analysis.lines:
        moves = (line.pv or line.move).split()[:255]
        wdl = line.wdl or (_NONE, _NONE, _NONE)
        parts.append(_LINE.pack(line.score, min(line.depth, 0xFFFF), *wdl, len(moves)))
        parts.append(struct.pack(f"<{len(moves)}H", *map(_pack, moves)))
    return b"".join(parts)


def decode(data: bytes) -> Analysis:
    """The inverse of `encode`; raises StoreError for bytes it did not make."""
    try:
        nodes, milliseconds, flags, best, count = _HEAD.unpack_from(data)
        at = _HEAD.size
        lines = []
        for _ in range(count):
            score, depth, wins, draws, losses, length = _LINE.unpack_from(data, at)
            at += _LINE.size
            moves = [_unpack(code) for code in struct.unpack_from(f"<{length}H", data, at)]
            at += 2 * length
            wdl = None if wins == _NONE else (wins, draws, losses)
            lines.append(Line(moves[0], score, depth, wdl, " ".join(moves)))
        if not lines or at != len(data):
            raise ValueError(f"{len(data)} bytes, {at} expected")
        return Analysis(tuple(lines), _unpack(best), nodes, bool(flags & 1), milliseconds)
    except (struct.error, IndexError, ValueError) as error:
        raise StoreError(f"a stored analysis is damaged: {error}") from None


def _pack(move: str) -> int:
    promotion = _PROMOTIONS.index(move[4]) + 1 if len(move) > 4 else 0
    return _NUMBERS[move[:2]] | _NUMBERS[move[2:4]] << 6 | promotion << 12


def _unpack(code: int) -> str:
    promotion = code >> 12
    last = _PROMOTIONS[promotion - 1] if promotion else ""
    return _SQUARES[code & 63] + _SQUARES[code >> 6 & 63] + last
