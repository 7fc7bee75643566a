"""Choosing and judging in turns, and the book of first choices beside it: never worse, and checked."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, count_plans, games, own_histories, plans

from preplay import response
from preplay.game import Side, walk
from preplay.games import tabular
from preplay.growth import Limits
from preplay.judging import Judge
from preplay.matchup import Matchup
from preplay.preparation import Prepared, prepare
from preplay.preparation.comparing import best_of, ladder
from preplay.value import Exact, Value, ValueFunction

BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
SIDES, COSTS = st.sampled_from([1, 2]), st.sampled_from([0.003, 0.01, 0.03])
DEVIATIONS = st.sampled_from([1, 2, 3, None])
MENUS = games(depth=5, own=12, menus=True)
MOST = 2000
"""Books to enumerate."""


def guess(history: History) -> float:
    """A value that has nothing to do with the game."""
    return hashlib.sha256(repr(history).encode()).digest()[0] / 255


def matchup_of(
    raw: Raw, most: int | None, judged: bool = True, enumerable: bool = True
) -> tuple[Matchup[Any], set[History]]:
    """A game with menus and noisy values, and what its judge, who knows the exact ones, was asked."""
    game = tabular.parse(raw)
    exact = Exact(game, (BASE, BASE))
    asked: set[History] = set()

    class Asked:
        def values(self, states: Sequence[tabular.Node]) -> list[Value]:
            new = [state.history for state in states]
            assert asked.isdisjoint(new), "the judge was asked twice"
            asked.update(new)
            return list(exact.values(states))

    def noisy(node: tabular.Node) -> float:
        return 0.5 * exact.values([node])[0].mean + 0.5 * guess(node.history)

    offers = tuple(tabular.TabularMenus() if offered else None for offered in game.offers)
    judge: Judge[Any] | None = Judge(Asked(), exact) if judged else None
    matchup: Matchup[Any] = Matchup(
        "test", game, (BASE, BASE), (PREP, PREP), ValueFunction(noisy), judge, enumerable=enumerable,
        menus=(offers[0], offers[1]), deviations=(most, most),
    )  # fmt: skip
    return matchup, asked


def in_use(raw: Raw, matchup: Matchup[Any], asked: set[History], side: Side) -> Raw:
    """The game with the values in use written into it: the judge's where it was asked."""
    told = copy.deepcopy(raw)
    exact = Exact(matchup.game, matchup.base)
    for history in own_histories(raw["root"], side):
        node = told["root"]
        for action in history:
            node = node["actions"][action]["to"]
        oracle = exact if history in asked else matchup.value
        node["value"] = oracle.values([walk(matchup.game, history)])[0].mean
    return told


def best_net(raw: Raw, side: int, cost: float, most: int | None, budget: float = math.inf) -> float:
    every = plans(raw["root"], side, most)
    return max(value - cost * len(plan) for value, plan in every if len(plan) <= budget)


def climbed(most: int | None) -> list[int | None]:
    """The classes that are looked at: where deviations are spent prep may mix its moves, so that fewer of
    them may be better."""
    return [*range(2 if most is None else most), most]


def rests_on(prepared: Prepared) -> set[History]:
    tree, side = prepared.tree, prepared.side
    ends = response.exits(tree, side, prepared.book)
    return {tree.history(int(k)) for k in ends if tree.player[k] == side}


