"""Random tabular games that mostly end in wins and losses, as sampled values have them."""

from __future__ import annotations

from typing import Any

import numpy as np

Raw = dict[str, Any]


def random_game(rng: np.random.Generator, depth: int = 5) -> Raw:
    """Wins and losses for the most part, unequal depths, chance, sides that move twice."""

    def node(left: int) -> Raw:
        if left == 0 or (left < depth and rng.random() < 0.1):
            return {"utility": float(rng.choice([0.0, 0.5, 1.0, rng.random()], p=[0.4, 0.1, 0.4, 0.1]))}
        n = int(rng.integers(2, 4))
        base, prep = rng.dirichlet(np.full(n, 0.7)), rng.dirichlet(np.full(n, 0.3))
        player = "chance" if rng.random() < 0.1 else int(rng.integers(1, 3))
        kinds: list[Raw] = [
            {"prob": b} if player == "chance" else {"base": b, "prep": p}
            for b, p in zip(base.tolist(), prep.tolist(), strict=True)
        ]
        return {
            "player": player,
            "actions": {f"a{k}": {**kinds[k], "to": node(left - 1)} for k in range(n)},
        }

    return {"format": "preplay-game/1", "root": node(depth)}
