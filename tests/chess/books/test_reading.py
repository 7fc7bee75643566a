"""Exported books read back: they play what the book plays."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import chess
import pytest
from chessbooks import books
from hypothesis import given, settings
from hypothesis import strategies as st
from pgntext import written

from preplay.book import Book, Entry
from preplay.chess.books.lines import epd_text, learning_order, position_key, walk_book
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


def extended(book: Book, rng: random.Random) -> Book:
    """The same with some of its positions known before, whatever leads to them."""
    places = list(walk_book(book))
    known = {position_key(place.board) for place in places if rng.random() < 0.5}
    moves: dict[str, dict[str, None]] = {}
    for place in places:
        if position_key(place.board) in known:
            names = [place.board.uci(move, chess960=book.chess960) for move, _ in place.moves]
            moves.setdefault(place.board.epd(), {}).update(dict.fromkeys(names))
    entries = tuple(place.entry for place in places if position_key(place.board) not in known)
    return replace(book, entries=entries, known={epd: tuple(names) for epd, names in moves.items()})


def read_back(text: str) -> Book:
    with written(text, "book.pgn") as path:
        return read_pgn_book(path)


def places_of(book: Book) -> dict[tuple[str, ...], dict[str, float]]:
    return {
        place.path: {place.board.uci(move, chess960=True): p for move, p in place.moves}
        for place in walk_book(book)
    }


@settings(max_examples=40, deadline=None)
@given(books(mixed=False), st.randoms(use_true_random=False))
def test_what_a_book_extends_is_read_back(book: Book, rng: random.Random) -> None:
    book = extended(book, rng)
    for text in (pgn_tree(book), pgn_lines(book)):
        found = read_back(text)
        assert dict(found.known) == dict(book.known)
        assert found.start == book.start
        assert places_of(found).keys() == places_of(book).keys()
        for path, moves in places_of(book).items():
            assert places_of(found)[path] == pytest.approx(moves, abs=2e-3)


def test_known_lines_that_the_book_never_comes_to(tmp_path: Path) -> None:
    """The book begins after some moves, the lines from the usual start and from one of their own."""
    late = chess.Board()
    for san in ("e4", "e5"):
        late.push_san(san)
    entries = (Entry(("g1f3", "g8f6"), {"f3e5": 1.0}, 0.5, 0.01, 0.5),)
    known = {
        chess.STARTING_BOARD_FEN + " w KQkq -": ("d2d4", "e2e4"),
        late.epd(): ("g1f3",),
        "4k3/8/8/8/8/8/4P3/4K3 w - -": ("e2e4", "e2e3"),
    }
    book = Book(1, entries, 0.5, 0.53, 0.001, 0.54, start=late.fen(), known=known)
    for text in (pgn_tree(book), pgn_lines(book)):
        found = read_back(text)
        assert (found.start, found.known) == (book.start, book.known)
        assert [entry.history for entry in found.entries] == [("g1f3", "g8f6")]
        plain = text.replace("known before the book", "")
        with pytest.raises(InputError, match=r"game \d has another side or start than the first one"):
            read_back(plain)
    (tmp_path / "book.pgn").write_text(pgn_tree(book))
    board = chess.Board()
    hit = open_book(str(tmp_path / "book.pgn")).find(Played(position_key(board), (), board))
    assert hit is not None
    assert hit.known
    assert [move.uci() for move in hit.moves] == ["d2d4", "e2e4"]


def test_a_book_without_marks_is_read_as_before() -> None:
    whole = replace(BOOK, entries=ENTRIES[1:], known={chess.Board().epd(): ("e2e4",)})
    assert [e.history for e in read_back(pgn_tree(whole)).entries] == [h.history for h in ENTRIES[:0:-1]]
    plain = read_back(pgn_tree(whole).replace("known before the book", ""))
    assert (plain.known, len(plain.entries)) == ({}, 3)
    assert (plain.entries[0].reach, plain.entries[0].value) == (0.0, 0.5)


def test_an_extension_keeps_its_scores_and_all_its_lines() -> None:
    """Lines behind known moves are learned too, and each score stays at its position."""
    entries = (
        Entry(("d2d4",), {"g8f6": 1.0}, 0.4, 0.01, 0.5, score=-20),
        Entry(("e2e4", "e7e5", "g1f3"), {"b8c6": 1.0}, 0.3, 0.01, 0.5, score=-35),
    )
    after = chess.Board()
    after.push_san("e4")
    book = Book(2, entries, 0.5, 0.53, 0.001, 0.54, known={after.epd(): ("e7e5",)})
    for text in (pgn_tree(book, evals=scores(book)), pgn_lines(book, evals=scores(book))):
        found = read_back(text)
        assert {e.history: e.score for e in found.entries} == {e.history: e.score for e in entries}
        assert found.known == book.known


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
