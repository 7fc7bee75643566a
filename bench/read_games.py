"""How fast games are read: preplay's main-line reader beside python-chess, and the memory it takes.

    python bench/read_games.py [FILES...]

Without files it writes random games of its own. Times are of the CPU, after compiling.
"""

from __future__ import annotations

import io
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.pgn
import numpy as np

from preplay.chess.players.archive import parts
from preplay.chess.players.counts import MoveAdder
from preplay.chess.players.sources import parts_of


def random_games(path: Path, megabytes: float) -> None:
    """Games by random moves, half of them among few so that positions come again."""
    rng = random.Random(0)
    texts = []
    for k in range(150):
        board = chess.Board()
        while not board.is_game_over() and board.ply() < 80:
            moves = sorted(board.legal_moves, key=str)
            board.push(rng.choice(moves[:3] if board.ply() < 10 else moves))
        tags = f'[Event "Random"]\n[Date "20{k % 25:02}.01.01"]\n[White "A{k % 7}"]\n[Black "B{k % 9}"]\n'
        texts.append(f'{tags}[Result "*"]\n\n{chess.Board().variation_san(board.move_stack)} *\n\n')
    with path.open("w") as file:
        size = 0
        while size < megabytes * 1e6:
            text = rng.choice(texts).replace('"Random"', f'"Random {size}"')
            size += file.write(text)


def rate(path: Path, count: int = 300) -> float:
    """Games a second that python-chess reads."""
    text = b"".join(parts_of(path)).decode("latin-1")
    handle, start, done = io.StringIO(text), time.process_time(), 0
    while done < count and chess.pgn.read_game(handle) is not None:
        done += 1
    return done / (time.process_time() - start)


def main(files: list[Path]) -> None:
    """Print a line for each file, then what counting takes at worst."""
    with tempfile.TemporaryDirectory() as place:
        small = Path(place, "random.pgn")
        random_games(small, 1.0)
        list(parts(small))  # compiled once
        titles = ("games", "games/s", "python-chess", "ratio", "kept, games/s")
        print(f"{'file':24}", *(f"{title:>14}" for title in titles))
        for path in files or [small]:
            start = time.process_time()
            games = sum(len(part) for part in parts(path))
            ours = games / (time.process_time() - start)
            keep = Path(place, "keep")
            list(parts(path, keep=keep))
            start = time.process_time()
            list(parts(path, keep=keep))
            again = games / (time.process_time() - start)
            theirs = rate(path)
            print(
                f"{path.name:24}", *(f"{x:14,.0f}" for x in (games, ours, theirs, ours / theirs, again))
            )
    worst()


def worst(games: int = 130_000, moves: int = 20) -> None:
    """The memory that counting takes for 100 MB of PGN if no position came twice."""
    rng = np.random.default_rng(0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = MoveAdder()
    for _ in range(games):
        table.add(rng.integers(0, 1 << 63, moves, dtype=np.uint64), np.zeros(moves, dtype=np.uint16))
    rows = len(table.table().keys)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"counting {games:,} games, {rows:,} positions that are all different: {grown:.0f} MB more memory"
    )


if __name__ == "__main__":
    main([Path(word) for word in sys.argv[1:]])
