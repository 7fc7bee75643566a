"""The prototype's setting of docs/choice.md, with the true half-move clock and with the prototype's own.

The prototype told engines a clock of 0 while it was below 20, and no moves unless a position had come
back. Here the states of the game tell them so; nothing else of preplay's `prepare` is changed. Each clock
has a store of its own, so no answer serves both.

    python bench/prototype.py --clock prototype
    python bench/prototype.py --clock true
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from preplay.chess.engines.analysis import SearchPosition, search_position
from preplay.chess.rules import ChessGame, ChessState
from preplay.matchup import open_matchup
from preplay.preparation import prepare

SETTING = (
    "black.randomness=10", "white.nodes=5000", "black.nodes=5000", "prep.nodes=5000", "prep.multipv=3",
    "prep.choose=3", "prep.margin=40", "value.model=linear", "judge.nodes=200000",
    "judge.fresh.nodes=1500000",
)  # fmt: skip
QUIET = 20
"""Half-moves since the last capture or pawn's move that the prototype counted as none."""


class PrototypeState(ChessState):
    """A history of which engines are told what the prototype told them."""

    @cached_property
    def position(self) -> SearchPosition:
        """The position alone, with a clock of 0 while it is small."""
        if self.board.halfmove_clock >= QUIET or self.board.is_repetition(2):
            return search_position(self.board)
        alone = self.board.copy(stack=False)
        alone.halfmove_clock = 0
        return search_position(alone)


class PrototypeGame(ChessGame):
    """Chess by the same rules, with the prototype's questions."""

    def root(self) -> ChessState:
        """The start position."""
        return PrototypeState((), super().root().board)

    def next(self, state: ChessState, action: str) -> ChessState:
        """The history after a legal move in UCI notation."""
        after = super().next(state, action)
        return PrototypeState(after.moves, after.board)


def found(clock: str, cost: float, changes: tuple[str, ...], workers: int | None) -> Mapping[str, Any]:
    """What White's best book is worth, with engines that are told this clock."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        with open_matchup("chess", (*SETTING, *changes), workers=workers, store=store) as matchup:
            asking = matchup if clock == "true" else replace(matchup, game=PrototypeGame())
            began = time.perf_counter()
            prepared = prepare(asking, 1, cost)
            seconds, searches = time.perf_counter() - began, matchup.searches()
    best, judged = prepared.response, prepared.judged
    assert judged is not None
    assert judged.fresh is not None
    return {
        "clock": clock,
        "net": best.net,
        "upper": best.upper,
        "without": best.unprepared,
        "value": best.value,
        "fresh": judged.fresh,
        "difference": judged.fresh - best.value,
        "error": best.error,
        "positions": best.size,
        "rounds": judged.rounds,
        "judged": judged.searches,
        "questions": prepared.grown.questions,
        "searches": searches,
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--clock", choices=("true", "prototype"), default="prototype")
    parser.add_argument("--cost", type=float, default=5e-3)
    parser.add_argument("--deviations", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a setting other than the prototype's")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    changes = (f"prep.deviations={given.deviations}", *given.set)
    row = found(given.clock, given.cost, changes, given.workers)
    if given.json:
        print(json.dumps(row))
        return
    for name, what in row.items():
        print(f"{name:10}  {f'{what:.4f}' if isinstance(what, float) else what}")


if __name__ == "__main__":
    main()
