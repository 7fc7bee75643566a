from __future__ import annotations

import csv
import io
import itertools
import random

import chess
import pytest
from chessbooks import CASTLING, books, lines_book, make, random_book
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.book import Book, Entry
from preplay.chess.books.lines import (
    COLUMNS,
    csv_text,
    epd_text,
    full_order,
    learning_order,
    numbered,
    position_key,
    reach_words,
    spots,
    start_board,
    walk_book,
)
from preplay.errors import InputError


@settings(max_examples=30, deadline=None)
@given(books())
def test_walk_visits_every_entry_on_its_board(book: Book) -> None:
    places = list(walk_book(book, notate=True))
    assert sorted(place.index for place in places) == list(range(book.size))
    for place in places:
        board = start_board(book)
        sans = []
        for name in place.entry.history:
            sans.append(board.san(board.parse_uci(name)))
            board.push_uci(name)
        assert place.board == board
        assert place.sans == tuple(sans)
        assert {board.uci(move): p for move, p in place.moves} == place.entry.moves
        assert [p for _, p in place.moves] == sorted((p for _, p in place.moves), reverse=True)


@settings(max_examples=30, deadline=None)
@given(books())
def test_position_key_is_equality_of_positions(book: Book) -> None:
    boards = [place.board for place in walk_book(book)]
    for one, other in itertools.combinations(boards[:12], 2):
        assert (position_key(one) == position_key(other)) == (one.epd() == other.epd())


def forests(count: int, rng: random.Random) -> Book:
    """A book of a random shape whose moves do not matter: only its gains and prefixes do."""
    histories: list[tuple[str, ...]] = [()]
    while len(histories) < count:
        parent = rng.choice(histories)
        histories.append((*parent, f"own{len(histories)}", f"reply{len(histories)}"))
    entries = [
        Entry(h, {"x": 1.0}, 1.0, rng.choice((-1, 0, 1, 2, 3, rng.random())), 0.5) for h in histories
    ]
    return make(entries)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 7), st.randoms(use_true_random=False))
def test_learning_order_buys_the_most_at_all_times(count: int, rng: random.Random) -> None:
    book = forests(count, rng)
    gains = [entry.gain for entry in book.entries]
    parents = {k: _parent(book, k) for k in range(count)}

    def area(order: tuple[int, ...]) -> float:
        return sum(itertools.accumulate(gains[k] for k in order))

    orders = [
        order
        for order in itertools.permutations(range(count))
        if all(parents[k] is None or order.index(parents[k]) < order.index(k) for k in order)
    ]
    assert learning_order(book) in orders
    assert area(learning_order(book)) == pytest.approx(max(map(area, orders)))


def _parent(book: Book, k: int) -> int | None:
    histories = [entry.history for entry in book.entries]
    above = book.entries[k].history[:-2]
    return histories.index(above) if book.entries[k].history else None


def test_learning_order_of_a_blacks_book_has_several_roots() -> None:
    entries = [
        Entry(("e2e4",), {"e7e5": 1.0}, 0.6, 0.01, 0.5),
        Entry(("d2d4",), {"d7d5": 1.0}, 0.4, 0.02, 0.5),
        Entry(("e2e4", "e7e5", "g1f3"), {"b8c6": 1.0}, 0.5, 0.05, 0.5),
    ]
    book = make(entries, side=2)
    names = [" ".join(book.entries[k].history) for k in learning_order(book)]
    assert names == ["e2e4", "e2e4 e7e5 g1f3", "d2d4"]


@settings(max_examples=25, deadline=None)
@given(books())
def test_csv_has_a_row_per_entry_and_ends_at_the_books_value(book: Book) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(book))))
    assert list(rows[0]) == list(COLUMNS) if rows else book.size == 0
    assert len(rows) == book.size
    value = book.baseline
    for row, index in zip(rows, learning_order(book), strict=True):
        entry = book.entries[index]
        board = start_board(book)
        moves = [board.push_uci(name) for name in entry.history]
        line = start_board(book).variation_san(moves) if moves else ""
        assert row["line"].replace("... ", "...") == line
        best = max(entry.moves.values())
        assert entry.moves[row["uci"]] == best == pytest.approx(float(row["probability"]))
        assert board.parse_san(row["move"]) == board.parse_uci(row["uci"])
        assert float(row["reach"]) == pytest.approx(entry.reach)
        assert float(row["gain"]) == pytest.approx(entry.gain)
        assert float(row["in_book"]) == pytest.approx(entry.probability)
        value += entry.gain * entry.probability
        assert float(row["cumulative_value"]) == pytest.approx(value)
        assert len(row["others"].split()) == 2 * (len(entry.moves) - 1)
    assert value == pytest.approx(book.value)


