"""Where policies and values ask for analyses: remembered, stored, under way, or searched now."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, wait
from dataclasses import dataclass

from preplay.chess.engines.analysis import Analysis, SearchRequest
from preplay.chess.engines.pool import AHEAD, GUESSED, WANTED, Pool
from preplay.chess.engines.speculation import Speculation
from preplay.chess.engines.store import AnalysisStore, Setting
from preplay.errors import EngineError

MEMORY = 200_000
"""Analyses kept in memory, about half a kilobyte each."""


@dataclass(frozen=True, slots=True)
class AnalystStats:
    """How requests were answered so far."""

    asked: int
    """Different requests in each call of `analyse`, summed over the calls."""
    remembered: int
    """Of these, how many were in memory or already being searched."""
    stored: int
    """Analyses read from the store."""
    searches: int
    """Searches that engines have finished; of those that were asked ahead, the used ones."""
    asked_ahead: int = 0
    """Searches by engines that had no work, of positions that might be asked about."""
    used: int = 0
    """Of these, how many were asked about later."""


class Analyst:
    """Answers requests with the fewest searches: each is made once, whoever asks, and never again.

    Searches asked for ahead wait behind those that somebody waits for. One thread asks. Answers are in
    the store before anybody sees them, also those that nobody waits for.
    """

    def __init__(
        self,
        pool: Pool,
        store: AnalysisStore | None = None,
        *,
        memory: int = MEMORY,
        speculation: Speculation | None = None,
    ):
        """The pool and the store stay the caller's to close, the pool first."""
        self.pool = pool
        self.store = store
        self._size = memory
        self._speculation = speculation
        self._settings: dict[tuple[object, ...], Setting] = {}
        self._asked = self._remembered = self._stored = 0
        self._lock = threading.Lock()
        # All below is guarded by the lock.
        self._known: dict[SearchRequest, Analysis] = {}
        self._pending: dict[SearchRequest, tuple[Future[Analysis], int]] = {}
        self._searches = 0
        self._guessed: dict[SearchRequest, bool] = {}  # asked ahead and not used: whether it is done
        self._asked_ahead = self._used = 0

    def analyse(self, requests: Sequence[SearchRequest]) -> list[Analysis]:
        """The analyses of `requests`, in their order; waits for those that need a search."""
        different = list(dict.fromkeys(requests))
        self._use(different)
        with self._lock:
            here = sum(request in self._known or request in self._pending for request in different)
        self._asked += len(different)
        self._remembered += here
        answers = self._look_up(different)
        waiting = [request for request in different if request not in answers]
        try:
            futures = [self._submit(request, WANTED) for request in waiting]
            if futures and self._speculation is not None:
                self._look_further(self._speculation)
            wait(futures, return_when=FIRST_EXCEPTION)  # wakes this thread once, not for every answer
            for request, future in zip(waiting, futures, strict=True):
                answers[request] = future.result()
        except CancelledError as error:
            raise EngineError("the engine pool was closed") from error
        except BaseException:
            self.cancel(waiting)
            raise
        if self._speculation is not None:
            for request in different:
                self._speculation.heard(request, answers[request])
        return [answers[request] for request in requests]

    def prefetch(self, requests: Iterable[SearchRequest]) -> None:
        """Begin the searches that `requests` will need, when engines are free; returns at once."""
        different = list(dict.fromkeys(requests))
        self._use(different)
        answers = self._look_up(different)
        for request in different:
            if request not in answers:
                self._submit(request, AHEAD)

    def cancel(self, requests: Iterable[SearchRequest]) -> int:
        """Give up searches that have not begun, and say how many they were."""
        with self._lock:
            pending = [self._pending[request][0] for request in requests if request in self._pending]
        return sum(future.cancel() for future in pending)

    def stats(self) -> AnalystStats:
        """How requests were answered so far."""
        with self._lock:
            return AnalystStats(
                self._asked,
                self._remembered,
                self._stored,
                self._searches,
                self._asked_ahead,
                self._used,
            )

    def _look_further(self, speculation: Speculation) -> None:
        """Give half of the engines that have no work something that may be asked about."""
        with self._lock:
            room = (self.pool.workers - len(self._pending) + 1) // 2
        guesses = speculation.guesses() if room > 0 else iter(())
        while room > 0 and (request := next(guesses, None)) is not None:
            with self._lock:
                known = request in self._known or request in self._pending
            if known or self._look_up([request]):
                continue
            with self._lock:
                self._guessed[request] = False
                self._asked_ahead += 1
            self._submit(request, GUESSED)
            room -= 1

    def _use(self, requests: Iterable[SearchRequest]) -> None:
        """These are really asked about: those that were guessed count as searches now."""
        if not self._guessed:
            return
        with self._lock:
            for request in requests:
                done = self._guessed.pop(request, None)
                if done is not None:
                    self._used += 1
                    self._searches += done

    def _look_up(self, requests: Sequence[SearchRequest]) -> dict[SearchRequest, Analysis]:
        """What needs no search."""
        with self._lock:
            answers = {request: self._known[request] for request in requests if request in self._known}
            missing = [r for r in requests if r not in answers and r not in self._pending]
        if self.store is None:
            return answers
        by_setting: dict[Setting, list[SearchRequest]] = {}
        for request in missing:
            by_setting.setdefault(self._setting(request), []).append(request)
        for setting, group in by_setting.items():
            found = self.store.get_many(setting, [request.position for request in group])
            self._stored += len(found)
            for request in group:
                if request.position in found:
                    answers[request] = found[request.position]
                    with self._lock:
                        self._remember(request, found[request.position])
        return answers

    def _submit(self, request: SearchRequest, priority: int) -> Future[Analysis]:
        """The future of a search; one that waits behind others is moved forward if need be."""
        with self._lock:
            if analysis := self._known.get(request):
                done: Future[Analysis] = Future()
                done.set_result(analysis)
                return done
            pending = self._pending.get(request)
        if pending:
            future, earlier = pending
            if earlier <= priority or not future.cancel():
                return future
        setting = self._setting(request) if self.store else None
        future = self.pool.submit(request, priority, functools.partial(self._keep, request, setting))
        with self._lock:
            if request not in self._known:
                self._pending[request] = future, priority
        future.add_done_callback(functools.partial(self._settled, request))
        return future

    def _setting(self, request: SearchRequest) -> Setting:
        spec, chess960 = request.engine, request.position.chess960
        key = (spec, request.limit, request.multipv, chess960)
        setting = self._settings.get(key)
        if setting is None:
            identity = self.pool.identity(spec)
            setting = Setting.of(identity, spec, request.limit, request.multipv, chess960)
            self._settings[key] = setting
        return setting

    def _keep(self, request: SearchRequest, setting: Setting | None, analysis: Analysis) -> None:
        """Called in a worker's thread with every new analysis."""
        if self.store is not None and setting is not None:
            self.store.put(setting, request.position, analysis)
        with self._lock:
            if request in self._guessed:
                self._guessed[request] = True
            else:
                self._searches += 1
            self._pending.pop(request, None)
            self._remember(request, analysis)

    def _remember(self, request: SearchRequest, analysis: Analysis) -> None:
        self._known[request] = analysis
        if len(self._known) > self._size:
            del self._known[next(iter(self._known))]

    def _settled(self, request: SearchRequest, future: Future[Analysis]) -> None:
        """Forget a search that was cancelled or failed."""
        with self._lock:
            if request in self._pending and self._pending[request][0] is future:
                del self._pending[request]
