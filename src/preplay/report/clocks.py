"""What the page tells of a clock: what each side has left, and what the saved time is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preplay.games.clocked import untimed
from preplay.report.words import table
from preplay.runs.encoding import plain
from preplay.sampling.timeshare import TimeShare
from preplay.tree import Tree


def told(tree: Tree, matchup: Mapping[str, Any], gain: TimeShare) -> dict[str, Any]:
    """The time left at each history, in the clock's unit, and the book's gain split as `gain` has it."""
    clock = table(matchup, "clock")
    players = [table(matchup, side) for side in ("white", "black")]
    budget, increment = (
        [int(p[key] if p.get(key) is not None else clock.get(key, 0)) for p in players]
        for key in ("budget", "increment")
    )
    left = [budget] * tree.size
    for k in range(1, tree.size):  # parents come before children
        above = int(tree.parent[k])
        mover = int(tree.player[above]) - 1
        after = list(left[above])
        after[mover] += increment[mover] - untimed(tree.names[tree.action[k]])[1]
        left[k] = after
    told_of = ("games", "without", "value", "gain", "moves", "time", "share")
    split = {key: plain(getattr(gain, key)) for key in told_of}
    return {"unit": clock.get("unit", "nodes"), "left": left, "split": split}
