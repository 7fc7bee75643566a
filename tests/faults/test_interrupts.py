"""Ctrl-C at any moment: one line at most, never a traceback, and the command ends.

The command `preplay` holds it back until it can answer. `python -m preplay` cannot: before its first step
Python itself is starting, which takes hundredths of a second, on a busy machine more.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).with_name("preplay")
WAYS = {
    "script": [str(SCRIPT), "prepare", "chess", "--side", "white", "--cost", "0.001", "--quiet"],
    "module": [sys.executable, "-m", "preplay", "equilibrium", "synthetic", "--gap", "0", "--quiet"],
    "help": [str(SCRIPT), "--help"],
}
FEW = (0.05, 0.15, 0.3, 0.6)
MANY = tuple(k / 100 for k in range(1, 61))
launcher = pytest.mark.skipif(
    not SCRIPT.with_name("preplay-main").exists(), reason="no launcher installed: run `make setup`"
)


def interrupted(way: str, moment: float, store: Path) -> str:
    """What is wrong with how the command ends when it is interrupted then; empty if nothing is."""
    process = subprocess.Popen(
        WAYS[way],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PREPLAY_STORE": str(store)},
    )
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"did not end: {process.communicate()[1].decode()}"
    text = said.decode()
    if "Traceback" in text or "Exception ignored" in text:
        ours = any("preplay" in line and line.endswith(", in main") for line in text.splitlines())
        return "" if way == "module" and not ours else text  # Python was starting
    ends = (130, -signal.SIGINT, 0) if way == "help" else (130, -signal.SIGINT)
    if process.returncode in ends and len(text.splitlines()) <= 1:
        return ""
    return f"exit code {process.returncode}: {text}"


def _holds(way: str, moments: tuple[float, ...], folder: Path) -> None:
    for moment in moments:
        wrong = interrupted(way, moment, folder / "store")
        assert not wrong, f"after {moment} s: {wrong}"


@launcher
def test_the_first_moments(tmp_path: Path) -> None:
    """While Python starts."""
    _holds("script", tuple(k / 1000 for k in range(0, 40, 2)), tmp_path)


@launcher
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_first_tenth_of_a_second(tmp_path: Path) -> None:
    rng = random.Random(5)
    _holds("script", tuple(rng.uniform(0.0, 0.1) for _ in range(500)), tmp_path)


@launcher
@pytest.mark.parametrize("moment", [0.0, 0.02, 0.1, 0.5])
def test_an_interrupt_that_is_ignored_stays_so(moment: float) -> None:
    """As `nohup` and `&` in a script ask for."""
    process = subprocess.Popen(
        [str(SCRIPT), "prepare", "synthetic", "--side", "1", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509
    )
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said.decode()
    assert b"Best book" in out


@pytest.mark.parametrize("way", WAYS)
def test_a_few_early_interrupts(way: str, tmp_path: Path) -> None:
    _holds(way, FEW, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("way", WAYS)
def test_early_interrupts(way: str, tmp_path: Path) -> None:
    _holds(way, MANY, tmp_path)
