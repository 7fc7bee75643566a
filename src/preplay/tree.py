"""The grown part of a game as one frozen object of flat arrays: what every solver works on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from preplay.arguments import as_path, check_made
from preplay.errors import InputError, StoreError
from preplay.files import read_arrays, write_arrays
from preplay.game import FINAL, Side, check_side

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
KINDS: Mapping[str, type[np.generic]] = {
    "parent": np.int32,
    "player": np.int8,
    "base": np.float64,
    "prep": np.float64,
    "value": np.float64,
    "radius": np.float64,
    "action": np.int32,
}
"""The kinds of the columns that every history has."""


ROUNDING: Final = 1e-14
"""Options whose values differ by less are equal: of equals a book plays the first."""
CHOOSES: Final = 1
"""An own history with a menu: a book plays one of its children, for sure."""
BEATEN: Final = 2
"""An option that is worse than another one of its menu, however that one turns out: no book plays it."""


@dataclass(frozen=True, eq=False)
class Tree:
    """n histories in breadth-first order: parents before children, siblings side by side.

    Index 0 is the root. Leaves are final histories and histories that were not expanded; from a leaf
    on both sides play base, so its value is all that matters. Unexpanded leaves that might still pay
    are `open`: certified upper bounds add what they could hold.
    """

    parent: Ints  # [n] index of the parent, -1 at the root; parent[k] < k, non-decreasing
    first: Ints  # [n + 1] the children of k are first[k] .. first[k + 1] - 1
    player: Bytes  # [n] who moves at k: 1, 2, 0 chance, -1 final
    base: Floats  # [n] P(action into k) by the mover's base policy; by chance at chance's children
    prep: Floats  # [n] P(action into k) by the mover's prep policy; by chance at chance's children
    value: Floats  # [n] player 1's v(h): utility at final histories, NaN where nobody needs it
    radius: Floats  # [n] |value - true v(h)| is at most this
    open: Bools  # [n] unexpanded, but expanding it might pay
    action: Ints  # [n] the action into k, an index of `names`, -1 at the root
    names: tuple[str, ...]  # every action name that occurs, once
    prices: tuple[float, float] = (0.0, 0.0)  # what it was grown for, see `check_price`
    position: Ints | None = None  # [n] equal where one memory serves, -1 where none; None: each its own
    choice: Bytes | None = None  # [n] CHOOSES, BEATEN or 0; None: no menus, books play prep

    @property
    def size(self) -> int:
        """The number of histories n."""
        return len(self.parent)

    @property
    def leaves(self) -> Bools:
        """[n] whether a history has no children here."""
        return np.equal(self.first[1:], self.first[:-1])

    @property
    def complete(self) -> bool:
        """Whether nothing is left that could still pay."""
        return not bool(self.open.any())

    def starts(self, side: Side) -> bool:
        """Whether a side's first decisions are here; else the growth was cut short before them, the start
        is all there is, and its v(h) stands for what the side has without a book."""
        return self.size > 1 or not bool(self.open[0]) or bool(self.player[0] == side)

    def value_for(self, side: Side) -> Floats:
        """[n] what v(h) is to a side, NaN where nobody needs it."""
        return self.value if side == 1 else 1.0 - self.value

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together."""
        arrays = (self.parent, self.first, self.player, self.base, self.prep)
        more = (self.value, self.radius, self.open, self.action)
        return sum(a.nbytes for a in arrays) + sum(a.nbytes for a in more)

    def check_price(self, side: Side, cost: float) -> None:
        """Raise InputError for books of `side` at a cost that the tree was not grown for.

        `prices` has for each side the least cost at which all histories that a book could use are here;
        infinity for a side that the tree was not grown for. Trees of unknown origin have 0 for both.
        """
        check_side(side)
        price = self.prices[side - 1]
        if math.isinf(price):
            grown = [str(one) for one, known in enumerate(self.prices, 1) if math.isfinite(known)]
            wanted = f"books of side {' or '.join(grown)}" if grown else "another goal, not for books"
            raise InputError(f"a book of side {side} on a tree that was grown for {wanted}")
        if cost < price:
            raise InputError(
                f"cost {cost:g} on a tree that was grown for a cost of {price:g}; expected at least that"
            )

    def check_fixed(self) -> None:
        """Raise InputError for a tree with menus: their options are not moves of one book."""
        if self.choice is not None and np.any(self.choice == CHOOSES):
            k = int(np.flatnonzero(self.choice == CHOOSES)[0])
            raise InputError(
                f"a tree with menus, as after {list(self.history(k))}; expected one whose moves are "
                "chosen, as that of preplay.choice.choose(tree, ...)"
            )

    def children(self, k: int) -> range:
        """The indices of the children of `k`."""
        return range(int(self.first[k]), int(self.first[k + 1]))

    def history(self, k: int) -> tuple[str, ...]:
        """The action names from the root to `k`."""
        actions: list[str] = []
        while k > 0:
            actions.append(self.names[self.action[k]])
            k = int(self.parent[k])
        return tuple(reversed(actions))

    def find(self, history: tuple[str, ...]) -> int:
        """The index of `history`; raises KeyError when it is not in the tree."""
        index = self.get(history)
        if index is None:
            raise KeyError(f"history {' '.join(history)!r} is not among the {self.size} grown ones")
        return index

    def get(self, history: tuple[str, ...]) -> int | None:
        """The index of `history`, or None when it is not in the tree."""
        k = 0
        for name in history:
            match = [c for c in self.children(k) if self.names[self.action[c]] == name]
            if not match:
                return None
            k = match[0]
        return k

    def depth(self) -> Ints:
        """[n] the number of actions before each history."""
        depth = np.zeros(self.size, dtype=np.int32)
        level = np.flatnonzero(self.parent < 0)
        while len(level):  # one pass a level: the children of a run of siblings are a run again
            low, high = int(self.first[level[0]]), int(self.first[level[-1] + 1])
            level = np.arange(low, high)
            depth[level] = depth[self.parent[level]] + 1
        return depth


