"""What is asked of an engine and what it answers, as frozen records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import chess

from preplay.errors import InputError

MATE: Final = 32_000
"""Score of having mated; a mate n plies away scores n less."""
CEILING: Final = 31_000
"""Scores beyond this are mates; centipawns are clipped to it."""
KINDS: Final = ("nodes", "depth", "milliseconds")
OWN_OPTIONS: Final[Mapping[str, str]] = {"Threads": "1", "Hash": "2"}
"""Set on every engine that has them, unless the user says otherwise: one thread makes node limits
deterministic, and a small hash is cheap to clear before every search."""
RESERVED: Final[Mapping[str, str]] = {
    "multipv": "it follows from K",
    "uci_chess960": "it follows from the start position",
    "uci_showwdl": "it is always on",
    "ponder": "searches never ponder",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """When a search ends: exactly one of the three is given."""

    nodes: int | None = None
    depth: int | None = None
    milliseconds: int | None = None

    def __post_init__(self) -> None:
        given = [(kind, getattr(self, kind)) for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            shown = ", ".join(f"{kind}={amount}" for kind, amount in given) or "nothing"
            raise InputError(f"limit: {shown}; expected exactly one of {', '.join(KINDS)}")
        kind, amount = given[0]
        if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
            raise InputError(f"limit: {kind}={amount!r}; expected a whole number of at least 1")

    @property
    def kind(self) -> str:
        """Which of `KINDS` is given."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def amount(self) -> int:
        """How many nodes, plies or milliseconds."""
        return int(getattr(self, self.kind))

    @property
    def go(self) -> str:
        """The UCI command."""
        return f"go {'movetime' if self.kind == 'milliseconds' else self.kind} {self.amount}"

    @property
    def patience(self) -> float:
        """Seconds after which a search counts as hung: generous, for engines a thousand times slower."""
        if self.nodes is not None:
            return 20.0 + self.nodes / 500
        if self.depth is not None:
            return 60.0 + 2.0 ** min(self.depth, 60) / 5_000
        return 10.0 + 2 * self.amount / 1_000

    def __str__(self) -> str:
        return f"{self.amount} {'ms' if self.kind == 'milliseconds' else self.kind}"


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """How to start an engine; equal specs share processes and analyses."""

    command: tuple[str, ...]
    """The program and its arguments."""
    options: tuple[tuple[str, str], ...] = ()
    """UCI options as sorted pairs, `OWN_OPTIONS` included."""

    @classmethod
    def of(
        cls,
        command: str | os.PathLike[str] | Sequence[str],
        options: Mapping[str, str | int | bool] | None = None,
    ) -> EngineSpec:
        """A spec from one program path (or the list of it and its arguments) and plain option values."""
        parts = (os.fspath(command),) if isinstance(command, str | os.PathLike) else tuple(command)
        if not parts or not parts[0]:
            raise InputError(f"engine command {command!r}; expected the path of a program")
        chosen: dict[str, tuple[str, str]] = {
            name.casefold(): (name, value) for name, value in OWN_OPTIONS.items()
        }
        for name, value in (options or {}).items():
            if why := RESERVED.get(name.casefold()):
                raise InputError(f"engine option '{name}' cannot be set: {why}")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if "\n" in name + text or "\r" in name + text:
                raise InputError(f"engine option {name!r} with value {text!r}: expected a single line")
            chosen[name.casefold()] = (name, text)
        return cls(parts, tuple(sorted(chosen.values())))

    def __str__(self) -> str:
        return " ".join(self.command)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which engine answered: an upgraded program is another engine."""

    name: str
    """What it calls itself (`id name`)."""
    digest: str
    """Of every file that the command and the option values name (program, script, network)."""

    def __str__(self) -> str:
        return f"{self.name} [{self.digest}]"


@dataclass(frozen=True, slots=True)
class SearchPosition:
    """A position exactly as the engine is told it, so equal positions have equal analyses."""

    start: str
    """A FEN. (Analyses kept by older versions have five fields, and often a false clock among them.)"""
    moves: tuple[str, ...] = ()
    """UCI moves from there."""
    chess960: bool = False

    @property
    def text(self) -> str:
        """The position as the store knows it."""
        return f"{self.start} moves {' '.join(self.moves)}" if self.moves else self.start

    @property
    def command(self) -> str:
        """The UCI command."""
        return f"position fen {self.text}"

    def board(self) -> chess.Board:
        """The position on a board, with `moves` on its stack."""
        board = chess.Board(self.start, chess960=self.chess960)
        for move in self.moves:
            board.push_uci(move)
        return board

    @classmethod
    def of_text(cls, text: str, chess960: bool = False) -> SearchPosition:
        """The inverse of `text`."""
        start, _, moves = text.partition(" moves ")
        return cls(start, tuple(moves.split()), chess960)


def search_position(board: chess.Board) -> SearchPosition:
    """A position as an engine is told it: where the board's memory begins, and the moves since.

    Clock and move number are true. How far boards remember is for the game to say
    (`preplay.chess.rules`): the less they do, the more lines share an analysis.

    The en passant square is told where a pawn stands ready to take, legally or not: that is what
    engines note themselves when they follow the moves of a game.
    """
    start, moves = board, tuple(move.uci() for move in board.move_stack)
    if moves:
        start = board.copy()
        for _ in moves:
            start.pop()
    castling = start.castling_shredder_fen() if board.chess960 else start.castling_xfen()
    passant = "-"
    if start.ep_square is not None and start.has_pseudo_legal_en_passant():
        passant = chess.SQUARE_NAMES[start.ep_square]
    mover = "w" if start.turn else "b"
    clocks = f"{start.halfmove_clock} {start.fullmove_number}"
    return SearchPosition(
        f"{placement(start)} {mover} {castling} {passant} {clocks}", moves, board.chess960
    )


def placement(board: chess.Board) -> str:
    """The first field of a FEN, in a third of the time that python-chess takes: growth asks for many."""
    squares = ["1"] * 64
    for bits, men in ((board.occupied_co[True], "PNBRQK"), (board.occupied_co[False], "pnbrqk")):
        kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
        for kind, man in zip(kinds, men, strict=True):
            for square in chess.scan_forward(kind & bits):
                squares[square ^ 56] = man
    text = "".join(squares)
    rows = "/".join(text[k : k + 8] for k in range(0, 64, 8))
    for length in range(8, 1, -1):
        rows = rows.replace("1" * length, str(length))
    return rows


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search: who, where, how long, and how many lines."""

    engine: EngineSpec
    position: SearchPosition
    limit: Limit
    multipv: int = 1
    """K: the best so many moves are scored, or all of them where there are fewer."""

    def __hash__(self) -> int:
        # This nearly always tells requests apart. All fields take much longer, several times a search.
        return hash((self.position.start, self.position.moves, self.multipv))

    def __post_init__(self) -> None:
        if not isinstance(self.multipv, int) or self.multipv < 1:
            raise InputError(f"K = {self.multipv!r}; expected a whole number of at least 1")


