"""Stop signs: a signal, a moment, and what waits for them."""

from __future__ import annotations

import signal
import time

import pytest

from preplay.stopping import Stop, on_interrupt


def test_the_first_signal_asks_and_the_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for first in (signal.SIGINT, signal.SIGTERM):
        with on_interrupt() as stop:
            signal.raise_signal(first)
            assert stop.asked
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        with on_interrupt() as stop, pytest.raises(KeyboardInterrupt), stop.interruptible():
            signal.raise_signal(first)
        assert stop.asked
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_moment_is_a_stop_sign() -> None:
    stop = Stop()
    now = time.monotonic()
    early, late = stop.until(now), stop.until(now + 600.0)
    assert (stop.asked, early.asked, late.asked) == (False, True, False)
    assert (early.reason, early.timed, stop.timed) == ("seconds", True, False)
    with pytest.raises(KeyboardInterrupt), late.interruptible():
        stop.request()
    assert (late.asked, late.reason) == (True, "interrupted")
    with late.interruptible():
        pass
