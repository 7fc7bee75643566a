"""Both sides prepare: grow W, solve the meta-game, and say what the equilibrium means (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from preplay import bounds, response
from preplay.book import Book, Entry
from preplay.equilibria import Equilibrium, Mixed, SolverProgress, best_response, certify, payoff, solve
from preplay.equilibria.open_leaves import promise
from preplay.equilibria.strategy import FirstAdvantage, behaviour, first_advantage, play_entropy
from preplay.game import FINAL, S, Side, other
from preplay.growth import Contested, ContestedGrowth, GrowthProgress, Limits
from preplay.matchup import Matchup
from preplay.preparation import moves
from preplay.stopping import NEVER, Stop
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
    growing: Callable[[GrowthProgress], None] | None = None,
    solving: Callable[[SolverProgress], None] | None = None,
) -> Contest:
    """An ε-Nash equilibrium of the meta-game with a certificate from exact best responses.

    Of an enumerable game all of W is grown. Otherwise growing and solving take turns: the certificate
    counts what books below unexpanded histories could still gain, and where that is most, the tree
    grows, until the gap is as asked or nothing in W is left that a best response would use.
    Where values are a first guess, growing and solving go by it, and the certificate does not.
    """
    for cost in costs:
        response.check_cost(cost)
    growth = ContestedGrowth(
        matchup.game,
        matchup.base,
        matchup.prep,
        matchup.value_at(min(costs)),
        costs,
        replace(limits or Limits(), window=matchup.window, negligible=matchup.negligible),
        lazy=not matchup.enumerable,
        stop=stop,
        progress=growing,
    )

    trace: list[SolverProgress] = []
    iterated, spent = 0, 0.0

    def solved(grown: Contested, start: Mixed | None, to: float, report: bool) -> Equilibrium:
        nonlocal iterated, spent
        found = solve(
            grown.tree,
            costs,
            gap=to,
            method=method,
            iterations=iterations,
            seconds=seconds,
            start=start if method != "lp" else None,
            memorizable=grown.memorizable,
            progress=solving if report else None,
            stop=lambda: stop.asked,
        )
        trace.extend(SolverProgress(iterated + i, spent + s, g) for i, s, g in found.trace)
        iterated, spent = iterated + found.iterations, spent + found.seconds
        return replace(found, iterations=iterated, seconds=spent, trace=tuple(trace))

    grown = growth.grown()
    found = solved(grown, None, gap, True)
    best = grown, found
    while growth.ending == "complete":
        if found.open_error <= gap / 4.0:
            if found.solver_gap <= gap:
                break
            finer = solved(grown, found.x, gap, True)
            if finer.open_error <= gap / 4.0 or stop.asked:
                found = finer
                break
            found = finer
        hopes = promise(grown.tree, costs, found.x, memorizable=grown.memorizable)
        chosen = np.argsort(-hopes, kind="stable")[: max(WIDTH, grown.tree.size // 4)]
        before = grown
        growth.expand(grown.order[chosen[hopes[chosen] > 0.0]].tolist())
        grown = growth.grown()
        found = solved(grown, _carried(before, grown, found.x), max(gap, found.open_error / 8.0), False)
        best = min(best, (grown, found), key=lambda pair: pair[1].gap)
    if found.solver_gap > gap and growth.ending != "complete" and not stop.asked:
        found = solved(grown, found.x, gap, True)
    if best[1].gap < found.gap:  # cut short in the middle of an expansion
        grown, found = replace(best[0], ending=growth.ending), best[1]
    if matchup.guessing:
        grown, found = _uncertain(grown, found)
    return explain(grown, _within_reason(found), matchup.game.longest)


def _within_reason(found: Equilibrium) -> Equilibrium:
    """Bounds of a game's value in [0, 1]: whoever memorizes nothing has no less than 0."""
    lower, upper = max(0.0, found.lower), min(1.0, found.upper)
    return replace(found, lower=lower, upper=upper, value=(lower + upper) / 2.0, gap=upper - lower)


