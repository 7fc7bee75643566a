"""Every solver against the matrix game over all books; limits, warm starts, exact reductions."""

from __future__ import annotations

import itertools
import math
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from publictrees import (
    COSTS,
    books,
    compiling,
    complete,
    indicator,
    matrix,
    matrix_value,
    mixed_payoff,
    own,
    random_mixed,
    trees,
)

from preplay.equilibria import METHODS, Equilibrium, SolverProgress, certify, lp, solve
from preplay.equilibria.folding import fold
from preplay.equilibria.publicgame import decisions
from preplay.errors import InputError
from preplay.tree import Tree, from_parents

EVERY = [*METHODS, "lp"]


def check_by_enumeration(tree: Tree, costs: tuple[float, float], result: Equilibrium) -> None:
    """The value lies within the bounds, and no pure book does better than they say."""
    value = matrix_value(matrix(tree, costs))
    assert result.lower - 1e-9 <= value <= result.upper + 1e-9
    one, two = result.x
    for book in books(tree, 2):
        assert mixed_payoff(tree, costs, (one, indicator(tree, book))) >= result.lower - 1e-12
    for book in books(tree, 1):
        assert mixed_payoff(tree, costs, (indicator(tree, book), two)) <= result.upper + 1e-12


@compiling
@given(trees(most=14), COSTS, st.sampled_from(EVERY))
def test_value_and_strategies_by_enumeration(tree: Any, costs: Any, method: Any) -> None:
    result = solve(tree, costs, gap=1e-7, method=method, iterations=3_000)
    check_by_enumeration(tree, costs, result)
    assert result.gap <= 5e-3  # plain CFR is slow
    assert result.value == pytest.approx((result.lower + result.upper) / 2)
    assert result.expected_size == (result.x[0].sum(), result.x[1].sum())


@compiling
@given(trees(most=20), COSTS)
def test_lp_and_default_reach_the_same_value(tree: Any, costs: Any) -> None:
    exact = solve(tree, costs, method="lp")
    assert exact.gap <= 1e-8
    result = solve(tree, costs, gap=1e-8)
    assert result.gap <= 1e-5  # nearly always 1e-8; tiny gains can make the last digits slow
    assert abs(result.value - exact.value) <= result.gap / 2 + 1e-8


@compiling
@given(trees(most=14), COSTS, st.integers(0, 2**32 - 1))
def test_histories_that_may_not_be_memorized_are_left(tree: Any, costs: Any, seed: Any) -> None:
    mask = np.random.default_rng(seed).random(tree.size) < 0.6
    result = solve(tree, costs, gap=1e-8, memorizable=mask)
    value = matrix_value(matrix(tree, costs, mask))
    assert result.lower - 1e-8 <= value <= result.upper + 1e-8
    for side in (1, 2):
        allowed = [k for k in own(tree, side) if mask[k]]
        assert set(np.flatnonzero(result.x[side - 1])) <= set(allowed)


def worth_a_thought(tree: Tree, costs: tuple[float, float]) -> np.ndarray:
    """W by fact 7 of the design, line by line: own histories whose best reach is at least the cost."""
    mask = np.zeros(tree.size, dtype=bool)
    for k in range(tree.size):
        line = [k]
        while tree.parent[line[-1]] >= 0:
            line.append(int(tree.parent[line[-1]]))
        line.reverse()
        side = int(tree.player[k])
        if side < 1:
            continue
        mine = chance = inside = 1.0
        outside = 0.0
        for above, below in itertools.pairwise(line):
            mover = tree.player[above]
            if mover == 0:
                chance *= tree.base[below]
            elif mover == side:
                mine *= tree.prep[below]
            else:
                outside = max(outside, inside) * tree.base[below]
                inside *= tree.prep[below]
        mask[k] = chance * mine * max(inside, outside) >= costs[side - 1]
    return mask


@compiling
@given(trees(most=24), COSTS)
def test_what_cannot_pay_can_be_left_out(tree: Any, costs: Any) -> None:
    full = solve(tree, costs, method="lp")
    small = solve(tree, costs, method="lp", memorizable=worth_a_thought(tree, costs))
    assert small.value == pytest.approx(full.value, abs=1e-8)
    # and its strategies are an equilibrium of the whole game too
    assert certify(tree, costs, *small.x).gap <= 1e-8


