"""The stages of a preparation: growing, choosing, sampling on, playing afresh, each within its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from preplay import choice, response
from preplay.game import S, Side
from preplay.growth import Grown, GrowthProgress, Limits, Pays, grow
from preplay.judging import CONFIDENT
from preplay.matchup import Choosing, Matchup
from preplay.matchup.settings import LEAST_COST
from preplay.preparation.explaining import moves
from preplay.preparation.found import Prepared, Refused
from preplay.response import BestBook
from preplay.stopping import Stop
from preplay.value import Evaluator, FirstGuess

PART = 0.5
"""What a stage takes of the time that is left, at most, where another stage follows."""


@dataclass
class Pace:
    """How far to go, and who hears of it."""

    limits: Limits
    stop: Stop
    progress: Callable[[GrowthProgress], None] | None
    playing: Callable[[str], None] | None
    playouts: int | None
    """How many playouts may still choose the book; None: any number."""
    start: float = field(default_factory=time.monotonic)

    def tell(self, text: str) -> None:
        """Say what is under way."""
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

    def part(self, part: float) -> Pace:
        """A pace for work that may take this part of the time left."""
        return replace(self, limits=self.growing(part), start=time.monotonic())

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


def with_menus(grown: Grown, made: choice.Choice | None) -> Grown:
    """A growth with all its menus again, and with the values that its fixed tree was given since."""
    if made is None:
        return grown
    parts = {}
    for name in ("value", "radius", "open"):
        parts[name] = getattr(made.source, name).copy()
        parts[name][made.origin] = getattr(grown.tree, name)
    return replace(grown, tree=replace(made.source, **parts))


def chosen_on(grown: Grown, side: Side, cost: float, budget: int | None) -> Prepared:
    """The best book on a grown tree; where it has menus, their moves are chosen and fixed."""
    if grown.tree.position is not None:
        from preplay.choice import shared

        made = shared.choose(grown.tree, side, cost, budget)
        return Prepared(side, replace(grown, tree=made.tree), made.best, choice=made)
    if grown.tree.choice is None:
        return Prepared(side, grown, response.best_known(grown.tree, side, cost, budget))
    made = choice.choose_known(grown.tree, side, cost, budget)
    return Prepared(side, replace(grown, tree=made.tree), made.best, choice=made)


def grown_for(
    matchup: Matchup[S],
    value: Evaluator[S],
    side: Side,
    cost: float,
    pace: Pace,
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
        Pays(cost, limited=limited, position=matchup.position),
        pace.growing(part if matchup.judge is None else PART),
        choices=matchup.choices(side),
        stop=pace.stop,
        progress=pace.progress,
        checkpoint=checkpoint,
    )


def solve(
    matchup: Matchup[S],
    side: Side,
    cost: float,
    budget: int | None,
    pace: Pace,
    checkpoint: Path | None = None,
    share: float = 1.0,
) -> Prepared:
    """The best book at a cost, of limited size if there is a budget.

    `share` is what of δ may be spent where values are sampled: as many playouts as at so much lower a
    price (Theorem 3 divides δ among (L + 1)/λ histories).
    """
    plain = matchup.choices(side) is None and matchup.position is None
    choosing = matchup.choosing if cost > 0.0 and plain else None
    value = values_of(matchup, 0.0 if choosing else share * cost, side)
    part = PART if choosing or matchup.clock else 1.0
    grown = grown_for(matchup, value, side, cost, pace, checkpoint, part, budget is not None)
    if not choosing:
        return chosen_on(grown, side, cost, budget)
    grown, best = _sharpened(matchup, choosing, grown, side, cost, budget, pace, share)
    return Prepared(side, grown, best)


def _sharpened(
    matchup: Matchup[S],
    choosing: Choosing[S],
    grown: Grown,
    side: Side,
    cost: float,
    budget: int | None,
    pace: Pace,
    share: float,
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
        most=None if pace.playouts is None else before + pace.playouts,
        trusted=matchup.guessing,
        share=share,
        stop=pace.stopping(PART if matchup.clock else 1.0),
        progress=lambda now: pace.tell(f"{now.samples:,} playouts, regret at most {now.regret:.3f}"),
    )
    if pace.playouts is not None:
        pace.playouts -= sharper.samples - before
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


def replayed(matchup: Matchup[S], prepared: Prepared, pace: Pace) -> Prepared:
    """Where time is part of the game, fresh games say what the chosen book is worth.

    A book that does not pay for its memory by the mean of all these games gives way to the empty one. If
    the games were cut short it does so only if they leave no doubt.
    """
    if matchup.clock is None:
        return prepared
    best, tree, stop = prepared.response, prepared.tree, pace.stopping(1.0)
    if stop.asked:
        return _ended(prepared, stop)
    memory = {tree.history(int(k)): moves(tree, int(k)) for k in best.nodes}
    played = matchup.clock.replay(
        best.side, memory, stop, lambda games: pace.tell(f"{games:,} fresh games of each kind")
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


def by_price(
    matchup: Matchup[S], side: Side, budget: int, pace: Pace, checkpoint: Path | None = None
) -> Prepared:
    """The best book within a budget on a game too large to grow without a price.

    Lower prices grow larger trees, until the best book for the price fills the budget. Any book S of at
    most B histories has value(S) <= best net at price p + p * B, which certifies the choice. A growth
    that was cut short may know less than the one before it: the best book of all counts. The certificate
    rests on every price that was tried: the k-th may spend 2^-k of δ, so that all hold together.
    """
    price, upper, step = 0.02, 1.0, 0
    before: Prepared | None = None
    while True:
        kept = checkpoint and checkpoint.with_stem(f"{checkpoint.stem}-{step}")
        now = solve(matchup, side, price, None, pace, kept, 0.5 ** (step + 1))
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
    grown = with_menus(prepared.grown, prepared.choice)
    return chosen_on(grown, prepared.side, 0.0, budget)
