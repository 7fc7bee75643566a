"""Growing W, the histories that matter when both sides prepare (fact 7 of docs/model.md).

A history matters to side i if `chance * in_i * max(in_j, out*_j) >= λ_i`: i has been on prep all the
way, and the opponent has stopped where that makes the history likeliest. What matters to neither side
is a leaf with its value; a mover to whom it does not matter has left his book for good.

Of a small game all of W is grown. Of a large one only what the equilibrium turns on: `ContestedGrowth`
starts from the root, and whoever solves the game on the present tree says which open leaves to expand.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt

from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, check_length
from preplay.growth.asking import Questions, to_evaluator, to_policy
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder
from preplay.growth.goals import Ending, GrowthProgress, Limits
from preplay.policy import Policy, check_distribution, check_pair
from preplay.stopping import NEVER, Stop
from preplay.tree import Bools, Tree
from preplay.value import Evaluator, check_evaluator

TINY = 1e-300
"""The cost that makes everything matter."""


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

    def after(self, player: int, base: float, prep: float) -> Reaches:
        """After an action that the mover's base and prep choose with these probabilities."""
        if player == CHANCE:
            return self._replace(chance=self.chance * base)
        inside, outside = list(self.inside), list(self.outside)
        outside[player - 1] = max(outside[player - 1], inside[player - 1]) * base
        inside[player - 1] *= prep
        return Reaches(self.chance, (inside[0], inside[1]), (outside[0], outside[1]))


@dataclass(frozen=True, eq=False)
class Contested:
    """A grown part of W and how its growth ended."""

    tree: Tree
    memorizable: Bools  # [n] expanded own histories that could pay for their mover
    order: npt.NDArray[np.int64]  # [n] when each was met: the growth's own numbering
    ending: Ending
    histories: int
    questions: int
    seconds: float


