"""What chess openings are called, from a small table of our own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import chess

from preplay.tree import Tree


@cache
def table() -> Mapping[str, str]:
    """Names by position, in the first four fields of FEN: transpositions have the same name."""
    names: dict[str, str] = {}
    text = (files("preplay.report") / "assets" / "openings.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        moves, _, name = line.partition(":")
        if not name or line.startswith("#"):
            continue
        board = chess.Board()
        for san in moves.split():
            board.push_san(san)
        names[board.epd()] = name.strip()
    return names


def named(tree: Tree, moves: list[str], start: str, before: list[str]) -> dict[int, str]:
    """The histories of a tree at which the opening gets a new name; `moves` [n] in UCI."""
    names = table()
    found: dict[int, str] = {}
    board = chess.Board()
    for move in before if not start or before else ():
        board.push_uci(move)
        found[0] = names.get(board.epd(), found.get(0, ""))
    if start and board.epd() != chess.Board(start).epd():
        return {}
    stack: list[tuple[int, bool]] = [(0, False)]
    while stack:
        k, leaving = stack.pop()
        if leaving:
            board.pop()
            continue
        if k:
            try:
                board.push_uci(moves[k])
            except ValueError:
                continue  # giving up
            stack.append((k, True))
        if name := names.get(board.epd()):
            found[k] = name
        if board.ply() < DEEPEST:
            stack.extend((c, False) for c in tree.children(k))
    return {k: name for k, name in sorted(found.items()) if name}


DEEPEST = 24
"""The table knows no longer lines."""
