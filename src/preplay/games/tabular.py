"""Games written down in full, in the JSON format `preplay-game/1`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from preplay.arguments import as_path
from preplay.errors import InputError, nearest
from preplay.files import parse_json, read_text
from preplay.game import CHANCE, FINAL, Distribution
from preplay.policy import REST, TOLERANCE, Menu, Option
from preplay.text import unprintable
from preplay.value import Value

FORMAT = "preplay-game/1"


@dataclass(eq=False, slots=True)
class Node:
    """One history of a tabular game, with both policies at it."""

    parent: Node | None
    action: str
    player: int = FINAL
    utility: float = 0.0
    estimate: float | None = None
    base: dict[str, float] = field(default_factory=dict)
    prep: dict[str, float] = field(default_factory=dict)
    menu: list[str] = field(default_factory=list)
    children: dict[str, Node] = field(default_factory=dict)
    value: float = 0.0

    @property
    def place(self) -> str:
        """Where this node stands in the file."""
        return "root" + "".join(f".actions[{json.dumps(a)}].to" for a in self.history)

    @property
    def history(self) -> tuple[str, ...]:
        """The actions from the root."""
        actions: list[str] = []
        node = self
        while node.parent is not None:
            actions.append(node.action)
            node = node.parent
        return tuple(reversed(actions))


@dataclass(frozen=True)
class TabularGame:
    """The rules of a tabular game; states are its nodes."""

    start: Node
    longest: int
    widest: int
    histories: int
    offers: tuple[bool, bool] = (False, False)
    """Whether each side has a menu somewhere."""
    estimates: bool = False
    """Whether a history has a value that stands in for the exact one."""

    def root(self) -> Node:
        """The empty history."""
        return self.start

    def history(self, state: Node) -> tuple[str, ...]:
        """The actions from the root."""
        return state.history

    def player(self, state: Node) -> int:
        """Who moves at this node."""
        return state.player

    def actions(self, state: Node) -> Sequence[str]:
        """The names of the actions, in the order of the file."""
        return tuple(state.children)

    def chance(self, state: Node) -> Distribution:
        """Chance's probabilities."""
        return state.base

    def next(self, state: Node, action: str) -> Node:
        """The node after `action`."""
        return state.children[action]

    def utility(self, state: Node) -> float:
        """Player 1's utility at a final node."""
        return state.utility


@dataclass(frozen=True)
class TabularPolicy:
    """The base or the prep policy that the file gives."""

    kind: Literal["base", "prep"]

    def distributions(self, states: Sequence[Node]) -> list[Distribution]:
        """The file's probabilities at each node."""
        if self.kind == "base":
            return [state.base for state in states]
        return [state.prep for state in states]


@dataclass(frozen=True)
class TabularMenus:
    """The actions that the file marks as a menu, what prep likes best first."""

    def menus(self, states: Sequence[Node]) -> list[Menu]:
        """The marked actions by falling prep probability, equals in the order of the file."""
        return [_menu(state) for state in states]


def _menu(node: Node) -> Menu:
    options = [Option(action, node.prep[action]) for action in node.menu]
    return tuple(sorted(options, key=lambda option: -option.liking))


@dataclass(frozen=True)
class TabularValue:
    """v(h), exact; a node's own `value` stands in for the exact one, below and above it alike."""

    def values(self, states: Sequence[Node]) -> list[Value]:
        """The values computed when the game was read."""
        return [Value(state.value) for state in states]


