"""Asking ahead: engines without work look at what may come, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from preplay.chess.engines.analysis import (
    Analysis,
    EngineSpec,
    Limit,
    Line,
    SearchRequest,
    search_position,
)
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.pool import EnginePool
from preplay.chess.engines.speculation import Speculation
from preplay.chess.players.play import EnginePolicy, EngineValue, Search
from preplay.chess.rules import ChessGame
from preplay.growth import Limits, Pays, grow
from preplay.matchup import open_matchup
from preplay.preparation import prepare

SPEC = EngineSpec.of("engine")
WHITE, BLACK = Limit(nodes=300), Limit(nodes=100)


def asked(limit: Limit, *moves: str) -> SearchRequest:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
        if board.halfmove_clock == 0:
            board.clear_stack()
    return SearchRequest(SPEC, search_position(board), limit, 2)


def answer(pv: str) -> Analysis:
    move = pv.split(maxsplit=1)[0]
    return Analysis((Line(move, 10, 5, None, pv),), move, 300)


def test_the_expected_line_is_asked_about_as_its_positions_are() -> None:
    speculation = Speculation()
    speculation.heard(asked(BLACK, "e2e4"), answer("e7e5 g1f3"))
    speculation.heard(asked(WHITE), answer("e2e4 e7e5 g1f3 e1e2"))  # the last move is not legal
    assert list(speculation.guesses()) == [
        asked(BLACK, "e2e4"),
        asked(WHITE, "e2e4", "e7e5"),
        asked(BLACK, "e2e4", "e7e5", "g1f3"),
        asked(WHITE, "e2e4", "e7e5"),
        asked(BLACK, "e2e4", "e7e5", "g1f3"),
    ]
    assert not list(speculation.guesses())  # nothing is thought through twice


def test_searches_by_the_clock_are_left_alone() -> None:
    speculation = Speculation()
    speculation.heard(asked(Limit(milliseconds=10)), answer("e2e4 e7e5"))
    assert not list(speculation.guesses())


@pytest.mark.usefixtures("stockfish")
def test_a_line_is_the_same_and_counted(stockfish: str) -> None:
    """Against an opponent who always plays their best move the tree is a line: engines would be idle."""

    def run(speculation: Speculation | None, workers: int) -> tuple[Any, Any]:
        with EnginePool(workers) as pool:
            analyst = Analyst(pool, speculation=speculation)
            engine = EngineSpec.of(stockfish)
            prep = EnginePolicy(analyst, Search(engine, Limit(nodes=2000), 2))
            base = EnginePolicy(analyst, Search(engine, Limit(nodes=1000), 2))
            value = EngineValue(analyst, prep.search, "linear")
            goal, limits = Pays(0.01), Limits(window=16)
            return grow(ChessGame(length=16), 1, (base, base), prep, value, goal, limits), analyst.stats()

    plain, before = run(None, 1)
    for workers in (2, 3):
        ahead, after = run(Speculation(), workers)
        assert ahead.tree.names == plain.tree.names
        assert np.array_equal(ahead.tree.value, plain.tree.value, equal_nan=True)
        assert (ahead.histories, ahead.questions) == (plain.histories, plain.questions)
        assert after.asked_ahead >= after.used
        assert after.searches == before.searches  # what was guessed in vain does not count
    assert after.used > 0
    assert (before.asked_ahead, before.used) == (0, 0)


@pytest.mark.usefixtures("stockfish")
def test_prepare_asks_ahead(tmp_path: Path) -> None:
    small = (
        "white.nodes=500",
        "black.nodes=500",
        "prep.nodes=1000",
        "judge=false",
        "length=12",
        "value.model=linear",
    )
    with open_matchup("chess", small, workers=2, store=tmp_path / "s.sqlite") as matchup:
        prepare(matchup, 1, 0.01)
        assert matchup.telling is not None
        assert "asked ahead" in matchup.telling()
