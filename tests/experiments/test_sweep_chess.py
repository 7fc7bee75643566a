"""Sweeps of chess: engines and files that are others than before, and processes that nobody needs."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay

import preplay as front
from preplay import runs
from preplay.chess.engines.discovery import find_engine

pytestmark = pytest.mark.usefixtures("stockfish")

FAKE = Path(__file__).parents[1] / "support" / "fake_engine.py"
PLAIN = ("--set", "value.model=linear", "--set", "judge=false")
SMALL = ("--set", "white.nodes=100", "--set", "black.nodes=100", "--set", "prep.nodes=200", *PLAIN)
GAME = '[White "A"]\n[Black "Rival"]\n[Result "*"]\n\n1. e4 {} *\n\n'


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREPLAY_STORE", str(tmp_path / "store.sqlite"))


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code, out, err = preplay(capsys, *words)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    return err


def test_more_games_make_it_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(GAME.format("c5"))
    words = ("sweep", "chess", *SMALL, "--set", f"black.games.file={games}", "--side", "white",
             "--key", "cost", "--values", "0.3", "--workers", 1, "--save", tmp_path / "run")  # fmt: skip
    code, first, err = preplay(capsys, *words, "--json")
    assert (code, err) == (0, "")
    assert preplay(capsys, *words, "--json") == (0, first, "")
    assert runs.open_run(tmp_path / "run").versions["engine 1"].startswith("Stockfish")
    games.write_text(GAME.format("c5") + GAME.format("e5"))
    assert "belongs to another run (matchup.black.games.digest was" in refused(capsys, *words)


def test_a_figure_needs_its_engine_to_be_taken_up_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("figure1", *SMALL, "--side", "white", "--randomness", "0,5", "--cost", "0.2",
             "--workers", 1, "--save", tmp_path / "run")  # fmt: skip
    code, out, err = preplay(capsys, *words)
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()[2:4]] == [["white", "0.0"], ["white", "5.0"]]
    made = {path.name for path in (tmp_path / "run").iterdir()}
    assert made == {
        "run.json", "points.jsonl", "points.csv", "result.json", "figure1.svg", "figure1.png"
    }  # fmt: skip
    assert preplay(capsys, *words) == (0, out, "")
    other = script(tmp_path, "other", "simple")
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", str(other))
    assert "belongs to another run (matchup.engines was" in refused(capsys, *words)
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nonexistent")
    assert "STOCKFISH_EXECUTABLE is '/nonexistent'" in refused(capsys, *words)


def test_lists_are_values_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sweep", "chess", *SMALL, "--side", "white", "--key", "start.moves", "--cost", "0.5",
             "--values", '["e4","e5"],["d4","d5"]', "--workers", 1)  # fmt: skip
    code, out, _ = preplay(capsys, *words, "--json")
    assert code == 0
    rows: list[dict[str, Any]] = json.loads(out)["points"]
    assert [row["start.moves"] for row in rows] == [["e4", "e5"], ["d4", "d5"]]


def test_a_side_is_a_colour_in_results_and_tables() -> None:
    changes = list(SMALL[1::2])
    with front.open_matchup("chess", changes) as matchup:
        result = front.prepare(matchup, "black", 0.003, histories=60)
    assert (result.side, result.size > 0) == ("black", True)
    assert set(result.to_pandas()["side"]) == {"black"}
    swept = front.sweep("chess", "cost", [0.3], side=2, changes=changes, workers=1)
    assert [row["side"] for row in runs.as_data(swept)["points"]] == ["black"]
    assert swept.to_pandas()["side"].tolist() == ["black"]


def script(folder: Path, name: str, fault: str) -> Path:
    """A program that starts the fake engine."""
    path = folder / name
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {FAKE} {fault}\n")
    path.chmod(0o755)
    return path


SWEEP, FIGURE = ("sweep", "chess", *PLAIN, "--key", "cost", "--values", "0.1,0.2"), ("figure1",)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("words", "number", "engine"),
    [
        pytest.param(SWEEP, signal.SIGKILL, "stockfish", marks=pytest.mark.slow),
        (SWEEP, signal.SIGKILL, "deaf"),
        (FIGURE, signal.SIGKILL, "stockfish"),
        (SWEEP, signal.SIGINT, "stockfish"),
        pytest.param(SWEEP, signal.SIGINT, "deaf", marks=pytest.mark.slow),
        (SWEEP, signal.SIGTERM, "stockfish"),
    ],
)
def test_nothing_is_left_of_a_command_that_ends_early(
    words: tuple[str, ...], number: int, engine: str, tmp_path: Path
) -> None:
    """Engines that are searching end too, even one that does not notice when its input is closed."""
    program = find_engine() if engine == "stockfish" else str(script(tmp_path, "engine", engine))
    long = (f"{key}.nodes=2000000000" for key in ("white", "black", "prep"))
    command = subprocess.Popen(
        [sys.executable, "-c", "from preplay.cli import main; main()", *words, "--side", "white",
         "--workers", "2", *(word for change in long for word in ("--set", change))],
        env=os.environ | {"STOCKFISH_EXECUTABLE": program},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip
    started: set[int] = set()
    try:
        assert within(200, lambda: len(engines(command.pid)) >= 2)
        time.sleep(1.0)  # they begin to search
        started = offspring(command.pid)
        assert len(started) >= 4  # two workers and two engines
        if number == signal.SIGINT:  # as a terminal does
            os.killpg(command.pid, number)
        else:
            command.send_signal(number)
        out, err = command.communicate(timeout=30)
        if number != signal.SIGKILL:
            assert command.returncode == 130
            assert err == ""
            assert out.startswith("side")
        assert within(15 if number == signal.SIGKILL else 2, lambda: not any(map(alive, started)))
    finally:
        for pid in {command.pid, *started}:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        command.wait()


def within(seconds: float, true: Any) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.1)
    return bool(true())


def stat(pid: int) -> tuple[str, int]:
    """The state of a process and its parent; one that is gone is in state X."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
        return state, int(parent)
    except OSError:
        return "X", 0


