"""Preparing one side: grow the tree, choose the book, keep what is needed to explain it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from preplay import choice, response
from preplay.book import Book, Decision, Entry
from preplay.game import FINAL, S, Side, walk
from preplay.growth import Grown, GrowthProgress, Limits, Pays, grow
from preplay.judging import CONFIDENT, Judge, Judged, JudgedChoice, settle
from preplay.logistic import Curve
from preplay.matchup import Choosing, Matchup
from preplay.matchup.settings import LEAST_COST
from preplay.response import BestBook, Frontier
from preplay.sampling.timeshare import TimeShare
from preplay.stopping import NEVER, Stop
from preplay.tree import Ints, Tree
from preplay.value import Evaluator, FirstGuess

PART = 0.5
"""What a stage takes of the time that is left, at most, where another stage follows."""
C = TypeVar("C", bound=JudgedChoice)
CALIBRATION = 0.5
"""What calibration games take of the time, at most."""
ROUNDS = 0.8
"""What choosing and judging in turns takes of the time, at most; a fresh value of the choice follows."""


@dataclass(frozen=True)
class Refused:
    """A book that was chosen, and that fresh games did not bear out."""

    size: int
    price: float
    """What its memory costs."""
    clock: TimeShare
    """What the games said."""

    def __str__(self) -> str:
        won = f"{self.clock.gain.mean:+.4g} ± {self.clock.gain.error:.2g}"
        return f"fresh games did not bear it out: {won} for memory that costs {self.price:.4g}"


@dataclass(frozen=True, eq=False)
class Prepared:
    """A best book with the tree it was chosen on."""

    side: Side
    grown: Grown
    response: BestBook
    played: TimeShare | None = None
    """What fresh games with the book said, where time is part of the game."""
    refused: Refused | None = None
    """The book that these games spoke against; the empty one is then the result."""
    judged: Judged | None = None
    """What second opinions said of the values, where there is a judge."""
    curve: Curve | None = None
    """What a score is worth to the two sides, where values are calibrated."""
    choice: choice.Choice | None = None
    """How the moves were chosen, where there are menus; `grown` has the tree with its moves fixed."""

    @property
    def tree(self) -> Tree:
        """The tree the book was chosen on."""
        return self.grown.tree

    @property
    def stale(self) -> bool:
        """Whether an option that growth gave up may be best by the values in use."""
        return self.choice is not None and self.choice.stale

    @property
    def book(self) -> Ints:
        """The memorized histories as indices of the tree."""
        return self.response.nodes

    @property
    def cost(self) -> float:
        """The price that the tree was grown for; with a budget alone the book's own is 0."""
        return self.tree.prices[self.side - 1]

    @property
    def value(self) -> float:
        """What the book promises, costs not subtracted."""
        return self.response.value


@dataclass(frozen=True, eq=False)
class Explored:
    """Every optimal trade-off between memory and value, with the tree it was found on."""

    side: Side
    grown: Grown
    frontier: Frontier
    cost: float
    """The least cost that was looked at."""
    judged: Judged | None = None
    """What second opinions said of the largest book, where there is a judge."""
    curve: Curve | None = None
    """What a score is worth to the two sides, where values are calibrated."""
    choice: choice.Choice | None = None
    """How the moves were chosen, where there are menus: for the least cost."""

    @property
    def error(self) -> float:
        """How far judge and calibration may be off at the largest book."""
        scale = (
            0.0 if self.curve is None else curve_error(self.curve, self.grown.tree, self.side, self.book)
        )
        return math.hypot(self.judged.error if self.judged else 0.0, scale)

    @property
    def stale(self) -> bool:
        """Whether an option that growth gave up may be best by the values in use."""
        return self.choice is not None and self.choice.stale

    @property
    def book(self) -> Ints:
        """The largest book: all others are beginnings of it."""
        return self.frontier.order

    @property
    def value(self) -> float:
        """What the largest book promises."""
        return float(self.frontier.value[-1]) if len(self.frontier.value) else self.frontier.unprepared


