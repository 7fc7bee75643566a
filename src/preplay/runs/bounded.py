"""How exploitable the opponent is at least: the paper's bounds of a matchup, kept and found again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from preplay.arguments import check_function, check_made
from preplay.bounding import Bounded, bound, check_asked, rare
from preplay.frozen import freeze
from preplay.game import S, Side
from preplay.growth.goals import Limits
from preplay.matchup import Matchup
from preplay.matchup.model import check_by_history, check_matchup
from preplay.runs.directory import RESULT, Run, start_of
from preplay.runs.encoding import beside, from_data, optional
from preplay.runs.keeping import keep_better
from preplay.stopping import NEVER, Stop


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Lemma 1 beside the real count."""

    p: float
    """Histories with at least this reach are counted."""
    count: int
    """How many there are."""
    bound: float
    """The most that there can be: (L + 1) / p."""
    complete: bool
    """False: growth was cut short, and there are at least so many."""


@dataclass(frozen=True, kw_only=True)
class Constructed:
    """The book that the proof of Theorem 1 builds."""

    size: int
    value: float
    """What it truly earns."""


@dataclass(frozen=True, kw_only=True)
class BoundsResult:
    """Theorem 1 and Lemma 1 of a matchup. Values are the side's; what is of Theorem 1 is None where it
    says nothing."""

    side: str | int
    """Who would prepare: 1 or 2, in chess white or black."""
    advantage: float | None
    """v: the advantage to reach."""
    epsilon: float | None
    """How much of it may be lost."""
    lemma1: Counted
    """How many histories are met often."""
    entropy: float | None = optional()
    """Of which first history with the advantage is met, in nats."""
    p_norm: float | None = optional()
    """The probability of meeting one of them."""
    firsts: int | None = optional()
    """How many there are."""
    size_bound: int | float | None = optional()
    """A book of at most this size ...; infinite when past all numbers."""
    guarantee: float | None = optional()
    """... is sure to earn this much."""
    constructed: Constructed | None = optional()
    """The proof's own book."""
    complete: bool | None = optional()
    """False: growth was cut short, and the theorem speaks of the histories found so far."""
    name: str = beside("")
    """The matchup's name."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def whole(self) -> bool:
        """Whether nothing was cut short."""
        return self.lemma1.complete and self.complete is not False

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """All of it is in the JSON."""
        return {}

    @classmethod
    def found(cls, run: Run) -> BoundsResult:
        """The result of a `bounds` run."""
        data = run.read(RESULT)
        if "size_bound" in data and data["size_bound"] is None:
            data["size_bound"] = math.inf
        return from_data(cls, data, run.path(RESULT), name=run.name, run=run)


def bounds(
    matchup: Matchup[S],
    side: str | int,
    cost: float | None = None,
    *,
    advantage: float | None = None,
    epsilon: float | None = None,
    save: str | Path | None = None,
    histories: int | None = None,
    seconds: float | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> BoundsResult:
    """How exploitable the opponent of a side is at least, by how randomly they play: Theorem 1, Lemma 1.

    `advantage` is the theorem's v and `epsilon` how much of it may be lost: both, or neither for those
    with which it says most. `cost` is Lemma 1's p (default: the matchup's cost, or 0.01). `histories` and
    `seconds` stop the growth early: the theorem holds for what was found. With `save` the result is kept
    in that directory.
    """
    check_matchup(matchup)
    check_by_history(matchup, "bounds")
    who = matchup.side(str(side))
    p = float(rare(matchup, who, cost))
    check_asked(advantage, epsilon)
    limits = Limits(histories, seconds)
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    asked = {"side": who, "cost": p, "advantage": advantage, "epsilon": epsilon}
    run = start_of(matchup, "bounds", asked, save)
    found = bound(matchup, who, advantage, epsilon, p, limits, stop=stop, progress=progress)
    result = _result_of(matchup, who, found, run)
    return keep_better(run, result, lambda before: before.whole, cut=not result.whole)


def _result_of(matchup: Matchup[S], side: Side, found: Bounded, run: Run | None) -> BoundsResult:
    first, lemma = found.theorem1, found.lemma1
    counted = Counted(
        p=lemma.p, count=lemma.count, bound=lemma.bound, complete=found.counting == "complete"
    )
    return BoundsResult(
        side=matchup.label(side),
        advantage=None if first is None else first.advantage,
        epsilon=None if first is None else first.epsilon,
        lemma1=counted,
        entropy=None if first is None else first.entropy,
        p_norm=None if first is None else first.p_norm,
        firsts=None if first is None else first.firsts,
        size_bound=None if first is None else first.size_bound,
        guarantee=None if first is None else first.guarantee,
        constructed=None if first is None else Constructed(size=len(first.nodes), value=first.value),
        complete=None if first is None else first.complete,
        name=matchup.name,
        run=run,
    )
