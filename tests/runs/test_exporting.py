"""What other programs are told of a run: who met whom in PGN, and the game of preparation."""

from __future__ import annotations

from pathlib import Path

import pytest
from chessbooks import lines_book

import preplay
from preplay.equilibria.explicit import explicit_game
from preplay.equilibria.gambit import efg_text
from preplay.errors import InputError
from preplay.runs import Run, open_run
from preplay.runs.exporting import pgn_headers, preparation_game

GAME = Path(__file__).parents[2] / "examples" / "game.json"


def test_headers_tell_who_prepared_against_whom() -> None:
    matchup = {
        "kind": "chess-clock",
        "clock": {"unit": "nodes"},
        "prep": {"nodes": 5000},
        "black_prep": {"depth": 9},
        "white": {"budget": 30_000, "increment": 100, "randomness": 10},
        "engines": ["Stockfish 15.1 [18083a2104c3345e]"],
    }
    run = Run(Path("run"), "prepare", "own", {"matchup": matchup}, {"preplay": "0.1"}, "2024-05-06T07:08")
    assert pgn_headers(run, lines_book("e2e4 e7e5", side=2)) == {
        "Black": "Preparation (Stockfish 15.1, 9 plies)",
        "White": "Stockfish 15.1, best of 2, r = 10, 30,000 nodes for the game + 100 a move",
        "Date": "2024.05.06",
        "Matchup": "own",
        "Engines": "Stockfish 15.1 [18083a2104c3345e]",
        "PreplayVersion": "0.1",
    }


def test_the_game_of_preparation_is_that_of_the_equilibrium(tmp_path: Path) -> None:
    with preplay.open_matchup(GAME) as matchup:
        found = preplay.equilibrium(matchup, 0.05, save=tmp_path / "eq")
        preplay.prepare(matchup, 1, 0.05, save=tmp_path / "one")
    tree = found.tree
    assert tree is not None
    expected = explicit_game(tree, (0.05, 0.05), memorizable=~tree.open)
    assert preparation_game(open_run(tmp_path / "eq")) == efg_text(expected, "game")
    with pytest.raises(InputError, match="--efg needs an equilibrium run"):
        preparation_game(open_run(tmp_path / "one"))
