"""Where a hider and a preparer meet: the preparer's prep against the hider's menus, grown as needed.

The preparer's own histories have a value; where one is expanded, prep is played, chance and the hider
answer, and the next own histories are valued. The hider answers by any action of its menu, or by its base
policy where it has none. Nothing else is needed: when the preparer stops, v(h) says what follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np

from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, Side, other
from preplay.policy import REST, Menu, Menus, Policy, check_distribution
from preplay.stopping import Stop
from preplay.tree import Bools, Bytes, Floats, Ints
from preplay.value import Evaluator, Value

LEAF, OWN, HIDES, FIXED = range(4)
"""Kinds of histories: not expanded or final; the preparer's; the hider's with a menu; all others."""


class Hideout(NamedTuple):
    """n histories as flat arrays: parents before children, siblings side by side. Values are the
    preparer's."""

    parent: Ints  # [n] -1 at the root
    first: Ints  # [n] the first child
    children: Ints  # [n] how many of them
    kind: Bytes  # [n] see above
    share: Floats  # [n] P(action into k) where nobody chooses it: prep's, chance's; 1 from a menu
    base: Floats  # [n] the same with the preparer on base
    value: Floats  # [n] v(h) at the preparer's own histories and at leaves, else NaN
    opinion: Floats  # [n] what the hider's menu thinks of the action into k; NaN elsewhere
    lead: Bools  # [n] the first choice of a menu
    open: Bools  # [n] a leaf that the preparer might go on from


@dataclass
class Hiding(Generic[S]):
    """A hideout under construction."""

    game: Game[S]
    side: Side
    """Who hides."""
    base: tuple[Policy[S], Policy[S]]
    prep: Policy[S]
    """The preparer's."""
    menus: Menus[S]
    """The hider's."""
    value: Evaluator[S]
    stop: Stop

    def __post_init__(self) -> None:
        self.names: list[str] = []
        self.states: list[S] = []
        self.questions = 0
        self._rows: list[list[float]] = []
        self._add(-1, "", self.game.root(), 1.0, 1.0)
        self._settle([0])

    def __len__(self) -> int:
        return len(self._rows)

    def hideout(self) -> Hideout:
        """What is known so far."""
        table = np.array(self._rows)
        parent, first, count, kind, share, base, value, opinion, lead, own = table.T
        leaf = kind == LEAF
        return Hideout(
            parent.astype(np.int32),
            first.astype(np.int32),
            count.astype(np.int32),
            kind.astype(np.int8),
            share.copy(),
            base.copy(),
            value.copy(),
            opinion.copy(),
            lead > 0.0,
            leaf & (own > 0.0),
        )

    def history(self, k: int) -> tuple[str, ...]:
        """The actions from the root."""
        return self.game.history(self.states[k])

    def expand(self, leaves: Iterable[int]) -> None:
        """Let the preparer go on from these own histories."""
        chosen = list(leaves)
        if not chosen:
            return
        preparer = other(self.side)
        prep = self._distributions(self.prep, chosen)
        base = self._distributions(self.base[preparer - 1], chosen)
        fresh: list[int] = []
        for k, studied, usual in zip(chosen, prep, base, strict=True):
            fresh += self._children(k, OWN, studied, usual)
        self._settle(fresh)

    def _settle(self, fresh: list[int]) -> None:
        """Go on from new histories to the preparer's next own ones, and value these."""
        valued: list[int] = []
        while fresh:
            hider = [k for k in fresh if self._player(k) == self.side]
            offers: list[Menu] = list(self.menus.menus([self.states[k] for k in hider]))
            self.questions += len(hider)
            plain = [k for k, menu in zip(hider, offers, strict=True) if not menu]
            answers = dict(zip(plain, self._distributions(self.base[self.side - 1], plain), strict=True))
            menus = dict(zip(hider, offers, strict=True))
            after: list[int] = []
            for k in fresh:
                player = self._player(k)
                if player == FINAL:
                    utility = self.game.utility(self.states[k])
                    self._rows[k][6] = utility if self.side == 2 else 1.0 - utility
                elif player == CHANCE:
                    chance = self.game.chance(self.states[k])
                    after += self._children(k, FIXED, chance, chance)
                elif player != self.side:
                    self._rows[k][9] = 1.0
                    valued.append(k)
                elif menus[k]:
                    after += self._offer(k, menus[k])
                else:
                    after += self._children(k, FIXED, answers[k], answers[k])
            rest = [k for k in after if self.names[k] == REST]
            valued += rest
            fresh = [k for k in after if self.names[k] != REST]
        with self.stop.interruptible():
            values = self.value.values([self.states[k] for k in valued]) if valued else []
        self.questions += len(valued)
        for k, value in zip(valued, values, strict=True):
            self._rows[k][6] = self._mine(k, value)

    def _mine(self, k: int, value: Value) -> float:
        if not 0.0 <= value.mean <= 1.0:
            raise GameError(
                f"history {list(self.history(k))}: value {value.mean}; expected one in [0, 1]"
            )
        return value.for_player(other(self.side)).mean

    def _player(self, k: int) -> int:
        return self.game.player(self.states[k])

    def _distributions(self, policy: Policy[S], at: list[int]) -> list[Distribution]:
        if not at:
            return []
        with self.stop.interruptible():
            answers = list(policy.distributions([self.states[k] for k in at]))
        self.questions += len(at)
        for k, answer in zip(at, answers, strict=True):
            check_distribution(answer, f"history {list(self.history(k))}")
        return answers

    def _children(self, k: int, kind: int, shares: Distribution, base: Distribution) -> list[int]:
        actions = [action for action, p in shares.items() if p > 0.0]
        made = [self._enter(k, a, shares[a], base.get(a, 0.0)) for a in actions]
        self._rows[k][1:4] = [made[0], len(made), kind]
        return made

    def _offer(self, k: int, menu: Menu) -> list[int]:
        actions = [option.action for option in menu]
        if len(set(actions)) < len(actions):
            raise InputError(f"history {list(self.history(k))}: a menu with an action twice")
        made = [self._enter(k, action, 1.0, 1.0) for action in actions]
        for child, option in zip(made, menu, strict=True):
            self._rows[child][7] = option.opinion
        self._rows[made[0]][8] = 1.0
        self._rows[k][1:4] = [made[0], len(made), HIDES]
        return made

    def _enter(self, k: int, action: str, share: float, base: float) -> int:
        state = self.states[k] if action == REST else self.game.next(self.states[k], action)
        return self._add(k, action, state, share, base)

    def _add(self, parent: int, action: str, state: S, share: float, base: float) -> int:
        self.names.append(action)
        self.states.append(state)
        nan = float("nan")
        self._rows.append([parent, 0, 0, LEAF, share, base, nan, nan, 0.0, 0.0])
        return len(self._rows) - 1
