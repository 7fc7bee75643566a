"""Engines side by side: a fixed number of searches runs at once, whatever engines they need."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Protocol, Self

import chess

from preplay.chess.engines.analysis import Analysis, EngineSpec, Identity, SearchRequest
from preplay.chess.engines.discovery import identify
from preplay.chess.engines.engine import HANDSHAKE, Engine, check_request, read_answer
from preplay.errors import EngineError, InputError
from preplay.machine import cores

WANTED: Final = 0
"""Priority of a search somebody waits for."""
AHEAD: Final = 1
"""Priority of a search that will probably be wanted."""
GUESSED: Final = 2
"""Priority of a search that may be wanted, for engines without work."""

MOST: Final = 1024
"""Workers that a pool may have."""


@dataclass(frozen=True, slots=True)
class PoolStats:
    """What the engines have done so far."""

    searches: int
    """Searches that gave an analysis."""
    failures: int
    """Engines that hung, died or answered nonsense, and were replaced."""
    busy: tuple[float, ...]
    """Seconds in which each worker's engine was searching."""
    all_busy: float
    """Seconds in which all workers' engines were searching."""
    wall: float
    """Seconds since the pool was opened."""

    @property
    def busy_share(self) -> float:
        """The mean share of the wall time in which a worker's engine was searching."""
        return sum(self.busy) / (len(self.busy) * self.wall) if self.wall > 0 else 0.0

    @property
    def all_busy_share(self) -> float:
        """The share of the wall time in which all workers' engines were searching."""
        return self.all_busy / self.wall if self.wall > 0 else 0.0

    def since(self, earlier: PoolStats) -> PoolStats:
        """What was done between `earlier` and now."""
        return PoolStats(
            self.searches - earlier.searches,
            self.failures - earlier.failures,
            tuple(now - then for now, then in zip(self.busy, earlier.busy, strict=True)),
            self.all_busy - earlier.all_busy,
            self.wall - earlier.wall,
        )


