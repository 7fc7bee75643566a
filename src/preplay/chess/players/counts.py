"""How often each move was played in each position, in sorted flat tables."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from preplay.chess.players.mainline import Codes
from preplay.chess.players.squares import Keys
from preplay.compiled import always
from preplay.errors import InputError

Uints = npt.NDArray[np.uint32]
_HARMLESS, _PACKED = 1 << 20, 20
"""Bytes that packed keys may unpack to: so many, or so many times their size. Hashes hardly shrink."""


@dataclass(frozen=True, eq=False)
class MoveCounts:
    """Moves by position, however it was reached: one row for each move that was played in a position."""

    keys: Keys  # [rows] positions, ascending
    codes: Codes  # [rows] moves, ascending within a position
    counts: Uints  # [rows] how often

    @property
    def positions(self) -> int:
        """How many different positions there are."""
        return int(np.count_nonzero(np.diff(self.keys))) + 1 if len(self.keys) else 0

    @property
    def moves(self) -> int:
        """How many moves were counted in all."""
        return int(self.counts.sum())

    @property
    def widest(self) -> int:
        """The largest number of different moves in one position."""
        starts = np.flatnonzero(np.diff(self.keys, prepend=self.keys[:1] ^ np.uint64(1)))
        return int(np.diff(starts, append=len(self.keys)).max(initial=0))

    def at(self, key: int) -> dict[int, int]:
        """The moves of a position and how often each was played."""
        low = int(np.searchsorted(self.keys, np.uint64(key), side="left"))
        found: dict[int, int] = {}
        while low < len(self.keys) and int(self.keys[low]) == key:
            found[int(self.codes[low])] = int(self.counts[low])
            low += 1
        return found

    def knows(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """[n] whether there is a move for each of `keys`."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.equal(self.keys[at], keys)

    def as_data(self) -> dict[str, Any]:
        """As JSON data: each column packed, base64."""
        columns = {"keys": packed(self.keys), "codes": packed(self.codes), "counts": packed(self.counts)}
        return {"rows": len(self.keys)} | columns

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> MoveCounts:
        """The inverse of `as_data`."""
        keys = unpacked(str(data["keys"]), np.uint64)
        table = cls(
            keys,
            unpacked(str(data["codes"]), np.uint16, len(keys)),
            unpacked(str(data["counts"]), np.uint32, len(keys)),
        )
        if {len(table.keys), len(table.codes), len(table.counts)} != {data["rows"]}:
            raise InputError(f"moves: columns that are not of {data['rows']} rows")
        return table


def packed(column: npt.NDArray[Any]) -> str:
    """A column as text: little-endian, deflated, base64."""
    little = column.astype(column.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), 6)).decode()


def unpacked(text: str, kind: type[np.generic], rows: int | None = None) -> npt.NDArray[Any]:
    """The inverse of `packed`, at most of `rows` rows; without them, of no more than keys can have."""
    data = base64.b64decode(text, validate=True)
    unpacking = zlib.decompressobj()
    try:
        most = max(_HARMLESS, _PACKED * len(data)) if rows is None else rows * np.dtype(kind).itemsize + 1
        raw = unpacking.decompress(data, most)
    except zlib.error as error:
        raise ValueError(f"a column: {error}") from None
    if not unpacking.eof:
        raise ValueError("a column: cut off, or unpacks to far more than its size")
    return np.frombuffer(raw, dtype=np.dtype(kind).newbyteorder("<")).astype(kind)


NOTHING = MoveCounts(np.zeros(0, np.uint64), np.zeros(0, np.uint16), np.zeros(0, np.uint32))
"""No games at all."""


def count_moves(keys: Keys, codes: Codes) -> MoveCounts:
    """The table of moves that were played one by one."""
    return _summed(keys, codes, np.ones(len(keys), dtype=np.uint32))


def together(tables: Iterable[MoveCounts]) -> MoveCounts:
    """One table of several."""
    some = sorted((table for table in tables if len(table.keys)), key=lambda table: len(table.keys))
    if not some:
        return NOTHING
    whole = some[0]
    for table in some[1:]:
        rows = len(whole.keys) + len(table.keys)
        out = np.empty(rows, np.uint64), np.empty(rows, np.uint16), np.empty(rows, np.uint32)
        size = _merge(whole.keys, whole.codes, whole.counts, table.keys, table.codes, table.counts, *out)
        whole = MoveCounts(out[0][:size], out[1][:size], out[2][:size])
    return whole


@always
def _merge(
    keys: Keys,
    codes: Codes,
    counts: Uints,
    keys2: Keys,
    codes2: Codes,
    counts2: Uints,
    to_keys: Keys,
    to_codes: Codes,
    to_counts: Uints,
) -> int:
    """Two sorted tables in one, row by row; how many rows it has."""
    i = j = n = 0
    while i < len(keys) or j < len(keys2):
        first = j == len(keys2) or (
            i < len(keys) and (keys[i] < keys2[j] or (keys[i] == keys2[j] and codes[i] <= codes2[j]))
        )
        key, code = (keys[i], codes[i]) if first else (keys2[j], codes2[j])
        count = counts[i] if first else counts2[j]
        if first:
            i += 1
        else:
            j += 1
        if n and to_keys[n - 1] == key and to_codes[n - 1] == code:
            to_counts[n - 1] += count
        else:
            to_keys[n], to_codes[n], to_counts[n] = key, code, count
            n += 1
    return n


def _summed(keys: Keys, codes: Codes, counts: Uints) -> MoveCounts:
    if not len(keys):
        return NOTHING
    order = np.lexsort((codes, keys))
    keys, codes, counts = keys[order], codes[order], counts[order]
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1])
    starts = np.flatnonzero(new)
    return MoveCounts(keys[starts], codes[starts], np.add.reduceat(counts, starts).astype(np.uint32))


MERGE = 100_000
"""Rows that are collected before they are added up."""


class MoveAdder:
    """Adds moves up without holding many of them."""

    def __init__(self) -> None:
        self._keys: list[Keys] = []
        self._codes: list[Codes] = []
        self._waiting = 0
        self._tables: list[MoveCounts] = []

    def add(self, keys: Keys, codes: Codes) -> None:
        """Count moves that were played."""
        self._keys.append(keys.copy())
        self._codes.append(codes.copy())
        self._waiting += len(keys)
        if self._waiting > MERGE:
            self._merge()

    def _merge(self) -> None:
        if self._keys:
            self._tables.append(count_moves(np.concatenate(self._keys), np.concatenate(self._codes)))
            self._keys, self._codes, self._waiting = [], [], 0
        while len(self._tables) > 1 and len(self._tables[-2].keys) < 2 * len(self._tables[-1].keys):
            last, before = self._tables.pop(), self._tables.pop()
            self._tables.append(together((before, last)))

    def table(self) -> MoveCounts:
        """All that was counted."""
        self._merge()
        tables, self._tables = self._tables, []
        return together(tables)
