"""Chess with a clock for the whole game: engines that spend a budget of nodes or milliseconds.

A search is asked for by position and limit. Limits come from a coarse grid, so roll-outs that meet
nearly the same clocks in the same position share one analysis. The time charged is the limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from preplay.chess.engines.analysis import EngineSpec, Limit, SearchRequest
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players.habits import Habits
from preplay.chess.players.play import Search, move_distribution
from preplay.chess.rules import ChessGame, ChessState, line_san
from preplay.game import Distribution
from preplay.games.clocked import RESIGN, Clocked, ClockedState, untimed
from preplay.value import Value

Unit = Literal["nodes", "milliseconds"]
ClockedChessState = ClockedState[ChessState]


@dataclass(frozen=True)
class ClockedChess(Clocked[ChessState]):
    """Chess under a clock; like `ChessGame` it can say where it starts."""

    game: ChessGame

    @property
    def start_fen(self) -> str:
        """FEN of the start position; empty for the standard one."""
        return self.game.start_fen

    @property
    def chess960(self) -> bool:
        """Whether castling follows the rules of Chess960."""
        return self.game.chess960

    def write(self, history: Sequence[str], move: str | None = None) -> str:
        """A clocked history, or a move after it, as people read it; times are left out."""
        return line_san(self.game, bare(history), None if move is None else untimed(move)[0])


def bare(history: Sequence[str]) -> tuple[str, ...]:
    """A clocked history without its times: UCI moves."""
    return tuple(untimed(name)[0] for name in history)


def thinking_times(game: ClockedChess, history: Sequence[str]) -> tuple[list[int], list[int]]:
    """The times that White and Black took for the moves of a game that took any."""
    times: tuple[list[int], list[int]] = ([], [])
    first = game.root().player - 1
    for ply, name in enumerate(history):
        if time := untimed(name)[1]:
            times[(first + ply) % 2].append(time)
    return times


@dataclass(frozen=True)
class EngineEffort:
    """An engine that searches as long as it is told, and resigns when its own search says it is lost."""

    analyst: Analyst
    engine: EngineSpec
    unit: Unit
    multipv: int
    randomness: float = 0.0
    resign: int | None = None
    """Centipawns behind at which it resigns; None: never."""
    habits: Habits | None = None
    """The games of the player whom it stands in for."""
    asked: dict[tuple[str, ...], SearchRequest] = field(default_factory=dict, repr=False, compare=False)
    """Searches that were asked ahead, by history."""

    def request(self, state: ClockedChessState, effort: int) -> SearchRequest:
        """The search of one move."""
        limit = Limit(nodes=effort) if self.unit == "nodes" else Limit(milliseconds=effort)
        return SearchRequest(self.engine, state.inner.position, limit, self.multipv)

    def prefetch(self, states: Sequence[ClockedChessState], efforts: Sequence[int]) -> None:
        """Let the searches begin."""
        for state, effort in zip(states, efforts, strict=True):
            self.asked[state.actions] = self.request(state, effort)
        self.analyst.prefetch([self.asked[state.actions] for state in states])

    def cancel(self, states: Sequence[ClockedChessState], efforts: Sequence[int]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel(self._taken(states, efforts))

    def _taken(self, states: Sequence[ClockedChessState], efforts: Sequence[int]) -> list[SearchRequest]:
        """The requests of these states, which are not asked ahead any more."""
        return [
            self.asked.pop(state.actions) if state.actions in self.asked else self.request(state, effort)
            for state, effort in zip(states, efforts, strict=True)
        ]

    def distributions(
        self, states: Sequence[ClockedChessState], efforts: Sequence[int]
    ) -> list[Distribution]:
        """Probabilities of the moves that the searches scored, or resignation."""
        answer: list[Distribution] = []
        analyses = self.analyst.analyse(self._taken(states, efforts))
        for state, analysis in zip(states, analyses, strict=True):
            if self.resign is not None and analysis.lines[0].score <= -self.resign:
                answer.append({RESIGN: 1.0})
                continue
            moves = move_distribution(analysis, self.randomness)
            answer.append(self.habits.blend(state.inner.board, moves) if self.habits else moves)
        return answer


@dataclass(frozen=True)
class Guess:
    """A first guess of v(h) from a search and the clocks: where to look before games are played.

    White's chances are logistic in the score and in how much more time White has.
    """

    analyst: Analyst
    search: Search
    slope: float
    """Log-odds of winning per centipawn."""
    doubling: float
    """Log-odds of winning for twice the time of the opponent."""

    def prefetch(self, states: Sequence[ClockedChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self.search.request(state.inner) for state in states])

    def cancel(self, states: Sequence[ClockedChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self.search.request(state.inner) for state in states])

    def values(self, states: Sequence[ClockedChessState]) -> list[Value]:
        """White's chances at each state."""
        analyses = self.analyst.analyse([self.search.request(state.inner) for state in states])
        answer = []
        for state, analysis in zip(states, analyses, strict=True):
            score = analysis.lines[0].score * (1 if state.player == 1 else -1)
            white, black = (max(1, left) for left in state.left)
            odds = self.slope * score + self.doubling * math.log2(white / black)
            answer.append(Value(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))))
        return answer
