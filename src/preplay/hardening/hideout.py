"""Where a hider and a preparer meet: the preparer's prep against the hider's menus, grown as needed.

The preparer's own histories have a value; where one is expanded, prep is played, chance and the hider
answer, and the next own histories are valued. The hider answers by any action of its menu, or by its base
policy where it has none. Nothing else is needed: when the preparer stops, v(h) says what follows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple

import numpy as np

from preplay.errors import InputError
from preplay.files import write_arrays
from preplay.game import (
    CHANCE,
    FINAL,
    Distribution,
    Game,
    S,
    Side,
    check_known,
    check_length,
    mover_at,
    other,
)
from preplay.growth.columns import read_columns, reading
from preplay.policy import REST, Menu, Menus, Policy, check_answers, check_distribution
from preplay.stopping import Stop
from preplay.tree import Bools, Bytes, Floats, Ints
from preplay.value import Evaluator, Value, utility_of, value_of

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
    radius: Floats  # [n] how far it may be off, where it was sampled
    opinion: Floats  # [n] what the hider's menu thinks of the action into k; NaN elsewhere
    lead: Bools  # [n] the first choice of a menu
    open: Bools  # [n] a leaf that the preparer might go on from
    estimated: Bools  # [n] the value is the first evaluator's
    judged: Bools  # [n] the value is the judge's

    @property
    def highest(self) -> Hideout:
        """The same with the highest values that are possible."""
        return self._replace(value=np.minimum(1.0, self.value + self.radius))

    @property
    def lowest(self) -> Hideout:
        """The same with the lowest values that are possible."""
        return self._replace(value=np.maximum(0.0, self.value - self.radius))


COLUMNS = (
    "parent", "first", "children", "kind", "share", "base", "value", "radius", "opinion", "lead", "own",
    "asked",
)  # fmt: skip
"""What is kept of a history: also whether it is the preparer's own, and who valued it."""
PARENT, FIRST, CHILDREN, KIND, SHARE, BASE, VALUE, RADIUS, OPINION, LEAD, OWNED, ASKED = range(
    len(COLUMNS)
)
FIRST_VALUE, JUDGED = 1.0, 2.0
"""Who valued a history: the first evaluator, or the judge."""


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
    checkpoint: Path | None = None
    """Where to find and keep what is known, to go on from."""
    purpose: str = ""
    """What it is for: a checkpoint for something else is refused."""
    every: float = 30.0
    """Seconds between two checkpoints."""

    def __post_init__(self) -> None:
        self.names: list[str] = []
        self.states: list[S] = []
        self.questions = 0
        self.rounds = 0
        """Rounds of judging so far."""
        self.before: float | None = None
        """What the mix left by the first values alone."""
        self._rows: list[list[float]] = []
        self._longest = self.game.longest
        self._saved = time.monotonic()
        if self.checkpoint is not None and self.checkpoint.exists():
            self._take_up(self.checkpoint)
        else:
            self._add(-1, "", self.game.root(), 1.0, 1.0)
            self._settle([0])
        self._known = self._snapshot()

    def __len__(self) -> int:
        return len(self._rows)

    def hideout(self) -> Hideout:
        """What is known so far."""
        self._known = self._snapshot()
        table, _, _ = self._known
        column = dict(zip(COLUMNS, table.T, strict=True))
        return Hideout(
            parent=column["parent"].astype(np.int32),
            first=column["first"].astype(np.int32),
            children=column["children"].astype(np.int32),
            kind=column["kind"].astype(np.int8),
            share=column["share"].copy(),
            base=column["base"].copy(),
            value=column["value"].copy(),
            radius=column["radius"].copy(),
            opinion=column["opinion"].copy(),
            lead=column["lead"] > 0.0,
            open=(column["kind"] == LEAF) & (column["own"] > 0.0),
            estimated=column["asked"] == FIRST_VALUE,
            judged=column["asked"] == JUDGED,
        )

    def judge(self, nodes: Sequence[int], values: Sequence[Value]) -> None:
        """Put second opinions in place, as many as there are."""
        for k, value in zip(nodes, values, strict=False):
            self._put(k, value)
            self._rows[k][ASKED] = JUDGED

    # --- going on after an interruption -------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self.checkpoint is not None and time.monotonic() - self._saved >= self.every

    def save(self) -> None:
        """Write what the last `hideout` showed; what was under way since is asked again."""
        if self.checkpoint is None:
            return
        table, questions, rounds = self._known
        told = [questions, rounds, math.nan if self.before is None else self.before]
        columns = {
            "table": table,
            "names": np.array(self.names[: len(table)], dtype=np.str_),
            "told": np.array(told, dtype=np.float64),
            "purpose": np.array(self.purpose),
        }
        write_arrays(self.checkpoint, columns)
        self._saved = time.monotonic()

    def _snapshot(self) -> tuple[Floats, int, int]:
        return np.array(self._rows), self.questions, self.rounds

    def _take_up(self, path: Path) -> None:
        with reading(path):
            columns = read_columns(path, self.purpose)
            table, told = columns["table"].astype(np.float64), columns["told"].astype(np.float64)
            names = [str(name) for name in columns["names"]]
            _check(table, names)
            for k, row in enumerate(table.tolist()):
                above = int(row[PARENT])
                before = self.game.root() if k == 0 else self.states[above]
                stays = k == 0 or names[k] == REST
                self.states.append(before if stays else self.game.next(before, names[k]))
                self.names.append(names[k])
                self._rows.append(row)
            self.questions, self.rounds = int(told[0]), int(told[1])
            self.before = None if math.isnan(told[2]) else float(told[2])

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
            players = {k: self._player(k) for k in fresh}
            hider = [k for k in fresh if players[k] == self.side]
            with self.stop.interruptible():
                offers = self.menus.menus([self.states[k] for k in hider])
            check_answers(offers, len(hider))
            self.questions += len(hider)
            plain = [k for k, menu in zip(hider, offers, strict=True) if not menu]
            answers = dict(zip(plain, self._distributions(self.base[self.side - 1], plain), strict=True))
            menus = dict(zip(hider, offers, strict=True))
            after: list[int] = []
            for k in fresh:
                player = players[k]
                if player == FINAL:
                    utility = utility_of(self.game, self.states[k])
                    self._rows[k][VALUE] = utility if self.side == 2 else 1.0 - utility
                elif player == CHANCE:
                    chance = self.game.chance(self.states[k])
                    check_distribution(chance, self._where(k))
                    after += self._children(k, FIXED, chance, chance)
                elif player != self.side:
                    self._rows[k][OWNED] = 1.0
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
        check_answers(values, len(valued))
        self.questions += len(valued)
        for k, value in zip(valued, values, strict=True):
            self._put(k, value)
            self._rows[k][ASKED] = FIRST_VALUE

    def _put(self, k: int, value: Value) -> None:
        checked = value_of(value, partial(self._where, k))
        self._rows[k][VALUE], self._rows[k][RADIUS] = checked.for_player(other(self.side))

    def _player(self, k: int) -> int:
        check_length(len(self.history(k)), self._longest)
        return mover_at(self.game, self.states[k])

    def _where(self, k: int) -> str:
        return f"history {list(self.history(k))}"

    def _distributions(self, policy: Policy[S], at: list[int]) -> list[Distribution]:
        if not at:
            return []
        with self.stop.interruptible():
            answers = policy.distributions([self.states[k] for k in at])
        check_answers(answers, len(at))
        self.questions += len(at)
        for k, answer in zip(at, answers, strict=True):
            check_distribution(answer, self._where(k))
        return list(answers)

    def _children(self, k: int, kind: int, shares: Distribution, base: Distribution) -> list[int]:
        actions = [action for action, p in shares.items() if p > 0.0]
        made = [self._enter(k, a, shares[a], base.get(a, 0.0)) for a in actions]
        self._rows[k][FIRST : KIND + 1] = [made[0], len(made), kind]
        return made

    def _offer(self, k: int, menu: Menu) -> list[int]:
        actions = [option.action for option in menu]
        if len(set(actions)) < len(actions):
            raise InputError(f"{self._where(k)}: a menu with an action twice")
        made = [self._enter(k, action, 1.0, 1.0) for action in actions]
        for child, option in zip(made, menu, strict=True):
            self._rows[child][OPINION] = math.nan if option.opinion is None else option.opinion
        self._rows[made[0]][LEAD] = 1.0
        self._rows[k][FIRST : KIND + 1] = [made[0], len(made), HIDES]
        return made

    def _enter(self, k: int, action: str, share: float, base: float) -> int:
        before = self.states[k]
        if action == REST:
            return self._add(k, action, before, share, base)
        try:
            state = self.game.next(before, action)
        except Exception:
            check_known(action, self.game.actions(before), self._where(k))
            raise
        return self._add(k, action, state, share, base)

    def _add(self, parent: int, action: str, state: S, share: float, base: float) -> int:
        self.names.append(action)
        self.states.append(state)
        row = [float(parent), 0.0, 0.0, float(LEAF), share, base, math.nan, 0.0, math.nan, 0.0, 0.0, 0.0]
        self._rows.append(row)
        return len(self._rows) - 1


def _check(table: Floats, names: Sequence[str]) -> None:
    """Raise ValueError for what no growth can have written: a damaged file must certify nothing."""
    n = len(names)
    if n == 0 or table.shape != (n, len(COLUMNS)):
        raise ValueError("columns of unequal length")
    parent, first, count, kind = (table[:, c].astype(np.int64) for c in (PARENT, FIRST, CHILDREN, KIND))
    if parent[0] != -1 or np.any(parent[1:] < 0) or np.any(parent >= np.arange(n)):
        raise ValueError("parents do not come before their children")
    for k in np.flatnonzero(count).tolist():
        below = slice(first[k], first[k] + count[k])
        if not 0 < below.start <= below.stop <= n or np.any(parent[below] != k):
            raise ValueError("children that do not fit")
    valued = (kind == LEAF) | (kind == OWN)
    value = table[valued, VALUE]
    if not np.all((value >= 0.0) & (value <= 1.0)) or np.any(kind[count == 0] != LEAF):
        raise ValueError("values that are no numbers in [0, 1]")
    if not np.all((table[:, (SHARE, BASE)] >= 0.0) & (table[:, (SHARE, BASE)] <= 1.0)):
        raise ValueError("probabilities outside [0, 1]")
