"""Calibration games with real Stockfish: to the end, the same every time, resumed, used by promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chess
import pytest
from commandline import preplay

from preplay.chess.calibration import HORIZON, Calibrator
from preplay.errors import InputError
from preplay.matchup import Matchup, open_matchup
from preplay.preparation import curve_error, prepare
from preplay.stopping import Stop

pytestmark = pytest.mark.usefixtures("stockfish")

SMALL = (
    "white.nodes=60",
    "black.nodes=60",
    "prep.nodes=120",
    "black.randomness=20",
    "white.randomness=20",
    "value.model=calibrated",
    "value.games=8",
    "judge.nodes=300",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What engines found for all tests of this file."""
    return tmp_path_factory.mktemp("store") / "s.sqlite"


def run_json(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    code, out, err = preplay(capsys, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def calibrator(matchup: Matchup[Any]) -> Calibrator:
    assert isinstance(matchup.calibration, Calibrator)
    return matchup.calibration


def test_games_are_legal_and_go_to_the_end(store: Path) -> None:
    with open_matchup("chess", SMALL, workers=2, store=store) as matchup:
        found = calibrator(matchup)
        curve, games = found.curve(), list(found.games)
    assert [game.number for game in games] == list(range(8))
    assert (curve.games, curve.positions) == (8, sum(len(game.points) for game in games))
    for game in games:
        board = chess.Board()
        for move in game.moves.split():
            assert not board.is_repetition(3)
            board.push_uci(move)
        assert (
            board.is_game_over(claim_draw=False) or board.is_repetition(3) or board.halfmove_clock >= 100
        )
        white = {"1-0": 1.0, "0-1": 0.0}.get(board.result(), 0.5)
        assert game.result == white
        assert len(game.points) >= 1
        assert all(0 <= ply <= 20 + HORIZON for ply, _ in game.points)
    assert games[0].points[0][0] == games[1].points[0][0] == 0  # from the start
    assert games[2].points[0][0] % 2 == 0  # White's preparation, then White to move
    assert games[3].points[0][0] % 2 == 1


def test_workers_stops_and_stores_change_nothing(tmp_path: Path, store: Path) -> None:
    with open_matchup("chess", SMALL, workers=1, store=store) as matchup:
        one = calibrator(matchup).curve()
    stop = Stop()
    with open_matchup("chess", SMALL, workers=2, store=tmp_path / "two.sqlite") as matchup:
        found = calibrator(matchup)

        def enough(text: str) -> None:
            stop.asked = True

        part = found.curve(stop, enough)
        assert part.games < 8
        assert not found.whole
        assert found.curve() == part  # the scale stands
        assert list(found.games) == list(found.games)[: len(found.games)]
    with open_matchup("chess", SMALL, workers=2, store=tmp_path / "two.sqlite") as matchup:
        assert calibrator(matchup).curve() == one
    with open_matchup("chess", SMALL, workers=1, store=tmp_path / "two.sqlite") as matchup:
        assert calibrator(matchup).curve() == one
        assert matchup.searches() == 0
    more = (*SMALL, "white.randomness=5")
    with open_matchup("chess", more, workers=1, store=tmp_path / "two.sqlite") as matchup:
        other = calibrator(matchup)
        assert other.topic != found.topic  # other players, other games


def test_the_promise_is_a_result_and_carries_the_error_of_the_curve(store: Path) -> None:
    with open_matchup("chess", SMALL, workers=2, store=store) as matchup:
        prepared = prepare(matchup, 1, 0.03)
        curve = calibrator(matchup).curve()
        root = matchup.judge.value.values([matchup.game.root()])[0].mean  # type: ignore[union-attr]
    best = prepared.response
    assert prepared.curve == curve
    assert best.baseline == pytest.approx(root)
    assert 0.0 < root < 1.0
    assert best.error >= curve_error(curve, prepared.tree, 1, best.nodes) > 0.0


def test_calibrate_tells_the_curve_and_draws_it(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [part for change in SMALL if "games" not in change for part in ("--set", change)]
    words = ("calibrate", "chess", *sets, "--games", "6", "--store", str(store))
    data = run_json(capsys, *words, "--plot", str(tmp_path / "r.svg"))
    curve = data["calibration"]
    assert (curve["games"], data["wanted"], data["ending"]) == (6, 6, "complete")
    assert curve["intercept_error"] > 0.0 < curve["slope_error"]
    assert sum(part["positions"] for part in data["reliability"]) == curve["positions"]
    assert "<svg" in (tmp_path / "r.svg").read_text()
    assert run_json(capsys, *words) == data


def test_people_have_a_curve_by_their_ratings(store: Path) -> None:
    sets = ("prep.nodes=200", "value.model=logistic")
    with open_matchup("chess", sets, workers=1, store=store) as matchup:
        root = matchup.game.root()
        (level,) = matchup.value.values([root])
        assert matchup.scores == "model"
    rated = (*sets, "white.rating=2400", "black.rating=2000")
    with open_matchup("chess", rated, workers=1, store=store) as matchup:
        (value,) = matchup.value.values([root])
    odds = value.mean / (1.0 - value.mean) / (level.mean / (1.0 - level.mean))
    assert odds == pytest.approx(10.0)  # 400 points
    for wrong, told in (
        (("white.rating=2400",), "white.rating = 2400 alone; expected white.rating and black"),
        (
            ("white.rating=1", "value.model=linear"),
            'expected "logistic"',
        ),
    ):
        with (
            pytest.raises(InputError, match=told),
            open_matchup("chess", (*sets, *wrong), workers=1, store=store),
        ):
            pass


def test_notes_of_an_older_store(tmp_path: Path) -> None:
    """A store from before there were notes gets its table; what it holds stays."""
    import sqlite3

    from preplay.chess.engines.store import AnalysisStore

    path = tmp_path / "s.sqlite"
    AnalysisStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE note")
    with AnalysisStore(path) as store:
        assert store.notes("games") == {}
        store.note("games", "1", json.dumps([1]))
        store.note("other", "1", "x")
        store.note("games", "1", json.dumps([2]))
        assert store.notes("games") == {"1": "[2]"}
