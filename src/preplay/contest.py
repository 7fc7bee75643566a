"""Both sides prepare: grow W, solve the meta-game, and say what the equilibrium means (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from preplay import bounds, response
from preplay.book import Book, Entry
from preplay.equilibrium import Equilibrium, advantages, best_response, payoff, solve
from preplay.equilibrium import Progress as SolverProgress
from preplay.equilibrium.strategy import FirstAdvantage, behaviour, first_advantage, play_entropy
from preplay.game import S, Side, other
from preplay.growth import NEVER, Contested, Limits, Progress, Stop, grow_contested
from preplay.matchup import Matchup
from preplay.tree import Bools, Floats, Tree

LEAST = 1e-9
"""Probabilities of memorizing below this are left out of books."""


@dataclass(frozen=True)
class Entropy:
    """How randomly a side plays in equilibrium, beside Theorem 2's bound where that speaks."""

    play: float
    """Expected entropy of the side's own moves, in nats."""
    advantage: float
    """v' of Theorem 2, for the opponent."""
    found: float
    """Entropy of where the opponent, always on prep, first has that advantage."""
    bound: float
    """Theorem 2's lower bound on it; 0 where the theorem is void."""
    applies: bool
    """Whether the theorem's condition holds: the opponent on prep always wins."""


@dataclass(frozen=True, eq=False)
class Contest:
    """An equilibrium with the tree it lives on and what it means for each side. Values are player 1's."""

    grown: Contested
    equilibrium: Equilibrium
    baseline: float  # nobody prepares
    utility: float  # of the equilibrium, memory not subtracted
    alone: tuple[float, float]  # player 1's value when only side 1, only side 2 prepares, net of cost
    entropy: tuple[Entropy, Entropy]

    @property
    def tree(self) -> Tree:
        """The public tree."""
        return self.grown.tree

    @property
    def memorizable(self) -> Bools:
        """[n] the histories that could pay."""
        return self.grown.memorizable


def contest(
    matchup: Matchup[S],
    costs: tuple[float, float],
    *,
    gap: float = 1e-6,
    method: str = "sweep",
    iterations: int | None = None,
    seconds: float | None = None,
    limits: Limits | None = None,
    stop: Stop = NEVER,
    growing: Callable[[Progress], None] | None = None,
    solving: Callable[[SolverProgress], None] | None = None,
) -> Contest:
    """An ε-Nash equilibrium of the meta-game with a certificate from exact best responses."""
    for cost in costs:
        response.check_cost(cost)
    limits = replace(limits or Limits(), window=matchup.window, negligible=matchup.negligible)
    grown = grow_contested(
        matchup.game,
        matchup.base,
        matchup.prep,
        matchup.value,
        costs,
        limits,
        stop=stop,
        progress=growing,
    )
    found = solve(
        grown.tree,
        costs,
        gap=gap,
        method=method,
        iterations=iterations,
        seconds=seconds,
        memorizable=grown.memorizable,
        progress=solving,
        stop=lambda: stop.asked,
    )
    return explain(grown, found, matchup.game.longest)


def explain(grown: Contested, found: Equilibrium, longest: int) -> Contest:
    """What an equilibrium means: who gains how much, and how randomly each side plays."""
    tree, mask, costs = grown.tree, grown.memorizable, found.costs
    nobody = np.zeros(tree.size)
    baseline = payoff(tree, costs, (nobody, nobody))
    utility = found.payoff + costs[0] * found.expected_size[0] - costs[1] * found.expected_size[1]
    alone = (
        best_response(tree, costs, 1, nobody, memorizable=mask).gain,
        1.0 - best_response(tree, costs, 2, nobody, memorizable=mask).gain,
    )
    play = play_entropy(tree, found.x)
    return Contest(
        grown=grown,
        equilibrium=found,
        baseline=baseline,
        utility=utility,
        alone=alone,
        entropy=(
            _entropy(tree, found, 1, play.sides[0], longest),
            _entropy(tree, found, 2, play.sides[1], longest),
        ),
    )


def _entropy(tree: Tree, found: Equilibrium, side: Side, play: float, longest: int) -> Entropy:
    """Theorem 2 for the randomness of `side`: its opponent is the theorem's player 1."""
    opponent = other(side)
    value = found.upper if opponent == 1 else 1.0 - found.lower
    cost = found.costs[opponent - 1]
    level = (max(value, 0.0) + 0.01 + 1.0) / 2.0
    first: FirstAdvantage = first_advantage(tree, opponent, found.x[side - 1], level)
    return Entropy(
        play=play,
        advantage=level,
        found=first.entropy,
        bound=bounds.theorem2(level, value, cost, longest),
        applies=first.prep_value >= 1.0 - 1e-9 and level > value + 0.01,
    )


def mixed_book(
    matchup: Matchup[S], result: Contest, side: Side, provenance: Mapping[str, Any] | None = None
) -> Book:
    """A side's mixed book: each history with the probability of being memorized.

    `reach` is how often the game gets there with the side in its book and the opponent in equilibrium,
    `gain` what staying in book there adds at the equilibrium.
    """
    tree, found = result.tree, result.equilibrium
    x = found.x[side - 1]
    cost = found.costs[side - 1]
    reach = _reach(tree, side, found.x[other(side) - 1])
    gain = advantages(tree, found.costs, side, found.x, memorizable=result.memorizable) + cost
    value = base_values(tree)
    rows = [int(k) for k in np.flatnonzero(x > LEAST)]
    entries = []
    for k in rows:
        moves = {
            tree.names[tree.action[c]]: float(tree.prep[c])
            for c in tree.children(k)
            if tree.prep[c] > 0.0
        }
        mine = float(value[k] if side == 1 else 1.0 - value[k])
        entries.append(
            Entry(tree.history(k), moves, float(reach[k]), float(gain[k]), mine, min(1.0, float(x[k])))
        )
    mine = result.utility if side == 1 else 1.0 - result.utility
    return Book(
        side=side,
        entries=tuple(entries),
        baseline=result.baseline if side == 1 else 1.0 - result.baseline,
        value=mine,
        cost=cost,
        upper=found.upper if side == 1 else 1.0 - found.lower,
        start=getattr(matchup.game, "start_fen", ""),
        chess960=bool(getattr(matchup.game, "chess960", False)),
        provenance=dict(provenance or {}),
    )


def base_values(tree: Tree) -> Floats:
    """[n] v(h) of base against base, from the leaves up."""
    value = np.where(tree.leaves, tree.value, 0.0)
    for k in range(tree.size - 1, 0, -1):
        value[tree.parent[k]] += tree.base[k] * value[k]
    return value


def _reach(tree: Tree, side: Side, opponent: Floats) -> Floats:
    """[n] how likely each history is with `side` on prep against the opponent's mixed book."""
    theirs = behaviour(tree, other(side), opponent)
    mover = tree.player[np.maximum(tree.parent, 0)]
    return response.reach(replace(tree, base=np.where(mover == other(side), theirs, tree.base)), side)
