"""The opponent of a run, ready to play by the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from preplay.chess.books.naming import at_the_board
from preplay.chess.players.repertoire import KnownGame
from preplay.chess.rules import ChessGame
from preplay.chess.uci.modelled import Modelled
from preplay.errors import InputError
from preplay.game import other
from preplay.matchup.searching import BASE_NODES
from preplay.runs.directory import Run
from preplay.runs.reopening import reopened


@contextmanager
def opponent_of(run: Run, side: str | None = None, *, store: Path | None = None) -> Iterator[Modelled]:
    """Whom the prepared side of a chess run meets; of an equilibrium `side` (else white) is prepared."""
    if run.matchup.get("kind") != "chess":
        raise InputError(
            f"{run.directory}: a run of '{run.name}' (kind '{run.matchup.get('kind')}'); "
            "expected chess without a clock"
        )
    both = run.command == "equilibrium"
    prepared = run.book((side or "white") if both else side)
    who = other(prepared.side)
    with reopened(run, workers=1, store=store) as matchup:
        game = matchup.game.rules if isinstance(matchup.game, KnownGame) else matchup.game
        assert isinstance(game, ChessGame)
        name = f"preplay opponent: {at_the_board(matchup.config, run.sides[who - 1], BASE_NODES)}"
        book = run.book(run.sides[who - 1]) if both else None
        yield Modelled(name, who, game, matchup.base[who - 1], book)
