"""Preparing one side: the stages put together, within the time that there is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from preplay import choice, response
from preplay.game import S, Side
from preplay.growth import Grown, GrowthProgress, Limits
from preplay.judging import History, Judge, afresh, settle
from preplay.logistic import Curve
from preplay.matchup import Matchup
from preplay.preparation.comparing import best_of, ladder
from preplay.preparation.found import Explored, Prepared, curve_error
from preplay.preparation.stages import (
    NEAR,
    Pace,
    best_at,
    by_price,
    chosen_on,
    grown_for,
    loose,
    replayed,
    values_of,
    with_menus,
    within,
)
from preplay.stopping import NEVER, Stop
from preplay.value import Evaluator, Value

P = TypeVar("P", Prepared, Explored)
Verdicts = dict[History, Value]
"""What a judge said."""
CALIBRATION = 0.5
"""What calibration games take of the time, at most."""
ROUNDS = 0.8
"""What choosing and judging in turns takes of the time, at most; a fresh value of the choice follows."""


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
    matchup, limits = matchup.afresh(), matchup.limits(limits)
    most = None if matchup.deciding is None else matchup.deciding.most
    pace = Pace(limits, stop, progress, playing, most)
    if budget is not None and cost is None:
        price = 0.0
    else:
        price = matchup.cost(side, cost)
        response.check_cost(price)

    def again(prepared: Prepared, grown: Grown) -> Prepared:
        grown = with_menus(grown, prepared.choice)
        if budget is not None and prepared.cost > price:
            return within(grown, side, prepared.cost, budget, limits.gap or NEAR)
        return loose(chosen_on(grown, side, price, budget), limits.gap)

    def chosen(matchup: Matchup[S], pace: Pace, checkpoint: Path | None, known: Verdicts) -> Prepared:
        def found(matchup: Matchup[S], checkpoint: Path | None) -> Prepared:
            if budget is not None and price == 0.0 and not matchup.enumerable:
                return by_price(matchup, side, budget, pace, checkpoint)
            return best_at(matchup, side, price, budget, pace, checkpoint)

        if matchup.judge is None:
            return replayed(matchup, found(matchup, checkpoint), pace)
        return _settled(matchup, matchup.judge, found, again, pace, checkpoint, known)

    curve, checkpoint = _calibrated(matchup, pace, checkpoint)
    known: Verdicts = {}
    books = []
    for rung in ladder(matchup, side):
        if rung.telling:
            pace.tell(rung.telling)
        books.append(chosen(rung.matchup, pace.part(rung.part), rung.checkpoint(checkpoint), known))
    prepared = _confirmed(matchup, best_of(books), pace)
    best, errors = prepared.response, [prepared.response.error]
    if prepared.judged is not None:
        errors = [max(best.error, prepared.judged.error)]
    if curve is not None:
        errors.append(curve_error(curve, prepared.tree, side, best.nodes))
    return replace(prepared, response=replace(best, error=math.hypot(*errors)), curve=curve)


def _calibrated(
    matchup: Matchup[S], pace: Pace, checkpoint: Path | None
) -> tuple[Curve | None, Path | None]:
    """The curve behind the values, and where growth may go on from.

    Where there was no time for all games, more of them change the values: then growth starts anew.
    """
    if matchup.calibration is None:
        return None, checkpoint
    curve = matchup.calibration.curve(pace.stopping(CALIBRATION), pace.tell)
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
    limits = matchup.limits(limits)
    pace = Pace(limits, stop, progress, playing, None)
    free = cost is None and matchup.enumerable and matchup.position is None
    least = 0.0 if free else matchup.cost(side, cost)
    response.check_cost(least, zero=free)

    def found(matchup: Matchup[S], checkpoint: Path | None) -> Explored:
        grown = grown_for(matchup, values_of(matchup, least, side), side, least, pace, checkpoint)
        return ranked(grown)

    def again(explored: Explored, grown: Grown) -> Explored:
        return ranked(with_menus(grown, explored.choice))

    def ranked(grown: Grown) -> Explored:
        if grown.tree.position is not None:
            from preplay.choice import shared

            by_place = shared.choose(grown.tree, side, least)
            front = shared.frontier(by_place.tree, side, least)
            return Explored(side, replace(grown, tree=by_place.tree), front, least, choice=by_place)
        if grown.tree.choice is None:
            return Explored(side, grown, response.frontier(grown.tree, side, least), least)
        made = choice.choose_known(grown.tree, side, least)
        front = response.frontier(made.tree, side, least)
        return Explored(side, replace(grown, tree=made.tree), front, least, choice=made)

    curve, checkpoint = _calibrated(matchup, pace, checkpoint)
    if matchup.judge is None:
        return replace(found(matchup, checkpoint), curve=curve)
    explored = _settled(matchup, matchup.judge, found, again, pace, checkpoint, {})
    return replace(_confirmed(matchup, explored, pace), curve=curve)


def _settled(
    matchup: Matchup[S],
    judge: Judge[S],
    found: Callable[[Matchup[S], Path | None], P],
    again: Callable[[P, Grown], P],
    pace: Pace,
    checkpoint: Path | None,
    known: Verdicts,
) -> P:
    """The choice after rounds of choosing and judging; the first growth may go on from a checkpoint.

    `known` is what the judge said so far; what it says now is added.
    """

    def grow(value: Evaluator[S], first: bool) -> P:
        return found(replace(matchup, value=value), checkpoint if first else None)

    stop = pace.stopping(ROUNDS)
    settled = settle(matchup.game, matchup.value, judge, grow, again, stop, pace.tell, known)
    known |= settled.known
    return replace(settled.choice, judged=settled.judged)


def _confirmed(matchup: Matchup[S], choice: P, pace: Pace) -> P:
    """A judged choice with a fresh value, which took no part in it, if there is time for that."""
    if matchup.judge is None or choice.judged is None:
        return choice
    stop = pace.stopping(1.0)
    found = None if stop.asked else afresh(matchup.game, matchup.judge.fresh, choice, stop, pace.tell)
    if found is None:
        return replace(choice, grown=replace(choice.grown, ending=stop.reason))
    return replace(choice, judged=replace(choice.judged, fresh=found.value, error=found.error))
