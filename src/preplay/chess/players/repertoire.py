"""What a player knows, wants to play, or never plays: lines of a PGN file, variations and all."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import chess
import chess.pgn

from preplay.chess.books.lines import numbered, position_key
from preplay.chess.books.reading import games_of_lines
from preplay.chess.engines.analysis import Analysis, SearchRequest
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players.play import Search, lines_distribution, move_distribution, move_menu
from preplay.chess.players.sources import BrokenFileError, digest_of, parts_of
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import InputError
from preplay.game import CHANCE, Distribution, Side
from preplay.policy import Menu, Option

Moves = Mapping[Hashable, tuple[str, ...]]
"""Moves by position, in the order of the file."""
MOST_MOVES = 218
"""No position of chess has more."""


@dataclass(frozen=True)
class Repertoire:
    """The lines of a file from the point of view of one side, by position however reached."""

    played: Moves
    """The side's moves in every position of the lines."""
    ending: Moves
    """The side's last move of each line."""
    digest: str
    """Of the file; changes with it."""
    boards: Mapping[Hashable, str] = field(default_factory=dict)
    """The positions of `played` as EPD."""
    lines: Mapping[Hashable, str] = field(default_factory=dict)
    """How each of them is first reached in the file; empty at the start of a game."""

    def without(self, avoided: Repertoire) -> Repertoire:
        """The same less the moves that are to be avoided; InputError where no move would be left."""
        check_playable(self, avoided)
        never = avoided.ending
        played = {
            key: tuple(move for move in moves if move not in never.get(key, ()))
            for key, moves in self.played.items()
        }
        return replace(self, played=played)

    @property
    def by_board(self) -> dict[str, tuple[str, ...]]:
        """`played` by EPD, to be kept in a file."""
        return {self.boards[key]: moves for key, moves in self.played.items()}


def read_repertoire(
    path: str | Path, side: Side, chess960: bool = False, meant: str = "lines to play"
) -> Repertoire:
    """Every line of the games in a PGN file, variations included; a mistake names its game.

    Moves are named as standard chess or Chess960 names them, whichever is played. `meant` is what the
    file was expected to hold.
    """
    text = _text_of(Path(path), meant)
    played: dict[Hashable, dict[str, None]] = {}
    ending: dict[Hashable, dict[str, None]] = {}
    boards: dict[Hashable, str] = {}
    lines: dict[Hashable, str] = {}
    for number, game in enumerate(games_of_lines(text, path), 1):
        _check_variant(game, chess960, f"{path}: game {number}")
        for node, board, line in _own_positions(game, side):
            key = position_key(board)
            boards.setdefault(key, board.epd())
            lines.setdefault(key, line)
            for child in node.variations:
                name = board.uci(child.move, chess960=chess960)
                played.setdefault(key, {})[name] = None
                if _ends(child):
                    ending.setdefault(key, {})[name] = None
    if not played:
        colour = "White" if side == 1 else "Black"
        raise InputError(f"{path}: no move of {colour} in it; expected PGN with {meant}")
    return Repertoire(
        {key: tuple(moves) for key, moves in played.items()},
        {key: tuple(moves) for key, moves in ending.items()},
        digest_of(Path(path)),
        boards,
        lines,
    )


