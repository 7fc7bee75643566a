"""Chess as a game of histories: python-chess knows the rules, this says when a game is over.

A board remembers as much of its game as engines are told (`preplay.chess.engines.analysis`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import chess

from preplay.chess.engines.analysis import SearchPosition, search_position
from preplay.errors import GameError, InputError
from preplay.game import FINAL, Distribution
from preplay.games.clocked import RESIGN
from preplay.policy import REST

UNPLAYED = {RESIGN: "resigns", REST: "any other move"}
"""Actions that move no piece, and what people call them."""


@dataclass(frozen=True)
class ChessState:
    """A history: UCI moves from the start position, and the board they lead to (not to be changed)."""

    moves: tuple[str, ...]
    board: chess.Board = field(compare=False, repr=False)
    before: SearchPosition | None = field(default=None, compare=False, repr=False)
    """What engines are told before the last move, if that is known."""

    @cached_property
    def position(self) -> SearchPosition:
        """What engines are told, made once: several searches ask about one history."""
        stack, before = self.board.move_stack, self.before
        if (
            before is not None and len(stack) == len(before.moves) + 1
        ):  # one move more from the same start
            return SearchPosition(before.start, (*before.moves, stack[-1].uci()), before.chess960)
        return search_position(self.board)


@dataclass(frozen=True)
class ChessGame:
    """White is player 1. Threefold repetition and fifty moves end the game at once; so does `length`."""

    start: str = ""
    """FEN of the start position; empty for the standard one."""
    before: tuple[str, ...] = ()
    """Moves (UCI or SAN) from there that were played before the start."""
    length: int = 100
    """Half-moves after which the game is a draw."""
    chess960: bool = False
    whole: bool = False
    """Whether boards remember the game from its start, for engines that look at all of it. Else they
    remember what the rules look at: the moves since the last capture or pawn's move."""

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InputError(f"game length {self.length}; expected at least 1 half-move")
        if self.player(self.root()) == FINAL:
            raise InputError(f"start position '{self.start_fen}': the game is over there already")

    @property
    def longest(self) -> int:
        """The length limit: the game is a draw by then."""
        return self.length

    @property
    def widest(self) -> int:
        """The largest number of legal moves in any position."""
        return 218

    @cached_property
    def _root(self) -> chess.Board:
        try:
            board = chess.Board(self.start or chess.STARTING_FEN, chess960=self.chess960)
        except ValueError as error:
            raise InputError(f"start position '{self.start}': {error}; expected a FEN") from None
        if not board.is_valid():
            status = board.status()
            problems = ", ".join(
                str(s.name).lower().replace("_", " ") for s in chess.Status if status & s
            )
            raise InputError(f"start position '{self.start}': not a legal position ({problems})")
        for text in self.before:
            try:
                board.push(parse_move(board, text))
            except ValueError:
                raise InputError(
                    f"start move '{text}' after {board.fen()}; expected a legal move in UCI or SAN"
                ) from None
            self._forget(board)
        return board

    @property
    def start_fen(self) -> str:
        """FEN of the position in which the game starts; empty for the standard one."""
        if not self.before and not self.start:
            return ""
        return self._root.fen()

    def root(self) -> ChessState:
        """The start position."""
        return ChessState((), self._root)

    def history(self, state: ChessState) -> tuple[str, ...]:
        """The UCI moves from the start position."""
        return state.moves

    def player(self, state: ChessState) -> int:
        """1 for White, 2 for Black, or `FINAL`."""
        if len(state.moves) >= self.length or _outcome(state.board) is not None:
            return FINAL
        return 1 if state.board.turn == chess.WHITE else 2

    def actions(self, state: ChessState) -> Sequence[str]:
        """The legal moves in UCI notation."""
        return [state.board.uci(move) for move in state.board.legal_moves]

    def chance(self, state: ChessState) -> Distribution:
        """Chess has no chance."""
        raise GameError(f"chess has no chance moves; asked after {' '.join(state.moves)!r}")

    def next(self, state: ChessState, action: str) -> ChessState:
        """The history after a legal move in UCI notation."""
        board = state.board.copy(stack=self.whole or state.board.halfmove_clock)
        try:
            if not board.push_uci(action):
                raise ValueError("a null move")
        except ValueError:
            raise GameError(f"illegal move '{action}' in {state.board.fen()}") from None
        self._forget(board)
        return ChessState((*state.moves, action), board, vars(state).get("position"))

    def _forget(self, board: chess.Board) -> None:
        """Drop what cannot matter any more: no position from before can come back."""
        if not self.whole and board.halfmove_clock == 0:
            board.clear_stack()

    def utility(self, state: ChessState) -> float:
        """1 when White has won, 0 when Black has, else a draw."""
        outcome = _outcome(state.board)
        return 0.5 if outcome is None else outcome


def _outcome(board: chess.Board) -> float | None:
    """White's result if the rules end the game here."""
    if not any(board.generate_legal_moves()):
        if not board.is_check():
            return 0.5
        return 0.0 if board.turn == chess.WHITE else 1.0
    if board.is_insufficient_material():
        return 0.5
    if board.halfmove_clock >= 8 and (board.halfmove_clock >= 100 or board.is_repetition(3)):
        return 0.5
    return None


def parse_move(board: chess.Board, text: str) -> chess.Move:
    """A legal move in UCI or SAN; ValueError if it is none."""
    try:
        move = board.parse_uci(text)
    except ValueError:
        move = board.parse_san(text)
    if not move:
        raise ValueError("a null move")
    return move


def line_san(game: ChessGame, history: Sequence[str], move: str | None = None) -> str:
    """A history as "1. e4 e5 2. Nf3", or one move after it as "Nc6"."""
    board = game.root().board.copy()
    moves = [board.push_uci(played) for played in history]
    if move in UNPLAYED:
        return UNPLAYED[move]
    if move is not None:
        return str(board.san(board.parse_uci(move)))
    return str(game.root().board.variation_san(moves))