def prepare(
    matchup: Matchup[S],
    side: Side,
    cost: float | None = None,
    budget: int | None = None,
    limits: Limits | None = None,
    *,
    stop: Stop = NEVER,
    progress: Callable[[GrowthProgress], None] | None = None,
    playing: Callable[[str], None] | None = None,
    checkpoint: Path | None = None,
) -> Prepared:
    """The best book of `side` against the opponent's base (Algorithm 1).

    With a cost, memory is priced; with a budget, its size is limited; with both, both hold. `progress`
    hears of the growth, `playing` of games that are played after it. `limits.seconds` is for all of it:
    where games follow, growth takes half of it at most, and games that choose half of the rest.
    """
    limits = replace(limits or Limits(), window=matchup.window, negligible=matchup.negligible)
    most = None if matchup.choosing is None else matchup.choosing.most
    run = _Run(limits, stop, progress, playing, most)
    if budget is not None and cost is None:
        price = 0.0
    else:
        price = matchup.cost(side, cost)
        response.check_cost(price)

    def found(matchup: Matchup[S], checkpoint: Path | None) -> Prepared:
        if budget is not None and price == 0.0 and not matchup.enumerable:
            return _by_price(matchup, side, budget, run, checkpoint)
        return _solve(matchup, side, price, budget, run, checkpoint)

    def again(prepared: Prepared, grown: Grown) -> Prepared:
        grown = _with_menus(grown, prepared.choice)
        chosen = _chosen(grown, side, price, budget)
        if budget is not None and prepared.cost > price:  # the certificate of `_by_price`
            bound = _chosen(grown, side, prepared.cost, None).response.upper
            best = chosen.response
            best = replace(best, upper=max(best.value, bound + prepared.cost * budget))
            chosen = replace(chosen, response=best)
        return chosen

    curve, checkpoint = _calibrated(matchup, run, checkpoint)
    if matchup.judge is None:
        prepared = _replayed(matchup, found(matchup, checkpoint), run)
    else:
        prepared, judged = _settled(matchup, matchup.judge, found, again, run, checkpoint)
        best = prepared.response
        best = replace(best, error=max(best.error, judged.error))
        prepared = replace(prepared, response=best, judged=judged)
    if curve is None:
        return prepared
    best = prepared.response
    scale = curve_error(curve, prepared.tree, side, best.nodes)
    return replace(prepared, response=replace(best, error=math.hypot(best.error, scale)), curve=curve)


def curve_error(curve: Curve, tree: Tree, side: Side, book: Ints) -> float:
    """How far the error of a calibration can move what a book earns, with 95 % confidence."""
    ends = response.exits(tree, side, book)
    ends = ends[tree.player[ends] != FINAL]
    reach = response.reach(tree, side)[ends]
    return CONFIDENT * curve.error(tree.value[ends].tolist(), reach.tolist())


def _calibrated(
    matchup: Matchup[S], run: _Run, checkpoint: Path | None
) -> tuple[Curve | None, Path | None]:
    """The curve behind the values, and where growth may go on from.

    Where there was no time for all games, more of them change the values: then growth starts anew.
    """
    if matchup.calibration is None:
        return None, checkpoint
    curve = matchup.calibration.curve(run.stopping(CALIBRATION), run.tell)
    return curve, checkpoint if matchup.calibration.whole else None


