"""One side prepares: the best book, kept and found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from preplay import book as books
from preplay import tree as trees
from preplay.accounts import Account, account_of
from preplay.arguments import check_function, check_made, check_number
from preplay.book import Book
from preplay.frozen import freeze
from preplay.game import S
from preplay.growth.goals import Ending, Limits
from preplay.judging import Judged
from preplay.logistic import Curve
from preplay.matchup import Matchup
from preplay.matchup.model import check_matchup
from preplay.preparation import Fixed, Prepared, Refused, book_of
from preplay.preparation import prepare as solve
from preplay.repairs import Repair, repairs
from preplay.response import check_budget, check_cost
from preplay.runs.directory import (
    BOOK,
    CHECKPOINT,
    RESULT,
    TREE,
    Run,
    provenance_of,
    start_of,
)
from preplay.runs.encoding import beside, from_data, optional, told
from preplay.runs.keeping import keep_better
from preplay.sampling.timeshare import TimeShare
from preplay.stopping import NEVER, Stop
from preplay.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from preplay.response import Frontier


def _entries(book: Book) -> list[dict[str, Any]]:
    """What the JSON tells of each memorized history; the book's own file has all of it."""
    return [
        {"history": e.history, "moves": e.moves, "reach": e.reach, "gain": e.gain}
        | ({} if e.decision is None else {"decision": e.decision})
        for e in book.entries
    ]


