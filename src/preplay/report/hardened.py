"""A `preplay harden` run as data for the page: how to play so that preparation gains least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from preplay.errors import StoreError
from preplay.game import Side
from preplay.report import notation, openings
from preplay.report.cut import columns, rounded
from preplay.report.drawings import drawn
from preplay.report.played import beginning
from preplay.runs.directory import RESULT, Run
from preplay.tree import Tree, from_parents

SHOWN = (
    *("value", "error", "lower", "upper", "gap", "loss", "cost"),
    *("unprepared", "unhardened", "choosing", "judged"),
)
"""What the page shows of the result beside the mix."""


@dataclass
class _Step:
    """A history on the way to one where the policy speaks."""

    moves: Mapping[str, float] = field(default_factory=dict)
    below: dict[str, _Step] = field(default_factory=dict)


def hardened(run: Run) -> dict[str, Any]:
    """What the page needs of a policy that is hard to prepare against."""
    result = run.read(RESULT)
    matchup = run.matchup
    try:
        rows = [(tuple(row["history"]), dict(row["moves"])) for row in result["policy"]]
        if not all(isinstance(move, str) for history, moves in rows for move in (*history, *moves)):
            raise TypeError("a move that is no text")
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{run.path(RESULT)}: damaged ({error}); expected a policy") from None
    side = run.side
    tree = _together(rows, side, run.is_chess)
    fen, chess960, early = "", bool(matchup.get("chess960")), notation.before(matchup)
    written = None
    if run.is_chess:
        fen = beginning(matchup)
        written = notation.standard(tree, fen, chess960, {})
    named = {}
    if written and not chess960:
        named = openings.named(tree, written.moves, fen, early["played"])
    before = result.get("before") or {}
    return {
        "side": side,
        "chess": written is not None,
        "chess960": chess960,
        "drawing": None if written else drawn(tree, matchup),
        "start": fen,
        **early,
        "policy": {key: result.get(key) for key in SHOWN} | {"before": before, "positions": len(rows)},
        "tree": columns(tree, *((written.moves, written.labels) if written else (None, None)))
        | {"p": rounded(tree.base)[1:], "value": [None] * tree.size, "openings": named},
    }


def _together(rows: list[tuple[tuple[str, ...], dict[str, float]]], side: Side, in_turn: bool) -> Tree:
    """All histories of a policy and what it plays there as one tree.

    Where the sides do not move in turn, what the policy says nothing about is somebody else's, or chance.
    """
    root = _Step()
    for history, moves in rows:
        place = root
        for move in history:
            place = place.below.setdefault(move, _Step())
        place.moves = moves
        for move in moves:
            place.below.setdefault(move, _Step())
    speaks = {len(history) % 2 for history, _ in rows}
    first = side if (speaks <= {0} if in_turn else root.moves) else 3 - side
    names: dict[str, int] = {}
    places, parent, player, base, action = [root], [-1], [first], [1.0], [-1]
    for k, place in enumerate(places):  # grows while it is walked: breadth first
        for move, child in place.below.items():
            places.append(child)
            parent.append(k)
            player.append(3 - player[k] if in_turn else side if child.moves else 3 - side)
            base.append(float(place.moves.get(move, 0.0)) if place.moves else 1.0 / len(place.below))
            action.append(names.setdefault(move, len(names)))
    value = [0.5] * len(places)
    return from_parents(parent, player, base, base, value, action=action, names=tuple(names))
