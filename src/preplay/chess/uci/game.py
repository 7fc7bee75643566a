"""What a GUI asks: the position it sets up, followed move by move, and the search it wants."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import chess

from preplay.chess.books.lines import common_length, position_key
from preplay.chess.books.lookup import Played
from preplay.chess.engines.infolines import MOST_NODES, whole_number
from preplay.errors import InputError

FLAGS = ("ponder", "infinite")
LIMITS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "perft")
FATAL = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_OPPOSITE_CHECK
)
"""What engines do not survive in a position."""


@dataclass(frozen=True)
class Go:
    """A `go` command."""

    limits: tuple[tuple[str, str], ...] = ()
    """Clocks and other limits, in their order."""
    searchmoves: tuple[str, ...] = ()
    """If not empty, only these may be played."""
    ponder: bool = False
    infinite: bool = False

    @property
    def analysis(self) -> bool:
        """Whether this asks for understanding, not for a move to play: no book and no dice."""
        return self.infinite or self.perft or any(word == "mate" for word, _ in self.limits)

    @property
    def perft(self) -> bool:
        """Whether this asks for a count of positions, which ends without a bestmove."""
        return any(word == "perft" for word, _ in self.limits)

    def line(self, *, ponder: bool, limit: Sequence[str] = (), mover: str = "w", spent: int = 0) -> str:
        """The command for the base engine: with `limit` in place of the GUI's limits, if given.

        `spent` milliseconds are taken off the mover's time, for a search that begins again.
        """
        words = ["go"] + ["ponder"] * ponder + ["infinite"] * self.infinite
        if limit and not self.analysis:
            words += limit
        else:
            for word, amount in self.limits:
                own = word in {f"{mover}time", "movetime"} and spent
                words += [word, str(max(1, int(amount) - spent)) if own else amount]
        if self.searchmoves:
            words += ["searchmoves", *self.searchmoves]
        return " ".join(words)


def parse_go(line: str) -> Go:
    """The meaning of a `go` line; unknown words are skipped, as UCI asks."""
    words = line.split()[1:]
    limits: list[tuple[str, str]] = []
    moves: list[str] = []
    flags = dict.fromkeys(FLAGS, False)
    k = 0
    while k < len(words):
        word = words[k]
        k += 1
        if word in flags:
            flags[word] = True
        elif word in LIMITS and k < len(words):
            if whole_number(words[k].removeprefix("-"), MOST_NODES) is not None:
                limits.append((word, words[k]))
                k += 1
        elif word == "searchmoves":
            while k < len(words) and words[k] not in {*FLAGS, *LIMITS}:
                moves.append(words[k])
                k += 1
    return Go(tuple(limits), tuple(moves), **flags)


class Tracker:
    """Follows `position` commands on a board; moves shared with the last command are not played again."""

    def __init__(self) -> None:
        self.chess960 = False
        self._forget()

    def _forget(self) -> None:
        self.start = chess.STARTING_FEN
        self.board = chess.Board(chess960=self.chess960)
        self._keys = [position_key(self.board)]  # of all positions passed
        self._names: list[str] = []
        self._path: list[str] = []

    def since(self, start: Hashable) -> Played:
        """The game since it first passed the position with this key; all of it if it never did."""
        k = self._keys.index(start) if start in self._keys else 0
        return Played(self._keys[k], tuple(self._path[k:]), self.board)

    @property
    def history(self) -> tuple[str, ...]:
        """The start position and the moves: what randomness may depend on."""
        return (self.start, *self._path)

    @property
    def command(self) -> str:
        """The `position` command that leads here."""
        start = "startpos" if self.start == chess.STARTING_FEN else f"fen {self.start}"
        return " ".join(["position", start, *(["moves", *self._names] if self._names else [])])

    def switch(self, chess960: bool) -> None:
        """Read castling as Chess960 does, or not."""
        if chess960 != self.chess960:
            self.chess960 = chess960
            self._forget()

    def follow(self, line: str) -> None:
        """Go to the position of a `position` line; raises InputError where that is impossible."""
        setup, _, moves = " ".join(line.split()).partition(" moves")
        kind, *rest = setup.split()[1:] or [""]
        if kind not in {"startpos", "fen"}:
            raise InputError(f"'{setup.strip()}'; expected 'position startpos' or 'position fen FEN'")
        start = chess.STARTING_FEN if kind == "startpos" else " ".join(rest)
        if start != self.start:
            self._begin(start)
        names = moves.split()
        common = common_length(self._names, names)
        while len(self._names) > common:
            self.board.pop()
            del self._names[-1], self._path[-1], self._keys[-1]
        for name in names[common:]:
            try:
                move = self.board.parse_uci(name)
            except ValueError:
                move = chess.Move.null()
            if not move:
                raise InputError(f"move '{name}' is not legal in {self.board.fen()}")
            self._path.append(self.board.uci(move, chess960=True))
            self._names.append(name)
            self.board.push(move)
            self._keys.append(position_key(self.board))

    def _begin(self, start: str) -> None:
        try:
            board = chess.Board(start, chess960=self.chess960)
        except ValueError as error:
            raise InputError(f"no FEN: {error}") from None
        if board.status() & FATAL:
            raise InputError(f"'{start}' is no position that can be played on")
        self.start, self.board, self._keys = start, board, [position_key(board)]
        self._names, self._path = [], []
