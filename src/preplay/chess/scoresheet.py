"""Games of a match on paper: as PGN by its export format, and as lines from which a match goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.pgn

from preplay import journal
from preplay.chess.endings import FLAG, MODEL, RESIGNATION, termination
from preplay.game import Side
from preplay.games.clocked import untimed

UNPREPARED = "Unprepared"
END_OF_BOOK = "the book ends"


@dataclass(frozen=True)
class PlayedGame:
    """One finished game, from the point of view of the prepared side."""

    number: int
    side: Side
    prepared: bool
    """False in control games without the book."""
    moves: tuple[str, ...]
    """The history; under a clock, moves tell their time."""
    score: float
    """Utility of the prepared side: 1, 1/2, 0, or the model's value where the book ended."""
    depth: int
    """Book moves played."""
    reason: str
    date: str = ""
    """When it was played: year, month and day with dots; empty in older files."""


@dataclass(frozen=True)
class Heading:
    """What all games of a match have in common on paper."""

    event: str
    players: tuple[str, str] = ("Prepared", "Opponent")
    """What the prepared side and the other one are called."""
    engines: tuple[str, str] = ("", "")
    """What plays for White and for Black: engine, limit and randomness."""
    start: str = ""
    """FEN of the first position; empty for the usual one."""
    chess960: bool = False
    more: Mapping[str, str] = field(default_factory=dict)
    """Further tags: seed, version."""


def pgn_of(played: PlayedGame, heading: Heading) -> str:
    """One game as PGN, with where the book ended."""
    sheet = chess.pgn.Game()
    if heading.start or heading.chess960:
        sheet.setup(chess.Board(heading.start or chess.STARTING_FEN, chess960=heading.chess960))
    prepared, opponent = heading.players
    prepared = prepared if played.prepared else UNPREPARED
    white, black = (prepared, opponent) if played.side == 1 else (opponent, prepared)
    white_score = played.score if played.side == 1 else 1.0 - played.score
    result = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}.get(white_score, "*")
    tags = {
        "Event": heading.event,
        "Site": "?",
        "Date": played.date or "????.??.??",
        "Round": str(played.number + 1),
        "White": white,
        "Black": black,
        "Result": result,
        "WhiteType": "program",
        "BlackType": "program",
        "WhiteEngine": heading.engines[0],
        "BlackEngine": heading.engines[1],
        "Termination": termination(played.reason, result != "*"),
        "Ending": played.reason,
        "BookMoves": str(played.depth),
        "Score": f"{played.score:.6g}" if played.reason == MODEL else "",
        **heading.more,
    }
    sheet.headers.update({name: value for name, value in tags.items() if value})
    node: chess.pgn.GameNode = sheet
    left = played.depth
    for name in played.moves[:-1] if played.reason in (RESIGNATION, FLAG) else played.moves:
        move, time = untimed(name)
        own = (node.turn() == chess.WHITE) == (played.side == 1)
        node = node.add_variation(node.board().parse_uci(move))
        words = [f"time {time}"] if time else []
        if own and left:
            left -= 1
            words += [END_OF_BOOK] if not left else []
        node.comment = ", ".join(words)
    last = f"{played.reason}, score {played.score:.4g} for {prepared}"
    node.comment = f"{node.comment}; {last}" if node.comment else last
    return str(sheet.accept(chess.pgn.StringExporter(columns=79))) + "\n\n"


def read_scoresheet(path: Path) -> list[PlayedGame]:
    """Games kept by an earlier run; a last line cut off by a kill is passed over."""
    return journal.records(path, PlayedGame)
