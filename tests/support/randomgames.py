"""Small random games in the tabular format, and slow, obvious answers about them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

Raw = dict[str, Any]
History = tuple[str, ...]


def _shares(n: int) -> st.SearchStrategy[list[float]]:
    """Probabilities that sum to 1, zeros among them."""
    parts = [row for row in itertools.product(range(5), repeat=n) if any(row)]
    return st.sampled_from(parts).map(lambda row: [part / sum(row) for part in row])


# Most of the time of a test goes into drawing: few draws a node, from what is made once.
_ENDS = st.integers(0, 9).map(lambda n: n == 0)
_TENTHS = st.integers(0, 10).map(lambda n: n / 10)
_DECISIONS = st.sampled_from([(p, n) for n in (1, 2, 3) for p in (1, 2, 1, 2, "chance")])
_SHARES = {n: _shares(n) for n in (1, 2, 3)}
_MOSTLY = st.integers(0, 2).map(bool)
_EITHER = st.booleans()


@st.composite
def _nodes(draw: st.DrawFn, depth: int, estimates: bool | str, menus: bool) -> Raw:
    if depth == 0 or draw(_ENDS):
        return {"utility": draw(_TENTHS)}
    player, n = draw(_DECISIONS)
    base, below = draw(_SHARES[n]), nodes(depth - 1, estimates, menus)
    actions: dict[str, Raw] = {}
    if player == "chance":
        for k in range(n):
            actions[f"a{k}"] = {"prob": base[k], "to": draw(below)}
        return {"player": player, "actions": actions}
    prep = draw(_SHARES[n])
    for k in range(n):
        actions[f"a{k}"] = {"base": base[k], "prep": prep[k], "to": draw(below)}
    if menus and draw(_MOSTLY):
        for edge in actions.values():
            edge["menu"] = draw(_MOSTLY)
        marked = [edge for edge in actions.values() if edge["menu"]]
        pure = draw(_EITHER)
        if marked and pure:  # as engines do: prep is the first choice of the menu
            first = draw(st.sampled_from(range(len(marked))))
            for edge in actions.values():
                edge["prep"] = 1.0 if edge is marked[first] else 0.0
    node: Raw = {"player": player, "actions": actions}
    if estimates and (estimates == "everywhere" or draw(_EITHER)):
        node["value"] = draw(_TENTHS)
    return node


@functools.cache
def nodes(depth: int, estimates: bool | str = False, menus: bool = False) -> st.SearchStrategy[Raw]:
    return _nodes(depth, estimates, menus)


@st.composite
def games(
    draw: st.DrawFn, depth: int = 4, own: int = 9, estimates: bool | str = False, menus: bool = False
) -> Raw:
    """A tabular game whose sides have at most `own` histories each.

    With `estimates` some decisions carry a value of their own, or all: "everywhere".
    """
    root = draw(
        nodes(depth, estimates, menus).filter(
            lambda r: "actions" in r and all(len(own_histories(r, s)) <= own for s in (1, 2))
        )
    )
    return {"format": "preplay-game/1", "root": root}


def own_histories(root: Raw, side: int) -> list[History]:
    found: list[History] = []

    def visit(node: Raw, history: History) -> None:
        if "utility" in node:
            return
        if node["player"] == side:
            found.append(history)
        for name, edge in node["actions"].items():
            visit(edge["to"], (*history, name))

    visit(root, ())
    return found


def v(node: Raw) -> float:
    """Both sides on base; an estimate in the file stands in for the exact value."""
    if "utility" in node:
        return float(node["utility"])
    if "value" in node:
        return float(node["value"])
    return sum(float(e.get("base", e.get("prob"))) * v(e["to"]) for e in node["actions"].values())


def books(root: Raw, side: int) -> Iterator[frozenset[History]]:
    """Every prefix-closed set of the side's own histories."""
    own = own_histories(root, side)

    def above(h: History) -> set[History]:
        return {g for g in own if len(g) < len(h) and h[: len(g)] == g}

    for r in range(len(own) + 1):
        for combination in itertools.combinations(own, r):
            chosen = frozenset(combination)
            if all(above(h) <= chosen for h in chosen):
                yield chosen