def from_parents(
    parent: npt.ArrayLike,
    player: npt.ArrayLike,
    base: npt.ArrayLike,
    prep: npt.ArrayLike,
    value: npt.ArrayLike,
    *,
    radius: npt.ArrayLike | None = None,
    open: npt.ArrayLike | None = None,
    action: npt.ArrayLike | None = None,
    names: tuple[str, ...] = (),
) -> Tree:
    """A Tree from arrays that are already in breadth-first order; without names, actions get numbers."""
    parents = np.ascontiguousarray(parent, dtype=np.int32)
    n = len(parents)
    first = np.searchsorted(parents, np.arange(n + 1)).astype(np.int32)
    if action is None:
        action = np.arange(n) - first[np.maximum(parents, 0)]
        names = tuple(str(k) for k in range(int(np.max(action)) + 1))
    actions = np.array(action, dtype=np.int32)
    actions[0] = -1
    return Tree(
        parent=parents,
        first=first,
        player=np.ascontiguousarray(player, dtype=np.int8),
        base=np.ascontiguousarray(base, dtype=np.float64),
        prep=np.ascontiguousarray(prep, dtype=np.float64),
        value=np.ascontiguousarray(value, dtype=np.float64),
        radius=np.zeros(n) if radius is None else np.ascontiguousarray(radius, dtype=np.float64),
        open=np.zeros(n, dtype=np.bool_) if open is None else np.ascontiguousarray(open, np.bool_),
        action=actions,
        names=names,
    )


def part_of(tree: Tree, kept: Bools) -> Tree:
    """The part of a tree with the histories that are kept, each with the one before it; no menus."""
    place = np.cumsum(kept) - 1
    above = tree.parent[kept]
    return from_parents(
        np.where(above < 0, -1, place[np.maximum(above, 0)]),
        tree.player[kept],
        tree.base[kept],
        tree.prep[kept],
        tree.value[kept],
        radius=tree.radius[kept],
        open=tree.open[kept],
        action=tree.action[kept],
        names=tree.names,
    )


