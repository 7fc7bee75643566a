"""A choosing book beside that of first choices: it is never worse, whatever cut the work short."""

from __future__ import annotations

from dataclasses import replace

from preplay.game import S, Side
from preplay.matchup import Matchup
from preplay.preparation.found import Fixed, Prepared

FIXED = 0.25
"""What the book of first choices takes of the time, at most."""


def of_first_choices(matchup: Matchup[S], side: Side) -> Matchup[S] | None:
    """The matchup in which a side's book plays prep everywhere; None where it does so anyway."""
    choices = matchup.choices(side)
    if choices is None or choices.deviations == 0:
        return None
    one, two = matchup.deviations
    return replace(matchup, deviations=(0, two) if side == 1 else (one, 0))


def better(fixed: Prepared, chosen: Prepared) -> Prepared:
    """The better of two books by the values in use, which says what that of first choices is worth.

    The class of choosing books holds the fixed one (fact 9), so with all the time there is the chosen
    book is at least as good. It need not be where it was cut short, or where prep mixes its moves.
    """
    net = fixed.response.net
    worse = chosen.response.net < net
    best = fixed if worse else chosen
    bounds = (chosen.response.upper, net, fixed.response.upper if worse else net)
    told = Fixed(fixed.value, net, fixed.response.size, fixed.grown.ending, worse)
    ending = chosen.grown.ending
    return replace(
        best,
        grown=replace(best.grown, ending=ending),
        response=replace(best.response, upper=max(bounds)),
        fixed=told,
    )
