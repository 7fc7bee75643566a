"""Growing W, the histories that matter when both sides prepare (fact 7 of docs/model.md).

A history matters to side i if `chance * in_i * max(in_j, out*_j) >= λ_i`: i has been on prep all the
way, and the opponent has stopped where that makes the history likeliest. What matters to neither side
is a leaf with its value; a mover to whom it does not matter has left his book for good.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

import numpy as np

from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, Distribution, Game, S
from preplay.growth.asking import Questions, questions_to
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder
from preplay.growth.goals import Ending, Limits, Progress
from preplay.growth.stopping import NEVER, Stop
from preplay.policy import Policy, check_distribution
from preplay.tree import Bools, Tree
from preplay.value import Evaluator


class Reaches(NamedTuple):
    """How likely a history can be: chance, each side in its book, each side out of it at best."""

    chance: float
    inside: tuple[float, float]
    outside: tuple[float, float]

    def matters(self, side: int) -> float:
        """The reach that counts for `side` (0 or 1): in its book, the opponent as he likes."""
        other = 1 - side
        return self.chance * self.inside[side] * max(self.inside[other], self.outside[other])

    @property
    def most(self) -> float:
        """The largest probability of the history under any two books."""
        return self.chance * math.prod(map(max, zip(self.inside, self.outside, strict=True)))


@dataclass(frozen=True, eq=False)
class Contested:
    """A grown W and how its growth ended."""

    tree: Tree
    memorizable: Bools  # [n] own histories that could pay for their mover
    ending: Ending
    histories: int
    questions: int
    seconds: float


@dataclass
class _Growth(Generic[S]):
    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    prep: tuple[Policy[S], Policy[S]]
    value: Evaluator[S]
    costs: tuple[float, float]
    limits: Limits
    built: Builder = field(default_factory=Builder)
    reaches: dict[int, Reaches] = field(default_factory=dict)
    states: dict[int, S] = field(default_factory=dict)
    memorizable: list[bool] = field(default_factory=list)
    heap: list[tuple[float, int]] = field(default_factory=list)
    window: deque[tuple[int, tuple[Questions[S, Any], ...]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.ask_value: Questions[S, Any] = questions_to(self.value, "values")
        self.ask_base = tuple(questions_to(policy, "distributions") for policy in self.base)
        self.ask_prep = tuple(questions_to(policy, "distributions") for policy in self.prep)

    def enter(self, parent: int, action: str, state: S, base: float, prep: float, reach: Reaches) -> None:
        """Add a history: final, or expanded later, or a leaf that only needs its value."""
        player = self.game.player(state)
        k = self.built.add(parent, action, player, base, prep)
        worth = max(reach.matters(side) / self.costs[side] for side in (0, 1))
        own = player in (1, 2)
        self.memorizable.append(own and reach.matters(player - 1) >= self.costs[player - 1])
        if player == FINAL:
            utility = self.game.utility(state)
            if not 0.0 <= utility <= 1.0:
                where = f"history {list(self.built.history(k))}"
                raise GameError(f"{where}: utility {utility}; expected a number in [0, 1]")
            self.built.value[k] = utility
            self.built.stage[k] = CLOSED
        elif reach.most <= self.limits.negligible:
            self.built.value[k] = self.built.radius[k] = 0.5
            self.built.stage[k] = CLOSED
        else:
            self.states[k] = state
            self.reaches[k] = reach
            self.built.stage[k] = UNASKED if worth >= 1.0 else VALUED
            heapq.heappush(self.heap, (-worth, k))

    def questions(self, k: int) -> tuple[Questions[S, Any], ...]:
        """What must be asked at `k`: its value if it is a leaf, else the mover's policies."""
        if self.built.stage[k] == VALUED:
            return (self.ask_value,)
        player = self.built.player[k]
        if player == CHANCE:
            return ()
        if self.memorizable[k]:
            return self.ask_base[player - 1], self.ask_prep[player - 1]
        return (self.ask_base[player - 1],)

    def apply(self, k: int, answers: list[Any]) -> None:
        """Put the answers about `k` into the tree."""
        state, reach = self.states.pop(k), self.reaches.pop(k)
        if self.built.stage[k] == VALUED:
            self.built.value[k], self.built.radius[k] = answers[0]
            self.built.stage[k] = CLOSED
            return
        player = self.built.player[k]
        if player == CHANCE:
            answers = [self.game.chance(state)]
        base: Distribution = answers[0]
        prep: Distribution = answers[-1]
        for distribution in {id(d): d for d in answers}.values():
            try:
                check_distribution(distribution, "distribution")
            except GameError as error:
                raise GameError(f"history {list(self.built.history(k))}: {error}") from None
        actions = [a for a in dict.fromkeys((*prep, *base)) if prep.get(a, 0.0) + base.get(a, 0.0) > 0.0]
        self.built.first[k] = len(self.built)
        self.built.count[k] = len(actions)
        self.built.stage[k] = EXPANDED
        for action in actions:
            p, q = base.get(action, 0.0), prep.get(action, 0.0)
            after = self.after(reach, player, p, q if self.memorizable[k] else 0.0)
            self.enter(k, action, self.game.next(state, action), p, q, after)

    def after(self, reach: Reaches, player: int, base: float, prep: float) -> Reaches:
        """The reaches after an action that the mover's base and prep choose with these probabilities."""
        if player == CHANCE:
            return Reaches(reach.chance * base, reach.inside, reach.outside)
        mover = player - 1
        inside, outside = list(reach.inside), list(reach.outside)
        outside[mover] = max(outside[mover], inside[mover]) * base
        inside[mover] *= prep
        return Reaches(reach.chance, (inside[0], inside[1]), (outside[0], outside[1]))

    def fill(self) -> None:
        while self.heap and len(self.window) < self.limits.window:
            _, k = heapq.heappop(self.heap)
            questions = self.questions(k)
            for question in questions:
                question.submit(k, self.states[k])
            self.window.append((k, questions))

    def step(self, stop: Stop) -> None:
        k, questions = self.window[0]
        with stop.interruptible():
            answers = [question.take(k) for question in questions]
        self.window.popleft()
        self.apply(k, answers)

    def close(self, stop: Stop) -> Bools:
        """Value every history that was not expanded; those that might have been are open."""
        for k, questions in self.window:
            for question in questions:
                question.forget(k)
        self.window.clear()
        stage = np.frombuffer(self.built.stage, dtype=np.int8)
        open: Bools = np.equal(stage, UNASKED)
        rest = np.flatnonzero((stage == UNASKED) | (stage == VALUED)).tolist()
        for low in range(0, len(rest), max(1, self.limits.window)):
            batch = rest[low : low + self.limits.window]
            if stop.asked:  # no time: unknown values, honestly
                for k in batch:
                    self.built.value[k] = self.built.radius[k] = 0.5
                continue
            try:
                with stop.interruptible():
                    values = self.value.values([self.states[k] for k in batch])
            except KeyboardInterrupt:
                for k in batch:
                    self.built.value[k] = self.built.radius[k] = 0.5
                continue
            for k, value in zip(batch, values, strict=True):
                self.built.value[k], self.built.radius[k] = value
        return open

    @property
    def asked(self) -> int:
        return sum(q.asked for q in (self.ask_value, *self.ask_base, *self.ask_prep))