def prep_leads(raw: Raw, side: int) -> bool:
    """Whether prep plays the first choice of every menu for sure, as engines do."""

    def visit(node: Raw) -> bool:
        if "utility" in node:
            return True
        edges = node["actions"].values()
        marked = [edge["prep"] for edge in edges if edge.get("menu")] if node["player"] == side else []
        return (not marked or max(marked) == 1.0) and all(visit(edge["to"]) for edge in edges)

    return visit(raw["root"])


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS)
def test_the_rounds_end_with_the_best_book_of_the_class(
    raw: Raw, side: Side, cost: float, most: int | None
) -> None:
    matchup, asked = matchup_of(raw, most)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    prepared = prepare(matchup, side, cost)
    best, fixed, judged = prepared.response, prepared.fixed, prepared.judged
    assert fixed is not None
    assert judged is not None
    told = in_use(raw, matchup, asked, side)
    nets = [best_net(told, side, cost, few) for few in climbed(most)]
    assert rests_on(prepared) <= asked
    assert judged.left == 0
    assert judged.searches == len(asked)  # of all books that were tried, as the rounds are
    assert 1 <= judged.rounds <= judged.searches
    assert judged.after == best.value == pytest.approx(judged.fresh, abs=1e-9)
    assert best.net == pytest.approx(max(nets), abs=1e-9)
    assert fixed.net - 1e-9 <= min(best.net, nets[0])
    assert best.upper >= best.net
    if prep_leads(raw, side):
        assert best.net == pytest.approx(nets[-1], abs=1e-9)
        assert not fixed.played


@settings(max_examples=15, deadline=None)
@given(MENUS, SIDES, st.integers(1, 4), DEVIATIONS, st.booleans(), st.sampled_from([1e-9, 0.01]))
def test_a_budget_alone_is_used_to_the_last_place(
    raw: Raw, side: Side, budget: int, most: int | None, judged: bool, gap: float
) -> None:
    """On a game that is not grown whole, prices are lowered until no book within the budget is better."""
    matchup, asked = matchup_of(raw, most, judged, enumerable=False)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    prepared = prepare(matchup, side, budget=budget, limits=Limits(gap=gap))
    best = prepared.response
    assert prepared.grown.ending in ("complete", "gap")
    assert best.size <= budget
    assert not judged or rests_on(prepared) <= asked
    told = in_use(raw, matchup, asked, side)
    # Where prep does not lead its menus, smaller classes are none of the one that the bound is about:
    # what the judge says of the last may then make more of a smaller one.
    held = climbed(most) if prep_leads(raw, side) or not judged else [most]
    true = max(best_net(told, side, 0.0, few, budget) for few in held)
    assert best.value >= true - gap - 1e-6
    assert max(best.value, true - 1e-9) <= best.upper <= best.value + gap + 1e-6
    assert best.value <= max(best_net(told, side, 0.0, few, budget) for few in climbed(most)) + 1e-6


@settings(max_examples=40, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS)
def test_doubted_enough_it_is_the_best_book_of_the_class_by_the_truth(
    raw: Raw, side: Side, cost: float, most: int | None
) -> None:
    """No cheap value is off by more than a half, and the judge's are exact."""
    matchup, asked = matchup_of(raw, most)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    assert matchup.judge is not None
    prepared = prepare(replace(matchup, judge=replace(matchup.judge, doubt=0.5)), side, cost)
    exact = in_use(raw, matchup, set(own_histories(raw["root"], side)), side)
    true = best_net(exact, side, cost, most)
    assert rests_on(prepared) <= asked
    if prep_leads(raw, side):
        assert prepared.response.net == pytest.approx(true, abs=1e-9)
    else:  # the book of first choices may mix its moves
        assert prepared.response.net >= true - 1e-9


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS, st.integers(1, 40), st.booleans())
def test_never_worse_than_the_fixed_book_wherever_it_is_cut(
    raw: Raw, side: Side, cost: float, most: int | None, histories: int, judged: bool
) -> None:
    matchup, asked = matchup_of(raw, most, judged)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    limits = Limits(histories=histories)
    prepared = prepare(matchup, side, cost, limits=limits)
    plain = prepare(matchup_of(raw, 0, judged)[0], side, cost, limits=limits)
    assert prepared.fixed is not None
    assert plain.fixed is None
    assert prepared.fixed.net == pytest.approx(plain.response.net, abs=1e-12)
    assert prepared.response.net >= plain.response.net - 1e-12
    if prepared.fixed.played:
        assert prepared.choice is None
        assert prepared.response.net == prepared.fixed.net
    told = in_use(raw, matchup, asked, side)
    assert prepared.response.upper >= best_net(told, side, cost, most) - 1e-9


