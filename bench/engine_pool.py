"""What our engine client and pool cost over a bare pipe to the same engine, in one run.

    python bench/engine_pool.py [--positions 60] [--rounds 5] [--nodes 5000 25000] [--workers 2] [--json]

Per node limit, with MultiPV 2, one thread and empty hash tables before every search:

- bare pipe: writes position and go, reads lines until bestmove, parses nothing
- client: `Engine.search`, with positions checked before and answers read and checked after
- python-chess: its SimpleEngine, which also scores and checks
- bare pipes: as many bare pipes side by side as there are workers
- pool: `EnginePool` with an `Analyst` and a store on disk

They take turns, ten positions at a time. The time of a position is its least over the rounds (of all
positions together in the last two), so that other load on the machine counts as little as can be.
"Python alone" is the processor time of this process per search, which other load hardly changes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

import chess
import chess.engine

from preplay.chess.engines.analysis import EngineSpec, Limit, SearchRequest, search_position
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.discovery import find_engine
from preplay.chess.engines.engine import Engine
from preplay.chess.engines.pool import EnginePool, PoolStats
from preplay.chess.engines.store import AnalysisStore
from preplay.machine import cores

MULTIPV = 2
CHUNK = 10


class BarePipe:
    def __init__(self, command: str):
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self.write("setoption name Threads value 1\nsetoption name Hash value 2")
        self.write(f"setoption name MultiPV value {MULTIPV}\nsetoption name UCI_ShowWDL value true")
        self.write("ucinewgame\nisready")
        self.read(b"readyok")

    def write(self, command: str) -> None:
        self.stdin.write(command.encode() + b"\n")
        self.stdin.flush()

    def read(self, word: bytes) -> None:
        while not self.stdout.readline().startswith(word):
            pass

    def search(self, fen: str, nodes: int) -> None:
        self.write(f"ucinewgame\nposition fen {fen}\ngo nodes {nodes}")
        self.read(b"bestmove")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def openings(count: int, seed: int = 1) -> list[chess.Board]:
    """Positions after 2 to 24 random half-moves, all different."""
    choice = random.Random(seed)
    boards: dict[str, chess.Board] = {}
    while len(boards) < count:
        board = chess.Board()
        for _ in range(choice.randint(2, 24)):
            if board.is_game_over():
                break
            board.push(choice.choice(list(board.legal_moves)))
        if not board.is_game_over():
            boards[board.epd()] = board.copy(stack=False)
    return list(boards.values())


def each(action: Callable[[int], object], numbers: Iterable[int]) -> list[float]:
    """Seconds of the action with each number."""
    marks = [time.perf_counter()]
    for number in numbers:
        action(number)
        marks.append(time.perf_counter())
    return [after - before for before, after in itertools.pairwise(marks)]


def side_by_side(pipes: list[BarePipe], fens: list[str], nodes: int) -> None:
    waiting = iter(fens)
    lock = threading.Lock()

    def work(pipe: BarePipe) -> None:
        while True:
            with lock:
                fen = next(waiting, None)
            if fen is None:
                return
            pipe.search(fen, nodes)

    threads = [threading.Thread(target=work, args=(pipe,)) for pipe in pipes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(
    command: str, boards: list[chess.Board], nodes: int, rounds: int, workers: int
) -> dict[str, float]:
    spec = EngineSpec.of(command)
    positions = [search_position(board) for board in boards]
    fens = [position.start for position in positions]
    requests = [SearchRequest(spec, position, Limit(nodes=nodes), MULTIPV) for position in positions]
    pipes = [BarePipe(command) for _ in range(workers)]
    theirs = chess.engine.SimpleEngine.popen_uci(command)
    theirs.configure({"Threads": 1, "Hash": 2, "UCI_ShowWDL": True})
    limit = chess.engine.Limit(nodes=nodes)
    alone: dict[str, list[list[float]]] = {"bare pipe": [], "client": [], "python-chess": []}
    python = dict.fromkeys(alone, 0.0)
    together: dict[str, list[float]] = {"bare pipes": [], "pool": []}
    work: list[PoolStats] = []
    with Engine(spec) as ours, EnginePool(workers) as pool, tempfile.TemporaryDirectory() as folder:
        actions: dict[str, Callable[[int], object]] = {
            "bare pipe": lambda k: pipes[0].search(fens[k], nodes),
            "client": lambda k: ours.search(requests[k]),
            "python-chess": lambda k: theirs.analyse(boards[k], limit, multipv=MULTIPV, game=object()),
        }
        warm = [SearchRequest(spec, position, Limit(nodes=1), MULTIPV) for position in positions]
        for future in [pool.submit(request) for request in warm]:
            future.result()  # all engines are up
        for number in range(rounds):
            for times in alone.values():
                times.append([])
            for start in range(0, len(fens), CHUNK):
                for name, action in actions.items():
                    ours_before = time.process_time()
                    alone[name][-1] += each(action, range(start, min(start + CHUNK, len(fens))))
                    python[name] += time.process_time() - ours_before
            together["bare pipes"] += each(lambda _: side_by_side(pipes, fens, nodes), [0])
            with AnalysisStore(Path(folder) / f"{number}.store") as store:
                analyst, before = Analyst(pool, store), pool.stats()
                together["pool"] += each(lambda _, analyst=analyst: analyst.analyse(requests), [0])  # type: ignore[misc]
                work.append(pool.stats().since(before))
    for pipe in pipes:
        pipe.close()
    theirs.quit()
    result = {
        name: sum(map(min, zip(*times, strict=True))) / len(fens) * 1000 for name, times in alone.items()
    }
    result |= {name: min(times) / len(fens) * 1000 for name, times in together.items()}
    result |= {
        f"{name}, Python alone": spent / rounds / len(fens) * 1000 for name, spent in python.items()
    }
    result["client / bare pipe"] = result["client"] / result["bare pipe"]
    result["python-chess / bare pipe"] = result["python-chess"] / result["bare pipe"]
    result["pool / bare pipes"] = result["pool"] / result["bare pipes"]
    result["busy share"] = statistics.median(done.busy_share for done in work)
    result["all busy share"] = statistics.median(done.all_busy_share for done in work)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, nargs="+", default=[5_000, 25_000])
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    command = find_engine()
    boards = openings(options.positions)
    results = {}
    for nodes in options.nodes:
        print(f"{nodes} nodes ...", file=sys.stderr)
        results[nodes] = measure(command, boards, nodes, options.rounds, options.workers)
    if options.json:
        print(json.dumps({"workers": options.workers, "nodes": results}, indent=2))
        return
    print(f"ms per search, MultiPV {MULTIPV}, {options.workers} workers, {len(boards)} positions")
    names = list(next(iter(results.values())))
    print(f"{'':26}" + "".join(f"{nodes:>14,}" for nodes in results))
    for name in names:
        print(f"{name:26}" + "".join(f"{result[name]:14.3f}" for result in results.values()))


if __name__ == "__main__":
    main()
