"""The front door on chess with real engines: what the README shows, and a match of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import preplay

SMALL = [
    "white.nodes=200",
    "black.nodes=200",
    "prep.nodes=400",
    "black.randomness=20",
    "value.model=linear",
    "judge=false",
]


def test_prepare_match_and_find_again(stockfish: str, tmp_path: Path) -> None:
    heard: list[object] = []
    with preplay.open_matchup("chess", SMALL, workers=1, store=tmp_path / "store.sqlite") as matchup:
        result = preplay.prepare(matchup, side="white", cost=0.004, save=tmp_path / "white")
        assert (result.side, result.book.side) == ("white", 1)
        assert result.size > 0
        assert result.net <= result.upper
        assert list(result.to_pandas()["score"].dropna()) == [e.score for e in result.book.entries]
        played = preplay.match(
            matchup, result, 6, control=True, save=tmp_path / "match", progress=heard.append
        )
        assert played.games == len(played.played) == 6
        assert played.promised == pytest.approx(result.value)
        assert played.control is not None
        assert played.control.games == len(played.without)
        assert len(played.to_pandas()) == 12
        assert str(heard[-1]).startswith("6/6 games")
        assert preplay.load_run(tmp_path / "match") == played
        with pytest.raises(preplay.InputError, match="holds a book for white, not for black"):
            preplay.match(matchup, result, 2, side="black")
    again = preplay.load_run(tmp_path / "white")
    assert again == result
    assert again.run.matchup["black"]["randomness"] == 20.0
