"""Boards for games other than chess: a small protocol, and the games that have one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from preplay.tree import Tree


@dataclass(frozen=True)
class Drawing:
    """A game whose moves put marks on a grid. To give a game a board is to write one of these."""

    rows: int
    columns: int
    falls: bool
    """Whether a mark falls to the lowest free cell of its column."""
    place: Callable[[str], tuple[int, int] | None]
    """(row, column) of the mark that an action makes; the row is of no matter where marks fall."""


def _crossed(name: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"[xo]\((\d),(\d)\)", name)
    return (int(found[1]), int(found[2])) if found else None


def _dropped(name: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"[xo](\d)", name)
    return (0, int(found[1])) if found else None


DRAWINGS: Mapping[str, Drawing] = {
    "tic_tac_toe": Drawing(3, 3, False, _crossed),
    "connect_four": Drawing(6, 7, True, _dropped),
}
"""By the name of the game in OpenSpiel."""


def drawn(tree: Tree, matchup: Mapping[str, Any]) -> dict[str, Any] | None:
    """The board of a game for the page: the cell that the move into each history fills, -1 for none."""
    name = str(matchup.get("game", "")).partition("(")[0]
    drawing = DRAWINGS.get(name) if matchup.get("kind") == "openspiel" else None
    if drawing is None:
        return None
    cells = [-1] * tree.size
    taken: list[frozenset[int]] = [frozenset()] * tree.size
    for k in range(1, tree.size):  # parents come before children
        above = int(tree.parent[k])
        where = drawing.place(tree.names[tree.action[k]])
        if where is not None:
            cells[k] = _cell(drawing, taken[above], *where)
        taken[k] = taken[above] | ({cells[k]} if cells[k] >= 0 else set())
    return {"rows": drawing.rows, "columns": drawing.columns, "falls": drawing.falls, "cells": cells}


def _cell(drawing: Drawing, taken: frozenset[int], row: int, column: int) -> int:
    if drawing.falls:
        free = [r for r in range(drawing.rows) if r * drawing.columns + column not in taken]
        row = max(free, default=-1)
    inside = 0 <= row < drawing.rows and 0 <= column < drawing.columns
    return row * drawing.columns + column if inside else -1
