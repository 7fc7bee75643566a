"""Options of commands that are changes to a matchup: books that choose, lines that bind them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from preplay.errors import InputError
from preplay.matchup.settings import saying
from preplay.matchup.source import TABULAR, load_config


def to_choose(
    spec: str, changes: Sequence[str], choose: int | None, margin: float | None, deviations: int | None
) -> list[str]:
    """The changes, and those that let books choose their moves (fact 9 of docs/model.md)."""
    all_three = {"choose": choose, "margin": margin, "deviations": deviations}
    given = {name: value for name, value in all_three.items() if value is not None}
    if not given:
        return list(changes)
    kind = load_config(spec)[1].get("kind")
    if kind == "tabular":
        name = next((name for name in given if name not in TABULAR), None)
        if name is not None:
            raise InputError(
                f"--{name} {given[name]}: a tabular game has its menus in its file; expected "
                '"menu": true at the actions that a book may choose'
            )
    elif kind == "synthetic":
        first, value = next(iter(given.items()))
        raise InputError(f"--{first} {value}: synthetic games have no menus; expected another kind")
    where = "" if kind in ("python", "tabular") else "prep."
    for change in changes:
        key = change.partition("=")[0].strip()
        option = key.removeprefix(where)
        if key.startswith(where) and option in given:
            raise InputError(f"--{option} {given[option]} and --set {change}; expected one of the two")
    return [*changes, *(f"{where}{name}={value}" for name, value in given.items())]


def bound_to(
    spec: str,
    side: str,
    repertoire: Path | None,
    avoid: Path | None,
    extend: Path | None,
    changes: Sequence[str] = (),
) -> list[str]:
    """The changes to a chess matchup that bind the book of a side to lines of the player's own."""
    given = {"repertoire": repertoire, "avoid": avoid, "extend": extend}
    files = {name: path for name, path in given.items() if path is not None}
    if files and load_config(spec)[1].get("kind") != "chess":
        name, path = next(iter(files.items()))
        raise InputError(f"--{name} {path}: lines of chess; expected a chess matchup, not '{spec}'")
    own = {"1": "white", "2": "black"}.get(side, side)
    for name, path in files.items():
        if change := saying(f"{own}_prep.{name}", changes):
            raise InputError(f"--{name} {path} and --set {change}; expected one of the two")
    return [f"{own}_prep.{name}={json.dumps(str(path))}" for name, path in files.items()]
