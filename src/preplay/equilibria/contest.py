"""Both sides prepare: grow W, solve the meta-game, and say what the equilibrium means (Algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from preplay import response, theorems
from preplay.book import Book, Entry
from preplay.equilibria import Equilibrium, Mixed, SolverProgress, advantages, certify, payoff
from preplay.equilibria.publicgame import ends, stop_values, stops
from preplay.equilibria.strategy import behaviour, first_advantages, play_entropy
from preplay.equilibria.turns import Solver, in_turns
from preplay.game import FINAL, S, Side, other
from preplay.growth import Contested, ContestedGrowth, GrowthProgress, Limits, grow_contested
from preplay.judging import CONFIDENT
from preplay.matchup import Matchup
from preplay.preparation import moves, prepare
from preplay.stopping import NEVER, Stop
from preplay.tree import Bools, Floats, Tree

LEAST = 1e-9
"""Probabilities of memorizing below this are left out of books."""


@dataclass(frozen=True)
class Alone:
    """What `prepare` says of one side's best book against an unprepared one, in player 1's values."""

    value: float
    """Net of the cost of memory."""
    lower: float
    upper: float
    complete: bool
    """Whether its growth came to its end; else only the bounds are known."""


@dataclass(frozen=True)
class Entropy:
    """How randomly a side plays in equilibrium, beside what Theorem 2 says it must.

    The theorem speaks of the opponent on prep for the whole game, and of where it first has the
    advantage v'. That place is as random as this side's moves, chance's, and the prep's make it.
    """

    play: float
    """Expected entropy of the side's own moves, in nats, as far as the tree was grown."""
    advantage: float
    """v', for the opponent: where the bound is sharpest."""
    found: float
    """Entropy of where the opponent on prep first has that advantage."""
    bound: float
    """Theorem 2's own bound; 0 where the theorem is void."""
    applies: bool
    """Whether the theorem's condition holds: the opponent on prep always gets there."""
    reached: float = 0.0
    """P_norm: how often it does, as far as the tree tells."""
    floor: float = 0.0
    """`theorems.entropy_floor`: the least that `found` can be in an equilibrium; 0 says nothing."""


@dataclass(frozen=True, eq=False)
class Contest:
    """An equilibrium with the tree it lives on and what it means for each side. Values are player 1's."""

    grown: Contested
    equilibrium: Equilibrium
    baseline: float  # nobody prepares: v of the root
    utility: float  # of the equilibrium, memory not subtracted
    alone: tuple[Alone | None, Alone | None]  # only side 1, only side 2 prepares; None: not known
    entropy: tuple[Entropy, Entropy]

    @property
    def tree(self) -> Tree:
        """The public tree."""
        return self.grown.tree

    @property
    def memorizable(self) -> Bools:
        """[n] the histories that could pay."""
        return self.grown.memorizable


def contest(  # noqa: PLR0913  # an option each
    matchup: Matchup[S],
    costs: tuple[float, float],
    *,
    gap: float = 1e-6,
    method: str = "auto",
    iterations: int | None = None,
    seconds: float | None = None,
    limits: Limits | None = None,
    stop: Stop = NEVER,
    growing: Callable[[GrowthProgress], None] | None = None,
    solving: Callable[[SolverProgress], None] | None = None,
    checkpoint: Path | None = None,
    one_by_one: bool = True,
) -> Contest:
    """An ε-Nash equilibrium of the meta-game with a certificate from exact best responses.

    Of an enumerable game all of W is grown. Otherwise growing and solving take turns: the certificate
    counts what books that go on at open histories could still gain, and where that is most, the tree
    grows, until the gap is as asked or nothing in W is left that a best response would use. With
    `checkpoint`, an interrupted run goes on where it was, from the tree and the mixed books it had.
    With `one_by_one` `prepare` says what each side gains alone.
    Where values are a first guess, growing and solving go by it, and the certificate does not.
    """
    for cost in costs:
        response.check_cost(cost)
    growth = ContestedGrowth(
        matchup.game,
        matchup.base,
        matchup.prep,
        matchup.counted_at(theorems.price_of_both(costs, matchup.game.longest)),
        costs,
        matchup.limits(limits),
        lazy=not matchup.enumerable,
        stop=stop,
        progress=growing,
        checkpoint=checkpoint,
    )

    solver = Solver(costs, method, iterations, seconds, stop, solving)
    grown, found = in_turns(growth, solver, gap)
    if matchup.guessing:
        grown, found = _uncertain(grown, found)
    baseline, alone = _one_by_one(matchup, costs, limits, stop, growing, one_by_one)
    whole = None if matchup.guessing else _whole(matchup, grown, costs, stop)
    return explain(grown, _within_reason(found), matchup.game.longest, baseline, alone, whole)


