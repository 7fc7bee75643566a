"""Linear programs, solved by HiGHS.

HiGHS is asked through its own package: scipy's door to it takes most of a second to open, which is more
than all other work of a command on a small game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import highspy
import numpy as np
import numpy.typing as npt

from preplay.errors import SolverError

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.integer[Any]] | Sequence[int]

PRECISE = 1e-10
"""How far an answer may be from feasible, where that counts."""


class Rows:
    """Rows of a sparse matrix under construction; entries at the same place are added up."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self._parts: list[tuple[Indices, Indices, Numbers | Sequence[float]]] = []

    def add(self, row: Indices, column: Indices, value: Numbers | float) -> None:
        """Entries of any rows."""
        numbers = np.broadcast_to(np.asarray(value, dtype=np.float64), np.shape(row))
        self._parts.append((row, column, numbers))

    def append(self, *entries: tuple[int, float]) -> None:
        """One more row, from its columns and their coefficients."""
        columns, values = zip(*entries, strict=True) if entries else ((), ())
        self._parts.append(([self.count] * len(entries), columns, values))
        self.count += 1

    def entries(self, below: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Numbers]:
        """Row, column and value of all entries, their rows moved down by `below`."""
        row, column, value = (
            np.concatenate([np.zeros(0), *(np.asarray(part[j]) for part in self._parts)])
            for j in range(3)
        )
        return row.astype(np.int64) + below, column.astype(np.int64), value


Limited = tuple[Rows, Numbers]
"""Rows, and the number that each is compared with."""


class Optimum(NamedTuple):
    """The answer to a linear program."""

    x: Numbers
    objective: float
    prices: Numbers  # of the rows that are at most a limit: what a unit more of it adds, 0 or less


def minimize(
    objective: Numbers,
    bounds: tuple[Numbers, Numbers],
    most: Sequence[Limited],
    equal: Sequence[Limited],
    *,
    interior: bool = False,
    tolerance: float | None = None,
    seconds: float | None = None,
) -> tuple[Optimum | None, int]:
    """The least `objective` @ x with x in its bounds, rows that are at most, and rows that are equal to,
    the numbers beside them; and the solver's iterations. None: the seconds were over before.

    By the dual simplex, or an interior point method with crossover.
    """
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {"output_flag": False, "solver": "ipm" if interior else "simplex"}
    if tolerance is not None:
        options |= {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
    if seconds is not None:
        options["time_limit"] = seconds
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(_model(objective, bounds, most, equal))
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    counts = info.simplex_iteration_count, info.ipm_iteration_count, info.crossover_iteration_count
    iterations = sum(max(0, count) for count in counts)
    if status == highspy.HighsModelStatus.kTimeLimit:
        return None, iterations
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(f"the linear program was not solved: {solver.modelStatusToString(status)}")
    solution = solver.getSolution()
    x, prices = np.array(solution.col_value), np.array(solution.row_dual)
    limited = sum(rows.count for rows, _ in most)
    return Optimum(x, float(info.objective_function_value), prices[:limited]), iterations


def _model(
    objective: Numbers,
    bounds: tuple[Numbers, Numbers],
    most: Sequence[Limited],
    equal: Sequence[Limited],
) -> Any:
    columns, parts, count = len(objective), [], 0
    for rows, _ in (*most, *equal):
        parts.append(rows.entries(count))
        count += rows.count
    row, column, value = (np.concatenate([part[j] for part in parts]) for j in range(3))
    place, index = np.unique(row * columns + column, return_inverse=True)
    model: Any = highspy.HighsLp()  # its published types know no arrays of integers
    model.num_col_, model.num_row_ = columns, count
    model.col_cost_ = objective
    model.col_lower_, model.col_upper_ = bounds
    limits = np.concatenate([limit for _, limit in (*most, *equal)])
    limited = sum(rows.count for rows, _ in most)
    model.row_upper_ = limits
    model.row_lower_ = np.where(np.arange(count) < limited, -highspy.kHighsInf, limits)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(place, np.arange(count + 1) * columns)
    model.a_matrix_.index_ = place % columns
    model.a_matrix_.value_ = np.bincount(index, weights=value, minlength=len(place))
    return model
