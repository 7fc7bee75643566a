"""Both sides prepare: the equilibrium in mixed books, kept and found again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from preplay import book as books
from preplay import tree as trees
from preplay.arguments import check_both, check_function, check_made
from preplay.book import Book
from preplay.equilibria import SolverProgress
from preplay.equilibria.contest import Alone, Contest, Entropy
from preplay.errors import InputError, StoreError
from preplay.frozen import freeze
from preplay.game import S, Side
from preplay.growth.goals import Ending, Limits
from preplay.matchup import Matchup
from preplay.matchup.model import check_by_history, check_matchup
from preplay.runs.directory import (
    BOOKS,
    CHECKPOINT,
    RESULT,
    TREE,
    Run,
    provenance_of,
    start_of,
)
from preplay.runs.encoding import beside, from_data, told
from preplay.runs.keeping import keep_better
from preplay.stopping import NEVER, Stop
from preplay.theorems import lemma3
from preplay.tree import Tree

T = TypeVar("T")

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def _entries(book: Book) -> list[dict[str, Any]]:
    """What the JSON tells of a mixed book; the book's own file has all of it."""
    return [{"history": e.history, "probability": e.probability} for e in book.entries]


def _by_side(pair: tuple[Any, Any]) -> dict[str, Any]:
    return {"1": pair[0], "2": pair[1]}


@dataclass(frozen=True, kw_only=True)
class MixedSide:
    """What one side does in an equilibrium."""

    expected_size: float
    """How many histories it memorizes on average."""
    entropy: Entropy
    """How randomly it plays, beside Theorem 2's bound."""
    book: Book = told(_entries)
    """Its mixed book: every history with the probability of being memorized."""