def check_columns(columns: Mapping[str, npt.NDArray[Any]], n: int, names: int) -> None:
    """Raise ValueError unless columns of `n` histories hold only what a history can have.

    Probabilities and values are in [0, 1] or unknown, players and actions are known ones: a damaged file
    must not end in a certified nonsense.
    """
    for name, column in columns.items():
        kind = KINDS[name]
        if column.dtype != kind or column.shape != (n,):
            raise ValueError(f"{name}: {column.dtype} {column.shape}; expected {n} of {np.dtype(kind)}")
    for name in ("base", "prep", "value"):
        column = columns[name]
        if not np.all(np.isnan(column) | ((column >= 0.0) & (column <= 1.0 + 1e-9))):
            raise ValueError(f"{name}: a number outside [0, 1]")
    if not np.all(columns["radius"] >= 0.0):  # of few playouts above 1: they say nothing yet
        raise ValueError("radius: a number below 0, or none")
    if np.any(columns["player"] < FINAL) or np.any(columns["player"] > 2):
        raise ValueError("player: expected 1, 2, 0 or -1")
    if columns["action"][0] != -1 or np.any(columns["action"][1:] < 0):
        raise ValueError("action: a history without one")
    if np.any(columns["action"] >= names):
        raise ValueError("action: one that has no name")


def check_arrays(tree: Tree) -> None:
    """Raise ValueError unless the arrays describe a tree in breadth-first order with values at leaves."""
    n = tree.size
    check_columns({name: getattr(tree, name) for name in KINDS}, n, len(tree.names))
    if tree.open.dtype != np.bool_ or tree.open.shape != (n,):
        raise ValueError("open: expected yes or no for each history")
    if not all(isinstance(price, float) and price >= 0.0 for price in tree.prices):
        raise ValueError(f"prices {tree.prices}; expected two numbers")
    if tree.first.dtype != np.int32 or not np.array_equal(
        tree.first, np.searchsorted(tree.parent, np.arange(n + 1))
    ):
        raise ValueError("first: does not fit the parents")
    if n == 0 or tree.parent[0] != -1:
        raise ValueError("expected a root at index 0 with parent -1")
    rest = tree.parent[1:]
    if np.any(rest < 0) or np.any(rest >= np.arange(1, n)) or np.any(np.diff(rest) < 0):
        raise ValueError("parents must precede their children in breadth-first order")
    if np.any(np.isnan(tree.value[tree.leaves])):
        raise ValueError("every leaf needs a value")
    if np.any(tree.player[~tree.leaves] == FINAL):
        raise ValueError("a final history has children")
    if tree.position is not None and (tree.position.dtype != np.int32 or tree.position.shape != (n,)):
        raise ValueError("position: expected a number for each history")
    if tree.choice is not None:
        if tree.choice.dtype != np.int8 or tree.choice.shape != (n,) or not set(tree.choice) <= {0, 1, 2}:
            raise ValueError("choice: expected 0, 1 or 2 for each history")
        if np.any(tree.leaves & (tree.choice == CHOOSES)):
            raise ValueError("choice: a menu without options")


def save(tree: Tree, path: Path | str) -> None:
    """Write a tree as a compressed .npz file."""
    check_made("tree", tree, Tree, "as grow(...).tree is")
    parts = {f.name: getattr(tree, f.name) for f in fields(tree)}
    columns = {name: np.asarray(part) for name, part in parts.items() if part is not None}
    write_arrays(as_path("path", path), columns)


def load(path: Path | str) -> Tree:
    """Read a tree; a damaged or foreign file is a StoreError."""
    file = as_path("path", path)
    try:
        columns = read_arrays(file)
        names = tuple(str(name) for name in columns.pop("names"))
        first, second = columns.pop("prices", np.zeros(2)).tolist()  # files of version 0.1.0 have none
        tree = Tree(names=names, prices=(first, second), **columns)
        check_arrays(tree)
    except FileNotFoundError:
        raise StoreError(f"{path}: no such file; expected the tree of a run") from None
    except Exception:
        raise StoreError(f"{path}: damaged or foreign; expected the tree of a run") from None
    return tree
