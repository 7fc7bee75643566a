"""Books as trees of lines: every entry once, under what it follows, within the terminal's width."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import pytest
from chessbooks import lines_book
from commandline import preplay as command
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.book import Book, Entry
from preplay.chess.books.naming import writing
from preplay.cli.lines import line, tree

EXAMPLES = Path(__file__).parents[2] / "examples"


def entry(history: str, moves: dict[str, float], reach: float = 1.0) -> Entry:
    return Entry(tuple(history.split()), moves, reach, 0.1, 0.5)


def book(*entries: Entry) -> Book:
    return Book(1, entries, 0.5, 0.6, 0.01, 0.6)


def test_a_chess_book_reads_like_variations() -> None:
    known = book(
        entry("", {"e2e4": 1.0}),
        entry("e2e4 e7e5", {"g1f3": 1.0}, 0.4),
        entry("e2e4 c7c5", {"g1f3": 0.75, "b1c3": 0.25}, 0.6),
        entry("e2e4 c7c5 g1f3 d7d6", {"d2d4": 1.0}, 0.3),
    )
    assert [text for _, text in tree(known.entries, writing(known))] == [
        "1. e4",
        "  c5 Nf3 75% / Nc3 25%",
        "    2. Nf3 d6 3. d4",
        "  e5 2. Nf3",
    ]


def test_other_games_tell_what_happened_and_the_answer() -> None:
    known = book(
        entry("", {"jump": 1.0}),
        entry("jump falls walk", {"jump": 1.0}, 0.5),
        entry("jump lands walk", {"walk": 0.5, "jump": 0.5}, 0.5),
        entry("jump lands walk walk walk", {"jump": 1.0}, 0.2),
    )
    assert [text for _, text in tree(known.entries, None)] == [
        "jump",
        "  lands walk: walk 50% / jump 50%",
        "    walk walk: jump",
        "  falls walk: jump",
    ]
    evil = line(entry("a\x1b[2J", {"b\x07": 1.0}), None, None)
    assert evil.isprintable()


def random_lines(seed: int, side: int) -> Book:
    """A book of random games in which the side answers each position in one way."""
    rng, chosen, lines = random.Random(seed), dict[str, str](), []
    for _ in range(6):
        board = chess.Board()
        while len(board.move_stack) < 8 and not board.is_game_over():
            moves = [move.uci() for move in board.legal_moves]
            own = board.turn == (side == 1)
            line_ = " ".join(move.uci() for move in board.move_stack)
            move = chosen.setdefault(line_, rng.choice(moves)) if own else rng.choice(moves[:3])
            board.push_uci(move)
        lines.append(" ".join(move.uci() for move in board.move_stack))
    return lines_book(*lines, side=side)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
def test_every_position_can_be_read_off_the_tree(seed: int, side: int) -> None:
    """Going down the indentation and playing the SAN leads to each entry's own position."""
    known = random_lines(seed, side)
    rows = tree(known.entries, writing(known))
    assert {e.history for e, _ in rows} == {e.history for e in known.entries}
    boards: dict[int, chess.Board] = {}
    for e, text in rows:
        depth = (len(text) - len(text.lstrip())) // 2
        board = boards.get(depth - 1, chess.Board(known.start or chess.STARTING_FEN)).copy()
        words = [w for w in text.split() if not w.rstrip(".").isdigit()]
        for word in words[:-1]:
            board.push_san(word)
        expected = chess.Board(known.start or chess.STARTING_FEN)
        for move in e.history:
            expected.push_uci(move)
        assert board.fen() == expected.fen()
        board.push_san(words[-1])
        boards[depth] = board


@pytest.mark.parametrize("columns", [64, 80, 120])
def test_what_is_printed_fits_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    race = EXAMPLES / "dice_race.toml"
    for words in (
        ("prepare", race, "--side", 1, "--cost", 0.001, "--lines", 50),
        ("equilibrium", race),
        ("frontier", race, "--side", 1),
    ):
        code, out, _ = command(capsys, *words)
        assert code == 0
        assert max(map(len, out.splitlines())) <= columns, words
    assert ("…" in out) == (columns < 100)