@dataclass(frozen=True, kw_only=True)
class EquilibriumResult:
    """A certified equilibrium of preparation in mixed books. All values are player 1's."""

    value: float
    """The value of the meta-game, up to half the gap."""
    lower: float
    """Player 1 can be sure of this much."""
    upper: float
    """Player 2 can hold player 1 to this much."""
    gap: float
    """upper - lower, certified by exact best responses."""
    solver_gap: float
    """The part of the gap that more iterations could close."""
    sampling_error: float
    """The part of the gap that comes from sampled values."""
    open_error: float
    """The part of the gap that comes from what was not looked at."""
    calibration_error: float = 0.0
    """How far the error of a calibration can move what the books earn, with 95 % confidence."""
    method: str
    """The solver."""
    iterations: int
    """Its iterations."""
    seconds: float
    """Its time."""
    costs: tuple[float, float]
    """Price of one memorized history for each side."""
    baseline: float
    """Nobody prepares."""
    utility: float
    """What is played in equilibrium, memory not subtracted."""
    only_one_prepares: tuple[float | None, float | None] = told(_by_side)
    """The value when only side 1, and when only side 2 prepares, net of memory: what `prepare` says."""
    only_one_bounds: tuple[tuple[float, float] | None, tuple[float, float] | None] = told(
        _by_side, (None, None)
    )
    """And what it is sure of: apart where its growth was cut short."""
    histories: int
    """Histories of the tree."""
    matters: tuple[int, int] = told(_by_side, (0, 0))
    """Histories met that can matter to each side; of an enumerable game all of them, |W_i|."""
    lemma3: tuple[float, float] = told(_by_side, (0.0, 0.0))
    """Lemma 3's bound on their number."""
    ending: Ending
    """What ended the growth: `complete`, or the limit that cut it short."""
    questions: int
    """Questions asked: moves and values."""
    sides: tuple[MixedSide, MixedSide] = told(_by_side)
    """What each side does."""
    trace: tuple[SolverProgress, ...]
    """How the gap fell."""
    scores: Literal["results", "model"] = "results"
    """What values are: expected results, or scores of a model that no games bear out."""
    tree: Tree = beside()
    """The tree that both books live on."""
    better: float | None = beside()
    """The gap of the better result that the run's directory held already, and keeps."""
    name: str = beside("")
    """The matchup's name."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def books(self) -> tuple[Book, Book]:
        """The mixed books of both sides."""
        return self.sides[0].book, self.sides[1].book

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """The tree and the books have files of their own."""
        kept = {name: partial(books.save, book) for name, book in zip(BOOKS, self.books, strict=True)}
        return {TREE: partial(trees.save, self.tree)} | kept

    @classmethod
    def found(cls, run: Run) -> EquilibriumResult:
        """The result of an `equilibrium` run."""
        data, where = run.read(RESULT), run.path(RESULT)
        for key in ("sides", "only_one_prepares", "only_one_bounds", "matters", "lemma3"):
            told_by_side = data.get(key)
            if isinstance(told_by_side, dict):
                data[key] = [told_by_side.get("1"), told_by_side.get("2")]
        told = data.get("sides")
        if isinstance(told, list):
            if len(told) != 2 or not all(isinstance(side, dict) for side in told):
                raise StoreError(f"{where}: damaged (sides); expected what each of the two does")
            data["sides"] = [
                from_data(MixedSide, side | {"book": run.book(number)}, where)
                for side, number in zip(told, "12", strict=True)
            ]
        return from_data(cls, data, where, tree=run.tree(), name=run.name, run=run)

    def to_pandas(self) -> DataFrame:
        """A row for each history of either mixed book: needs pandas."""
        from preplay.runs.tables import book_table

        return book_table(*self.books)

    def plot_trace(self) -> Figure:
        """The certified gap against iterations and seconds, as a matplotlib Figure."""
        from preplay.figures import trace_figure

        return trace_figure(self.trace, f"{self.name}: {self.method}")


def equilibrium(
    matchup: Matchup[S],
    cost: float | None = None,
    *,
    costs: tuple[float, float] | None = None,
    gap: float = 1e-6,
    method: str = "auto",
    iterations: int | None = 100_000,
    seconds: float | None = None,
    histories: int | None = None,
    save: str | Path | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> EquilibriumResult:
    """The equilibrium when both sides prepare, in mixed books, with a certified gap.

    `cost` is the price of a memorized history for both sides, `costs` one for each (default: the
    matchup's). The work ends at the certified `gap`, or at a limit. With `save` the run is kept in that
    directory; a better result that is already there stays. `progress` hears of the work: `print` will do.
    """
    from preplay.equilibria.contest import contest
    from preplay.equilibria.solvers import check_limits, check_method
    from preplay.response import check_cost

    check_matchup(matchup)
    check_by_history(matchup, "an equilibrium")
    if cost is not None and costs is not None:
        raise InputError("cost and costs are both given; expected one of them")
    check_method(method)
    check_limits(gap, iterations, seconds)
    limits = Limits(histories, seconds)
    if cost is not None:
        check_cost(cost)
    prices = (matchup.cost(1, cost), matchup.cost(2, cost)) if costs is None else costs
    check_both("costs", prices)
    for price in prices:
        check_cost(price)
    first, second = map(float, prices)
    prices = first, second
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    asked = {"costs": list(prices), "gap": gap, "method": method}
    run = start_of(matchup, "equilibrium", asked, save)
    if matchup.calibration is not None:
        games = stop if seconds is None else stop.until(time.monotonic() + seconds)
        matchup.calibration.curve(games, progress)
    found = contest(
        matchup,
        prices,
        gap=gap,
        method=method,
        iterations=iterations,
        seconds=seconds,
        limits=limits,
        stop=stop,
        growing=progress,
        solving=progress,
        checkpoint=run.path(CHECKPOINT) if run else None,
    )
    result = _result(matchup, found, run)
    before = keep_better(run, result, lambda before: before.gap < result.gap)
    return result if before is result else replace(result, better=before.gap)


def _result(matchup: Matchup[S], contested: Contest, run: Run | None) -> EquilibriumResult:
    from preplay.equilibria.contest import calibration_error

    found, longest = contested.equilibrium, matchup.game.longest
    return EquilibriumResult(
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        gap=found.gap,
        solver_gap=found.solver_gap,
        sampling_error=found.radius_error,
        open_error=found.open_error,
        calibration_error=calibration_error(matchup, contested),
        method=found.method,
        iterations=found.iterations,
        seconds=found.seconds,
        costs=found.costs,
        baseline=contested.baseline,
        utility=contested.utility,
        only_one_prepares=_each(contested, lambda alone: alone.value),
        only_one_bounds=_each(contested, lambda alone: (alone.lower, alone.upper)),
        histories=contested.tree.size,
        matters=contested.grown.matters,
        lemma3=(lemma3(found.costs[0], longest), lemma3(found.costs[1], longest)),
        ending=contested.grown.ending,
        questions=contested.grown.questions,
        sides=(_side(matchup, contested, 1, run), _side(matchup, contested, 2, run)),
        trace=found.trace,
        scores=matchup.scores,
        tree=contested.tree,
        name=matchup.name,
        run=run,
    )


def _each(contested: Contest, say: Callable[[Alone], T]) -> tuple[T | None, T | None]:
    one, two = (None if alone is None else say(alone) for alone in contested.alone)
    return one, two


def _side(matchup: Matchup[S], contested: Contest, side: Side, run: Run | None) -> MixedSide:
    from preplay.equilibria.contest import mixed_book

    return MixedSide(
        expected_size=contested.equilibrium.expected_size[side - 1],
        entropy=contested.entropy[side - 1],
        book=mixed_book(matchup, contested, side, provenance_of(run, matchup)),
    )
