"""How growth feeds engines: a Ray cluster against the local pool, and one driver with up to 500 engines.

    python bench/cluster.py [--real] [--engines 1 8 64 200 500] [--milliseconds 50 250] [--plot FILE]

- real: the same searches of Stockfish (20,000 nodes) by the local pool and by a Ray cluster of two nodes
  on this machine, in turns; the ratio of their times, and whether the answers are the same.
- simulated: a growth of chess whose engines only wait. A search takes a time drawn from a lognormal law
  (its spread is that of 1,000 real searches of one node limit) and answers with two legal moves. The
  clock is simulated: it advances by the driver's own processor time (growth, rules, requests), by what a
  call of Ray costs it (`--call`; measured, 0.55 ms shared by the searches it carries), and jumps to the
  next answer whenever the driver waits. So the figure does not depend on what else the machine does, and
  500 engines need no 500 cores. Efficiency is the engines' share of busy time, from the moment on when a
  tenth of the searches is done: before that the tree is too narrow for many engines.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import math
import random
import time
from collections.abc import Callable, Sequence
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
from preplay.matchup.chess import AHEAD_OF_ENGINES
from preplay.value import ValueFunction

SPREAD = 0.35
"""Of the logarithm of a search's time."""


class SimulatedPool:
    """Engines that only wait, on a clock of their own."""

    def __init__(self, workers: int, mean: float, call: float, seed: int = 0) -> None:
        self.workers = workers
        self._mean, self._call, self._rng = mean, call, random.Random(seed)
        self._queue: list[Job] = []
        self._busy: list[tuple[float, float, int, Job]] = []
        self._number = 0
        self._began, self._shift = time.thread_time(), 0.0
        self.searches, self.working = 0, 0.0
        self.marks: list[tuple[float, float]] = []  # after each search: the clock, and all work so far

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def now(self) -> float:
        """Seconds on the simulated clock."""
        return time.thread_time() - self._began + self._shift

    def submit(
        self,
        request: SearchRequest,
        priority: int = WANTED,
        keep: Callable[[Analysis], None] | None = None,
    ) -> Future[Analysis]:
        self._number += 1
        self._shift += self._call
        job = Job(request, (priority, self._number), keep)
        heapq.heappush(self._queue, job)
        self.catch_up(self.now)
        return job.future

    def identity(self, spec: EngineSpec) -> Identity:
        return Identity("waiting", "0")

    def stats(self) -> PoolStats:
        return PoolStats(self.searches, 0, (self.working,), 0.0, 0.0)

    def catch_up(self, until: float) -> None:
        """Let the engines work until a moment; what that costs this process is not on the clock."""
        began = time.thread_time()
        while True:
            start = until
            if len(self._busy) >= self.workers or not self._queue:
                if not self._busy or self._busy[0][0] > until:
                    break
                start, lasted, _, job = heapq.heappop(self._busy)
                self.searches += 1
                self.working += lasted
                self.marks.append((start, self.working))
                job.deliver(_answer(job.request))
            if self._queue and len(self._busy) < self.workers:
                job = heapq.heappop(self._queue)
                if job.begin():
                    takes = self._rng.lognormvariate(math.log(self._mean) - SPREAD**2 / 2, SPREAD)
                    heapq.heappush(self._busy, (start + takes, takes, job.order[1], job))
        self._shift -= time.thread_time() - began

    def wait(self, done: Callable[[], bool]) -> None:
        """The driver waits: the clock jumps from answer to answer."""
        while not done():
            arrives = self._busy[0][0]
            self._shift += max(0.0, arrives - self.now)
            self.catch_up(max(arrives, self.now))


class SimulatedAnalyst(Analyst):
    """Waits on the simulated clock."""

    pool: SimulatedPool

    def analyse(self, requests: Sequence[SearchRequest]) -> list[Analysis]:
        self.pool.catch_up(self.pool.now)
        self.prefetch(requests)
        self.pool.wait(lambda: all(request in self._known for request in requests))
        return super().analyse(requests)


def _answer(request: SearchRequest) -> Analysis:
    """Two legal moves that depend on the position alone."""
    board = request.position.board()
    moves = sorted(move.uci() for move in board.legal_moves)
    rng = random.Random(request.position.text)
    best = rng.sample(moves, min(2, len(moves)))
    lines = tuple(Line(move, 20 - 5 * k, 10, None, move) for k, move in enumerate(best))
    return Analysis(lines, best[0], 20_000)


