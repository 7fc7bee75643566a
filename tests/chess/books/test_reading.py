"""Exported books read back: they play what the book plays."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from preplay.book import Book, Entry
from preplay.chess.books.lines import epd_text, learning_order, position_key
from preplay.chess.books.lookup import Played, open_book
from preplay.chess.books.naming import scores
from preplay.chess.books.pgn import pgn_lines, pgn_tree
from preplay.chess.books.reading import read_pgn_book
from preplay.errors import InputError

ENTRIES = (
    Entry((), {"e2e4": 1.0}, 1.0, 0.01, 0.5),
    Entry(("e2e4", "e7e5"), {"g1f3": 1.0}, 0.6, 0.02, 0.55, 0.5, score=40),
    Entry(("e2e4", "c7c5"), {"g1f3": 0.75, "b1c3": 0.25}, 0.4, 0.001, 0.5, score=31_991),
)
BOOK = Book(1, ENTRIES, 0.5, 0.53, 0.001, 0.54)
LATE = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
CASTLING = Book(1, (Entry((), {"e1g1": 1.0}, 1.0, 0.01, 0.5),), 0.5, 0.53, 0.001, 0.54, start=LATE)
BLACK = Book(2, (Entry(("e2e4",), {"e7e5": 1.0}, 1.0, 0.01, 0.5),), 0.5, 0.53, 0.001, 0.54)


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("book", [BOOK, CASTLING, BLACK])
def test_an_exported_pgn_is_the_book_again(book: Book, learn: bool, tmp_path: Path) -> None:
    evals = scores(book)
    text = pgn_lines(book, learning_order(book), evals=evals) if learn else pgn_tree(book, evals=evals)
    (tmp_path / "book.pgn").write_text(text)
    found = read_pgn_book(tmp_path / "book.pgn")
    assert (found.side, found.start, found.mixed) == (book.side, book.start, book.mixed)
    assert {entry.history for entry in found.entries} == {entry.history for entry in book.entries}
    there = {entry.history: entry for entry in found.entries}
    for entry in book.entries:
        same = there[entry.history]
        assert same.moves == pytest.approx(dict(entry.moves))
        assert (same.probability, same.gain, same.value) == pytest.approx(
            (entry.probability, entry.gain, entry.value)
        )
        assert same.reach == pytest.approx(entry.reach)
        assert same.score == entry.score


def test_what_an_exported_book_plays(tmp_path: Path) -> None:
    (tmp_path / "book.pgn").write_text(pgn_tree(BOOK))
    (tmp_path / "book.epd").write_text(epd_text(BOOK))
    board = chess.Board()
    start = position_key(board)
    for name in ("book.pgn", "book.epd"):
        book = open_book(str(tmp_path / name))
        hit = book.find(Played(start, (), board))
        assert hit is not None
        assert list(hit.moves) == [chess.Move.from_uci("e2e4")]
        other = chess.Board()
        other.push_san("d4")
        assert book.find(Played(start, ("d2d4",), other)) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no game"),
        ("1. e4 e5 *", "expected the tag Event"),
        ('[Event "Preparation for White"]\n\n1. e4 Ke5 *', "expected lines of legal moves"),
        ('[Event "Preparation for White"]\n[SetUp "1"]\n[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "legal"),
        ('[Event "Preparation for White"]\n[Variant "Atomic"]\n\n1. e4 *', "chess"),
        (
            '[Event "Preparation for White"]\n\n1. e4 *\n\n[Event "Preparation for Black"]\n\n1. e4 *',
            "game 2",
        ),
        (
            '[Event "Preparation for White"]\n\n1. e4 ' + "(1. d4 " * 300_000 + "*",
            "nested more than 400 deep",
        ),
    ],
    ids=("empty", "no tag", "illegal", "no kings", "variant", "two sides", "deep"),
)
def test_what_is_no_exported_book(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "book.pgn").write_text(text)
    with pytest.raises(InputError, match=said):
        open_book(str(tmp_path / "book.pgn"))


@pytest.mark.parametrize(
    "text", ["banana", "8/8/8/8/8/8/8/8 w - - bm e4;", f"{chess.STARTING_FEN[:-4]} bm Ke5;"]
)
def test_what_is_no_epd_book(text: str, tmp_path: Path) -> None:
    (tmp_path / "book.epd").write_text(text)
    with pytest.raises(InputError, match="line 1"):
        open_book(str(tmp_path / "book.epd"))
