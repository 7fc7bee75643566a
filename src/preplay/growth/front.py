"""The growing tree of one side: what is known, what is asked next, what need not be asked at all."""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, Side, check_length
from preplay.growth.agenda import Agenda, ByPriority, MostPromising
from preplay.growth.asking import MenuOrPrep, Questions, to_choices, to_evaluator, to_policy
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder
from preplay.growth.goals import Goal, Limits
from preplay.growth.intervals import Bounds, Intervals, Unbounded
from preplay.growth.sharing import Pools
from preplay.policy import REST, Choices, Menu, Policy, check_distribution
from preplay.stopping import Stop
from preplay.tree import Tree
from preplay.value import Evaluator, Value

FIRST = 2.0
"""Priority of what comes before the side's first decision: without it no book has a value."""

KEPT = 100_000
"""So many states of histories that wait are kept; of others that of the history before, if any."""


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
    built: Builder = field(default_factory=Builder)
    reach: list[float] = field(default_factory=list)
    states: dict[int, S] = field(default_factory=dict)
    opening: set[int] = field(default_factory=set)
    """The histories before the side's first decision, and those of that decision."""
    choices: Choices[S] | None = None
    """What a book may choose from; None: it plays prep."""
    spent: array[int] = field(default_factory=lambda: array("i"))
    """How many moves before each history were others than the first choice; only where books choose."""
    watched: bool = True
    """Whether somebody outside reads the bounds."""
    window: deque[tuple[int, Questions[S, Any]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.longest = self.game.longest
        self.most = math.inf if self.limits.histories is None else self.limits.histories
        self.pools = None if self.goal.position is None else Pools(self.goal.position)
        shared = self.pools is not None
        certain = self.goal.certain and not shared
        beaten = None if self.goal.limited or shared else self.beaten
        intervals = Intervals(self.built, certain, self.give_up, beaten, shared)
        read = self.watched or certain or self.limits.gap > 0.0
        self.bounds: Bounds = intervals if read else Unbounded()
        self.ask_value = to_evaluator(self.value)
        self.ask_prep = to_policy(self.prep)
        self.ask_base = to_policy(self.opponent)
        self.oracles: tuple[Questions[S, Any], ...] = (self.ask_value, self.ask_prep, self.ask_base)
        self.ask_choice: Questions[S, Menu | Distribution] | None = None
        self.agenda: Agenda = ByPriority(self.built)
        self.deviations = 0.0
        if self.choices is not None and self.choices.deviations != 0:
            most = self.choices.deviations
            self.deviations = math.inf if most is None else most
            self.ask_choice = to_choices(MenuOrPrep(self.choices.menus, self.prep))
            self.oracles = (*self.oracles, self.ask_choice)
            self.agenda = MostPromising(self.built, intervals, FIRST)
            self.bounds = intervals

    # --- creating histories ---------------------------------------------------------------------

    def plant(self) -> None:
        """The root; its value is asked whoever moves there, as the baseline."""
        state = self.game.root()
        player = self.game.player(state)
        if player == FINAL:
            raise GameError("the game is over before it begins; expected at least one move")
        self.built.add(-1, "", player, 1.0, 1.0)
        self.opening.add(0)
        self.spent.append(0)
        self.bounds.add(*self.enter(range(1), [state], [player], [1.0], opening=True))
        (value,) = self.value.values([state])
        self.ask_value.asked += 1
        if player == self.side:
            self.agenda.clear()
            self.valued(0, value)
        else:
            self.built.value[0], self.built.radius[0] = self.checked_value(0, value)

    def expand(self, k: int, distribution: Distribution) -> None:
        """Create the children of `k`; those without probability are left out."""
        try:
            check_distribution(distribution, "distribution")
        except GameError as error:
            raise GameError(f"{self.where(k)}: {error}") from None
        mover = self.built.player[k]
        if REST in distribution and mover in (self.side, CHANCE):
            raise GameError(f"{self.where(k)}: a share for '{REST}'; expected it of the opponent alone")
        shares = list(distribution.values())
        if min(shares) > 0.0:
            self.branch(k, list(distribution), shares)
        else:
            actions = [action for action, p in distribution.items() if p > 0.0]
            self.branch(k, actions, [p for p in shares if p > 0.0])

    def offer(self, k: int, menu: Menu) -> None:
        """Create the children of an own history that are alternatives: a book plays one for sure."""
        actions = [action for action, _ in menu]
        if len(set(actions)) < len(actions):
            raise GameError(f"{self.where(k)}: a menu of {', '.join(actions)}; expected each action once")
        self.built.choosing.add(k)
        self.branch(k, actions, [1.0] * len(actions))

    def branch(self, k: int, actions: list[str], shares: list[float]) -> None:
        """Create the children of `k` after these actions."""
        built = self.built
        check_length(built.depth[k] + 1, self.longest)
        mover, reach = built.player[k], self.reach[k]
        own = mover == self.side
        state = self.states.pop(k) if k in self.states else self.state(k)
        states = self.after(k, state, actions)
        players = list(map(self.game.player, states))
        if REST in actions:
            players[actions.index(REST)] = mover
        unknown = [math.nan] * len(shares)
        base = unknown if own else shares
        prep = shares if own or mover == CHANCE else unknown
        children = built.add_children(k, actions, players, base, prep)
        built.stage[k] = EXPANDED
        if self.ask_choice is not None:
            spent = self.spent[k]
            self.spent.extend([spent] * len(children))
            if k in built.choosing:
                for c in children[1:]:
                    self.spent[c] = spent + 1
        opening = not own and k in self.opening
        if opening:
            self.opening.update(children)
        up, low = self.enter(children, states, players, [reach * p for p in shares], opening)
        if len(self.states) > KEPT:
            self.thin(k, state, children)
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
        if min(players) >= CHANCE and max(players) <= 2 and min(reaches) > self.limits.negligible:
            self.states.update(zip(histories, states, strict=True))
            self.agenda.add_all(histories, [FIRST] * len(reaches) if opening else reaches)
            return reaches, low
        built, up = self.built, reaches.copy()
        for j, (k, mover, reach) in enumerate(zip(histories, players, reaches, strict=True)):
            if mover == FINAL:
                value = self.checked_utility(k, self.game.utility(states[j]))
                built.value[k] = value
                built.stage[k] = CLOSED
                up[j] = low[j] = reach * (value if self.side == 1 else 1.0 - value)
            elif reach <= self.limits.negligible:
                built.value[k] = built.radius[k] = 0.5
                built.stage[k] = CLOSED
            elif CHANCE <= mover <= 2:
                self.states[k] = states[j]
                self.agenda.add(k, FIRST if opening else reach)
            else:
                raise GameError(
                    f"{self.where(k)}: player {mover}; expected 1, 2, 0 (chance) or -1 (over)"
                )
        return up, low

    def thin(self, k: int, state: S, children: range) -> None:
        """Keep the state of `k` instead of those of its children."""
        for c in children:
            self.states.pop(c, None)
        self.states[k] = state

    def state(self, k: int) -> S:
        """The state of `k`, by the moves since the nearest state that is kept."""
        names, path = list(self.built.names), []
        while k not in self.states and k > 0:
            path.append(k)
            k = self.built.parent[k]
        state = self.states[k] if k in self.states else self.game.root()
        for j in reversed(path):
            if not self.built.is_rest(j):
                state = self.game.next(state, names[self.built.action[j]])
        return state

    def after(self, k: int, state: S, actions: Sequence[str]) -> list[S]:
        """The states after each action from `state`, which is that of `k`.

        The rest of the opponent's moves has the state in which they are made: it is valued there, as if
        the opponent played their best move (fact 12).
        """
        after = self.game.next
        try:
            if REST in actions:
                return [state if action == REST else after(state, action) for action in actions]
            return [after(state, action) for action in actions]
        except Exception as error:
            known = self.game.actions(state)
            for action in actions:
                if action not in known and action != REST:
                    raise GameError(
                        f"{self.where(k)}: action '{action}'; expected one of {', '.join(known)}"
                    ) from error
            raise

    def valued(self, k: int, value: Value) -> None:
        """An own history got its value: a leaf if expanding cannot pay, else a candidate.

        The rest of the opponent's moves is a leaf whatever it is worth: it ends the book.
        """
        built, reach = self.built, self.reach[k]
        built.value[k], built.radius[k] = self.checked_value(k, value)
        low, high = self.mine(k)
        own = built.player[k] == self.side
        if own and self.pools is not None:
            self.pooled(k, self.pools, reach * (1.0 - low))
            self.bounds.stopping(k, reach * high, reach * low, reach)
            return
        potential = self.goal.potential(reach, low) if own else 0.0
        if potential > 0.0:
            built.stage[k] = VALUED
            self.agenda.add(k, potential)
            hope = reach - self.goal.cost
        else:
            built.stage[k] = CLOSED
            self.states.pop(k, None)
            hope = -math.inf
        self.bounds.stopping(k, reach * high, reach * low, hope)

    def potential(self, k: int) -> float:
        """How much expanding an own history may add; 0 or less: it is a leaf."""
        low, reach = self.mine(k)[0], self.reach[k]
        return self.goal.potential(reach, low) if self.pools is None else reach * (1.0 - low)

    def pooled(self, k: int, pools: Pools[S], hope: float) -> None:
        """Memory is paid by position: ask further about `k` only when its position may pay."""
        state = self.state(k)
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

    def checked_value(self, k: int, value: Value) -> tuple[float, float]:
        """Mean and radius of an evaluator's answer, if they make sense."""
        mean, radius = value
        if not (0.0 <= mean <= 1.0 and radius >= 0.0):
            raise GameError(
                f"{self.where(k)}: value {mean} ± {radius}; "
                "expected a mean in [0, 1] and a radius of at least 0"
            )
        return mean, radius

    def checked_utility(self, k: int, utility: float) -> float:
        """A game's answer, if it makes sense."""
        if not 0.0 <= utility <= 1.0:
            raise GameError(f"{self.where(k)}: utility {utility}; expected a number in [0, 1]")
        return utility

    def where(self, k: int) -> str:
        """What to call `k` in a message."""
        return f"history {list(self.built.history(k))}"

    # --- asking ---------------------------------------------------------------------------------

    def advance(self, stop: Stop) -> bool:
        """Ask, and apply answers in the order asked, up to one that had to be waited for, or a limit.

        Whether there may be more to do.
        """
        window, met, stage, gap = self.window, self.built.parent, self.built.stage, self.limits.gap
        most, fill, ask_value = self.most, self.fill, self.ask_value
        waited = False
        while not waited and len(met) < most and not (gap > 0.0 and self.certified):
            fill()
            if len(met) >= most:
                break
            if not window:
                return False
            k, questions = window[0]
            if stage[k] == CLOSED:
                window.popleft()
                continue
            waited = k not in questions.answers
            if waited:
                with stop.interruptible():
                    questions.wait(k)
            window.popleft()
            answer = questions.answers.pop(k)
            if questions is ask_value:
                self.valued(k, answer)
            elif isinstance(answer, tuple):
                self.offer(k, answer)
            else:
                self.expand(k, answer)
        return True

    def fill(self) -> None:
        """Put the most promising questions under way until the window is full."""
        window, player, size, states = self.window, self.built.player, self.limits.window, self.states
        while len(window) < size and len(player) < self.most:
            k = self.agenda.take()
            if k is None:
                return
            state = states[k] if k in states else self.state(k)
            if player[k] == CHANCE:
                self.expand(k, self.game.chance(state))
            else:
                questions = self.questions(k)
                questions.submit(k, state)
                window.append((k, questions))

    @property
    def full(self) -> bool:
        """Whether there are as many histories as wanted."""
        return len(self.built.parent) >= self.most

    @property
    def certified(self) -> bool:
        """Whether the upper bound is as near to the best net found as wanted."""
        gap = self.limits.gap
        return gap > 0.0 and self.bounds.up[0] - self.bounds.low[0] <= gap and self.opened

    def questions(self, k: int) -> Questions[S, Any]:
        """Whom to ask about `k` next."""
        built = self.built
        if built.player[k] == self.side:
            if built.stage[k] == UNASKED:
                return self.ask_value
        else:
            return self.ask_value if k in built.rests else self.ask_base
        if self.ask_choice is None or self.spent[k] >= self.deviations:
            return self.ask_prep
        return self.ask_choice

    def give_up(self, k: int) -> None:
        """Nothing depends on `k` any more: no question about it is worth an answer."""
        self.states.pop(k, None)
        self.agenda.discard(k)
        self.questions(k).forget(k)

    def beaten(self, k: int, most: float, least: float) -> None:
        """An option cannot beat another one: a leaf that no book plays, with what is known of it."""
        mean, high = (min(1.0, max(0.0, mass / self.reach[k])) for mass in (least, most))
        self.built.value[k] = mean if self.side == 1 else 1.0 - mean
        self.built.radius[k] = max(0.0, high - mean)
        self.built.beaten.add(k)

    @property
    def asked(self) -> int:
        """Questions asked so far."""
        return sum(questions.asked for questions in self.oracles)

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
