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
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from statistics import mode
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from preplay.chess.engines.analysis import Analysis, EngineSpec, Identity, SearchRequest
from preplay.chess.engines.discovery import identify
from preplay.chess.engines.engine import HANDSHAKE, Engine, check_request
from preplay.chess.engines.pool import WANTED, EnginePool, Job, Pool, PoolStats, cores
from preplay.errors import EngineError, InputError

AHEAD_OF_TIME: Final = 2
"""Searches at an actor at once: one under way, one waiting, so that no engine waits for the network."""
PATROL: Final = 1.0
"""Seconds between two looks at which nodes there are."""
MOVES: Final = 10
"""How often a search may lose its node before the search itself is to blame."""


class Answer(NamedTuple):
    """What an actor says of one search."""

    analysis: Analysis | None
    fault: str
    """Why there is no analysis."""
    busy: float
    """Seconds in which the engine was searching."""


class SearchWorker:
    """What runs on a core of the cluster: one process of every engine it is asked for."""

    def __init__(self, patience: float | None = None) -> None:
        self._patience = patience
        self._engines: dict[EngineSpec, Engine] = {}

    def identity(self, spec: EngineSpec) -> Identity | str:
        """Which engine `spec` starts here, or why it does not start."""
        try:
            return identify(spec, self._engine(spec).name)
        except EngineError as error:
            return str(error)

    def search(self, request: SearchRequest) -> Answer:
        """One search. An engine that failed is not used again."""
        began = time.perf_counter()
        try:
            analysis = self._engine(request.engine).search(request)
        except Exception as error:
            engine = self._engines.pop(request.engine, None)
            if engine is not None:
                engine.close()
            named = error if isinstance(error, EngineError) else f"{type(error).__name__} {error}"
            return Answer(None, f"engine '{request.engine}': {named}", time.perf_counter() - began)
        return Answer(analysis, "", time.perf_counter() - began)

    def _engine(self, spec: EngineSpec) -> Engine:
        engine = self._engines.get(spec)
        if engine is None:
            engine = Engine(spec, patience=self._patience)
            engine.open()
            self._engines[spec] = engine
        return engine


@dataclass(frozen=True)
class NodeReport:
    """A machine of the cluster as `preplay cluster` shows it."""

    name: str
    address: str
    engines: int
    identities: dict[EngineSpec, Identity | str] = field(default_factory=dict)
    """Which engine each command starts there, or why it is not used."""


@dataclass(eq=False)
class _Node:
    key: str
    name: str
    address: str
    size: int
    slots: list[_Slot] = field(default_factory=list)
    engines: dict[EngineSpec, Identity | str] = field(default_factory=dict)


