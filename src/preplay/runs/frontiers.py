"""Memory against value for all costs at once: the frontier of one side, kept and found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from preplay import book as books
from preplay import tree as trees
from preplay.arguments import check_function, check_made
from preplay.book import Book
from preplay.frozen import freeze
from preplay.game import S
from preplay.growth.goals import Ending, Limits
from preplay.judging import Judged
from preplay.logistic import Curve
from preplay.matchup import Matchup
from preplay.matchup.model import check_matchup
from preplay.preparation import book_of, explore
from preplay.repairs import Repair
from preplay.response import check_cost
from preplay.runs.directory import (
    BOOK,
    CHECKPOINT,
    RESULT,
    TREE,
    Run,
    provenance_of,
    start_of,
)
from preplay.runs.encoding import beside, from_data, optional
from preplay.runs.keeping import keep_better
from preplay.runs.prepared import PrepareResult, repairs_of
from preplay.stopping import NEVER, Stop
from preplay.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class FrontierPoint(NamedTuple):
    """A best book: just below `cost` it has this size and value."""

    cost: float
    size: int
    value: float


class Step(NamedTuple):
    """The next history to learn, and what it adds to the value."""

    history: tuple[str, ...]
    gain: float


@dataclass(frozen=True, kw_only=True)
class FrontierResult:
    """Every best trade-off between memory and value as the cost falls. All values are the side's."""

    side: str | int
    """Who prepares: 1 or 2, in chess white or black."""
    least_cost: float
    """The lowest cost looked at; 0: all of them."""
    unprepared: float
    """The value with nothing memorized."""
    error: float
    """How far values may be off: sampled ones, by what a fresh search says, by the calibration."""
    ending: Ending
    """What ended the work: `complete`, or the limit that cut it short."""
    points: tuple[FrontierPoint, ...]
    """The best books, by falling cost; each holds the ones before it."""
    order: tuple[Step, ...]
    """The histories in the order worth learning: every beginning is a book."""
    guess: bool | None = optional()
    """True where values are first guesses and no games were played."""
    judged: Judged | None = optional()
    """What second opinions said of the largest book, where there is a judge."""
    repairs: tuple[Repair, ...] | None = optional()
    """Of what the side knows already: the moves that lose beside the largest book, the dearest first."""
    scores: Literal["results", "model"] = "results"
    """What values are: expected results, or scores of a model that no games bear out."""
    calibration: Curve | None = optional()
    """What a score is worth to the two sides, where values are calibrated."""
    histories: int = 0
    """Histories looked at."""
    questions: int = 0
    """Questions asked about them: moves and values."""
    book: Book = beside()
    """The largest book, best for the least cost: the others are beginnings of `order`."""
    tree: Tree = beside()
    """The tree that the books live on."""
    name: str = beside("")
    """The matchup's name."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def __post_init__(self) -> None:
        freeze(self)

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """The tree and the largest book have files of their own."""
        return {TREE: partial(trees.save, self.tree), BOOK: partial(books.save, self.book)}

    @classmethod
    def found(cls, run: Run) -> FrontierResult:
        """The result of a `frontier` run."""
        beside = {"book": run.book(), "tree": run.tree(), "name": run.name, "run": run}
        return from_data(cls, run.read(RESULT), run.path(RESULT), **beside)

    def as_prepared(self) -> PrepareResult:
        """The largest book as `prepare` would give it, for the least cost."""
        return PrepareResult(
            side=self.side,
            cost=self.least_cost,
            budget=None,
            baseline=self.book.baseline,
            value=self.book.value,
            net=self.book.net,
            upper=self.book.upper,
            error=self.error,
            size=self.book.size,
            ending=self.ending,
            histories=self.histories,
            questions=self.questions,
            book=self.book,
            judged=self.judged,
            repairs=self.repairs,
            scores=self.scores,
            calibration=self.calibration,
            tree=self.tree,
            name=self.name,
            run=self.run,
        )

    def to_pandas(self) -> DataFrame:
        """A row for each best book: needs pandas."""
        from preplay.runs.tables import table

        return table([point._asdict() for point in self.points], FrontierPoint._fields)

    def plot_frontier(self) -> Figure:
        """Value against memory, as a matplotlib Figure."""
        from preplay.figures import frontier_figure

        return frontier_figure(
            self.points, self.unprepared, f"{self.name}, side {self.side}", self.book.unit
        )


def frontier(
    matchup: Matchup[S],
    side: str | int,
    cost: float | None = None,
    *,
    save: str | Path | None = None,
    histories: int | None = None,
    seconds: float | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> FrontierResult:
    """Every best trade-off between memory and value for one side, and what to learn first.

    `cost` is the lowest price to look at; large games need one. `histories` and `seconds` stop the work
    early. With `save` the run is kept in that directory. `progress` hears of the work: `print` will do.
    """
    check_matchup(matchup)
    who = matchup.side(str(side))
    if cost is not None:
        check_cost(cost)
        cost = float(cost)
    limits = Limits(histories, seconds)
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    least = None if cost is None and matchup.enumerable else matchup.cost(who, cost)
    run = start_of(matchup, "frontier", {"side": who, "cost": least}, save)
    explored = explore(
        matchup,
        who,
        cost,
        limits,
        stop=stop,
        progress=progress,
        playing=progress,
        checkpoint=run.path(CHECKPOINT) if run else None,
    )
    tree, front = explored.grown.tree, explored.frontier
    radius = tree.radius[tree.player == who]
    rows = zip(front.cost.tolist(), front.size.tolist(), front.value.tolist(), strict=True)
    learned = zip(front.order.tolist(), front.gain.tolist(), strict=True)
    error = max(float(radius[radius < 0.5].max(initial=0.0)), explored.error)
    largest = front.order if tree.position is None else None
    book = book_of(matchup, explored.largest, largest, provenance_of(run, matchup))
    result = FrontierResult(
        side=matchup.label(who),
        least_cost=explored.cost,
        unprepared=front.unprepared,
        error=error,
        ending=explored.grown.ending,
        points=tuple(FrontierPoint(*row) for row in rows),
        order=tuple(Step(tree.history(k), gain) for k, gain in learned),
        guess=True if matchup.guessing else None,
        judged=explored.judged,
        repairs=repairs_of(matchup, explored.largest),
        scores=matchup.scores if explored.curve is None else explored.curve.tells,
        calibration=explored.curve,
        histories=explored.grown.histories,
        questions=explored.grown.questions,
        book=replace(book, error=error),
        tree=tree,
        name=matchup.name,
        run=run,
    )
    cut = result.ending != "complete"
    return keep_better(run, result, lambda before: before.ending == "complete", cut=cut)
