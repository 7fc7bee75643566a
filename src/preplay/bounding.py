"""The paper's bounds for a matchup: what Theorem 1 and Lemma 1 speak of is grown, and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from preplay.errors import InputError
from preplay.game import S, Side
from preplay.growth import Advantage, Goal, Grown, Lemma1, Limits, grow
from preplay.growth.goals import Ending
from preplay.matchup import Matchup
from preplay.preparation import values_of
from preplay.response import check_cost
from preplay.stopping import NEVER, Stop
from preplay.theorems import Lemma1Count, Theorem1, check_theorem1, lemma1, most_useful, theorem1

RARE = 0.01
"""Lemma 1's p where neither the caller nor the matchup has a price."""


@dataclass(frozen=True, eq=False)
class Bounded:
    """How exploitable the opponent of `side` is at least, by how randomly they play."""

    theorem1: Theorem1 | None
    """None: a scan found nothing that it says."""
    lemma1: Lemma1Count
    counting: Ending
    """What cut Lemma 1's count short, if anything did: then it is a part."""
    ending: Ending
    """What cut the growth short that Theorem 1 rests on, if anything did."""


def rare(matchup: Matchup[S], side: Side, p: float | None) -> float:
    """Lemma 1's p: as given, or the price of the side."""
    p = p if p is not None else matchup.costs[side - 1] or RARE
    check_cost(p)
    return p


def check_asked(advantage: float | None, epsilon: float | None) -> None:
    """Raise InputError where Theorem 1 cannot be asked for these."""
    if (advantage is None) != (epsilon is None):
        raise InputError(
            "only one of advantage and epsilon is given; expected both, or neither for a scan"
        )
    if advantage is not None and epsilon is not None:
        check_theorem1(advantage, epsilon)


def bound(
    matchup: Matchup[S],
    side: Side,
    advantage: float | None = None,
    epsilon: float | None = None,
    p: float | None = None,
    limits: Limits | None = None,
    *,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> Bounded:
    """Theorem 1 for an advantage and ε, and Lemma 1 for reaches of at least p, the cost by default.

    Without an advantage and ε, those for which the theorem says most at the price p (`most_useful`).
    """
    p = rare(matchup, side, p)
    check_asked(advantage, epsilon)
    if matchup.calibration is not None:
        matchup.calibration.curve(stop, progress)
    limits = matchup.limits(limits)
    value = values_of(matchup, p)

    def grown(goal: Goal) -> Grown:
        prep = matchup.prep[side - 1]
        return grow(
            matchup.game, side, matchup.base, prep, value, goal, limits, stop=stop, progress=progress
        )

    longest = matchup.game.longest
    likely = grown(Lemma1(p))
    counted, ending = lemma1(likely.tree, side, p, longest), likely.ending
    if advantage is None or epsilon is None:
        found = most_useful(likely.tree, side, p, longest)
    else:
        firsts = grown(Advantage(advantage))
        found = theorem1(firsts.tree, side, advantage, epsilon, longest)
        ending = firsts.ending
    return Bounded(found, counted, likely.ending, ending)