def explore(
    matchup: Matchup[S],
    side: Side,
    cost: float | None = None,
    limits: Limits | None = None,
    *,
    stop: Stop = NEVER,
    progress: Callable[[GrowthProgress], None] | None = None,
    playing: Callable[[str], None] | None = None,
    checkpoint: Path | None = None,
) -> Explored:
    """All optimal books of `side` for costs above the one given, or for all costs (fact 4)."""
    limits = replace(limits or Limits(), window=matchup.window, negligible=matchup.negligible)
    run = _Run(limits, stop, progress, playing, None)
    least = 0.0 if cost is None and matchup.enumerable else matchup.cost(side, cost)
    response.check_cost(least, zero=cost is None)

    def found(matchup: Matchup[S], checkpoint: Path | None) -> Explored:
        grown = _grown(matchup, values_of(matchup, least, side), side, least, run, checkpoint)
        return ranked(grown)

    def again(explored: Explored, grown: Grown) -> Explored:
        return ranked(_with_menus(grown, explored.choice))

    def ranked(grown: Grown) -> Explored:
        if grown.tree.choice is None:
            return Explored(side, grown, response.frontier(grown.tree, side, least), least)
        made = choice.choose_known(grown.tree, side, least)
        front = response.frontier(made.tree, side, least)
        return Explored(side, replace(grown, tree=made.tree), front, least, choice=made)

    curve, checkpoint = _calibrated(matchup, run, checkpoint)
    if matchup.judge is None:
        return replace(found(matchup, checkpoint), curve=curve)
    explored, judged = _settled(matchup, matchup.judge, found, again, run, checkpoint)
    return replace(explored, judged=judged, curve=curve)


def _settled(
    matchup: Matchup[S],
    judge: Judge[S],
    found: Callable[[Matchup[S], Path | None], C],
    again: Callable[[C, Grown], C],
    run: _Run,
    checkpoint: Path | None,
) -> tuple[C, Judged]:
    """The choice after rounds of choosing and judging; the first growth may go on from a checkpoint."""
    stops = run.stopping(ROUNDS), run.stopping(1.0)

    def grow(value: Evaluator[S], first: bool) -> C:
        return found(replace(matchup, value=value), checkpoint if first else None)

    return settle(matchup.game, matchup.value, judge, grow, again, stops, run.tell)


@dataclass
class _Run:
    """How far to go, and who hears of it."""

    limits: Limits
    stop: Stop
    progress: Callable[[GrowthProgress], None] | None
    playing: Callable[[str], None] | None
    playouts: int | None
    """How many playouts may still choose the book; None: any number."""
    start: float = field(default_factory=time.monotonic)

    def tell(self, text: str) -> None:
        if self.playing is not None:
            self.playing(text)

    def growing(self, part: float) -> Limits:
        """The limits of a growth that may take this part of the time left."""
        if self.limits.seconds is None:
            return self.limits
        return replace(self.limits, seconds=part * self._left(self.limits.seconds))

    def stopping(self, part: float) -> Stop:
        """The stop sign of games that may take this part of the time left."""
        if self.limits.seconds is None:
            return self.stop
        return self.stop.until(time.monotonic() + part * self._left(self.limits.seconds))

    def _left(self, seconds: float) -> float:
        return max(0.0, self.start + seconds - time.monotonic())


def values_of(matchup: Matchup[S], price: float, side: Side | None = None) -> Evaluator[S]:
    """v(h) for books at a price; a first guess comes with radii that leave every value possible.

    Where the books of `side` choose, more histories may matter: (depth * width)^deviations times as many
    (fact 9).
    """
    if matchup.guessing:
        return FirstGuess(matchup.value)
    choices = None if side is None else matchup.choices(side)
    if choices is not None and price > 0.0:
        game = matchup.game
        depth = game.longest if choices.deviations is None else min(choices.deviations, game.longest)
        price = max(1e-300, price * (game.longest * game.widest) ** -float(depth))
    return matchup.value_at(price)


def _with_menus(grown: Grown, made: choice.Choice | None) -> Grown:
    """A growth with all its menus again, and with the values that its fixed tree was given since."""
    if made is None:
        return grown
    parts = {}
    for name in ("value", "radius", "open"):
        parts[name] = getattr(made.source, name).copy()
        parts[name][made.origin] = getattr(grown.tree, name)
    return replace(grown, tree=replace(made.source, **parts))


