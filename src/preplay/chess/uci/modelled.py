"""A UCI engine that plays exactly as a side of a matchup is modelled, whatever the GUI's limits are.

It asks the model's own policy about each position, shows the probabilities, and draws a move. So anyone
can play a book against the opponent that it was made for, with any tools.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import IO, Any

import chess

from preplay.book import Book, draw
from preplay.chess.books.lines import position_key
from preplay.chess.endings import FOREVER
from preplay.chess.engines.analysis import mate_in
from preplay.chess.players.play import EnginePolicy
from preplay.chess.rules import ChessGame, ChessState
from preplay.chess.uci.answer import Dice, legal_among
from preplay.chess.uci.base import forward
from preplay.chess.uci.game import Go, Tracker, parse_go
from preplay.chess.uci.options import parse_setoption
from preplay.errors import InputError, PreplayError
from preplay.game import Distribution, Side
from preplay.policy import Policy, spread_rest
from preplay.randomness import DRAW, dice_stream, generator
from preplay.text import harmless

SEEDS = 2**31 - 1


@dataclass(frozen=True)
class Modelled:
    """A side as a matchup has it."""

    name: str
    """What it is called in a GUI."""
    side: Side
    game: ChessGame
    policy: Policy[ChessState]
    book: Book | None = None
    """Where it is prepared too: its mixed book, from which each game has a pure one."""

    def pure(self, dice: Dice) -> Mapping[tuple[str, ...], Distribution]:
        """What this game's book plays."""
        if self.book is None:
            return {}
        rng = generator(dice.seed, (), stream=dice_stream(DRAW, dice.game))
        return {entry.history: entry.moves for entry in draw(self.book, rng).entries}

    def state(self, tracker: Tracker) -> ChessState:
        """The history that a GUI's position is to the model: since the game passed the model's start."""
        game = replace(self.game, length=FOREVER)
        start = position_key(game.root().board)
        played = tracker.since(start)
        if played.start != start:  # another game: the policy can be asked all the same
            game = replace(game, start=tracker.start, before=(), chess960=tracker.chess960)
        state = game.root()
        for name in played.path:
            state = game.next(state, state.board.uci(state.board.parse_uci(name)))
        return state

    def distribution(
        self, state: ChessState, pure: Mapping[tuple[str, ...], Distribution]
    ) -> Distribution:
        """What it plays here: the book's moves, or the policy's with the rest of the moves among them."""
        known = pure.get(state.moves)
        if known is None:
            known = self.policy.distributions([state])[0]
        return spread_rest(known, self.game.actions(state))

    def score(self, state: ChessState) -> str:
        """What its search says of a position, in UCI's words; 0 where it does not search."""
        found = self.policy.scores([state])[0] if isinstance(self.policy, EnginePolicy) else 0
        mate = mate_in(found)
        return f"cp {found}" if mate is None else f"mate {mate}"


def run_modelled(player: Modelled, stdin: IO[str], stdout: IO[str], *, seed: int = 0) -> None:
    """Serve a GUI until it leaves. `seed` 0: another one each time."""
    _Server(player, stdin, stdout, seed).run()


@dataclass
class _Thought:
    """A `go` without its bestmove."""

    held: bool
    """Whether the bestmove must wait for `stop` or `ponderhit`."""
    lines: tuple[str, ...] = ()
    """The answer, once it is there."""


