"""The equilibrium as one linear program: the sequence form of the folded game, by HiGHS.

Player 1 chooses how much of its mass leaves (`gone`) and stays in (`held`) at each of its decisions.
Player 2's best answer is written as its dual: the worth of each of its decisions once it has left
(`out`) and while it is in book (`in`), where `in` can be at most what leaving is worth and at most what
staying is worth. Both sums over the leaves are linear in player 1's masses. Maximizing the worth at
the start minus player 1's costs gives player 1's strategy; the dual values of the "staying" rows are
player 2's in-book masses.
"""

from __future__ import annotations

import numpy as np

from preplay.equilibria.folding import (
    BASE,
    COST,
    IN_IN,
    IN_LEFT,
    LEFT_IN,
    LEFT_LEFT,
    PREP,
    FoldedGame,
)
from preplay.equilibria.publicgame import Mixed
from preplay.programs import PRECISE, Rows, minimize

LARGE = 8_000
"""From so many decisions on an interior point method (with crossover) is faster than the simplex."""


def solve_lp(game: FoldedGame, seconds: float | None = None) -> tuple[Mixed | None, int]:
    """In-book masses of an equilibrium of `game`, and the number of the solver's iterations.

    None instead of the masses when the seconds are over before it is found.
    """
    one, two = game.sides
    m, k = len(one.history), len(two.history)
    # Columns: gone [m] and held [m] of player 1, out [k] and in [k] of player 2.
    gone, held, out, inn = 0, m, 2 * m, 2 * m + k
    columns = 2 * m + 2 * k
    d, e = np.arange(1, m), np.arange(1, k)

    flow = Rows(m - 1)  # gone[d] + held[d] = BASE gone[p] + PREP held[p]
    flow.add(d - 1, gone + d, 1.0)
    flow.add(d - 1, held + d, 1.0)
    flow.add(d - 1, gone + one.previous[d], -one.table[d, BASE])
    flow.add(d - 1, held + one.previous[d], -one.table[d, PREP])

    prefix = Rows(m - 1)  # held[d] <= PREP held[p]
    prefix.add(d - 1, held + d, 1.0)
    prefix.add(d - 1, held + one.previous[d], -one.table[d, PREP])

    # Player 2's worth, in player 1's units, of having left at e: leaves, and later decisions.
    leaving = Rows(k)
    leaving.add(np.arange(k), out + np.arange(k), 1.0)
    leaving.add(two.previous[e], out + e, -two.table[e, BASE])
    # Player 2's worth of staying at e; row 0 stands for the start of the game.
    staying = Rows(k)
    staying.add(np.arange(k), inn + np.arange(k), 1.0)
    staying.add(two.previous[e], inn + e, -two.table[e, PREP])
    for rows, one_gone, one_held, two_gone, two_held in (
        (leaving, LEFT_LEFT, IN_LEFT, LEFT_LEFT, LEFT_IN),
        (staying, LEFT_IN, IN_IN, IN_LEFT, IN_IN),
    ):
        rows.add(one.rival, gone + np.arange(m), -one.table[:, one_gone])
        rows.add(one.rival, held + np.arange(m), -one.table[:, one_held])
        rows.add(np.arange(k), gone + two.rival, two.table[:, two_gone])
        rows.add(np.arange(k), held + two.rival, two.table[:, two_held])

    either = Rows(k - 1)  # in[e] <= out[e]
    either.add(e - 1, inn + e, 1.0)
    either.add(e - 1, out + e, -1.0)

    objective = np.zeros(columns)
    objective[inn] = -1.0
    objective[held + d] = one.table[d, COST]
    lowest = np.full(columns, -np.inf)
    lowest[: 2 * m] = 0.0
    highest = np.full(columns, np.inf)
    highest[: 2 * m] = 1.0
    highest[gone] = 0.0
    lowest[held] = 1.0
    answer, iterations = minimize(
        objective,
        (lowest, highest),
        most=[(staying, two.table[:, COST]), (prefix, np.zeros(m - 1)), (either, np.zeros(k - 1))],
        equal=[(flow, np.zeros(m - 1)), (leaving, np.zeros(k))],
        interior=game.size >= LARGE,
        tolerance=PRECISE,
        seconds=seconds,
    )
    if answer is None:
        return None, iterations
    return (answer.x[held : held + m], np.maximum(0.0, -answer.prices[:k])), iterations
