"""The growing tree of one side: what is known, what is asked next, what need not be asked at all."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, Side
from preplay.growth.agenda import Agenda, ByPriority, MostPromising
from preplay.growth.asking import MenuOrPrep, to_choices, to_evaluator, to_policy
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED
from preplay.growth.goals import Goal, Limits
from preplay.growth.intervals import Intervals
from preplay.growth.met import Met
from preplay.growth.sharing import Pools
from preplay.growth.window import Asked
from preplay.policy import REST, Choices, Menu, Policy
from preplay.tree import Tree
from preplay.value import Evaluator, Value, utility_of

FIRST = 2.0
"""Priority of what comes before the side's first decision: without it no book has a value."""


@dataclass
class Front(Generic[S]):
    """The histories met so far; the widest interval of values is asked about first."""

    game: Game[S]
    side: Side
    prep: Policy[S]
    opponent: Policy[S]
    value: Evaluator[S]
    goal: Goal
    limits: Limits
    choices: Choices[S] | None = None
    """What a book may choose from; None: it plays prep."""
    watched: bool = True
    """Whether somebody outside reads the bounds."""

    def __post_init__(self) -> None:
        self.met = Met(self.game)
        self.built, self.states = self.met.built, self.met.states
        self.reach: list[float] = []
        self.opening: set[int] = set()
        """The histories before the side's first decision, and those of that decision."""
        self.spent = array("i")
        """Where books choose: how many moves before each history were others than the first choice."""
        self.pools = None if self.goal.position is None else Pools(self.goal.position)
        shared = self.pools is not None
        certain = self.goal.certain and not shared
        beaten = None if self.goal.limited or shared else self.beaten
        self.bounds = Intervals(self.built, certain, self.give_up, beaten, shared)
        self._bounded = self.watched or certain or self.limits.gap > 0.0
        """Whether bounds are worked out, which takes a fifth of growth's time."""
        self.agenda: Agenda = ByPriority(self.built)
        self.deviations = 0.0
        self._ask_value: Asked[S] = (to_evaluator(self.value),)
        self._ask_prep: Asked[S] = (to_policy(self.prep),)
        self._ask_base: Asked[S] = (to_policy(self.opponent),)
        self._ask_choice: Asked[S] = ()
        if self.choices is not None and self.choices.deviations != 0:
            most = self.choices.deviations
            self.deviations = math.inf if most is None else most
            self._ask_choice = (to_choices(MenuOrPrep(self.choices.menus, self.prep)),)
            self.agenda = MostPromising(self.built, self.bounds, FIRST)
            self._bounded = True
        self.oracles = (*self._ask_value, *self._ask_prep, *self._ask_base, *self._ask_choice)

    # --- creating histories ---------------------------------------------------------------------

    def plant(self) -> None:
        """The root; its value is asked whoever moves there, as the baseline."""
        state, player = self.met.root()
        self.built.add(-1, "", player, 1.0, 1.0)
        self.opening.add(0)
        self.spent.append(0)
        self.bounds.add(*self.enter(range(1), [state], [player], [1.0], opening=True))
        self._ask_value[0].submit({0: state})
        self._ask_value[0].wait(0)
        value = self._ask_value[0].answers.pop(0)
        if player == self.side:
            self.agenda.clear()
            self.valued([0], [value])
        else:
            self.built.value[0], self.built.radius[0] = self.met.value(0, value)
        self.settle()

    def expand(self, k: int, distribution: Distribution) -> None:
        """Create the children of `k`; those without probability are left out."""
        self.met.distribution(k, distribution)
        mover = self.built.player[k]
        if REST in distribution and mover in (self.side, CHANCE):
            raise GameError(
                f"{self.met.where(k)}: a share for '{REST}'; expected it of the opponent alone"
            )
        shares = list(map(float, distribution.values()))
        if min(shares) > 0.0:
            self.branch(k, list(distribution), shares)
        else:
            actions = [action for action, p in zip(distribution, shares, strict=True) if p > 0.0]
            self.branch(k, actions, [p for p in shares if p > 0.0])

    def offer(self, k: int, menu: Menu) -> None:
        """Create the children of an own history that are alternatives: a book plays one for sure."""
        actions = [action for action, _ in menu]
        if len(set(actions)) < len(actions):
            raise GameError(
                f"{self.met.where(k)}: a menu of {', '.join(actions)}; expected each action once"
            )
        self.built.choosing.add(k)
        self.branch(k, actions, [1.0] * len(actions))

    def branch(self, k: int, actions: list[str], shares: list[float]) -> None:
        """Create the children of `k` after these actions."""
        built = self.built
        mover, reach = built.player[k], self.reach[k]
        own = mover == self.side
        state = self.states.pop(k) if k in self.states else self.met.state(k)
        states = self.met.after(k, state, actions)
        players = self.met.movers(k, actions, states)
        if REST in actions:
            players[actions.index(REST)] = mover
        unknown = [math.nan] * len(shares)
        base = unknown if own else shares
        prep = shares if own or mover == CHANCE else unknown
        children = built.add_children(k, actions, players, base, prep)
        built.stage[k] = EXPANDED
        if self._ask_choice:
            spent = self.spent[k]
            self.spent.extend([spent] * len(children))
            if k in built.choosing:
                for c in children[1:]:
                    self.spent[c] = spent + 1
        opening = not own and k in self.opening
        if opening:
            self.opening.update(children)
        up, low = self.enter(children, states, players, [reach * p for p in shares], opening)
        self.met.thin(k, state, children)
        if self._bounded:
            self.bounds.going_on(k, up, low, self.goal.cost if own else 0.0)

    def enter(
        self,
        histories: range,
        states: Sequence[S],
        players: Sequence[int],
        reaches: list[float],
        opening: bool,
    ) -> tuple[list[float], list[float]]:
        """Put new histories that are not over on the agenda; the most and the least they may earn."""
        self.reach.extend(reaches)
        low = [0.0] * len(reaches)
        if FINAL not in players and min(reaches) > self.limits.negligible:
            self.states.update(zip(histories, states, strict=True))
            self.agenda.add_all(histories, [FIRST] * len(reaches) if opening else reaches)
            return reaches, low
        built, up = self.built, reaches.copy()
        for j, (k, mover, reach) in enumerate(zip(histories, players, reaches, strict=True)):
            if mover == FINAL:
                value = utility_of(self.met.game, states[j])
                built.value[k] = value
                built.stage[k] = CLOSED
                up[j] = low[j] = reach * (value if self.side == 1 else 1.0 - value)
            elif reach <= self.limits.negligible:
                built.value[k] = built.radius[k] = 0.5
                built.stage[k] = CLOSED
            else:
                self.states[k] = states[j]
                self.agenda.add(k, FIRST if opening else reach)
        return up, low

    def valued(self, histories: Sequence[int], values: Sequence[Value]) -> None:
        """Histories got their values: own ones are leaves if expanding cannot pay, else candidates.

        The rest of the opponent's moves is a leaf whatever it is worth: it ends the book.
        """
        built, side, pools, cost = self.built, self.side, self.pools, self.goal.cost
        mover, stage, states, potential = built.player, built.stage, self.states, self.goal.potential
        means, radii = self.met.values(histories, values)
        lows = highs = means if side == 1 else [1.0 - mean for mean in means]
        if any(radii):
            highs = [min(1.0, low + radius) for low, radius in zip(lows, radii, strict=True)]
            lows = [max(0.0, low - radius) for low, radius in zip(lows, radii, strict=True)]
            for k, radius in zip(histories, radii, strict=True):
                built.radius[k] = radius
        reaches = [self.reach[k] for k in histories]
        hopes: list[float] = []  # what going on may earn at most, the price paid
        candidates: dict[int, float] = {}
        for k, mean, low, reach in zip(histories, means, lows, reaches, strict=True):
            built.value[k] = mean
            if mover[k] == side and pools is not None:
                self.pooled(k, pools, reach * (1.0 - low))
                hopes.append(reach)
            elif mover[k] == side and (more := potential(reach, low)) > 0.0:
                stage[k] = VALUED
                candidates[k] = more
                hopes.append(reach - cost)
            else:
                stage[k] = CLOSED
                states.pop(k, None)
                hopes.append(-math.inf)
        if candidates:
            self.agenda.add_all(candidates, list(candidates.values()))
        if self._bounded:
            self.bounds.stopping(histories, reaches, highs, lows, hopes)

    def potential(self, k: int) -> float:
        """How much expanding an own history may add; 0 or less: it is a leaf."""
        low, reach = self.mine(k)[0], self.reach[k]
        return self.goal.potential(reach, low) if self.pools is None else reach * (1.0 - low)

    def pooled(self, k: int, pools: Pools[S], hope: float) -> None:
        """Memory is paid by position: ask further about `k` only when its position may pay."""
        state = self.met.state(k)
        self.states.pop(k, None)
        number = pools.enter(k, state, hope)
        pools.wait(k, state)
        self.built.stage[k] = CLOSED
        for j, there in pools.released(number, self.goal.cost):
            self.built.stage[j] = VALUED
            self.states[j] = there
            self.agenda.add(j, self.potential(j))

    def mine(self, k: int) -> tuple[float, float]:
        """The least and greatest value of `k` for the side."""
        value, radius = self.built.value[k], self.built.radius[k]
        mean = value if self.side == 1 else 1.0 - value
        if radius == 0.0:
            return mean, mean
        return max(0.0, mean - radius), min(1.0, mean + radius)

    # --- asking ---------------------------------------------------------------------------------

    def wanted(self, most: int) -> dict[Asked[S], list[int]]:
        """The most promising histories, at most so many, by whom to ask about them."""
        wanted: dict[Asked[S], list[int]] = {}
        for k in self.agenda.take(most):
            wanted.setdefault(self.questions(k), []).append(k)
        return wanted

    def questions(self, k: int) -> Asked[S]:
        """Whom to ask about `k` next; nobody what chance does, which the game knows."""
        built = self.built
        mover = built.player[k]
        if mover == self.side:
            if built.stage[k] == UNASKED:
                return self._ask_value
            if not self._ask_choice or self.spent[k] >= self.deviations:
                return self._ask_prep
            return self._ask_choice
        if mover == CHANCE:
            return ()
        return self._ask_value if k in built.rests else self._ask_base

    def apply(self, histories: Sequence[int], asked: Asked[S]) -> None:
        """Values, menus or distributions were found, of each history the same; chance is known."""
        if not asked:
            for k in histories:
                self.expand(k, self.game.chance(self.met.state(k)))
            return
        taken = asked[0].answers.pop
        answers = [taken(k) for k in histories]
        if asked is self._ask_value:
            self.valued(histories, answers)
            return
        for k, answer in zip(histories, answers, strict=True):
            if isinstance(answer, tuple):
                self.offer(k, answer)
            else:
                self.expand(k, answer)

    def settle(self) -> None:
        """Bring the bounds up to date: what nothing depends on any more is not asked about."""
        self.bounds.settle()

    @property
    def certified(self) -> bool:
        """Whether the upper bound is as near to the best net found as wanted."""
        gap = self.limits.gap
        return gap > 0.0 and self.bounds.up[0] - self.bounds.low[0] <= gap and self.opened

    def give_up(self, k: int) -> None:
        """Nothing depends on `k` any more: no question about it is worth an answer."""
        self.states.pop(k, None)
        self.agenda.discard(k)
        for questions in self.questions(k):
            questions.forget(k)

    def beaten(self, k: int, most: float, least: float) -> None:
        """An option cannot beat another one: a leaf that no book plays, with what is known of it."""
        mean, high = (min(1.0, max(0.0, mass / self.reach[k])) for mass in (least, most))
        self.built.value[k] = mean if self.side == 1 else 1.0 - mean
        self.built.radius[k] = max(0.0, high - mean)
        self.built.beaten.add(k)

    @property
    def waiting(self) -> int:
        """About how many histories something is to be asked."""
        return len(self.agenda)

    @property
    def interval(self) -> tuple[float, float]:
        """What the best book nets at least and at most, as far as somebody reads it."""
        return (self.bounds.low[0], self.bounds.up[0]) if self._bounded else (math.nan, math.nan)

    @property
    def values(self) -> int:
        """Values asked so far."""
        return self._ask_value[0].asked

    @property
    def choosing(self) -> bool:
        """Whether books choose their moves."""
        return bool(self._ask_choice)

    @property
    def opened(self) -> bool:
        """Whether all of the side's first decisions are known."""
        return all(self.built.stage[k] != UNASKED for k in self.opening)

    # --- ending --------------------------------------------------------------------------------

    def freeze(self) -> Tree:
        """The tree as far as it is known.

        Branches that nobody asked about are leaves whose value is the least for the side, with a radius
        that admits every other: what a book earns is then a lower bound, and what it may earn an upper
        one. Without all of the side's first decisions there is no book, and the root is the tree.
        """
        built = self.built
        stage = built.column("stage")
        keep = stage == EXPANDED
        open = (stage == UNASKED) | (stage == VALUED)
        if not self.opened:
            keep[0], open[0] = False, True
        tree = built.freeze(keep, open, self.pools.position if self.pools is not None else None)
        unknown = tree.leaves & np.isnan(tree.value)
        return replace(
            tree,
            value=np.where(unknown, 0.0 if self.side == 1 else 1.0, tree.value),
            radius=np.where(unknown, 1.0, tree.radius),
            prices=(self.goal.price, math.inf) if self.side == 1 else (math.inf, self.goal.price),
        )