class _Server:
    """One conversation. A thought runs in a thread of its own, so that a GUI is always heard."""

    def __init__(self, player: Modelled, stdin: IO[str], stdout: IO[str], seed: int) -> None:
        self._player = player
        self._stdout = stdout
        self._events: SimpleQueue[str | tuple[_Thought, tuple[str, ...]] | None] = SimpleQueue()
        forward(stdin, self._events.put)
        self._tracker = Tracker()
        self._problem = ""
        self._given = seed
        self._dice = self._rolled(seed)
        self._pure = player.pure(self._dice)
        self._thought: _Thought | None = None
        self._waiting: deque[str] = deque()  # said while a thought was under way

    def run(self) -> None:
        while True:
            if self._waiting and self._thought is None:
                line: Any = self._waiting.popleft()
            else:
                line = self._events.get()
            if isinstance(line, tuple):
                thought, lines = line
                thought.lines = lines
                self._release(thought)
            elif line is None and self._thought is not None:  # the answer is still wanted
                self._waiting.append("quit")
                self._stop()
            elif line is None or line.strip() == "quit":
                return
            elif self._thought is not None and not self._urgent(line.strip()):
                self._waiting.append(line)
            else:
                try:
                    self._serve(line.strip())
                except InputError as error:
                    self._put(f"info string {_line(str(error))}")

    def _urgent(self, line: str) -> bool:
        return line in {"stop", "ponderhit", "isready", "uci", ""}

    def _serve(self, line: str) -> None:
        word = line.split(maxsplit=1)[0] if line else ""
        if word == "uci":
            self._put(f"id name {_line(self._player.name)}", "id author preplay")
            self._put(f"option name Seed type spin default {self._given} min 0 max {SEEDS}")
            self._put("option name UCI_Chess960 type check default false", "uciok")
        elif word == "isready":
            self._put("readyok")
        elif word == "ucinewgame":
            self._dice = Dice(self._dice.seed, self._dice.game + 1)
            self._pure = self._player.pure(self._dice)
        elif word == "setoption":
            self._set(*parse_setoption(line))
        elif word == "position":
            try:
                self._tracker.follow(line)
                self._problem = ""
            except InputError as error:
                self._problem = str(error)
        elif word == "go":
            self._go(parse_go(line))
        elif word in {"stop", "ponderhit"}:
            self._stop()

    def _stop(self) -> None:
        if self._thought is not None:
            self._thought.held = False
            self._release(self._thought)

    def _set(self, name: str, value: str | None) -> None:
        if name.lower() == "uci_chess960":
            self._tracker.switch((value or "").lower() == "true")
        elif name.lower() == "seed":
            if not (value or "").isascii() or not (value or "").isdigit() or int(value or 0) > SEEDS:
                raise InputError(f"option Seed is '{value}'; expected a whole number from 0 to {SEEDS}")
            self._given = int(value or 0)
            self._dice = self._rolled(self._given)
            self._pure = self._player.pure(self._dice)

    def _rolled(self, seed: int) -> Dice:
        return Dice(seed or 1 + secrets.randbits(30), 0)

    def _go(self, go: Go) -> None:
        try:
            if self._problem or not any(self._tracker.board.generate_legal_moves()):
                raise InputError(self._problem or "no legal moves")
            state, history = self._player.state(self._tracker), self._tracker.history
        except InputError as error:
            self._put(*_nothing(error))
            return
        if self._tracker.board.turn != (self._player.side == 1):
            colour = "White" if self._player.side == 1 else "Black"
            self._put(f"info string {colour} was modelled, who is not to move here")
        thought = self._thought = _Thought(go.ponder or go.infinite)
        allowed = legal_among(self._tracker.board, go.searchmoves)
        board, dice, pure = self._tracker.board.copy(stack=False), self._dice, self._pure

        def think() -> None:
            began = time.monotonic()
            try:
                moves = self._player.distribution(state, pure)
                score = "cp 0" if state.moves in pure else self._player.score(state)
                lines = _answer(board, moves, score, allowed, dice, history, began)
            except PreplayError as error:
                lines = _nothing(error)
            self._events.put((thought, lines))

        threading.Thread(target=think, daemon=True).start()

    def _release(self, thought: _Thought) -> None:
        if thought is self._thought and thought.lines and not thought.held:
            self._thought = None
            self._put(*thought.lines)

    def _put(self, *lines: str) -> None:
        self._stdout.write("".join(f"{line}\n" for line in lines))
        self._stdout.flush()


def _nothing(error: PreplayError) -> tuple[str, ...]:
    """What is said where there is no move."""
    return f"info string {_line(str(error))}", "info depth 0 score cp 0", "bestmove 0000"


def _line(text: str) -> str:
    return " ".join(harmless(text).split())


def _answer(
    board: chess.Board,
    modelled: Distribution,
    score: str,
    allowed: set[chess.Move],
    dice: Dice,
    history: Sequence[str],
    began: float,
) -> tuple[str, ...]:
    """What is said about a drawn move: the probabilities, a line as GUIs want one, and the move."""
    moves = {board.parse_uci(name): p for name, p in modelled.items() if p > 0.0}
    if allowed:
        moves = {move: p for move, p in moves.items() if move in allowed} or dict.fromkeys(allowed, 1.0)
    chosen = board.uci(dice.base_move(list(moves), list(moves.values()), history))
    shares = ", ".join(f"{board.uci(move)} {p!r}" for move, p in moves.items())
    spent = round(1000 * (time.monotonic() - began))
    return (
        f"info string modelled {shares}; seed {dice.seed}",
        f"info depth 1 score {score} time {spent} nodes 0 nps 0 pv {chosen}",
        f"bestmove {chosen}",
    )
