"""A `preplay match` run as data for the page: its games as one tree, the result beside the promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from preplay.chess.scoresheet import PlayedGame
from preplay.errors import InputError, StoreError
from preplay.game import FINAL
from preplay.games.clocked import untimed
from preplay.report import notation, openings, words
from preplay.report.cut import columns, rounded
from preplay.runs.directory import Run
from preplay.runs.outcomes import MatchResult
from preplay.tree import Tree, from_parents

DEEP = 60
"""Half-moves of a game that the tree shows."""
LISTED = 400
"""Games that are listed one by one."""


@dataclass
class _Place:
    """A position of the games while they are put together."""

    games: int = 0
    score: float = 0.0
    ended: int = 0
    below: dict[str, _Place] = field(default_factory=dict)


def played(run: Run) -> dict[str, Any]:
    """What the page needs of a match."""
    result = MatchResult.found(run)
    if not result.played:
        raise StoreError(f"{run.directory}: has no games yet; finish its `preplay match --save`")
    matchup = run.matchup
    if not run.is_chess:
        raise InputError(
            f"{run.directory}: a match of '{run.name}', which has no page; expected a match of chess"
        )
    start = words.table(matchup, "start")
    first = 2 if " b " in str(start.get("fen") or "") else 1
    if len(start.get("moves") or ()) % 2:
        first = 3 - first
    tree, places = _together(result.played, first)
    early = notation.before(matchup)
    fen = beginning(matchup)
    chess960 = bool(matchup.get("chess960"))
    written = notation.standard(tree, fen, chess960, {})
    if written is None:
        raise StoreError(f"{run.directory}: its games do not begin where its matchup does")
    named = {} if chess960 else openings.named(tree, written.moves, fen, early["played"])
    control = result.control
    return {
        "chess": True,
        "chess960": chess960,
        "drawing": None,
        "start": fen,
        **early,
        "match": {
            "side": [str(side) for side in result.sides],
            "games": result.games,
            "adjudication": result.adjudication,
            "opponent": result.opponent,
            "tally": [result.wins, result.draws, result.losses],
            "score": list(result.score),
            "elo": [result.elo.mean, result.elo.low, result.elo.high] if result.elo else [None] * 3,
            "promised": result.promised,
            "promised_error": result.promised_error,
            "agrees": result.agrees,
            "p_value": result.p_value,
            "book_moves": result.book_moves,
            "endings": sorted(result.endings.items(), key=lambda item: -item[1]),
            "control": list(control.score) if control else None,
        },
        "list": [_row(game) for game in result.played[:LISTED]],
        "tree": columns(tree, written.moves, written.labels)
        | {
            "p": rounded(tree.base)[1:],
            "value": rounded(np.array([place.score / place.games for place in places])),
            "games": [place.games for place in places],
            "openings": named,
        },
    }


def _together(games: Sequence[PlayedGame], first: int) -> tuple[Tree, list[_Place]]:
    """The games as one tree, breadth first, with what each position gave the prepared side."""
    root = _Place()
    for game in games:
        place = root
        place.games += 1
        place.score += game.score
        for move in game.moves[:DEEP]:
            place = place.below.setdefault(untimed(move)[0], _Place())
            place.games += 1
            place.score += game.score
        place.ended += len(game.moves) <= DEEP
    names: dict[str, int] = {}
    places, parent, player, base, action = [root], [-1], [first], [1.0], [-1]
    for k, place in enumerate(places):  # grows while it is walked: breadth first
        for move, child in sorted(place.below.items(), key=lambda item: -item[1].games):
            places.append(child)
            parent.append(k)
            player.append(3 - player[k] if child.below or not child.ended else FINAL)
            base.append(child.games / sum(c.games for c in place.below.values()))
            action.append(names.setdefault(move, len(names)))
    value = [place.score / place.games for place in places]
    tree = from_parents(parent, player, base, base, value, action=action, names=tuple(names))
    return tree, places


def _row(game: PlayedGame) -> list[Any]:
    """[number, who was prepared, score, how it ended, book moves, half-moves, its line in UCI]."""
    line = [untimed(move)[0] for move in game.moves[:DEEP]]
    return [game.number + 1, game.side, game.score, game.reason, game.depth, len(game.moves), line]


def beginning(matchup: Any) -> str:
    """Where the games begin, with the moves before the start made; empty for the usual position."""
    import chess

    start = words.table(matchup, "start")
    fen, early = str(start.get("fen") or ""), notation.before(matchup)["played"]
    if not early:
        return fen
    board = chess.Board(fen or chess.STARTING_FEN, chess960=bool(matchup.get("chess960")))
    for move in early:
        board.push_uci(move)
    return board.fen()
