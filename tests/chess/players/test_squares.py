"""Moves as numbers."""

from __future__ import annotations

import chess

from preplay.chess.players.squares import coded_move, move_code


def test_codes_are_moves() -> None:
    for name in ("e2e4", "a7a8q", "h2h1n", "e1g1"):
        assert coded_move(move_code(chess.Move.from_uci(name))).uci() == name
