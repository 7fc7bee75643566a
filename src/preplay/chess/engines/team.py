"""What runs on a machine of the cluster: engines that search, and nothing else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import NamedTuple

from preplay.chess.engines.analysis import Analysis, EngineSpec, Identity, SearchRequest
from preplay.chess.engines.discovery import identify
from preplay.chess.engines.engine import Engine
from preplay.errors import EngineError, InputError


class Answer(NamedTuple):
    """What an actor says of one search."""

    analysis: Analysis | None
    fault: str
    """Why there is no analysis."""
    busy: float
    """Seconds in which the engine was searching."""
    refused: bool = False
    """Whether the request itself is at fault: no engine could answer it."""


class SearchTeam:
    """What runs on a machine of the cluster: engines that search side by side, a core for each."""

    def __init__(self, size: int, patience: float | None = None) -> None:
        self._patience = patience
        self._threads = ThreadPoolExecutor(size)
        self._desks: SimpleQueue[dict[EngineSpec, Engine]] = SimpleQueue()
        for _ in range(size):
            self._desks.put({})

    def ready(self) -> bool:
        """That it is there at all."""
        return True

    def identity(self, spec: EngineSpec) -> Identity | str:
        """Which engine `spec` starts here, or why it does not start."""
        try:
            with self._desk() as desk:
                return identify(spec, self._engine(desk, spec).name)
        except EngineError as error:
            return str(error)

    def search(self, requests: Sequence[SearchRequest]) -> list[Answer]:
        """A batch of searches, spread over the engines; returns when all are done."""
        return list(self._threads.map(self._one, requests))

    def close(self) -> None:
        """End all engines; on a cluster they end with the actor."""
        self._threads.shutdown(cancel_futures=True)
        while not self._desks.empty():
            for engine in self._desks.get().values():
                engine.close()

    def _one(self, request: SearchRequest) -> Answer:
        """One search. An engine that failed is not used again."""
        with self._desk() as desk:
            began = time.perf_counter()
            try:
                analysis = self._engine(desk, request.engine).search(request)
            except InputError as error:
                return Answer(None, str(error), time.perf_counter() - began, refused=True)
            except Exception as error:
                engine = desk.pop(request.engine, None)
                if engine is not None:
                    engine.close()
                named = error if isinstance(error, EngineError) else f"{type(error).__name__} {error}"
                return Answer(None, f"engine '{request.engine}': {named}", time.perf_counter() - began)
            return Answer(analysis, "", time.perf_counter() - began)

    @contextlib.contextmanager
    def _desk(self) -> Iterator[dict[EngineSpec, Engine]]:
        """The engines of one core, for this thread alone."""
        desk = self._desks.get()
        try:
            yield desk
        finally:
            self._desks.put(desk)

    def _engine(self, desk: dict[EngineSpec, Engine], spec: EngineSpec) -> Engine:
        engine = desk.get(spec)
        if engine is None:
            engine = Engine(spec, patience=self._patience)
            engine.open()
            desk[spec] = engine
        return engine
