"""What was read of a file is kept, and read again when it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from pgntext import pgn

from preplay.chess.players.archive import parts
from preplay.chess.players.sources import BrokenFileError


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
