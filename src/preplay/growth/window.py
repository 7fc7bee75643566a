"""The questions of a growth under way, and the loop that asks them and applies the answers."""

from __future__ import annotations

import gc
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeAlias

from preplay.game import S
from preplay.growth.asking import Questions
from preplay.growth.builder import CLOSED
from preplay.growth.goals import Ending, GrowthProgress, Limits
from preplay.growth.met import Met
from preplay.stopping import Stop

Asked: TypeAlias = tuple[Questions[S, Any], ...]
"""Those who are asked about one history; none where the game itself knows."""


ALLOCATIONS = 100_000
"""How many objects are made, while a tree grows, before Python looks for cycles among them."""


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Look for cycles of objects less often: what growth keeps has none, and is more and more.

    With Python's own setting (every 700 objects) that takes up to a quarter of growth's time.
    """
    before = gc.get_threshold()
    if 0 < before[0] < ALLOCATIONS:
        gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Growing(Protocol[S]):
    """A tree that grows by answers: of one side, or of both."""

    @property
    def met(self) -> Met[S]:
        """The histories met so far."""
        ...

    @property
    def oracles(self) -> tuple[Questions[S, Any], ...]:
        """All who are asked."""
        ...

    @property
    def waiting(self) -> int:
        """About how many histories something is to be asked."""
        ...

    @property
    def interval(self) -> tuple[float, float]:
        """What the root is worth at least and at most; nan where nobody works it out."""
        ...

    @property
    def certified(self) -> bool:
        """Whether the interval is as small as wanted."""
        ...

    def wanted(self) -> tuple[int, Asked[S]] | None:
        """The history to ask about next, and whom; None: there is none now."""
        ...

    def apply(self, k: int, asked: Asked[S]) -> None:
        """Those who were asked about `k` have answered: take the answers."""
        ...


class Window(Generic[S]):
    """So many questions are under way at once, and answers are applied in the order asked.

    So what is grown does not depend on timing, or on how many engines work.
    """

    def __init__(
        self,
        growing: Growing[S],
        size: int,
        stop: Stop,
        progress: Callable[[GrowthProgress], None] | None = None,
        save: Callable[[], None] | None = None,
        every: float = math.inf,
    ) -> None:
        self._growing, self._size, self._stop = growing, size, stop
        self._states = growing.met.states
        self._progress, self._save, self._every = progress, save, every
        self.under_way: deque[tuple[int, Asked[S]]] = deque()
        self.start = self._told = self._saved = time.monotonic()

    def run(self, limits: Limits) -> Ending:
        """Ask and apply until nothing is left, a limit, or a request to stop."""
        met = self._growing.met.built.parent
        most = math.inf if limits.histories is None else limits.histories
        seconds = math.inf if limits.seconds is None else limits.seconds
        try:
            with _seldom_collected():
                while True:
                    now = time.monotonic()
                    if len(met) >= most:
                        return "histories"
                    if self._stop.asked:
                        return "interrupted"
                    if now - self.start >= seconds:
                        return "seconds"
                    if limits.gap > 0.0 and self._growing.certified:
                        return "gap"
                    if not self._advance(most, limits.gap):
                        return "complete"
                    self._between(now)
        except KeyboardInterrupt:
            if not self._stop.asked:
                raise
            return "interrupted"

    def _advance(self, most: float, gap: float) -> bool:
        """Ask, and apply answers up to one that had to be waited for, or a limit.

        Whether there may be more to do.
        """
        growing, under_way, size, states = self._growing, self.under_way, self._size, self._states
        met, stage, wanted = growing.met.built.parent, growing.met.built.stage, growing.wanted
        waited = False
        while not waited and len(met) < most and not (gap > 0.0 and growing.certified):
            while len(under_way) < size and (question := wanted()) is not None:
                k, asked = question
                for questions in asked:
                    questions.submit(k, states[k] if k in states else growing.met.state(k))
                under_way.append(question)
            if len(met) >= most:
                break
            if not under_way:
                return False
            k, asked = under_way[0]
            if stage[k] == CLOSED:
                under_way.popleft()
                continue
            for questions in asked:
                if k not in questions.answers:
                    waited = True
                    with self._stop.interruptible():
                        questions.wait(k)
            under_way.popleft()
            growing.apply(k, asked)
        return True

    def put(self, k: int, asked: Asked[S]) -> None:
        """Put questions that were under way before an interruption under way again, in their turn."""
        if self._growing.met.built.stage[k] != CLOSED:
            for questions in asked:
                questions.submit(k, self._growing.met.state(k))
        self.under_way.append((k, asked))

    def _between(self, now: float) -> None:
        """What is done between two waits: tell, and save."""
        if self._progress is not None and now - self._told >= 0.1:
            self._told = now
            self.tell()
        if self._save is not None and now - self._saved >= self._every:
            self._save()
            self._saved = now

    def tell(self) -> None:
        """Let somebody who watches know how far it is."""
        if self._progress is not None:
            low, up = self._growing.interval
            self._progress(
                GrowthProgress(
                    histories=len(self._growing.met.built),
                    waiting=self._growing.waiting + len(self.under_way),
                    low=low,
                    up=up,
                    seconds=self.seconds,
                    questions=self.asked,
                )
            )

    def forget(self) -> None:
        """Drop what is under way: nobody waits for the answers any more."""
        for k, asked in self.under_way:
            for questions in asked:
                questions.forget(k)
        self.under_way.clear()

    @property
    def asked(self) -> int:
        """Questions asked so far."""
        return sum(questions.asked for questions in self._growing.oracles)

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return time.monotonic() - self.start