def far_trap(left: int, played: str = "") -> Raw:
    """A line of own moves, three at each: only b and then first choices to the end win."""
    if not left:
        return {"utility": 1.0 if played == f"b{'a' * (len(played) - 1)}" else 0.2}
    moves: Raw = {m: {"base": float(m == "a"), "prep": float(m == "a"), "menu": True} for m in "abc"}
    return {
        "player": 1,
        "actions": {m: edge | {"to": far_trap(left - 1, played + m)} for m, edge in moves.items()},
    }


@pytest.mark.parametrize("histories", [10, 40, 70, 100, 200, None])
def test_what_one_deviation_finds_is_not_lost_among_more(histories: int | None) -> None:
    game = tabular.parse({"format": tabular.FORMAT, "root": far_trap(5)})
    menus, limits = (tabular.TabularMenus(), None), Limits(histories=histories, window=1)
    nets = []
    for most in (0, 1, 2, 3, 4, 5, None):
        matchup: Matchup[Any] = Matchup(
            "test", game, (BASE, BASE), (PREP, PREP), ValueFunction(lambda _: 0.2), enumerable=True,
            menus=menus, deviations=(most, None),
        )  # fmt: skip
        prepared = prepare(matchup, 1, 0.01, limits=limits)
        nets.append(prepared.response.net)
        assert prepared.response.upper >= (0.95 if most != 0 else 0.2) - 1e-9
    assert nets == sorted(nets)
    assert nets[1:] == pytest.approx([0.2 if histories == 10 else 0.95] * 6)


@settings(max_examples=30, deadline=None)
@given(MENUS, SIDES, COSTS, st.integers(1, 3), st.integers(1, 60), st.booleans())
def test_more_deviations_are_never_worse_wherever_it_is_cut(
    raw: Raw, side: Side, cost: float, most: int, histories: int, judged: bool
) -> None:
    limits = Limits(histories=histories)
    matchup, asked = matchup_of(raw, most, judged)
    assume(matchup.menus[side - 1] is not None and count_plans(raw["root"], side, most) <= MOST)
    more = prepare(matchup, side, cost, limits=limits)
    less = prepare(matchup_of(raw, most - 1, judged)[0], side, cost, limits=limits)
    assert more.response.net >= less.response.net - response.AGREEMENT
    told = in_use(raw, matchup, asked, side)
    assert more.response.upper >= best_net(told, side, cost, most) - 1e-9


@settings(max_examples=20, deadline=None)
@given(MENUS, SIDES, COSTS, st.integers(1, 40), st.booleans())
def test_a_ladder_that_was_cut_short_goes_on_where_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    raw: Raw,
    side: Side,
    cost: float,
    histories: int,
    judged: bool,
) -> None:
    offered = matchup_of(raw, 2, judged)[0].menus[side - 1] is not None
    folder = tmp_path_factory.mktemp("run")
    kept = folder / "checkpoint.npz"
    prepare(
        matchup_of(raw, 2, judged)[0], side, cost, limits=Limits(histories=histories), checkpoint=kept
    )
    names = {"fixed.npz", "deviations-1.npz"} if offered else set()
    assert {path.name for path in folder.iterdir()} == {"checkpoint.npz"} | names
    later = prepare(matchup_of(raw, 2, judged)[0], side, cost, checkpoint=kept)
    once = prepare(matchup_of(raw, 2, judged)[0], side, cost)
    assert later.response.nodes.tolist() == once.response.nodes.tolist()
    assert (later.response.net, later.response.upper) == (once.response.net, once.response.upper)
    assert (later.fixed, later.judged) == (once.fixed, once.judged)