def _chosen(grown: Grown, side: Side, cost: float, budget: int | None) -> Prepared:
    """The best book on a grown tree; where it has menus, their moves are chosen and fixed."""
    if grown.tree.choice is None:
        return Prepared(side, grown, response.best_known(grown.tree, side, cost, budget))
    made = choice.choose_known(grown.tree, side, cost, budget)
    return Prepared(side, replace(grown, tree=made.tree), made.best, choice=made)


def _grown(
    matchup: Matchup[S],
    value: Evaluator[S],
    side: Side,
    cost: float,
    run: _Run,
    checkpoint: Path | None,
    part: float = 1.0,
    limited: bool = False,
) -> Grown:
    """What may pay at a cost, grown within this part of the time left."""
    return grow(
        matchup.game,
        side,
        matchup.base,
        matchup.prep[side - 1],
        value,
        Pays(cost, limited=limited),
        run.growing(part if matchup.judge is None else PART),
        choices=matchup.choices(side),
        stop=run.stop,
        progress=run.progress,
        checkpoint=checkpoint,
    )


def _solve(
    matchup: Matchup[S],
    side: Side,
    cost: float,
    budget: int | None,
    run: _Run,
    checkpoint: Path | None = None,
) -> Prepared:
    choosing = matchup.choosing if cost > 0.0 and matchup.choices(side) is None else None
    value = values_of(matchup, 0.0 if choosing else cost, side)
    part = PART if choosing or matchup.clock else 1.0
    grown = _grown(matchup, value, side, cost, run, checkpoint, part, budget is not None)
    if not choosing:
        return _chosen(grown, side, cost, budget)
    grown, best = _sharpened(matchup, choosing, grown, side, cost, budget, run)
    return Prepared(side, grown, best)


def _sharpened(
    matchup: Matchup[S],
    choosing: Choosing[S],
    grown: Grown,
    side: Side,
    cost: float,
    budget: int | None,
    run: _Run,
) -> tuple[Grown, BestBook]:
    """Sample on where it can change the decision, then choose (Theorem 3, adaptive)."""
    from preplay.sampling.sharpen import sharpen

    before = choosing.rollouts.samples
    sharper = sharpen(
        matchup.game,
        grown.tree,
        side,
        cost,
        choosing.rollouts,
        choosing.epsilon,
        most=None if run.playouts is None else before + run.playouts,
        trusted=matchup.guessing,
        stop=run.stopping(PART if matchup.clock else 1.0),
        progress=lambda now: run.tell(f"{now.samples:,} playouts, regret at most {now.regret:.3f}"),
    )
    if run.playouts is not None:
        run.playouts -= sharper.samples - before
    grown = replace(grown, tree=sharper.tree)
    if sharper.ending in ("interrupted", "seconds"):
        grown = replace(grown, ending=sharper.ending)
    best = response.best_book(sharper.tree, side, cost, budget)
    if budget is None:  # the decision stage knows the book as a whole better than history by history
        error = best.net - sharper.lower
        if matchup.guessing:  # a guess says nothing of which way it is wrong
            error = max(error, sharper.upper - best.net)
        best = replace(best, upper=sharper.upper, error=max(0.0, error))
    return grown, best


