"""A setting that has no effect is refused: a sweep over it would tell of an effect that is none."""

from __future__ import annotations

import pytest

from preplay.errors import InputError
from preplay.matchup import open_matchup
from preplay.matchup.chess import AtBoard
from preplay.matchup.chess_values import ChessValue
from preplay.matchup.plain import OpenSpiel, PlainValue, Play
from preplay.matchup.settings import override, validate


@pytest.mark.parametrize(
    ("spec", "changes", "message"),
    [
        ("tic-tac-toe", ["base.randomness=2"], "randomness = 2.0 has no effect here"),
        ("tic-tac-toe", ["prep.simulations=7"], "simulations = 7 has no effect here"),
        ("tic-tac-toe", ["prep.seed=1"], "seed = 1 has no effect here"),
        ("breakthrough", ["base.depth=3"], "depth = 3 has no effect here"),
        ("tic-tac-toe", ["value.epsilon=0.1"], "epsilon = 0.1 has no effect here"),
        ("breakthrough", ["value.samples=10"], "samples = 10 has no effect here"),
    ],
)
def test_what_has_no_effect_is_refused(spec: str, changes: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message), open_matchup(spec, changes):
        pass


def test_chess_settings_without_effect() -> None:
    with pytest.raises(InputError, match=r"randomness = 10\.0 has no effect here"):
        validate(AtBoard, {"multipv": 1, "randomness": 10.0}, "white")
    with pytest.raises(InputError, match="samples = 5 has no effect here"):
        validate(ChessValue, {"model": "wdl", "samples": 5}, "value")
    with pytest.raises(InputError, match=r"epsilon = 0\.3 has no effect here"):
        validate(ChessValue, {"model": "rollouts", "samples": 5, "epsilon": 0.3}, "value")
    validate(ChessValue, {"model": "rollouts", "epsilon": 0.3}, "value")


def test_what_is_as_ever_may_stand_there() -> None:
    """Runs keep every key."""
    config = {"kind": "openspiel", "game": "tic_tac_toe"}
    whole = validate(OpenSpiel, config, "matchup").model_dump()
    assert validate(OpenSpiel, whole, "matchup").model_dump() == whole
    assert validate(Play, {"policy": "search", "rollouts": 3, "seed": 1}, "base").seed == 1
    assert validate(PlainValue, {"model": "rollouts", "samples": 3}, "value").samples == 3


def test_another_kind_leaves_the_old_ones_keys_behind() -> None:
    config = {"prep": {"policy": "search", "depth": 9, "randomness": 0.5}}
    assert override(config, ["prep.policy=mcts"]) == {"prep": {"policy": "mcts", "randomness": 0.5}}
    assert override(config, ["prep.policy=uniform"]) == {"prep": {"policy": "uniform"}}
    changed = override({"value": {"model": "adaptive", "epsilon": 0.1}}, ["value.model=exact"])
    assert changed == {"value": {"model": "exact"}}
    again = override(config, ["prep.policy=mcts", "prep.depth=3"])  # said after it: a mistake
    assert again["prep"]["depth"] == 3
