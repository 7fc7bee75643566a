from __future__ import annotations

import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import chess
import chess.polyglot
import pytest
from chessbooks import (
    BLACK_CASTLING,
    BLACK_EN_PASSANT,
    CASTLING,
    EN_PASSANT,
    LONG_CASTLING,
    PROMOTION,
    UNDERPROMOTION,
    books,
    lines_book,
    make,
    random_book,
)
from hypothesis import given, settings

from preplay.book import Book, Entry
from preplay.chess.books.lines import walk_book
from preplay.chess.books.polyglot import choices, parse_polyglot, polyglot_bytes, read_polyglot
from preplay.errors import InputError

SPECIAL = (CASTLING, LONG_CASTLING, EN_PASSANT, PROMOTION, UNDERPROMOTION)
POLYGLOT = shutil.which("polyglot") or "/usr/games/polyglot"
needs_polyglot = pytest.mark.skipif(
    not Path(POLYGLOT).is_file(), reason="Debian's polyglot tool is not installed"
)


def expected_weights(book: Book) -> dict[tuple[int, str], float]:
    """Slowly and directly: P(played | position) of every position and move."""
    reach: dict[int, float] = {}
    parts: dict[tuple[int, str], float] = {}
    for entry in book.entries:
        board = chess.Board(book.start or chess.STARTING_FEN, chess960=book.chess960)
        for name in entry.history:
            board.push_uci(name)
        key = chess.polyglot.zobrist_hash(board)
        reach[key] = reach.get(key, 0.0) + entry.reach
        for name, p in entry.moves.items():
            plain = board.uci(board.parse_uci(name), chess960=True)
            parts[key, plain] = parts.get((key, plain), 0.0) + entry.reach * entry.probability * p
    return {(key, name): part / reach[key] for (key, name), part in parts.items()}


@settings(max_examples=40, deadline=None)
@given(books(mixed=False))
def test_python_chess_reads_back_every_position_and_move(
    tmp_path_factory: pytest.TempPathFactory, book: Book
) -> None:
    path = tmp_path_factory.mktemp("book") / "book.bin"
    path.write_bytes(polyglot_bytes(book))
    found: dict[tuple[int, str], int] = {}
    with chess.polyglot.open_reader(path) as reader:
        assert [entry.key for entry in reader] == sorted(entry.key for entry in reader)
        for place in walk_book(book):
            for entry in reader.find_all(place.board):
                assert place.board.is_legal(entry.move)
                found[entry.key, place.board.uci(entry.move, chess960=True)] = entry.weight
        assert len(reader) == len(found)
    expected = expected_weights(book)
    assert found.keys() == expected.keys()
    for key, weight in found.items():
        assert 1 <= weight <= 65535
        assert weight == max(1, round(65535 * expected[key])) or abs(weight - 65535 * expected[key]) < 1


@settings(max_examples=40, deadline=None)
@given(books(mixed=False))
def test_own_reader_agrees_with_python_chess(
    tmp_path_factory: pytest.TempPathFactory, book: Book
) -> None:
    path = tmp_path_factory.mktemp("book") / "book.bin"
    path.write_bytes(polyglot_bytes(book))
    ours = read_polyglot(path)
    with chess.polyglot.open_reader(path) as reader:
        for place in walk_book(book):
            theirs = {entry.move: entry.weight for entry in reader.find_all(place.board)}
            assert ours.find(place.board) == theirs
            elsewhere = place.board.copy()
            elsewhere.push(place.moves[0][0])
            assert ours.find(elsewhere) == {e.move: e.weight for e in reader.find_all(elsewhere)}


def test_known_bytes() -> None:
    # The key of the start position is the first test vector of the format's description.
    (choice,) = choices(lines_book("e2e4"))
    assert choice.key == 0x463B96181691FC9C
    assert polyglot_bytes(lines_book("e2e4")) == bytes.fromhex("463b96181691fc9c 031c ffff 00000000")


@pytest.mark.parametrize(
    ("line", "side", "raw"),
    [
        (CASTLING, 1, chess.E1 << 6 | chess.H1),
        (LONG_CASTLING, 1, chess.E1 << 6 | chess.A1),
        (BLACK_CASTLING, 2, chess.E8 << 6 | chess.H8),
        (EN_PASSANT, 1, chess.E5 << 6 | chess.D6),
        (PROMOTION, 1, 4 << 12 | chess.B7 << 6 | chess.A8),
        (UNDERPROMOTION, 1, 1 << 12 | chess.B7 << 6 | chess.A8),
    ],
)
def test_special_moves(line: str, side: int, raw: int) -> None:
    *history, last = line.split()
    book = lines_book(line, side=side)
    board = chess.Board()
    for name in history:
        board.push_uci(name)
    key = chess.polyglot.zobrist_hash(board)
    assert [choice.move for choice in choices(book) if choice.key == key] == [raw]
    assert list(parse_polyglot(polyglot_bytes(book), "book").find(board)) == [board.parse_uci(last)]