def _text_of(path: Path, meant: str) -> str:
    """The text of a PGN file, packed or not; one that is no text is refused."""
    try:
        data = b"".join(parts_of(path))
    except BrokenFileError as error:
        said = str(error).rpartition("; ")[0] or error
        raise InputError(f"{said}; expected PGN with {meant}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _check_variant(game: chess.pgn.Game, chess960: bool, name: str) -> None:
    """Raise InputError for a game of other rules than those that are played."""
    board = game.board()
    if type(board) is not chess.Board or (board.chess960 and not chess960):
        rules = "chess or Chess960" if chess960 else "standard chess"
        raise InputError(f"{name}: Variant '{game.headers.get('Variant', '?')}'; expected {rules}")
    if not board.is_valid():
        raise InputError(f"{name}: starts from '{board.fen()}'; expected a legal position of chess")


def _own_positions(
    game: chess.pgn.Game, side: Side
) -> Iterator[tuple[chess.pgn.GameNode, chess.Board, str]]:
    """Where the side moves in the lines of a game, in its order, and the moves before that."""
    start = game.board()
    stack: list[tuple[chess.pgn.GameNode, chess.Board, tuple[str, ...]]] = [(game, start, ())]
    while stack:
        node, board, sans = stack.pop()
        if node.variations and board.turn == (side == 1):
            yield node, board, numbered(start, sans)
        for child in reversed(node.variations):
            after = board.copy(stack=False)
            san = after.san_and_push(child.move)
            stack.append((child, after, (*sans, san)))


def check_playable(wanted: Repertoire, avoided: Repertoire) -> None:
    """Raise InputError where a repertoire has only moves that are to be avoided."""
    for key, moves in wanted.played.items():
        if set(moves) <= set(avoided.ending.get(key, ())):
            board = chess.Board(f"{wanted.boards[key]} 0 1", chess960=True)
            names = ", ".join(board.san(board.parse_uci(move)) for move in moves)
            place = f"after {wanted.lines[key]}" if wanted.lines[key] else "at the start"
            raise InputError(
                f"{place} every move of the repertoire ({names}) is also to be avoided; "
                "expected one that may be played"
            )


def _ends(own: chess.pgn.ChildNode) -> bool:
    """Whether a line ends after an own move, or after an answer to it."""
    return not own.variations or any(not answer.variations for answer in own.variations)


@dataclass(frozen=True)
class RepertoirePlay:
    """A preparation within a repertoire: policy and menus of one search.

    Where the repertoire has moves, the menu is its moves; elsewhere the engine's. The last own move of an
    avoided line is on no menu: where there is one, the search scores as many moves more. Prep is the
    first of the menu or, without a repertoire, as random as the engine's.
    """

    analyst: Analyst
    search: Search
    most: int
    margin: float
    only: Repertoire | None = None
    avoided: Repertoire | None = None
    randomness: float = 0.0

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self._request(state) for state in states])

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self._request(state) for state in states])

    def distributions(self, states: Sequence[ChessState]) -> list[Distribution]:
        """The first of each menu; where play is random, what was scored and may be played."""
        return [self._play(state, found) for state, found in self._analysed(states)]

    def menus(self, states: Sequence[ChessState]) -> list[Menu]:
        """The moves that may be played at each position, what the engine likes best first."""
        return [self._menu(state, found) for state, found in self._analysed(states)]

    def scores(self, states: Sequence[ChessState]) -> list[int]:
        """What the searches say of the positions, in centipawns for who is to move."""
        return [found.lines[0].score for _, found in self._analysed(states)]

    def _analysed(self, states: Sequence[ChessState]) -> list[tuple[ChessState, Analysis]]:
        requests = [self._request(state) for state in states]
        return list(zip(states, self.analyst.analyse(requests), strict=True))

    def _request(self, state: ChessState) -> SearchRequest:
        """What to ask at a position: more than usual only where a move is avoided."""
        wide = min(MOST_MOVES, self.search.multipv + len(self._never(state)))
        return replace(self.search, multipv=wide).request(state)

    def _never(self, state: ChessState) -> tuple[str, ...]:
        """The moves that are not to be played at a position."""
        return () if self.avoided is None else self.avoided.ending.get(position_key(state.board), ())

    def _play(self, state: ChessState, analysis: Analysis) -> Distribution:
        avoided = self._never(state)
        if self.only is None and not avoided:
            return move_distribution(analysis, self.randomness)
        first = self._menu(state, analysis)[0].action
        if self.only is not None or self.randomness == 0.0:
            return {first: 1.0}
        rest = [line for line in analysis.lines if line.move not in avoided]
        if not rest:  # a late change of the engine's mind is all that is left
            return {first: 1.0}
        return lines_distribution(rest[: self.search.multipv], self.randomness)

    def _menu(self, state: ChessState, analysis: Analysis) -> Menu:
        avoided = self._never(state)
        wanted = () if self.only is None else self.only.played.get(position_key(state.board), ())
        if wanted:
            opinions = dict(move_menu(analysis, 1 + len(analysis.lines), math.inf))
            options = [Option(m, opinions.get(m)) for m in wanted if m not in avoided]
            menu = tuple(sorted(options, key=lambda option: -option.liking))
        else:
            menu = move_menu(analysis, 1 + len(analysis.lines), self.margin)
            menu = tuple(option for option in menu if option.action not in avoided)[: self.most]
            if not menu:  # all near moves are avoided: the best of the others
                rest = [line for line in analysis.lines if line.move not in avoided]
                menu = tuple(Option(line.move, float(line.score)) for line in rest[:1])
        if not menu:
            place = f"after {' '.join(state.moves)}" if state.moves else "at the start"
            raise InputError(f"{place} every move is to be avoided; expected one that may be played")
        return menu


@dataclass(frozen=True)
class KnownGame:
    """Chess in which one side plays what it knows by itself: known positions cost nothing.

    They are no decisions: as chance does, the game goes on with one of the known moves, all alike.
    """

    game: ChessGame | KnownGame
    side: Side
    known: Repertoire

    @property
    def rules(self) -> ChessGame:
        """The game in which nobody knows anything before."""
        return self.game.rules if isinstance(self.game, KnownGame) else self.game

    @property
    def longest(self) -> int:
        """As in the game."""
        return self.game.longest

    @property
    def widest(self) -> int:
        """As in the game."""
        return self.game.widest

    def root(self) -> ChessState:
        """As in the game."""
        return self.game.root()

    def history(self, state: ChessState) -> tuple[str, ...]:
        """As in the game."""
        return self.game.history(state)

    def knows(self, state: ChessState) -> bool:
        """Whether the side is to move and knows what to play."""
        return state.board.turn == (self.side == 1) and position_key(state.board) in self.known.played

    def player(self, state: ChessState) -> int:
        """As in the game, but nobody decides where the side knows its move."""
        mover = self.game.player(state)
        return CHANCE if mover == self.side and self.knows(state) else mover

    def actions(self, state: ChessState) -> Sequence[str]:
        """As in the game."""
        return self.game.actions(state)

    def chance(self, state: ChessState) -> Distribution:
        """The known moves, all alike."""
        if not self.knows(state):  # the other side knows the position
            return self.game.chance(state)
        moves = self.known.played[position_key(state.board)]
        return dict.fromkeys(moves, 1.0 / len(moves))

    def next(self, state: ChessState, action: str) -> ChessState:
        """As in the game."""
        return self.game.next(state, action)

    def utility(self, state: ChessState) -> float:
        """As in the game."""
        return self.game.utility(state)
