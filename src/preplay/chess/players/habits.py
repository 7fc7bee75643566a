"""An opponent as his own games show him: how often he chose each move in the positions he met."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path

import chess

from preplay.chess.books.lines import position_key
from preplay.chess.players.readgames import games, read_pgn
from preplay.errors import InputError, nearest
from preplay.game import Distribution, Side


@dataclass(frozen=True)
class Habits:
    """What a player did with one side, position by position, however these were reached."""

    chosen: Mapping[Hashable, Mapping[chess.Move, int]]
    """How often each move was played in each position."""
    games: int
    weight: float
    """As how many games the engine's opinion counts."""
    digest: str
    """Of the file; changes with it."""

    @property
    def widest(self) -> int:
        """The largest number of different moves in one position."""
        return max(map(len, self.chosen.values()), default=0)

    def blend(self, board: chess.Board, engine: Distribution) -> Distribution:
        """His moves and the engine's: (n(a) + w p(a)) / (n + w).

        That is the mean of what may be believed after n games if before them the engine's p counted
        like w games (a Dirichlet prior). Where he has no games it is the engine's p.
        """
        counts = self.chosen.get(position_key(board))
        if not counts:
            return engine
        total = sum(counts.values()) + self.weight
        mixed = {move: self.weight * p / total for move, p in engine.items()}
        for move, n in counts.items():
            name = board.uci(move)
            mixed[name] = mixed.get(name, 0.0) + n / total
        return mixed


def read_habits(path: str | Path, side: Side, player: str = "", weight: float = 1.0) -> Habits:
    """The habits of whoever has `side` in the games of a PGN file; `player` is a name or a part of it."""
    text, colour = read_pgn(path), "White" if side == 1 else "Black"
    chosen: dict[Hashable, Counter[chess.Move]] = {}
    others: Counter[str] = Counter()
    count = 0
    for game in games(text, str(path)):
        who = game.player(side)
        if not game.standard:
            continue
        if player.lower() not in who.lower():
            others[who] += 1
            continue
        count += 1
        board = game.start.copy()
        for move in game.moves:
            if board.turn == (side == 1):
                chosen.setdefault(position_key(board), Counter())[move] += 1
            board.push(move)
    if not count:
        known = [name for name, _ in others.most_common(8) if name]
        hint = nearest(player, known) if known else "the games name nobody"
        raise InputError(f"{path}: no game of chess in which '{player}' has {colour}; {hint}")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Habits(chosen, count, weight, digest)
