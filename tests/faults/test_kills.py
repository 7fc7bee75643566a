"""Killed at random moments and begun again: the same bytes in the end, nothing left running.

A few kills of one command here; `make faults` kills all of them a hundred times.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

KILLS = int(os.environ.get("PREPLAY_KILLS", "0"))
"""How many kills in all; 0: a few."""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SMALL = [
    *("--set", "white.nodes=300", "--set", "black.nodes=300", "--set", "prep.nodes=600"),
    *("--set", "value.model=linear", "--set", "judge.nodes=3000"),
]
PREPARE = [
    "prepare",
    "chess",
    "--side",
    "white",
    "--cost",
    "0.01",
    "--set",
    "black.randomness=20",
    *SMALL,
]
CHOOSE = [*PREPARE, "--choose", "2", "--margin", "60", "--deviations", "1"]
EQUILIBRIUM = [
    *("equilibrium", "chess", "--cost", "0.02", "--gap", "1e-3"),
    *("--set", "white.randomness=20", "--set", "black.randomness=20", *SMALL, "--set", "judge=false"),
]
HARDEN = [
    *("harden", "chess", "--side", "black", "--cost", "0.03", "--gap", "1e-2"),
    *("--choose", "2", "--margin", "60", "--deviations", "1"),
    *("--set", "white.randomness=20", "--set", "black.randomness=20", *SMALL),
]
FRONTIER = [
    *("frontier", "chess", "--side", "white", "--cost", "0.01"),
    *("--set", "black.randomness=20", *SMALL),
]
SWEEP = [
    *("sweep", "chess", "--side", "white", "--cost", "0.01", *SMALL, "--workers", "2"),
    *("--key", "black.randomness", "--values", "5,20,80"),
]
LONG = {
    "prepare": PREPARE,
    "choice": CHOOSE,
    "equilibrium": EQUILIBRIUM,
    "harden": HARDEN,
    "frontier": FRONTIER,
    "sweep": SWEEP,
}
"""All but matches, which need a run."""
SHARE = max(4, math.ceil(KILLS / (len(LONG) + 1)))
"""Kills of each."""
MOMENTARY = ("seconds", "trace", "created")
"""What depends on how fast it went."""


def _kept(checkpoint: Path) -> dict[str, bytes]:
    """The arrays of a checkpoint, without the seconds that an equilibrium's solver has taken so far."""
    with np.load(checkpoint, allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    for name in {"solver", "trace"} & found.keys():
        found[name] = np.delete(found[name], 1, axis=-1)
    return {name: array.tobytes() for name, array in found.items()}


@dataclass
class Work:
    """A command in a directory of its own, with a store of its own."""

    folder: Path
    words: list[str]
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    """In the environment of all its processes."""

    def start(self) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "preplay", *self.words, "--save", str(self.folder / "run")]
        return subprocess.Popen(
            [*program, "--store", str(self.folder / "store"), "--quiet"],
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "stderr").open("ab"),
            env=os.environ | {"PREPLAY_MARK": self.mark},
            start_new_session=True,
        )

    def finish(self) -> float:
        """Run to the end; how long it took."""
        began = time.monotonic()
        assert self.start().wait(300) == 0, (self.folder / "stderr").read_text()
        return time.monotonic() - began

    def left(self) -> list[int]:
        """Processes of this work that still run."""
        return [process for process in _processes() if _carries(process, self.mark)]

    def result(self) -> dict[str, Any]:
        """Everything that must be the same, by file."""
        found: dict[str, Any] = {}
        for path in sorted((self.folder / "run").iterdir()):
            if path.name == "checkpoint.npz":
                found[path.name] = _kept(path)
            elif path.name.startswith("book") or path.suffix in (".npz", ".csv"):
                found[path.name] = path.read_bytes()
            elif path.name == "result.json":
                data = json.loads(path.read_text())
                found[path.name] = {k: v for k, v in data.items() if k not in MOMENTARY}
            elif path.name == "games.jsonl":
                found[path.name] = sorted(path.read_text().splitlines())
        return found


def _processes() -> Iterator[int]:
    return (int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit())


def _carries(process: int, mark: str) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z" and mark.encode() in Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return False


def campaign(words: list[str], kills: int, folder: Path, seed: int) -> None:
    """Kill and begin again; in the end the result of a run that nobody disturbed."""
    plain, killed = Work(folder / "plain", words), Work(folder / "killed", words)
    for work in (plain, killed):
        work.folder.mkdir()
    seconds = plain.finish()
    expected = plain.result()
    assert expected
    rng = random.Random(seed)
    done = 0
    while done < kills:
        process = killed.start()
        time.sleep(rng.uniform(0.0, seconds))
        if process.poll() is None:
            os.kill(process.pid, rng.choice(SIGNALS))
            done += 1
        process.wait(60)
        if process.returncode == 0:  # it was done before
            assert killed.result() == expected
            _forget(killed)
        deadline = time.monotonic() + 10
        while killed.left():
            assert time.monotonic() < deadline, killed.left()
            time.sleep(0.05)
    killed.finish()
    assert killed.result() == expected
    errors = (killed.folder / "stderr").read_text()
    assert "Traceback" not in errors


def _forget(work: Work) -> None:
    """Begin from nothing: a finished run has nothing to lose."""
    for path in (work.folder / "run").iterdir():
        path.unlink()
    for path in work.folder.glob("store*"):
        path.unlink()


@pytest.mark.timeout(600)
def test_a_few_kills(tmp_path: Path) -> None:
    campaign(PREPARE, 3, tmp_path, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", LONG)
def test_many_kills(name: str, tmp_path: Path) -> None:
    campaign(LONG[name], SHARE, tmp_path, seed=2)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_kills_of_a_match(tmp_path: Path) -> None:
    made = Work(tmp_path / "made", PREPARE)
    made.folder.mkdir()
    made.finish()
    words = ["match", str(made.folder / "run"), "--games", "12", "--adjudication", "rules", "--seed", "3"]
    campaign(words, SHARE, tmp_path, seed=3)
