"""Engines on many machines: the searches of an `EnginePool`, made by Ray actors on a cluster's cores.

One driver grows the tree and keeps the store; an actor does nothing but search. The answers are those of
a local pool: an actor runs the same client, and a node whose engine is another program is left out. Nodes
may come and go: what a lost one was searching is searched elsewhere.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from statistics import mode
from types import TracebackType
from typing import Any, Final, Self

from preplay.chess.engines.analysis import Analysis, EngineSpec, Identity, SearchRequest
from preplay.chess.engines.engine import HANDSHAKE
from preplay.chess.engines.joining import connect
from preplay.chess.engines.pool import WANTED, EnginePool, Job, Pool, PoolStats
from preplay.chess.engines.team import Answer, SearchTeam
from preplay.errors import EngineError, InputError

AHEAD_OF_TIME: Final = 2
"""Searches for each engine at once: one under way, one waiting, so that none waits for the network."""
TEAM: Final = 16
"""Engines of one actor, at most. A call of Ray costs the driver half a millisecond whatever it carries:
a team takes and answers many searches by one call."""
PATROL: Final = 1.0
"""Seconds between two looks at which nodes there are."""
GREETING: Final = 20.0
"""Seconds in which a new team must answer."""
NOBODY: Final = "no answer from the node"
MOVES: Final = 10
"""How often a search may lose its node before the search itself is to blame."""


@dataclass(frozen=True)
class Absent:
    """Why an engine is not used on a node."""

    reason: str
    silent: bool = False
    """Whether the node said nothing: it may have the engine all the same, and is asked again."""

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class NodeReport:
    """A machine of the cluster as `preplay cluster` shows it."""

    name: str
    address: str
    engines: int
    identities: dict[EngineSpec, Identity | Absent] = field(default_factory=dict)
    """Which engine each command starts there, or why it is not used."""


@dataclass(eq=False)
class _Node:
    key: str
    name: str
    address: str
    size: int
    slots: list[_Slot] = field(default_factory=list)
    engines: dict[EngineSpec, Identity | Absent] = field(default_factory=dict)

    @property
    def engines_at_once(self) -> int:
        return sum(slot.size for slot in self.slots)


@dataclass(eq=False)
class _Slot:
    """A team as the driver sees it."""

    node: _Node
    actor: Any
    number: int
    size: int
    under_way: int = 0
    """Searches that it was given and has not answered."""

    @property
    def room(self) -> int:
        """How many searches to send now: none before that is worth a call, or an engine has no work."""
        free = AHEAD_OF_TIME * self.size - self.under_way
        return free if self.under_way < self.size or 2 * free >= self.size else 0


class ClusterPool:
    """Runs searches on a Ray cluster; to be used like an `EnginePool`, and closed like one.

    `address` is `local` (a cluster of this machine, made now), `auto` (the one this machine belongs to)
    or HOST:PORT. `tell` hears of nodes that are left out, lost or new.
    """

    def __init__(
        self,
        address: str,
        workers: int | None = None,
        *,
        attempts: int = 3,
        patience: float | None = None,
        tell: Callable[[str], None] | None = None,
    ):
        self._ray = connect(address, workers)
        self._limit = workers
        self._attempts = attempts
        self._patience = patience
        self._tell = tell or (lambda text: None)
        self._lock = threading.RLock()
        # All below is guarded by the lock.
        self._queue: list[Job] = []
        self._order = itertools.count()
        self._numbers = itertools.count()
        self._nodes: dict[str, _Node] = {}
        self._identities: dict[EngineSpec, Identity] = {}
        self._busy: dict[int, tuple[float, int]] = {}  # seconds of each team that there was, and its size
        self._searches = self._failures = 0
        self._opened = time.perf_counter()
        self._closed = threading.Event()
        self._watcher: threading.Thread | None = None
        try:
            self._patrol()
            if not self._nodes:
                raise EngineError(f"cluster '{address}': no node with a free core")
        except BaseException:
            self.close()
            raise
        self._watcher = threading.Thread(target=self._watch, name="cluster", daemon=True)
        self._watcher.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def workers(self) -> int:
        """How many engines search at once, now."""
        with self._lock:
            return max(1, sum(node.engines_at_once for node in self._nodes.values()))

    def submit(
        self,
        request: SearchRequest,
        priority: int = WANTED,
        keep: Callable[[Analysis], None] | None = None,
    ) -> Future[Analysis]:
        """Queue a search, as `EnginePool.submit` does.

        The node checks the position, which takes longer than all that is done here: for one that is not
        legal the future raises InputError.
        """
        self.identity(request.engine)
        with self._lock:
            if self._closed.is_set():
                raise EngineError("the engine pool is closed")
            job = Job(request, (priority, next(self._order)), keep)
            heapq.heappush(self._queue, job)
            self._dispatch()
        return job.future

    def identity(self, spec: EngineSpec) -> Identity:
        """Which engine `spec` starts: that of the driver's own node, else what most nodes have.

        Nodes with another one are left out.
        """
        with self._lock:
            if spec in self._identities:
                return self._identities[spec]
            nodes = list(self._nodes.values())
        for node, found in zip(nodes, self._greet(nodes, spec), strict=True):
            node.engines[spec] = found
        known = [found for node in nodes if isinstance(found := node.engines[spec], Identity)]
        if not known:
            raise EngineError(str(nodes[0].engines[spec]) if nodes else "the cluster has no nodes")
        here = self._ray.get_runtime_context().get_node_id()
        own = [
            found
            for node in nodes
            if node.key == here and isinstance(found := node.engines[spec], Identity)
        ]
        with self._lock:
            identity = self._identities.setdefault(spec, mode(own or known))
        for node in nodes:
            self._judge(node, spec)
        return identity

    def stats(self) -> PoolStats:
        """What has been done since the pool was opened."""
        with self._lock:
            wall = time.perf_counter() - self._opened
            busy = [seconds / size for seconds, size in self._busy.values() for _ in range(size)]
            return PoolStats(self._searches, self._failures, tuple(busy), 0.0, wall)

    def nodes(self) -> list[NodeReport]:
        """The machines of the cluster, and which engines were found on them."""
        with self._lock:
            return [
                NodeReport(node.name, node.address, node.engines_at_once, dict(node.engines))
                for node in self._nodes.values()
            ]

    def close(self) -> None:
        """Cancel what is queued, end all actors and with them their engines, and leave the cluster."""
        with self._lock:
            self._closed.set()
            queued, self._queue = self._queue, []
            slots = [slot for node in self._nodes.values() for slot in node.slots]
            self._nodes.clear()
        for job in queued:
            if not job.future.cancel() and not job.future.done():
                job.future.set_exception(EngineError("the engine pool was closed"))
        for slot in slots:
            with contextlib.suppress(Exception):
                self._ray.kill(slot.actor)
        if self._watcher is not None:
            self._watcher.join()
        self._ray.shutdown()

    # Nodes

    def _watch(self) -> None:
        while not self._closed.wait(PATROL):
            with contextlib.suppress(Exception):  # a cluster that is just changing; the next look tells
                self._patrol()

    def _patrol(self) -> None:
        """Use new nodes, and give up those that are gone."""
        there = {row["NodeID"]: row for row in self._ray.nodes() if row["Alive"]}
        with self._lock:
            lost = [node for key, node in self._nodes.items() if key not in there]
            for node in lost:
                del self._nodes[node.key]
            used = sum(node.size for node in self._nodes.values())
        for node in lost:
            self._tell(f"{node.name} ({node.address}) is gone; its searches are done elsewhere")
        for node in list(self._nodes.values()):
            self._complete(node)
        for key, row in there.items():
            size = int(row["Resources"].get("CPU", 0))
            if self._limit is not None:
                size = min(size, self._limit - used)
            if key in self._nodes or size < 1 or self._closed.is_set():
                continue
            used += size
            self._employ(
                _Node(key, str(row["NodeManagerHostname"]), str(row["NodeManagerAddress"]), size)
            )

    def _complete(self, node: _Node) -> None:
        """Start anew the teams that a node has lost; one that does not answer is not used."""
        while not self._closed.is_set() and (missing := node.size - node.engines_at_once) > 0:
            slot = self._slot(node, min(TEAM, missing))
            try:
                self._ray.get(slot.actor.ready.remote(), timeout=GREETING)
            except Exception:
                return  # the node is dying; the next look tells
            with self._lock:
                node.slots.append(slot)
                silent = [
                    s for s, told in node.engines.items() if isinstance(told, Absent) and told.silent
                ]
            for spec in silent:
                (node.engines[spec],) = self._greet([node], spec)
                self._judge(node, spec)
            with self._lock:
                self._dispatch()

    def _employ(self, node: _Node) -> None:
        """Start the actors of a node, see which engines it has, and give them work."""
        sizes = [min(TEAM, node.size - first) for first in range(0, node.size, TEAM)]
        node.slots = [self._slot(node, size) for size in sizes]
        with self._lock:
            specs = list(self._identities)
        for spec in specs:
            (node.engines[spec],) = self._greet([node], spec)
        with self._lock:
            self._nodes[node.key] = node
        if specs:
            self._tell(f"{node.name} ({node.address}) is new: {node.size} engines more")
        for spec in specs:
            self._judge(node, spec)
        with self._lock:
            self._dispatch()

    def _slot(self, node: _Node, size: int) -> _Slot:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        number = next(self._numbers)
        self._busy[number] = 0.0, size
        remote = self._ray.remote(SearchTeam)
        here = NodeAffinitySchedulingStrategy(node_id=node.key, soft=False)
        calls = AHEAD_OF_TIME * size + 1  # each call has a thread that waits for its searches
        options = remote.options(num_cpus=size, scheduling_strategy=here, max_concurrency=calls)
        return _Slot(node, options.remote(size, self._patience), number, size)

    def _greet(self, nodes: list[_Node], spec: EngineSpec) -> list[Identity | Absent]:
        """What each node says of an engine; one that says nothing in time does not have it."""
        with self._lock:
            first = [node.slots[0].actor if node.slots else None for node in nodes]
        asked = [None if actor is None else actor.identity.remote(spec) for actor in first]
        answers: list[Identity | Absent] = []
        for ref in asked:
            try:
                told = self._ray.get(ref, timeout=HANDSHAKE) if ref else Absent(NOBODY, silent=True)
            except Exception as error:
                told = Absent(f"{NOBODY} ({type(error).__name__})", silent=True)
            answers.append(Absent(told) if isinstance(told, str) else told)
        return answers

    def _judge(self, node: _Node, spec: EngineSpec) -> None:
        """Leave a node out of an engine's searches if it does not have this very engine."""
        found, wanted = node.engines[spec], self._identities[spec]
        if isinstance(found, Identity) and found != wanted:
            found = node.engines[spec] = Absent(f"another build: {found}, not {wanted}")
        if isinstance(found, Absent):
            self._tell(f"{node.name} ({node.address}) is left out: {found.reason}")

    # Work

    def _dispatch(self) -> None:
        """Hand queued searches to teams with room, the idlest first. Holds the lock."""
        while self._queue:
            if self._queue[0].future.cancelled():
                heapq.heappop(self._queue)
                continue
            slot = self._room(self._queue[0])
            if slot is None:
                return
            batch: list[Job] = []
            while self._queue and len(batch) < slot.room and self._takes(slot, self._queue[0]):
                if batch and slot.node.key in self._queue[0].failed:
                    break
                job = heapq.heappop(self._queue)
                if job.begin():
                    batch.append(job)
            if batch:
                self._send(batch, slot)

    def _room(self, job: Job) -> _Slot | None:
        """The team with most room for each of its engines, of those that have this one.

        Where an engine failed at the search it is not tried again, as long as there are other nodes.
        """
        spec = job.request.engine
        having = [
            n for n in self._nodes.values() if n.slots and isinstance(n.engines.get(spec), Identity)
        ]
        others = [node for node in having if node.key not in job.failed] or having
        slots = [slot for node in others for slot in node.slots if slot.room]
        return min(slots, key=lambda slot: slot.under_way / slot.size, default=None)

    def _takes(self, slot: _Slot, job: Job) -> bool:
        return job.future.cancelled() or isinstance(slot.node.engines.get(job.request.engine), Identity)

    def _send(self, jobs: list[Job], slot: _Slot) -> None:
        slot.under_way += len(jobs)
        requests = [job.request for job in jobs]
        answer: Future[list[Answer]] = slot.actor.search.remote(requests).future()
        answer.add_done_callback(lambda done: self._answered(jobs, slot, done))

    def _answered(self, jobs: list[Job], slot: _Slot, done: Future[list[Answer]]) -> None:
        """In a thread of Ray's: take a batch of answers, and give the team its next searches."""
        lost = done.exception()
        with self._lock:
            slot.under_way -= len(jobs)
            if lost is not None:
                self._bury(slot)
            else:
                seconds, size = self._busy[slot.number]
                self._busy[slot.number] = seconds + sum(answer.busy for answer in done.result()), size
            self._dispatch()
        if lost is None:
            for job, answer in zip(jobs, done.result(), strict=True):
                self._settle(job, answer, slot.node)
            return
        for job in jobs:
            job.lost += 1
            self._again(job, f"its node was lost ({type(lost).__name__})", job.lost < MOVES)

    def _settle(self, job: Job, answer: Answer, node: _Node) -> None:
        if answer.refused:
            job.future.set_exception(InputError(answer.fault))
            return
        if answer.analysis is None:
            job.failures += 1
            job.failed.add(node.key)
            self._again(job, answer.fault, job.failures < self._attempts)
            return
        with self._lock:
            self._searches += 1
        job.deliver(answer.analysis)

    def _again(self, job: Job, fault: str, more: bool) -> None:
        with self._lock:
            self._failures += 1
            if more and not self._closed.is_set():
                heapq.heappush(self._queue, job)
                self._dispatch()
                return
        request = job.request
        where = f"(position '{request.position.text}', {request.limit})"
        job.future.set_exception(EngineError(f"{fault}, {job.failures + job.lost} times {where}"))

    def _bury(self, slot: _Slot) -> None:
        """A team is dead; if its node is not, the patrol finds another one. Holds the lock."""
        if slot in slot.node.slots:
            slot.node.slots.remove(slot)


def open_pool(cluster: str | None, workers: int | None) -> Pool:
    """The engines of this machine, or those of a cluster, whose losses are logged as warnings."""
    if cluster is None:
        return EnginePool(workers=workers)
    return ClusterPool(cluster, workers, tell=logging.getLogger("preplay.cluster").warning)
