"""An engine asked as every GUI asks it: by the moves of the game. Nothing of preplay is used."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence

Shown = tuple[int, int, bool, str, int]
"""A scored line: rank, depth, whether it is exact, move, centipawns."""


class AsGui:
    """A bare UCI engine in the middle of a game, with a fresh hash for each move."""

    def __init__(self, command: str, nodes: int, multipv: int) -> None:
        self._nodes = nodes
        self._multipv = multipv
        self._process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._say("uci", "setoption name Threads value 1", "setoption name Hash value 2")
        self._say(f"setoption name MultiPV value {multipv}")

    def __enter__(self) -> AsGui:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("quit\n", timeout=10)

    def ask(self, moves: Sequence[str], start: str = "startpos") -> tuple[list[str], str]:
        """What it prints about the position after `moves`, and its best move."""
        self._say("ucinewgame", f"position {start} moves {' '.join(moves)}", f"go nodes {self._nodes}")
        assert self._process.stdout is not None
        rows: list[str] = []
        for row in self._process.stdout:
            if row.startswith("bestmove"):
                return rows, row.split()[1]
            if " score " in row and " pv " in row:
                rows.append(row)
        raise AssertionError("the engine is gone")

    def mixture(self, moves: Sequence[str], r: float, start: str = "startpos") -> dict[str, float]:
        """Softmax of centipawns over the moves of its last complete iteration."""
        shown = [_shown(row) for row in self.ask(moves, start)[0]]
        starts = [k for k, line in enumerate(shown) if line[0] == 1]
        blocks = [shown[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
        last = {max(line[1] for line in block): block for block in blocks}
        most = max(map(len, blocks))
        whole = [d for d, b in last.items() if len(b) == most and all(x[1] == d and x[2] for x in b)]
        assert whole, "not one whole iteration"
        lines = last[max(whole)]
        best = max(line[4] for line in lines)
        weights = {line[3]: math.exp((line[4] - best) / r) for line in lines}
        return {move: weight / sum(weights.values()) for move, weight in weights.items()}

    def _say(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()


def _shown(row: str) -> Shown:
    words = row.split()
    kind, amount = words[words.index("score") + 1 : words.index("score") + 3]
    score = int(amount)
    if kind == "mate":
        score = 32_000 - (2 * score - 1) if score > 0 else -32_000 - 2 * score
    exact = not {"upperbound", "lowerbound"} & set(words)
    rank, depth = (int(words[words.index(name) + 1]) for name in ("multipv", "depth"))
    return rank, depth, exact, words[words.index("pv") + 1], score
