"""What a book against people rests on: the parts of its gain, by the obvious enumeration."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, games, v

from preplay import response
from preplay.accounts import People, Sources, account_of
from preplay.book import Book, Entry
from preplay.game import Side
from preplay.games import tabular
from preplay.growth import Pays, grow


def parts_of(history: History, name: str, p: float) -> Sources:
    """A split of a probability that belongs to the history."""
    rng = random.Random(f"{history} {name}")
    shares = [rng.random() * rng.choice([0, 1, 1]) for _ in range(4)]
    total = sum(shares)
    return Sources(*(p * x / total for x in shares)) if total else Sources(own=p)


def find(root: Raw, history: History) -> Raw:
    for name in history:
        root = root["actions"][name]["to"]
    return root


def by_enumeration(root: Raw, side: int, book: set[History]) -> list[float]:
    """Every line with every way to foretell its moves; the weakest source of each counts."""
    gain = [0.0] * 4

    def worth_of(node: Raw) -> float:
        return v(node) if side == 1 else 1 - v(node)

    def visit(
        node: Raw, history: History, chance: float, moves: list[Sources], left: float | None
    ) -> None:
        stops = "utility" in node or node["player"] == side
        if stops and left is not None:
            for sources in itertools.product(range(4), repeat=len(moves)):
                joint = chance * math.prod(m[s] for m, s in zip(moves, sources, strict=True))
                gain[max(sources, default=0)] += joint * (worth_of(node) - left)
        if "utility" in node or (stops and history not in book):
            return
        here = worth_of(node) if stops else left
        for name, edge in node["actions"].items():
            kind = {"chance": "prob", side: "prep"}.get(node["player"], "base")
            p, after = float(edge[kind]), (*history, name)
            if p == 0.0:
                continue
            if kind == "base":
                visit(edge["to"], after, chance, [*moves, parts_of(history, name, p)], here)
            else:
                visit(edge["to"], after, chance * p, moves, here)

    visit(root, (), 1.0, [], None)
    return gain


@settings(max_examples=80, deadline=None)
@given(games(depth=4, own=9), st.sampled_from([1, 2]))
def test_the_parts_of_a_gain(raw: Raw, side: Side) -> None:
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    tree = grow(game, side, (base, base), prep, tabular.TabularValue(), Pays(1e-6)).tree
    best = response.best_book(tree, side, 1e-6)
    entries = []
    for k in best.nodes:
        node = find(raw["root"], tree.history(int(k)))
        moves = {name: float(e["prep"]) for name, e in node["actions"].items()}
        entries.append(Entry(tree.history(int(k)), moves, 1.0, 0.0, 0.5))
    shared = min(1, len(entries))  # as if all of them came to one position
    book = Book(side, tuple(entries), 0.5, best.value, 0.0, 1.0, positions=shared)

    def sources(states: Sequence[Any]) -> list[dict[str, Sources]]:
        answer = []
        for state in states:
            history = game.history(state)
            moves = find(raw["root"], history)["actions"].items()
            answer.append({n: parts_of(history, n, float(e["base"])) for n, e in moves})
        return answer

    def plays(states: Sequence[Any]) -> list[list[dict[str, float]]]:
        return [[{m: sum(p) for m, p in found.items()}] * 2 for found in sources(states)]

    people: People[Any] = People(("A", "B"), (0.5, 0.5), sources, plays, lambda state: True)
    found = account_of(game, tree, book, people)
    histories = {entry.history for entry in entries}
    assert list(found.gain) == pytest.approx(by_enumeration(raw["root"], side, histories), abs=1e-9)
    assert sum(found.gain) == pytest.approx(best.value - best.unprepared, abs=1e-9)
    assert (found.size, found.met) == (len(entries), len(entries))
    for worth in found.against:
        assert worth.value == pytest.approx(best.value, abs=1e-9)
        assert worth.unprepared == pytest.approx(best.unprepared, abs=1e-9)
