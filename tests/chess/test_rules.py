"""Chess as a game of histories."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.chess.engines.analysis import search_position
from preplay.chess.rules import ChessGame, ChessState, line_san
from preplay.errors import GameError, InputError
from preplay.game import FINAL, walk
from preplay.policy import REST

SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


@pytest.mark.parametrize(
    ("fen", "moves", "utility"),
    [
        ("", ("f2f3", "e7e5", "g2g4", "d8h4"), 0.0),  # fool's mate
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", ("a1a8",), 1.0),  # back rank
        ("7k/5Q2/5K2/8/8/8/8/8 w - - 0 1", ("f7g6",), 0.5),  # stalemate
        ("8/8/4k3/8/8/3rK3/8/8 w - - 0 1", ("e3d3",), 0.5),  # bare kings
        ("", SHUFFLE * 2, 0.5),  # threefold
        ("4k2r/8/8/8/8/8/8/R3K3 w - - 99 80", ("a1a2",), 0.5),  # fifty moves
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 99 80", ("a1a8",), 1.0),  # mate comes before fifty moves
    ],
)
def test_games_end_by_the_rules(fen: str, moves: tuple[str, ...], utility: float) -> None:
    game = ChessGame(fen)
    before = walk(game, moves[:-1])
    assert game.player(before) != FINAL
    end = game.next(before, moves[-1])
    assert game.player(end) == FINAL
    assert game.utility(end) == utility


def test_the_length_limit_is_a_draw_unless_it_is_mate() -> None:
    game = ChessGame(length=4)
    mate = walk(game, ("f2f3", "e7e5", "g2g4", "d8h4"))
    assert (game.player(mate), game.utility(mate)) == (FINAL, 0.0)
    quiet = walk(game, ("e2e4", "e7e5", "g1f3", "b8c6"))
    assert (game.player(quiet), game.utility(quiet)) == (FINAL, 0.5)


def test_moves_before_the_start_count_for_repetition_but_not_for_length() -> None:
    game = ChessGame(before=SHUFFLE, length=4)
    end = walk(game, SHUFFLE)
    assert game.history(end) == SHUFFLE
    assert game.player(end) == FINAL
    assert game.utility(end) == 0.5
    assert game.player(walk(ChessGame(before=("e4", "e5"), length=9), ())) == 1
    assert ChessGame(before=("e4",)).start_fen.startswith("rnbqkbnr/pppppppp/8/8/4P3")
    assert ChessGame().start_fen == ""


def test_chess960_castles_to_the_rook() -> None:
    game = ChessGame("4k3/8/8/8/8/8/8/1R2K2R w KQ - 0 1", chess960=True)
    assert {"e1h1", "e1b1"} <= set(game.actions(game.root()))
    standard = ChessGame("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert {"e1g1", "e1c1"} <= set(standard.actions(standard.root()))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ChessGame("not a fen"), "expected a FEN"),
        (lambda: ChessGame("8/8/8/8/8/8/8/8 w - - 0 1"), "not a legal position"),
        (lambda: ChessGame(before=("e2e5",)), "start move 'e2e5'"),
        (lambda: ChessGame(before=("0000",)), "start move '0000'"),
        (lambda: ChessGame(before=("--",)), "start move '--'"),
        (lambda: ChessGame(length=0), "at least 1 half-move"),
        (lambda: ChessGame("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "the game is over there already"),
    ],
)
def test_bad_starts_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_illegal_moves_are_refused() -> None:
    game = ChessGame()
    with pytest.raises(GameError, match="illegal move '0000'"):
        game.next(game.root(), "0000")
    with pytest.raises(GameError, match="illegal move 'e2e5'"):
        game.next(game.root(), "e2e5")


def test_lines_as_people_write_them() -> None:
    game = ChessGame()
    assert line_san(game, ("e2e4", "e7e5", "g1f3")) == "1. e4 e5 2. Nf3"
    assert line_san(game, ("e2e4", "e7e5"), "g1f3") == "Nf3"
    assert line_san(game, ()) == ""
    assert line_san(game, ("e2e4",), REST) == "any other move"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10_000), max_size=60))
def test_states_agree_with_python_chess(choices: list[int]) -> None:
    game, board = ChessGame(length=1000), chess.Board()
    state: ChessState = game.root()
    for choice in choices:
        outcome = board.outcome(claim_draw=False)
        claimed = board.is_repetition(3) or board.halfmove_clock >= 100
        assert (game.player(state) == FINAL) == (outcome is not None or claimed)
        if game.player(state) == FINAL:
            break
        moves = sorted(game.actions(state))
        assert moves == sorted(move.uci() for move in board.legal_moves)
        before = state.board.fen()
        after = game.next(state, moves[choice % len(moves)])
        assert state.board.fen() == before  # states do not change
        state = after
        board.push_uci(moves[choice % len(moves)])
        assert state.board.fen() == board.fen()


@pytest.mark.parametrize("whole", [False, True])
def test_what_engines_are_told_follows_the_moves(whole: bool) -> None:
    """Made from what was told a move before, or from the board alone: the same."""
    rng = random.Random(7)
    game = ChessGame(length=80, whole=whole)
    for _ in range(6):
        state = game.root()
        while game.player(state) != FINAL:
            if rng.random() < 0.8:  # where nobody asked, there is nothing to go on from
                assert state.position == search_position(state.board)
                assert state.position.board().fen() == state.board.fen()
            state = game.next(state, rng.choice(game.actions(state)))
