"""A tree under construction: growable columns in the order of creation, frozen into a `Tree`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from preplay.errors import GameError
from preplay.growth.columns import Defaults
from preplay.policy import REST
from preplay.text import unprintable
from preplay.tree import BEATEN, CHOOSES, KINDS, Tree, check_columns

UNASKED = 0
"""Nothing is known yet beyond who moves."""
VALUED = 1
"""The value is known; the history may be expanded."""
EXPANDED = 2
"""The children are there."""
CLOSED = 3
"""A leaf for good: final, or expanding it cannot pay."""

COLUMNS: dict[str, type[np.generic]] = {
    "parent": np.int32,
    "action": np.int32,
    "player": np.int8,
    "base": np.float64,
    "prep": np.float64,
    "value": np.float64,
    "radius": np.float64,
    "first": np.int32,
    "count": np.int32,
    "stage": np.int8,
}
"""What is kept of a tree under construction, and as what."""


class Builder:
    """Histories as they are met. Children of one history are created together, side by side.

    There are `len(built)` of them; columns of what is learned later have room for more.
    """

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.action = array("i")
        self.player: list[int] = []
        self.base = array("d")
        self.prep = array("d")
        self.depth = array("i")
        self._later = Defaults()
        self.value: array[float] = self._later.array("d", math.nan)
        self.radius: array[float] = self._later.array("d", 0.0)
        self.first: array[int] = self._later.array("i", 0)
        self.count: array[int] = self._later.array("i", 0)
        self.stage = self._later.numbers(UNASKED)
        self.names: dict[str, int] = {}
        self._spelled: list[str] = []
        self.choosing: set[int] = set()
        """The own histories of whose children the book plays one for sure."""
        self.beaten: set[int] = set()
        """Options that are worse than another one."""
        self.rests: set[int] = set()
        """Those that stand for the moves that the opponent's distribution does not name."""

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, parent: int, action: str, player: int, base: float, prep: float) -> int:
        """A new history with nothing known; its index."""
        if parent < 0:
            name = -1
        else:
            known = self.names.get(action)
            name = known if known is not None else self._named(action)
        self.parent.append(parent)
        self.action.append(name)
        self.player.append(player)
        self.base.append(base)
        self.prep.append(prep)
        self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self._later.cover(len(self.parent))
        if action == REST:
            self.rests.add(len(self.parent) - 1)
        return len(self.parent) - 1

    def add_children(
        self, parent: int, actions: list[str], players: list[int], base: list[float], prep: list[float]
    ) -> range:
        """New histories side by side; their indices."""
        names, first, n = self.names, len(self.parent), len(actions)
        self.parent.extend([parent] * n)
        try:
            numbers = [names[action] for action in actions]
        except KeyError:
            numbers = [self._named(action) for action in actions]
        self.action.fromlist(numbers)
        self.player.extend(players)
        self.base.fromlist(base)
        self.prep.fromlist(prep)
        self.depth.fromlist([self.depth[parent] + 1] * n)
        if len(self.stage) < first + n:
            self._later.cover(first + n)
        if REST in actions:
            self.rests.add(first + actions.index(REST))
        self.first[parent], self.count[parent] = first, n
        return range(first, first + n)

    def _named(self, action: str) -> int:
        """The number of an action, a new one where it is new."""
        if action not in self.names and (wrong := unprintable(action)):
            raise GameError(f"action {action!a}: holds {wrong}; expected a name that can be written")
        return self.names.setdefault(action, len(self.names))

    @property
    def spelled(self) -> list[str]:
        """The actions by their numbers."""
        if len(self._spelled) < len(self.names):
            self._spelled = list(self.names)
        return self._spelled

    def is_rest(self, k: int) -> bool:
        """Whether `k` stands for the moves that the opponent's distribution does not name."""
        return k in self.rests

    def history(self, k: int) -> tuple[str, ...]:
        """The action names from the root to `k`."""
        names = self.spelled
        actions: list[str] = []
        while k > 0:
            actions.append(names[self.action[k]])
            k = self.parent[k]
        return tuple(reversed(actions))

    def breadth_first(
        self, keep: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The order of the frozen tree, and each one's number of children: those of `keep` alone."""
        first = self.column("first")
        count = np.where(keep, self.column("count"), 0)
        levels = [np.zeros(1, dtype=np.int64)]
        sizes = []
        while len(levels[-1]):
            level = levels[-1]
            n = count[level]
            sizes.append(n)
            starts = np.repeat(first[level] - (np.cumsum(n) - n), n)
            levels.append(starts + np.arange(int(n.sum())))
        return np.concatenate(levels), np.concatenate(sizes)

    def freeze(
        self,
        keep: npt.NDArray[np.bool_],
        open: npt.NDArray[np.bool_],
        position: Mapping[int, int] | None = None,
    ) -> Tree:
        """The Tree in breadth-first order, with the children only of the histories in `keep`."""
        order, children = self.breadth_first(keep)
        parent = np.empty(len(order), dtype=np.int32)
        parent[0] = -1
        parent[1:] = np.repeat(np.arange(len(order), dtype=np.int32), children)
        starts = np.zeros(len(order) + 1, dtype=np.int32)
        np.cumsum(children, out=starts[1:])
        starts += 1
        return Tree(
            parent=parent,
            first=starts,
            player=self.column("player")[order],
            base=self.column("base")[order],
            prep=self.column("prep")[order],
            value=self.column("value")[order],
            radius=self.column("radius")[order],
            open=open[order],
            action=self.column("action")[order],
            names=tuple(self.names),
            choice=self._choice(keep)[order] if self.choosing else None,
            position=None if position is None else self._position(position)[order],
        )

    def _position(self, position: Mapping[int, int]) -> npt.NDArray[np.int32]:
        numbers = np.full(len(self), -1, dtype=np.int32)
        numbers[list(position)] = list(position.values())
        return numbers

    def _choice(self, keep: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
        choice = np.zeros(len(self), dtype=np.int8)
        choice[list(self.choosing)] = CHOOSES
        choice[~keep] = 0
        choice[list(self.beaten)] = BEATEN
        return choice

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column as an array."""
        return np.array(getattr(self, name)[: len(self)], dtype=COLUMNS[name])

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All columns as arrays, for a checkpoint."""
        return {name: self.column(name) for name in COLUMNS} | {
            "names": np.array(list(self.names), dtype=np.str_)
        }

    def restore(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the columns of a checkpoint, if they are those of a tree."""
        check_columns(
            {name: columns[name] for name in KINDS}, len(columns["parent"]), len(columns["names"])
        )
        _check(columns)
        for name, kind in COLUMNS.items():
            getattr(self, name).extend(columns[name].astype(kind).tolist())
        for parent in self.parent:
            self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self.names = {str(name): k for k, name in enumerate(columns["names"])}
        if REST in self.names:
            self.rests.update(np.flatnonzero(columns["action"] == self.names[REST]).tolist())


def check_counts(columns: Mapping[str, npt.NDArray[Any]], names: Iterable[str]) -> None:
    """Raise ValueError for columns that must count something and do not."""
    if any(columns[name].dtype.kind not in "iu" for name in names):
        raise ValueError("numbers that are not whole")


def _check(columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise ValueError for what no growth can have written: a damaged file must certify nothing."""
    parent, first, count, stage = (columns[name] for name in ("parent", "first", "count", "stage"))
    n = len(parent)
    check_counts(columns, ("first", "count", "stage"))
    if any(columns[name].shape != (n,) for name in ("first", "count", "stage")):
        raise ValueError("columns of unequal length")
    if parent[0] != -1 or np.any(parent[1:] < 0) or np.any(parent >= np.arange(n)):
        raise ValueError("parents do not come before their children")
    if np.any((stage < UNASKED) | (stage > CLOSED)):
        raise ValueError("a history at no stage of growth")
    grown = np.flatnonzero(count)
    children = np.repeat(first[grown], count[grown]) + (
        np.arange(int(count.sum())) - np.repeat(np.cumsum(count[grown]) - count[grown], count[grown])
    )
    if np.any(count < 0) or not np.array_equal(np.sort(children), np.arange(1, n)):
        raise ValueError("children that do not fit")
    if not np.array_equal(parent[children], np.repeat(grown, count[grown])):
        raise ValueError("children of other parents")
