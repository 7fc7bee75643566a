"""What runs tell other programs: headers of PGN games, and the game of preparation of an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping

from preplay.book import Book
from preplay.chess.books.naming import player_headers
from preplay.equilibria.explicit import explicit_game
from preplay.equilibria.gambit import efg_text
from preplay.errors import InputError
from preplay.runs.directory import Run

LARGEST = 1_000_000
"""Nodes of a game G' that is written, at most, unless something else is asked for."""


def pgn_headers(run: Run, book: Book) -> Mapping[str, object]:
    """PGN headers that say who prepared against whom, with what."""
    matchup = run.matchup
    return {
        **player_headers(matchup, book.side),
        "Date": run.created[:10].replace("-", ".") or "????.??.??",
        "Matchup": run.name,
        "Engines": ", ".join(matchup.get("engines", ())),
        "PreplayVersion": run.versions.get("preplay", "?"),
    }


def preparation_game(run: Run, limit: int = LARGEST) -> str:
    """The game G' of an equilibrium run as .efg text, of at most so many nodes."""
    if run.command != "equilibrium":
        raise InputError(
            f"{run.directory}: made by `preplay {run.command}`; --efg needs an equilibrium run"
        )
    costs = run.identified("costs", _two_prices)
    tree = run.tree()
    # What was not adopted by its mover is not to be memorized: its prep was never looked at further.
    game = explicit_game(tree, (costs[0], costs[1]), memorizable=~tree.open, limit=limit)
    return efg_text(game, run.name)


def _two_prices(costs: object) -> bool:
    return isinstance(costs, list) and len(costs) == 2 and all(isinstance(c, int | float) for c in costs)