BEYOND = 4
"""A whole game this many times as large as its part that matters is grown to follow prep to its end."""


def _whole(
    matchup: Matchup[S], grown: Contested, costs: tuple[float, float], stop: Stop
) -> Contested | None:
    """All of an enumerable game that is small enough, prep known everywhere, for Theorem 2."""
    if not matchup.enumerable or stop.asked:
        return None
    most = Limits(BEYOND * max(512, grown.tree.size), negligible=matchup.negligible)
    value = matchup.counted_at(theorems.price_of_both(costs, matchup.game.longest))
    whole = grow_contested(
        matchup.game, matchup.base, matchup.prep, value, costs, most, everything=True, stop=stop
    )
    return whole if whole.ending == "complete" else None


def _within_reason(found: Equilibrium) -> Equilibrium:
    """Bounds of a game's value in [0, 1]: whoever memorizes nothing has no less than 0.

    The gap stays what the best responses said: it is how exploitable the pair of mixed books is.
    """
    lower, upper = max(0.0, found.lower), min(1.0, found.upper)
    return replace(found, lower=lower, upper=upper, value=(lower + upper) / 2.0)


Pair = tuple[Alone | None, Alone | None]


def _one_by_one(
    matchup: Matchup[S],
    costs: tuple[float, float],
    limits: Limits | None,
    stop: Stop,
    growing: Callable[[GrowthProgress], None] | None,
    wanted: bool,
) -> tuple[float, Pair]:
    """What `prepare` says at the same costs: v of the root, and what one side gains alone.

    Under a clock, where that takes games, and after a stop, it is left out.
    """
    if matchup.guessing or stop.asked or not wanted:
        return matchup.counted_at(min(costs)).values([matchup.game.root()])[0].mean, (None, None)
    found: list[Alone | None] = []
    sides: tuple[Side, Side] = (1, 2)
    baseline = 0.5
    for side in sides:
        prepared = prepare(matchup, side, costs[side - 1], limits=limits, stop=stop, progress=growing)
        best = prepared.response
        low, high = best.net, best.upper
        if side == 1:
            baseline = best.baseline
        else:
            low, high = 1.0 - high, 1.0 - low
        value = best.net if side == 1 else 1.0 - best.net
        ending = prepared.grown.ending
        alone = Alone(value, low, high, ending == "complete")
        found.append(None if ending == "interrupted" else alone)
    return baseline, (found[0], found[1])


def _uncertain(grown: Contested, found: Equilibrium) -> tuple[Contested, Equilibrium]:
    """The same books, and what is certain about them if only finished games have a known value."""
    tree = grown.tree
    widest = np.maximum(tree.value, 1.0 - tree.value)
    radius = np.where((tree.player == FINAL) | np.isnan(widest), 0.0, widest)
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


def explain(
    grown: Contested,
    found: Equilibrium,
    longest: int,
    baseline: float,
    alone: Pair,
    whole: Contested | None = None,
) -> Contest:
    """What an equilibrium means: who gains how much, and how randomly each side plays.

    Theorem 2 follows prep as far as `whole` knows it, or else as far as `grown` does.
    """
    tree = grown.tree
    known, x = (grown, found.x) if whole is None else (whole, _moved(grown, whole, found.x))
    paid = [cost * size for cost, size in zip(found.costs, found.expected_size, strict=True)]
    play = play_entropy(tree, found.x)
    return Contest(
        grown=grown,
        equilibrium=found,
        baseline=baseline,
        utility=found.payoff + paid[0] - paid[1],
        alone=alone,
        entropy=(
            _entropy(known, found, x[0], 1, play.sides[0], longest),
            _entropy(known, found, x[1], 2, play.sides[1], longest),
        ),
    )


LEVELS = 16
"""Advantages v' that are tried for Theorem 2."""


