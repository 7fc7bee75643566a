"""Games side by side: the order of asking, and what a stop, a Ctrl-C and an error leave behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from preplay.policy import Ahead
from preplay.scheduling import Question, Turns, in_turns
from preplay.stopping import NEVER, Stop

Log = list[str]


def asked(log: Log, state: str, answer: Callable[[], None] = lambda: None) -> Question[str, str]:
    """A question whose way is written down."""

    def note(what: str) -> Callable[[Sequence[str]], None]:
        return lambda states: log.extend(f"{what} {one}" for one in states)

    def ask(states: Sequence[str]) -> list[str]:
        note("answer")(states)
        answer()
        return [one.upper() for one in states]

    return Question(ask, state, Ahead(note("begin"), note("cancel")))


def game(log: Log, name: str, questions: int, **more: Any) -> Turns[str]:
    heard = ""
    for k in range(questions):
        heard = yield asked(log, f"{name}{k}", **more)
    return heard or name


def test_who_asked_first_is_answered_first() -> None:
    log: Log = []
    games = (game(log, name, questions) for name, questions in (("a", 2), ("b", 1), ("c", 0), ("d", 1)))
    assert list(in_turns(games, 2)) == ["B0", "c", "A1", "D0"]
    order = "begin a0, begin b0, answer a0, begin a1, answer b0, begin d0, answer a1, answer d0"
    assert log == order.split(", ")


def test_a_game_may_only_take_its_turn() -> None:
    log: Log = []

    def idle(name: str, questions: int) -> Turns[str]:
        yield None
        return (yield from game(log, name, questions))

    ends = list(in_turns((idle(*one) for one in (("a", 1), ("b", 0), ("c", 1), ("d", 0))), 2))
    assert ends == ["b", "A0", "d", "C0"]
    assert list(in_turns([], 2)) == []


def test_a_stop_gives_up_what_was_asked_ahead() -> None:
    log, stop = Log(), Stop()
    ends = []
    for end in in_turns([game(log, name, k) for name, k in (("a", 1), ("b", 9), ("c", 9))], 3, stop):
        ends.append(end)
        stop.asked = True
    assert ends == ["A0"]
    assert log == ["begin a0", "begin b0", "begin c0", "answer a0", "cancel b0", "cancel c0"]


def test_whoever_has_heard_enough_gives_up_the_rest() -> None:
    log: Log = []
    games = in_turns([game(log, "a", 1), game(log, "b", 9)], 2)
    assert next(games) == "A0"
    games.close()
    assert log[-1] == "cancel b0"


def interrupted() -> None:
    raise KeyboardInterrupt


def failed() -> None:
    raise ValueError("no answer")


@pytest.mark.parametrize(("answer", "error"), [(interrupted, KeyboardInterrupt), (failed, ValueError)])
def test_what_nobody_asked_for_is_raised(answer: Callable[[], None], error: type[BaseException]) -> None:
    log: Log = []
    with pytest.raises(error):
        list(in_turns([game(log, "a", 1, answer=answer), game(log, "b", 1)], 2, NEVER))
    assert log[2:] == ["answer a0", "cancel a0", "cancel b0"]


def test_a_wait_that_is_interrupted_by_a_stop_is_the_end() -> None:
    log, stop = Log(), Stop()
    assert list(in_turns([game(log, "a", 1, answer=stop.request), game(log, "b", 1)], 2, stop)) == []
    assert log[2:] == ["answer a0", "cancel a0", "cancel b0"]
