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
from preplay.matchup import Deciding, Matchup
from preplay.matchup.settings import LEAST_COST
from preplay.preparation.explaining import moves
from preplay.preparation.found import Prepared, Refused
from preplay.response import BestBook
from preplay.stopping import Stop
from preplay.value import Evaluator, FirstGuess

PART = 0.5
"""What a stage takes of the time that is left, at most, where another stage follows."""
SMALL = 1e-4
"""Where a bound has to be nearer than this, all is grown."""


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


def best_at(
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
    deciding = matchup.deciding if cost > 0.0 and plain else None
    value = values_of(matchup, 0.0 if deciding else share * cost, side)
    part = PART if deciding or matchup.clock else 1.0
    grown = grown_for(matchup, value, side, cost, pace, checkpoint, part, budget is not None)
    if deciding:
        grown, best = _sharpened(matchup, deciding, grown, side, cost, budget, pace, share)
        return Prepared(side, grown, best)
    found, nearer = chosen_on(grown, side, cost, budget), pace
    while loose(found, pace.limits.gap).short:  # growth compares books of any size, each history paid
        nearer = replace(nearer, limits=replace(nearer.limits, gap=_nearer(nearer.limits.gap)))
        grown = grown_for(matchup, value, side, cost, nearer, checkpoint, part, budget is not None)
        found = chosen_on(grown, side, cost, budget)
    return found


def loose(prepared: Prepared, gap: float) -> Prepared:
    """The same, but short where growth ended though the bound is not as near as was asked for."""
    best = prepared.response
    far = best.upper - best.net > gap + response.AGREEMENT
    return replace(prepared, short=True) if far and prepared.grown.ending == "gap" else prepared


def _nearer(gap: float) -> float:
    return gap / 4.0 if gap > SMALL else 0.0


def _sharpened(
    matchup: Matchup[S],
    deciding: Deciding[S],
    grown: Grown,
    side: Side,
    cost: float,
    budget: int | None,
    pace: Pace,
    share: float,
) -> tuple[Grown, BestBook]:
    """Sample on where it can change the decision, then choose (Theorem 3, adaptive)."""
    from preplay.sampling.sharpen import sharpen

    before = deciding.rollouts.samples
    sharper = sharpen(
        matchup.game,
        grown.tree,
        side,
        cost,
        deciding.rollouts,
        deciding.epsilon,
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
    if budget is not None:
        best = replace(best, upper=max(best.net, min(best.upper, sharper.upper)))
    else:  # the decision stage knows the book as a whole better than history by history
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


NEAR = 2e-3
"""So near to the best of its size is a book within a budget, unless a gap is asked for."""


def by_price(
    matchup: Matchup[S], side: Side, budget: int, pace: Pace, checkpoint: Path | None = None
) -> Prepared:
    """The best book within a budget on a game too large to grow without a price.

    Lower prices grow larger trees, until the best book within the budget fills it though each place has
    that price: then no other one is better; or until none is by more than is asked for (see `within`),
    as the last places of a budget may gain next to nothing and take most of the work (of a gap, growth
    takes one half, the price the other). A growth that was cut short may know less than the one before
    it: the best book of all counts. The certificate rests on every price that was tried: the k-th may
    spend 2^-k of δ, so that all hold together.
    """
    price, upper, step = 0.02, 1.0, 0
    growing = replace(pace, limits=replace(pace.limits, gap=pace.limits.gap / 2.0))
    before: Prepared | None = None
    while True:
        kept = checkpoint and checkpoint.with_stem(f"{checkpoint.stem}-{step}")
        now = best_at(matchup, side, price, budget, growing, kept, 0.5 ** (step + 1))
        upper = min(upper, now.response.upper + price * budget)
        best = within(with_menus(now.grown, now.choice), side, price, budget, pace.limits.gap or NEAR)
        if not best.short:
            ending = best.grown.ending
            if before is not None and before.value > best.value:
                best = before
            pace.playouts = growing.playouts
            bound = replace(best.response, upper=max(best.value, upper))
            return replace(best, grown=replace(best.grown, ending=ending), response=bound, short=False)
        before = best
        price, step = price / 2.0, step + 1


def within(grown: Grown, side: Side, price: float, budget: int, gap: float) -> Prepared:
    """The best book of limited size on a tree that was grown for a price.

    A book S of at most B histories has value(S) - p * |S| <= the best net within B at the price p, so
    value(S) <= that net + p * B. A book of B histories that is best at the price attains it: no other one
    is better. Where the best one is short of B, a tree for a lower price may hold a better one, by more
    than `gap` if the bound says so; so may a larger tree, where growth ended by a gap.
    """
    best, paying = chosen_on(grown, side, 0.0, budget), chosen_on(grown, side, price, budget).response
    upper = max(best.value, min(1.0, paying.upper + price * budget))
    best = replace(best, response=replace(best.response, upper=upper))
    ended = grown.ending == "gap" or (paying.size < budget and grown.ending == "complete")
    room = ended and price >= LEAST_COST
    if room and upper - best.value > gap:
        return replace(best, short=True)
    return replace(best, grown=replace(best.grown, ending="gap")) if room and upper > best.value else best
