"""Stopping long work from outside: Ctrl-C without losing what was computed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """A request to stop. Work polls `asked`; only while it waits may it be interrupted at once."""

    def __init__(self) -> None:
        self.asked = False
        self._waiting = False

    def request(self) -> None:
        """Ask to stop; raises KeyboardInterrupt where the work said that it may be interrupted."""
        self.asked = True
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Mark a wait that loses nothing when it is cut off."""
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False


NEVER = Stop()
"""The default of work that nobody means to stop. It is never asked."""


@contextmanager
def on_interrupt() -> Iterator[Stop]:
    """A Stop that the first Ctrl-C (or SIGTERM) sets; the second ends the program as usual."""
    stop = Stop()

    def handler(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop.request()

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
