"""Books that choose their moves against the enumeration of all sets and all choices from the menus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from randomgames import History, Plan, Raw, count_plans, games, plans

from preplay import response
from preplay.choice import Choice, choose
from preplay.errors import GameError, InputError
from preplay.game import Side
from preplay.games import tabular
from preplay.growth import Goal, Grown, Lemma1, Limits, Pays, grow
from preplay.policy import Choices
from preplay.tree import Tree, check_arrays
from preplay.value import Value

SIDES = st.sampled_from([1, 2])
COSTS = st.sampled_from([0.003, 0.01, 0.03, 0.1])
DEVIATIONS = st.sampled_from([0, 1, 2, 3, None])
MENUS = games(depth=5, own=12, menus=True)
GUESSED = games(depth=4, own=12, estimates=True, menus=True)
MOST = 4000
"""Books to enumerate."""


def grown(raw: Raw, side: Side, goal: Goal, most: int | None, **more: Any) -> Grown:
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    choices = Choices(tabular.TabularMenus(), most) if game.offers[side - 1] else None
    value = tabular.TabularValue()
    done = grow(game, side, (base, base), prep, value, goal, choices=choices, **more)
    check_arrays(done.tree)
    return done


def best_net(raw: Raw, side: int, cost: float, most: int | None, budget: int | None = None) -> float:
    every = plans(raw["root"], side, most)
    return max(v - cost * len(p) for v, p in every if budget is None or len(p) <= budget)


def plan_of(choice: Choice) -> Plan:
    """What a chosen book plays, in the words of the enumeration."""
    tree = choice.tree
    plan: Plan = {}
    for k in choice.best.nodes.tolist():
        decided = choice.decisions.get(k)
        plan[tree.history(k)] = None if decided is None else decided.options[decided.played].move
    return plan


@settings(max_examples=80, deadline=None)
@given(MENUS | GUESSED, SIDES, COSTS, DEVIATIONS)
def test_the_best_of_all_sets_and_choices(raw: Raw, side: Side, cost: float, most: int | None) -> None:
    assume(count_plans(raw["root"], side, most) <= MOST)
    choice = choose(grown(raw, side, Pays(cost), most).tree, side, cost)
    best = choice.best
    assert best.net == pytest.approx(best_net(raw, side, cost, most), abs=1e-9)
    assert best.upper == pytest.approx(best.net, abs=1e-9)
    assert choice.tree.choice is None
    plan = plan_of(choice)
    worth = [value for value, other in plans(raw["root"], side, most) if other == plan]
    assert worth == [pytest.approx(best.value, abs=1e-9)]
    assert response.evaluate(choice.tree, side, best.nodes) == pytest.approx(best.value, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS, st.integers(0, 5), st.booleans())
def test_a_budget_is_a_hard_limit(
    raw: Raw, side: Side, cost: float, most: int | None, budget: int, free: bool
) -> None:
    assume(count_plans(raw["root"], side, most) <= MOST)
    cost = 0.0 if free else cost
    tree = grown(raw, side, Pays(cost, limited=True), most).tree
    best = choose(tree, side, cost, budget).best
    assert best.size <= budget
    assert best.net == pytest.approx(best_net(raw, side, cost, most, budget), abs=1e-9)
    assert best.upper == pytest.approx(best.net, abs=1e-9)
    if cost > 0.0:  # grown for books of any size, it has given up what only a limit makes best
        few = choose(grown(raw, side, Pays(cost), most).tree, side, cost, budget).best
        assert few.size <= budget
        assert few.net <= best.net + 1e-9 <= few.upper + 2e-9


UNSEEN: Raw = {
    "format": "preplay-game/1",
    "root": {
        "player": 1,
        "actions": {"a0": {"base": 1.0, "prep": 1.0, "to": {"utility": 0.0}}},
        "value": 0.1,
    },
}
"""What nobody looked into may be worth more than it seems, before anything is memorized."""


@settings(max_examples=80, deadline=None)
@given(MENUS | GUESSED, SIDES, COSTS, DEVIATIONS, st.integers(1, 60), st.integers(1, 12))
@example(UNSEEN, 2, 0.003, 0, 1, 1)
def test_stopped_at_any_moment_the_bound_holds(
    raw: Raw, side: Side, cost: float, most: int | None, histories: int, window: int
) -> None:
    assume(count_plans(raw["root"], side, most) <= MOST)
    limits = Limits(histories=histories, window=window)
    part = choose(grown(raw, side, Pays(cost), most, limits=limits).tree, side, cost).best
    truth = best_net(raw, side, cost, most)
    assert truth <= part.upper + 1e-9
    if not guessed(raw["root"]):  # else a book that nobody could look into is valued at the root
        assert part.net - 1e-9 <= truth
    tree = grown(raw, side, Pays(cost, limited=True), most, limits=limits).tree
    few = choose(tree, side, cost, 2).best
    assert best_net(raw, side, cost, most, 2) <= few.upper + 1e-9


def guessed(node: Raw) -> bool:
    return "value" in node or any(guessed(edge["to"]) for edge in node.get("actions", {}).values())


@settings(max_examples=40, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS, st.integers(1, 60), st.integers(1, 12))
def test_a_growth_cut_short_goes_on(
    tmp_path_factory: pytest.TempPathFactory,
    raw: Raw,
    side: Side,
    cost: float,
    most: int | None,
    histories: int,
    window: int,
) -> None:
    whole = choose(grown(raw, side, Pays(cost), most).tree, side, cost).best
    checkpoint = tmp_path_factory.mktemp("growth") / "checkpoint.npz"
    limits = Limits(histories=histories, window=window)
    grown(raw, side, Pays(cost), most, limits=limits, checkpoint=checkpoint)
    resumed = grown(raw, side, Pays(cost), most, checkpoint=checkpoint)
    assert resumed.ending == "complete"
    again = choose(resumed.tree, side, cost).best
    assert again.net == pytest.approx(whole.net, abs=1e-12)
    assert again.upper == pytest.approx(whole.net, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(MENUS, SIDES, COSTS)
def test_more_freedom_is_never_worse(raw: Raw, side: Side, cost: float) -> None:
    assume(all(first_is_prep(node) for node in decisions(raw["root"], side)))
    nets = []
    for most in (0, 1, 2, 3, None):
        nets.append(choose(grown(raw, side, Pays(cost), most).tree, side, cost).best.net)
    fixed = response.best_book(grown(raw, side, Pays(cost), 0).tree, side, cost)
    assert nets[0] == fixed.net
    assert np.all(np.diff(nets) >= -1e-12)


def decisions(node: Raw, side: int) -> list[Raw]:
    if "utility" in node:
        return []
    below = [found for edge in node["actions"].values() for found in decisions(edge["to"], side)]
    return [node, *below] if node["player"] == side else below


def first_is_prep(node: Raw) -> bool:
    marked = [edge["prep"] for edge in node["actions"].values() if edge.get("menu")]
    return not marked or max(marked) == 1.0


@settings(max_examples=50, deadline=None)
@given(games(depth=6, own=60, menus=True), SIDES, COSTS)
def test_without_deviations_it_is_todays_tree(raw: Raw, side: Side, cost: float) -> None:
    none = grown(raw, side, Pays(cost), 0)
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    plain = grow(game, side, (base, base), prep, tabular.TabularValue(), Pays(cost))
    assert same(none.tree, plain.tree)
    assert (none.questions, none.histories) == (plain.questions, plain.histories)


def same(one: Tree, two: Tree) -> bool:
    columns = ("parent", "player", "base", "prep", "value", "radius", "open", "action")
    return (one.names, one.choice) == (two.names, two.choice) and all(
        np.array_equal(getattr(one, c), getattr(two, c), equal_nan=c in ("base", "prep", "value"))
        for c in columns
    )


@settings(max_examples=60, deadline=None)
@given(games(depth=6, own=60, menus=True), SIDES, COSTS, DEVIATIONS, st.integers(1, 40))
def test_pruning_loses_nothing(raw: Raw, side: Side, cost: float, most: int | None, window: int) -> None:
    pruned = grown(raw, side, Pays(cost), most, limits=Limits(window=window))
    assert pruned.ending == "complete"
    plain = grown(raw, side, Lemma1(cost), most)
    ours, theirs = (choose(done.tree, side, cost).best for done in (pruned, plain))
    assert ours.net == pytest.approx(theirs.net, abs=1e-9)
    assert ours.upper == pytest.approx(theirs.upper, abs=1e-9)
    assert pruned.histories <= plain.histories


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS)
def test_every_option_is_told_with_what_it_is_worth(
    raw: Raw, side: Side, cost: float, most: int | None
) -> None:
    assume(count_plans(raw["root"], side, most) <= MOST)
    choice = choose(grown(raw, side, Pays(cost), most).tree, side, cost)
    every = list(plans(raw["root"], side, most))
    net = choice.best.net
    reach = dict(zip(choice.best.nodes.tolist(), choice.best.reach.tolist(), strict=True))
    for k, decided in choice.decisions.items():
        history = choice.tree.history(k)
        before = {h: m for h, m in plan_of(choice).items() if not begins(history, h)}
        played = decided.options[decided.played]
        for option in decided.options:
            # The rest of the book stays; from here on the option and what is best after it is played.
            others = [
                value - cost * len(plan)
                for value, plan in every
                if plan.get(history, "") == option.move
                and {h: m for h, m in plan.items() if not begins(history, h)} == before
            ]
            told = net + reach[k] * (option.worth - played.worth)
            most_told = net + reach[k] * (option.most - played.worth)
            assert told - 1e-9 <= max(others) <= most_told + 1e-9
        assert played.most == pytest.approx(played.worth, abs=1e-9)
        assert played.worth >= max(option.worth for option in decided.options) - 1e-9


def raised(node: Raw, side: Side, by: float) -> Raw:
    """A game in which stopping is worth so much more to a side, at most a win."""
    if "utility" in node:
        return node
    edges = {name: edge | {"to": raised(edge["to"], side, by)} for name, edge in node["actions"].items()}
    if node["player"] == "chance":
        return node | {"actions": edges}
    better = min(1.0, node["value"] + by) if side == 1 else max(0.0, node["value"] - by)
    return node | {"actions": edges, "value": better}


@settings(max_examples=60, deadline=None)
@given(games(depth=4, own=12, estimates="everywhere", menus=True), SIDES, COSTS, DEVIATIONS)
def test_no_book_exceeds_what_an_option_may_be_worth_where_values_are_uncertain(
    raw: Raw, side: Side, cost: float, most: int | None
) -> None:
    """Each estimate may be 0.2 off, that of the history itself too."""
    assume(count_plans(raw["root"], side, most) <= MOST)
    game, off = tabular.parse(raw), 0.2
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    choices = Choices(tabular.TabularMenus(), most) if game.offers[side - 1] else None

    class Unsure:
        def values(self, states: Sequence[tabular.Node]) -> list[Value]:
            return [Value(state.value, off) for state in states]

    tree = grow(game, side, (base, base), prep, Unsure(), Pays(cost), choices=choices).tree
    choice = choose(tree, side, cost)
    every = {_key(plan): value for value, plan in plans(raised(raw["root"], side, off), side, most)}
    assert choice.best.upper >= max(value - cost * len(plan) for plan, value in every.items()) - 1e-9
    reach = dict(zip(choice.best.nodes.tolist(), choice.best.reach.tolist(), strict=True))
    value = choice.tree.value if side == 1 else 1.0 - choice.tree.value
    for k, decided in choice.decisions.items():
        history = choice.tree.history(k)
        before = _key({h: m for h, m in plan_of(choice).items() if not begins(history, h)})
        stopping = min(1.0, value[k] + off) - every[before] / reach[k]
        for option in decided.options:
            most_told = max(
                stopping + (earned - cost * (len(plan) - len(before))) / reach[k]
                for plan, earned in every.items()
                if (history, option.move) in plan
                and {(h, m) for h, m in plan if not begins(history, h)} == before
            )
            assert most_told <= option.most + 1e-9


def _key(plan: Plan) -> frozenset[tuple[History, str | None]]:
    return frozenset(plan.items())


def _three_in_a_row() -> Raw:
    """The first gains 0.1; the third gains as much again, but only together with the second."""

    def edge(base: float, prep: float, to: Raw, menu: bool = False) -> Raw:
        return {"base": base, "prep": prep, "to": to, "menu": menu}

    third = {"a": edge(0, 0, {"utility": 0.0}, True), "b": edge(1, 1, {"utility": 0.1})}
    second = {"a": edge(1, 1, {"player": 2, "actions": third})}
    first = {"a": edge(1, 0, {"utility": 0.2}), "b": edge(0, 1, {"player": 2, "actions": second}, True)}
    return {"format": tabular.FORMAT, "root": {"player": 2, "actions": first}}


@settings(max_examples=60, deadline=None)
@given(MENUS, SIDES, COSTS, DEVIATIONS, st.integers(1, 3))
@example(_three_in_a_row(), 2, 0.003, 1, 2)
def test_within_a_budget_options_are_compared_with_as_many_places(
    raw: Raw, side: Side, cost: float, most: int | None, budget: int
) -> None:
    assume(count_plans(raw["root"], side, most) <= MOST)
    tree = grown(raw, side, Pays(cost, limited=True), most).tree
    choice = choose(tree, side, cost, budget)
    every = list(plans(raw["root"], side, most))
    book = plan_of(choice)
    # Even a budget that is not used up can bind: a better book may need more places than are left.
    places = budget if choose(tree, side, cost).best.size > budget else math.inf
    reach = dict(zip(choice.best.nodes.tolist(), choice.best.reach.tolist(), strict=True))
    for k, decided in choice.decisions.items():
        history = choice.tree.history(k)
        before = {h: m for h, m in book.items() if not begins(history, h)}
        played = decided.options[decided.played]
        for option in decided.options:
            others = [
                value - cost * len(plan)
                for value, plan in every
                if plan.get(history, "") == option.move
                and len(plan) <= places
                and {h: m for h, m in plan.items() if not begins(history, h)} == before
            ]
            told = choice.best.net + reach[k] * (option.worth - played.worth)
            most_told = choice.best.net + reach[k] * (option.most - played.worth)
            assert told - 1e-9 <= max(others) <= most_told + 1e-9
        assert played.worth >= max(option.worth for option in decided.options) - 1e-9
        if not history:  # nothing outside: the game from here on is the whole game
            assert played.worth == pytest.approx(choice.best.net, abs=1e-9)


def begins(history: History, other: History) -> bool:
    return other[: len(history)] == history


def test_the_trap_is_told_with_the_reply_it_hopes_for() -> None:
    """The sound first choice keeps 0.6; the second wins if the likely reply comes, else holds 0.5."""

    def end(utility: float) -> Raw:
        return {"utility": utility}

    def edge(base: float, prep: float, to: Raw, menu: bool = False) -> Raw:
        return {"base": base, "prep": prep, "to": to} | ({"menu": True} if menu else {})

    sound = {"player": 2, "actions": {"any": edge(1, 1, end(0.6))}}
    replies = {"natural": edge(0.7, 0.5, end(1.0)), "best": edge(0.3, 0.5, end(0.5))}
    trap = {"player": 2, "actions": replies}
    root = {"player": 1, "actions": {"a": edge(1, 1, sound, True), "b": edge(0, 0, trap, True)}}
    raw = {"format": tabular.FORMAT, "root": root}
    choice = choose(grown(raw, 1, Pays(0.01), 1).tree, 1, 0.01)
    assert choice.best.size == 1
    assert choice.best.value == pytest.approx(0.85)
    (decided,) = choice.decisions.values()
    assert [option.move for option in decided.options] == ["a", "b"]
    assert [option.worth for option in decided.options] == pytest.approx([0.59, 0.84])
    assert decided.played == 1
    assert decided.hoped is not None
    assert (decided.hoped.reply, decided.hoped.probability) == ("natural", 0.7)
    assert decided.hoped.worth == pytest.approx(1.0)


@pytest.mark.parametrize("first", ["a", "b"])
@pytest.mark.parametrize("budget", [None, 1])
def test_of_equals_the_first_choice_is_played(first: str, budget: int | None) -> None:
    actions: Raw = {"c": {"base": 1.0, "prep": 0.0, "to": {"utility": 0.1}}}
    for name in ("a", "b"):
        prep = float(name == first)
        actions[name] = {"base": 0.0, "prep": prep, "menu": True, "to": {"utility": 0.8}}
    raw = {"format": tabular.FORMAT, "root": {"player": 1, "actions": actions}}
    tree = grown(raw, 1, Pays(0.01, limited=budget is not None), None).tree
    (decided,) = choose(tree, 1, 0.01, budget).decisions.values()
    assert (decided.played, decided.options[0].move) == (0, first)


@pytest.mark.parametrize("budget", [None, 1])
@pytest.mark.parametrize("orders", list(product(permutations(("x", "y", "z")), repeat=2)))
def test_of_equals_but_for_rounding_the_first_choice_is_played(
    orders: tuple[tuple[str, ...], tuple[str, ...]], budget: int | None
) -> None:
    """The same replies in another order: their sum may be another one by a rounding."""
    ends = {"x": (0.1, 0.6), "y": (0.1, 1.0), "z": (0.8, 0.3)}  # their sum depends on the order

    def replies(order: tuple[str, ...]) -> Raw:
        moves = {
            name: {"base": ends[name][0], "prep": ends[name][0], "to": {"utility": ends[name][1]}}
            for name in order
        }
        return {"player": 2, "actions": moves}

    actions: Raw = {
        "c": {"base": 1.0, "prep": 0.0, "to": {"utility": 0.1}},
        "a": {"base": 0.0, "prep": 1.0, "menu": True, "to": replies(orders[0])},
        "b": {"base": 0.0, "prep": 0.0, "menu": True, "to": replies(orders[1])},
    }
    raw = {"format": tabular.FORMAT, "root": {"player": 1, "actions": actions}}
    tree = grown(raw, 1, Pays(0.01, limited=budget is not None), None).tree
    (decided,) = choose(tree, 1, 0.01, budget).decisions.values()
    assert (decided.played, decided.options[0].move) == (0, "a")


def test_a_menu_names_each_action_once() -> None:
    class Twice:
        def menus(self, states: Any) -> Any:
            return [(("a", 1.0), ("a", 0.5)) for _ in states]

    edge = {"base": 1, "prep": 1, "to": {"utility": 0.5}}
    raw = {"format": tabular.FORMAT, "root": {"player": 1, "actions": {"a": edge}}}
    game, policy = tabular.parse(raw), tabular.TabularPolicy("prep")
    with pytest.raises(GameError, match="expected each action once"):
        grow(
            game,
            1,
            (policy, policy),
            policy,
            tabular.TabularValue(),
            Pays(0.01),
            choices=Choices(Twice()),
        )


def test_a_cost_must_be_positive() -> None:
    edge = {"base": 1, "prep": 1, "menu": True, "to": {"utility": 0.5}}
    raw = {"format": tabular.FORMAT, "root": {"player": 1, "actions": {"a": edge}}}
    with pytest.raises(InputError, match="expected a finite number above 0"):
        choose(grown(raw, 1, Pays(0.1), None).tree, 1, 0.0)


def test_the_reply_hoped_for_is_the_likely_one_wherever_growth_is_cut() -> None:
    """The first choice is long, so that a growth cut short knows little of it."""

    def edge(base: float, prep: float, to: Raw, menu: bool = False) -> Raw:
        return {"base": base, "prep": prep, "to": to} | ({"menu": True} if menu else {})

    sound: Raw = {"utility": 0.6}
    for turn in range(8):
        sound = {
            "player": 2 - turn % 2,
            "actions": {"on": edge(0.5, 1, sound), "off": edge(0.5, 0, sound)},
        }
    replies = {
        "natural": edge(0.6, 0, {"utility": 0.9}),
        "good": edge(0.3, 1, {"utility": 0.6}),
        "odd": edge(0.1, 0, {"utility": 0.95}),
    }
    tricky = {"player": 2, "actions": replies}
    root = {"player": 1, "actions": {"a": edge(1, 1, sound, True), "b": edge(0, 0, tricky, True)}}
    told = 0
    for histories in range(4, 40):
        raw = {"format": tabular.FORMAT, "root": root}
        part = grown(raw, 1, Pays(0.001), None, limits=Limits(histories=histories, window=1))
        decided = choose(part.tree, 1, 0.001).decisions.get(0)
        if decided is not None and decided.hoped is not None:
            assert decided.hoped.reply == "natural"
            told += decided.options[0].most > decided.options[1].worth  # it may still be the better one
    assert told
