"""Worker processes that end, with their engines, whenever and however the command ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for
from types import FrameType, ModuleType
from typing import TypeVar

from preplay.errors import PreplayError
from preplay.stopping import Stop

T = TypeVar("T")
R = TypeVar("R")
GRACE = 3.0
"""Seconds that a worker has to close its engines before it is killed."""


def computed(
    work: Callable[[T], R], tasks: Sequence[T], workers: int, stop: Stop
) -> Iterator[tuple[int, R]]:
    """The number and the result of each task, as they are done; a stop request ends the workers."""
    if not tasks:
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(min(workers, len(tasks)), context, initializer=_begin)
    try:
        futures = _submitted(executor, work, tasks)
        waiting = set(futures)
        while waiting:
            with stop.interruptible():
                if stop.asked:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield futures[future], future.result()
    except KeyboardInterrupt:
        if not stop.asked:
            raise
    except BrokenProcessPool:
        raise PreplayError("a worker process died; the same command goes on from here") from None
    finally:
        _end(executor)


def _submitted(
    executor: ProcessPoolExecutor, work: Callable[[T], R], tasks: Sequence[T]
) -> dict[Future[R], int]:
    """All tasks under way. Ctrl-C waits meanwhile: workers that are just starting inherit the mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _main_hidden():
            return {executor.submit(_worked, work, task): number for number, task in enumerate(tasks)}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Workers that start now do not run the main script again: all that they do is in this package."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _end(executor: ProcessPoolExecutor) -> None:
    """End all workers: by a request, then by force."""
    processes = list((executor._processes or {}).values())
    for process in processes:
        process.terminate()
    running = {process.sentinel: process for process in processes}
    deadline = time.monotonic() + GRACE
    while running and (left := deadline - time.monotonic()) > 0:
        for sentinel in wait_for(list(running), left):
            del running[sentinel]  # type: ignore[arg-type]
    for process in running.values():
        process.kill()
    executor.shutdown(wait=True, cancel_futures=True)


def _worked(work: Callable[[T], R], task: T) -> R:
    try:
        return work(task)
    except SystemExit:  # the executor would go on with the next task
        os._exit(1)


def _begin() -> None:
    """In a new worker: Ctrl-C is for the parent alone; a worker ends on request and with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(1)


def _watch(sentinel: int) -> None:
    """Wait for the parent's death; leave so that engines are closed, else anyhow."""
    wait_for([sentinel])
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
