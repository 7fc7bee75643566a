"""Linear programs against scipy's way to solve them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from preplay.errors import SolverError
from preplay.programs import PRECISE, Rows, minimize


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("interior", [False, True])
def test_random_programs_have_the_optimum_and_prices_of_scipy(seed: int, interior: bool) -> None:
    rng = np.random.default_rng(seed)
    n, m, q = int(rng.integers(2, 12)), int(rng.integers(1, 8)), int(rng.integers(1, 4))
    limited, fixed = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6), rng.normal(size=(q, n))
    inside, objective = rng.random(n), rng.normal(size=n)
    limits, sums = limited @ inside + rng.random(m), fixed @ inside
    most, equal = Rows(m), Rows()
    row, column = np.nonzero(limited)
    for _ in range(2):  # entries at one place are added up
        most.add(row, column, limited[row, column] / 2.0)
    for line in fixed.tolist():
        equal.append(*enumerate(line))
    bounds = np.zeros(n), np.ones(n)
    found, _ = minimize(
        objective, bounds, [(most, limits)], [(equal, sums)], interior=interior, tolerance=PRECISE
    )
    assert found is not None
    expected = linprog(objective, limited, limits, fixed, sums, bounds=list(zip(*bounds, strict=True)))
    assert found.objective == pytest.approx(expected.fun, abs=1e-9)
    assert found.x @ objective == pytest.approx(expected.fun, abs=1e-9)
    assert found.prices == pytest.approx(np.asarray(expected.ineqlin.marginals), abs=1e-7)


def test_a_program_that_nothing_satisfies_is_an_error() -> None:
    equal = Rows()
    equal.append((0, 1.0))
    with pytest.raises(SolverError, match="not solved: Infeasible"):
        minimize(np.ones(1), (np.zeros(1), np.ones(1)), [], [(equal, np.full(1, 2.0))])
