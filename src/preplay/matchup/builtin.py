"""Matchups that come with preplay, by name. Plain data: nothing heavy is imported to list them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Builtin:
    """A named configuration, as it would stand in a TOML file."""

    summary: str
    config: Mapping[str, Any]


BUILTIN: Mapping[str, Builtin] = {
    "chess": Builtin(
        "Stockfish against a randomizing Stockfish, node limits, reproducible",
        {
            "kind": "chess",
            "cost": 1e-3,
            "white": {"nodes": 5_000},
            "black": {"nodes": 5_000},
            "prep": {"nodes": 20_000},
            "value": {"model": "calibrated"},
        },
    ),
    "chess-paper": Builtin(
        "the paper's experiment: 10 ms against 10 ms, 50 ms to prepare, won beyond 400 centipawns",
        {
            "kind": "chess",
            "cost": 1e-5,
            "length": 100,
            "white": {"milliseconds": 10, "multipv": 2, "randomness": 1e-6},
            "black": {"milliseconds": 10, "multipv": 2, "randomness": 1e-6},
            "prep": {"milliseconds": 50, "multipv": 2, "randomness": 1e-6},
            "value": {"model": "threshold"},
            "judge": False,
        },
    ),
    "chess-clock": Builtin(
        "a clock for the whole game, in nodes: memorized moves save time for later; values by roll-outs",
        {
            "kind": "chess-clock",
            "cost": 1e-2,
            "clock": {"unit": "nodes", "budget": 30_000, "share": 0.05},
            "white": {"randomness": 20.0},
            "black": {"randomness": 5.0},
            "prep": {"nodes": 100_000, "multipv": 1},
            "value": {"epsilon": 0.2, "delta": 0.05, "playouts": 1_000, "games": 300},
        },
    ),
    "synthetic": Builtin(
        "a random game of 8 moves with 3 choices each; exact values",
        {"kind": "synthetic", "cost": 0.001},
    ),
    "synthetic-large": Builtin(
        "a random game of 60 moves, far too large to enumerate; estimated values",
        {"kind": "synthetic", "length": 60, "luck": 0.05, "value": "estimate", "cost": 0.001},
    ),
    "tic-tac-toe": Builtin(
        "a random mover who may study perfect play (OpenSpiel)",
        {
            "kind": "openspiel",
            "game": "tic_tac_toe",
            "base": {"policy": "uniform"},
            "prep": {"policy": "search", "depth": 9},
            "value": {"model": "exact"},
            "cost": 0.01,
        },
    ),
    "connect-four": Builtin(
        "three in a row on four by four, a random mover who may study by tree search (OpenSpiel)",
        {
            "kind": "openspiel",
            "game": "connect_four(rows=4,columns=4,x_in_row=3)",
            "base": {"policy": "uniform"},
            "prep": {"policy": "mcts", "simulations": 400},
            "value": {"model": "adaptive", "epsilon": 0.05, "delta": 0.05},
            "cost": 0.01,
        },
    ),
    "breakthrough": Builtin(
        "four by four, weak against strong tree search, values by roll-outs (OpenSpiel)",
        {
            "kind": "openspiel",
            "game": "breakthrough(rows=4,columns=4)",
            "base": {"policy": "mcts", "simulations": 4, "randomness": 1.0},
            "prep": {"policy": "mcts", "simulations": 300},
            "value": {"model": "adaptive", "epsilon": 0.08, "delta": 0.05},
            "cost": 0.02,
        },
    ),
    "pig": Builtin(
        "a dice game to 8 points: a coin-flipper who may study by search (OpenSpiel)",
        {
            "kind": "openspiel",
            "game": "pig(players=2,winscore=8)",
            "base": {"policy": "uniform"},
            "prep": {"policy": "search", "depth": 2, "rollouts": 20},
            "value": {"model": "adaptive", "epsilon": 0.05, "delta": 0.05},
            "cost": 0.02,
        },
    ),
}