def driven(engines: int, mean: float, searches: int, call: float, randomness: float) -> dict[str, Any]:
    """The engines' share of busy time in a growth of so many searches, and the driver's of its own."""
    search = Search(EngineSpec.of("waiting"), Limit(nodes=20_000), 2)
    with SimulatedPool(engines, mean, call) as pool:
        base = EnginePolicy(SimulatedAnalyst(pool), search, randomness)
        window = max(16, AHEAD_OF_ENGINES * engines)
        limits = Limits(histories=2 * searches, window=window, refill=window - 1)
        value = ValueFunction[Any](lambda state: 0.5)
        began = time.thread_time()
        grow(ChessGame(length=60), 1, (base, base), base, value, Pays(1e-7), limits)
        first, last = pool.marks[len(pool.marks) // 10], pool.marks[-1]
        lasted = last[0] - first[0]
        return {
            "engines": engines,
            "milliseconds": 1000 * mean,
            "searches": pool.searches,
            "searches_per_second": 0.9 * pool.searches / lasted,
            "efficiency": (last[1] - first[1]) / (lasted * engines),
            "whole": pool.working / (last[0] * engines),
            "seconds_here": time.thread_time() - began,
        }


def real(nodes: int, searches: int, rounds: int) -> dict[str, Any]:
    """A Ray cluster of two nodes, one core each, on this machine against a pool of two, in turns."""
    from ray.cluster_utils import Cluster

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
    head = {"num_cpus": 1, "include_dashboard": False}
    nodes_here: Any = Cluster(initialize_head=True, head_node_args=head)
    nodes_here.add_node(num_cpus=1)
    with EnginePool(2) as local, ClusterPool(nodes_here.address) as cluster:
        for _ in range(rounds):
            pools: tuple[tuple[str, Pool], ...] = (("local", local), ("cluster", cluster))
            for name, pool in pools:
                pool.identity(spec)
                began = time.perf_counter()
                answers[name] = Analyst(pool).analyse(requests)
                times[name].append(time.perf_counter() - began)
    nodes_here.shutdown()
    least = {name: min(found) for name, found in times.items()}
    return {
        "nodes": nodes,
        "searches": searches,
        "seconds": least,
        "ratio": least["cluster"] / least["local"],
        "same": answers["local"] == answers["cluster"],
    }


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for milliseconds in sorted({row["milliseconds"] for row in rows}):
        mine = [row for row in rows if row["milliseconds"] == milliseconds]
        engines = [row["engines"] for row in mine]
        label = f"searches of {milliseconds:g} ms"
        left.plot(engines, [row["searches_per_second"] for row in mine], "o-", label=label)
        left.plot(engines, [1000 * n / milliseconds for n in engines], "--", color="grey", lw=0.8)
        right.plot(engines, [row["efficiency"] for row in mine], "o-", label=label)
    left.set(xscale="log", yscale="log", xlabel="engines", ylabel="searches a second")
    left.legend(frameon=False)
    right.set(xscale="log", xlabel="engines", ylabel="engines' busy share", ylim=(0, 1.05))
    figure.suptitle("One driver; dashed: engines that are always busy")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--engines", type=int, nargs="*", default=[1, 8, 64, 200, 500])
    parser.add_argument("--milliseconds", type=float, nargs="+", default=[50.0, 250.0])
    parser.add_argument("--searches", type=int, default=20_000)
    parser.add_argument("--call", type=float, default=0.00007, help="seconds of a call for each search")
    parser.add_argument("--randomness", type=float, default=1000.0)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    data: dict[str, Any] = {}
    if given.real:
        data["real"] = real(20_000, 600, 3)
    if given.real and not given.json:
        found = data["real"]
        print(f"cluster / local pool: {found['ratio']:.3f} (same answers: {found['same']})", flush=True)
    data["simulated"] = []
    for ms, n in itertools.product(given.milliseconds, given.engines):
        row = driven(n, ms / 1000, min(given.searches, max(400, 40 * n)), given.call, given.randomness)
        data["simulated"].append(row)
        if not given.json:
            print(
                f"{ms:5g} ms  {n:4} engines  {row['searches_per_second']:8,.0f} a second  "
                f"busy {row['efficiency']:.2f}",
                flush=True,
            )
    if given.plot is not None:
        plot(data["simulated"], given.plot)
    if given.json:
        print(json.dumps(data))


if __name__ == "__main__":
    main()
