"""Ctrl-C at any moment from the first step of `main` on: one line at most, and never a traceback.

Before that Python itself is starting, which takes hundredths of a second, on a busy machine more.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = str(Path(sys.executable).with_name("preplay"))
WAYS = {
    "script": [SCRIPT, "prepare", "chess", "--side", "white", "--cost", "0.001", "--quiet"],
    "module": [sys.executable, "-m", "preplay", "equilibrium", "synthetic", "--gap", "0", "--quiet"],
    "help": [SCRIPT, "--help"],
}
FEW = (0.05, 0.15, 0.3, 0.6)
MANY = tuple(k / 100 for k in range(1, 61))


def interrupted(words: list[str], moment: float, store: Path) -> str:
    """What is wrong with how the command ends when it is interrupted then; empty if nothing is."""
    quiet = subprocess.PIPE
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet, env={"PREPLAY_STORE": str(store)})
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"did not end: {process.communicate()[1].decode()}"
    text = said.decode()
    if "Traceback" in text or "Exception ignored" in text:
        return text if ", in main\n" in text else ""  # else Python was still starting
    lines = text.splitlines()
    return "" if len(lines) <= 1 and process.returncode in (0, 130, -signal.SIGINT) else text


def _holds(way: str, moments: tuple[float, ...], folder: Path) -> None:
    for moment in moments:
        wrong = interrupted(WAYS[way], moment, folder / "store")
        assert not wrong, f"after {moment} s: {wrong}"


@pytest.mark.parametrize("way", WAYS)
def test_a_few_early_interrupts(way: str, tmp_path: Path) -> None:
    _holds(way, FEW, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("way", WAYS)
def test_early_interrupts(way: str, tmp_path: Path) -> None:
    _holds(way, MANY, tmp_path)
