"""How a side should mix its moves so that one who prepares against it gains least (fact 11)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from preplay.arguments import check_number
from preplay.book import Book
from preplay.errors import InputError
from preplay.game import Distribution, S, Side, other
from preplay.growth.goals import Ending, Limits
from preplay.hardening.hideout import Hideout, Hiding
from preplay.hardening.program import Solved, given_away, least_plan
from preplay.hardening.replies import exit_shares, hopes, nets, unjudged
from preplay.hardening.softmax import Softmax, SoftmaxPair, compared, softmax_pairs, undecided
from preplay.hardening.telling import books, unprepared
from preplay.judging import CONFIDENT, Judge, Judged, ask, error_of
from preplay.matchup import Matchup
from preplay.policy import Menus
from preplay.preparation import values_of
from preplay.response import check_cost
from preplay.stopping import NEVER, Stop
from preplay.tree import Floats

WIDTH = 32
"""Histories that are expanded between two solutions, at least."""
GROWING, ROUNDS = 0.5, 0.8
"""Where there is a judge: what growing takes of the time, and growing and judging, at most."""


@dataclass(frozen=True)
class HardenProgress:
    """How far hardening is."""

    histories: int
    lower: float
    upper: float
    questions: int
    rounds: int = 0

    def __str__(self) -> str:
        judged = f"  {self.rounds} rounds of judging" if self.rounds else ""
        return (
            f"{self.histories:,} histories  the preparer nets {self.lower:.5f} to {self.upper:.5f}  "
            f"{self.questions:,} questions{judged}"
        )


@dataclass(frozen=True, eq=False)
class Hardened:
    """A mix by history with what it leaves a preparer. Values are the preparer's, net of memory."""

    side: Side
    """Who hides."""
    cost: float
    value: float
    """What the best book that was found nets against the mix."""
    error: float
    """How far this may be off: by what a fresh search says, and by the calibration."""
    lower: float
    """No mix of these menus, within the loss, leaves less."""
    upper: float
    """No book nets more against this mix."""
    loss: float
    """What the mix gives away against one who does not prepare."""
    unprepared: float
    """What the preparer has without a book."""
    softmax: tuple[Softmax, ...]
    """The same menus played by softmax, by rising randomness."""
    method: str
    ending: Ending
    histories: int
    questions: int
    judged: Judged | None
    """What the judge made of it, where there is one; its values are nets against the mix."""
    policy: Mapping[tuple[str, ...], Distribution] = field(repr=False)
    """What the hider plays, by history."""
    books: tuple[Book, Book] = field(repr=False)
    """Of each side: the mix as a book, and the best book against it."""

    @property
    def gap(self) -> float:
        """How far the mix may be from the best one."""
        return self.upper - self.lower

    def before(self, loss: float | None = None) -> Softmax | None:
        """The softmax that leaves a preparer least, of those that give away no more than `loss`."""
        fits = [s for s in self.softmax if loss is None or s.loss <= loss + 1e-12]
        return min(fits, key=lambda s: s.value, default=None)


def menus_to_hide(matchup: Matchup[S], side: Side, cost: float, loss: float | None) -> Menus[S]:
    """The moves among which a side may hide; refuses what cannot be hardened."""
    check_cost(cost)
    if loss is not None:
        check_number("loss", loss)
    menus = matchup.menus[side - 1]
    if menus is None and matchup.deviations[side - 1] == 0:
        raise InputError(
            f"deviations 0 leave side {matchup.sides[side - 1]} no moves to choose among; "
            "expected at least 1, or none said"
        )
    if menus is None:
        raise InputError(
            f"side {matchup.sides[side - 1]} has no moves to choose among; expected prep.choose, menus, "
            'or in a tabular game "menu": true'
        )
    return menus


