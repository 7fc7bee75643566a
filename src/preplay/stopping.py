"""Stopping long work from outside: Ctrl-C, or a moment, without losing what was computed."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal


class Stop:
    """A request to stop. Work polls `asked`; only while it waits may it be interrupted at once."""

    def __init__(self, above: Stop | None = None, moment: float = math.inf) -> None:
        self._asked = False
        self._waiting = False
        self._above = above
        self._moment = moment

    @property
    def asked(self) -> bool:
        """Whether to stop: somebody said so, or it is time."""
        return self.requested or (self.timed and time.monotonic() >= self._moment)

    @asked.setter
    def asked(self, asked: bool) -> None:
        self._asked = asked

    @property
    def requested(self) -> bool:
        """Whether somebody said so."""
        return self._asked or (self._above is not None and self._above.requested)

    @property
    def timed(self) -> bool:
        """Whether there is a moment to stop at."""
        return self._moment < math.inf

    @property
    def reason(self) -> Literal["interrupted", "seconds"]:
        """What ended the work that was stopped."""
        return "interrupted" if self.requested else "seconds"

    def request(self) -> None:
        """Ask to stop; raises KeyboardInterrupt where the work said that it may be interrupted."""
        self._asked = True
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt

    def until(self, moment: float) -> Stop:
        """The same request, which is also made when `time.monotonic` comes to `moment`."""
        return Stop(self, moment)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Mark a wait that loses nothing when it is cut off."""
        if self._above is not None:
            with self._above.interruptible():
                yield
            return
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False


NEVER = Stop()
"""The default of work that nobody means to stop. It is never asked."""


@contextmanager
def on_interrupt() -> Iterator[Stop]:
    """A Stop that the first Ctrl-C (or SIGTERM) sets; the second does what it did before.

    A signal that is ignored, as `nohup` and `&` in a script ask for, stays so.
    """
    stop = Stop()

    def handler(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before[signal.SIGINT])
        stop.request()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, previous in before.items():
        if previous is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield stop
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
