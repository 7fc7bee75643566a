"""How players and scores of a run are named outside: PGN headers, reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import chess
import chess.engine

from preplay.book import Book


def player_name(settings: Mapping[str, Any], engine: str) -> str:
    """A side of a matchup in a few words: "Stockfish 15.1, 5000 nodes, best of 2, r = 10"."""
    parts = [engine]
    if games := settings.get("games"):
        who, file = games.get("player") or "a player", PurePath(games["file"]).name
        parts = [f"{who} as in {file}, else {engine}"]
    for kind, unit in (("nodes", "nodes"), ("depth", "plies"), ("milliseconds", "ms")):
        if settings.get(kind):
            parts.append(f"{settings[kind]} {unit}")
    if settings.get("randomness"):
        parts += [f"best of {settings.get('multipv', 2)}", f"r = {settings['randomness']:g}"]
    return ", ".join(parts)


def scores(book: Book, model: str) -> dict[tuple[str, ...], chess.engine.PovScore]:
    """The engine's score of each own position, as far as the value model lets it be read back."""
    color = chess.WHITE if book.side == 1 else chess.BLACK
    found = {}
    for entry in book.entries:
        score = _centipawns(entry.value, model)
        if score is not None and entry.history:
            found[entry.history] = chess.engine.PovScore(chess.engine.Cp(score), color)
    return found


def _centipawns(value: float, model: str) -> int | None:
    """The inverse of a value model; None where the model is flat."""
    if not 0.0 < value < 1.0:
        return None
    if model == "linear":
        return round((2.0 * value - 1.0) * 400.0)
    if model == "threshold":
        return None
    return round(math.log(value / (1.0 - value)) / 0.00368208)
