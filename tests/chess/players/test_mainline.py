"""The compiled reader of main lines against python-chess."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import chess
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pgntext import pgn, written

from preplay.chess.players.archive import read_parts
from preplay.chess.players.readgames import read_file
from preplay.chess.players.squares import board_key, move_code


def annotated(rng: random.Random, plies: int) -> tuple[str, list[tuple[int, int]]]:
    """A random game with all that PGN allows between its moves; keys and codes by python-chess."""
    board = chess.Board()
    words: list[str] = []
    expected: list[Any] = []
    while len(expected) < plies and not board.is_game_over():
        moves = list(board.legal_moves)
        sharp = [m for m in moves if m.promotion or board.is_castling(m) or board.is_en_passant(m)]
        move = rng.choice(sharp or moves)
        expected.append((board_key(board), move_code(move)))
        san = board.san(move)
        if san.startswith("O") and rng.random() < 0.5:
            san = san.replace("O", "0")
        if board.turn or rng.random() < 0.3:
            words.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
        glue = words and words[-1].endswith(".") and rng.random() < 0.3
        san += rng.choice(["", "", "!", "?!", "$14"])
        words[-1:] = [words[-1] + san] if glue else [*words[-1:], san]
        words += rng.choices(
            [
                [],
                ["{[%clk 0:01:02] (not) a 1. e4}"],
                ["(1. e4 {x) y} (2. zz) Qxh9)"],
                ["$3"],
                ["; to the end\n"],
            ],
            weights=[8, 1, 1, 1, 1],
        )[0]
        board.push(move)
    return rng.choice([" ", "\n", " \n"]).join(words), expected


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4), st.integers(1, 80))
def test_main_lines_as_python_chess_reads_them(rng: random.Random, count: int, limit: int) -> None:
    games = [annotated(rng, rng.randrange(1, 120)) for _ in range(count)]
    text = "".join(pgn(moves) for moves, _ in games).encode()
    pieces = rng.randrange(1, 400)

    def cut() -> Iterator[bytes]:
        yield from (text[k : k + pieces] for k in range(0, len(text), pieces))

    keys: list[int] = []
    codes: list[int] = []
    lengths: list[int] = []
    for part in read_parts(cut(), "text", limit):
        assert not part.broken
        keys += part.keys.tolist()
        codes += part.codes.tolist()
        lengths += np.diff(part.bounds).tolist()
    assert lengths == [min(limit, len(expected)) for _, expected in games]
    assert list(zip(keys, codes, strict=True)) == [
        row for _, expected in games for row in expected[:limit]
    ]


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_move_that_python_chess_refuses_breaks_the_game(rng: random.Random) -> None:
    board = chess.Board()
    for _ in range(rng.randrange(60)):
        if board.is_game_over():
            break
        board.push(rng.choice(list(board.legal_moves)))
    piece = rng.choice(["", "N", "B", "R", "Q", "K"])
    before = rng.choice(["", "x", "a", "3"] if piece else ["", "x", "a"])  # no pawn is told by its rank
    word = piece + before + rng.choice("abcdefgh") + rng.choice("12345678")
    word += rng.choice(["", "", "=Q", "=K"])
    try:
        legal = bool(board.parse_san(word))
    except ValueError:
        legal = False
    line = chess.Board().variation_san(board.move_stack) if board.move_stack else ""
    broken: list[str] = []
    with written(pgn(f"{line} {word}") + pgn("1. e4"), "text") as path:
        found = list(read_file(path, broken))
    assert (len(found), len(broken)) == ((2, 0) if legal else (1, 1))
    assert found[-1].moves == (chess.Move.from_uci("e2e4"),)