@dataclass(frozen=True, kw_only=True)
class PrepareResult:
    """The best book of one side against the opponent's base play. All values are that side's."""

    side: str | int
    """Who prepares: 1 or 2, in chess white or black."""
    cost: float
    """Price of one memorized history."""
    budget: int | None
    """At most so many histories; None: any number."""
    baseline: float
    """v of the start: nobody prepares."""
    value: float
    """What the book earns, memory not subtracted."""
    net: float
    """Value less the price of the memory."""
    upper: float
    """Certified bound: no book nets more."""
    error: float
    """How far `value` may be off: by sampled values, by what a fresh search says, by the calibration."""
    size: int
    """The number of memorized histories, or positions where memory is by position."""
    ending: Ending
    """What ended the work: `complete`, or the limit that cut it short."""
    histories: int
    """Histories looked at."""
    questions: int
    """Questions asked about them: moves and values."""
    book: Book = told(_entries)
    """What to memorize, and what each history is worth."""
    clock: TimeShare | None = optional()
    """Under a clock: what fresh games with the book said."""
    refused: Refused | None = optional()
    """The book that these games spoke against; the empty one is then the result."""
    judged: Judged | None = optional()
    """What second opinions said of the values, where there is a judge."""
    fixed: Fixed | None = optional()
    """What the book of first choices is worth by the same values, where the book may choose."""
    repairs: tuple[Repair, ...] | None = optional()
    """Of what the side knows already: the moves that lose, the dearest first."""
    scores: Literal["results", "model"] = "results"
    """What values are: expected results, or scores of a model that no games bear out."""
    calibration: Curve | None = optional()
    """What a score is worth to the two sides, where values are calibrated."""
    opponent: Account | None = optional()
    """What the book rests on and whom it is good against, where the opponent is a person."""
    tree: Tree = beside()
    """The tree that the book was chosen on."""
    name: str = beside("")
    """The matchup's name."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def unprepared(self) -> float:
        """The value with nothing memorized, taken where the side first moves."""
        return self.book.without

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """The tree and the book have files of their own."""
        return {TREE: partial(trees.save, self.tree), BOOK: partial(books.save, self.book)}

    @classmethod
    def found(cls, run: Run) -> PrepareResult:
        """The result of a `prepare` run."""
        data = run.read(RESULT) | {"book": run.book()}
        return from_data(cls, data, run.path(RESULT), tree=run.tree(), name=run.name, run=run)

    def frontier(self) -> Frontier:
        """All best books for costs that its tree was grown for, and the order in which to learn."""
        from preplay import response
        from preplay.choice import shared

        by_history = self.tree.position is None
        find = response.frontier if by_history else shared.frontier
        side = self.book.side
        return find(self.tree, side, max(self.cost, self.tree.prices[side - 1]))

    def to_pandas(self) -> DataFrame:
        """A row for each memorized history: needs pandas."""
        from preplay.runs.tables import book_table

        return book_table(self.book)

    def plot_frontier(self) -> Figure:
        """Value against memory for all costs that the tree was grown for, as a matplotlib Figure."""
        from preplay.figures import frontier_figure

        front = self.frontier()
        points = list(zip(front.cost, front.size, front.value, strict=True))
        return frontier_figure(points, front.unprepared, f"{self.name}, side {self.side}", self.book.unit)


def prepare(
    matchup: Matchup[S],
    side: str | int,
    cost: float | None = None,
    *,
    budget: int | None = None,
    save: str | Path | None = None,
    histories: int | None = None,
    seconds: float | None = None,
    within: float = 0.0,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> PrepareResult:
    """The best book of a side against the opponent's base play, with a certified bound.

    `cost` is the price of a memorized history (default: the matchup's), `budget` the most that may be
    memorized; at least one is needed. `histories`, `seconds` and `within` (of the certified bound) stop
    the work early, with the best so far. With `save` the run is kept in that directory, and the same call
    goes on from there. `progress` hears of the work as it goes: `print` will do.
    """
    check_matchup(matchup)
    who = matchup.side(str(side))
    check_budget(budget)
    if cost is not None:
        check_cost(cost)
    most = None if budget is None else int(budget)
    price = None if most is not None and cost is None else matchup.cost(who, cost)
    if price is not None:
        check_cost(price)
    check_number("within", within)
    limits = Limits(histories=histories, seconds=seconds, gap=within)
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    run = start_of(matchup, "prepare", {"side": who, "cost": price, "budget": most}, save)
    prepared = solve(
        matchup,
        who,
        price,
        most,
        limits,
        stop=stop,
        progress=progress,
        playing=progress,
        checkpoint=run.path(CHECKPOINT) if run else None,
    )
    result = result_of(matchup, prepared, run)
    cut = result.ending != "complete"
    return keep_better(run, result, lambda before: _better(before, result), cut=cut)


def _better(before: PrepareResult, now: PrepareResult) -> bool:
    """Whether a result kept before is whole, or as near to it as one that was cut short now, or is all
    judged and promises more."""
    ended = before.ending == "gap" and now.ending != "gap" and _apart(before) <= _apart(now)
    judged = before.judged is not None and not before.judged.left
    return before.ending == "complete" or ended or (judged and before.net > now.net)


def _apart(result: PrepareResult) -> float:
    """How much more another book could net."""
    return result.upper - result.net


def result_of(matchup: Matchup[S], prepared: Prepared, run: Run | None = None) -> PrepareResult:
    """A preparation as a result."""
    best, grown = prepared.response, prepared.grown
    book = book_of(matchup, prepared, provenance=provenance_of(run, matchup))
    people = matchup.people[2 - best.side]
    return PrepareResult(
        side=matchup.label(best.side),
        cost=best.cost,
        budget=best.budget,
        baseline=best.baseline,
        value=best.value,
        net=best.net,
        upper=float(best.upper),
        error=best.error,
        size=best.size,
        ending=grown.ending,
        histories=grown.histories,
        questions=grown.questions,
        book=book,
        clock=prepared.played,
        refused=prepared.refused,
        judged=prepared.judged,
        fixed=prepared.fixed,
        repairs=repairs_of(matchup, prepared),
        scores=matchup.scores if prepared.curve is None else prepared.curve.tells,
        calibration=prepared.curve,
        opponent=None if people is None else account_of(matchup.game, prepared.tree, book, people),
        tree=prepared.tree,
        name=matchup.name,
        run=run,
    )


def repairs_of(matchup: Matchup[S], prepared: Prepared) -> tuple[Repair, ...] | None:
    """What loses of what the side knows already; None where it knows nothing."""
    if matchup.known[prepared.side - 1] is None:
        return None
    value = matchup.value if matchup.judge is None else matchup.judge.value
    return repairs(matchup.game, value, prepared.tree, prepared.response)
