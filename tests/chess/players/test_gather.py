"""A player's games, gathered: broken ones, names spelled twice, what a coach should know."""

from __future__ import annotations

import gzip
from pathlib import Path

import chess
import pytest
from pgntext import pgn

from preplay.chess.players.gather import count_others, gather_games
from preplay.chess.players.squares import board_key, move_code
from preplay.errors import InputError
from preplay.stopping import Stop


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
    found = gather_games([tmp_path], ["Joe"], 2)
    gone = found.skipped
    assert len(found.games) == 3 - 1  # the same game twice counts once
    assert (gone.broken, gone.variants, gone.odd_starts, gone.others) == (2, 1, 1, 1)
    assert len(found.broken_files) == 2
    assert any("b.pgn.gz: damaged" in text for text in found.broken_files)
    assert any("c.pgn: not PGN text" in text for text in found.broken_files)
    assert any("game 2: 'Ke3' in its line 5 is not legal" in text for text in found.warnings)
    with pytest.raises(InputError, match=r"cannot read nowhere\.pgn"):
        gather_games(["nowhere.pgn"], ["Joe"], 2)


def test_what_a_coach_should_know_is_said(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(
        3 * pgn("1. e4 e5", black="Nimzowitsch, A", Event="Blitz night", Round="1")
        + 2 * pgn("1. e4 e5", black="Nimzovich", TimeControl="5400+30")
        + 2 * pgn("1. e4 e5", black="Nimzowitsch", TimeControl="5400+30")
        + pgn("1. e4 e5", white="Nimzowitsch")
    )
    found = gather_games([path], ["Nimzowitsch"], 2)
    assert found.names == {"Nimzowitsch, A": 3, "Nimzowitsch": 2}
    said = " | ".join(found.warnings)
    assert "'Nimzovich' has 2 games: if it is the same player, add --player \"Nimzovich\"" in said
    assert "mixed speeds (3 blitz, 2 classical)" in said
    assert "5 games are few" in said
    assert len(gather_games([path], ["Nimzowitsch", "Nimzovich"], 2).games) == 7
    assert found.skipped.other_side == 1
    with pytest.raises(
        InputError, match=r"no game .* 'Joe' has White; 1 with Black: did you mean --side black"
    ):
        gather_games([path], ["Joe"], 1)
    with pytest.raises(InputError, match="did you mean 'Nimzovich'"):
        gather_games([path], ["Nimzovitch"], 2)


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

    found = gather_games([tmp_path / name for name in names], ["Joe"], 2, stop=late, progress=progress)
    assert len(found.games) == 1
    assert said == ["1 games read"]
    assert any("time for 1 games only" in text for text in found.warnings)
    assert len(gather_games([tmp_path / name for name in names], ["Joe"], 2).games) == 3