def grow_contested(
    game: Game[S],
    base: tuple[Policy[S], Policy[S]],
    prep: tuple[Policy[S], Policy[S]],
    value: Evaluator[S],
    costs: tuple[float, float],
    limits: Limits | None = None,
    *,
    everything: bool = False,
    stop: Stop = NEVER,
    progress: Callable[[Progress], None] | None = None,
) -> Contested:
    """The public tree of the meta-game: all of W, most important histories first.

    With `everything`, histories are expanded to the end of the game whatever they are worth; the value
    of the meta-game is the same, which the tests check.
    """
    limits = limits or Limits()
    start = told = time.monotonic()
    growth = _Growth(game, base, prep, value, (0.0, 0.0) if everything else costs, limits)
    if everything:
        growth.costs = (1e-300, 1e-300)
    root = game.root()
    if game.player(root) == FINAL:
        raise GameError("the game is over before it begins; expected at least one move")
    growth.enter(-1, "", root, 1.0, 1.0, Reaches(1.0, (1.0, 1.0), (1.0, 1.0)))
    ending: Ending = "complete"
    try:
        while True:
            now = time.monotonic()
            if stop.asked:
                ending = "interrupted"
            elif limits.histories is not None and len(growth.built) >= limits.histories:
                ending = "histories"
            elif limits.seconds is not None and now - start >= limits.seconds:
                ending = "seconds"
            if ending != "complete":
                break
            growth.fill()
            if not growth.window:
                break
            growth.step(stop)
            if progress is not None and now - told >= 0.1:
                told = now
                progress(_snapshot(growth, start))
    except KeyboardInterrupt:
        ending = "interrupted"
    open = growth.close(stop)
    stage = np.frombuffer(growth.built.stage, dtype=np.int8)
    order, _ = growth.built.breadth_first(stage == EXPANDED)
    memorizable = np.array(growth.memorizable, dtype=np.bool_) & (stage == EXPANDED)
    if progress is not None:
        progress(_snapshot(growth, start))
    return Contested(
        tree=growth.built.freeze(stage == EXPANDED, open),
        memorizable=memorizable[order],
        ending=ending,
        histories=len(growth.built),
        questions=growth.asked,
        seconds=time.monotonic() - start,
    )


def _snapshot(growth: _Growth[Any], start: float) -> Progress:
    return Progress(
        histories=len(growth.built),
        waiting=len(growth.heap) + len(growth.window),
        low=0.0,
        up=1.0,
        seconds=time.monotonic() - start,
        questions=growth.asked,
    )