def harden(  # noqa: PLR0913  # an option each
    matchup: Matchup[S],
    side: Side,
    cost: float | None = None,
    *,
    loss: float | None = None,
    gap: float = 1e-4,
    method: str | None = None,
    limits: Limits | None = None,
    stop: Stop = NEVER,
    progress: Callable[[HardenProgress], None] | None = None,
    provenance: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
) -> Hardened:
    """The mix over the menus of `side` that leaves a preparer least, certified by exact best responses.

    `cost` is the preparer's price of a memorized history; `loss` limits what the mix may give away
    against one who does not prepare. Growing and solving take turns: a preparer's history is expanded
    where, against the present mix, going on might pay, until its best response is certain within `gap`.
    Where there is a judge, it then values what the result rests on, and all is solved again, until that
    is judged (fact 8). With `checkpoint`, an interrupted run goes on where it was.
    """
    preparer = other(side)
    price = matchup.cost(preparer, cost)
    menus = menus_to_hide(matchup, side, price, loss)
    limits = limits or Limits()
    clocks = _clocks(limits, stop, matchup.judge is not None)
    limited = "" if loss is None else f", giving away at most {loss:g}"
    growth = Hiding(
        matchup.game,
        side,
        matchup.base,
        matchup.prep[preparer - 1],
        menus,
        values_of(replace(matchup, deviations=(None, None)), price, side),
        clocks[0],
        checkpoint,
        f"a mix of side {side} against preparation at {price:g}{limited}",
    )
    at, found, beside, ending = _worked_out(
        growth, matchup.judge, price, loss, gap, method, limits, clocks, progress
    )
    growth.save()
    value, stay = nets(at, found.y, price)
    sampled = float(np.dot(exit_shares(at, found.y, stay.astype(np.float64)), at.radius))
    judged = None
    if matchup.judge is not None:
        judged, left = _afresh(growth, matchup.judge, at, found, beside, price, value, clocks[2])
        if left is not None:
            ending = left
    curve = _curve_error(matchup, growth, at, found.y, price)
    error = math.hypot(judged.error if judged else 0.0, sampled, curve)
    policy, mine, theirs = books(matchup, growth, at, found.y, price, error, provenance)
    return Hardened(
        side=side,
        cost=price,
        value=value,
        error=error,
        lower=min(found.lower, value),
        upper=hopes(at, found.y, price)[1],
        loss=given_away(at, found.y),
        unprepared=unprepared(at, found.y),
        softmax=compared(at, price, beside),
        method=found.method,
        ending=ending,
        histories=len(at.parent),
        questions=growth.questions,
        judged=judged,
        policy=policy,
        books=(mine, theirs) if side == 1 else (theirs, mine),
    )


def _curve_error(matchup: Matchup[S], growth: Hiding[S], at: Hideout, y: Floats, price: float) -> float:
    """How far the error of a calibration can move what the best book earns, with 95 % confidence."""
    if matchup.calibration is None:
        return 0.0
    mass = exit_shares(at, y, nets(at, y, price)[1].astype(np.float64))
    ends = np.flatnonzero((mass > 0.0) & (at.judged | at.estimated))
    value = at.value[ends] if other(growth.side) == 1 else 1.0 - at.value[ends]
    lengths = [len(growth.history(k)) for k in ends.tolist()]
    return CONFIDENT * matchup.calibration.curve().error(value.tolist(), mass[ends].tolist(), lengths)


Clocks = tuple[Stop, Stop, Stop]


def _clocks(limits: Limits, stop: Stop, judging: bool) -> Clocks:
    """What ends growing, judging, and the fresh values after it."""
    if limits.seconds is None:
        return stop, stop, stop
    now, seconds = time.monotonic(), limits.seconds
    last = stop.until(now + seconds)
    if not judging:
        return last, last, last
    return stop.until(now + GROWING * seconds), stop.until(now + ROUNDS * seconds), last


