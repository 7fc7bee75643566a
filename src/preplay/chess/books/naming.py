"""How players and scores of a run are named outside: PGN headers, reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import chess
import chess.engine

from preplay.book import Book
from preplay.chess.engines.analysis import mate_in
from preplay.chess.rules import ChessGame, line_san
from preplay.game import Side
from preplay.games.clocked import untimed

LIMITS = (("nodes", "nodes"), ("depth", "plies"), ("milliseconds", "ms"))
"""How a search is limited: the setting, and its unit."""


def player_name(settings: Mapping[str, Any], engine: str) -> str:
    """A side of a matchup in a few words: "Stockfish 15.1, 5000 nodes, best of 2, r = 10"."""
    parts = [engine]
    if rivals := settings.get("opponent"):
        who = " or ".join(PurePath(rival["file"]).stem for rival in rivals)
        return f"{who}, fitted to games"
    if games := settings.get("games"):
        names, files = games.get("player") or "a player", games["file"]
        who = names if isinstance(names, str) else names[0]
        file = PurePath(files if isinstance(files, str) else files[0]).name
        parts = [f"{who} as in {file}, else {engine}"]
    for kind, unit in LIMITS:
        if settings.get(kind):
            parts.append(f"{settings[kind]} {unit}")
    if settings.get("randomness"):
        parts += [f"best of {settings.get('multipv', 2)}", f"r = {settings['randomness']:g}"]
    return ", ".join(parts)


def engine_of(matchup: Mapping[str, Any], player: Mapping[str, Any]) -> str:
    """The engine's name: by itself where only one took part, else as configured."""
    known = [str(name).partition(" [")[0] for name in matchup.get("engines") or ()]
    if len(set(known)) == 1:
        return known[0]
    return PurePath(str(player.get("engine") or "stockfish")).name.capitalize()


def clock_of(matchup: Mapping[str, Any], player: Mapping[str, Any]) -> str:
    """The time of a side: "30,000 nodes for the game + 100 a move"."""
    found = matchup.get("clock")
    common: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    budget, increment = (
        player.get(key) if player.get(key) is not None else common.get(key, 0)
        for key in ("budget", "increment")
    )
    unit = "ms" if common.get("unit") == "milliseconds" else "nodes"
    return f"{budget:,} {unit} for the game" + (f" + {increment:,} a move" if increment else "")


def player_headers(matchup: Mapping[str, Any], side: Side) -> dict[str, str]:
    """The PGN headers White and Black of a book: who prepared with what, the preparing side first."""
    own, opponent = ("white", "black") if side == 1 else ("black", "white")
    said = {key: value for key, value in (matchup.get(f"{own}_prep") or {}).items() if value is not None}
    limited = any(limit in said for limit, _ in LIMITS)
    common = matchup.get("prep", {}).items()
    study = {k: value for k, value in common if not (limited and k in dict(LIMITS))} | said
    theirs = matchup.get(opponent, {})
    against = player_name(theirs, engine_of(matchup, theirs))
    if matchup.get("kind") == "chess-clock":
        against = f"{against}, {clock_of(matchup, theirs)}"
    return {
        own.capitalize(): f"Preparation ({player_name(study, engine_of(matchup, study))})",
        opponent.capitalize(): against,
    }


def at_the_board(config: Mapping[str, Any], colour: str, nodes: int) -> str:
    """What plays for a colour in a matchup: engine, limit (`nodes` where none is set) and randomness."""
    own = dict(config[colour])
    known = [str(name).partition(" [")[0] for name in config.get("engines") or ()]
    engine = known[0] if len(set(known)) == 1 else PurePath(str(own.get("engine") or "stockfish")).name
    if clock := config.get("clock"):
        budget = clock["budget"] if own.get("budget") is None else own["budget"]
        return f"{player_name(own, engine)}, {budget} {clock['unit']} for the game"
    if not any(own.get(kind) for kind, _ in LIMITS):
        own["nodes"] = nodes
    return player_name(own, engine)


def writing(book: Book) -> Callable[[Sequence[str], str | None], str]:
    """Writes a book's histories, or a move after one, in SAN; times are left out."""
    game = ChessGame(book.start, (), 1000, book.chess960)

    def write(history: Sequence[str], move: str | None) -> str:
        bare = [untimed(name)[0] for name in history]
        return line_san(game, bare, None if move is None else untimed(move)[0])

    return write


def scores(book: Book) -> dict[tuple[str, ...], chess.engine.PovScore]:
    """The engine's score of each own position that a move led to, by its moves without times."""
    color = chess.WHITE if book.side == 1 else chess.BLACK
    found: dict[tuple[str, ...], chess.engine.PovScore] = {}
    for entry in book.entries:
        if entry.score is not None and entry.history:
            mate = mate_in(entry.score)
            score = chess.engine.Cp(entry.score) if mate is None else chess.engine.Mate(mate)
            found[tuple(untimed(name)[0] for name in entry.history)] = chess.engine.PovScore(score, color)
    return found
