"""What is told of a fitted opponent: the keys of the command, and the same in the file of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.pool import EnginePool
from preplay.chess.players.foresight import Foresight
from preplay.chess.players.opponent import Asking, Fit, fit_opponent
from preplay.chess.players.opponents import load_opponent
from preplay.runs import as_data
from preplay.runs.opponents import opponent_result

GAMES = Path(__file__).parents[2] / "examples" / "rival.pgn"


def fitted() -> Fit:
    """A model of habits alone: no engine is asked."""
    with EnginePool(1) as pool:
        return fit_opponent(Analyst(pool), [GAMES], ["Rival"], 2, Asking(sample=0))


def test_without_moves_to_hold_it_against_nothing_is_told_of_how_well_it_foresees(tmp_path: Path) -> None:
    found = opponent_result(fitted())
    data = as_data(found)
    assert (found.side, found.logloss, found.moves, found.baselines) == ("black", None, 0, {})
    assert "levels" not in data
    assert "reliability" not in data
    assert list(data)[-6:] == ["logloss", "error", "top1", "below", "baselines", "moves"]
    assert data["split"]["since"] is None
    assert data["warnings"][-1].startswith("the games have no dates")
    found.save(tmp_path / "rival.json")
    again, _ = load_opponent(tmp_path / "rival.json")
    assert again.report == data
    assert (again.names, again.title) == (("Rival",), found.opponent.title)


def test_how_well_it_foresees_stands_beside_simpler_models() -> None:
    level = Foresight(1.5, 0.1, 0.5, 0.0, ((0.2, 0.25, 8),))
    simple = replace(level, logloss=2.5, reliability=None)
    fit = replace(fitted(), foresight=level, simpler={"engine mix": simple}, held=8)
    data = as_data(opponent_result(fit))
    assert list(data)[-8:] == [
        *("logloss", "error", "top1", "below", "reliability", "baselines", "levels", "moves")
    ]
    assert (data["logloss"], data["reliability"], data["moves"]) == (1.5, [[0.2, 0.25, 8]], 8)
    assert data["baselines"] == {"engine mix": 2.5}
    assert data["levels"]["engine mix"]["reliability"] is None
