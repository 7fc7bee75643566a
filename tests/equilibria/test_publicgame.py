"""Exact payoffs, best responses and certificates against enumeration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from publictrees import (
    COSTS,
    before,
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

from preplay.equilibria import advantages, best_response, certify, payoff, solve
from preplay.equilibria.hopes import promise
from preplay.errors import InputError
from preplay.tree import Tree, from_parents

SEEDS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@compiling
@given(trees(), COSTS, SEEDS)
def test_payoff_is_the_mean_over_pure_books(tree: Any, costs: Any, rng: Any) -> None:
    x = random_mixed(tree, 1, rng), random_mixed(tree, 2, rng)
    assert payoff(tree, costs, x) == pytest.approx(mixed_payoff(tree, costs, x), abs=1e-12)


@compiling
@given(trees(), COSTS, SEEDS, st.sampled_from([1, 2]))
def test_best_response_beats_every_book(tree: Any, costs: Any, rng: Any, side: Any) -> None:
    opponent = random_mixed(tree, 3 - side, rng)
    sign = 1 if side == 1 else -1
    paid = -sign * costs[2 - side] * opponent.sum()  # the opponent's cost is not part of the gain
    pairs = [
        (indicator(tree, book), opponent) if side == 1 else (opponent, indicator(tree, book))
        for book in books(tree, side)
    ]
    best = max(sign * mixed_payoff(tree, costs, pair) for pair in pairs)
    response = best_response(tree, costs, side, opponent)
    assert response.gain - sign * paid == pytest.approx(best, abs=1e-12)
    x = response.book.astype(float)
    assert frozenset(np.flatnonzero(response.book)) in books(tree, side)
    pair = (x, opponent) if side == 1 else (opponent, x)
    assert sign * payoff(tree, costs, pair) == pytest.approx(best, abs=1e-12)


@compiling
@given(trees(), COSTS, SEEDS, st.sampled_from([1, 2]))
def test_advantage_is_what_staying_changes(tree: Any, costs: Any, rng: Any, side: Any) -> None:
    x = [random_mixed(tree, 1, rng), random_mixed(tree, 2, rng)]
    advantage = advantages(tree, costs, side, (x[0], x[1]))
    mine = x[side - 1]
    for k in own(tree, side):
        above = before(tree, k, side)
        reach = 1.0 if above is None else mine[above]
        if reach == 0.0:
            continue
        results = []
        for stay in (1.0, 0.0):
            changed = mine.copy()
            scale = np.ones(tree.size)
            for j in own(tree, side):  # below k the law given that k is held stays as it is
                prior = before(tree, j, side)
                if j == k:
                    changed[j] = stay * reach
                    scale[j] = changed[j] / mine[j] if mine[j] > 0.0 else 0.0
                elif prior is not None and j > k:
                    scale[j] = scale[prior]
                    changed[j] = mine[j] * scale[j]
            pair = (changed, x[1]) if side == 1 else (x[0], changed)
            results.append(mixed_payoff(tree, costs, pair) * (1 if side == 1 else -1))
        if mine[k] > 0.0:  # else nothing is known about what would be played below
            assert reach * advantage[k] == pytest.approx(results[0] - results[1], abs=1e-11)


@compiling
@given(trees(), COSTS, SEEDS)
def test_certificate_is_what_the_strategies_guarantee(tree: Any, costs: Any, rng: Any) -> None:
    one, two = random_mixed(tree, 1, rng), random_mixed(tree, 2, rng)
    certificate = certify(tree, costs, one, two)
    lower = min(mixed_payoff(tree, costs, (one, indicator(tree, b))) for b in books(tree, 2))
    upper = max(mixed_payoff(tree, costs, (indicator(tree, a), two)) for a in books(tree, 1))
    assert certificate.lower == pytest.approx(lower, abs=1e-12)
    assert certificate.upper == pytest.approx(upper, abs=1e-12)
    assert certificate.lower - 1e-12 <= certificate.payoff <= certificate.upper + 1e-12
    assert certificate.gap == pytest.approx(certificate.solver_gap, abs=1e-12)


@compiling
@given(trees(most=14, radius=True), COSTS, SEEDS)
def test_bounds_hold_whatever_the_true_values_are(tree: Any, costs: Any, rng: Any) -> None:
    result = solve(tree, costs, gap=1e-9)
    assert result.gap == pytest.approx(result.solver_gap + result.radius_error, abs=1e-12)
    for shift in (-1.0, 1.0, None):
        moved = rng.uniform(-1, 1, tree.size) if shift is None else shift
        truth = np.clip(tree.value + moved * tree.radius, 0.0, 1.0)
        true = from_parents(tree.parent, tree.player, tree.base, tree.prep, truth)
        assert result.lower - 1e-9 <= matrix_value(matrix(true, costs)) <= result.upper + 1e-9
        guarantee = certify(true, costs, *result.x)
        assert guarantee.gap <= result.gap + 1e-12
        assert guarantee.lower >= result.lower - 1e-12
        assert guarantee.upper <= result.upper + 1e-12


def test_radius_error_is_tight_where_all_leaves_move_together() -> None:
    tree = complete(4, 2, 5)
    moved = Tree(**{**vars(tree), "value": tree.value * 0.5 + 0.25, "radius": np.full(tree.size, 0.1)})
    result = solve(moved, (0.01, 0.01), gap=1e-12)
    assert result.radius_error == pytest.approx(0.2, abs=1e-12)
    assert result.gap == pytest.approx(0.2, abs=1e-9)


@compiling
@given(trees(most=16), COSTS, SEEDS)
def test_bounds_cover_books_that_go_on_at_open_histories(tree: Any, costs: Any, rng: Any) -> None:
    """Histories that are not to be memorized yet: what that could bring is part of the gap."""
    later = (rng.random(tree.size) < 0.4) & (tree.player > 0) & ~tree.leaves
    assume(later.any())
    part = replace(tree, open=later)
    result = solve(part, costs, gap=1e-9, memorizable=~later)
    value = matrix_value(matrix(tree, costs))
    assert result.lower - 1e-8 <= value <= result.upper + 1e-8
    assert result.gap == pytest.approx(result.solver_gap + result.open_error, abs=1e-12)


@compiling
@given(trees(most=16, radius=True), COSTS, SEEDS)
def test_what_the_gap_hopes_for_is_found(tree: Any, costs: Any, rng: Any) -> None:
    """As long as open histories widen the gap, one of them is named, radii or not: no growth stalls."""
    later = (rng.random(tree.size) < 0.4) & (tree.player > 0) & ~tree.leaves
    part = replace(tree, open=later)
    result = solve(part, costs, gap=1e-9, memorizable=~later)
    hopes = promise(part, costs, result.x, memorizable=~later)
    assert hopes.sum() >= result.open_error - 1e-9
    assert not hopes[~later].any()


def test_hopes_go_by_the_values_that_the_gap_goes_by() -> None:
    """By the values as they are it is best to leave at once; by the kindest ones to go on to 3."""
    tree = from_parents(
        [-1, 0, 0, 0],
        [1, -1, -1, 1],
        [1.0, 1.0, 0.0, 0.0],
        [1.0, 0.0, 0.5, 0.5],
        [np.nan, 0.7, 0.5, 0.3],
        radius=[0.0, 0.0, 0.5, 0.0],
        open=[False, False, False, True],
    )
    nothing = np.zeros(4)
    costs = (0.05, 0.05)
    assert certify(tree, costs, nothing, nothing).open_error == pytest.approx(0.2)
    assert promise(tree, costs, (nothing, nothing)).tolist() == pytest.approx([0.0, 0.0, 0.0, 0.3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:-1], "shape"),
        (lambda x: np.where(np.arange(len(x)) == 0, 1.5, x), "probability 1.5"),
        (lambda x: np.where(np.arange(len(x)) == 1, 0.5, x), "history 1"),
        (lambda x: np.where(np.arange(len(x)) == 3, 1.0, 0.0), "history 3"),
        (lambda x: np.full(len(x), np.nan), "nan"),
    ],
)
def test_what_is_no_mixed_book_is_refused(change: Any, message: Any) -> None:
    tree = complete(4, 2, 0)
    zero = np.zeros(tree.size)
    with pytest.raises(InputError, match=message):
        certify(tree, (0.1, 0.1), change(zero), zero)


@pytest.mark.parametrize("costs", [(-0.1, 0.1), (0.1, float("nan")), (float("inf"), 0.1), (0.1,)])
def test_bad_costs_are_refused(costs: Any) -> None:
    tree = complete(2, 2, 0)
    with pytest.raises(InputError, match="cost"):
        solve(tree, costs)
