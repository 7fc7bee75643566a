"""How fast the UCI engine answers: book moves, and what it adds to the base engine out of book.

    python bench/uci_latency.py [--engine stockfish] [--rounds 200] [--nodes 1 2000]

Both engines sit behind plain pipes and search the same positions of one long game in turn, with the same
limit. Prints one JSON object; times are milliseconds from `go` to `bestmove`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess

from preplay.book import Book, Entry, save
from preplay.chess.engines.discovery import find_command


class Pipe:
    """An engine behind a pipe, with nothing around it."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.until("uci\n", b"uciok")
        self.until("setoption name Hash value 1\nisready\n", b"readyok")

    def until(self, text: str, word: bytes) -> bytes:
        """Send `text`; the output up to a line that begins with `word`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(text.encode())
        data = b"\n"
        while b"\n" + word not in data or not data.endswith(b"\n"):
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise SystemExit(f"an engine ended: {data!r}")
            data += chunk
        return data

    def milliseconds(self, position: str, go: str) -> float:
        """From `go` to `bestmove`, the position included, as a GUI would send both."""
        begun = time.perf_counter()
        self.until(f"{position}\n{go}\n", b"bestmove")
        return 1000 * (time.perf_counter() - begun)

    def close(self) -> None:
        """End the engine."""
        self._process.communicate(b"quit\n")


def long_game(plies: int) -> list[str]:
    rng = random.Random(3)
    while True:
        board = chess.Board()
        while len(board.move_stack) < plies and not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
        if len(board.move_stack) == plies:
            return [move.uci() for move in board.move_stack]


def book_of(moves: list[str]) -> Book:
    """White's moves of a game, every position met in every game."""
    entries = [Entry(tuple(moves[:k]), {moves[k]: 1.0}, 1.0, 0.0, 0.5) for k in range(0, len(moves), 2)]
    return Book(1, tuple(entries), 0.5, 0.5, 0.0, 1.0)


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    at = {"median": 0.5, "p90": 0.9, "p99": 0.99}
    found = {
        name: round(ordered[min(len(ordered) - 1, int(q * len(ordered)))], 3) for name, q in at.items()
    }
    return {"least": round(ordered[0], 3), **found, "most": round(ordered[-1], 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2000])
    given = parser.parse_args()
    game = long_game(120)
    result: dict[str, object] = {
        "rounds": given.rounds,
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.json"
        save(book_of(game[:60]), path)
        ours = Pipe(
            [
                sys.executable,
                "-m",
                "preplay.chess.uci.server",
                "--book",
                str(path),
                "--engine",
                given.engine,
            ]
        )
        alone = Pipe(list(find_command(given.engine)))
        positions = [f"position startpos moves {' '.join(game[:k])}" for k in range(2, 60, 2)]
        go = "go wtime 60000 btime 60000"
        times = [ours.milliseconds(positions[k % len(positions)], go) for k in range(given.rounds)]
        result["book"] = summary(times)
        positions = [f"position startpos moves {' '.join(game[:k])}" for k in range(61, 120)]
        for nodes in given.nodes:
            pairs: list[tuple[float, float]] = []
            for k in range(given.rounds):
                position, go = positions[k % len(positions)], f"go nodes {nodes}"
                for engine in (ours, alone):
                    engine.until("ucinewgame\nisready\n", b"readyok")
                pairs.append((ours.milliseconds(position, go), alone.milliseconds(position, go)))
            added = [one - other for one, other in pairs]
            result[f"nodes {nodes}"] = {
                "with book": summary([one for one, _ in pairs]),
                "alone": summary([other for _, other in pairs]),
                "added": {"median of differences": round(statistics.median(added), 3), **summary(added)},
            }
        ours.close()
        alone.close()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