class Pool(Protocol):
    """Engines that search, wherever they are."""

    @property
    def workers(self) -> int:
        """How many search at once."""
        ...

    def submit(
        self,
        request: SearchRequest,
        priority: int = WANTED,
        keep: Callable[[Analysis], None] | None = None,
    ) -> Future[Analysis]:
        """Queue a search; `keep` hears of its analysis before the future has it."""
        ...

    def identity(self, spec: EngineSpec) -> Identity:
        """Which engine `spec` starts."""
        ...

    def stats(self) -> PoolStats:
        """What has been done so far."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@dataclass(eq=False, slots=True)
class Job:
    """A search that somebody waits for, or will."""

    request: SearchRequest
    order: tuple[int, int]
    keep: Callable[[Analysis], None] | None
    expected: tuple[chess.Board, int] | None = None
    """The board of the request and how many lines to expect, where the answer is read here."""
    future: Future[Analysis] = field(default_factory=Future)
    failures: int = 0
    """How often an engine failed at it."""
    lost: int = 0
    """How often the machine that had it was lost."""
    failed: set[str] = field(default_factory=set)
    """Machines on which an engine failed at it."""

    def begin(self) -> bool:
        """Whether it is still wanted; then it can no longer be cancelled."""
        tried = self.failures or self.lost or self.future.running()
        return bool(tried) or self.future.set_running_or_notify_cancel()

    def deliver(self, analysis: Analysis) -> None:
        """Hand out the answer, kept first; if keeping it fails, that is the answer."""
        try:
            if self.keep is not None:
                self.keep(analysis)
        except Exception as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(analysis)

    def __lt__(self, other: Job) -> bool:
        return self.order < other.order


class EnginePool:
    """Runs searches on `workers` threads, each with its own process of every engine it was asked for.

    Use it as a context manager: leaving it ends all processes at once. An engine that hangs, dies or
    answers nonsense is replaced and its search tried again, `attempts` times in all.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        attempts: int = 3,
        patience: float | None = None,
        handshake: float = HANDSHAKE,
    ):
        """One worker per core unless told; `patience` overrides the seconds until a search is hung."""
        if workers is not None and not 1 <= workers <= MOST:
            raise InputError(f"workers: {workers}; expected 1 to {MOST}")
        self.workers = workers or cores()
        self._attempts = attempts
        self._patience = patience
        self._handshake = handshake
        self._lock = threading.Condition()
        # All below is guarded by the lock.
        self._queue: list[Job] = []
        self._number = itertools.count()
        self._closed = False
        self._engines: set[Engine] = set()
        self._spare: dict[EngineSpec, Engine] = {}
        self._identities: dict[EngineSpec, Identity] = {}
        self._broken: dict[EngineSpec, EngineError] = {}
        self._searches = 0
        self._failures = 0
        self._busy = [0.0] * self.workers
        self._since = [0.0] * self.workers  # when the running search began, else 0
        self._running = 0
        self._all_busy = 0.0
        self._full_since = 0.0
        self._opened = time.perf_counter()
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), name=f"engine {worker}", daemon=True)
            for worker in range(self.workers)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(
        self,
        request: SearchRequest,
        priority: int = WANTED,
        keep: Callable[[Analysis], None] | None = None,
    ) -> Future[Analysis]:
        """Queue a search: lower priorities first, else first come, first served.

        Raises InputError at once for positions that are not legal or have no legal moves. A search that
        has not begun can be cancelled by its future. `keep` is called with the analysis in the
        worker's thread, before the future has it; if it fails, so does the future.
        """
        expected = check_request(request)
        with self._lock:
            if self._closed:
                raise EngineError("the engine pool is closed")
            job = Job(request, (priority, next(self._number)), keep, expected)
            heapq.heappush(self._queue, job)
            self._lock.notify()
        return job.future

    def identity(self, spec: EngineSpec) -> Identity:
        """Which engine `spec` starts; the first call starts it, and a worker takes it over."""
        with self._lock:
            if spec in self._identities:
                return self._identities[spec]
        engine = self._start(spec)
        with self._lock:
            if spec not in self._spare:
                self._spare[spec] = engine
                return self._identities[spec]
        self._discard(engine)
        return self._identities[spec]

    def stats(self) -> PoolStats:
        """What has been done since the pool was opened."""
        with self._lock:
            now = time.perf_counter()
            busy = tuple(
                done + (now - since if since else 0.0)
                for done, since in zip(self._busy, self._since, strict=True)
            )
            running = now - self._full_since if self._running == self.workers else 0.0
            wall = now - self._opened
            return PoolStats(self._searches, self._failures, busy, self._all_busy + running, wall)

    def close(self) -> None:
        """Cancel what is queued and end all engines at once."""
        with self._lock:
            self._closed = True
            queued, self._queue = self._queue, []
            engines = list(self._engines)
            spare, self._spare = list(self._spare.values()), {}
            self._lock.notify_all()
        for engine in engines:
            engine.kill()
        for job in queued:
            job.future.cancel()
        for thread in self._threads:
            thread.join()
        for engine in spare:
            self._discard(engine)

    # What follows runs in the workers' threads.

    def _work(self, worker: int) -> None:
        """Keeps an engine searching: where it can, the next search begins before the answer is read."""
        engines: dict[EngineSpec, Engine] = {}
        job: Job | None = None
        engine: Engine | None = None
        while job := job or self._next(wait=True):
            engine = engine or self._begin(worker, job, engines)
            if engine is None:
                job = None
                continue
            try:
                output, seconds = engine.finish()
            except Exception as error:
                self._stopped(worker)
                self._drop(engine, engines)
                self._failed(job, _told(engine.spec, error))
                job = engine = None
                continue
            self._stopped(worker)
            following, ahead = self._next(wait=False), None
            if following and following.request.engine in engines:
                ahead = self._begin(worker, following, engines)
                following = following if ahead else None
            if not self._deliver(job, output, seconds):
                self._drop(engine, engines)
                if ahead is engine:  # begin the next search again, on a fresh engine
                    self._stopped(worker)
                    ahead = None
            job, engine = following, ahead
        for engine in engines.values():
            self._discard(engine)

    def _next(self, wait: bool) -> Job | None:
        """The first job that was not cancelled; None when there is none, or the pool is closed."""
        with self._lock:
            while True:
                while self._queue:
                    job = heapq.heappop(self._queue)
                    if job.begin():
                        return job
                if self._closed or not wait:
                    return None
                self._lock.wait()

    def _begin(self, worker: int, job: Job, engines: dict[EngineSpec, Engine]) -> Engine | None:
        """The engine that now searches for `job`, or None after a failure that has been dealt with."""
        spec = job.request.engine
        try:
            engine = engines.get(spec)
            if engine is None:
                engine = engines[spec] = self._start(spec)
            engine.begin(job.request)
        except Exception as error:
            if spec in engines:
                self._drop(engines[spec], engines)
            self._failed(job, _told(spec, error))
            return None
        with self._lock:
            now = self._since[worker] = time.perf_counter()
            self._running += 1
            if self._running == self.workers:
                self._full_since = now
        return engine

    def _stopped(self, worker: int) -> None:
        with self._lock:
            now = time.perf_counter()
            self._busy[worker] += now - self._since[worker]
            self._since[worker] = 0.0
            if self._running == self.workers:
                self._all_busy += now - self._full_since
            self._running -= 1

    def _deliver(self, job: Job, output: str, seconds: float) -> bool:
        """Hand out the answer; False if it was nonsense."""
        try:
            board, want = job.expected or check_request(job.request)
            analysis = read_answer(output, seconds, board, want)
        except Exception as error:  # whatever an engine printed, somebody waits for an answer
            self._failed(job, EngineError(f"engine '{job.request.engine}': {error}"))
            return False
        with self._lock:
            self._searches += 1
        job.deliver(analysis)
        return True

    def _failed(self, job: Job, error: EngineError) -> None:
        """Try again, or tell whoever waits."""
        spec, request = job.request.engine, job.request
        with self._lock:
            self._failures += 1
            job.failures += 1
            if not self._closed and spec not in self._broken and job.failures < self._attempts:
                heapq.heappush(self._queue, job)
                self._lock.notify()
                return
            if spec not in self._broken and not self._closed:
                tried = f", {job.failures} times" if job.failures > 1 else ""
                error = EngineError(
                    f"{error}{tried} (position '{request.position.text}', {request.limit})"
                )
        job.future.set_exception(error)

    def _start(self, spec: EngineSpec) -> Engine:
        """A running engine, registered so that `close` ends it."""
        with self._lock:
            if spec in self._broken:
                raise EngineError(str(self._broken[spec]))
            if self._closed:
                raise EngineError("the engine pool is closed")
            if spare := self._spare.pop(spec, None):
                return spare
            engine = Engine(spec, patience=self._patience, handshake=self._handshake)
            self._engines.add(engine)
        try:
            engine.open()
            identity = identify(spec, engine.name)
        except EngineError as error:
            with self._lock:
                self._engines.discard(engine)
                # One that never ran will not run next time; one that did gets another chance.
                if spec not in self._identities and not self._closed:
                    self._broken[spec] = error
            raise
        with self._lock:
            self._identities.setdefault(spec, identity)
        return engine

    def _drop(self, engine: Engine, engines: dict[EngineSpec, Engine]) -> None:
        del engines[engine.spec]
        self._discard(engine)

    def _discard(self, engine: Engine) -> None:
        engine.close()
        with self._lock:
            self._engines.discard(engine)


def _told(spec: EngineSpec, error: Exception) -> EngineError:
    """What went wrong with an engine, as an error that names it."""
    if isinstance(error, EngineError):
        return error
    return EngineError(f"engine '{spec}': {type(error).__name__} {error}")
