"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from preplay.chess.engines.discovery import find_engine
from preplay.errors import EngineError

# On a machine that is busy with other work a test takes longer and means the same.
settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("patient")


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
