"""Randomness that belongs to a history: the same in any order, any batch and any process."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def seed_of(seed: int, history: Sequence[str], *, stream: int = 0) -> int:
    """128 bits that depend on `seed`, `stream` and every action of `history`, and on nothing else.

    `stream` tells apart the uses that one seed has at one history.
    """
    digest = blake2b(f"{seed},{stream}".encode(), digest_size=16)
    for action in history:
        name = action.encode("utf-8", "surrogatepass")
        digest.update(f";{len(name)}:".encode())  # the length, so that ("ab", "c") is not ("a", "bc")
        digest.update(name)
    return int.from_bytes(digest.digest(), "big")


def generator(seed: int, history: Sequence[str], *, stream: int = 0) -> np.random.Generator:
    """The generator of `history` under `seed`: order and batches of asking cannot change its numbers."""
    return np.random.Generator(np.random.PCG64(seed_of(seed, history, stream=stream)))
