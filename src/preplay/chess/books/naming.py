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
from preplay.games.clocked import untimed


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
    for kind, unit in (("nodes", "nodes"), ("depth", "plies"), ("milliseconds", "ms")):
        if settings.get(kind):
            parts.append(f"{settings[kind]} {unit}")
    if settings.get("randomness"):
        parts += [f"best of {settings.get('multipv', 2)}", f"r = {settings['randomness']:g}"]
    return ", ".join(parts)


def at_the_board(config: Mapping[str, Any], colour: str, nodes: int) -> str:
    """What plays for a colour in a matchup: engine, limit (`nodes` where none is set) and randomness."""
    own = dict(config[colour])
    known = [str(name).partition(" [")[0] for name in config.get("engines") or ()]
    engine = known[0] if len(set(known)) == 1 else PurePath(str(own.get("engine") or "stockfish")).name
    if clock := config.get("clock"):
        budget = clock["budget"] if own.get("budget") is None else own["budget"]
        return f"{player_name(own, engine)}, {budget} {clock['unit']} for the game"
    if not any(own.get(kind) for kind in ("nodes", "depth", "milliseconds")):
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
