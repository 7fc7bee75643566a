"""More runs to make pages of: matches, policies, and books that were judged, played and asked about."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import chess
import numpy as np
from pageruns import CHESS, chess_tree, save_preparation

from preplay import runs
from preplay.chess.scoresheet import PlayedGame
from preplay.judging import Judged
from preplay.logistic import Curve
from preplay.report import alternatives
from preplay.report.alternatives import OtherMove, Reply
from preplay.runs.directory import GAMES, open_run
from preplay.runs.outcomes import Control, EloEstimate, MatchResult
from preplay.runs.prepared import PrepareResult
from preplay.scoring import Interval

CURVE = Curve(0.28, 0.67, 0.05, 0.04, -0.2, 300, 9000)


def save_match(directory: Path, games: int = 12) -> list[PlayedGame]:
    """A finished `preplay match` run with random games, half of them without the book."""
    rng = np.random.default_rng(3)
    run = runs.start(directory, "match", "test", {"matchup": CHESS, "seed": 0}, {})
    played = []
    for number in range(2 * games):
        board = chess.Board()
        moves: list[str] = []
        while not board.is_game_over(claim_draw=True) and len(moves) < 70:
            options = sorted(map(board.uci, board.legal_moves))
            first = options[: 2 if len(moves) < 6 else None]
            move = str(rng.choice(first))
            moves.append(move)
            board.push_uci(move)
        score = float(rng.choice([0.0, 0.5, 1.0]))
        prepared = number < games
        played.append(PlayedGame(number % games, 1, prepared, tuple(moves), score, 3, "checkmate"))
    lines = "".join(json.dumps(asdict(game)) + "\n" for game in played)
    run.path(GAMES).write_text(lines, encoding="utf-8")
    mine = tuple(played[:games])
    mean = sum(game.score for game in mine) / games
    result = MatchResult(
        matchup="test", adjudication="rules", sides=("white",), games=games, opponent="unprepared",
        wins=sum(g.score == 1 for g in mine), draws=sum(g.score == 0.5 for g in mine),
        losses=sum(g.score == 0 for g in mine), score=Interval(mean, 0.1, mean - 0.2, mean + 0.2),
        elo=EloEstimate(35.0, 20.0, -5.0, 75.0), superiority=0.9, book_moves=3.0,
        endings={"checkmate": games}, promised=0.6, promised_error=0.01, z=0.5, p_value=0.6, agrees=True,
        control=Control(games, Interval(0.4, 0.1, 0.2, 0.6)),
    )  # fmt: skip
    runs.save(run, result)
    return played


def save_policy(directory: Path) -> None:
    """A finished `preplay harden` run for Black."""
    run = runs.start(directory, "harden", "test", {"matchup": CHESS, "side": 2, "cost": 1e-3}, {})
    policy = [
        {"history": ["d2d4"], "moves": {"g8f6": 0.6, "d7d5": 0.4}},
        {"history": ["d2d4", "d7d5", "c2c4"], "moves": {"c7c6": 0.5, "e7e6": 0.3, "d5c4": 0.2}},
    ]
    told = {"side": "black", "value": 0.56, "lower": 0.5595, "upper": 0.5601, "gap": 6e-4, "loss": 0.004}
    told |= {"unprepared": 0.55, "unhardened": 0.64, "choosing": [0.6, 0.605]}
    told["judged"] = {"before": 0.58, "after": 0.56, "fresh": 0.558}
    run.write("result.json", told | {"before": {"randomness": 10.0, "value": 0.61}, "policy": policy})


def save_studied(directory: Path) -> None:
    """A prepared book whose first position has an alternative that is 12 points in 100 games worse."""
    book = save_preparation(directory, chess_tree(40, seed=5))
    found = []
    for entry in book.entries:
        own = max(entry.moves, key=lambda move: entry.moves[move])
        options = [OtherMove(own, 20, 0.7, (), (own,))]
        if not entry.history:
            other = next(move for move in ("g1f3", "b1c3", "e2e4", "d2d4") if move != own)
            replies = (Reply("a7a6", 0.8, 0.55), Reply("h7h6", 0.2, 0.7))
            options.append(OtherMove(other, -5, 0.58, replies, (other, "a7a6", "a2a3")))
        found.append(tuple(options))
    alternatives.keep(open_run(directory), book, found, 2)


def save_proved(directory: Path) -> None:
    """A prepared book with calibrated values that was judged, checked afresh and played to the end."""
    matchup = CHESS | {"value": {"model": "calibrated"}}
    save_preparation(directory, chess_tree(20, seed=5), matchup=matchup)
    run = open_run(directory)
    result = PrepareResult.found(run)
    judged = Judged(3, 41, result.value + 0.05, result.value, result.value - 0.01, 0.02)
    runs.save(run, replace(result, judged=judged, scores="results", calibration=CURVE))
    save_match(directory / "match")
