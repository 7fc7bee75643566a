"""A tree under construction: growable columns in the order of creation, frozen into a `Tree`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from pathlib import Path
from zipfile import is_zipfile

import numpy as np
import numpy.typing as npt

from preplay.errors import StoreError
from preplay.files import replacing
from preplay.policy import REST
from preplay.tree import BEATEN, CHOOSES, Tree

UNASKED = 0
"""Nothing is known yet beyond who moves."""
VALUED = 1
"""The value is known; the history may be expanded."""
EXPANDED = 2
"""The children are there."""
CLOSED = 3
"""A leaf for good: final, or expanding it cannot pay."""


class Builder:
    """Histories as they are met. Children of one history are created together, side by side."""

    def __init__(self) -> None:
        self.parent = array("i")
        self.action = array("i")
        self.player = array("b")
        self.base = array("d")
        self.prep = array("d")
        self.value = array("d")
        self.radius = array("d")
        self.first = array("i")
        self.count = array("i")
        self.stage = array("b")
        self.depth = array("i")
        self.names: dict[str, int] = {}
        self.choosing: set[int] = set()
        """The own histories of whose children the book plays one for sure."""
        self.beaten: set[int] = set()
        """Options that are worse than another one."""

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, parent: int, action: str, player: int, base: float, prep: float) -> int:
        """A new history with nothing known; its index."""
        if parent < 0:
            name = -1
        else:
            known = self.names.get(action)
            name = known if known is not None else self.names.setdefault(action, len(self.names))
        self.parent.append(parent)
        self.action.append(name)
        self.player.append(player)
        self.base.append(base)
        self.prep.append(prep)
        self.value.append(math.nan)
        self.radius.append(0.0)
        self.first.append(0)
        self.count.append(0)
        self.stage.append(UNASKED)
        self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        return len(self.parent) - 1

    def add_children(
        self, parent: int, actions: list[str], players: list[int], base: list[float], prep: list[float]
    ) -> range:
        """New histories side by side; their indices."""
        names, first, n = self.names, len(self.parent), len(actions)
        self.parent.extend([parent] * n)
        self.action.extend([names.setdefault(action, len(names)) for action in actions])
        self.player.extend(players)
        self.base.extend(base)
        self.prep.extend(prep)
        self.value.extend([math.nan] * n)
        self.radius.extend([0.0] * n)
        self.first.extend([0] * n)
        self.count.extend([0] * n)
        self.stage.extend([UNASKED] * n)
        self.depth.extend([self.depth[parent] + 1] * n)
        self.first[parent], self.count[parent] = first, n
        return range(first, first + n)

    def is_rest(self, k: int) -> bool:
        """Whether `k` stands for the moves that the opponent's distribution does not name."""
        return self.action[k] >= 0 and self.action[k] == self.names.get(REST)

    def history(self, k: int) -> tuple[str, ...]:
        """The action names from the root to `k`."""
        names = list(self.names)
        actions: list[str] = []
        while k > 0:
            actions.append(names[self.action[k]])
            k = self.parent[k]
        return tuple(reversed(actions))

    def breadth_first(
        self, keep: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The order of the frozen tree, and each one's number of children: those of `keep` alone."""
        first = np.frombuffer(self.first, dtype=np.int32)
        count = np.where(keep, np.frombuffer(self.count, dtype=np.int32), 0)
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
            player=np.frombuffer(self.player, dtype=np.int8)[order],
            base=np.frombuffer(self.base)[order],
            prep=np.frombuffer(self.prep)[order],
            value=np.frombuffer(self.value)[order],
            radius=np.frombuffer(self.radius)[order],
            open=open[order],
            action=np.frombuffer(self.action, dtype=np.int32)[order],
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

    def columns(self) -> dict[str, npt.NDArray[np.generic]]:
        """All columns as arrays, for a checkpoint."""
        return {name: np.array(column) for name, column in self._arrays().items()} | {
            "names": np.array(list(self.names), dtype=np.str_)
        }

    def restore(self, columns: dict[str, npt.NDArray[np.generic]]) -> None:
        """Take the columns of a checkpoint."""
        for name, column in self._arrays().items():
            data = columns[name]
            column.frombytes(data.astype(np.dtype(column.typecode)).tobytes())
        for parent in self.parent:
            self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
        self.names = {str(name): k for k, name in enumerate(columns["names"])}

    def _arrays(self) -> dict[str, array[int] | array[float]]:
        names = (
            "parent",
            "action",
            "player",
            "base",
            "prep",
            "value",
            "radius",
            "first",
            "count",
            "stage",
        )
        return {name: getattr(self, name) for name in names}


def save_columns(path: Path, columns: dict[str, npt.NDArray[np.generic]]) -> None:
    """Write arrays to an .npz file so that a kill leaves the old file or the new one, never half."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **columns)  # type: ignore[arg-type]


def read_columns(path: Path, purpose: str) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of a checkpoint; a damaged one, or one made for another purpose, is a StoreError."""
    try:
        if not is_zipfile(path):
            raise ValueError("damaged, or not an .npz file")
        with np.load(path, allow_pickle=False) as file:
            columns = dict(file)
        if str(columns["purpose"]) != purpose:
            raise ValueError(f"it is for {columns['purpose']}, not {purpose}")
    except Exception as error:
        raise StoreError(
            f"{path}: not a checkpoint to go on from ({error}); remove it to start anew"
        ) from None
    return columns
