"""What a cluster has: its machines, their engines, and how fast they are together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from itertools import count

import chess

from preplay.chess.engines.analysis import EngineSpec, Limit, SearchRequest, search_position
from preplay.chess.engines.cluster import ClusterPool, NodeReport
from preplay.chess.engines.pool import Pool
from preplay.errors import EngineError
from preplay.randomness import generator

PLIES = 6
"""Random half-moves before each position whose search is timed."""


@dataclass(frozen=True)
class MachineReport:
    """One machine as people read it."""

    name: str
    address: str
    engines: int
    found: Mapping[str, str]
    """Which engine each command starts there, or why it is not used."""


@dataclass(frozen=True)
class ClusterReport:
    """The machines of a cluster and their engines."""

    address: str
    engines: int
    """How many search at once."""
    nodes: tuple[MachineReport, ...]
    missing: Mapping[str, str]
    """Commands that start no engine, and why."""
    searches_per_second: float | None
    """Of all engines together, if that was measured."""
    search_nodes: int
    """How large each of these searches is."""


def survey(
    pool: ClusterPool, address: str, specs: Sequence[EngineSpec], *, nodes: int, seconds: float
) -> ClusterReport:
    """Look for engines on all machines, and time the first that is found; 0 seconds: do not."""
    missing: dict[str, str] = {}
    for spec in specs:
        try:
            pool.identity(spec)
        except EngineError as error:
            missing[str(spec)] = str(error)
    known = [spec for spec in specs if str(spec) not in missing]
    rate = searches_per_second(pool, known[0], nodes, seconds) if known and seconds > 0.0 else None
    engines, machines = pool.workers, tuple(map(_machine, pool.nodes()))
    return ClusterReport(address, engines, machines, missing, rate, nodes)


def _machine(node: NodeReport) -> MachineReport:
    found = {str(spec): str(identity) for spec, identity in node.identities.items()}
    return MachineReport(node.name, node.address, node.engines, found)


def searches_per_second(pool: Pool, spec: EngineSpec, nodes: int, seconds: float) -> float:
    """How many searches of random openings end in a second with all engines at work."""
    numbers = count()
    waiting = {pool.submit(_request(spec, nodes, next(numbers))) for _ in range(3 * pool.workers)}
    began, done = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        ready, waiting = wait(waiting, timeout=seconds, return_when=FIRST_COMPLETED)
        done += len(ready)
        waiting |= {pool.submit(_request(spec, nodes, next(numbers))) for _ in ready}
    rate = done / (time.monotonic() - began)
    for future in waiting:
        future.cancel()
    return rate


def _request(spec: EngineSpec, nodes: int, number: int) -> SearchRequest:
    """A search of a position that nobody has asked about."""
    rng, board = generator(0, (str(number),)), chess.Board()
    for _ in range(PLIES):
        moves = list(board.legal_moves)
        board.push(moves[int(rng.integers(len(moves)))])
        if not any(board.legal_moves):  # mate: nothing to search
            board.pop()
            break
    return SearchRequest(spec, search_position(board), Limit(nodes=nodes))
