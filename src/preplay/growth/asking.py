"""Questions to a batched oracle, many under way at once, answered in the order they were asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from preplay.game import Distribution, S
from preplay.policy import Ahead, Menu, Menus, Policy, ahead_of, check_answers
from preplay.value import Evaluator, Value

Q = TypeVar("Q")
A = TypeVar("A")


class Questions(Generic[Q, A]):
    """Collects questions and asks them in one batch as soon as an answer is needed.

    One who works ahead is told of every question at once and then asked one by one: waiting for the
    first answer does not wait for the others.
    """

    def __init__(self, ask: Callable[[Sequence[Q]], Sequence[A]], ahead: Ahead[Q] | None = None) -> None:
        self._ask = ask
        self._ahead = ahead
        self._waiting: dict[int, Q] = {}
        self.answers: dict[int, A] = {}
        """What was answered and not taken yet."""
        self.asked = 0

    def submit(self, questions: Mapping[int, Q]) -> None:
        """Put questions under way; their tickets are unique among those not taken."""
        self._waiting.update(questions)
        if self._ahead is not None:
            self._ahead.prefetch(list(questions.values()))

    def recall(self, tickets: Sequence[int]) -> None:
        """Ask questions under way that were asked and counted before an interruption."""
        questions = [self._waiting.pop(ticket) for ticket in tickets]
        if questions:
            self.answers.update(zip(tickets, self._ask(questions), strict=True))

    def wait(self, ticket: int) -> None:
        """Ask, and unless work goes on ahead ask all that waits; blocks until there is an answer."""
        waiting = self._waiting
        asked = waiting if self._ahead is None else {ticket: waiting[ticket]}
        answers = self._ask(list(asked.values()))
        check_answers(answers, len(asked))
        self.asked += len(asked)
        self.answers.update(zip(asked, answers, strict=True))
        if asked is waiting:
            waiting.clear()
        else:
            del waiting[ticket]

    def forget(self, ticket: int) -> None:
        """Drop a question, if it is under way: its answer no longer matters."""
        question = self._waiting.pop(ticket, None)
        self.answers.pop(ticket, None)
        if question is not None and self._ahead is not None:
            self._ahead.cancel([question])


def to_policy(policy: Policy[S]) -> Questions[S, Distribution]:
    """Questions about what a policy plays."""
    return Questions(policy.distributions, ahead_of(policy))


def to_evaluator(value: Evaluator[S]) -> Questions[S, Value]:
    """Questions about what histories are worth."""
    return Questions(value.values, ahead_of(value))


@dataclass(frozen=True)
class MenuOrPrep(Generic[S]):
    """What a book may play: one of a menu, or prep where there is none."""

    menus: Menus[S]
    prep: Policy[S]

    def choices(self, states: Sequence[S]) -> list[Menu | Distribution]:
        """The menu at each of `states`, or what prep plays where it is empty."""
        answers: list[Menu | Distribution] = list(self.menus.menus(states))
        plain = [j for j, menu in enumerate(answers) if not menu]
        if plain:
            fixed = self.prep.distributions([states[j] for j in plain])
            check_answers(fixed, len(plain))
            for j, distribution in zip(plain, fixed, strict=True):
                answers[j] = distribution
        return answers


def to_choices(choices: MenuOrPrep[S]) -> Questions[S, Menu | Distribution]:
    """Questions about what a book may play."""
    return Questions(choices.choices, ahead_of(choices.menus))
