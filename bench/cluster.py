"""How growth feeds engines: a Ray cluster against the local pool, and one driver with up to 500 engines.

    python bench/cluster.py [--real] [--engines 1 8 64 200 500] [--milliseconds 50] [--seconds 8]
                            [--plot FILE] [--json]

- real: the same searches of Stockfish (20,000 nodes) by the local pool and by a Ray cluster of this
  machine, in turns; the ratio of their times, and whether the answers are the same.
- simulated: a growth of chess whose engines only wait. A search takes a time drawn from a lognormal law
  around `--milliseconds`, as node limits give it (the spread is that of 1,000 real searches), and answers
  with two legal moves. Efficiency is the share of the time in which the engines were busy; "driver" is
  what one process can ask and take in a second when engines answer at once.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import chess

from preplay.chess.engines.analysis import (
    Analysis,
    EngineSpec,
    Identity,
    Limit,
    Line,
    SearchRequest,
    search_position,
)
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.discovery import find_engine
from preplay.chess.engines.pool import WANTED, EnginePool, Job, Pool, PoolStats
from preplay.chess.players.play import EnginePolicy, Search
from preplay.chess.rules import ChessGame
from preplay.growth import Limits, Pays, grow
from preplay.value import ValueFunction

SPREAD = 0.35
"""Of the logarithm of a search's time."""


class WaitingPool:
    """Engines that only wait: one thread with a clock plays all of them."""

    def __init__(self, workers: int, mean: float, seed: int = 0) -> None:
        self.workers = workers
        self._mean, self._rng = mean, random.Random(seed)
        self._lock = threading.Condition()
        self._queue: list[Job] = []
        self._busy: list[tuple[float, int, Job]] = []
        self._number, self._closed = 0, False
        self.searches, self.working = 0, 0.0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            self._lock.notify()
        self._thread.join()

    def submit(
        self,
        request: SearchRequest,
        priority: int = WANTED,
        keep: Callable[[Analysis], None] | None = None,
    ) -> Future[Analysis]:
        with self._lock:
            self._number += 1
            job = Job(request, chess.Board(), 2, (priority, self._number), keep)
            heapq.heappush(self._queue, job)
            self._lock.notify()
        return job.future

    def identity(self, spec: EngineSpec) -> Identity:
        return Identity("waiting", "0")

    def stats(self) -> PoolStats:
        return PoolStats(self.searches, 0, (self.working,), 0.0, 0.0)

    def _serve(self) -> None:
        while True:
            done: list[Job] = []
            with self._lock:
                if self._closed:
                    return
                now = time.perf_counter()
                while self._busy and self._busy[0][0] <= now:
                    done.append(heapq.heappop(self._busy)[2])
                while self._queue and len(self._busy) < self.workers:
                    job = heapq.heappop(self._queue)
                    if job.begin():
                        takes = self._mean and self._rng.lognormvariate(
                            math.log(self._mean) - SPREAD**2 / 2, SPREAD
                        )
                        self.working += takes
                        heapq.heappush(self._busy, (now + takes, job.order[1], job))
                if not done:
                    self._lock.wait(self._busy[0][0] - now if self._busy else None)
            for job in done:
                self.searches += 1
                job.deliver(_answer(job.request))


def _answer(request: SearchRequest) -> Analysis:
    """Two legal moves that depend on the position alone."""
    board = request.position.board()
    moves = sorted(move.uci() for move in board.legal_moves)
    rng = random.Random(request.position.text)
    best = rng.sample(moves, min(2, len(moves)))
    lines = tuple(Line(move, 20 - 5 * k, 10, None, move) for k, move in enumerate(best))
    return Analysis(lines, best[0], 20_000)


def driven(engines: int, mean: float, seconds: float) -> dict[str, Any]:
    """Searches a second and the engines' share of busy time in a growth of so many seconds."""
    spec = EngineSpec.of("waiting")
    search = Search(spec, Limit(nodes=20_000), 2)
    game = ChessGame(length=60)
    with WaitingPool(engines, mean) as pool:
        waiting: Pool = pool
        base = EnginePolicy(Analyst(waiting), search, 1000.0)
        prep = EnginePolicy(base.analyst, search, 1000.0)
        limits = Limits(seconds=seconds, window=max(16, 3 * engines))
        value = ValueFunction[Any](lambda state: 0.5)
        began = time.perf_counter()
        grow(game, 1, (base, base), prep, value, Pays(1e-7), limits)
        wall = time.perf_counter() - began
        return {
            "engines": engines,
            "searches_per_second": pool.searches / wall,
            "efficiency": pool.searches * mean / (wall * engines) if mean else None,
        }


def real(nodes: int, searches: int, rounds: int) -> dict[str, Any]:
    """A Ray cluster of this machine against the local pool, in turns."""
    from preplay.chess.engines.cluster import ClusterPool

    spec = EngineSpec.of(find_engine())
    rng = random.Random(1)
    requests = []
    for _ in range(searches):
        board = chess.Board()
        for _ in range(rng.randrange(2, 12)):
            board.push(rng.choice(list(board.legal_moves)))
        requests.append(SearchRequest(spec, search_position(board), Limit(nodes=nodes), 2))
    times: dict[str, list[float]] = {"local": [], "cluster": []}
    answers: dict[str, list[Analysis]] = {}
    with EnginePool() as local, ClusterPool("local") as cluster:
        for _ in range(rounds):
            pools: tuple[tuple[str, Pool], ...] = (("local", local), ("cluster", cluster))
            for name, pool in pools:
                pool.identity(spec)
                began = time.perf_counter()
                answers[name] = Analyst(pool).analyse(requests)
                times[name].append(time.perf_counter() - began)
    least = {name: min(found) for name, found in times.items()}
    return {
        "nodes": nodes,
        "searches": searches,
        "seconds": least,
        "ratio": least["cluster"] / least["local"],
        "same": answers["local"] == answers["cluster"],
    }


def plot(rows: list[dict[str, Any]], path: Path, milliseconds: float) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    engines = [row["engines"] for row in rows]
    left.plot(engines, [row["searches_per_second"] for row in rows], "o-", label="measured")
    left.plot(engines, [1000 * n / milliseconds for n in engines], "--", color="grey", label="ideal")
    left.set(xscale="log", yscale="log", xlabel="engines", ylabel="searches a second")
    left.legend(frameon=False)
    right.plot(engines, [row["efficiency"] for row in rows], "o-")
    right.set(xscale="log", xlabel="engines", ylabel="engines' busy share", ylim=(0, 1.05))
    figure.suptitle(f"One driver, searches of {milliseconds:g} ms")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--engines", type=int, nargs="+", default=[1, 8, 64, 200, 500])
    parser.add_argument("--milliseconds", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    data: dict[str, Any] = {"milliseconds": given.milliseconds}
    if given.real:
        data["real"] = real(20_000, 120, 3)
    data["driver"] = driven(500, 0.0, given.seconds)["searches_per_second"]
    data["simulated"] = [driven(n, given.milliseconds / 1000, given.seconds) for n in given.engines]
    if given.plot is not None:
        plot(data["simulated"], given.plot, given.milliseconds)
    if given.json:
        print(json.dumps(data))
        return
    if given.real:
        found = data["real"]
        print(f"cluster / local pool: {found['ratio']:.3f} (same answers: {found['same']})")
    print(f"driver alone: {data['driver']:,.0f} searches a second")
    for row in data["simulated"]:
        print(
            f"{row['engines']:4} engines  {row['searches_per_second']:8,.0f} a second  "
            f"busy {row['efficiency']:.2f}"
        )


if __name__ == "__main__":
    main()