def test_transpositions_share_an_entry_by_reach_and_mixed_books_weigh_by_x() -> None:
    one, two = ("g1f3", "g8f6", "c2c4", "e7e6"), ("c2c4", "g8f6", "g1f3", "e7e6")
    entries = [
        Entry((), {"g1f3": 0.5, "c2c4": 0.5}, 1.0, 0.0, 0.5),
        Entry(one[:2], {"c2c4": 1.0}, 0.3, 0.0, 0.5),
        Entry(two[:2], {"g1f3": 1.0}, 0.3, 0.0, 0.5),
        Entry(one, {"b1c3": 1.0}, 0.2, 0.0, 0.5, 0.5),
        Entry(two, {"b1c3": 0.5, "d2d4": 0.5}, 0.1, 0.0, 0.5, 1.0),
    ]
    board = chess.Board()
    for name in one:
        board.push_uci(name)
    key = chess.polyglot.zobrist_hash(board)
    found = {choice.move: choice.weight for choice in choices(make(entries)) if choice.key == key}
    # (0.2 * 0.5 * 1 + 0.1 * 1 * 0.5) / 0.3 and 0.1 * 0.5 / 0.3
    assert found == {
        _raw(chess.Move.from_uci("b1c3"), board): round(65535 / 2),
        _raw(chess.Move.from_uci("d2d4"), board): round(65535 / 6),
    }
    with pytest.raises(InputError, match="preplay draw"):
        polyglot_bytes(make(entries))


def test_weights_are_never_zero() -> None:
    book = make([Entry((), {"e2e4": 1 - 1e-9, "d2d4": 1e-9}, 1.0, 0.0, 0.5, 1e-7)])
    assert sorted(choice.weight for choice in choices(book)) == [1, 1]


def test_unreached_entries_count_the_same() -> None:
    book = make([Entry((), {"e2e4": 1.0}, 0.0, 0.0, 0.5)])
    assert [choice.weight for choice in choices(book)] == [65535]


def dumped(path: Path, colour: str) -> list[list[tuple[str, int | None]]]:
    """The lines of `polyglot dump-book`: SAN with percents."""
    target = path.with_suffix(".txt")
    command = [POLYGLOT, "dump-book", "-bin", str(path), "-color", colour, "-out", str(target)]
    subprocess.run(command, check=True, capture_output=True, cwd=path.parent)
    lines = []
    for row in target.read_text().splitlines():
        if re.match(r"\d+: ", row):
            words = re.sub(r"^\d+: |\{[a-z]+:[^}]*\}", "", row).split()  # {trans: ...} is no move
            moves = [
                re.fullmatch(r"([^{]+)(?:\{(\d+)%\})?", w)
                for w in words
                if not re.fullmatch(r"\d+\.+", w)
            ]
            lines.append([(m[1], int(m[2]) if m[2] else None) for m in moves if m])
    return lines


def polyglot_sees(path: Path, colour: str) -> dict[tuple[int, str], int]:
    """{(key, move): percent} of all positions on the tool's lines, replayed move by move."""
    seen: dict[tuple[int, str], int] = {}
    for line in dumped(path, colour):
        board = chess.Board()
        for san, percent in line:
            move = board.parse_san(san)
            if percent is not None:
                seen[chess.polyglot.zobrist_hash(board), board.uci(move, chess960=True)] = percent
            board.push(move)
    return seen


