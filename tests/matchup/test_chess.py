"""Chess matchups from their settings: what is taken from where, and what is refused."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from preplay.errors import InputError
from preplay.matchup import open_matchup
from preplay.matchup.chess_settings import Chess, study
from preplay.matchup.settings import override, validate


def test_what_a_sides_preparation_leaves_out_is_as_in_the_common_one() -> None:
    config = {
        "prep": {"nodes": 300, "multipv": 3, "options": {"Skill Level": 5}},
        "white_prep": {"randomness": 5},
        "black_prep": {"depth": 4},
    }
    settings = validate(Chess, config, "test")
    white, black = study(settings.prep, settings.white_prep), study(settings.prep, settings.black_prep)
    assert (white.nodes, white.depth, white.multipv, white.randomness) == (300, None, 3, 5)
    assert (black.nodes, black.depth, black.multipv, black.options) == (None, 4, 3, {"Skill Level": 5})
    assert study(settings.prep, None) == settings.prep


def test_an_engine_may_be_a_command_with_arguments(tmp_path: Path, stockfish: str) -> None:
    script = tmp_path / "my engine.sh"
    script.write_text(f'#!/bin/sh\n[ "$1" = "--fine" ] && exec {stockfish}\nexit 1\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    small = ("white.nodes=100", "black.nodes=100", "prep.nodes=100")
    command = f"black.engine='{script}' --fine"
    with open_matchup("chess", (*small, command), workers=1, store=tmp_path / "s") as matchup:
        state = matchup.game.next(matchup.game.root(), "e2e4")
        assert len(matchup.base[1].distributions([state])[0]) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("white.nodes=true", "white.nodes = true; expected another kind of value"),
        ("cost=true", "cost = true; expected another kind"),
        ("chess960=3", "chess960 = 3"),
        ("start.moves=3", "start.moves = 3; expected a list"),
        ("judge.doubt=-0.1", "judge.doubt = -0.1; expected a number of at least 0"),
    ],
)
def test_values_of_the_wrong_kind(change: str, message: str) -> None:
    config: dict[str, Any] = override({"kind": "chess"}, [change])
    with pytest.raises(InputError) as caught:
        validate(Chess, config, "test")
    assert message in str(caught.value)


def test_a_date_and_a_byte_order_mark_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_bytes(b"\xef\xbb\xbfkind = 'chess'\ncost = 2020-01-01\n")
    with pytest.raises(InputError, match=r'cost = "2020-01-01"; '), open_matchup(str(path)):
        pass


def test_the_bounds_of_a_clock() -> None:
    message = r"clock.most = 50 below clock.least = 100"
    with pytest.raises(InputError, match=message), open_matchup("chess-clock", ["clock.most=50"]):
        pass


@pytest.mark.parametrize(
    ("name", "meant"),
    [("repertoire", "to play"), ("avoid", "to avoid"), ("extend", "that are known")],
)
def test_files_that_hold_no_lines(name: str, meant: str, tmp_path: Path, stockfish: str) -> None:
    path = tmp_path / "mine.pgn"
    for data, wrong in (
        (b"", "no move of White in it"),
        (b"\x7fELF\0", "not PGN text .*0x7f in line 1."),
    ):
        path.write_bytes(data)
        message = f"mine.pgn: {wrong}; expected PGN with lines {meant}$"
        with (
            pytest.raises(InputError, match=message),
            open_matchup("chess", (f"white_prep.{name}={path}",), store=tmp_path / "s"),
        ):
            pass
