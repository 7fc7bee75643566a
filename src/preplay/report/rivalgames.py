"""A rival's own games at the positions of a page: how often, what was played, and which games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import chess
import numpy as np

from preplay.chess.players.archive import GameTags, parts
from preplay.chess.players.filters import date_of
from preplay.chess.players.names import meant
from preplay.chess.players.opponents import load_opponent
from preplay.chess.players.sources import find_files
from preplay.chess.players.squares import board_key, coded_move
from preplay.errors import InputError
from preplay.game import Side
from preplay.report.words import table
from preplay.tree import Tree

NAMED = 5
"""Games that are named at a position, the newest first."""


def met(
    tree: Tree, moves: list[str], start: str, matchup: Mapping[str, Any], rival: Side
) -> dict[int, list[Any]]:
    """By history of the rival: [games, [[move in SAN, times], …], [names of games, …]].

    Empty where the rival is an engine, or where the files of games are no longer there.
    """
    own = table(matchup, "white" if rival == 1 else "black")
    games = table(own, "games")
    if start or not (games or own.get("opponent")):
        return {}
    boards = {k: board for k, board in _boards(tree, moves) if tree.player[k] == rival}
    if not games:
        return _fitted(own["opponent"], boards)
    wanted = {board_key(board) for board in boards.values()}
    found: dict[int, list[tuple[str, int, str]]] = {}
    try:
        for tags, key, code in _played(games, rival, wanted):
            found.setdefault(key, []).append((date_of(tags), code, _name(tags)))
    except (InputError, OSError):
        return {}  # only the names of games are lost
    answer: dict[int, list[Any]] = {}
    for k, board in boards.items():
        rows = sorted(found.get(board_key(board), ()), reverse=True)
        chosen = Counter(board.san(coded_move(code)) for _, code, _ in rows)
        if rows:
            told = [[san, times] for san, times in chosen.most_common()]
            answer[k] = [len(rows), told, [name for _, _, name in rows[:NAMED]]]
    return answer


def _fitted(rivals: Any, boards: Mapping[int, chess.Board]) -> dict[int, list[Any]]:
    """The same of an opponent that was fitted before: the file has the counts, not the names of games."""
    try:
        (row,) = rivals
        habits = load_opponent(row["file"])[0].person.habits
    except (InputError, OSError, KeyError, TypeError, ValueError):
        return {}  # several, of whom one will come; or the file is gone
    answer: dict[int, list[Any]] = {}
    for k, board in boards.items():
        counts = habits.own.at(board_key(board))
        common = sorted(counts.items(), key=lambda item: -item[1])
        told = [[board.san(coded_move(code)), times] for code, times in common]
        if told:
            answer[k] = [sum(counts.values()), told, []]
    return answer


def _boards(tree: Tree, moves: list[str]) -> Iterator[tuple[int, chess.Board]]:
    """The inner histories of a tree with their boards."""
    stack = [(0, chess.Board())]
    while stack:
        k, board = stack.pop()
        if tree.leaves[k]:
            continue
        yield k, board
        for c in tree.children(k):
            after = board.copy(stack=False)
            try:
                after.push_uci(moves[c])
            except ValueError:
                continue  # giving up, or the rest of the moves
            stack.append((c, after))


def _played(
    games: Mapping[str, Any], rival: Side, wanted: set[int]
) -> Iterator[tuple[GameTags, int, int]]:
    """The rival's moves in wanted positions: (game, position, move)."""
    files, names = games.get("file", ()), games.get("player", ())
    given = [names] if isinstance(names, str) else list(names)
    spellings = [name for name in given if name.strip()]  # none: whoever has the side
    keys = np.array(sorted(wanted), dtype=np.uint64)
    for path in find_files([files] if isinstance(files, str) else files):
        for part in parts(path):
            for k, tags in enumerate(part.tags):
                if k in part.odd or not meant(spellings, tags.white if rival == 1 else tags.black):
                    continue
                low, high = int(part.bounds[k]), int(part.bounds[k + 1])
                own = slice(low + rival - 1, high, 2)
                for at in np.flatnonzero(np.isin(part.keys[own], keys)):
                    yield tags, int(part.keys[own][at]), int(part.codes[own][at])


def _name(tags: GameTags) -> str:
    date = tags.date.strip("?.") and tags.date
    words = (f"{tags.white or '?'} – {tags.black or '?'}", tags.event.strip("? "), date, tags.result)
    return ", ".join(word for word in words if word)
