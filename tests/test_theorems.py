"""Theorems 1 and 2 and Lemma 1 against their definitions, computed slowly."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, games, own_histories, v, worth

from preplay import theorems
from preplay.errors import InputError
from preplay.game import Side
from preplay.games import tabular
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticValue
from preplay.growth import Advantage, Goal, Lemma1, Limits, Pays, grow, grow_contested
from preplay.tree import Tree

SIDES = st.sampled_from([1, 2])
LEVELS = st.sampled_from([0.0, 0.25, 0.45, 0.6, 0.75, 0.9, 1.0])
EPSILONS = st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.95])


def grown(raw: Raw, side: Side, goal: Goal, limits: Limits | None = None) -> Tree:
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    return grow(game, side, (base, base), prep, tabular.TabularValue(), goal, limits).tree


def histories(root: Raw, side: Side) -> Iterator[tuple[History, Raw, float]]:
    """Every history with its node and its reach: the side on prep, all others as ever."""
    stack: list[tuple[History, Raw, float]] = [((), root, 1.0)]
    while stack:
        history, node, reach = stack.pop()
        yield history, node, reach
        for name, edge in node.get("actions", {}).items():
            p = edge.get("prob", edge.get("prep" if node["player"] == side else "base"))
            stack.append(((*history, name), edge["to"], reach * p))


def firsts(root: Raw, side: Side, advantage: float) -> dict[History, float]:
    """S(v) by its definition: own or final, value at least v, and no such own history before it."""
    found: dict[History, float] = {}
    seen = {history: (node, reach) for history, node, reach in histories(root, side)}

    def has(history: History) -> bool:
        node = seen[history][0]
        mine = v(node) if side == 1 else 1.0 - v(node)
        return node.get("player", side) == side and mine >= advantage

    for history, (_, reach) in seen.items():
        if has(history) and not any(has(history[:n]) for n in range(len(history))) and reach > 0.0:
            found[history] = reach
    return found


def off_the_edge(root: Raw, side: Side, advantage: float) -> bool:
    """Whether no value is so near to the advantage that rounding could decide."""
    return all(
        abs(v(n) - (advantage if side == 1 else 1.0 - advantage)) > 1e-9
        for _, n, _ in histories(root, side)
    )


@settings(max_examples=60, deadline=None)
@given(games(depth=5, own=40), SIDES, LEVELS, EPSILONS)
def test_theorem_1_by_its_definition(raw: Raw, side: Side, advantage: float, epsilon: float) -> None:
    root = raw["root"]
    assume(advantage in (0.0, 1.0) or off_the_edge(root, side, advantage))
    tree = grown(raw, side, Advantage(advantage))
    longest = tabular.parse(raw).longest
    result = theorems.theorem1(tree, side, advantage, epsilon, longest)
    expected = firsts(root, side, advantage)
    total = sum(expected.values())
    shares = [reach / total for reach in expected.values()]
    assert result.firsts == len(expected)
    assert result.p_norm == pytest.approx(total, abs=1e-12)
    assert result.entropy == pytest.approx(sum(-p * math.log(p) for p in shares), abs=1e-9)
    assert result.guarantee == pytest.approx((1 - epsilon) * advantage * total, abs=1e-12)
    z = math.ceil((1 - epsilon) * math.exp(result.entropy / epsilon) - 1e-9)
    assert result.size_bound == longest * z
    assert result.complete
    # The book that the proof constructs keeps its promises; its value is what it truly earns.
    book = frozenset(tree.history(int(k)) for k in result.nodes)
    assert len(book) == len(result.nodes) <= result.size_bound
    assert result.value == pytest.approx(worth(root, side, book), abs=1e-9)
    assert result.value >= result.guarantee - 1e-9
    likeliest = sorted(expected.values(), reverse=True)[:z]
    assert sum(likeliest) >= (1 - epsilon) * total - 1e-9  # Lemma 2: little entropy, few histories
    own = set(own_histories(root, side))
    assert all(h in own and all(h[:n] not in own or h[:n] in book for n in range(len(h))) for h in book)


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=40), SIDES, LEVELS, EPSILONS, st.integers(1, 30))
def test_theorem_1_on_a_tree_cut_short_is_still_true(
    raw: Raw, side: Side, advantage: float, epsilon: float, cut: int
) -> None:
    tree = grown(raw, side, Advantage(advantage), Limits(histories=cut, window=2))
    result = theorems.theorem1(tree, side, advantage, epsilon, tabular.parse(raw).longest)
    assert result.complete == tree.complete
    assert len(result.nodes) <= result.size_bound
    book = frozenset(tree.history(int(k)) for k in result.nodes)
    truth = worth(raw["root"], side, book)
    assert truth >= result.guarantee - 1e-9
    assert truth >= result.value - 1e-9  # what was not looked at counts as lost


def test_the_book_of_theorem_1_holds_the_likeliest_lines() -> None:
    game = SyntheticGame(8, 3)
    base, prep = SyntheticPolicy(game, "base", 0.15), SyntheticPolicy(game, "prep", 0.05)
    tree = grow(game, 1, (base, base), prep, SyntheticValue(), Advantage(0.6)).tree
    few = theorems.theorem1(tree, 1, 0.6, 0.9, game.longest)
    many = theorems.theorem1(tree, 1, 0.6, 0.6, game.longest)
    assert 0 < len(few.nodes) < len(many.nodes)
    assert few.guarantee < many.guarantee
    assert few.value < many.value
    assert set(few.nodes.tolist()) < set(many.nodes.tolist())


def test_a_size_bound_beyond_all_numbers_is_infinite() -> None:
    game = SyntheticGame(8, 3)
    base, prep = SyntheticPolicy(game, "base", 0.5), SyntheticPolicy(game, "prep", 0.5)
    tree = grow(game, 1, (base, base), prep, SyntheticValue(), Advantage(0.6)).tree
    result = theorems.theorem1(tree, 1, 0.6, 0.004, game.longest)
    assert result.entropy > 3.0
    assert result.size_bound == math.inf
    assert result.guarantee == pytest.approx(0.996 * 0.6 * result.p_norm)
    assert result.value >= result.guarantee


def test_no_advantage_anywhere_promises_nothing() -> None:
    edge = {"base": 1, "prep": 1, "to": {"utility": 0.2}}
    tree = grown(
        {"format": "preplay-game/1", "root": {"player": 1, "actions": {"a": edge}}}, 1, Advantage(0.5)
    )
    result = theorems.theorem1(tree, 1, 0.5, 0.5, 1)
    assert (result.firsts, result.p_norm, result.entropy, result.guarantee) == (0, 0.0, 0.0, 0.0)
    assert len(result.nodes) == 0
    assert result.value == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("advantage", "epsilon", "message"),
    [
        (-0.1, 0.5, "advantage -0.1; expected a number in"),
        (1.1, 0.5, "advantage 1.1; expected a number in"),
        (math.nan, 0.5, "advantage nan; expected a number in"),
        (0.5, 0.0, "epsilon 0.0; expected a number strictly between 0 and 1"),
        (0.5, 1.0, "epsilon 1.0; expected a number strictly between 0 and 1"),
        (0.5, math.nan, "epsilon nan; expected a number strictly between 0 and 1"),
    ],
)
def test_theorem_1_refuses_what_makes_no_sense(advantage: float, epsilon: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        theorems.check_theorem1(advantage, epsilon)


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=60), SIDES, st.sampled_from([0.004, 0.021, 0.113, 0.31]))
def test_lemma_1_counts_the_likely_histories(raw: Raw, side: Side, p: float) -> None:
    tree = grown(raw, side, Lemma1(p))
    longest = tabular.parse(raw).longest
    result = theorems.lemma1(tree, side, p, longest)
    reaches = np.array([reach for _, _, reach in histories(raw["root"], side)])
    assert result.count == int(np.sum(reaches >= p))
    assert result.bound == pytest.approx((longest + 1) / p)
    assert result.count <= result.bound


def test_lemma_1_refuses_a_probability_of_0() -> None:
    tree = grown(
        {
            "format": "preplay-game/1",
            "root": {"player": 1, "actions": {"a": {"base": 1, "prep": 1, "to": {"utility": 1}}}},
        },
        1,
        Lemma1(0.5),
    )
    with pytest.raises(InputError, match="expected a finite number above 0"):
        theorems.lemma1(tree, 1, 0.0, 1)


def test_theorem_2_in_numbers_and_where_it_is_void() -> None:
    # v' = 0.9, v = 0.5, λL = e^-8: (0.9 - 0.5 - 0.01) * (8 - 5)
    assert theorems.theorem2(0.9, 0.5, math.exp(-8) / 40, 40) == pytest.approx(0.39 * 3)
    assert theorems.theorem2(0.9, 0.5, math.exp(-5) / 40, 40) == 0.0  # λL is not below e^-5
    assert theorems.theorem2(0.9, 0.5, 0.1, 40) == 0.0
    assert theorems.theorem2(0.51, 0.5, 1e-9, 40) == 0.0  # v' is not above v + 0.01
    assert theorems.theorem2(0.4, 0.5, 1e-9, 40) == 0.0
    assert theorems.theorem2(1.004, 0.5, 1e-9, 40) == 0.0  # no such advantage
    for function in (theorems.theorem2, theorems.entropy_floor):
        with pytest.raises(InputError, match=r"cost 0\.0; expected a finite number above 0"):
            function(0.9, 0.5, 0.0, 40)
        with pytest.raises(InputError, match="longest 0; expected a whole number of at least 1"):
            function(0.9, 0.5, 0.1, 0)


@settings(max_examples=300, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(-0.2, 1.2), st.floats(1e-9, 0.2), st.integers(1, 300))
def test_the_floor_is_never_below_theorem_2(
    advantage: float, value: float, cost: float, longest: int
) -> None:
    assert (
        theorems.entropy_floor(advantage, value, cost, longest)
        >= theorems.theorem2(advantage, value, cost, longest) - 1e-12
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=12),
    st.floats(0.05, 1.0),
    st.floats(0.05, 1.0),
    st.floats(1e-4, 0.3),
    st.integers(1, 8),
)
def test_the_floor_holds_for_every_distribution_it_speaks_of(
    parts: list[int], advantage: float, p_norm: float, cost: float, longest: int
) -> None:
    """The smallest equilibrium value that a distribution of first histories admits gives a true floor."""
    shares = sorted((part / sum(parts) for part in parts), reverse=True)
    heads = np.cumsum(shares)
    nets = p_norm * advantage * heads - cost * longest * np.arange(1, len(shares) + 1)
    value = max(0.0, float(nets.max()))  # no book of the proof nets more than this
    entropy = sum(-p * math.log(p) for p in shares)
    floor = theorems.entropy_floor(advantage, value, cost, longest, p_norm)
    assert 0.0 <= floor <= entropy + 1e-9


def test_the_floor_is_sharp() -> None:
    # Four equally likely first histories worth 1, lines of cost 1/4 each: no book nets more than 0.
    assert theorems.entropy_floor(1.0, 0.0, 0.025, 10) == pytest.approx(math.log(4))
    # A value of 0.5 admits one history of share 0.75 and one of 0.25.
    assert theorems.entropy_floor(1.0, 0.5, 0.025, 10) == pytest.approx(
        -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    )
    assert theorems.entropy_floor(1.0, 0.75, 0.025, 10) == 0.0
    assert theorems.entropy_floor(0.0, 0.0, 0.025, 10) == 0.0


@settings(max_examples=40, deadline=None)
@given(games(depth=4, own=9), SIDES, st.sampled_from([1e-4, 1e-3, 0.01]))
def test_the_most_useful_statement_is_true(raw: Raw, side: Side, cost: float) -> None:
    """What a scan says holds for the book that the proof builds, and no other v and ε say more."""
    tree, longest = grown(raw, side, Lemma1(1e-9)), tabular.parse(raw).longest
    found = theorems.most_useful(tree, side, cost, longest)
    if found is None:
        return
    assert found.value >= found.guarantee - 1e-9
    assert len(found.nodes) <= found.size_bound
    book = frozenset(theorems.until(tree, side, found.advantage).history(int(k)) for k in found.nodes)
    assert worth(raw["root"], side, book) == pytest.approx(found.value, abs=1e-9)
    said = found.guarantee - cost * found.size_bound
    for advantage in (0.25, 0.5, 0.75):
        goal = grown(raw, side, Advantage(advantage))
        for epsilon in (0.2, 0.5, 0.8):
            other = theorems.theorem1(goal, side, advantage, epsilon, longest)
            # The grid is a fortieth wide in v and ε.
            assert other.guarantee - cost * other.size_bound <= said + 0.09 or math.isinf(
                other.size_bound
            )


def test_lemma_3() -> None:
    assert theorems.lemma3(0.01, 8) == pytest.approx(9_000)
    with pytest.raises(InputError, match="cost"):
        theorems.lemma3(0.0, 8)


def test_theorem_1_refuses_a_tree_that_was_grown_for_something_else() -> None:
    game = SyntheticGame(6, 2)
    base, prep = SyntheticPolicy(game, "base", 0.3), SyntheticPolicy(game, "prep", 0.1)

    def grown_for(goal: Goal, limits: Limits | None = None) -> Tree:
        return grow(game, 1, (base, base), prep, SyntheticValue(), goal, limits).tree

    whole = theorems.theorem1(grown_for(Advantage(0.6)), 1, 0.6, 0.5, game.longest)
    assert whole.complete
    expected = r"advantage 0\.6 on a tree .* grown with Advantage\(0\.6\)"
    both = grow_contested(game, (base, base), (prep, prep), SyntheticValue(), (0.01, 0.01)).tree
    for tree in (
        grown_for(Pays(0.05)),  # ends where nothing pays any more
        grown_for(Lemma1(0.05)),
        grown_for(Advantage(0.5)),  # ends before
        grown_for(Advantage(0.8)),  # goes on after it
        both,  # its own histories have no values
    ):
        with pytest.raises(InputError, match=expected):
            theorems.theorem1(tree, 1, 0.6, 0.5, game.longest)
    rare = grown_for(Advantage(0.6), Limits(negligible=0.01))  # what is hardly ever met is not looked at
    assert theorems.theorem1(rare, 1, 0.6, 0.5, game.longest).p_norm <= whole.p_norm
    with pytest.raises(InputError, match="side 2 on a tree that was grown for the other"):
        theorems.theorem1(grown_for(Advantage(0.6)), 2, 0.6, 0.5, game.longest)


def test_a_norm_is_a_probability() -> None:
    for p_norm in (2.0, -0.1):
        with pytest.raises(InputError, match=f"p_norm {p_norm}; expected a probability"):
            theorems.entropy_floor(0.6, 0.4, 0.001, 40, p_norm=p_norm)
    rounded = theorems.entropy_floor(0.6, 0.4, 0.001, 40, p_norm=1.0 + 2e-16)
    assert rounded == pytest.approx(theorems.entropy_floor(0.6, 0.4, 0.001, 40))