@needs_polyglot
@pytest.mark.parametrize(
    ("book", "colour"),
    [
        (lines_book(*SPECIAL), "white"),
        (lines_book(BLACK_CASTLING, BLACK_EN_PASSANT, side=2), "black"),
        *((random_book(seed, single=True, depth=4), None) for seed in range(12)),
        *((random_book(seed), None) for seed in range(12)),
    ],
)
def test_the_polyglot_tool_dumps_the_same_book(tmp_path: Path, book: Book, colour: str | None) -> None:
    colour = colour or ("white" if book.side == 1 else "black")
    path = tmp_path / "book.bin"
    path.write_bytes(polyglot_bytes(book))
    table = choices(book)
    totals: dict[int, int] = {}
    for choice in table:
        totals[choice.key] = totals.get(choice.key, 0) + choice.weight
    boards = {chess.polyglot.zobrist_hash(place.board): place.board for place in walk_book(book)}
    expected: dict[tuple[int, str], float] = {}
    for choice in table:
        board = boards[choice.key]
        move = next(
            m
            for m in parse_polyglot(polyglot_bytes(book), "").find(board)
            if _raw(m, board) == choice.move
        )
        expected[choice.key, board.uci(move, chess960=True)] = 100 * choice.weight / totals[choice.key]
    seen = polyglot_sees(path, colour)
    assert seen.keys() == expected.keys()
    for key, percent in seen.items():
        assert percent == pytest.approx(expected[key], abs=1.01)
    info = subprocess.run(
        [POLYGLOT, "info-book", "-bin", str(path), "-exact"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    ).stdout
    assert re.search(rf"Positions on lines for {colour}\s*:\s*{len(totals)}\b", info)
    assert re.search(r"Isolated positions\s*:\s*0\b", info)


def _raw(move: chess.Move, board: chess.Board) -> int:
    plain = chess.Move.from_uci(board.uci(move, chess960=True))
    return (
        (plain.promotion - 1 if plain.promotion else 0) << 12 | plain.from_square << 6 | plain.to_square
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x" * 17, "book.bin: 17 bytes; a Polyglot book has a multiple of 16"),
        (
            struct.pack(">QHHI", 7, 796, 1, 0) + struct.pack(">QHHI", 5, 796, 1, 0),
            "book.bin: the key of entry 2 is below the one before; expected sorted keys",
        ),
        (
            struct.pack(">QHHI", 7, 0x7FFF, 1, 0),
            "book.bin: entry 1 has the move 0x7fff; expected a Polyglot move",
        ),
    ],
)
def test_corrupt_files_are_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_polyglot(data, "book.bin")
    assert str(caught.value) == message


def test_missing_file() -> None:
    with pytest.raises(InputError, match=r"cannot read the book nowhere\.bin: No such file or directory"):
        read_polyglot("nowhere.bin")


def test_an_empty_book_is_an_empty_file() -> None:
    assert polyglot_bytes(make([])) == b""
    assert parse_polyglot(b"", "book").find(chess.Board()) == {}


def test_foreign_books_may_have_headers_deleted_moves_and_collisions() -> None:
    key = chess.polyglot.zobrist_hash(chess.Board())
    e2e4, d2d4, e1e8 = 0x31C, 0x2DB, chess.E1 << 6 | chess.E8
    rows = [
        (0, 0x4050, 0x4740, 0),
        (key, e2e4, 3, 9),
        (key, d2d4, 0, 0),
        (key, e1e8, 4, 0),
        (key, 0, 1, 0),
    ]
    book = parse_polyglot(b"".join(struct.pack(">QHHI", *row) for row in rows), "book")
    assert book.find(chess.Board()) == {chess.Move.from_uci("e2e4"): 3}


def test_illegal_books_are_refused() -> None:
    with pytest.raises(InputError, match="move 'e2e5' at the start is not legal"):
        choices(make([Entry((), {"e2e5": 1.0}, 1.0, 0.0, 0.5)]))
    with pytest.raises(InputError, match="move 'e7e4' after 'e2e4' is not legal"):
        choices(make([Entry(("e2e4", "e7e4"), {"d2d4": 1.0}, 1.0, 0.0, 0.5)]))
    with pytest.raises(InputError, match="Black is to move; expected the book's side"):
        choices(make([Entry(("e2e4",), {"e7e5": 1.0}, 1.0, 0.0, 0.5)]))
    with pytest.raises(InputError, match="start position is no FEN"):
        choices(make([], start="nonsense"))


def test_the_random_books_have_castling_en_passant_and_promotions() -> None:
    kinds = {"castling": 0, "en passant": 0, "promotion": 0}
    for seed in range(120):
        for place in walk_book(random_book(seed, plies=seed % 80, chess960=bool(seed % 2))):
            for move, _ in place.moves:
                kinds["castling"] += place.board.is_castling(move)
                kinds["en passant"] += place.board.is_en_passant(move)
                kinds["promotion"] += move.promotion is not None
    assert min(kinds.values()) >= 10, kinds


def test_what_a_book_extends_is_in_it_too() -> None:
    added = Entry(("e2e4", "c7c5"), {"g1f3": 1.0}, 0.5, 0.02, 0.6)
    known = {chess.Board().epd(): ("e2e4",), "4k3/8/8/8/8/8/8/4K2R w K -": ("e1g1", "h1h8")}
    back = parse_polyglot(polyglot_bytes(replace(make([added]), known=known)), "book.bin")
    assert back.find(chess.Board()) == {chess.Move.from_uci("e2e4"): 65535}
    rook = back.find(chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1"))
    assert rook == {chess.Move.from_uci("e1g1"): 32767, chess.Move.from_uci("h1h8"): 32767}
    assert len(back) == 4
