"""Files of games: packed, in folders, in any encoding."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import chess
import pytest
import zstandard
from pgntext import pgn

from preplay.chess.players.gather import gather_games, own_moves
from preplay.chess.players.sources import find_files
from preplay.chess.players.squares import move_code
from preplay.errors import InputError

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
    found = gather_games([tmp_path / name], ["muller"], 2)
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
