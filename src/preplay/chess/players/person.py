"""A person as a policy: own games over others' over an engine that stands in, unlikely moves as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import chess

from preplay.accounts import Sources
from preplay.chess.engines.analysis import Analysis, EngineSpec, Limit
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.discovery import find_command
from preplay.chess.players.habits import Habits
from preplay.chess.players.play import Search
from preplay.chess.players.standin import StandIn
from preplay.chess.rules import ChessState
from preplay.errors import InputError
from preplay.game import Distribution
from preplay.policy import REST

WIDE = 10
"""Moves that the engine scores."""
NODES = 5000
LEAST = 0.005
"""Less likely moves are lumped with the rest, so that trees stay narrow; the rest has no less."""


@dataclass(frozen=True)
class Level:
    """Which engine stands in, and how strongly it plays."""

    engine: str | None = None
    """A name on the PATH, a path, or a command; None: the engine that preplay finds."""
    options: Mapping[str, str | int | bool] = field(default_factory=dict)
    nodes: int = NODES
    multipv: int = WIDE

    def search(self) -> Search:
        """What it is asked."""
        spec = EngineSpec.of(find_command(self.engine), dict(self.options))
        return Search(spec, Limit(nodes=self.nodes), self.multipv)

    def __str__(self) -> str:
        options = "".join(f", {name} {value}" for name, value in self.options.items())
        return f"{self.nodes} nodes{options}"


def parse_level(text: str, engine: str | None = None) -> Level:
    """A level as users write it: "nodes=2000", "UCI_Elo=1800", "Skill Level=5,nodes=1000"."""
    options: dict[str, str | int | bool] = {}
    nodes = NODES
    for part in text.split(","):
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not value:
            raise InputError(f"level '{text}'; expected NAME=VALUE, as in nodes=2000 or UCI_Elo=1800")
        if name.casefold() == "nodes":
            if not (_number(value) and int(value) > 0):
                raise InputError(f"level '{text}': nodes={value}; expected a whole number of at least 1")
            nodes = int(value)
        else:
            options[name] = int(value) if _number(value) else value
            if name.casefold() == "uci_elo":
                options["UCI_LimitStrength"] = True
    return Level(engine, options, nodes)


def _number(text: str) -> bool:
    """Whether these are plain digits of a number that engines know."""
    return text.isascii() and text.isdigit() and len(text) <= 18


@dataclass(frozen=True, eq=False)
class Person:
    """A player as a model: what games tell, who stands in for them, and below what moves are the rest."""

    habits: Habits
    level: Level
    standin: StandIn
    least: float = LEAST

    def sources(self, board: chess.Board, analysis: Analysis) -> dict[str, Sources]:
        """Each move's probability by where it comes from.

        Unlikely moves are lumped with the rest, and the rest has at least the share below which a move is
        unlikely: however many games tell of a position, one day another move is played in it.
        """
        legal = board.legal_moves.count()
        found = self.habits.sources(board, self.standin.distribution(analysis, legal))
        likely = {
            move: parts for move, parts in found.items() if sum(parts) >= self.least and move != REST
        }
        if not likely or len(likely) == legal:
            return found
        named = sum(sum(parts) for parts in likely.values())
        rest = max(self.least, 1.0 - named)
        if rest <= 1e-12:
            return likely
        scale = (1.0 - rest) / named
        answer = {move: Sources(*(scale * part for part in parts)) for move, parts in likely.items()}
        return answer | {REST: Sources(tail=rest)}

    def distribution(self, board: chess.Board, analysis: Analysis) -> Distribution:
        """The probabilities of the moves."""
        return {move: sum(parts) for move, parts in self.sources(board, analysis).items()}


@dataclass(frozen=True, eq=False)
class PersonPolicy:
    """The person at the board, asked in batches like an engine."""

    analyst: Analyst
    person: Person
    search: Search

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        self.analyst.prefetch([self.search.request(state) for state in states])

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        self.analyst.cancel([self.search.request(state) for state in states])

    def distributions(self, states: Sequence[ChessState]) -> list[Distribution]:
        """Probabilities of the likely moves, and one for the rest of them."""
        return [{m: sum(parts) for m, parts in found.items()} for found in self.sources(states)]

    def sources(self, states: Sequence[ChessState]) -> list[dict[str, Sources]]:
        """The same by where it comes from."""
        analyses = self.analyst.analyse([self.search.request(state) for state in states])
        return [self.person.sources(s.board, a) for s, a in zip(states, analyses, strict=True)]