def test_csv_in_a_given_order() -> None:
    book = lines_book("e2e4 e7e5 g1f3", "e2e4 c7c5 g1f3")
    rows = list(csv.DictReader(io.StringIO(csv_text(book, [0, 2, 1]))))
    assert [row["line"] for row in rows] == ["", "1. e4 e5", "1. e4 c5"]
    assert rows[1]["move"] == "Nf3"
    with pytest.raises(InputError, match="an order of 2 entries; expected each of 0 to 2 once"):
        csv_text(book, [0, 1])
    assert full_order(book, None) == learning_order(book)


@settings(max_examples=25, deadline=None)
@given(books())
def test_epd_has_a_line_per_position_that_python_chess_reads(book: Book) -> None:
    lines = epd_text(book).splitlines()
    expected: dict[str, set[str]] = {}
    for place in walk_book(book):
        expected.setdefault(place.board.epd(), set()).update(place.board.san(m) for m, _ in place.moves)
    found: dict[str, set[str]] = {}
    ids = set()
    for line in lines:
        if book.chess960:  # python-chess reads the moves of an EPD by the rules of usual chess only
            fields = line.split(maxsplit=4)
            board = chess.Board(" ".join(fields[:4]) + " 0 1", chess960=True)
            sans = fields[4].partition(";")[0].removeprefix("bm ").split()
            found[board.epd()] = {board.san(board.parse_san(san)) for san in sans}
            ids.add(line.split('id "')[1])
        else:
            board = chess.Board()
            operations = board.set_epd(line)
            best = operations["bm"]
            assert isinstance(best, list)
            found[board.epd()] = {board.san(move) for move in best}
            ids.add(str(operations["id"]))
    assert found == expected
    assert len(ids) == len(lines) == len(spots(book, position_key))


def test_epd_text() -> None:
    assert epd_text(lines_book("e2e4")) == (
        'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4; id "preplay 1"; c0 "every game";\n'
    )
    assert "bm O-O;" in epd_text(lines_book(CASTLING))


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        (1.0, "every game"),
        (0.97, "almost every game"),
        (0.7, "7 in 10 games"),
        (2 / 3, "2 in 3 games"),
        (0.5, "1 in 2 games"),
        (0.1, "1 in 10 games"),
        (1 / 12, "1 in 12 games"),
        (1e-4, "1 in 10,000 games"),
        (0.0, "never"),
    ],
)
def test_reach_in_words(reach: float, words: str) -> None:
    assert reach_words(reach) == words


@pytest.mark.parametrize("seed", range(20))
def test_numbered_is_what_python_chess_writes(seed: int) -> None:
    book = random_book(seed, plies=seed, depth=4)
    for place in walk_book(book, notate=True):
        board = start_board(book)
        moves = [board.push_uci(name) for name in place.entry.history]
        if moves:
            written = numbered(start_board(book), place.sans).replace("... ", "...")
            assert written == start_board(book).variation_san(moves)


def test_empty_book() -> None:
    empty = make([])
    assert learning_order(empty) == ()
    assert csv_text(empty) == ",".join(COLUMNS) + "\n"
    assert epd_text(empty) == ""


def test_an_entry_needs_a_move() -> None:
    with pytest.raises(InputError, match="book entry '': no move; expected at least one"):
        epd_text(make([Entry((), {"e2e4": 0.0}, 1.0, 0.0, 0.5)]))
    with pytest.raises(InputError, match="not a legal chess position"):
        epd_text(make([], start="8/8/8/8/8/8/8/8 w - - 0 1"))
