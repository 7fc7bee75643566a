"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from preplay.chess.engines.discovery import find_engine
from preplay.errors import EngineError

# On a machine that is busy with other work a test takes longer and means the same.
settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("patient")

TOGETHER = (
    "tests/report/test_page_",
    "tests/chess/engines/test_cluster.py",
    "tests/chess/players/test_play_truth.py",
    "tests/chess/test_calibration.py",
    "tests/chess/test_clock.py",
    "tests/cli/test_cli_chess.py",
    "tests/cli/test_cli_choose_chess.py",
    "tests/cli/test_harden.py",
    "tests/preparation/test_preparing_chess.py",
)
"""Tests whose shared fixtures take seconds: one worker runs them all, and makes the fixtures once."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests one by one to whoever is free, but for those that stay together."""
    # Not by `--dist loadgroup`: with pytest 9.2 and xdist 3.8 it leaves the groups apart without a word.
    scheduler: Any = import_module("xdist.scheduler").LoadScopeScheduling(config, log)
    scheduler._split_scope = lambda test: next((part for part in TOGETHER if test.startswith(part)), test)
    return scheduler


@pytest.fixture(scope="session")
def stockfish() -> str:
    """Where Stockfish is, found as preplay finds it; without one, whoever needs it is skipped."""
    try:
        return find_engine()
    except EngineError:
        pytest.skip("no Stockfish on this machine")


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> Iterator[None]:
    """Ctrl-C means something to the commands under test, also where a shell runs the tests behind it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
