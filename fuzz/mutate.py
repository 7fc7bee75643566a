"""Changing valid input into input that is nearly valid: by bytes, by words, by the nodes of JSON data."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

WORDS: tuple[bytes, ...] = (
    "²".encode(),
    "٣".encode(),
    b"9" * 5000,
    b"18446744073709551616",
    b"-9223372036854775809",
    b"-1",
    b"0",
    b"1e999",
    b"-0.0",
    b"nan",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"[" * 3000,
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\x1b[2J",
    b"\r\n",
    b"\n",
    b" ",
    b"=1+1",
    b'"',
    b"'",
    b"\\ud800",
    b"../../etc",
    b"e2e4",
    b"a1a1",
    b"0000",
)
"""What breaks readers: numbers that are none, endless ones, control characters, half characters."""
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    7.0,
    1e308,
    float("nan"),
    float("inf"),
    2**70,
    10**400,
    "",
    "²",
    "\x00",
    "\ud800",
    "\x1b[31m",
    "=1+1",
    "a" * 10_000,
    [],
    {},
    [[]],
    {"": None},
    [0] * 1000,
)
"""What may stand where another value stood."""


def bytes_of(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """A seed with a few of its bytes or words changed, or parts of two seeds."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.choice(WORDS)
        elif kind == 2:
            del data[at : at + rng.choice((1, 2, 8, 64))]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            other = rng.choice(seeds)
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start : start + rng.choice((4, 32, 256))]
        elif kind == 5:
            data[at:at] = data[at : at + rng.choice((4, 32, 256))] * rng.choice((1, 2, 50))
        else:
            _swap_a_word(rng, data)
    return bytes(data)


def _swap_a_word(rng: Random, data: bytearray) -> None:
    """Another word in the place of one."""
    words = data.split(b" ")
    words[rng.randrange(len(words))] = bytearray(rng.choice(WORDS))
    data[:] = b" ".join(words)


def json_of(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """A JSON seed with one or two of its values, keys or lists changed; now and then its bytes."""
    if rng.random() < 0.25:
        return bytes_of(rng, seeds)
    data = json.loads(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2))):
        data = _changed(rng, data)
    try:
        return json.dumps(data).encode("utf-8", "surrogatepass")
    except ValueError:  # a number of more digits than Python writes
        return bytes_of(rng, seeds)


def _changed(rng: Random, data: Any) -> Any:
    """The data with one change at a random place, deep or shallow."""
    inner = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    if inner and rng.random() < 0.85:
        key = rng.choice(list(inner))
        copy = dict(data) if isinstance(data, dict) else list(data)
        kind = rng.random()
        if kind < 0.1:
            del copy[key]
        elif kind < 0.15 and isinstance(copy, dict):
            copy[rng.choice(("", "²", "\x00", "a" * 300, str(key) + "x"))] = copy.pop(key)
        elif kind < 0.2 and isinstance(copy, list):
            copy *= rng.choice((0, 2, 20))
        else:
            copy[key] = _changed(rng, copy[key])
        return copy
    return rng.choice(VALUES)


def arrays_of(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """An .npz seed with an array of another value, kind or shape; now and then with other bytes."""
    if rng.random() < 0.3:
        return bytes_of(rng, seeds)
    with np.load(io.BytesIO(rng.choice(seeds)), allow_pickle=False) as file:
        columns = dict(file)
    name = rng.choice(sorted(columns))
    column = columns[name]
    kind = rng.randrange(6)
    if kind == 0:
        del columns[name]
    elif kind == 1:
        columns[name] = column.reshape(-1)[: rng.randrange(column.size + 1)]
    elif kind == 2:
        columns[name] = np.concatenate([column.reshape(-1)] * 2)
    elif kind == 3 and column.dtype.kind in "if":
        with np.errstate(invalid="ignore"):
            columns[name] = column.astype(rng.choice(("f4", "i8", "c16", "u1")))
    elif column.size and column.dtype.kind in "ifb":
        changed = column.copy().reshape(-1)
        odd = (-3, 7, -1, 2**31 - 1) if column.dtype.kind != "f" else (7.0, -3.0, np.nan, np.inf, 1e300)
        info = np.iinfo(column.dtype) if column.dtype.kind == "i" else None
        value = rng.choice(odd)
        if info is not None:
            value = max(info.min, min(info.max, int(value)))
        changed[rng.randrange(changed.size)] = value
        columns[name] = changed
    else:
        columns[name] = np.array(["²", "\x00", ""])
    target = io.BytesIO()
    np.savez(target, **columns)
    return target.getvalue()
