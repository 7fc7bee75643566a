"""How games of a match end, and how that is written down."""

from __future__ import annotations

import io

import chess.pgn
import pytest

from preplay.chess.clock import ClockedChess
from preplay.chess.endings import CUT, MODEL, SETTLED_DRAWN, SETTLED_WON, Settling, ending, played_out
from preplay.chess.rules import ChessGame
from preplay.chess.scoresheet import Heading, PlayedGame, pgn_of
from preplay.errors import InputError
from preplay.game import FINAL, walk

SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def test_only_the_rules_end_a_game_that_is_played_out() -> None:
    game = played_out(ChessGame(length=3), Settling())
    assert isinstance(game, ChessGame)
    assert game.player(walk(game, SHUFFLE)) != FINAL
    state = walk(game, SHUFFLE * 2)
    assert game.player(state) == FINAL
    assert ending(state) == "threefold repetition"
    bare = ChessGame("8/8/8/8/8/2k5/1p6/K7 w - - 0 1")
    assert ending(walk(bare, ("a1a2", "b2b1q"))) != "checkmate"
    clocked = played_out(ClockedChess(ChessGame(length=3), (10, 10)), Settling(longest=7))
    assert clocked.longest == 7


def test_the_fifty_moves_and_a_cut() -> None:
    game = ChessGame("4k3/8/8/8/8/8/R7/4K3 w - - 98 90", length=10_000)
    state = walk(game, ("a2a3", "e8e7"))
    assert (game.player(state), ending(state)) == (FINAL, "fifty moves")
    short = played_out(ChessGame(), Settling(longest=2))
    assert isinstance(short, ChessGame)
    assert ending(walk(short, SHUFFLE[:2])) == CUT


@pytest.mark.parametrize(
    ("settling", "plies", "scores", "verdict"),
    [
        (Settling(), 200, [-900] * 20, None),
        (Settling(resign=400), 20, [-450, 500, -420, 600, -410], (SETTLED_WON, 0.0)),
        (Settling(resign=400), 20, [-450, 500, -390, 600, -410], None),
        (Settling(resign=400), 20, [500, -420, 600, -410], None),
        (Settling(draw=10), 80, [5, -5] * 4, (SETTLED_DRAWN, 0.5)),
        (Settling(draw=10), 79, [5, -5] * 4, None),
        (Settling(draw=10), 80, [5, -11, *[5, -5] * 3], None),
        (Settling(draw=10), 80, [5, -5] * 3, None),
    ],
)
def test_games_are_settled_only_if_asked_for(
    settling: Settling, plies: int, scores: list[int], verdict: tuple[str, float] | None
) -> None:
    assert settling.verdict(plies, scores) == verdict


def test_mistakes_in_settling_are_told() -> None:
    with pytest.raises(InputError, match="resign 0; expected a whole number of at least 1"):
        Settling(resign=0)


@pytest.mark.parametrize(
    ("reason", "score", "result", "termination"),
    [
        ("checkmate", 1.0, "0-1", "normal"),
        (CUT, 0.5, "1/2-1/2", "adjudication"),
        (SETTLED_WON, 0.0, "1-0", "adjudication"),
        (MODEL, 0.61, "*", "unterminated"),
        (MODEL, 1.0, "0-1", "adjudication"),
        ("time forfeit", 0.0, "1-0", "time forfeit"),
    ],
)
def test_a_game_on_paper(reason: str, score: float, result: str, termination: str) -> None:
    moves = ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5")
    played = PlayedGame(6, 2, True, moves, score, 1, reason, "2026.11.16")
    heading = Heading('Event of the "year"', engines=("One", "Two"), more={"Seed": "7"})
    text = pgn_of(played, heading)
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    headers = game.headers
    assert (headers["White"], headers["Black"], headers["Round"]) == ("Opponent", "Prepared", "7")
    assert (headers["Result"], headers["Termination"]) == (result, termination)
    assert (headers["Date"], headers["Seed"], headers["BlackEngine"]) == ("2026.11.16", "7", "Two")
    assert game.variation(0).variation(0).comment == "the book ends"
    assert ("Score" in headers) == (reason == MODEL)


def test_a_game_on_paper_from_another_start() -> None:
    start = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"
    played = PlayedGame(0, 1, False, ("e1g1",), 0.5, 0, "stalemate")
    text = pgn_of(played, Heading("x", start=start, chess960=True))
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    assert game.headers["Variant"] == "Chess960"
    assert game.headers["White"] == "Unprepared"
    assert game.board().fen(shredder=True) == start
