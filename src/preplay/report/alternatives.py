"""What else could be played at the positions of a chess book, and what it is worth against this opponent.

The engine of the preparation is asked for its best moves at every position of the book. Each move is
valued one answer deep, in the currency of the book: the opponent's answers by their probabilities, the
positions after them by the matchup's values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from preplay.book import Book
from preplay.chess.players.play import EnginePolicy
from preplay.chess.players.repertoire import RepertoirePlay
from preplay.errors import InputError
from preplay.game import FINAL, Side, other, walk
from preplay.matchup import Matchup
from preplay.policy import REST
from preplay.runs.directory import Run

FILE = "alternatives.json"
FORMAT = "preplay-alternatives/1"
LINE = 8
"""Moves of the engine's line that are kept."""


@dataclass(frozen=True)
class Reply:
    """An answer of the opponent."""

    move: str
    probability: float
    value: float
    """Of the position after it, for the preparing side; of `REST` that of the position before it."""


@dataclass(frozen=True)
class OtherMove:
    """A move at a position of the book."""

    move: str
    score: int
    """What the engine thinks of it, in centipawns for the preparing side."""
    worth: float
    """What it earns against this opponent, one answer deep."""
    replies: tuple[Reply, ...]
    """The most probable first."""
    line: tuple[str, ...]
    """What the engine expects, the move itself first."""


def alternatives(matchup: Matchup[Any], book: Book, most: int) -> list[tuple[OtherMove, ...]]:
    """For each entry of the book the engine's `most` best moves, best worth first."""
    side: Side = book.side
    policy = matchup.prep[side - 1]
    if not isinstance(policy, EnginePolicy | RepertoirePlay):
        raise InputError(f"matchup '{matchup.name}': alternatives need a chess engine that prepares")
    search = replace(policy.search, multipv=max(most, policy.search.multipv))
    game = matchup.game
    states = [walk(game, entry.history) for entry in book.entries]
    analyses = policy.analyst.analyse([search.request(state) for state in states])
    options: list[tuple[int, Any]] = []  # (entry, scored line)
    for k, (entry, analysis) in enumerate(zip(book.entries, analyses, strict=True)):
        played = max(entry.moves, key=lambda move: entry.moves[move])
        lines = [line for j, line in enumerate(analysis.lines) if j < most or line.move == played]
        options += [(k, line) for line in lines]
    after = [game.next(states[k], line.move) for k, line in options]
    found = _replies(matchup, side, after)
    answer: list[list[OtherMove]] = [[] for _ in states]
    for (k, line), (worth, replies) in zip(options, found, strict=True):
        pv = tuple(line.pv.split()[:LINE])
        answer[k].append(OtherMove(line.move, line.score, worth, replies, pv))
    return [tuple(sorted(moves, key=lambda one: -one.worth)) for moves in answer]


def _replies(
    matchup: Matchup[Any], side: Side, after: Sequence[Any]
) -> list[tuple[float, tuple[Reply, ...]]]:
    """What each position after an own move is worth, and the answers to it."""
    game = matchup.game
    going = [k for k, state in enumerate(after) if game.player(state) != FINAL]
    shares = matchup.base[other(side) - 1].distributions([after[k] for k in going])
    rows = [(k, move, p) for k, moves in zip(going, shares, strict=True) for move, p in moves.items()]
    states = [after[k] if move == REST else game.next(after[k], move) for k, move, _ in rows]
    values = _values(matchup, side, states)
    replies: dict[int, list[Reply]] = {k: [] for k in range(len(after))}
    for (k, move, p), value in zip(rows, values, strict=True):
        replies[k].append(Reply(move, p, value))
    answer = []
    for k, state in enumerate(after):
        own = tuple(sorted(replies[k], key=lambda reply: -reply.probability))
        worth = sum(reply.probability * reply.value for reply in own)
        answer.append((worth if own else _utility(matchup, side, state), own))
    return answer


def _values(matchup: Matchup[Any], side: Side, states: Sequence[Any]) -> list[float]:
    game = matchup.game
    open_ones = [k for k, state in enumerate(states) if game.player(state) != FINAL]
    asked = iter(matchup.value.values([states[k] for k in open_ones]))
    known = set(open_ones)
    return [
        next(asked).for_player(side).mean if k in known else _utility(matchup, side, state)
        for k, state in enumerate(states)
    ]


def _utility(matchup: Matchup[Any], side: Side, state: Any) -> float:
    value = matchup.game.utility(state)
    return value if side == 1 else 1.0 - value


def keep(run: Run, book: Book, found: Sequence[Sequence[OtherMove]], most: int) -> None:
    """Keep them with the run: its pages show them from then on."""
    rows = [
        {"history": entry.history, "options": [asdict(option) for option in options]}
        for entry, options in zip(book.entries, found, strict=True)
    ]
    run.write(FILE, {"format": FORMAT, "most": most, "positions": rows})


def kept(run: Run) -> Mapping[tuple[str, ...], tuple[OtherMove, ...]]:
    """What a run keeps of them, by history; empty where nobody asked."""
    if not run.path(FILE).exists():
        return {}
    data = run.read(FILE)
    try:
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r}; expected {FORMAT}")
        return {
            tuple(row["history"]): tuple(_read(option) for option in row["options"])
            for row in data["positions"]
        }
    except (KeyError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{run.path(FILE)}: damaged ({said})") from None


def _read(option: Any) -> OtherMove:
    from pydantic import TypeAdapter

    return TypeAdapter(OtherMove).validate_json(json.dumps(option), strict=True)