@compiling
@given(trees(most=30), COSTS, st.integers(0, 2**32 - 1))
def test_dropped_decisions_never_pay(tree: Any, costs: Any, seed: Any) -> None:
    """Against any mixed book of what is kept, best responses need only what is kept."""
    game = fold(tree, costs, decisions(tree))
    kept = set(np.concatenate([side.history[1:] for side in game.sides]).tolist())
    for side in (1, 2):
        assert {k for k in kept if tree.player[k] == side} <= set(own(tree, side))
    rng = np.random.default_rng(seed)
    mask = np.zeros(tree.size, dtype=bool)
    mask[list(kept)] = True
    for side in (1, 2):
        for _ in range(5):
            book = random_mixed(tree, side, rng, mask)
            other = np.zeros(tree.size)
            pair = (book, other) if side == 1 else (other, book)
            whole = certify(tree, costs, *pair)
            part = certify(tree, costs, *pair, memorizable=mask)
            bound = (whole.lower, part.lower) if side == 1 else (whole.upper, part.upper)
            assert bound[0] == pytest.approx(bound[1], abs=1e-12)


def test_a_tree_without_choices() -> None:
    leaf = from_parents([-1], [1], [1.0], [1.0], [0.3])
    chance = from_parents([-1, 0, 0], [0, -1, -1], [1, 0.25, 0.75], [1, 0.25, 0.75], [np.nan, 1, 0])
    for method in EVERY:
        assert solve(leaf, (0.1, 0.1), method=method).value == pytest.approx(0.3)
        result = solve(chance, (0.1, 0.1), method=method)
        assert result.value == pytest.approx(0.25)
        assert result.gap == 0.0


def penny() -> Tree:
    """Player 1's base walks into what player 2 may have prepared; both sides must mix."""
    #            root: 1 -> two replies by 2 each -> leaves
    parent = [-1, 0, 0, 1, 1, 2, 2]
    player = [1, 2, 2, -1, -1, -1, -1]
    base = [1, 1, 0, 1, 0, 1, 0]
    prep = [1, 0, 1, 0, 1, 0, 1]
    value = [np.nan, np.nan, np.nan, 0.6, 0.0, 0.8, 0.5]
    return from_parents(parent, player, base, prep, value)


def test_a_game_solved_by_hand() -> None:
    """Rows: no book, book. Columns: none, the first line, the second, both; 0.1 a history."""
    tree, costs = penny(), (0.1, 0.1)
    game = matrix(tree, costs)
    assert game[0].tolist() == pytest.approx([0.6, 0.1, 0.7, 0.2])
    assert game[1].tolist() == pytest.approx([0.7, 0.8, 0.5, 0.6])
    # The last two columns bind: player 1 books 5 times in 6, player 2 prepares the second line
    # always and the first once in three, and the value is 8 / 15.
    result = solve(tree, costs, gap=1e-11)
    assert result.value == pytest.approx(8 / 15, abs=1e-10)
    assert result.x[0][0] == pytest.approx(5 / 6, abs=1e-6)
    assert result.x[1][2] == pytest.approx(1.0, abs=1e-6)
    assert result.x[1][1] == pytest.approx(1 / 3, abs=1e-6)


def test_an_equilibrium_that_must_mix() -> None:
    tree = penny()
    value = tree.value.copy()
    value[3:] = [0.6, 0.0, 0.3, 0.2]
    mixed = Tree(**{**vars(tree), "value": value})
    costs = (0.01, 0.05)
    result = solve(mixed, costs, gap=1e-10)
    game = matrix(mixed, costs)
    assert result.value == pytest.approx(matrix_value(game), abs=1e-10)
    assert 0.05 < result.x[0][0] < 0.95
    assert 0.05 < result.x[1][1] < 0.95


@pytest.mark.parametrize("method", METHODS)
def test_gap_falls_and_the_trace_tells(method: Any) -> None:
    tree = complete(8, 2, 8)
    result = solve(tree, (1e-3, 1e-3), gap=1e-5, method=method, iterations=4_000)
    assert result.gap <= 1e-3
    assert result.method == method
    gaps = [point.gap for point in result.trace]
    assert gaps == sorted(gaps, reverse=True)
    assert result.trace[-1].iteration == result.iterations
    assert gaps[-1] == pytest.approx(result.solver_gap, abs=1e-12)
    assert [p.seconds for p in result.trace] == sorted(p.seconds for p in result.trace)


def test_both_linear_programming_methods_are_exact(monkeypatch: Any) -> None:
    tree, costs = complete(10, 2, 4), (1e-4, 3e-4)
    simplex = solve(tree, costs, method="lp")
    monkeypatch.setattr(lp, "LARGE", 0)
    interior = solve(tree, costs, method="lp")
    assert simplex.iterations != interior.iterations
    for result in (simplex, interior):
        assert result.gap <= 1e-9
    assert interior.value == pytest.approx(simplex.value, abs=1e-9)


def test_default_is_quick_and_precise() -> None:
    tree = complete(12, 2, 12)
    result = solve(tree, (1e-3, 1e-3), gap=1e-7)
    assert result.gap <= 1e-7
    assert result.iterations <= 3_000


