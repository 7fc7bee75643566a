"""The engine modelled is the engine met: real Stockfish, asked by hand as any GUI asks it in a game."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest
from asgui import AsGui
from dialogue import Talk

from preplay.chess.engines.infolines import read_analysis
from preplay.chess.players.play import move_distribution
from preplay.chess.rules import ChessState
from preplay.game import Distribution, walk
from preplay.growth import Limits
from preplay.matchup import Matchup, open_matchup
from preplay.preparation import prepare

pytestmark = pytest.mark.usefixtures("stockfish")
NODES, R = 1000, 30.0
PLAIN = ("prep.nodes=1000", "value.model=linear", "judge=false")
SMALL = (f"white.nodes={NODES}", f"black.nodes={NODES}", f"black.randomness={R}", *PLAIN)


def distance(one: Distribution, two: Distribution) -> float:
    """Total variation."""
    return sum(abs(one.get(a, 0.0) - two.get(a, 0.0)) for a in {**one, **two}) / 2


@pytest.fixture(scope="module")
def matchup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matchup[Any]]:
    store = tmp_path_factory.mktemp("truth") / "s.sqlite"
    with open_matchup("chess", SMALL, store=store) as opened:
        yield opened


@pytest.fixture(scope="module")
def met(matchup: Matchup[Any]) -> list[ChessState]:
    """Positions in which the opponent of a growing book has to move, with a clock above 0."""
    tree = prepare(matchup, 1, 1e-5, limits=Limits(histories=700)).tree
    states = [walk(matchup.game, tree.history(k)) for k in range(tree.size) if tree.player[k] == 2]
    clocked = [state for state in states if state.board.halfmove_clock > 0]
    assert len(clocked) >= 100
    return clocked[:100]


def test_the_modelled_distribution_is_the_one_met_in_a_game(
    matchup: Matchup[Any], met: list[ChessState], stockfish: str
) -> None:
    modelled = matchup.base[1].distributions(met)
    with AsGui(stockfish, NODES, 2) as gui:
        for state, distribution in zip(met, modelled, strict=True):
            assert distance(distribution, gui.mixture(state.moves, R)) == pytest.approx(0.0, abs=1e-12)


def test_the_outside_referee_draws_from_the_same_distribution(
    matchup: Matchup[Any], met: list[ChessState], stockfish: str
) -> None:
    """bench/outside.py, which knows nothing of preplay, has the opponent that was modelled."""
    outside = runpy.run_path(str(Path(__file__).parents[3] / "bench" / "outside.py"))
    player = {"nodes": NODES, "multipv": 2, "randomness": R}
    with chess.engine.SimpleEngine.popen_uci(stockfish) as engine:
        engine.configure({"Threads": 1, "Hash": 2})
        for state, modelled in zip(met[:40], matchup.base[1].distributions(met[:40]), strict=True):
            board = chess.Board()
            for move in state.moves:
                board.push_uci(move)
            drawn = {move.uci(): p for move, p in outside["mixture"](engine, board, player).items()}
            assert distance(drawn, modelled) == pytest.approx(0.0, abs=1e-12)


def test_a_false_clock_would_be_noticed(met: list[ChessState], stockfish: str) -> None:
    """The test above can fail: with a clock of 0 Stockfish plays otherwise."""
    wrong = 0.0
    with AsGui(stockfish, NODES, 2) as gui:
        for state in met[:20]:
            told = gui.mixture(state.moves, R)
            start = " ".join([*state.board.fen().split()[:4], "0", "1"])
            wrong += distance(told, gui.mixture((), R, f"fen {start}"))
    assert wrong > 0.1


def test_the_base_of_the_uci_engine_plays_as_modelled(
    matchup: Matchup[Any], met: list[ChessState], stockfish: str
) -> None:
    """With `Base Fresh Hash`: White's base always plays its best move, Black's is the softmax of two."""
    own = [walk(matchup.game, state.moves[:-1]) for state in met[:25]]
    best = matchup.base[0].distributions(own)
    with Talk(None, stockfish, nodes=NODES, fresh=True) as talk:
        for state, distribution in zip(own, best, strict=True):
            talk.send(f"position startpos moves {' '.join(state.moves)}")
            assert {talk.best("go wtime 1000 btime 1000"): 1.0} == distribution
        talk.send("setoption name MultiPV value 2")
        for state, modelled in zip(met[:25], matchup.base[1].distributions(met[:25]), strict=True):
            said = talk.ask(f"position startpos moves {' '.join(state.moves)}", "go movetime 1")
            found = read_analysis("\n".join(said), min(2, state.board.legal_moves.count()), 0.0)
            assert distance(move_distribution(found, R), modelled) == 0.0
