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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from preplay.arguments import check_both, check_made
from preplay.errors import GameError
from preplay.files import write_arrays
from preplay.game import CHANCE, FINAL, Distribution, Game, S
from preplay.growth.asking import Questions, to_evaluator, to_policy
from preplay.growth.builder import CLOSED, EXPANDED
from preplay.growth.columns import read_columns, reading
from preplay.growth.goals import Ending, GrowthProgress, Limits, check_prices
from preplay.growth.holdings import Holdings
from preplay.growth.met import Met
from preplay.growth.reaches import CERTAIN, Reaches
from preplay.growth.window import Asked, Window
from preplay.policy import REST, Policy, check_pair
from preplay.stopping import NEVER, Stop
from preplay.tree import Bools, Tree
from preplay.value import Evaluator, check_evaluator, utility_of

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
        check_made("limits", self.limits, Limits, "as Limits(histories=1000)")
        check_both("costs", self.costs)
        check_prices(*self.costs)
        self.ending: Ending = "complete"
        self.kept: Mapping[str, npt.NDArray[Any]] = {}
        """What a checkpoint remembered beside the tree."""
        self._marked: dict[str, npt.NDArray[np.generic]] = {}
        self.met = Met(self.game)
        self._holdings = Holdings(self.met.built, everything=not self.lazy)
        self._heap: list[tuple[float, int]] = []
        self._ask_value: Questions[S, Any] = to_evaluator(self.value)
        self._ask_base = tuple(to_policy(policy) for policy in self.base)
        self._ask_prep = tuple(to_policy(policy) for policy in self.prep)
        self.oracles: Asked[S] = (self._ask_value, *self._ask_base, *self._ask_prep)
        self._asked: set[int] = set()  # the histories under way
        self._window: Window[S] = Window(self, self.limits, self.stop, self.progress)
        self._saved = time.monotonic()
        root, player = self.met.root()
        if self.checkpoint is not None and self.checkpoint.exists():
            with reading(self.checkpoint):
                self._take_up(read_columns(self.checkpoint, self._purpose()))
        else:
            self._enter(-1, "", root, player, (1.0, 1.0), CERTAIN)
        self._require(self._holdings.arrive(0, (True, True)))
        self._run()

    def adopt(self, histories: Iterable[int]) -> None:
        """Let open histories be memorized, given in the growth's own numbering, and grow what follows."""
        for k in histories:
            if self._holdings.open(k):
                self._holdings.adopted[k] = True
                self._require(self._holdings.follow(k))
        self._run()

    def _run(self) -> None:
        """Answer everything on the heap, most important first, until a limit or a stop request.

        At a limit nothing more is adopted, but what follows from what was adopted is still asked: only
        so is every v(h) that counts known.
        """
        try:
            if self.ending == "complete":
                self.ending = self._window.run(self.limits)
                if self.ending != "complete":
                    self._holdings.cut()
            if self.ending != "complete" and self._window.run(Limits()) == "interrupted":
                self.ending = "interrupted"
        finally:
            self._window.forget()
            self._asked.clear()

    # --- asking -----------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """About how many histories something is to be asked."""
        return len(self._heap)

    @property
    def interval(self) -> tuple[float, float]:
        """Not known before the game is solved."""
        return math.nan, math.nan

    @property
    def certified(self) -> bool:
        """Whoever solves the game says so."""
        return False

    def wanted(self, most: int) -> dict[Asked[S], list[int]]:
        """The most important histories where something is needed, not known, and not asked already."""
        wanted: dict[Asked[S], list[int]] = {}
        count = len(self._asked) + most
        while len(self._asked) < count and self._heap:
            _, k = heapq.heappop(self._heap)
            if k not in self._asked and self._missing(k):
                self._asked.add(k)
                wanted.setdefault(self._questions(k), []).append(k)
        return wanted

    def _questions(self, k: int) -> Asked[S]:
        """What must be asked at `k`: its value, the mover's policies, or all of these."""
        player = self.met.built.player[k]
        asked = [self._ask_value] if self._holdings.unvalued(k) else []
        if player != CHANCE and self._holdings.unexpanded(k):
            asked.append(self._ask_base[player - 1])
            if self._holdings.worthy[k]:
                asked.append(self._ask_prep[player - 1])
        return tuple(asked)

    def apply(self, histories: Sequence[int], asked: Asked[S]) -> None:
        """Values and the movers' policies were found, or some of these; chance is known."""
        for k in histories:
            self._learn(k, asked)

    def settle(self) -> None:
        """What answers mean for what to ask is found out with each."""

    def _learn(self, k: int, asked: Asked[S]) -> None:
        self._asked.discard(k)
        built, answers = self.met.built, [questions.answers.pop(k) for questions in asked]
        if self._ask_value in asked:
            built.value[k], built.radius[k] = self.met.value(k, answers.pop(0))
        if built.player[k] == CHANCE and built.stage[k] != EXPANDED:
            answers = [self.game.chance(self.met.states[k])]
        if answers:
            self._expand(k, base=answers[0], prep=answers[-1])
            self._require(self._holdings.follow(k))
        self._require((k,))

    def _require(self, histories: Iterable[int]) -> None:
        """Ask what is needed at these histories and not known."""
        for k in histories:
            if self._missing(k) and k in self.met.states:
                heapq.heappush(self._heap, (-self._worth(self._holdings.reaches[k]), k))

    def _missing(self, k: int) -> bool:
        return self._holdings.unvalued(k) or self._holdings.unexpanded(k)

    def _expand(self, k: int, base: Distribution, prep: Distribution) -> None:
        """Create the children of `k`: all that base or prep plays."""
        built, state, reach = self.met.built, self.met.states[k], self._holdings.reaches[k]
        player, worthy = built.player[k], self._holdings.worthy[k]
        self.met.distribution(k, base)
        self.met.distribution(k, prep)
        if REST in prep and (player == CHANCE or worthy):
            raise GameError(f"{self.met.where(k)}: a share for '{REST}'; expected it of base play alone")
        actions = [a for a in dict.fromkeys((*prep, *base)) if prep.get(a, 0.0) + base.get(a, 0.0) > 0.0]
        states = self.met.after(k, state, actions)
        built.first[k], built.count[k] = len(built), len(actions)
        built.stage[k] = EXPANDED
        players = self.met.movers(k, actions, states)
        for action, child, mover in zip(actions, states, players, strict=True):
            p, q = float(base.get(action, 0.0)), float(prep.get(action, 0.0))
            self._enter(k, action, child, mover, (p, q), reach.after(player, p, q if worthy else 0.0))

    def _enter(
        self,
        parent: int,
        action: str,
        state: S,
        player: int,
        shares: tuple[float, float],
        reach: Reaches,
    ) -> None:
        """A new history, which base and prep play with these shares."""
        built, (base, prep) = self.met.built, shares
        k = built.add(parent, action, player, base, prep)
        if player == FINAL:
            built.value[k] = utility_of(self.met.game, state)
            built.stage[k] = CLOSED
        elif reach.most <= self.limits.negligible:
            built.value[k] = built.radius[k] = 0.5
            built.stage[k] = CLOSED
        else:
            self.met.states[k] = state
        self._holdings.add(reach, self._in_w(k, reach))

    def _worth(self, reach: Reaches) -> float:
        """At least 1 inside W: the largest reach that counts, in costs."""
        return max(reach.matters(side) / self.costs[side] for side in (0, 1))

    def _in_w(self, k: int, reach: Reaches) -> bool:
        """Whether `k` matters to its mover."""
        player = self.met.built.player[k]
        if player not in (1, 2) or self.met.built.stage[k] == CLOSED or self.met.built.is_rest(k):
            return False
        return reach.matters(player - 1) >= self.costs[player - 1]

    # --- what comes out ---------------------------------------------------------------------------

    def grown(self) -> Contested:
        """The tree so far; where a stop left values out they are unknown."""
        built, holdings = self.met.built, self._holdings
        expanded: Bools = np.equal(built.column("stage"), EXPANDED)
        opened = np.array([holdings.open(k) for k in range(len(built))], dtype=np.bool_)
        order, _ = built.breadth_first(expanded)
        tree = built.freeze(expanded, opened)
        held = np.array(holdings.held, dtype=np.bool_)[order]
        wanted = np.array([holdings.valued(k) for k in range(len(built))], dtype=np.bool_)[order]
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
        worthy = np.array(holdings.worthy, dtype=np.bool_)
        player = built.column("player")
        return Contested(
            tree=replace(tree, value=value, radius=radius, prices=self.costs),
            memorizable=(np.array(holdings.adopted, dtype=np.bool_) & expanded)[order],
            studied=(worthy & expanded)[order],
            matters=(int((worthy & (player == 1)).sum()), int((worthy & (player == 2)).sum())),
            order=order,
            ending=self.ending,
            histories=len(built),
            questions=self._window.asked,
            seconds=self._window.seconds,
        )

    # --- checkpoints ------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self.checkpoint is not None and time.monotonic() - self._saved >= self.every

    def mark(self, **more: npt.NDArray[np.generic]) -> None:
        """Remember what is known now, with more beside it: what `save` writes and a later run goes on
        from. Made between two expansions, so that it takes the very same steps."""
        if self.checkpoint is not None:
            self._marked = self._columns() | more

    def save(self) -> None:
        """Write what was marked to the checkpoint, or what is known where nothing was."""
        if self.checkpoint is not None:
            write_arrays(self.checkpoint, self._marked or self._columns())
            self._saved = time.monotonic()

    def _columns(self) -> dict[str, npt.NDArray[np.generic]]:
        return self.met.built.columns() | {
            "adopted": np.array(self._holdings.adopted, dtype=np.bool_),
            "asked": np.array([q.asked for q in self.oracles]),
            "purpose": np.array(self._purpose()),
        }

    def _purpose(self) -> str:
        return f"an equilibrium at costs {self.costs[0]:g} and {self.costs[1]:g}"

    def _take_up(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        built, holdings = self.met.built, self._holdings
        built.restore(columns)
        for questions, asked in zip(self.oracles, columns["asked"].tolist(), strict=True):
            questions.asked = asked
        self.kept = columns
        state = self.met.replay()
        for k, above in enumerate(built.parent):  # parents were met before their children
            reach = CERTAIN
            if above >= 0:
                prep = built.prep[k] if holdings.worthy[above] else 0.0
                reach = holdings.reaches[above].after(built.player[above], built.base[k], prep)
            self.met.states[k] = state(k)
            holdings.add(reach, self._in_w(k, reach))
        if columns["adopted"].shape != (len(built),):
            raise ValueError("columns of unequal length")
        holdings.adopted = [bool(a) for a in columns["adopted"]]


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
