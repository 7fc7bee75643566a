"""Second opinions: a judge that knows makes the promise true, and the book best by the values in use."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, books, games, own_histories, v

from preplay import response
from preplay.game import Side
from preplay.games import tabular
from preplay.growth import Grown, Limits
from preplay.judging import Judge, Opinions, error_of, settle
from preplay.matchup import Matchup, open_matchup
from preplay.preparation import Prepared, explore, prepare
from preplay.preparation.stages import Pace, best_at, chosen_on
from preplay.stopping import Stop
from preplay.value import Evaluator, Exact, Value, ValueFunction

BASE = tabular.TabularPolicy("base")
PREP = tabular.TabularPolicy("prep")
SIDES, COSTS = st.sampled_from([1, 2]), st.sampled_from([0.003, 0.01, 0.03, 0.1])
DOUBTS = st.sampled_from([0.0, 0.1, 0.5])


def noise(history: History) -> float:
    """A number that has nothing to do with the game."""
    return hashlib.sha256(repr(history).encode()).digest()[0] / 255


class Noisy:
    """Cheap values: the truth and much noise. Counts what it is asked."""

    def __init__(self, truth: Evaluator[tabular.Node]) -> None:
        self.truth = truth

    def values(self, states: Sequence[tabular.Node]) -> list[Value]:
        return [
            Value(0.5 * value.mean + 0.5 * noise(state.history))
            for state, value in zip(states, self.truth.values(states), strict=True)
        ]


class Asked:
    """An evaluator that remembers what it was asked."""

    def __init__(self, inside: Evaluator[tabular.Node]) -> None:
        self.inside = inside
        self.histories: list[History] = []

    def values(self, states: Sequence[tabular.Node]) -> list[Value]:
        self.histories += [state.history for state in states]
        return list(self.inside.values(states))


def matchup_of(raw: Raw, *, enumerable: bool = True, doubt: float = 0.0) -> tuple[Matchup[Any], Asked]:
    """A tabular game with noisy values, and a judge that knows the exact ones."""
    game = tabular.parse(raw)
    exact = Exact(game, (BASE, BASE))
    asked = Asked(exact)
    judge: Judge[Any] = Judge(asked, exact, doubt)
    return (
        Matchup("test", game, (BASE, BASE), (PREP, PREP), Noisy(exact), judge, enumerable=enumerable),
        asked,
    )


def worth(raw: Raw, side: int, book: frozenset[History], values: dict[History, float]) -> float:
    """What a book earns when stopping at an own history is worth `values`, by the definition."""

    def visit(node: Raw, history: History) -> float:
        if "utility" in node:
            return float(node["utility"])
        if node["player"] == side and history not in book:
            return values[history]
        kind = {"chance": "prob", side: "prep"}.get(node["player"], "base")
        edges = node["actions"].items()
        return sum(float(e[kind]) * visit(e["to"], (*history, name)) for name, e in edges)

    value = visit(raw["root"], ())
    return value if side == 1 else 1.0 - value


def in_use(raw: Raw, matchup: Matchup[Any], judged: Sequence[History], side: int) -> dict[History, float]:
    """The values in use: the judge's where it was asked, the cheap ones elsewhere."""
    game, known = matchup.game, set(judged)
    assert matchup.judge is not None
    found = {}
    for history in own_histories(raw["root"], side):
        state = game.root()
        for action in history:
            state = game.next(state, action)
        oracle = matchup.judge.value if history in known else matchup.value
        found[history] = oracle.values([state])[0].mean
    return found


def chosen(prepared: Prepared) -> frozenset[History]:
    return frozenset(prepared.tree.history(int(k)) for k in prepared.response.nodes)


