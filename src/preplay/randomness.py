"""Randomness that belongs to a history: the same in any order, any batch and any process."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

PLAYOUTS, POOL, BOOK, FRESH = range(4)
"""Streams of playouts: from a history, from the pool of exits below it, from all exits of the chosen
book, and of games whose dice the choice of the book has not seen."""
SEARCH, TREE_SEARCH = 4, 5
"""Streams of the random games in a search, and of the simulations of a Monte Carlo tree search."""
STREAMS = 8
"""More than there are: the next number of a playout begins after so many."""
DRAW, BOOK_MOVE, BASE_MOVE = range(3)
"""Dice of one game with a GUI: which pure book of a mixed one it has, moves of the book, and of base."""


def playout_stream(purpose: int, number: int) -> int:
    """The stream of a playout that has random numbers of its own."""
    return purpose + STREAMS * number


def dice_stream(what: int, game: int) -> int:
    """The stream of some dice of a game with a GUI, whose program plays nothing out."""
    return what + 3 * game


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
