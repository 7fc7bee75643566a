"""Games side by side: while one waits for an answer, those of the others are already worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from preplay.game import S
from preplay.policy import Ahead
from preplay.stopping import NEVER, Stop

A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Question(Generic[S, A]):
    """What a game waits for: who is asked, about which state, and how they work ahead, if they do."""

    ask: Callable[[Sequence[S]], Sequence[A]]
    state: S
    ahead: Ahead[S] | None = None

    def prefetch(self) -> None:
        """Let them begin."""
        if self.ahead is not None:
            self.ahead.prefetch([self.state])

    def cancel(self) -> None:
        """Nobody waits for the answer any more."""
        if self.ahead is not None:
            self.ahead.cancel([self.state])

    def answer(self) -> A:
        """What they say."""
        (answer,) = self.ask([self.state])
        return answer


Turns = Generator[Question[Any, Any] | None, Any, R]
"""A game: it yields its questions, is sent their answers, and returns what became of it. None asks for
nothing but another turn."""
_Running = deque[tuple[Turns[R], Question[Any, Any] | None]]


def in_turns(games: Iterable[Turns[R]], at_once: int, stop: Stop = NEVER) -> Generator[R]:
    """Play games, so many under way at a time; what became of them, in the order in which they end.

    Each asks as soon as it can, and who asked first is answered first: the order depends on the games
    alone. After a stop, or closed, no game goes on, and what they have asked for is given up.
    """
    waiting = iter(games)
    running: _Running[R] = deque()
    try:
        while True:
            while len(running) < at_once and (new := next(waiting, None)) is not None:
                yield from _turn(new, None, running)
            if not running or stop.asked:
                return
            game, question = running[0]
            try:
                with stop.interruptible():
                    answer = None if question is None else question.answer()
            except KeyboardInterrupt:
                if not stop.requested:
                    raise
                return
            running.popleft()
            yield from _turn(game, answer, running)
    finally:
        for _, question in running:
            if question is not None:
                question.cancel()


def _turn(game: Turns[R], answer: Any, running: _Running[R]) -> Iterator[R]:
    """Let a game go on to its next question, or to its end."""
    try:
        question = game.send(answer)
    except StopIteration as end:
        yield end.value
        return
    if question is not None:
        question.prefetch()
    running.append((game, question))
