"""Matches of any game: what is played agrees with what was promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preplay import equilibrium, match, open_matchup, prepare
from preplay.chess.endings import Settling
from preplay.errors import InputError
from preplay.matches import Adjudication


@pytest.mark.parametrize("adjudication", ["rules", "model"])
@pytest.mark.parametrize(
    ("spec", "changes"), [("synthetic", ("luck=0.2", "cost=0.003")), ("tic-tac-toe", ("cost=0.01",))]
)
def test_other_games_than_chess_are_played_too(
    spec: str, changes: tuple[str, ...], adjudication: Adjudication
) -> None:
    """Chance included: what is played agrees with what is promised, which is exact here."""
    with open_matchup(spec, changes) as matchup:
        for side in (1, 2):
            book = prepare(matchup, side)
            result = match(matchup, book, 1500, adjudication=adjudication, control=True, seed=side)
            assert abs(result.score.mean - book.value) < 4 * (result.score.high - result.score.low) / 3.92
            assert result.promised_book_moves is not None
            assert result.book_moves == pytest.approx(result.promised_book_moves, abs=0.15)
            assert result.control is not None
            without = result.control.score
            expected = book.unprepared if adjudication == "model" else book.baseline
            assert abs(without.mean - expected) < 4 * (without.high - without.low) / 3.92
            assert result.pgn == ""


def test_an_equilibrium_of_another_game_is_played(tmp_path: Path) -> None:
    with open_matchup("synthetic", ("cost=0.003",)) as matchup:
        both = equilibrium(matchup)
        result = match(matchup, both, 1500, save=tmp_path / "match")
        assert result.opponent == "prepared"
        assert (
            abs(result.score.mean - result.promised) < 4 * (result.score.high - result.score.low) / 3.92
        )
        again = match(matchup, both, 1500, save=tmp_path / "match")
    assert again.played == result.played
    assert not (tmp_path / "match" / "games.pgn").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"games": 0}, "games 0; expected a whole number of at least 1"),
        ({"games": -5}, "games -5; expected a whole number of at least 1"),
        ({"adjudication": "rulez"}, "adjudication 'rulez'; expected model or rules"),
        ({"prepared": "runs/white"}, "prepared is of type str; expected a result of prepare"),
        ({"settling": Settling(longest=9)}, "is not chess; resign, draw and longest"),
    ],
)
def test_matches_that_cannot_be_played(given: dict[str, Any], message: str) -> None:
    with open_matchup("synthetic", ("cost=0.01",)) as matchup, pytest.raises(InputError, match=message):
        match(matchup, **({"side": 1} | given))
