"""Games as people have them: packed, in folders, badly encoded, broken, and with names spelled twice."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.chess.players.archive import parts, read_parts
from preplay.chess.players.counts import MoveCounts, count_moves, together
from preplay.chess.players.filters import GameFilter, date_of, speed_of
from preplay.chess.players.gather import count_others, gather, own_moves
from preplay.chess.players.names import same_name
from preplay.chess.players.readgames import read_text
from preplay.chess.players.sources import BrokenFileError, find_files
from preplay.chess.players.squares import board_key, coded_move, move_code
from preplay.errors import InputError
from preplay.stopping import Stop


def pgn(moves: str, white: str = "Me", black: str = "Joe", **tags: str) -> str:
    given = {"White": white, "Black": black, "Result": "*"} | tags
    return "".join(f'[{name} "{value}"]\n' for name, value in given.items()) + f"\n{moves} *\n\n"


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


@settings(max_examples=60, deadline=None)
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
    found = list(read_text(pgn(f"{line} {word}") + pgn("1. e4"), "text", broken))
    assert (len(found), len(broken)) == ((2, 0) if legal else (1, 1))
    assert found[-1].moves == (chess.Move.from_uci("e2e4"),)


def test_codes_are_moves() -> None:
    for name in ("e2e4", "a7a8q", "h2h1n", "e1g1"):
        assert coded_move(move_code(chess.Move.from_uci(name))).uci() == name


WAYS: dict[str, Callable[[str], bytes]] = {
    "plain.pgn": lambda text: text.encode(),
    "packed.pgn.gz": lambda text: gzip.compress(text.encode()),
    "packed.pgn.zst": lambda text: zstandard.compress(text.encode()),
    "packed.pgn.bz2": lambda text: bz2.compress(text.encode()),
    "mark.pgn": lambda text: "\ufeff".encode() + text.encode(),
    "latin.pgn": lambda text: text.encode("latin-1"),
    "wide.pgn": lambda text: text.encode("utf-16"),
    "wider.pgn": lambda text: text.encode("utf-16-le"),
    "big.pgn": lambda text: text.encode("utf-16-be"),
    "dos.pgn": lambda text: text.replace("\n", "\r\n").encode() + b"\x1a",
}


@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_write_a_file(name: str, tmp_path: Path) -> None:
    text = pgn("1. e4 c5", black="Müller, José") + pgn("1. d4 d5", black="Joe")
    (tmp_path / name).write_bytes(WAYS[name](text))
    found = gather([tmp_path / name], ["muller"], 2)
    assert (len(found.games), found.names) == (1, {"Müller, José": 1})
    assert own_moves(found.games[0], 2)[1].tolist() == [move_code(chess.Move.from_uci("c7c5"))]


def test_files_folders_and_patterns(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("a.pgn", "b.pgn.gz", "deep/c.pgn", "notes.txt"):
        (tmp_path / name).write_bytes(gzip.compress(b"x") if name.endswith("gz") else b"x")
    assert [p.name for p in find_files([tmp_path])] == ["a.pgn", "b.pgn.gz", "c.pgn"]
    assert [p.name for p in find_files([tmp_path / "*.gz", tmp_path])] == ["b.pgn.gz", "a.pgn", "c.pgn"]
    assert [p.name for p in find_files([str(tmp_path / "**" / "c.*")])] == ["c.pgn"]
    with pytest.raises(InputError, match="no file fits this pattern"):
        find_files([tmp_path / "*.zip"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.pgn or"):
        find_files([tmp_path / "empty"])


def test_broken_games_and_files_are_told_and_left_out(tmp_path: Path) -> None:
    fine = pgn("1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3", Date="2020.01.02")
    (tmp_path / "a.pgn").write_text(
        fine
        + pgn("1. e4 c5 2. Ke3")
        + pgn("1. e4 {never closed e5", Event="odd")
        + pgn("1. e4 e5", Variant="Atomic")
        + pgn("1. e4 e5", FEN="4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1")
        + pgn("1. e4 e5", FEN=chess.STARTING_FEN)
        + fine
        + pgn("1. d4", black="Else")
    )
    packed = gzip.compress(20 * pgn("1. e4 c6", Date="2020.01.01").encode())
    (tmp_path / "b.pgn.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "c.pgn").write_bytes(b"\x00\x01\x02" * 50)
    found = gather([tmp_path], ["Joe"], 2)
    gone = found.skipped
    assert len(found.games) == 3 - 1  # the same game twice counts once
    assert (gone.broken, gone.variants, gone.odd_starts, gone.others) == (2, 1, 1, 1)
    assert len(found.broken_files) == 2
    assert any("b.pgn.gz: damaged" in text for text in found.broken_files)
    assert any("c.pgn: not PGN text" in text for text in found.broken_files)
    assert any("game 2: 'Ke3' in its line 5 is not legal" in text for text in found.warnings)
    with pytest.raises(InputError, match=r"cannot read nowhere\.pgn"):
        gather(["nowhere.pgn"], ["Joe"], 2)


@pytest.mark.parametrize(
    ("wanted", "found", "same"),
    [
        ("Nimzowitsch", "Nimzowitsch, Aron", True),
        ("nimzowitsch", "A. NIMZOWITSCH", True),
        ("Nimzowitsch", "Nimzowitschka", False),
        ("So", "Sokolov", False),
        ("Carlsen, Magnus", "Carlsen,M", True),
        ("Carlsen, Magnus", "Magnus Carlsen", True),
        ("Carlsen, Magnus", "Carlsen, Henrik", False),
        ("Carlsen, Magnus", "Carlsen", True),
        ("Magnus Carlsen", "Magnus", False),
        ("Muller", "Müller", True),
        ("Łukasz", "lukasz", True),
        ("A", "Aron", False),
        ("A", "a", True),
        ("", "Anybody", False),
    ],
)
def test_names(wanted: str, found: str, same: bool) -> None:
    assert same_name(wanted, found) == same


def test_what_a_coach_should_know_is_said(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(
        3 * pgn("1. e4 e5", black="Nimzowitsch, A", Event="Blitz night", Round="1")
        + 2 * pgn("1. e4 e5", black="Nimzovich", TimeControl="5400+30")
        + 2 * pgn("1. e4 e5", black="Nimzowitsch", TimeControl="5400+30")
        + pgn("1. e4 e5", white="Nimzowitsch")
    )
    found = gather([path], ["Nimzowitsch"], 2)
    assert found.names == {"Nimzowitsch, A": 3, "Nimzowitsch": 2}
    said = " | ".join(found.warnings)
    assert "'Nimzovich' has 2 games: if it is the same player, add --player \"Nimzovich\"" in said
    assert "mixed speeds (3 blitz, 2 classical)" in said
    assert "5 games are few" in said
    assert len(gather([path], ["Nimzowitsch", "Nimzovich"], 2).games) == 7
    assert found.skipped.other_side == 1
    with pytest.raises(
        InputError, match=r"no game .* 'Joe' has White; 1 with Black: did you mean --side black"
    ):
        gather([path], ["Joe"], 1)
    with pytest.raises(InputError, match="did you mean 'Nimzovich'"):
        gather([path], ["Nimzovitch"], 2)


def test_filters() -> None:
    def tags(**given: str) -> object:
        (part,) = read_parts(iter([pgn("1. e4", **given).encode()]), "text")
        return part.tags[0]

    old, new = tags(Date="2018.12.31"), tags(Date="2019.??.??", BlackElo="2100", TimeControl="600+5")
    assert (date_of(old), date_of(new)) == ("2018.12.31", "2019.00.00")  # type: ignore[arg-type]
    assert [GameFilter(since="2019").takes(t, 2) for t in (old, new)] == [False, True]  # type: ignore[arg-type]
    assert [GameFilter(rating=(2000, 2400)).takes(t, 2) for t in (old, new)] == [False, True]  # type: ignore[arg-type]
    assert [GameFilter(speeds=("rapid",)).takes(t, 2) for t in (old, new)] == [False, True]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("control", "event", "speed", "told"),
    [
        ("60+0", "", "bullet", True),
        ("180+2", "", "blitz", True),
        ("600+5", "", "rapid", True),
        ("40/7200:3600", "", "classical", True),
        ("-", "", "correspondence", True),
        ("1/259200", "", "correspondence", True),
        ("", "World Blitz 2019", "blitz", True),
        ("?", "Linares", "classical", False),
    ],
)
def test_speeds(control: str, event: str, speed: str, told: bool) -> None:
    (part,) = read_parts(iter([pgn("1. e4", TimeControl=control, Event=event).encode()]), "text")
    assert speed_of(part.tags[0]) == (speed, told)


def test_others_are_counted_without_the_player(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(
        pgn("1. e4 c5", black="Rival", Date="2020.01.01")
        + pgn("1. e4 e5", black="X", Date="2020.01.01")
        + pgn("1. e4 e6", black="Y", Date="2022.01.01")
    )
    old, every = count_others([path], ["rival"], 2, before=["2021"])
    assert (old.moves, every.moves) == (1, 2)
    board = chess.Board()
    board.push_san("e4")
    assert set(every.at(board_key(board))) == {
        move_code(chess.Move.from_uci(m)) for m in ("e7e5", "e7e6")
    }


def test_read_once_and_kept(tmp_path: Path) -> None:
    path, keep = tmp_path / "g.pgn", tmp_path / "keep"
    path.write_text(pgn("1. e4 c5") + pgn("1. e4 Zz") + pgn("1. d4", Variant="Atomic"))
    (fresh,) = parts(path, keep=keep)
    (kept,) = keep.iterdir()
    (again,) = parts(path, keep=keep)
    assert (again.tags, again.odd, again.broken) == (fresh.tags, fresh.odd, fresh.broken)
    assert again.keys.tolist() == fresh.keys.tolist()
    assert kept.stat().st_size
    kept.write_bytes(kept.read_bytes()[:-7])  # damaged: read again
    (mended,) = parts(path, keep=keep)
    assert mended.codes.tolist() == fresh.codes.tolist()
    with pytest.raises(BrokenFileError):
        list(parts(tmp_path / "nowhere.pgn", keep=keep))
    path.write_text(pgn("1. e4 e5"))  # another file
    (other,) = parts(path, keep=keep)
    assert len(other) == 1
    assert not list(keep.glob("*.tmp"))  # nothing is left half-written


def test_reading_ends_when_it_is_time(tmp_path: Path) -> None:
    """What was read by then counts, and it is said; what was cut short is not kept as if it were all."""
    names = [f"{k}.pgn" for k in range(3)]
    for k, name in enumerate(names):
        (tmp_path / name).write_text(pgn("1. e4 c5", Date=f"202{k}.01.01"))
    late = Stop()
    said: list[str] = []

    def progress(text: str) -> None:
        said.append(text)
        late.asked = True

    found = gather([tmp_path / name for name in names], ["Joe"], 2, stop=late, progress=progress)
    assert len(found.games) == 1
    assert said == ["1 games read"]
    assert any("time for 1 games only" in text for text in found.warnings)
    assert len(gather([tmp_path / name for name in names], ["Joe"], 2).games) == 3


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20), max_size=5))
def test_tables_added_up_are_counts(lists: list[list[tuple[int, int]]]) -> None:
    tables = []
    for rows in lists:
        keys = np.array([key for key, _ in rows], dtype=np.uint64)
        tables.append(count_moves(keys, np.array([code for _, code in rows], dtype=np.uint16)))
    whole = together(tables)
    expected = Counter(row for rows in lists for row in rows)
    found = {
        (int(k), int(c)): int(n) for k, c, n in zip(whole.keys, whole.codes, whole.counts, strict=True)
    }
    assert found == expected
    assert list(found) == sorted(found)
    assert whole.positions == len({key for key, _ in expected})
    assert whole.widest == max(Counter(key for key, _ in expected).values(), default=0)
    assert whole.knows(np.arange(8, dtype=np.uint64)).tolist() == [bool(whole.at(k)) for k in range(8)]
    again = MoveCounts.of_data(json.loads(json.dumps(whole.as_data())))
    assert again.keys.tolist() == whole.keys.tolist()
    assert again.counts.tolist() == whole.counts.tolist()