def _worked_out(
    growth: Hiding[S],
    judge: Judge[S] | None,
    price: float,
    loss: float | None,
    gap: float,
    method: str | None,
    limits: Limits,
    clocks: Clocks,
    progress: Callable[[HardenProgress], None] | None,
) -> tuple[Hideout, Solved, list[SoftmaxPair], Ending]:
    """Grow, solve and judge in turns until nothing is left to do, or a limit comes first."""
    growing, judging, _ = clocks
    while True:
        at = growth.hideout()
        found = least_plan(at, price, loss, gap / 4.0, method)
        if growth.due:
            growth.save()
        upper = hopes(at, found.y, price)[1]
        if progress is not None:
            progress(HardenProgress(len(growth), found.lower, upper, growth.questions, growth.rounds))
        beside: list[SoftmaxPair] = []
        hope = _where(at, found, price, gap, upper)
        if hope is None:  # the mix is as good as asked; is it better than every softmax for sure?
            beside = softmax_pairs(at, price, found.y)
            hope = undecided(at, price, beside)
        ending = "complete" if hope is None else _limit(growth, limits, growing)
        try:
            if hope is not None and ending == "complete":
                wanted = np.flatnonzero(hope > 0.0)
                most = max(WIDTH, len(growth) // 4)
                growth.expand(wanted[np.argsort(-hope[wanted], kind="stable")][:most].tolist())
                continue
        except KeyboardInterrupt:
            if not growing.asked:
                raise
            ending = growing.reason
        beside = beside or softmax_pairs(at, price, found.y)
        if growth.before is None:
            growth.before = nets(at, found.y, price)[0]
        missing = [] if judge is None else unjudged(at, found, _plans(beside), price)
        if judge is None or not missing or judging.asked:
            return at, found, beside, ending
        growth.rounds += 1
        histories = [growth.history(k) for k in missing]
        growth.judge(missing, ask(growth.game, judge.value, histories, judging))


def _plans(beside: Sequence[SoftmaxPair]) -> list[Floats]:
    return [plan for rival in beside for plan in (rival.plan, rival.mix) if plan is not None]


def _where(at: Hideout, found: Solved, price: float, gap: float, upper: float) -> Floats | None:
    """[n] where to grow, by hope, for a mix that is certain within the gap; None: it is, or nowhere."""
    if upper - found.lower <= gap:
        return None
    hope = hopes(at, found.y, price)[0]
    if not hope.any():  # this mix holds; look where another might be better
        hope = hopes(at, found.rival, price)[0]
    return hope if hope.any() else None


def _limit(growth: Hiding[S], limits: Limits, clock: Stop) -> Ending:
    if limits.histories is not None and len(growth) >= limits.histories:
        return "histories"
    return clock.reason if clock.asked else "complete"


def _afresh(
    growth: Hiding[S],
    judge: Judge[S],
    at: Hideout,
    found: Solved,
    beside: Sequence[SoftmaxPair],
    price: float,
    value: float,
    last: Stop,
) -> tuple[Judged, Ending | None]:
    """What the judge made of the mix, and the best book's net by values that took no part in it."""
    left = len(unjudged(at, found, _plans(beside), price))
    before = value if growth.before is None else growth.before
    judged = Judged(growth.rounds, int(at.judged.sum()), before, value, left=left)
    stay = nets(at, found.y, price)[1]
    mass = exit_shares(at, found.y, stay.astype(np.float64))
    nodes = np.flatnonzero((mass > 0.0) & (at.judged | at.estimated)).tolist()
    histories = [growth.history(k) for k in nodes]
    answers = [] if last.asked else ask(growth.game, judge.fresh, histories, last)
    if len(answers) < len(nodes):
        return judged, last.reason
    preparer = other(growth.side)
    fresh = np.array([answer.for_player(preparer).mean for answer in answers])
    apart = mass[nodes] * (fresh - at.value[nodes])
    total = value + float(apart.sum())
    error = error_of(total - value, apart)
    reason: Ending | None = last.reason if left else None
    return replace(judged, fresh=total, error=error), reason
