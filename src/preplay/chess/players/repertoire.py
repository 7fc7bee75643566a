"""What a player knows, wants to play, or never plays: lines of a PGN file, variations and all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from preplay.chess.books.lines import position_key
from preplay.chess.books.reading import games_of_lines
from preplay.chess.engines.analysis import Analysis
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players.play import Search, move_menu
from preplay.chess.players.sources import digest_of
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import InputError
from preplay.game import CHANCE, Distribution, Side
from preplay.policy import Menu, Option

Moves = Mapping[Hashable, tuple[str, ...]]
"""Moves by position, in the order of the file."""


@dataclass(frozen=True)
class Repertoire:
    """The lines of a file from the point of view of one side, by position however reached."""

    played: Moves
    """The side's moves in every position of the lines."""
    ending: Moves
    """The side's last move of each line."""
    digest: str
    """Of the file; changes with it."""

    @property
    def widest(self) -> int:
        """The largest number of lines that end with different moves of one position."""
        return max(map(len, self.ending.values()), default=0)


def read_repertoire(path: str | Path, side: Side) -> Repertoire:
    """Every line of the games in a PGN file, variations included; a mistake names its game."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; expected a PGN file of lines") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    played: dict[Hashable, dict[str, None]] = {}
    ending: dict[Hashable, dict[str, None]] = {}
    for game in games_of_lines(text, path):
        _gather(game, side, played, ending)
    if not played:
        colour = "White" if side == 1 else "Black"
        raise InputError(f"{path}: no move of {colour} in it; expected PGN with lines to play")
    return Repertoire(
        {key: tuple(moves) for key, moves in played.items()},
        {key: tuple(moves) for key, moves in ending.items()},
        digest_of(Path(path)),
    )


def _gather(
    game: chess.pgn.Game,
    side: Side,
    played: dict[Hashable, dict[str, None]],
    ending: dict[Hashable, dict[str, None]],
) -> None:
    colour = side == 1
    # Each place with the last own position and move before it.
    stack: list[tuple[chess.pgn.GameNode, tuple[Hashable, str] | None]] = [(game, None)]
    while stack:
        node, last = stack.pop()
        if not node.variations and last is not None:
            ending.setdefault(last[0], {})[last[1]] = None
        board = node.board()
        for child in reversed(node.variations):
            here = last
            if board.turn == colour:
                here = (position_key(board), board.uci(child.move))
                played.setdefault(here[0], {})
            stack.append((child, here))
        if board.turn == colour:
            for child in node.variations:
                played[position_key(board)][board.uci(child.move)] = None


@dataclass(frozen=True)
class RepertoirePlay:
    """A preparation within a repertoire: policy and menus of one search.

    Where the repertoire has moves, the menu is its moves; elsewhere the engine's. The last own move of an
    avoided line is on no menu. Prep is the first of the menu.
    """

    analyst: Analyst
    search: Search
    most: int
    margin: float
    only: Repertoire | None = None
    avoided: Repertoire | None = None

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self.search.request(state) for state in states])

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self.search.request(state) for state in states])

    def distributions(self, states: Sequence[ChessState]) -> list[Distribution]:
        """The first of each menu, for sure."""
        return [{menu[0].action: 1.0} for menu in self.menus(states)]

    def menus(self, states: Sequence[ChessState]) -> list[Menu]:
        """The moves that may be played at each position, what the engine likes best first."""
        analyses = self.analyst.analyse([self.search.request(state) for state in states])
        return [self._menu(state, found) for state, found in zip(states, analyses, strict=True)]

    def _menu(self, state: ChessState, analysis: Analysis) -> Menu:
        key = position_key(state.board)
        avoided = () if self.avoided is None else self.avoided.ending.get(key, ())
        wanted = () if self.only is None else self.only.played.get(key, ())
        if wanted:
            scores = {line.move: float(line.score) for line in analysis.lines}
            unseen = min(scores.values()) - 1.0  # the engine liked other moves better
            options = [Option(m, scores.get(m, unseen)) for m in wanted if m not in avoided]
            menu = tuple(sorted(options, key=lambda option: -option.opinion))
        else:
            menu = move_menu(analysis, len(analysis.lines), self.margin)
            menu = tuple(option for option in menu if option.action not in avoided)[: self.most]
            if not menu:  # all near moves are avoided: the best of the others
                rest = [line for line in analysis.lines if line.move not in avoided]
                menu = tuple(Option(line.move, float(line.score)) for line in rest[:1])
        if not menu:
            line = " ".join(state.moves) or "the start"
            raise InputError(f"after {line} every move is avoided; expected lines that leave one")
        return menu


@dataclass(frozen=True)
class KnownGame:
    """Chess in which one side plays what it knows by itself: known positions cost nothing.

    They are no decisions: as chance does, the game goes on with one of the known moves, all alike.
    """

    game: ChessGame
    side: Side
    known: Repertoire

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
        moves = self.known.played[position_key(state.board)]
        return dict.fromkeys(moves, 1.0 / len(moves))

    def next(self, state: ChessState, action: str) -> ChessState:
        """As in the game."""
        return self.game.next(state, action)

    def utility(self, state: ChessState) -> float:
        """As in the game."""
        return self.game.utility(state)
