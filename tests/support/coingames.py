"""Games of a coin, and base against base in small games."""

from __future__ import annotations

from typing import Any

from preplay.games.tabular import Node, TabularGame, TabularPolicy, parse
from preplay.sampling.samplers import Playouts

BASE = (TabularPolicy("base"), TabularPolicy("base"))


def playouts(game: TabularGame, seed: int = 0, **options: Any) -> Playouts[Node]:
    return Playouts(game, BASE, seed, **options)


def coin(p: float) -> TabularGame:
    """Player 1 wins with probability p."""
    actions = {
        "win": {"base": p, "prep": 1, "to": {"utility": 1}},
        "lose": {"base": 1 - p, "prep": 0, "to": {"utility": 0}},
    }
    return parse({"format": "preplay-game/1", "root": {"player": 1, "actions": actions}})
