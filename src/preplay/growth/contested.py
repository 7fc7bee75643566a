"""Growing W, the histories that matter when both sides prepare (facts 7 and 10 of docs/model.md).

A history matters to side i if `chance * in_i * max(in_j, out*_j) >= λ_i`: i has been on prep all the
way, and the opponent has stopped where that makes the history likeliest. A side may memorize the
histories that it has *adopted*; at its first other one it stops. While the opponent is still in its
book play goes on, by base, to the opponent's next own histories: so every history at which a side can
still be in its book while the other moves is expanded. A value is asked where a side in its book may
stop and the other may have stopped before; nowhere else does v(h) count.

Of a small game all of W is adopted. Of a large one only what the equilibrium turns on: `ContestedGrowth`
starts from the root, and whoever solves the game on the present tree says which open histories to adopt.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, check_length
from preplay.growth.asking import Questions, to_evaluator, to_policy
from preplay.growth.builder import CLOSED, EXPANDED, Builder
from preplay.growth.columns import read_columns, save_columns
from preplay.growth.goals import Ending, GrowthProgress, Limits
from preplay.growth.reaches import Reaches
from preplay.policy import REST, Policy, check_distribution, check_pair
from preplay.stopping import NEVER, Stop
from preplay.tree import Bools, Tree
from preplay.value import Evaluator, check_evaluator

TINY = 1e-300
"""The cost that makes everything matter."""


@dataclass(frozen=True, eq=False)
class Contested:
    """A grown part of W and how its growth ended."""

    tree: Tree
    memorizable: Bools  # [n] own histories that their mover may memorize: those adopted
    studied: Bools  # [n] own histories where the tree knows what prep plays
    matters: tuple[int, int]  # histories met that matter to each side: of a whole growth |W_i|
    order: npt.NDArray[np.int64]  # [n] when each was met: the growth's own numbering
    ending: Ending
    histories: int
    questions: int
    seconds: float


@dataclass
class ContestedGrowth(Generic[S]):
    """W under construction. An own history is open while it is in W and its mover, who may be in book
    there, has not adopted it."""

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    prep: tuple[Policy[S], Policy[S]]
    value: Evaluator[S]
    costs: tuple[float, float]
    limits: Limits = field(default_factory=Limits)
    lazy: bool = True
    """Adopt only what is asked for; else all of W."""
    stop: Stop = NEVER
    progress: Callable[[GrowthProgress], None] | None = None
    checkpoint: Path | None = None
    """Where to find and keep what is known, to go on from."""
    every: float = 30.0
    """Seconds between two checkpoints."""

    def __post_init__(self) -> None:
        check_pair(self.base, "base")
        check_pair(self.prep, "prep")
        check_evaluator(self.value)
        self.ending: Ending = "complete"
        self._longest = self.game.longest
        self._built = Builder()
        self._reaches: list[Reaches] = []
        self._states: dict[int, S] = {}
        self._worthy: list[bool] = []  # in W, for the mover
        self._adopted: list[bool] = []
        self._held: list[tuple[bool, bool]] = []  # whether each side can be in book here
        self._heap: list[tuple[float, int]] = []
        self._window: deque[tuple[int, tuple[Questions[S, Any], ...]]] = deque()
        self._under_way: set[int] = set()
        self._ask_value: Questions[S, Any] = to_evaluator(self.value)
        self._ask_base = tuple(to_policy(policy) for policy in self.base)
        self._ask_prep = tuple(to_policy(policy) for policy in self.prep)
        self._start = self._told = self._saved = time.monotonic()
        root = self.game.root()
        if self.game.player(root) == FINAL:
            raise GameError("the game is over before it begins; expected at least one move")
        self.kept: Mapping[str, npt.NDArray[Any]] = {}
        """What a checkpoint remembered beside the tree."""
        self._marked: dict[str, npt.NDArray[np.generic]] = {}
        if self.checkpoint is not None and self.checkpoint.exists():
            self._take_up(self.checkpoint)
        else:
            self._enter(-1, "", root, 1.0, 1.0, Reaches(1.0, (1.0, 1.0), (0.0, 0.0)))
            self._arrive(0, (True, True))
        self._run()

    def adopt(self, histories: Iterable[int]) -> None:
        """Let open histories be memorized, given in the growth's own numbering, and grow what follows."""
        for k in histories:
            if self._open(k):
                self._adopted[k] = True
                self._follow(k)
        self._run()

    def grown(self) -> Contested:
        """The tree so far; where a stop left values out they are unknown."""
        built = self._built
        expanded: Bools = np.equal(built.column("stage"), EXPANDED)
        opened = np.array([self._open(k) for k in range(len(built))], dtype=np.bool_)
        order, _ = built.breadth_first(expanded)
        tree = built.freeze(expanded, opened)
        held = np.array(self._held, dtype=np.bool_)[order]
        wanted = np.array([self._valued(k) for k in range(len(built))], dtype=np.bool_)[order]
        # Where nobody looked, a value is anything; where nobody comes, it does not matter.
        value, radius = tree.value.copy(), tree.radius.copy()
        missing = np.isnan(value)
        value[missing & wanted] = radius[missing & wanted] = 0.5
        one, two = tree.player == 1, tree.player == 2
        rest = np.array([built.is_rest(k) for k in order.tolist()], dtype=np.bool_)
        cut = (
            tree.leaves
            & ~rest
            & ((one & held[:, 1]) | (two & held[:, 0]) | ((tree.player == 0) & held.any(1)))
        )
        value[cut & np.isnan(value)] = 0.5
        radius[cut] = np.maximum(value[cut], 1.0 - value[cut])
        value[tree.leaves & np.isnan(value)] = 0.5
        return Contested(
            tree=replace(tree, value=value, radius=radius, prices=self.costs),
            memorizable=(np.array(self._adopted, dtype=np.bool_) & expanded)[order],
            studied=(np.array(self._worthy, dtype=np.bool_) & expanded)[order],
            matters=(self._count(1), self._count(2)),
            order=order,
            ending=self.ending,
            histories=len(built),
            questions=self._asked(),
            seconds=time.monotonic() - self._start,
        )

    def mark(self, **more: npt.NDArray[np.generic]) -> None:
        """Remember what is known now, with more beside it: what `save` writes and a later run goes on
        from. Made between two expansions, so that it takes the very same steps."""
        if self.checkpoint is not None:
            self._marked = self._columns() | more

    def save(self) -> None:
        """Write what was marked to the checkpoint, or what is known where nothing was."""
        if self.checkpoint is not None:
            save_columns(self.checkpoint, self._marked or self._columns())
            self._saved = time.monotonic()

    def _columns(self) -> dict[str, npt.NDArray[np.generic]]:
        return self._built.columns() | {
            "adopted": np.array(self._adopted, dtype=np.bool_),
            "asked": np.array([q.asked for q in self._oracles()]),
            "purpose": np.array(self._purpose()),
        }

    @property
    def due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self.checkpoint is not None and time.monotonic() - self._saved >= self.every

    def _purpose(self) -> str:
        return f"an equilibrium at costs {self.costs[0]:g} and {self.costs[1]:g}"

    def _take_up(self, path: Path) -> None:
        columns = read_columns(path, self._purpose())
        built = self._built
        built.restore(columns)
        for questions, asked in zip(self._oracles(), columns["asked"].tolist(), strict=True):
            questions.asked = asked
        self.kept = columns
        self._adopted = [bool(a) for a in columns["adopted"]]
        self._held = [(False, False)] * len(built)
        names = list(built.names)
        for k in range(len(built)):  # parents were met before their children
            above = built.parent[k]
            if above < 0:
                state, reach = self.game.root(), Reaches(1.0, (1.0, 1.0), (0.0, 0.0))
            else:
                above_state, action = self._states[above], names[built.action[k]]
                state = above_state if action == REST else self.game.next(above_state, action)
                prep = built.prep[k] if self._worthy[above] else 0.0
                reach = self._reaches[above].after(built.player[above], built.base[k], prep)
            self._states[k] = state
            self._reaches.append(reach)
            closed = built.stage[k] == CLOSED or built.is_rest(k)
            self._worthy.append(not closed and self._in_w(built.player[k], reach))
        self._arrive(0, (True, True))

    # --- what is needed where ---------------------------------------------------------------------

    def _open(self, k: int) -> bool:
        mover = self._built.player[k]
        return self._worthy[k] and not self._adopted[k] and self._held[k][mover - 1]

    def _valued(self, k: int) -> bool:
        """Whether v(h) counts: the mover may stop here, and the other side may have stopped before."""
        mover = self._built.player[k]
        if mover not in (1, 2) or self._built.stage[k] == CLOSED:
            return False
        if self._built.is_rest(k):
            return any(self._held[k])
        return self._held[k][mover - 1] and self._reaches[k].outside[2 - mover] > 0.0

    def _expanding(self, k: int) -> bool:
        """Whether play goes on from here with a side in its book."""
        mover = self._built.player[k]
        if self._built.stage[k] == CLOSED or self._built.is_rest(k):
            return False
        if mover == CHANCE:
            return any(self._held[k])
        return self._held[k][2 - mover] or (self._adopted[k] and self._held[k][mover - 1])

    def _require(self, k: int) -> None:
        """Ask what is needed at `k` and not known."""
        if self._missing(k) and k in self._states:
            heapq.heappush(self._heap, (-self._worth(self._reaches[k]), k))

    def _missing(self, k: int) -> bool:
        wanted = self._valued(k) and math.isnan(self._built.value[k])
        return wanted or (self._expanding(k) and self._built.stage[k] != EXPANDED)

    def _arrive(self, k: int, held: tuple[bool, bool]) -> None:
        """Sides may now be in book at `k`: so they may below, as far as is known."""
        stack = [(k, held)]
        while stack:
            k, (one, two) = stack.pop()
            before = self._held[k]
            merged = before[0] or one, before[1] or two
            if merged == before:
                continue
            self._held[k] = merged
            if not self.lazy and self.ending == "complete" and self._open(k):
                self._adopted[k] = True
            self._require(k)
            stack.extend(self._onward(k))

    def _follow(self, k: int) -> None:
        """Something became possible at `k`: let it be known below."""
        self._require(k)
        for child, held in self._onward(k):
            self._arrive(child, held)

    def _onward(self, k: int) -> list[tuple[int, tuple[bool, bool]]]:
        """The children of `k`, and which sides can be in book there."""
        built, (one, two) = self._built, self._held[k]
        if built.stage[k] != EXPANDED:
            return []
        children = range(built.first[k], built.first[k] + built.count[k])
        mover = built.player[k]
        if mover == CHANCE:
            return [(c, (one, two)) for c in children if built.base[c] > 0.0]
        stays = self._adopted[k] and self._held[k][mover - 1]
        found = []
        for c in children:
            prepared = stays and built.prep[c] > 0.0
            other = self._held[k][2 - mover] and (prepared or built.base[c] > 0.0)
            found.append((c, (prepared, other) if mover == 1 else (other, prepared)))
        return found

    def _worth(self, reach: Reaches) -> float:
        """At least 1 inside W: the largest reach that counts, in costs."""
        return max(reach.matters(side) / self.costs[side] for side in (0, 1))

    def _count(self, side: int) -> int:
        return sum(worthy and self._built.player[k] == side for k, worthy in enumerate(self._worthy))

    def _in_w(self, player: int, reach: Reaches) -> bool:
        return player in (1, 2) and reach.matters(player - 1) >= self.costs[player - 1]

    # --- asking -----------------------------------------------------------------------------------

    def _enter(
        self, parent: int, action: str, state: S, base: float, prep: float, reach: Reaches
    ) -> None:
        player = self.game.player(state)
        k = self._built.add(parent, action, player, base, prep)
        self._worthy.append(action != REST and self._in_w(player, reach))
        self._adopted.append(False)
        self._held.append((False, False))
        self._reaches.append(reach)
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
            self._worthy[k] = False
        else:
            self._states[k] = state

    def _questions(self, k: int) -> tuple[Questions[S, Any], ...]:
        """What must be asked at `k`: its value, the mover's policies, or all of these."""
        player, asked = self._built.player[k], []
        if self._valued(k) and math.isnan(self._built.value[k]):
            asked.append(self._ask_value)
        if player != CHANCE and self._expanding(k) and self._built.stage[k] != EXPANDED:
            asked.append(self._ask_base[player - 1])
            if self._worthy[k]:
                asked.append(self._ask_prep[player - 1])
        return tuple(asked)

    def _apply(self, k: int, questions: tuple[Questions[S, Any], ...], answers: list[Any]) -> None:
        if self._ask_value in questions:
            self._built.value[k], self._built.radius[k] = answers.pop(0)
        player = self._built.player[k]
        if player == CHANCE:
            if self._built.stage[k] == EXPANDED:
                return
            answers = [self.game.chance(self._states[k])]
        if not answers:
            return
        check_length(self._built.depth[k] + 1, self._longest)
        state, reach = self._states[k], self._reaches[k]
        base: Distribution = answers[0]
        prep: Distribution = answers[-1]
        if REST in prep and (player == CHANCE or self._worthy[k]):
            where = f"history {list(self._built.history(k))}"
            raise GameError(f"{where}: a share for '{REST}'; expected it of base play alone")
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
            after = reach.after(player, p, q if self._worthy[k] else 0.0)
            # The rest of the moves is valued where they are made: it ends the other's book (fact 12).
            child = state if action == REST else self.game.next(state, action)
            self._enter(k, action, child, p, q, after)
        self._follow(k)

    def _run(self) -> None:
        """Answer everything on the heap, most important first, until a limit or a stop request.

        At a limit nothing more is adopted, but what follows from what was adopted is still asked: only
        so is every v(h) that counts known.
        """
        try:
            while True:
                now = time.monotonic()
                if self.ending == "complete":
                    self.ending = self._limit(now)
                    if self.ending != "complete":
                        self._cut()
                if self.stop.asked:
                    self.ending = "interrupted"
                    break
                while self._heap and len(self._window) < self.limits.window:
                    _, k = heapq.heappop(self._heap)
                    if k in self._under_way or not self._missing(k):
                        continue
                    questions = self._questions(k)
                    for question in questions:
                        question.submit(k, self._states[k])
                    self._window.append((k, questions))
                    self._under_way.add(k)
                if not self._window:
                    break
                k, questions = self._window[0]
                with self.stop.interruptible():
                    answers = [question.take(k) for question in questions]
                self._window.popleft()
                self._under_way.remove(k)
                self._apply(k, questions, answers)
                self._require(k)
                if self.progress is not None and now - self._told >= 0.1:
                    self._told = now
                    self.progress(self._snapshot(now))
        except KeyboardInterrupt:
            self.ending = "interrupted"
        for k, questions in self._window:
            for question in questions:
                question.forget(k)
        self._window.clear()
        self._under_way.clear()

    def _limit(self, now: float) -> Ending:
        if self.stop.asked:
            return "interrupted"
        if self.limits.histories is not None and len(self._built) >= self.limits.histories:
            return "histories"
        if self.limits.seconds is not None and now - self._start >= self.limits.seconds:
            return "seconds"
        return "complete"

    def _cut(self) -> None:
        """Give up adopting what is not expanded yet."""
        for k, adopted in enumerate(self._adopted):
            if adopted and self._built.stage[k] != EXPANDED:
                self._adopted[k] = False

    def _oracles(self) -> tuple[Questions[S, Any], ...]:
        return (self._ask_value, *self._ask_base, *self._ask_prep)

    def _asked(self) -> int:
        return sum(questions.asked for questions in self._oracles())

    def _snapshot(self, now: float) -> GrowthProgress:
        waiting = len(self._heap) + len(self._window)
        return GrowthProgress(
            len(self._built), waiting, math.nan, math.nan, now - self._start, self._asked()
        )


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
