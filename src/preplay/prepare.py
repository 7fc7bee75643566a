"""Preparing one side: grow the tree, choose the book, keep what is needed to explain it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from preplay import response
from preplay.book import Book, Entry
from preplay.game import S, Side
from preplay.growth import NEVER, Grown, Limits, Pays, Progress, Stop, grow
from preplay.matchup import Matchup
from preplay.response import Response
from preplay.timeshare import TimeShare
from preplay.tree import Ints, Tree
from preplay.value import FirstGuess

LEAST_COST = 1e-7
"""Where the search for the price of a place ends when only a budget is given."""
CONFIDENT = 1.96
"""Standard errors in a 95 % interval."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A best book with the tree it was chosen on."""

    side: Side
    grown: Grown
    response: Response
    played: TimeShare | None = None
    """What fresh games with the book said, where time is part of the game."""

    @property
    def tree(self) -> Tree:
        """The tree the book was chosen on."""
        return self.grown.tree


def prepare(
    matchup: Matchup[S],
    side: Side,
    cost: float | None = None,
    budget: int | None = None,
    limits: Limits | None = None,
    *,
    stop: Stop = NEVER,
    progress: Callable[[Progress], None] | None = None,
    playing: Callable[[str], None] | None = None,
    checkpoint: Path | None = None,
) -> Prepared:
    """The best book of `side` against the opponent's base (Algorithm 1).

    With a cost, memory is priced; with a budget, its size is limited; with both, both hold. `progress`
    hears of the growth, `playing` of games that are played after it.
    """
    limits = replace(limits or Limits(), window=matchup.window, negligible=matchup.negligible)
    run = _Run(limits, stop, progress, playing)
    if budget is not None and cost is None:
        if matchup.enumerable:
            return _solve(matchup, side, 0.0, budget, run, checkpoint)
        return _replayed(matchup, _by_price(matchup, side, budget, run), run)
    price = matchup.cost(side, cost)
    response.check_cost(price)
    return _replayed(matchup, _solve(matchup, side, price, budget, run, checkpoint), run)


@dataclass(frozen=True)
class _Run:
    """How far to go, and who hears of it."""

    limits: Limits
    stop: Stop
    progress: Callable[[Progress], None] | None
    playing: Callable[[str], None] | None

    def tell(self, text: str) -> None:
        if self.playing is not None:
            self.playing(text)


def _solve(
    matchup: Matchup[S],
    side: Side,
    cost: float,
    budget: int | None,
    run: _Run,
    checkpoint: Path | None = None,
) -> Prepared:
    grown = grow(
        matchup.game,
        side,
        matchup.base,
        matchup.prep[side - 1],
        FirstGuess(matchup.value) if matchup.guessing else matchup.value,
        Pays(cost),
        run.limits,
        stop=run.stop,
        progress=run.progress,
        checkpoint=checkpoint,
    )
    if matchup.sampling is not None and cost > 0.0:
        grown, best = _sharpened(matchup, grown, side, cost, budget, run)
    else:
        best = response.best_book(grown.tree, side, cost, budget)
    return Prepared(side, grown, best)


def _sharpened(
    matchup: Matchup[S], grown: Grown, side: Side, cost: float, budget: int | None, run: _Run
) -> tuple[Grown, Response]:
    """Sample on where it can change the decision, then choose (Theorem 3, adaptive)."""
    from preplay.sharpen import sharpen

    assert matchup.sampling is not None
    rollouts, epsilon = matchup.sampling
    sharper = sharpen(
        matchup.game,
        grown.tree,
        side,
        cost,
        rollouts,
        epsilon,
        most=matchup.playouts,
        trusted=matchup.guessing,
        stop=run.stop,
        progress=lambda now: run.tell(f"{now.samples:,} playouts, regret at most {now.regret:.3f}"),
    )
    grown = replace(grown, tree=sharper.tree)
    best = response.best_book(sharper.tree, side, cost, budget)
    if budget is None:  # the decision stage knows the book as a whole better than history by history
        best = replace(best, upper=sharper.upper, error=max(0.0, best.net - sharper.lower))
    return grown, best


def _replayed(matchup: Matchup[S], prepared: Prepared, run: _Run) -> Prepared:
    """Where time is part of the game, fresh games say what the chosen book is worth."""
    best = prepared.response
    if matchup.replay is None or run.stop.asked:
        return prepared
    tree = prepared.tree
    memory = {tree.history(int(k)): moves(tree, int(k)) for k in best.nodes}
    played = matchup.replay(
        best.side, memory, run.stop, lambda games: run.tell(f"{games:,} fresh games of each kind")
    )
    if not played.games:
        return prepared
    better = replace(
        best,
        baseline=played.without.mean,
        unprepared=played.without.mean,
        value=played.value.mean,
        error=CONFIDENT * played.value.error,
    )
    return replace(prepared, response=replace(better, upper=max(best.upper, better.net)), played=played)


def _by_price(matchup: Matchup[S], side: Side, budget: int, run: _Run) -> Prepared:
    """The best book within a budget on a game too large to grow without a price.

    Lower prices grow larger trees, until the best book for the price fills the budget. Any book S of at
    most B histories has value(S) <= best net at price p + p * B, which certifies the choice.
    """
    price, upper = 0.02, 1.0
    while True:
        prepared = _solve(matchup, side, price, None, run)
        upper = min(upper, prepared.response.upper + price * budget)
        full = prepared.response.size >= budget or price < LEAST_COST
        if full or prepared.grown.ending != "complete":
            best = response.best_book(prepared.tree, side, 0.0, budget)
            upper = max(best.value, upper)
            return Prepared(side, prepared.grown, replace(best, upper=upper))
        price /= 2.0


def book_of(
    matchup: Matchup[S],
    prepared: Prepared,
    nodes: Ints | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Book:
    """The chosen book (or another one on the same tree) with what each entry is worth."""
    tree, side, best = prepared.tree, prepared.side, prepared.response
    chosen = best.nodes if nodes is None else nodes
    own, gain = response.gains(tree, side)
    gain_of = dict(zip(own.tolist(), gain.tolist(), strict=True))
    reach = response.reach(tree, side)
    entries = [entry(tree, side, int(k), float(reach[k]), gain_of[int(k)]) for k in np.sort(chosen)]
    start = getattr(matchup.game, "start_fen", "")
    return Book(
        side=side,
        entries=matchup.scored(side, entries),
        baseline=best.baseline,
        value=best.value if nodes is None else response.evaluate(tree, side, chosen),
        cost=best.cost,
        upper=best.upper,
        error=best.error,
        unprepared=None if prepared.played is not None else best.unprepared,
        start=start,
        chess960=bool(getattr(matchup.game, "chess960", False)),
        provenance=dict(provenance or {}),
    )


def entry(tree: Tree, side: Side, k: int, reach: float, gain: float) -> Entry:
    """One memorized history of a tree as a book entry."""
    value = float(tree.value[k])
    return Entry(
        history=tree.history(k),
        moves=moves(tree, k),
        reach=reach,
        gain=gain,
        value=value if side == 1 else 1.0 - value,
    )


def moves(tree: Tree, k: int) -> dict[str, float]:
    """What prep plays at a history of a tree."""
    return {
        tree.names[tree.action[c]]: float(tree.prep[c]) for c in tree.children(k) if tree.prep[c] > 0.0
    }