@dataclass(frozen=True, slots=True)
class Line:
    """One scored move."""

    move: str
    """In UCI notation."""
    score: int
    """Centipawns for the side to move; mates are finite scores beyond `CEILING`."""
    depth: int
    """Nominal search depth."""
    wdl: tuple[int, int, int] | None = None
    """The engine's wins, draws and losses per thousand for the side to move, if it tells them."""
    pv: str = ""
    """The expected continuation: UCI moves separated by spaces, `move` first."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a search found. Equal searches under a node limit are equal, however long they took."""

    lines: tuple[Line, ...]
    """Best first; scores of one depth when `complete`."""
    best: str
    """The move the engine would play: from its last, perhaps unfinished iteration."""
    nodes: int
    complete: bool = True
    """Whether `lines` is a whole iteration with exact scores, not what was left of an unfinished one."""
    milliseconds: int = field(default=0, compare=False)
    """Wall time of the search."""

    @property
    def depth(self) -> int:
        """The depth that all lines have reached."""
        return min(line.depth for line in self.lines)


def mate_score(moves: int) -> int:
    """The finite score of UCI's `mate moves`: sooner mates are better, sooner losses worse."""
    plies = min(abs(2 * moves - 1) if moves > 0 else abs(2 * moves), MATE - CEILING - 1)
    return MATE - plies if moves > 0 else plies - MATE


def is_mate(score: int) -> bool:
    """Whether `score` stands for a forced mate, of either side."""
    return abs(score) > CEILING


def mate_in(score: int) -> int | None:
    """Moves to the mate that `score` stands for, negative when the side to move is mated; else None."""
    if not is_mate(score):
        return None
    return (MATE - score + 1) // 2 if score > 0 else -((MATE + score) // 2)
