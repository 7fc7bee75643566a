"""Growing what one side could memorize against a fixed opponent: anytime, with exact pruning.

Every history carries what its subtree is worth at best (`up`) and at least (`low`), as value mass net
of costs for the side. An own history whose children together, less its cost, cannot beat stopping
there is dead for good, and nothing below it is asked about any more (facts 2 and 3 of docs/model.md).
"""

from __future__ import annotations

import heapq
import math
import time
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

import numpy as np

from preplay.errors import GameError, StoreError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, Side, other
from preplay.growth.asking import Questions
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder, save_columns
from preplay.growth.goals import Ending, Goal, Grown, Limits, Progress
from preplay.growth.stopping import NEVER, Stop
from preplay.policy import Policy, check_distribution
from preplay.tree import Tree
from preplay.value import Evaluator, Value


@dataclass
class _Growth(Generic[S]):
    """The state of one growth; `run` drives it."""

    game: Game[S]
    side: Side
    prep: Policy[S]
    opponent: Policy[S]
    value: Evaluator[S]
    goal: Goal
    limits: Limits
    built: Builder = field(default_factory=Builder)
    reach: array[float] = field(default_factory=lambda: array("d"))
    up: array[float] = field(default_factory=lambda: array("d"))
    low: array[float] = field(default_factory=lambda: array("d"))
    up_below: array[float] = field(default_factory=lambda: array("d"))
    low_below: array[float] = field(default_factory=lambda: array("d"))
    own_above: array[int] = field(default_factory=lambda: array("i"))
    states: dict[int, S] = field(default_factory=dict)
    heap: list[tuple[float, int]] = field(default_factory=list)
    window: deque[tuple[int, Questions[S, Any]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.ask_value = _questions(self.value, "values")
        self.ask_prep = _questions(self.prep, "distributions")
        self.ask_base = _questions(self.opponent, "distributions")

    # --- creating histories ---------------------------------------------------------------------

    def plant(self) -> None:
        """The root; its value is asked whoever moves there, as the baseline."""
        state = self.game.root()
        player = self.game.player(state)
        if player == FINAL:
            raise GameError("the game is over before it begins; expected at least one move")
        self.enter(-1, "", state, player, 1.0, 1.0, 1.0)
        (value,) = self.value.values([state])
        self.built.value[0], self.built.radius[0] = self.checked_value(value, 0)
        if player == self.side:
            self.heap.clear()
            self.valued(0)

    def enter(
        self, parent: int, action: str, state: S, player: int, base: float, prep: float, reach: float
    ) -> int:
        """Add one history with its bounds; a question about it goes on the heap."""
        k = self.built.add(parent, action, player, base, prep)
        self.reach.append(reach)
        self.up_below.append(0.0)
        self.low_below.append(0.0)
        above = -1
        if parent >= 0:
            above = parent if self.built.player[parent] == self.side else self.own_above[parent]
        self.own_above.append(above)
        if player == FINAL:
            utility = self.game.utility(state)
            if not 0.0 <= utility <= 1.0:
                raise GameError(
                    f"history {self.built.history(k)}: utility {utility}; expected a number in [0, 1]"
                )
            self.built.value[k] = utility
            self.built.stage[k] = CLOSED
            mine = reach * (utility if self.side == 1 else 1.0 - utility)
            self.up.append(mine)
            self.low.append(mine)
        else:
            self.up.append(reach)
            self.low.append(0.0)
            if reach <= self.limits.negligible:
                self.built.value[k] = self.built.radius[k] = 0.5
                self.built.stage[k] = CLOSED
            else:
                self.states[k] = state
                heapq.heappush(self.heap, (-reach, k))
        return k

    def expand(self, k: int, distribution: Distribution) -> None:
        """Create the children of `k`; those without probability are left out."""
        state = self.states.pop(k)
        player = self.built.player[k]
        try:
            check_distribution(distribution, "distribution")
        except GameError as error:
            raise GameError(f"history {list(self.built.history(k))}: {error}") from None
        first = len(self.built)
        up: list[float] = []
        low: list[float] = []
        for action, p in distribution.items():
            if p > 0.0:
                child = self.game.next(state, action)
                base = p if player != self.side else math.nan
                prep = p if player in (self.side, CHANCE) else math.nan
                c = self.enter(k, action, child, self.game.player(child), base, prep, self.reach[k] * p)
                up.append(self.up[c])
                low.append(self.low[c])
        self.built.first[k] = first
        self.built.count[k] = len(up)
        self.built.stage[k] = EXPANDED
        self.up_below[k] = math.fsum(up)
        self.low_below[k] = math.fsum(low)
        self.change(k, *self.settled(k))

    # --- bounds ---------------------------------------------------------------------------------

    def mine(self, k: int) -> tuple[float, float]:
        """The least and greatest value of `k` for the side."""
        value, radius = self.built.value[k], self.built.radius[k]
        mean = value if self.side == 1 else 1.0 - value
        return max(0.0, mean - radius), min(1.0, mean + radius)

    def valued(self, k: int) -> None:
        """An own history got its value: a leaf if expanding cannot pay, else a candidate."""
        low, high = self.mine(k)
        reach = self.reach[k]
        potential = self.goal.potential(reach, low)
        if potential > 0.0:
            self.built.stage[k] = VALUED
            heapq.heappush(self.heap, (-potential, k))
        else:
            self.built.stage[k] = CLOSED
            self.states.pop(k, None)
        up = max(reach * high, reach - self.goal.cost) if potential > 0.0 else reach * high
        self.change(k, up, reach * low)

    def settled(self, k: int) -> tuple[float, float]:
        """The bounds of an expanded history from those below it; a history that cannot pay is closed."""
        if self.built.player[k] != self.side:
            return self.up_below[k], self.low_below[k]
        low, high = self.mine(k)
        reach = self.reach[k]
        up_below, low_below = self.up_below[k] - self.goal.cost, self.low_below[k] - self.goal.cost
        if self.goal.certain and up_below <= reach * low:
            self.built.stage[k] = CLOSED
            return reach * high, reach * low
        return max(reach * high, up_below), max(reach * low, low_below)

    def change(self, k: int, up: float, low: float) -> None:
        """Set the bounds of `k` and carry the change to the histories above it."""
        while True:
            more_up, more_low = up - self.up[k], low - self.low[k]
            self.up[k], self.low[k] = up, low
            parent = self.built.parent[k]
            if parent < 0 or not (more_up or more_low) or self.built.stage[parent] != EXPANDED:
                return
            self.up_below[parent] += more_up
            self.low_below[parent] += more_low
            k = parent
            up, low = self.settled(k)

    def alive(self, k: int) -> bool:
        """Whether no own history above `k` was dropped."""
        above = self.own_above[k]
        while above >= 0:
            if self.built.stage[above] == CLOSED:
                return False
            above = self.own_above[above]
        return True

    # --- asking ---------------------------------------------------------------------------------

    def fill(self) -> None:
        """Put the most promising questions under way until the window is full."""
        while self.heap and len(self.window) < self.limits.window:
            _, k = heapq.heappop(self.heap)
            stage = self.built.stage[k]
            if stage not in (UNASKED, VALUED) or not self.alive(k):
                self.states.pop(k, None)
                continue
            player = self.built.player[k]
            if player == CHANCE:
                self.expand(k, self.game.chance(self.states[k]))
                continue
            if player != self.side:
                questions: Questions[S, Any] = self.ask_base
            else:
                questions = self.ask_value if stage == UNASKED else self.ask_prep
            questions.submit(k, self.states[k])
            self.window.append((k, questions))

    def step(self, stop: Stop) -> None:
        """Take the oldest answer and apply it."""
        k, questions = self.window[0]
        if not self.alive(k):
            self.window.popleft()
            questions.forget(k)
            self.states.pop(k, None)
            return
        with stop.interruptible():
            answer = questions.take(k)
        self.window.popleft()
        if questions is self.ask_value:
            self.built.value[k], self.built.radius[k] = self.checked_value(answer, k)
            self.valued(k)
        else:
            self.expand(k, answer)

    def checked_value(self, value: Value, k: int) -> tuple[float, float]:
        if not (0.0 <= value.mean <= 1.0 and value.radius >= 0.0):
            raise GameError(
                f"history {list(self.built.history(k))}: value {value.mean} ± {value.radius}; "
                "expected a mean in [0, 1] and a radius of at least 0"
            )
        return value.mean, value.radius

    @property
    def asked(self) -> int:
        return self.ask_value.asked + self.ask_prep.asked + self.ask_base.asked + 1

    # --- ending ---------------------------------------------------------------------------------

    def freeze(self) -> Tree:
        """The tree of finished expansions; unfinished ones become open leaves again."""
        built = self.built
        n = len(built)
        stage = np.frombuffer(built.stage, dtype=np.int8)
        player = np.frombuffer(built.player, dtype=np.int8)
        whole = np.ones(n, dtype=np.bool_)
        for k in np.flatnonzero(stage == UNASKED).tolist():
            j = k
            while j >= 0 and whole[j]:
                whole[j] = False
                if player[j] == self.side and stage[j] != UNASKED:
                    break
                j = built.parent[j]
        keep = whole & (stage == EXPANDED)
        open = (stage == VALUED) | ((stage == EXPANDED) & ~whole)
        if player[0] != self.side:
            open[0] = not whole[0]
        return built.freeze(keep, open)

    def columns(self) -> dict[str, Any]:
        return self.built.columns() | {
            "reach": np.array(self.reach),
            "own_above": np.array(self.own_above),
        }

    def restore(self, columns: dict[str, Any]) -> None:
        """Take a checkpoint: bounds are computed anew, and open questions go on the heap again."""
        built = self.built
        built.restore(columns)
        n = len(built)
        self.reach = array("d", columns["reach"])
        self.own_above = array("i", columns["own_above"])
        for column in (self.up, self.low, self.up_below, self.low_below):
            column.extend([0.0] * n)
        states: dict[int, S] = {0: self.game.root()}
        names = list(built.names)

        def state(k: int) -> S:
            path = []
            while k not in states:
                path.append(k)
                k = built.parent[k]
            for j in reversed(path):
                states[j] = self.game.next(states[built.parent[j]], names[built.action[j]])
                k = j
            return states[k]

        for k in range(n - 1, -1, -1):
            reach, stage = self.reach[k], built.stage[k]
            own = built.player[k] == self.side
            if stage == UNASKED:
                self.up[k], self.low[k] = reach, 0.0
            elif stage == EXPANDED and not own:
                self.up[k], self.low[k] = self.up_below[k], self.low_below[k]
            else:
                low, high = self.mine(k)
                self.up[k], self.low[k] = reach * high, reach * low
                cost = self.goal.cost
                if stage == EXPANDED:
                    self.up[k] = max(self.up[k], self.up_below[k] - cost)
                    self.low[k] = max(self.low[k], self.low_below[k] - cost)
                elif stage == VALUED:
                    self.up[k] = max(self.up[k], reach - cost)
            if k and built.stage[built.parent[k]] == EXPANDED:
                self.up_below[built.parent[k]] += self.up[k]
                self.low_below[built.parent[k]] += self.low[k]
        for k in range(n):
            if built.stage[k] in (UNASKED, VALUED) and self.alive(k):
                self.states[k] = state(k)
                potential = self.reach[k]
                if built.stage[k] == VALUED:
                    potential = self.goal.potential(potential, self.mine(k)[0])
                heapq.heappush(self.heap, (-potential, k))


def _questions(oracle: Any, method: str) -> Questions[Any, Any]:
    return Questions(
        getattr(oracle, method), getattr(oracle, "prefetch", None), getattr(oracle, "cancel", None)
    )


def grow(
    game: Game[S],
    side: Side,
    base: tuple[Policy[S], Policy[S]],
    prep: Policy[S],
    value: Evaluator[S],
    goal: Goal,
    limits: Limits | None = None,
    *,
    stop: Stop = NEVER,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
    every: float = 30.0,
) -> Grown:
    """Grow the tree on which `side` chooses its book, most promising histories first.

    With `checkpoint`, the state is written there every so many seconds and at the end, and taken up
    again when the file exists. Answers are applied in the order asked, so a finished growth, and one
    cut short by `limits.histories`, does not depend on timing or on how many engines work.
    """
    limits = limits or Limits()
    growth = _Growth(game, side, prep, base[other(side) - 1], value, goal, limits)
    start = saved = told = time.monotonic()
    if checkpoint is not None and checkpoint.exists():
        growth.restore(_read(checkpoint))
    else:
        growth.plant()
    ending: Ending = "complete"
    try:
        while True:
            if limits.histories is not None and len(growth.built) >= limits.histories:
                ending = "histories"
                break
            now = time.monotonic()
            if stop.asked:
                ending = "interrupted"
                break
            if limits.seconds is not None and now - start >= limits.seconds:
                ending = "seconds"
                break
            if limits.gap > 0.0 and growth.up[0] - growth.low[0] <= limits.gap:
                ending = "gap"
                break
            growth.fill()
            if not growth.window:
                break
            growth.step(stop)
            if progress is not None and now - told >= 0.1:
                told = now
                progress(_snapshot(growth, start))
            if checkpoint is not None and now - saved >= every:
                save_columns(checkpoint, growth.columns())
                saved = now
    except KeyboardInterrupt:
        ending = "interrupted"
    for k, questions in growth.window:
        questions.forget(k)
    if checkpoint is not None:
        save_columns(checkpoint, growth.columns())
    if progress is not None:
        progress(_snapshot(growth, start))
    return Grown(
        tree=growth.freeze(),
        ending=ending,
        histories=len(growth.built),
        questions=growth.asked,
        values=growth.ask_value.asked + 1,
        seconds=time.monotonic() - start,
    )


def _snapshot(growth: _Growth[Any], start: float) -> Progress:
    return Progress(
        histories=len(growth.built),
        waiting=len(growth.heap) + len(growth.window),
        low=growth.low[0],
        up=growth.up[0],
        seconds=time.monotonic() - start,
        questions=growth.asked,
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except Exception as error:
        raise StoreError(
            f"{path}: not a checkpoint of preplay ({error}); remove it to start anew"
        ) from None
