"""How a player moves, as games show it: own ones over those of others over an engine that stands in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import chess
import numpy as np

from preplay.accounts import Sources
from preplay.chess.players.counts import NOTHING, MoveCounts
from preplay.chess.players.filters import GameFilter
from preplay.chess.players.gather import Gathered, gather_games
from preplay.chess.players.squares import Keys, board_key, coded_move
from preplay.game import Distribution, Side
from preplay.policy import REST


@dataclass(frozen=True, eq=False)
class Habits:
    """What a player did with one side, position by position, however these were reached."""

    own: MoveCounts
    games: int
    weight: float
    """As how many of the player's games all else counts."""
    digest: str
    """Of the files; changes with them."""
    others: MoveCounts = NOTHING
    """How others play there."""
    others_weight: float = 1.0
    """As how many of their games the engine's opinion counts."""
    replies: MoveCounts = NOTHING
    """How the player's opponents moved in the player's own games."""
    met: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    """Every position of the player's games, whoever is to move, ascending."""

    @property
    def widest(self) -> int:
        """The largest number of different moves in one position."""
        return self.own.widest + self.others.widest

    def has_met(self, board: chess.Board) -> bool:
        """Whether the position occurred in the player's games."""
        key = np.uint64(board_key(board))
        at = int(np.searchsorted(self.met, key))
        return at < len(self.met) and bool(self.met[at] == key)

    def blend(self, board: chess.Board, engine: Distribution) -> Distribution:
        """The probabilities of the moves; see `sources`."""
        return {move: sum(parts) for move, parts in self.sources(board, engine).items()}

    def sources(self, board: chess.Board, engine: Distribution) -> dict[str, Sources]:
        """Each move's probability by where it comes from: (n(a) + w q(a)) / (n + w), q the prior.

        That is the mean of what may be believed after n games if before them q counted like w games (a
        Dirichlet prior). For the own games q is how others play, whose prior in turn is the engine. Of
        the engine's share for the rest each move that it does not list has an equal part.
        """
        key = board_key(board)
        own, others = _named(self.own.at(key), board), _named(self.others.at(key), board)
        if not own and not others:
            return {
                move: Sources(tail=p) if move == REST else Sources(engine=p) for move, p in engine.items()
            }
        total, crowd = sum(own.values()), sum(others.values())
        prior = self.weight / (total + self.weight)
        last = prior * self.others_weight / (crowd + self.others_weight) if crowd else prior
        listed = {move: p for move, p in engine.items() if move != REST}
        loose = engine.get(REST, 0.0)
        unlisted = board.legal_moves.count() - len(listed)
        each = loose / unlisted if unlisted > 0 else 0.0
        answer: dict[str, Sources] = {}
        for move in {**listed, **others, **own}:
            answer[move] = Sources(
                own=own.get(move, 0) / (total + self.weight),
                population=prior * others.get(move, 0) / (crowd + self.others_weight) if crowd else 0.0,
                engine=last * listed.get(move, 0.0),
                tail=0.0 if move in listed else last * each,
            )
        left = loose - each * sum(move not in listed for move in answer)
        if left > 1e-12:
            answer[REST] = Sources(tail=last * left)
        return answer


def _named(counts: dict[int, int], board: chess.Board) -> dict[str, int]:
    """The moves as the game names them."""
    names = {board.uci(coded_move(code)): count for code, count in counts.items()}
    return {name: n for name, n in names.items() if board.is_legal(chess.Move.from_uci(name))}


def digest_of_games(gathered: Gathered) -> str:
    """Changes with any of the files."""
    return hashlib.sha256(" ".join(gathered.digests).encode()).hexdigest()[:16]


def read_habits(
    sources: Sequence[str | Path],
    side: Side,
    players: Sequence[str] = (),
    weight: float = 1.0,
    which: GameFilter | None = None,
    *,
    keep: Path | None = None,
) -> Habits:
    """The habits of whoever has `side` in the games of PGN files; with `players`, one of these names."""
    gathered = gather_games(sources, players, side, which, keep=keep)
    digest = digest_of_games(gathered)
    replies, met = gathered.replies(), gathered.met()
    return Habits(gathered.counts(), len(gathered.games), weight, digest, replies=replies, met=met)