def _replayed(matchup: Matchup[S], prepared: Prepared, run: _Run) -> Prepared:
    """Where time is part of the game, fresh games say what the chosen book is worth.

    A book that does not pay for its memory by the mean of all these games gives way to the empty one. If
    the games were cut short it does so only if they leave no doubt.
    """
    if matchup.clock is None:
        return prepared
    best, tree, stop = prepared.response, prepared.tree, run.stopping(1.0)
    if stop.asked:
        return _ended(prepared, stop)
    memory = {tree.history(int(k)): moves(tree, int(k)) for k in best.nodes}
    played = matchup.clock.replay(
        best.side, memory, stop, lambda games: run.tell(f"{games:,} fresh games of each kind")
    )
    whole = played.games >= played.wanted
    if not whole:
        prepared = _ended(prepared, stop)
    if not played.games:
        return prepared
    refused = None
    doubt = 0.0 if whole else CONFIDENT * played.gain.error
    if best.size and played.gain.mean + doubt < best.cost * best.size - response.AGREEMENT:
        refused = Refused(best.size, best.cost * best.size, played)
        played = played.without_a_book()
        best = replace(best, nodes=best.nodes[:0], reach=best.reach[:0], gain=best.gain[:0])
    better = replace(
        best,
        baseline=played.without.mean,
        unprepared=played.without.mean,
        value=played.value.mean,
        error=CONFIDENT * played.value.error,
    )
    better = replace(better, upper=max(best.upper, better.net))
    return replace(prepared, response=better, played=played, refused=refused)


def _ended(prepared: Prepared, stop: Stop) -> Prepared:
    """The same, but a stop came before its end."""
    return replace(prepared, grown=replace(prepared.grown, ending=stop.reason))


def _by_price(
    matchup: Matchup[S], side: Side, budget: int, run: _Run, checkpoint: Path | None = None
) -> Prepared:
    """The best book within a budget on a game too large to grow without a price.

    Lower prices grow larger trees, until the best book for the price fills the budget. Any book S of at
    most B histories has value(S) <= best net at price p + p * B, which certifies the choice. A growth
    that was cut short may know less than the one before it: the best book of all counts.
    """
    price, upper, step = 0.02, 1.0, 0
    before: Prepared | None = None
    while True:
        kept = checkpoint and checkpoint.with_stem(f"{checkpoint.stem}-{step}")
        now = _solve(matchup, side, price, None, run, kept)
        upper = min(upper, now.response.upper + price * budget)
        ending = now.grown.ending
        if now.response.size >= budget or price < LEAST_COST or ending != "complete":
            best = _within(now, budget)
            if before is not None and ending != "complete":
                known = _within(before, budget)
                best = known if known.value > best.value else best
            bound = replace(best.response, upper=max(best.value, upper))
            return replace(best, grown=replace(best.grown, ending=ending), response=bound)
        before = now
        price, step = price / 2.0, step + 1


def _within(prepared: Prepared, budget: int) -> Prepared:
    """The best book of limited size on the tree of another one, whatever that was grown for."""
    grown = _with_menus(prepared.grown, prepared.choice)
    return _chosen(grown, prepared.side, 0.0, budget)


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
    if prepared.choice is not None:
        decided = [prepared.choice.decisions.get(int(k)) for k in np.sort(chosen)]
        entries = _explained(matchup, side, entries, decided)
    written = matchup.notation
    return Book(
        side=side,
        entries=matchup.scored(side, entries),
        baseline=best.baseline,
        value=best.value if nodes is None else response.evaluate(tree, side, chosen),
        cost=best.cost,
        upper=best.upper,
        error=best.error,
        unprepared=None if prepared.played is not None else best.unprepared,
        start=written.start if written else "",
        chess960=written is not None and written.chess960,
        provenance=dict(provenance or {}),
    )


def _explained(
    matchup: Matchup[S], side: Side, entries: list[Entry], decided: list[Decision | None]
) -> list[Entry]:
    """The entries with what else the book could have played, and what the preparation thinks of it."""
    menus = matchup.menus[side - 1]
    states = [walk(matchup.game, e.history) for e, d in zip(entries, decided, strict=True) if d]
    asked = iter(menus.menus(states) if menus is not None and states else ())
    told = []
    for plain, decision in zip(entries, decided, strict=True):
        if decision is None:
            told.append(plain)
            continue
        opinions = dict(next(asked, ()))
        options = tuple(replace(o, opinion=opinions.get(o.move)) for o in decision.options)
        told.append(replace(plain, decision=replace(decision, options=options)))
    return told


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