def _uncertain(grown: Contested, found: Equilibrium) -> tuple[Contested, Equilibrium]:
    """The same books, and what is certain about them if only finished games have a known value."""
    tree = grown.tree
    radius = np.where(tree.player == FINAL, 0.0, np.maximum(tree.value, 1.0 - tree.value))
    grown = replace(grown, tree=replace(tree, radius=radius))
    sure = certify(grown.tree, found.costs, *found.x, memorizable=grown.memorizable)
    found = replace(
        found,
        lower=sure.lower,
        upper=sure.upper,
        gap=sure.gap,
        radius_error=sure.radius_error,
        open_error=sure.open_error,
    )
    return grown, found


WIDTH = 32
"""Open histories expanded between two solutions, at least; at most a quarter of the tree."""


def _carried(before: Contested, after: Contested, x: Mixed) -> Mixed:
    """Mixed books of a smaller tree on the larger one: new histories are not memorized yet."""
    pair = []
    for side in (0, 1):
        known = np.zeros(after.histories)
        known[before.order] = x[side]
        pair.append(known[after.order])
    return pair[0], pair[1]


def explain(grown: Contested, found: Equilibrium, longest: int) -> Contest:
    """What an equilibrium means: who gains how much, and how randomly each side plays."""
    tree, mask, costs = grown.tree, grown.memorizable, found.costs
    nobody = np.zeros(tree.size)
    baseline = payoff(tree, costs, (nobody, nobody))
    utility = found.payoff + costs[0] * found.expected_size[0] - costs[1] * found.expected_size[1]
    alone = (
        best_response(tree, costs, 1, nobody, memorizable=mask).gain,
        0.0 - best_response(tree, costs, 2, nobody, memorizable=mask).gain,
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

    Everything is as the side sees it that meets the opponent's mixed book: `reach` with the side in its
    book, `value` when it leaves it there, and gains that add up (fact 1) to what the mixed book earns,
    each counted x(h) times.
    """
    tree, found = result.tree, result.equilibrium
    theirs = behaviour(tree, other(side), found.x[other(side) - 1])
    mover = tree.player[np.maximum(tree.parent, 0)]
    seen = replace(tree, base=np.where(mover == other(side), theirs, tree.base))
    seen = replace(seen, value=base_values(seen))
    value = seen.value if side == 1 else 1.0 - seen.value
    own, gain = response.gains(seen, side)
    gain_of = dict(zip(own.tolist(), gain.tolist(), strict=True))
    reach, x = response.reach(seen, side), found.x[side - 1]
    entries = [
        Entry(
            history=tree.history(k),
            moves=moves(tree, k),
            reach=float(reach[k]),
            gain=gain_of[k],
            value=float(value[k]),
            probability=min(1.0, float(x[k])),
        )
        for k in np.flatnonzero(x > LEAST).tolist()
    ]
    return Book(
        side=side,
        entries=matchup.scored(side, entries),
        baseline=result.baseline if side == 1 else 1.0 - result.baseline,
        value=result.utility if side == 1 else 1.0 - result.utility,
        cost=found.costs[side - 1],
        upper=found.upper if side == 1 else 1.0 - found.lower,
        error=payoff(replace(tree, value=tree.radius), (0.0, 0.0), found.x),
        unprepared=float(value[0]),
        start=matchup.notation.start if matchup.notation else "",
        chess960=matchup.notation is not None and matchup.notation.chess960,
        provenance=dict(provenance or {}),
    )


def base_values(tree: Tree) -> Floats:
    """[n] v(h) of base against base, from the leaves up."""
    value = np.where(tree.leaves, tree.value, 0.0)
    for k in range(tree.size - 1, 0, -1):
        value[tree.parent[k]] += tree.base[k] * value[k]
    return value
