"""Hiding: the mix that is hardest to prepare against, kept and found again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from preplay import book as books
from preplay.arguments import check_function, check_made, check_number
from preplay.book import Book
from preplay.frozen import freeze
from preplay.game import S, other
from preplay.growth.goals import Ending, Limits
from preplay.hardening import Softmax, against, menus_to_hide
from preplay.hardening import harden as solve
from preplay.judging import Judged
from preplay.matchup import Matchup
from preplay.matchup.model import check_matchup
from preplay.runs.directory import BOOKS, CHECKPOINT, RESULT, Run, provenance_of, start_of
from preplay.runs.encoding import beside, from_data, optional, told
from preplay.runs.keeping import keep_better
from preplay.stopping import NEVER, Stop

if TYPE_CHECKING:
    from pandas import DataFrame

UNHARDENED, CHOOSING = "checkpoint-unhardened.npz", "checkpoint-choosing.npz"
"""Growth under way against the side as it plays now, and of a preparer who chooses against the mix."""
CALIBRATING = 0.3
"""What calibration games take of the time, at most."""
HIDING = 0.5
"""What hardening takes of the time, and of the rest what looking at the side as it plays now does."""


def _entries(book: Book) -> list[dict[str, Any]]:
    """What the JSON tells of the mix; its book has a file of its own."""
    return [{"history": e.history, "moves": e.moves} for e in book.entries]


@dataclass(frozen=True, kw_only=True)
class HardenResult:
    """A mix by history and what it leaves one who prepares. Values are the preparer's, net of memory."""

    side: str | int
    """Who hides: 1 or 2, in chess white or black."""
    cost: float
    """The preparer's price of a memorized history."""
    value: float
    """What the best book nets against the mix."""
    error: float = 0.0
    """How far this may be off (95 %): by what a fresh search says, and by the calibration."""
    lower: float
    """No mix of these menus, within the loss, leaves a preparer less."""
    upper: float
    """No book nets more against this mix."""
    gap: float
    """upper - lower."""
    loss: float
    """What the mix gives away against one who does not prepare."""
    unprepared: float
    """What the preparer has without a book."""
    before: Softmax | None
    """The softmax that leaves a preparer least, giving away no more than was allowed."""
    softmax: tuple[Softmax, ...]
    """The same menus by softmax, by rising randomness; 0 is always the first choice."""
    unhardened: float | None = optional()
    """What the best book nets against the side as it plays now."""
    unhardened_judged: Judged | None = optional()
    """What the judge made of that book, memory not subtracted; where there is a judge."""
    choosing: tuple[float, float] | None = optional()
    """What a preparer who chooses its moves nets against the mix, and at most."""
    choosing_judged: Judged | None = optional()
    """What the judge made of that book, memory not subtracted; where there is a judge."""
    judged: Judged | None = optional()
    """What the judge made of the mix: its values are nets of the best book; where there is a judge."""
    scores: Literal["results", "model"] = "results"
    """What values are: expected results, or scores of a model that no games bear out."""
    method: str
    """lp or sweep."""
    ending: Ending
    """What ended the work: `complete`, or the limit that cut it short."""
    histories: int
    """Histories looked at."""
    questions: int
    """Questions asked: moves, menus and values."""
    policy: Book = told(_entries)
    """The mix, by history."""
    best: Book = beside()
    """The best book against it."""
    name: str = beside("")
    """The matchup's name."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def books(self) -> tuple[Book, Book]:
        """Of each side: the mix, and the best book against it."""
        return (self.policy, self.best) if self.policy.side == 1 else (self.best, self.policy)

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """The books have files of their own."""
        return {name: partial(books.save, book) for name, book in zip(BOOKS, self.books, strict=True)}

    @classmethod
    def found(cls, run: Run) -> HardenResult:
        """The result of a `harden` run."""
        data, where = run.read(RESULT), run.path(RESULT)
        mix, best = (books.load(run.path(BOOKS[side - 1])) for side in (run.side, other(run.side)))
        return from_data(cls, data | {"policy": mix}, where, best=best, name=run.name, run=run)

    def to_pandas(self) -> DataFrame:
        """A row for each position of the mix: needs pandas."""
        from preplay.runs.tables import book_table

        return book_table(self.policy)


def harden(
    matchup: Matchup[S],
    side: str | int,
    cost: float | None = None,
    *,
    loss: float | None = None,
    gap: float = 1e-4,
    method: str | None = None,
    histories: int | None = None,
    seconds: float | None = None,
    save: str | Path | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> HardenResult:
    """The mix over the menus of `side` that is hardest to prepare against, beside how it plays now.

    `cost` is the preparer's price of a memorized history. `loss` limits what the mix may give away
    against one who does not prepare. With `save` the run is kept in that directory, and goes on where it
    was: the mix and the best book against it are its two books. `seconds` is for all of it. `progress`
    hears of the work as it goes: `print` will do.
    """
    from preplay.preparation import prepare

    check_matchup(matchup)
    check_number("gap", gap)
    hides = matchup.side(str(side))
    preparer = other(hides)
    price = matchup.cost(preparer, cost)
    menus_to_hide(matchup, hides, price, loss)
    pace = _Pace(histories, seconds, matchup)
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    asked = {"side": hides, "cost": price, "loss": loss, "gap": gap}
    run = start_of(matchup, "harden", asked, save)
    if matchup.calibration is not None:
        matchup.calibration.curve(pace.stopping(stop, CALIBRATING), progress)
    found = solve(
        matchup,
        hides,
        price,
        loss=loss,
        gap=gap,
        method=method,
        limits=pace.limits(HIDING),
        stop=stop,
        progress=progress,
        provenance=provenance_of(run, matchup),
        checkpoint=run.path(CHECKPOINT) if run else None,
    )
    whole = (
        run if found.ending == "complete" else None
    )  # what is grown against a mix that may change is not kept
    unhardened = None
    if not stop.asked:
        unhardened = prepare(
            _without_menus(matchup),
            preparer,
            price,
            limits=pace.limits(HIDING),
            stop=stop,
            progress=progress,
            playing=progress,
            checkpoint=run.path(UNHARDENED) if run else None,
        )
    choosing = against(
        matchup,
        hides,
        found.policy,
        price,
        pace.limits(1.0),
        stop,
        progress=progress,
        checkpoint=whole.path(CHOOSING) if whole else None,
    )
    result = HardenResult(
        side=matchup.label(hides),
        cost=price,
        value=found.value,
        error=found.error,
        lower=found.lower,
        upper=found.upper,
        gap=found.gap,
        loss=found.loss,
        unprepared=found.unprepared,
        before=found.before(loss),
        softmax=found.softmax,
        unhardened=None if unhardened is None else unhardened.response.net,
        unhardened_judged=None if unhardened is None else unhardened.judged,
        choosing=None if choosing is None else (choosing.response.net, choosing.response.upper),
        choosing_judged=None if choosing is None else choosing.judged,
        judged=found.judged,
        scores=matchup.scores,
        method=found.method,
        ending=found.ending,
        histories=found.histories,
        questions=found.questions,
        policy=found.books[hides - 1],
        best=found.books[preparer - 1],
        name=matchup.name,
        run=run,
    )
    return keep_better(run, result, lambda before: _told(before) > _told(result))


def _told(result: HardenResult) -> tuple[bool, bool, bool]:
    """How much of the answer there is: the whole mix, then what it is compared with."""
    return result.ending == "complete", result.unhardened is not None, result.choosing is not None


def _without_menus(matchup: Matchup[S]) -> Matchup[S]:
    """The same matchup, in which books play prep's first choice."""
    return replace(matchup, menus=(None, None))


class _Pace:
    """The time that there is, for one piece of work after the other."""

    def __init__(self, histories: int | None, seconds: float | None, matchup: Matchup[Any]) -> None:
        self._limits = matchup.limits(Limits(histories, seconds))
        self._start = time.monotonic()

    def limits(self, part: float) -> Limits:
        """The limits of work that may take this part of the time left."""
        return replace(self._limits, seconds=self._left(part))

    def stopping(self, stop: Stop, part: float) -> Stop:
        """The stop sign of games that may take this part of the time left."""
        left = self._left(part)
        return stop if left is None else stop.until(time.monotonic() + left)

    def _left(self, part: float) -> float | None:
        if self._limits.seconds is None:
            return None
        return part * max(0.0, self._start + self._limits.seconds - time.monotonic())