def test_same_call_same_result() -> None:
    tree = complete(9, 2, 9)
    first, second = (solve(tree, (1e-3, 2e-3), gap=1e-7) for _ in range(2))
    for one, two in zip(first.x, second.x, strict=True):
        np.testing.assert_array_equal(one, two)
    assert (first.value, first.gap, first.iterations) == (second.value, second.gap, second.iterations)


def test_limits() -> None:
    tree = complete(10, 2, 3)
    costs = (1e-4, 1e-4)
    assert solve(tree, costs, gap=0.0, iterations=50).iterations == 50
    idle = solve(tree, costs, iterations=0)
    assert idle.iterations == 0
    assert idle.gap == pytest.approx(certify(tree, costs, *idle.x).gap)
    timed = solve(tree, costs, gap=0.0, iterations=None, seconds=0.3, method="cfr")
    assert 0.3 <= timed.seconds < 5.0
    assert timed.gap > 0.0
    rest = solve(tree, costs, gap=0.0, iterations=None, stop=lambda: True)
    assert rest.iterations >= 1
    assert rest.gap == pytest.approx(certify(tree, costs, *rest.x).gap)
    late = solve(tree, costs, method="lp", seconds=0.0)
    assert 0.0 < late.gap < 1e-2
    assert late.gap == pytest.approx(certify(tree, costs, *late.x).gap)


def test_stop_from_another_thread_comes_back_certified() -> None:
    tree = complete(14, 2, 3)
    wanted = threading.Event()
    timer = threading.Timer(0.5, wanted.set)
    timer.start()
    result = solve(tree, (1e-6, 1e-6), gap=0.0, method="cfr", iterations=None, stop=wanted.is_set)
    timer.join()
    assert 0.0 < result.gap < 1.0
    assert result.gap == pytest.approx(certify(tree, (1e-6, 1e-6), *result.x).gap)


def test_progress_is_told_each_measurement() -> None:
    seen: list[SolverProgress] = []
    result = solve(complete(8, 2, 1), (1e-3, 1e-3), gap=1e-7, method="sweep", progress=seen.append)
    assert tuple(seen) == result.trace
    assert len(seen) > 2


def test_warm_start_at_the_solution_is_done_at_once() -> None:
    tree = complete(10, 2, 10)
    first = solve(tree, (1e-3, 1e-3), gap=1e-6)
    again = solve(tree, (1e-3, 1e-3), gap=2e-6, start=first)
    assert again.iterations == 0
    assert again.gap <= 2e-6
    pair = solve(tree, (1e-3, 1e-3), gap=2e-6, start=first.x)
    assert pair.iterations == 0


def test_warm_start_for_other_costs_helps_on_the_whole() -> None:
    cold = warm = 0.0
    for seed in range(8):
        tree = complete(11, 2, 50 + seed)
        known = solve(tree, (1e-3, 1e-3), gap=1e-7)
        costs = (1.05e-3, 0.95e-3)
        cold += math.log(solve(tree, costs, gap=1e-6).iterations)
        helped = solve(tree, costs, gap=1e-6, start=known)
        assert helped.gap <= 1e-6
        warm += math.log(max(1, helped.iterations))
    assert warm < cold + 0.5


def test_what_cannot_be_solved_is_refused() -> None:
    tree = complete(3, 2, 0)
    with pytest.raises(InputError, match="did you mean 'pcfr"):
        solve(tree, (0.1, 0.1), method="pcfr")
    with pytest.raises(InputError, match="gap"):
        solve(tree, (0.1, 0.1), gap=-1.0)
    with pytest.raises(InputError, match="iterations -1"):
        solve(tree, (0.1, 0.1), iterations=-1)
    with pytest.raises(InputError, match="booleans"):
        solve(tree, (0.1, 0.1), memorizable=np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="shape"):
        solve(tree, (0.1, 0.1), start=(np.zeros(3), np.zeros(3)))
    hollow = Tree(**{**vars(tree), "value": np.full(tree.size, np.nan)})
    with pytest.raises(InputError, match="value"):
        solve(hollow, (0.1, 0.1))


def test_small_games_go_to_the_linear_program_by_themselves() -> None:
    small, large = complete(6, 2, 1), complete(11, 2, 1)
    found = solve(small, (1e-3, 1e-3))
    assert found.method == "lp"
    assert found.gap <= 1e-9
    assert found.value == pytest.approx(solve(small, (1e-3, 1e-3), method="sweep").value, abs=1e-6)
    assert solve(small, (1e-3, 1e-3), iterations=50).method == "sweep"  # who counts them wants them
    assert solve(large, (1e-5, 1e-5), gap=1e-2).method == "sweep"