@dataclass(eq=False)
class _Slot:
    node: _Node
    actor: Any
    number: int
    under_way: int = 0
    alive: bool = True
    busy: float = 0.0


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
        self._free: tuple[deque[_Slot], ...] = tuple(deque() for _ in range(AHEAD_OF_TIME))
        self._identities: dict[EngineSpec, Identity] = {}
        self._busy: dict[int, float] = {}
        self._searches = self._failures = 0
        self._opened = time.perf_counter()
        self._closed = threading.Event()
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
            return max(1, sum(len(node.slots) for node in self._nodes.values()))

    def submit(
        self,
        request: SearchRequest,
        priority: int = WANTED,
        keep: Callable[[Analysis], None] | None = None,
    ) -> Future[Analysis]:
        """Queue a search, as `EnginePool.submit` does."""
        board, want = check_request(request)
        self.identity(request.engine)
        with self._lock:
            if self._closed.is_set():
                raise EngineError("the engine pool is closed")
            job = Job(request, board, want, (priority, next(self._order)), keep)
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
            return PoolStats(self._searches, self._failures, tuple(self._busy.values()), 0.0, wall)

    def nodes(self) -> list[NodeReport]:
        """The machines of the cluster, and which engines were found on them."""
        with self._lock:
            return [
                NodeReport(node.name, node.address, len(node.slots), dict(node.engines))
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
            slot.alive = False
            with contextlib.suppress(Exception):
                self._ray.kill(slot.actor)
        if hasattr(self, "_watcher"):
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
            used = sum(len(node.slots) for node in self._nodes.values())
        for node in lost:
            self._tell(f"{node.name} ({node.address}) is gone; its searches are done elsewhere")
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

    def _employ(self, node: _Node) -> None:
        """Start the actors of a node, see which engines it has, and give them work."""
        node.slots = [self._slot(node) for _ in range(node.size)]
        with self._lock:
            specs = list(self._identities)
        for spec in specs:
            (node.engines[spec],) = self._greet([node], spec)
        with self._lock:
            self._nodes[node.key] = node
            for slot in node.slots:
                self._free[0].append(slot)
        if specs:
            self._tell(f"{node.name} ({node.address}) is new: {node.size} engines more")
        for spec in specs:
            self._judge(node, spec)
        with self._lock:
            self._dispatch()

    def _slot(self, node: _Node) -> _Slot:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        number = next(self._numbers)
        self._busy[number] = 0.0
        remote = self._ray.remote(SearchWorker)
        here = NodeAffinitySchedulingStrategy(node_id=node.key, soft=False)
        actor = remote.options(num_cpus=1, scheduling_strategy=here).remote(self._patience)
        return _Slot(node, actor, number)

    def _greet(self, nodes: list[_Node], spec: EngineSpec) -> list[Identity | str]:
        """What each node says of an engine; one that says nothing in time does not have it."""
        asked = [node.slots[0].actor.identity.remote(spec) for node in nodes]
        answers: list[Identity | str] = []
        for ref in asked:
            try:
                answers.append(self._ray.get(ref, timeout=HANDSHAKE))
            except Exception as error:
                answers.append(f"no answer from the node ({type(error).__name__})")
        return answers

    def _judge(self, node: _Node, spec: EngineSpec) -> None:
        """Leave a node out of an engine's searches if it does not have this very engine."""
        found, wanted = node.engines[spec], self._identities[spec]
        if isinstance(found, Identity) and found != wanted:
            found = node.engines[spec] = f"another build: {found}, not {wanted}"
        if isinstance(found, str):
            self._tell(f"{node.name} ({node.address}) is left out: {found}")

    # Work

    def _dispatch(self) -> None:
        """Hand queued searches to actors with room, those without any work first. Holds the lock."""
        while self._queue:
            job = self._queue[0]
            slot = None if job.future.cancelled() else self._room(job.request.engine)
            if slot is None and not job.future.cancelled():
                return
            heapq.heappop(self._queue)
            if slot is not None and job.begin():
                self._send(job, slot)
            elif slot is not None:
                self._free[slot.under_way].appendleft(slot)

    def _room(self, spec: EngineSpec) -> _Slot | None:
        """An actor with room that has this engine; those of nodes without it keep their place."""
        for load, free in enumerate(self._free):
            for _ in range(len(free)):
                slot = free.popleft()
                if not slot.alive or slot.under_way != load:
                    continue  # dead, or in another queue by now
                if isinstance(slot.node.engines.get(spec), Identity):
                    return slot
                free.append(slot)
        return None

    def _send(self, job: Job, slot: _Slot) -> None:
        slot.under_way += 1
        if slot.under_way < AHEAD_OF_TIME:
            self._free[slot.under_way].append(slot)
        answer: Future[Answer] = slot.actor.search.remote(job.request).future()
        answer.add_done_callback(lambda done: self._answered(job, slot, done))

    def _answered(self, job: Job, slot: _Slot, done: Future[Answer]) -> None:
        """In a thread of Ray's: take an answer, and give the actor its next search."""
        lost = done.exception()
        with self._lock:
            slot.under_way -= 1
            if lost is not None:
                self._bury(slot)
            elif slot.alive:
                self._free[slot.under_way].append(slot)
            if lost is None:
                self._busy[slot.number] += done.result().busy
            self._dispatch()
        if lost is None:
            self._settle(job, done.result())
            return
        job.lost += 1
        self._again(job, f"its node was lost ({type(lost).__name__})", job.lost < MOVES)

    def _settle(self, job: Job, answer: Answer) -> None:
        if answer.analysis is None:
            job.failures += 1
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
        """An actor is dead. Unless its node is too, another one takes its place. Holds the lock."""
        if not slot.alive:
            return
        slot.alive = False
        node = slot.node
        if slot in node.slots:
            node.slots.remove(slot)
        if self._closed.is_set() or node.key not in self._nodes:
            return
        fresh = self._slot(node)
        node.slots.append(fresh)
        self._free[0].append(fresh)


def connect(address: str, workers: int | None = None) -> Any:
    """Ray itself, connected to a cluster; one clear line where it is not installed or not reached."""
    try:
        import ray
    except ImportError:
        raise InputError("--cluster needs Ray: pip install 'preplay[cluster]'") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if ray.is_initialized():
        return ray
    try:
        if address == "local":
            ray.init(num_cpus=workers or cores(), include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cluster '{address}': {reason}; expected local, auto or HOST:PORT of a Ray cluster"
        ) from None
    return ray


@contextlib.contextmanager
def shared(address: str, workers: int | None = None) -> Iterator[tuple[str, int]]:
    """A cluster that several processes use at once: its address, and how many engines it can run."""
    ray = connect(address, workers)
    try:
        total = int(sum(row["Resources"].get("CPU", 0) for row in ray.nodes() if row["Alive"]))
        yield ray.get_runtime_context().gcs_address, min(total, workers or total)
    finally:
        ray.shutdown()


def open_pool(cluster: str | None, workers: int | None) -> Pool:
    """The engines of this machine, or those of a cluster, whose losses are logged as warnings."""
    if cluster is None:
        return EnginePool(workers=workers)
    return ClusterPool(cluster, workers, tell=logging.getLogger("preplay.cluster").warning)
