"""Algorithm 1, the size limit and the frontier against the enumeration of all books."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import Raw, books, games, own_histories, v, worth

from preplay import response
from preplay.choice import choose
from preplay.errors import InputError
from preplay.game import Side
from preplay.games import tabular
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticValue
from preplay.growth import Goal, Lemma1, Limits, Pays, grow
from preplay.policy import Choices
from preplay.theorems import theorem1
from preplay.tree import Tree, check_arrays

SIDES = st.sampled_from([1, 2])
COSTS = st.sampled_from([0.003, 0.01, 0.03, 0.1])


def grown(raw: Raw, side: Side, goal: Goal, limits: Limits | None = None) -> Tree:
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    tree = grow(game, side, (base, base), prep, tabular.TabularValue(), goal, limits).tree
    check_arrays(tree)
    return tree


def best_net(raw: Raw, side: int, cost: float, budget: int | None = None) -> float:
    return max(
        worth(raw["root"], side, book) - cost * len(book)
        for book in books(raw["root"], side)
        if budget is None or len(book) <= budget
    )


@settings(max_examples=150, deadline=None)
@given(games(estimates=True), SIDES, COSTS)
def test_best_book_is_the_best_of_all_books(raw: Raw, side: Side, cost: float) -> None:
    tree = grown(raw, side, Pays(cost))
    best = response.best_book(tree, side, cost)
    assert best.net == pytest.approx(best_net(raw, side, cost), abs=1e-9)
    assert best.upper == pytest.approx(best.net, abs=1e-9)
    book = frozenset(tree.history(int(k)) for k in best.nodes)
    assert worth(raw["root"], side, book) == pytest.approx(best.value, abs=1e-9)
    root = v(raw["root"])
    assert best.baseline == pytest.approx(root if side == 1 else 1 - root, abs=1e-12)
    assert best.unprepared + best.gain.sum() == pytest.approx(best.value, abs=1e-9)
    assert response.evaluate(tree, side, best.nodes) == pytest.approx(best.value, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(games(), SIDES, COSTS, st.integers(0, 5), st.booleans())
def test_a_budget_is_a_hard_limit(raw: Raw, side: Side, cost: float, budget: int, free: bool) -> None:
    cost = 0.0 if free else cost
    best = response.best_book(grown(raw, side, Pays(cost)), side, cost, budget)
    assert best.size <= budget
    assert best.net == pytest.approx(best_net(raw, side, cost, budget), abs=1e-9)
    assert best.upper == pytest.approx(best.net, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(games(), SIDES)
def test_frontier_holds_the_best_books_of_all_costs(raw: Raw, side: Side) -> None:
    tree = grown(raw, side, Pays(0.0))
    front = response.frontier(tree, side)
    sizes, values, costs = front.size, front.value, front.cost
    assert np.all(np.diff(costs) < 0)
    assert np.all(np.diff(sizes) > 0)
    every = [(worth(raw["root"], side, book), len(book)) for book in books(raw["root"], side)]
    limits = [*costs.tolist(), 0.0]
    for j in range(len(costs)):
        cost = limits[j] + (limits[j + 1] - limits[j]) * 0.5  # between this point and the next
        best = max(value - cost * size for value, size in every)
        assert values[j] - cost * sizes[j] == pytest.approx(best, abs=1e-9)
        assert response.evaluate(tree, side, front.book(j)) == pytest.approx(values[j], abs=1e-9)
    if len(costs):
        assert max(value - 1.001 * costs[0] * size for value, size in every) == pytest.approx(
            front.unprepared, abs=1e-9
        )


@settings(max_examples=60, deadline=None)
@given(games(), SIDES)
def test_every_beginning_of_the_learning_order_is_a_book(raw: Raw, side: Side) -> None:
    tree = grown(raw, side, Pays(0.0))
    front = response.frontier(tree, side)
    for n in range(len(front.order) + 1):
        value = response.evaluate(tree, side, front.order[:n])
        assert value == pytest.approx(front.unprepared + front.gain[:n].sum(), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(games(depth=5, own=40), SIDES, COSTS, st.integers(1, 60), st.integers(1, 8))
def test_growth_cut_short_keeps_its_certificate(
    raw: Raw, side: Side, cost: float, histories: int, window: int
) -> None:
    whole = response.best_book(grown(raw, side, Pays(cost)), side, cost)
    tree = grown(raw, side, Pays(cost), Limits(histories=histories, window=window))
    part = response.best_book(tree, side, cost)
    assert part.net <= whole.net + 1e-9
    assert part.upper >= whole.net - 1e-9
    few = response.best_book(tree, side, cost, budget=3)
    assert few.upper >= response.best_book(grown(raw, side, Pays(cost)), side, cost, budget=3).net - 1e-9


@settings(max_examples=60, deadline=None)
@given(games(depth=5, own=40), SIDES, COSTS)
def test_pruning_loses_nothing_and_lemma_1_holds(raw: Raw, side: Side, cost: float) -> None:
    plain = grown(raw, side, Lemma1(cost))
    pruned = grown(raw, side, Pays(cost))
    best = response.best_book(plain, side, cost)
    assert response.best_book(pruned, side, cost).net == pytest.approx(best.net, abs=1e-9)
    longest = max(len(plain.history(k)) for k in range(plain.size))
    assert np.sum(response.reach(plain, side) >= cost) <= (longest + 1) / cost
    assert np.all(best.reach >= cost)


@settings(max_examples=60, deadline=None)
@given(games(depth=6, own=200), SIDES, st.integers(1, 12))
def test_large_budgets_agree_with_the_plain_knapsack(raw: Raw, side: Side, budget: int) -> None:
    """Reduced-cost fixing must not change the optimum: compare with a plain dynamic program."""
    tree = grown(raw, side, Pays(0.0))
    nodes, gain = response.gains(tree, side)
    table = dict(zip(nodes.tolist(), gain.tolist(), strict=True))

    def most(k: int) -> list[float]:
        """[b] the most gain from the subtree of k with at most b histories."""
        below = [0.0] * (budget + 1)
        for child in tree.children(k):
            part = most(child)
            below = [max(below[a] + part[b - a] for a in range(b + 1)) for b in range(budget + 1)]
        if tree.player[k] != side or k not in table:
            return below if tree.player[k] != side else [0.0] * (budget + 1)
        return [0.0] + [max(0.0, table[k] + below[b - 1]) for b in range(1, budget + 1)]

    best = response.best_book(tree, side, 0.0, budget)
    assert best.value == pytest.approx(best.unprepared + most(0)[budget], abs=1e-9)


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cost_must_be_positive(cost: float) -> None:
    raw = {"format": "preplay-game/1", "root": {"player": 1, "actions": {"a": edge(0.0)}}}
    tree = grown(raw, 1, Pays(0.1))
    with pytest.raises(InputError, match="expected a finite number above 0"):
        response.best_book(tree, 1, cost)


def edge(utility: float) -> Raw:
    return {"base": 1, "prep": 1, "to": {"utility": utility}}


def test_evaluate_refuses_what_is_not_a_book() -> None:
    inner = {"player": 1, "actions": {"b": edge(1.0)}}
    raw: Raw = {"format": "preplay-game/1", "root": {"player": 1, "actions": {}}}
    lost = {"base": 1, "prep": 0, "to": {"utility": 0}}
    raw["root"]["actions"] = {"a": {"base": 0, "prep": 1, "to": inner}, "z": lost}
    tree = grown(raw, 1, Lemma1(0.001))
    assert len(own_histories(raw["root"], 1)) == 2
    with pytest.raises(InputError, match="not prefix-closed"):
        response.evaluate(tree, 1, np.array([1], dtype=np.int32))
    with pytest.raises(InputError, match="not an expanded one"):
        response.evaluate(tree, 2, np.array([0], dtype=np.int32))


@settings(max_examples=60, deadline=None)
@given(games(), SIDES, st.sampled_from([0.01, 0.03, 0.1]), st.integers(0, 5))
def test_a_budget_on_a_priced_tree_is_certified_or_refused(
    raw: Raw, side: Side, price: float, budget: int
) -> None:
    """No bound is false: what the tree was not grown for may lie outside it."""
    tree = grown(raw, side, Pays(price))
    if response.best_book(tree, side, price).size < budget:
        with pytest.raises(InputError, match=f"budget {budget} on a tree that was grown for a price of"):
            response.best_book(tree, side, 0.0, budget)
    else:
        best = response.best_book(tree, side, 0.0, budget)
        assert best.size <= budget
        assert best.net - 1e-9 <= best_net(raw, side, 0.0, budget) <= best.upper + 1e-9


def test_a_tree_with_menus_is_refused() -> None:
    """Its options stand side by side: counted together they would earn more than any book."""
    raw: Raw = {
        "format": "preplay-game/1",
        "root": {
            "player": 1,
            "value": 0.2,
            "actions": {
                name: {"base": 0.5, "prep": 0.5, "menu": True, "to": {"utility": utility}}
                for name, utility in (("a", 0.8), ("b", 0.7))
            },
        },
    }
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    choices = Choices(tabular.TabularMenus())
    value = tabular.TabularValue()
    tree = grow(game, 1, (base, base), prep, value, Pays(0.01), choices=choices).tree
    root = np.zeros(1, dtype=np.int32)
    for refused in (
        lambda: response.best_book(tree, 1, 0.01),
        lambda: response.best_book(tree, 1, 0.01, 1),
        lambda: response.frontier(tree, 1),
        lambda: response.evaluate(tree, 1, root),
        lambda: theorem1(tree, 1, 0.5, 0.5, 1),
    ):
        with pytest.raises(
            InputError, match=r"a tree with menus, as after \[\]; expected one whose moves"
        ):
            refused()
    chosen = choose(tree, 1, 0.01)
    assert response.best_book(chosen.tree, 1, 0.01).value == chosen.best.value == 0.8


def test_a_book_of_a_side_that_the_tree_has_no_values_of_is_refused() -> None:
    game = SyntheticGame(8, 2)
    base, prep = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.2)
    tree = grow(game, 1, (base, base), prep, SyntheticValue(), Pays(0.01)).tree
    with pytest.raises(InputError, match="a history of side 2 has no value in this tree"):
        response.evaluate(tree, 2, np.zeros(0, dtype=np.int32))
