"""A run's matchup is opened again as it was, or with changes; or the reason why not is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import preplay
from preplay.errors import InputError
from preplay.runs import open_run
from preplay.runs.reopening import reopened, settings_to_open

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_run_is_opened_as_it_was_or_with_changes(tmp_path: Path) -> None:
    with preplay.open_matchup("synthetic", ["length=4", "seed=3"]) as matchup:
        then = matchup.config
        preplay.prepare(matchup, 1, 0.01, save=tmp_path)
    run = open_run(tmp_path)
    with reopened(run) as again:
        assert (again.config, again.name) == (then, "synthetic")
    with reopened(run, ["seed=4"]) as other:
        assert dict(other.config) == dict(then) | {"seed": 4}


def test_what_was_found_opens_nothing(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    file.write_text((EXAMPLES / "game.json").read_text())
    with preplay.open_matchup(file) as matchup:
        preplay.prepare(matchup, 1, 0.01, save=tmp_path / "run")
    run = open_run(tmp_path / "run")
    assert "sha256" in run.matchup
    with pytest.raises(InputError, match="records no file of its tabular game"):
        settings_to_open(run)
    here = [f"file={file}"]
    assert settings_to_open(run, here) == {"kind": "tabular", "file": str(file)}
    with reopened(run, here) as matchup:
        assert matchup.config["sha256"] == run.matchup["sha256"]
    file.write_text(file.read_text() + "\n")
    with pytest.raises(InputError, match="has changed since it was made"), reopened(run, here):
        pass
