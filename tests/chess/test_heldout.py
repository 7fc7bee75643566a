"""A book against an opponent's new games, and the naive book of frequent lines beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest
from chessbooks import lines_book
from commandline import preplay

from preplay.book import Book, Entry
from preplay.chess.heldout import held_out
from preplay.chess.players.counts import count_moves
from preplay.chess.players.frequent import frequent_book, most_played
from preplay.chess.players.squares import board_key, move_code
from preplay.errors import InputError

needs_stockfish = pytest.mark.usefixtures("stockfish")


def pgn(moves: str, black: str = "Rival, Anna", white: str = "X") -> str:
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "*"]\n\n{moves} *\n\n'


BOOK = lines_book("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 c7c5 g1f3")


def test_followed_by_the_opponents_moves_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.pgn"
    path.write_text(
        pgn("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6")  # all three moves of the book
        + pgn("1. d4 e5 2. d5 Nc6")  # we would have played e4, Nf3 and Bb5 all the same
        + pgn("1. e4 c5 2. Nc3 Nc6 3. Nf3")  # e4 and Nf3, and then it ends
        + pgn("1. e4 e6")  # e4 alone
        + pgn("1. e4 e5", black="Else")
        + pgn("1. e4 e5", black="Y", white="Rival, Anna")
    )
    found = held_out(BOOK, [path], ["rival"])
    assert (found.games, found.skipped, found.frequent) == (4, 2, None)
    assert found.book.seen == pytest.approx((3 + 3 + 2 + 1) / 4)
    assert found.book.expected == pytest.approx(sum(e.reach for e in BOOK.entries))
    # After 1. e4 thrice, once with e6, which has no answer; after 2. Nf3 and 3. Bb5 once each.
    assert found.book.answers == 3 + 1 + 1
    assert found.book.answered_seen == pytest.approx(3 / 5)
    with pytest.raises(InputError, match="no game in which Nobody has Black and that comes to"):
        held_out(BOOK, [path], ["Nobody"])


def test_what_the_book_extends_is_played_and_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "new.pgn"
    path.write_text(pgn("1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6") + pgn("1. d4 e6"))
    deep = tuple(entry for entry in BOOK.entries if len(entry.history) == 4)
    known = {}
    for before, move in (("", "e2e4"), ("e4 e5", "g1f3")):
        board = chess.Board()
        for san in before.split():
            board.push_san(san)
        known[board.epd()] = (move,)
    found = held_out(replace(BOOK, entries=deep, known=known), [path], ["rival"])
    assert found.book.seen == pytest.approx((1 + 0) / 2)  # 3. Bb5, and nothing after 1. e4 e6


def tables(lines: list[str]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    white: list[tuple[int, int]] = []
    black: list[tuple[int, int]] = []
    for line in lines:
        board = chess.Board()
        for san in line.split():
            move = board.parse_san(san)
            (white if board.turn else black).append((board_key(board), move_code(move)))
            board.push(move)
    return white, black


def test_the_book_of_frequent_lines() -> None:
    lines = 6 * ["e4 c5 Nf3 d6 d4"] + 3 * ["e4 c5 Nc3 Nc6"] + 2 * ["e4 e5 Nf3 Nc6"] + ["d4 d5 c4"]
    counted = []
    for rows in tables(lines):
        keys = np.array([key for key, _ in rows], dtype=np.uint64)
        counted.append(count_moves(keys, np.array([code for _, code in rows], dtype=np.uint16)))
    replies, own = counted
    book = frequent_book(own, most_played(replies), 1, 4)
    found = {entry.history: (next(iter(entry.moves)), entry.reach) for entry in book.entries}
    assert found == {
        (): ("e2e4", 1.0),
        ("e2e4", "c7c5"): ("g1f3", pytest.approx(9 / 11)),
        ("e2e4", "e7e5"): ("g1f3", pytest.approx(2 / 11)),
        ("e2e4", "c7c5", "g1f3", "d7d6"): ("d2d4", pytest.approx(9 / 11)),
    }
    assert frequent_book(own, most_played(replies), 1, 100).size == 4  # there are no more
    assert frequent_book(replies, most_played(own), 2, 1).entries[0].history == ("e2e4",)


@needs_stockfish
def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREPLAY_STORE", str(tmp_path / "s"))
    (tmp_path / "old.pgn").write_text(6 * pgn("1. e4 c5 2. Nf3 d6") + 2 * pgn("1. e4 e5 2. Nf3 Nc6"))
    (tmp_path / "new.pgn").write_text(2 * pgn("1. e4 c5 2. Nf3 d6 3. d4") + pgn("1. e4 a6"))
    words = ("--set", f"black.games.file={tmp_path / 'old.pgn'}", "--set", "black.games.weight=1")
    small = (
        "--set",
        "start.moves=1.e4",
        "--set",
        "prep.nodes=300",
        "--set",
        "judge=false",
        "--budget",
        "2",
    )
    saved = ("--set", "black.nodes=200", "--set", "white.nodes=200", "--save", tmp_path / "run", "--json")
    code, out, err = preplay(capsys, "prepare", "chess", "--side", "white", *words, *small, *saved)
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert sum(data["opponent"]["gain"].values()) == pytest.approx(
        sum(entry["gain"] for entry in data["book"]), abs=1e-9
    )
    check = ("check", tmp_path / "run", tmp_path / "new.pgn", "--opponent", "Rival")
    code, out, err = preplay(capsys, *check, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["games"] == 3
    assert found["book"]["size"] == found["frequent"]["size"] == data["size"]
    if data["size"]:
        assert found["frequent"]["seen"] == pytest.approx(2 / 3)
    code, out, _ = preplay(capsys, *check)
    assert code == 0
    assert "most frequent lines" in out


def test_a_book_without_games_has_nothing_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from preplay.book import save

    save(Book(1, (Entry((), {"e2e4": 1.0}, 1.0, 0.0, 0.5),), 0.5, 0.5, 0.0, 0.5), tmp_path / "b.json")
    (tmp_path / "g.pgn").write_text(pgn("1. e4 e5"))
    code, out, _ = preplay(capsys, "check", tmp_path / "b.json", tmp_path / "g.pgn", "--opponent", "Anna")
    assert code == 0
    assert "nothing to compare with" in out