def worth(root: Raw, side: int, book: frozenset[History]) -> float:
    """What a book earns, by the definition: prep inside, base from the first step outside."""

    def visit(node: Raw, history: History) -> float:
        if "utility" in node:
            return float(node["utility"])
        if node["player"] == side and history not in book:
            return v(node)
        kind = {"chance": "prob", side: "prep"}.get(node["player"], "base")
        edges = node["actions"].items()
        return sum(float(e[kind]) * visit(e["to"], (*history, name)) for name, e in edges)

    value = visit(root, ())
    return value if side == 1 else 1.0 - value


Plan = dict[History, str | None]
"""The histories of a book that chooses, and what it plays at each; None: prep."""


def offered(node: Raw, spent: int, most: int | None) -> list[str]:
    """The menu of a decision, the first choice first; empty where the book plays prep."""
    if most is not None and spent >= most:
        return []
    marked = [name for name, edge in node["actions"].items() if edge.get("menu")]
    return sorted(marked, key=lambda name: -node["actions"][name]["prep"])


def plans(root: Raw, side: int, most: int | None) -> Iterator[tuple[float, Plan]]:
    """Every book that chooses, with what it earns: all sets and all choices from the menus.

    At most `most` moves of a line are others than the first of the menu.
    """

    def visit(node: Raw, history: History, spent: int) -> list[tuple[float, Plan]]:
        if "utility" in node:
            return [(float(node["utility"]), {})]
        own = node["player"] == side
        found: list[tuple[float, Plan]] = [(v(node), {})] if own else []
        menu = offered(node, spent, most) if own else []
        for j, name in enumerate(menu):
            after = visit(node["actions"][name]["to"], (*history, name), spent + (j > 0))
            found += [(value, {history: name, **plan}) for value, plan in after]
        if not menu:
            kind = {"chance": "prob", side: "prep"}.get(node["player"], "base")
            found += mixed(node, history, spent, kind, {history: None} if own else {})
        return found

    def mixed(
        node: Raw, history: History, spent: int, kind: str, start: Plan
    ) -> list[tuple[float, Plan]]:
        sums: list[tuple[float, Plan]] = [(0.0, start)]
        for name, edge in node["actions"].items():
            if edge[kind] > 0.0:
                after = visit(edge["to"], (*history, name), spent)
                sums = [(a + edge[kind] * b, p | q) for a, p in sums for b, q in after]
        return sums

    for value, plan in visit(root, (), 0):
        yield (value if side == 1 else 1.0 - value), plan


def count_plans(root: Raw, side: int, most: int | None) -> int:
    """How many books that choose there are."""

    def visit(node: Raw, spent: int) -> int:
        if "utility" in node:
            return 1
        own = node["player"] == side
        menu = offered(node, spent, most) if own else []
        if menu:
            return 1 + sum(
                visit(node["actions"][name]["to"], spent + (j > 0)) for j, name in enumerate(menu)
            )
        kind = {"chance": "prob", side: "prep"}.get(node["player"], "base")
        product = 1
        for edge in node["actions"].values():
            if edge[kind] > 0.0:
                product *= visit(edge["to"], spent)
        return product + int(own)

    return visit(root, 0)


def contested(root: Raw, one: frozenset[History], two: frozenset[History]) -> float:
    """Player 1's utility of two books (fact 10): v(h) at the history where the second side stops."""

    def visit(node: Raw, history: History, stopped: frozenset[int]) -> float:
        if "utility" in node:
            return float(node["utility"])
        mover = node["player"]
        kind = "prob" if mover == "chance" else "base"
        if mover != "chance" and mover not in stopped:
            if history in (one if mover == 1 else two):
                kind = "prep"
            else:
                stopped = stopped | {mover}
                if len(stopped) == 2:
                    return v(node)
        parts = [
            float(edge[kind]) * visit(edge["to"], (*history, name), stopped)
            for name, edge in node["actions"].items()
            if edge[kind] > 0.0
        ]
        return sum(parts)

    return visit(root, (), frozenset())


def at(root: Raw, history: History) -> Raw:
    """The node that a history leads to."""
    for action in history:
        root = root["actions"][action]["to"]
    return root
