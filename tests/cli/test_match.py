"""preplay match: the matchup of a run is opened again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from commandline import preplay as command

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_run_of_a_game_that_tells_its_identity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the game tells beside its settings (goal, turns, courage) is no setting of a matchup file."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    race = EXAMPLES / "dice_race.toml"
    words = (
        "prepare",
        race,
        "--side",
        1,
        "--set",
        "settings.goal=4",
        "--save",
        tmp_path / "run",
        "--json",
    )
    code, out, err = command(capsys, *words)
    assert (code, err) == (0, "")
    promised = json.loads(out)["value"]
    there = ("match", tmp_path / "run", "--games", 4, "--json")
    code, out, err = command(capsys, *there, "--set", f"path={EXAMPLES}")
    assert (code, err) == (0, "")
    assert json.loads(out)["promised"] == pytest.approx(promised)
    monkeypatch.chdir(EXAMPLES)
    assert command(capsys, *there)[1] == out


def test_a_module_that_is_not_found_says_how_to_look_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = command(capsys, "match", "no_such_module:build", "--games", 4)
    assert code == 1
    assert "no module named 'no_such_module'; looked in" in err
    assert err.rstrip().endswith("(`path` names another folder)")