def alive(pid: int) -> bool:
    return stat(pid)[0] not in "XZ"


def offspring(pid: int) -> set[int]:
    """All that a process has started, and what that has started in turn."""
    parents = {int(p.name): stat(int(p.name))[1] for p in Path("/proc").iterdir() if p.name.isdigit()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def engines(pid: int) -> list[int]:
    """The engines of a command's workers."""
    return [each for each in offspring(pid) if stat(stat(each)[1])[1] == pid]


def test_figure1_values_some_of_its_books_afresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice is that of the paper, whether or not somebody looks again at what it is worth."""
    monkeypatch.setenv("PREPLAY_STORE", str(tmp_path / "s.sqlite"))
    words = ("figure1", *SMALL, "--side", "white", "--randomness", "0,5,50", "--cost", "0.1")
    tables = []
    for number in ("0", "2"):
        path = tmp_path / f"{number}.csv"
        assert preplay(capsys, *words, "--fresh", number, "--csv", path)[0] == 0
        tables.append(list(csv.DictReader(path.read_text().splitlines())))
    plain, fresh = tables
    assert [row.pop("fresh") != "" for row in fresh] == [True, False, True]
    assert fresh == plain
    told = preplay(capsys, *words, "--fresh", "2", "--save", tmp_path / "run")[1].splitlines()
    assert told[0].split() == ["side", "randomness", "value", "size", "fresh"]
    assert [line.split()[-1] == "-" for line in told[2:5]] == [False, True, False]
    kept = json.loads((tmp_path / "run" / "result.json").read_text())
    (row, _, _), found = kept["points"], runs.load_run(tmp_path / "run")
    assert runs.as_data(found)["points"][0] == row
    assert 0.0 < row["fresh"] < 1.0


def test_a_figure_that_was_cut_short_shows_its_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("figure1", *SMALL, "--side", "white", "--randomness", "5", "--cost", "0.01", "--workers", 1)
    whole, part = tmp_path / "whole.csv", tmp_path / "part.csv"
    assert preplay(capsys, *words, "--histories", 200, "--csv", whole)[0] == 0
    picture = tmp_path / "part.svg"
    code, out, _ = preplay(capsys, *words, "--histories", 20, "--csv", part, "--plot", picture)
    assert code == 0
    assert "cut short" in out
    assert "the best book lies between" in picture.read_text()
    (long,), (short,) = (csv.DictReader(path.read_text().splitlines()) for path in (whole, part))
    assert short["ending"] == "histories"
    assert float(short["net"]) <= float(long["net"]) <= float(short["upper"])
