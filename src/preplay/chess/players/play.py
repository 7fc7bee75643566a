"""How engines play and judge: policies and values from stored analyses.

Randomness and value model are applied to analyses afterwards, so changing them asks no engine anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from preplay.accounts import Sources
from preplay.chess.engines.analysis import Analysis, EngineSpec, Limit, Line, SearchRequest
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players.habits import Habits
from preplay.chess.rules import ChessState
from preplay.errors import EngineError, InputError
from preplay.game import Distribution
from preplay.policy import Menu, Option, menu_of, softmax
from preplay.value import Value

Model = Literal["threshold", "linear", "wdl", "logistic"]
LICHESS = 0.00368208
"""The slope for a centipawn of the curve that Lichess fits to its games."""


class Scale(Protocol):
    """What a score is worth to the players at hand."""

    def worth(self, centipawns: float) -> float:
        """White's expected result where White's score is this."""
        ...


@dataclass(frozen=True)
class Rated:
    """The logistic curve between people whose ratings differ."""

    difference: float
    """White's rating less Black's."""

    def worth(self, centipawns: float) -> float:
        """White's expected result: by the score between equals, by the ratings where it is level."""
        logit = self.difference * math.log(10) / 400.0 + LICHESS * max(
            -10_000.0, min(10_000.0, centipawns)
        )
        return 1.0 / (1.0 + math.exp(-logit))


@dataclass(frozen=True)
class Search:
    """A kind of search: engine, limit and the number of moves scored. Equal searches share analyses."""

    engine: EngineSpec
    limit: Limit
    multipv: int

    def request(self, state: ChessState) -> SearchRequest:
        """What to ask at a position."""
        return SearchRequest(self.engine, state.position, self.limit, self.multipv)


@dataclass(frozen=True)
class EnginePolicy:
    """The engine's best move (randomness 0), or softmax of centipawns over its top K moves.

    With `habits` it stands in for a player whose games are known, and moves as they tell.
    """

    analyst: Analyst
    search: Search
    randomness: float = 0.0
    habits: Habits | None = None

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self.search.request(state) for state in states])

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self.search.request(state) for state in states])

    def distributions(self, states: Sequence[ChessState]) -> list[Distribution]:
        """Probabilities of the moves that the searches scored, or that the habits know."""
        analyses = self.analyst.analyse([self.search.request(state) for state in states])
        moves = [move_distribution(analysis, self.randomness) for analysis in analyses]
        if self.habits is None:
            return moves
        return [self.habits.blend(s.board, m) for s, m in zip(states, moves, strict=True)]

    def sources(self, states: Sequence[ChessState]) -> list[dict[str, Sources]]:
        """The same by where it comes from: the engine, or the habits."""
        analyses = self.analyst.analyse([self.search.request(state) for state in states])
        moves = [move_distribution(analysis, self.randomness) for analysis in analyses]
        if self.habits is None:
            return [{move: Sources(engine=p) for move, p in play.items()} for play in moves]
        return [self.habits.sources(s.board, m) for s, m in zip(states, moves, strict=True)]

    def scores(self, states: Sequence[ChessState]) -> list[int]:
        """What the searches say of the positions, in centipawns for who is to move."""
        return scores(self.analyst, self.search, states)


def move_distribution(analysis: Analysis, randomness: float) -> Distribution:
    """What an engine with this analysis plays: the paper's Softmax(centipawns / r)."""
    return {analysis.best: 1.0} if randomness == 0.0 else lines_distribution(analysis.lines, randomness)


def lines_distribution(lines: Sequence[Line], randomness: float) -> Distribution:
    """Softmax(centipawns / r) over scored moves."""
    shares = softmax([float(line.score) for line in lines], randomness)
    return {line.move: p for line, p in zip(lines, shares, strict=True) if p > 0.0}


@dataclass(frozen=True)
class EngineMenus:
    """Offers the engine's move and the others within a margin: one search tells move, menu and value."""

    analyst: Analyst
    search: Search
    most: int
    margin: float
    """In centipawns."""

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self.search.request(state) for state in states])

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self.search.request(state) for state in states])

    def menus(self, states: Sequence[ChessState]) -> list[Menu]:
        """At most `most` moves at each position, the engine's own first, with their centipawns."""
        analyses = self.analyst.analyse([self.search.request(state) for state in states])
        return [move_menu(analysis, self.most, self.margin) for analysis in analyses]


def move_menu(analysis: Analysis, most: int, margin: float) -> Menu:
    """The move that the engine would play, then the others within `margin` centipawns of its best."""
    options = [Option(line.move, float(line.score)) for line in analysis.lines]
    if analysis.best not in {option.action for option in options}:  # a late change of its mind
        options.insert(0, Option(analysis.best, options[0].opinion))
    return menu_of(options, most, margin, first=analysis.best)


@dataclass(frozen=True)
class EngineValue:
    """v(h) read off the engine's score: an estimate, taken as it is."""

    analyst: Analyst
    search: Search
    model: Model | Scale

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self.search.request(state) for state in states])

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self.search.request(state) for state in states])

    def values(self, states: Sequence[ChessState]) -> list[Value]:
        """White's value of each position."""
        analyses = self.analyst.analyse([self.search.request(state) for state in states])
        answer = []
        for state, analysis in zip(states, analyses, strict=True):
            white = state.board.turn
            if isinstance(self.model, str):
                mine = utility_of(analysis, self.model)
                answer.append(Value(mine if white else 1.0 - mine))
            else:
                score = analysis.lines[0].score
                answer.append(Value(self.model.worth(score if white else -score)))
        return answer


def utility_of(analysis: Analysis, model: Model) -> float:
    """The mover's utility in [0, 1] by one of the value models.

    threshold: the paper's, won or lost beyond 400 centipawns, else drawn; linear: from -400 to 400;
    logistic: the curve that Lichess fits to its games; wdl: the engine's own win and draw rates.
    """
    line = analysis.lines[0]
    score = float(line.score)
    if model == "threshold":
        return 1.0 if score >= 400.0 else 0.0 if score <= -400.0 else 0.5
    if model == "linear":
        return min(1.0, max(0.0, (score / 400.0 + 1.0) / 2.0))
    if model == "logistic":
        return Rated(0.0).worth(score)
    if model == "wdl":
        if line.wdl is None:
            raise EngineError("the value model 'wdl' needs an engine with UCI_ShowWDL")
        return (line.wdl[0] + 0.5 * line.wdl[1]) / sum(line.wdl)
    raise InputError(f"value model '{model}'; expected threshold, linear, wdl or logistic")


def scores(analyst: Analyst, search: Search, states: Sequence[ChessState]) -> list[int]:
    """What a search says of positions, in centipawns for who is to move."""
    analyses = analyst.analyse([search.request(state) for state in states])
    return [analysis.lines[0].score for analysis in analyses]
