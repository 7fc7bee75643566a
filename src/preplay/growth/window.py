"""The questions of a growth under way, and the loop that asks them and applies the answers."""

from __future__ import annotations

import gc
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
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

    def wanted(self, most: int) -> Mapping[Asked[S], list[int]]:
        """About which histories to ask next, at most so many, and whom; none where nothing is wanted."""
        ...

    def apply(self, histories: Sequence[int], asked: Asked[S]) -> None:
        """Those who were asked about these histories have answered: take the answers."""
        ...

    def settle(self) -> None:
        """More will be asked now: find out what the answers mean for that."""
        ...


class Window(Generic[S]):
    """So many questions are under way at once, and answers are applied in the order asked.

    More is asked when few enough are left, whoever answers and whatever is answered already. So what is
    grown does not depend on timing, or on how many engines work.
    """

    def __init__(
        self,
        growing: Growing[S],
        limits: Limits,
        stop: Stop,
        progress: Callable[[GrowthProgress], None] | None = None,
        save: Callable[[], None] | None = None,
        every: float = math.inf,
    ) -> None:
        self._growing, self._stop = growing, stop
        self._size, self._few = limits.window, min(limits.refill, limits.window - 1)
        self._progress, self._save, self._every = progress, save, every
        self._asked: deque[tuple[Asked[S], list[int]]] = deque()
        self._count = 0
        self.start = self._told = self._saved = time.monotonic()

    @property
    def under_way(self) -> Iterator[tuple[int, Asked[S]]]:
        """The histories about which somebody was asked, and who, in the order asked."""
        return ((k, asked) for asked, histories in self._asked for k in histories)

    def run(self, limits: Limits) -> Ending:
        """Ask and apply until nothing is left, a limit, or a request to stop."""
        met = self._growing.met.built.parent
        most = math.inf if limits.histories is None else limits.histories
        seconds = math.inf if limits.seconds is None else limits.seconds
        at_once = self._size if limits.histories is None and not limits.gap > 0.0 else 1
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
                    if limits.gap > 0.0:
                        self._growing.settle()
                        if self._growing.certified:
                            return "gap"
                    if not self._advance(at_once):
                        return "complete"
                    self._between(now)
        except KeyboardInterrupt:
            if not self._stop.asked:
                raise
            return "interrupted"

    def _advance(self, at_once: int) -> bool:
        """Ask if few questions are left, then apply the first answers, at most so many at once.

        Whether there may be more to do.
        """
        growing = self._growing
        if self._count <= self._few:
            self._ask()
            if not self._count:
                return False
        asked, histories = self._answered(max(1, min(at_once, self._count - self._few)))
        if histories:
            growing.apply(histories, asked)
        if self._count <= self._few:
            growing.settle()
        return True

    def _ask(self) -> None:
        """Put as many questions under way as there may be."""
        states, state = self._growing.met.states, self._growing.met.state
        for asked, histories in self._growing.wanted(self._size - self._count).items():
            about = {k: states[k] if k in states else state(k) for k in histories}
            for questions in asked:
                questions.submit(about)
            self._asked.append((asked, histories))
            self._count += len(histories)

    def _answered(self, most: int) -> tuple[Asked[S], list[int]]:
        """Who was asked first, and about which histories, at most so many, after waiting for the answers.

        Those that are of no interest any more are left out.
        """
        asked, histories = self._asked[0]
        stage = self._growing.met.built.stage
        answered = [k for k in histories[:most] if stage[k] != CLOSED]
        for questions in asked:
            answers = questions.answers
            for k in answered:
                if k not in answers:
                    with self._stop.interruptible():
                        questions.wait(k)
        self._count -= min(most, len(histories))
        del histories[:most]
        if not histories:
            self._asked.popleft()
        return asked, answered

    def put(self, k: int, asked: Asked[S]) -> None:
        """Put a question that was under way before an interruption under way again, in its turn."""
        if self._growing.met.built.stage[k] != CLOSED:
            for questions in asked:
                questions.submit({k: self._growing.met.state(k)})
        self._asked.append((asked, [k]))
        self._count += 1

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
                    waiting=self._growing.waiting + self._count,
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
        self._asked.clear()
        self._count = 0

    @property
    def asked(self) -> int:
        """Questions asked so far."""
        return sum(questions.asked for questions in self._growing.oracles)

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return time.monotonic() - self.start