@settings(max_examples=60, deadline=None)
@given(games(), SIDES, COSTS, st.sampled_from([None, 2]))
def test_a_judge_that_knows_makes_the_promise_true(
    raw: Raw, side: Side, cost: float, budget: int | None
) -> None:
    matchup, asked = matchup_of(raw)
    prepared = prepare(matchup, side, cost, budget)
    best, judged, histories = prepared.response, prepared.judged, list(asked.histories)
    assert judged is not None
    book = chosen(prepared)
    exact = {h: v(_node(raw, h)) for h in own_histories(raw["root"], side)}
    assert best.value == pytest.approx(worth(raw, side, book, exact), abs=1e-9)
    assert judged.after == best.value
    assert judged.fresh == pytest.approx(best.value, abs=1e-9)
    assert judged.error == pytest.approx(0.0, abs=1e-9)
    assert judged.searches == len(set(histories)) == len(histories)
    values = in_use(raw, matchup, histories, side)
    nets = [
        worth(raw, side, b, values) - cost * len(b)
        for b in books(raw["root"], side)
        if budget is None or len(b) <= budget
    ]
    assert best.net == pytest.approx(max(nets), abs=1e-9)
    assert best.upper == pytest.approx(best.net, abs=1e-9)
    first = prepare(replace(matchup, judge=None), side, cost, budget).response
    assert judged.before == pytest.approx(first.value, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(games(depth=3), SIDES, st.integers(0, 4), DOUBTS)
def test_a_budget_without_a_cost_is_judged_too(raw: Raw, side: Side, budget: int, doubt: float) -> None:
    matchup, asked = matchup_of(raw, enumerable=False, doubt=doubt)
    prepared = prepare(matchup, side, None, budget, Limits(gap=1e-9))
    best, histories = prepared.response, list(asked.histories)
    exact = {h: v(_node(raw, h)) for h in own_histories(raw["root"], side)}
    assert best.value == pytest.approx(worth(raw, side, chosen(prepared), exact), abs=1e-9)
    values = in_use(raw, matchup, histories, side)
    most = max(worth(raw, side, b, values) for b in books(raw["root"], side) if len(b) <= budget)
    assert best.size <= budget
    assert best.value == pytest.approx(most, abs=1e-6)
    assert most <= best.upper + 1e-9
    assert best.upper - best.value < 1e-6


@settings(max_examples=40, deadline=None)
@given(games(), SIDES, DOUBTS)
def test_a_frontier_is_learned_by_judged_gains(raw: Raw, side: Side, doubt: float) -> None:
    matchup, asked = matchup_of(raw, doubt=doubt)
    explored = explore(matchup, side)
    front, tree = explored.frontier, explored.grown.tree
    exact = {h: v(_node(raw, h)) for h in own_histories(raw["root"], side)}
    values = in_use(raw, matchup, asked.histories, side)
    every = [(worth(raw, side, b, values), len(b)) for b in books(raw["root"], side)]
    for j, (cost, size, value) in enumerate(zip(front.cost, front.size, front.value, strict=True)):
        book = frozenset(tree.history(int(k)) for k in front.book(j))
        assert value == pytest.approx(worth(raw, side, book, exact), abs=1e-9)
        assert value - cost * size == pytest.approx(max(x - cost * n for x, n in every), abs=1e-9)
    known = front.unprepared
    for n, (k, gain) in enumerate(zip(front.order, front.gain, strict=True), 1):
        known += gain
        part = frozenset(tree.history(int(i)) for i in front.order[:n])
        assert known == pytest.approx(worth(raw, side, part, exact), abs=1e-9), tree.history(int(k))


@settings(max_examples=60, deadline=None)
@given(games(), SIDES, COSTS, st.integers(1, 12), DOUBTS)
def test_a_cut_growth_is_judged_and_its_bound_holds(
    raw: Raw, side: Side, cost: float, most: int, doubt: float
) -> None:
    matchup, asked = matchup_of(raw, doubt=doubt)
    best = prepare(matchup, side, cost, limits=Limits(histories=most)).response
    values = in_use(raw, matchup, asked.histories, side)
    nets = [worth(raw, side, b, values) - cost * len(b) for b in books(raw["root"], side)]
    assert best.upper >= max(nets) - 1e-9


@settings(max_examples=150, deadline=None)
@given(games(), SIDES, COSTS, st.integers(0, 60))
def test_a_growth_that_is_cut_short_loses_no_judged_choice(
    raw: Raw, side: Side, cost: float, answers: int
) -> None:
    """Stopped after so many values: what was judged before the tree was grown again still counts."""
    matchup, _ = matchup_of(raw)
    assert matchup.judge is not None
    stop, now = Stop(), [0]

    def ticking(state: Any) -> float:
        now[0] += 1
        stop.asked = stop.asked or now[0] > answers
        return matchup.value.values([state])[0].mean

    pace = Pace(Limits(window=1), stop, None, None, None)
    nets: list[float] = []
    last: Prepared | None = None

    def grow(value: Evaluator[Any], first: bool) -> Prepared:
        nonlocal last
        if last is not None:  # all that it rests on is judged
            nets.append(last.net)
        plain = replace(matchup, judge=None, value=value)
        last = best_at(plain, side, cost, None, pace)
        return last

    def again(before: Prepared, grown: Grown) -> Prepared:
        nonlocal last
        last = chosen_on(grown, side, cost, None)
        return last

    first = ValueFunction(ticking)
    settled = settle(matchup.game, first, matchup.judge, grow, again, stop, lambda text: None)
    assert settled.choice.net >= max(nets, default=0.0) - 1e-9 or not stop.asked
    assert not nets or settled.judged.left == 0
    assert not stop.asked or settled.choice.grown.ending == "interrupted"


@settings(max_examples=60, deadline=None)
@given(games(), SIDES, COSTS, st.integers(0, 6))
def test_no_time_for_all_of_it(raw: Raw, side: Side, cost: float, answers: int) -> None:
    """Stopped after so many answers of the judge: what is left is told, and the bound holds."""
    matchup, asked = matchup_of(raw)
    assert matchup.judge is not None
    stop = Stop()

    class Slow:
        def prefetch(self, states: Sequence[Any]) -> None: ...

        def cancel(self, states: Sequence[Any]) -> None: ...

        def values(self, states: Sequence[Any]) -> Sequence[Value]:
            found = asked.values(states)
            stop.asked = len(asked.histories) > answers
            return found

    slow = replace(matchup, judge=Judge(Slow(), matchup.judge.fresh))
    prepared = prepare(slow, side, cost, stop=stop)
    best, judged = prepared.response, prepared.judged
    assert judged is not None
    if not stop.asked:
        assert judged.left == 0
        return
    assert prepared.grown.ending == "interrupted"
    assert judged.fresh is None
    values = in_use(raw, matchup, list(asked.histories), side)
    book = chosen(prepared)
    assert best.value == pytest.approx(worth(raw, side, book, values), abs=1e-9)
    nets = [worth(raw, side, b, values) - cost * len(b) for b in books(raw["root"], side)]
    assert best.upper >= max(nets) - 1e-9
    ends = response.exits(prepared.tree, side, best.nodes)
    own = {prepared.tree.history(int(k)) for k in ends if prepared.tree.player[k] == side}
    assert judged.left >= len(own - set(asked.histories))


@settings(max_examples=60, deadline=None)
@given(games(), SIDES, COSTS, st.sampled_from([None, 2]), st.sampled_from([0.02, 0.1, 0.5]))
def test_doubt_finds_what_the_cheap_values_underrate(
    raw: Raw, side: Side, cost: float, budget: int | None, doubt: float
) -> None:
    """No cheap value is off by more than a half: doubted that much, the book is best by the truth."""
    matchup, asked = matchup_of(raw, doubt=doubt)
    prepared = prepare(matchup, side, cost, budget)
    best, judged, histories = prepared.response, prepared.judged, list(asked.histories)
    assert judged is not None
    assert prepared.grown.ending == "complete"
    assert judged.searches == len(set(histories)) == len(histories)
    exact = {h: v(_node(raw, h)) for h in own_histories(raw["root"], side)}
    assert best.value == pytest.approx(worth(raw, side, chosen(prepared), exact), abs=1e-9)
    small = [b for b in books(raw["root"], side) if budget is None or len(b) <= budget]
    true = max(worth(raw, side, b, exact) - cost * len(b) for b in small)
    values = in_use(raw, matchup, histories, side)
    used = max(worth(raw, side, b, values) - cost * len(b) for b in small)
    assert best.net == pytest.approx(used, abs=1e-9)
    assert best.net <= true + 1e-9
    if doubt == 0.5:
        assert best.net == pytest.approx(true, abs=1e-9)
    without = prepare(matchup_of(raw)[0], side, cost, budget)
    assert without.judged is not None
    assert judged.before == without.judged.before
    assert best.net >= without.response.net - 1e-9


def test_a_trap_that_the_cheap_values_miss() -> None:
    """To play "a" is worth a book's move, but the cheap value after it is half a point too low."""
    game = tabular.parse({"format": "preplay-game/1", "root": _TRAP})
    exact = Exact(game, (BASE, BASE))
    cheap: ValueFunction[tabular.Node] = ValueFunction(lambda node: 0.25 if node.history else 0.5)
    for doubt, net, size in ((0.0, 0.5, 0), (0.2, 0.5, 0), (0.3, 0.74, 1)):
        judge: Judge[Any] = Judge(exact, exact, doubt)
        matchup: Matchup[Any] = Matchup("test", game, (BASE, BASE), (PREP, PREP), cheap, judge)
        best = prepare(matchup, 1, 0.01).response
        assert best.net == pytest.approx(net), doubt
        assert best.size == size


@settings(max_examples=40, deadline=None)
@given(games(), SIDES, COSTS, st.integers(0, 8))
def test_no_time_to_doubt(raw: Raw, side: Side, cost: float, answers: int) -> None:
    """Stopped while it looks for what is underrated: the judged book stays, and the ending is told."""
    matchup, asked = matchup_of(raw)
    assert matchup.judge is not None
    stop = Stop()

    class Slow:
        def values(self, states: Sequence[Any]) -> Sequence[Value]:
            found = asked.values(states)
            stop.asked = stop.asked or len(asked.histories) > answers
            return found

    slow = replace(matchup, judge=Judge(Slow(), matchup.judge.fresh, 0.5))
    prepared = prepare(slow, side, cost, stop=stop)
    best, histories = prepared.response, list(asked.histories)
    assert (prepared.grown.ending == "interrupted") == stop.asked
    values = in_use(raw, matchup, histories, side)
    assert best.value == pytest.approx(worth(raw, side, chosen(prepared), values), abs=1e-9)


def test_a_price_that_is_shared_is_seen_again_where_a_judged_value_fell() -> None:
    """Two histories of one position: neither pays alone, by the judge's values both together do."""
    end = {"player": 1, "value": 0.9, "actions": {
        "wins": {"base": 0.5, "prep": 1.0, "to": {"utility": 1.0}},
        "loses": {"base": 0.5, "prep": 0.0, "to": {"utility": 0.0}},
    }}  # fmt: skip
    root = {"player": "chance", "actions": {x: {"prob": 0.5, "to": end} for x in "ab"}}
    game = tabular.parse({"format": "preplay-game/1", "root": root})
    exact, cheap = Exact(game, (BASE, BASE)), tabular.TabularValue()
    for doubt in (0.0, 0.1):
        matchup: Matchup[Any] = Matchup(
            "test", game, (BASE, BASE), (PREP, PREP), cheap, Judge(exact, exact, doubt),
            position=lambda node: node.player if node.player == 1 else node.history,
        )  # fmt: skip
        best = prepare(matchup, 1, 0.3).response
        assert [best.net, best.upper, best.size] == pytest.approx([0.7, 0.7, 1])


def test_opinions_ask_only_about_what_nobody_judged() -> None:
    game = tabular.parse({"format": "preplay-game/1", "root": _LINE})
    asked = Asked(ValueFunction(lambda node: 0.25))
    root = game.root()
    after = game.next(root, "a")
    opinions = Opinions(game, asked, {("a",): Value(0.75, 0.1)})
    assert opinions.values([after, root, after]) == [(0.75, 0.1), (0.25, 0.0), (0.75, 0.1)]
    assert asked.histories == [()]
    assert opinions.values([]) == []


def test_a_synthetic_game_with_an_exact_judge() -> None:
    changes = ("value=estimate", "judge=exact", "cost=0.002")
    with open_matchup("synthetic", changes) as matchup:
        prepared = prepare(matchup, 1)
    judged = prepared.judged
    assert judged is not None
    assert judged.rounds >= 1
    assert judged.after == pytest.approx(judged.fresh, abs=1e-9)
    with open_matchup("synthetic", ("cost=0.002",)) as matchup:
        true = prepare(matchup, 1).response
    assert prepared.response.net <= true.net + 1e-9


_LINE: Raw = {
    "player": 1,
    "actions": {
        "a": {
            "base": 1.0,
            "prep": 1.0,
            "to": {"player": 1, "actions": {"b": {"base": 1.0, "prep": 1.0, "to": {"utility": 1.0}}}},
        }
    },
}


_TRAP: Raw = {
    "player": 1,
    "actions": {
        "a": {
            "base": 0.0,
            "prep": 1.0,
            "to": {
                "player": 1,
                "actions": {
                    "wins": {"base": 1.0, "prep": 0.0, "to": {"utility": 0.75}},
                    "loses": {"base": 0.0, "prep": 1.0, "to": {"utility": 0.0}},
                },
            },
        },
        "b": {"base": 1.0, "prep": 0.0, "to": {"utility": 0.5}},
    },
}


def _node(raw: Raw, history: History) -> Raw:
    node: Raw = raw["root"]
    for action in history:
        node = node["actions"][action]["to"]
    return node


def test_the_error_is_what_moved_or_the_spread_of_its_parts() -> None:
    assert error_of(-0.5, np.array([0.1, -0.1])) == 0.5
    assert error_of(0.0, np.array([0.3, -0.4])) == pytest.approx(1.96 * 0.5)
