"""What all tests share."""

from __future__ import annotations

import pytest

from preplay.chess.engines.discovery import find_engine
from preplay.errors import EngineError


@pytest.fixture(scope="session")
def stockfish() -> str:
    """Where Stockfish is, found as preplay finds it; without one, whoever needs it is skipped."""
    try:
        return find_engine()
    except EngineError:
        pytest.skip("no Stockfish on this machine")
