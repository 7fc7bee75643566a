"""How well a model of a player foresees moves that were played, beside simpler models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import chess
import numpy as np

from preplay.chess.players import fit
from preplay.chess.players.counts import NOTHING
from preplay.chess.players.fit import SeenMove
from preplay.chess.players.person import Person
from preplay.chess.players.squares import coded_move
from preplay.chess.players.standin import StandIn
from preplay.policy import spread_rest


@dataclass(frozen=True)
class Foresight:
    """How well a model foresaw moves that were played, the rest of the moves drawn equally."""

    logloss: float
    """Mean surprise in nats; no move counts as less likely than 1e-4."""
    error: float
    """Its standard error."""
    top1: float
    """How often its first choice was played."""
    below: float
    """The share of moves that it gave less than 1e-4."""
    reliability: tuple[tuple[float, float, int], ...] | None
    """Of moves that it gave about so much: the mean of that, how often they were played, their number."""


BINS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)


def foresight(person: Person, testing: Sequence[tuple[SeenMove, chess.Board]]) -> Foresight:
    """Hold a model against moves that were played, as it would be drawn from at the board."""
    played, hits = np.zeros(len(testing)), np.zeros(len(testing))
    given: list[float] = []
    seen: list[bool] = []
    for k, (move, board) in enumerate(testing):
        shares = person.distribution(board, move.analysis)
        name = board.uci(coded_move(move.code))
        hits[k] = max(shares, key=lambda one: shares[one]) == name
        whole = spread_rest(shares, [board.uci(one) for one in board.legal_moves])
        played[k] = whole.get(name, 0.0)
        given += whole.values()
        seen += [one == name for one in whole]
    surprise = -np.log(np.maximum(played, fit.FLOOR))
    p, happened = np.array(given), np.array(seen)
    where = np.clip(np.digitize(p, BINS) - 1, 0, len(BINS) - 2)
    bins = [(p[where == b], happened[where == b]) for b in range(len(BINS) - 1)]
    return Foresight(
        logloss=float(surprise.mean()),
        error=float(surprise.std() / np.sqrt(len(testing))),
        top1=float(hits.mean()),
        below=float(np.mean(played < fit.FLOOR)),
        reliability=tuple((float(x.mean()), float(y.mean()), len(x)) for x, y in bins if len(x)),
    )


def simpler(person: Person) -> dict[str, Person]:
    """The levels of a model one by one, and what stood in for people before there was one."""
    habits, two = person.habits, StandIn(0.0, 1.0 - 1e-12, 10.0, 10.0, 0.0)
    own, others = replace(habits, others=NOTHING), replace(habits, own=NOTHING)
    nobody = replace(own, own=NOTHING)
    narrow = replace(person, habits=nobody, standin=two, least=0.0)
    return {
        "engine, best 2, r = 10": narrow,
        "own games over engine, best 2, r = 10": replace(narrow, habits=replace(own, weight=1.0)),
        "engine mix": replace(person, habits=nobody),
        "own games over engine mix": replace(person, habits=own),
        "others over engine mix": replace(person, habits=others),
    }