@dataclass
class ContestedGrowth(Generic[S]):
    """W under construction. A leaf is open while it is in W, has its value, and is not expanded."""

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    prep: tuple[Policy[S], Policy[S]]
    value: Evaluator[S]
    costs: tuple[float, float]
    limits: Limits = field(default_factory=Limits)
    lazy: bool = True
    """Expand only what is asked for; else all of W, and values are asked at its leaves alone."""
    stop: Stop = NEVER
    progress: Callable[[GrowthProgress], None] | None = None

    def __post_init__(self) -> None:
        check_pair(self.base, "base")
        check_pair(self.prep, "prep")
        check_evaluator(self.value)
        self.ending: Ending = "complete"
        self._longest = self.game.longest
        self._built = Builder()
        self._reaches: dict[int, Reaches] = {}
        self._states: dict[int, S] = {}
        self._memorizable: list[bool] = []
        self._heap: list[tuple[float, int]] = []
        self._window: deque[tuple[int, tuple[Questions[S, Any], ...]]] = deque()
        self._ask_value: Questions[S, Any] = to_evaluator(self.value)
        self._ask_base = tuple(to_policy(policy) for policy in self.base)
        self._ask_prep = tuple(to_policy(policy) for policy in self.prep)
        self._start = self._told = time.monotonic()
        root = self.game.root()
        if self.game.player(root) == FINAL:
            raise GameError("the game is over before it begins; expected at least one move")
        self._enter(-1, "", root, 1.0, 1.0, Reaches(1.0, (1.0, 1.0), (1.0, 1.0)))
        self._run()

    def expand(self, histories: Iterable[int]) -> None:
        """Expand open leaves, given in the growth's own numbering, and value what comes up."""
        for k in histories:
            if self._built.stage[k] == VALUED:
                heapq.heappush(self._heap, (-self._worth(self._reaches[k]), k))
        self._run()

    def grown(self) -> Contested:
        """The tree so far; where a stop left values out they are unknown, 0.5 ± 0.5."""
        built = self._built
        stage = np.frombuffer(built.stage, dtype=np.int8)
        for k in np.flatnonzero(stage == UNASKED).tolist():
            built.value[k] = built.radius[k] = 0.5
        expanded: Bools = np.equal(stage, EXPANDED)
        opened: Bools = np.equal(stage, VALUED) | np.equal(stage, UNASKED)
        order, _ = built.breadth_first(expanded)
        return Contested(
            tree=replace(built.freeze(expanded, opened), prices=self.costs),
            memorizable=(np.array(self._memorizable, dtype=np.bool_) & expanded)[order],
            order=order,
            ending=self.ending,
            histories=len(built),
            questions=sum(q.asked for q in (self._ask_value, *self._ask_base, *self._ask_prep)),
            seconds=time.monotonic() - self._start,
        )

    def _worth(self, reach: Reaches) -> float:
        """At least 1 inside W: the largest reach that counts, in costs."""
        return max(reach.matters(side) / self.costs[side] for side in (0, 1))

    def _enter(
        self, parent: int, action: str, state: S, base: float, prep: float, reach: Reaches
    ) -> None:
        player = self.game.player(state)
        k = self._built.add(parent, action, player, base, prep)
        own = player in (1, 2)
        self._memorizable.append(own and reach.matters(player - 1) >= self.costs[player - 1])
        if player == FINAL:
            utility = self.game.utility(state)
            if not 0.0 <= utility <= 1.0:
                where = f"history {list(self._built.history(k))}"
                raise GameError(f"{where}: utility {utility}; expected a number in [0, 1]")
            self._built.value[k] = utility
            self._built.stage[k] = CLOSED
        elif reach.most <= self.limits.negligible:
            self._built.value[k] = self._built.radius[k] = 0.5
            self._built.stage[k] = CLOSED
        else:
            self._states[k] = state
            self._reaches[k] = reach
            if not self.lazy and self._worth(reach) >= 1.0:
                self._built.stage[k] = VALUED  # to be expanded at once; its value is never needed
            heapq.heappush(self._heap, (-self._worth(reach), k))

    def _questions(self, k: int) -> tuple[Questions[S, Any], ...]:
        """What must be asked at `k`: its value, or the mover's policies."""
        if self._built.stage[k] == UNASKED:
            return (self._ask_value,)
        player = self._built.player[k]
        if player == CHANCE:
            return ()
        if self._memorizable[k]:
            return self._ask_base[player - 1], self._ask_prep[player - 1]
        return (self._ask_base[player - 1],)

    def _apply(self, k: int, answers: list[Any]) -> None:
        if self._built.stage[k] == UNASKED:
            self._built.value[k], self._built.radius[k] = answers[0]
            inside = self._worth(self._reaches[k]) >= 1.0
            self._built.stage[k] = VALUED if inside else CLOSED
            if not inside:
                del self._states[k], self._reaches[k]
            return
        check_length(self._built.depth[k] + 1, self._longest)
        state, reach = self._states.pop(k), self._reaches.pop(k)
        player = self._built.player[k]
        if player == CHANCE:
            answers = [self.game.chance(state)]
        base: Distribution = answers[0]
        prep: Distribution = answers[-1]
        for distribution in {id(d): d for d in answers}.values():
            try:
                check_distribution(distribution, "distribution")
            except GameError as error:
                raise GameError(f"history {list(self._built.history(k))}: {error}") from None
        actions = [a for a in dict.fromkeys((*prep, *base)) if prep.get(a, 0.0) + base.get(a, 0.0) > 0.0]
        self._built.first[k] = len(self._built)
        self._built.count[k] = len(actions)
        self._built.stage[k] = EXPANDED
        for action in actions:
            p, q = base.get(action, 0.0), prep.get(action, 0.0)
            after = reach.after(player, p, q if self._memorizable[k] else 0.0)
            self._enter(k, action, self.game.next(state, action), p, q, after)

    def _run(self) -> None:
        """Answer everything on the heap, most important first, until a limit or a stop request."""
        try:
            while self.ending == "complete":
                now = time.monotonic()
                self.ending = self._limit(now)
                while self._heap and len(self._window) < self.limits.window and self.ending == "complete":
                    _, k = heapq.heappop(self._heap)
                    questions = self._questions(k)
                    for question in questions:
                        question.submit(k, self._states[k])
                    self._window.append((k, questions))
                if not self._window:
                    break
                # What is under way when a limit is reached is still taken in: its values are needed.
                k, questions = self._window[0]
                with self.stop.interruptible():
                    answers = [question.take(k) for question in questions]
                self._window.popleft()
                self._apply(k, answers)
                if self.progress is not None and now - self._told >= 0.1:
                    self._told = now
                    self.progress(self._snapshot(now))
        except KeyboardInterrupt:
            self.ending = "interrupted"
        if self.ending != "complete":
            self._finish()

    def _limit(self, now: float) -> Ending:
        if self.stop.asked:
            return "interrupted"
        if self.limits.histories is not None and len(self._built) >= self.limits.histories:
            return "histories"
        if self.limits.seconds is not None and now - self._start >= self.limits.seconds:
            return "seconds"
        return "complete"

    def _finish(self) -> None:
        """A limit was reached: leave expansions undone, but value the leaves unless there is no time."""
        for k, questions in self._window:
            for question in questions:
                question.forget(k)
        self._window.clear()
        self._heap.clear()
        stage = self._built.stage
        rest = [k for k in self._states if math.isnan(self._built.value[k]) and stage[k] != EXPANDED]
        for low in range(0, len(rest), max(1, self.limits.window)):
            if self.stop.asked:
                break
            batch = rest[low : low + self.limits.window]
            try:
                with self.stop.interruptible():
                    values = self.value.values([self._states[k] for k in batch])
            except KeyboardInterrupt:
                break
            for k, value in zip(batch, values, strict=True):
                self._built.value[k], self._built.radius[k] = value
                stage[k] = VALUED if self._worth(self._reaches[k]) >= 1.0 else CLOSED
        for k in rest:
            if math.isnan(self._built.value[k]):
                self._built.value[k] = self._built.radius[k] = 0.5

    def _snapshot(self, now: float) -> GrowthProgress:
        asked = sum(q.asked for q in (self._ask_value, *self._ask_base, *self._ask_prep))
        waiting = len(self._heap) + len(self._window)
        return GrowthProgress(len(self._built), waiting, math.nan, math.nan, now - self._start, asked)


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
    progress: Callable[[GrowthProgress], None] | None = None,
) -> Contested:
    """The public tree of the meta-game with all of W, most important histories first.

    With `everything`, histories are expanded to the end of the game whatever they are worth; the value
    of the meta-game is the same, which the tests check.
    """
    prices = (TINY, TINY) if everything else costs
    growth = ContestedGrowth(
        game, base, prep, value, prices, limits or Limits(), lazy=False, stop=stop, progress=progress
    )
    return growth.grown()