@pytest.mark.parametrize(("most", "below"), [(0, 0), (1, 1), (2, 2), (3, 3), (9, 4), (None, 2)])
def test_the_class_asked_for_has_at_least_half_of_the_time(most: int | None, below: int) -> None:
    offered = {"a": {"base": 1, "prep": 1, "menu": True, "to": {"utility": 1}}}
    raw: Raw = {"format": tabular.FORMAT, "root": {"player": 1, "actions": offered}}
    matchup = matchup_of(raw, most)[0]
    rungs = ladder(matchup, 1)
    assert [rung.matchup.deviations for rung in rungs] == [(few, most) for few in (*range(below), most)]
    left = math.prod(1.0 - rung.part for rung in rungs[:-1])
    assert left > 0.5
    assert rungs[-1].part == 1.0
    assert len(ladder(matchup, 2)) == 1  # who has no menu climbs nothing


def test_what_ends_before_the_first_decision_is_no_better_book(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The start is rated 0.9, but what the side then has is 0.3: one is no promise beside the other."""
    mine = {"player": 1, "value": 0.3, "actions": {"a": {"base": 1, "prep": 1, "to": {"utility": 0.3}}}}
    root = {"player": 2, "value": 0.9, "actions": {"x": {"base": 1, "prep": 1, "to": mine}}}
    game = tabular.parse({"format": "preplay-game/1", "root": root})
    matchup: Matchup[Any] = Matchup(
        "test", game, (BASE, BASE), (PREP, PREP), tabular.TabularValue(), enumerable=True
    )
    short, whole = (prepare(matchup, 1, 0.01, limits=limits) for limits in (Limits(histories=1), None))
    assert (short.response.net, short.response.upper) == (0.9, 1.0)  # no book nets more than the bound
    for books in ([short, whole], [whole, short]):
        assert best_of(books).response.net == 0.3
    file = tmp_path / "game.json"
    file.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    words = ("prepare", file, "--side", "1", "--cost", "0.01", "--quiet")
    told = [preplay(capsys, *words, *more)[1] for more in (("--histories", "1"), ())]
    assert "histories, before 1 first moves: values are the start's" in " ".join(told[0].split())
    assert "first moves" not in told[1]


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_an_option_that_the_judge_lets_come_back_is_looked_at_again(radius: float) -> None:
    """First a and b beat d; the judge says that they are worse, and may be unsure of the start."""
    ends = {"c": 0.1, "a": 0.9, "b": 0.8, "d": 0.6}
    told = ends | {"a": 0.52, "b": 0.52}

    def edge(to: Raw, base: float, prep: float, menu: bool = False) -> Raw:
        return {"base": base, "prep": prep, "to": to, "menu": menu}

    def after(move: str) -> Raw:
        many = 20 if move in "ab" else 1
        last: Raw = {"player": 1, "actions": {"end": edge({"utility": 0.5}, 1, 1)}}
        return {"player": 2, "actions": {str(k): edge(last, 1 / many, 1 / many) for k in range(many)}}

    moves = {m: edge(after(m), 0.25, float(m == "c"), menu=True) for m in ends}
    game = tabular.parse({"format": tabular.FORMAT, "root": {"player": 1, "actions": moves}})

    def says(values: dict[str, float], off: float) -> Any:
        class Says:
            def values(self, states: Sequence[tabular.Node]) -> list[Value]:
                return [Value(values[s.history[0]]) if s.history else Value(0.5, off) for s in states]

        return Says()

    menus = tabular.TabularMenus()
    judge = Judge(says(told, radius), says(told, 0.0))
    matchup = Matchup(
        "reversed", game, (BASE, BASE), (PREP, PREP), says(ends, 0.0),
        judge=judge, menus=(menus, None), deviations=(1, None),
    )  # fmt: skip
    found = prepare(matchup, 1, 0.06)
    assert found.response.net == pytest.approx(0.54)