def load(path: Path | str) -> TabularGame:
    """Read a `preplay-game/1` file; every mistake in it is an InputError that names the place."""
    path = as_path("path", path)
    data = parse_json(read_text(path, f"a {FORMAT} JSON file"), path, _no_duplicates)
    try:
        return parse(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def parse(data: Any) -> TabularGame:
    """A game from the decoded JSON of a `preplay-game/1` file."""
    if isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
        raise InputError(f"format is {data['format']!r}; expected '{FORMAT}'")
    _keys(data, "file", {"format", "root"}, {"format", "root"})
    root = Node(None, "")
    order: list[Node] = []
    stack: list[tuple[Node, Any, int]] = [(root, data["root"], 0)]
    longest = widest = 0
    while stack:
        node, raw, depth = stack.pop()
        order.append(node)
        longest = max(longest, depth)
        _fill(node, raw)
        widest = max(widest, len(node.children))
        if node.player != FINAL:
            stack.extend(
                (child, raw["actions"][action]["to"], depth + 1)
                for action, child in reversed(node.children.items())
            )
    if root.player == FINAL:
        raise InputError("root: the game is over before it begins; expected a player and actions")
    for node in reversed(order):
        if node.estimate is not None:
            node.value = node.estimate
        elif node.player == FINAL:
            node.value = node.utility
        else:
            mean = sum(p * node.children[a].value for a, p in node.base.items())
            node.value = min(1.0, max(0.0, mean))  # rounding may leave the interval
    choosing = {node.player for node in order if node.menu}
    estimates = any(node.estimate is not None for node in order)
    return TabularGame(root, longest, widest, len(order), (1 in choosing, 2 in choosing), estimates)


def _fill(node: Node, raw: Any) -> None:
    """Check one node of the file and copy it into `node`, making its children."""
    where = node.place
    if isinstance(raw, dict) and "utility" in raw:
        _keys(raw, where, {"utility"}, {"utility"})
        node.utility = _unit(raw["utility"], f"{where}.utility")
        return
    _keys(raw, where, {"player", "actions"}, {"player", "actions", "value"})
    node.player = _player(raw["player"], where)
    if "value" in raw:
        if node.player == CHANCE:
            raise InputError(f"{where}.value: a chance node carries a value; only decision nodes may")
        node.estimate = _unit(raw["value"], f"{where}.value")
    actions = raw["actions"]
    if not isinstance(actions, dict) or not actions:
        raise InputError(
            f"{where}.actions: {_short(actions)}; expected an object with at least one action"
        )
    kinds = ("prob",) if node.player == CHANCE else ("base", "prep")
    for name, edge in actions.items():
        _add(node, name, edge, kinds)
    for kind, table in zip(kinds, (node.base, node.prep), strict=False):
        total = sum(table.values())
        if abs(total - 1.0) > TOLERANCE:
            raise InputError(f"{where}: '{kind}' probabilities sum to {total:.12g}; expected 1")


def _player(player: Any, where: str) -> int:
    """Who moves."""
    if player == "chance":
        return CHANCE
    if player in (1, 2) and isinstance(player, int) and not isinstance(player, bool):
        return player
    raise InputError(f'{where}.player: {player!r}; expected 1, 2 or "chance"')


def _add(node: Node, name: str, edge: Any, kinds: tuple[str, ...]) -> None:
    """Check one action of a node and add it; `kinds` are the keys of its probabilities."""
    place = f"{node.place}.actions[{json.dumps(name)}]"
    if odd := unprintable(name):
        raise InputError(f"{place}: the character {odd} in a name; expected text")
    if name == REST:
        raise InputError(f"{place}: '{REST}' stands for the moves not named; expected another name")
    offers = () if node.player == CHANCE else ("menu",)
    _keys(edge, place, {*kinds, "to"}, {*kinds, "to", *offers})
    node.children[name] = Node(node, name)
    if not isinstance(offered := edge.get("menu", False), bool):
        raise InputError(f"{place}.menu: {_short(offered)}; expected true or false")
    if offered:
        node.menu.append(name)
    node.base[name] = _unit(edge[kinds[0]], f"{place}.{kinds[0]}")
    node.prep[name] = _unit(edge[kinds[-1]], f"{place}.{kinds[-1]}")


def _keys(raw: Any, where: str, required: set[str], allowed: set[str]) -> None:
    if not isinstance(raw, dict):
        raise InputError(f"{where}: {_short(raw)}; expected an object")
    for key in raw:
        if key not in allowed:
            raise InputError(f"{where}: unknown key '{key}'; {nearest(key, allowed)}")
    for key in sorted(required):
        if key not in raw:
            raise InputError(f"{where}: key '{key}' is missing; expected {', '.join(sorted(required))}")


def _unit(number: Any, where: str) -> float:
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number <= 1:
        raise InputError(f"{where}: {_short(number)}; expected a number in [0, 1]")
    return float(number)


def _short(raw: Any) -> str:
    text = json.dumps(raw)
    return text if len(text) <= 40 else text[:37] + "..."


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"key '{twice}' stands twice in one object; expected each name once")
    return table