def _moved(grown: Contested, whole: Contested, x: Mixed) -> Mixed:
    """Mixed books on a larger tree of the same game: nothing else is memorized."""
    rows = np.zeros((2, whole.tree.size))
    for k in np.flatnonzero((x[0] > 0.0) | (x[1] > 0.0)).tolist():
        rows[:, whole.tree.find(grown.tree.history(k))] = x[0][k], x[1][k]
    return rows[0], rows[1]


def _entropy(
    known: Contested, found: Equilibrium, book: Floats, side: Side, play: float, longest: int
) -> Entropy:
    """Theorem 2 for the randomness of `side`, with its mixed book on the tree of `known`: its opponent is
    the theorem's player 1."""
    opponent = other(side)
    value = max(0.0, found.upper if opponent == 1 else 1.0 - found.lower)
    cost = found.costs[opponent - 1]
    best: Entropy | None = None
    levels = np.linspace(1.0, value, LEVELS, endpoint=False).tolist()
    for first in first_advantages(known.tree, opponent, book, levels, known.studied):
        level = first.level
        now = Entropy(
            play=play,
            advantage=level,
            reached=first.reached,
            found=first.entropy,
            floor=theorems.entropy_floor(level, value, cost, longest, first.reached),
            bound=theorems.theorem2(level, value, cost, longest),
            applies=first.reached >= 1.0 - 1e-9 and level > value + 0.01,
        )
        if best is None or (now.floor, now.reached) > (best.floor, best.reached):
            best = now
    assert best is not None
    return best


def calibration_error(matchup: Matchup[S], result: Contest) -> float:
    """How far the error of a calibration can move what the two mixed books earn, with 95 % confidence."""
    if matchup.calibration is None:
        return 0.0
    tree, curve = result.tree, matchup.calibration.curve()
    valued = tree.player != FINAL
    mass, x = np.where(valued, ends(tree, result.equilibrium.x), 0.0), result.equilibrium.x
    moved = [
        payoff(replace(tree, value=np.where(valued, turned, 0.0)), (0.0, 0.0), x)
        for turned in curve.turning(tree.value)
    ]
    met = np.flatnonzero(mass > 0.0)
    lengths = [len(tree.history(int(k))) for k in met]
    lines = curve.error_of_lines(stops(tree, tree.value)[met].tolist(), mass[met].tolist(), lengths)
    return CONFIDENT * math.hypot(curve.error_along(moved[0], moved[1]), lines)


def mixed_book(
    matchup: Matchup[S], result: Contest, side: Side, provenance: Mapping[str, Any] | None = None
) -> Book:
    """A side's mixed book: each history with the probability of being memorized.

    Everything is as the side sees it that meets the opponent's mixed book: `reach` with the side in its
    book, `value` when it leaves it there, and gains that add up (fact 1) to what the mixed book earns,
    each counted x(h) times.
    """
    tree, found = result.tree, result.equilibrium
    nothing = np.zeros(tree.size)
    theirs = found.x[other(side) - 1]
    against = (nothing, theirs) if side == 1 else (theirs, nothing)
    value, gain = stop_values(tree, side, theirs), advantages(tree, (0.0, 0.0), side, against)
    unprepared = payoff(tree, (0.0, 0.0), against)
    mover = tree.player[np.maximum(tree.parent, 0)]
    seen = replace(
        tree, base=np.where(mover == other(side), behaviour(tree, other(side), theirs), tree.base)
    )
    reach, x = response.reach(seen, side), found.x[side - 1]
    entries = [
        Entry(
            history=tree.history(k),
            moves=moves(tree, k),
            reach=float(reach[k]),
            gain=float(gain[k]),
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
        error=math.hypot(
            payoff(replace(tree, value=_radii(tree)), (0.0, 0.0), found.x),
            calibration_error(matchup, result),
        ),
        unprepared=unprepared if side == 1 else 1.0 - unprepared,
        start=matchup.notation.start if matchup.notation else "",
        chess960=matchup.notation is not None and matchup.notation.chess960,
        provenance=dict(provenance or {}),
        against="book",
    )


def _radii(tree: Tree) -> Floats:
    """[n] the radius of v(h) where it has a value of its own."""
    return np.where(np.isnan(tree.value), np.nan, tree.radius)
