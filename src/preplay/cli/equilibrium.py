"""preplay equilibrium: what both sides memorize when both prepare."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.book import Book
    from preplay.equilibria import SolverProgress
    from preplay.equilibria.contest import Contest
    from preplay.matchup import Matchup
    from preplay.runs import Run


def equilibrium(
    spec: options.Spec,
    cost: options.Cost = None,
    costs: Annotated[
        tuple[float, float] | None, typer.Option("--costs", help="Prices for side 1 and side 2.")
    ] = None,
    gap: Annotated[float, typer.Option("--gap", min=0.0, help="Stop at this certified gap.")] = 1e-6,
    method: Annotated[
        str, typer.Option("--method", help="sweep, lp, cfr, cfr+, dcfr, pcfr+ and others.")
    ] = "sweep",
    iterations: Annotated[
        int | None, typer.Option("--iterations", min=1, help="At most so many.")
    ] = 100_000,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, help="At most so long for growing, and for solving."),
    ] = None,
    histories: options.Histories = None,
    changes: options.Set = None,
    plot: options.Plot = None,
    save: options.Save = None,
    workers: options.Workers = None,
    store: options.Store = None,
    lines: Annotated[int, typer.Option("--lines", min=0, help="Lines of each book to print.")] = 12,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the equilibrium in mixed books, with a certified gap.

    Example: preplay equilibrium synthetic --costs 0.001 0.002 --gap 1e-6
    """
    from preplay import book as books
    from preplay import runs, tree
    from preplay.equilibria.contest import contest, mixed_book
    from preplay.equilibria.solvers import check_method
    from preplay.errors import InputError
    from preplay.growth import Limits
    from preplay.matchup import open_matchup
    from preplay.report.figures import check_figure, plot_trace
    from preplay.response import check_cost
    from preplay.stopping import on_interrupt

    if cost is not None and costs is not None:
        raise InputError("--cost and --costs are both given; expected one of them")
    check_method(method)
    if plot is not None:
        check_figure(plot)
    with (
        open_matchup(spec, changes or (), workers=workers, store=store) as matchup,
        on_interrupt() as stop,
    ):
        prices = costs or (matchup.cost(1, cost), matchup.cost(2, cost))
        for price in prices:
            check_cost(price)
        run = None
        if save is not None:
            identity = {
                "costs": list(prices),
                "gap": gap,
                "method": method,
                "matchup": dict(matchup.config),
            }
            run = runs.start(save, "equilibrium", matchup.name, identity, matchup.versions)
        growing = show.progress_line(quiet or as_json, matchup.telling)
        result = contest(
            matchup,
            prices,
            gap=gap,
            method=method,
            iterations=iterations,
            seconds=seconds,
            limits=Limits(histories, seconds),
            stop=stop,
            growing=growing,
            solving=_solving(quiet or as_json),
        )
        show.end_progress(growing)
        mixed = [mixed_book(matchup, result, side, run.provenance if run else {}) for side in (1, 2)]
        data = as_data(result, mixed)
        better = _kept_gap(run) if run is not None else math.inf
        if run is not None and not better < result.equilibrium.gap:
            run.write("result.json", data)
            tree.save(result.tree, run.path("tree.npz"))
            for made in mixed:
                books.save(made, run.path(f"book-{made.side}.json"))
        if plot is not None:
            plot_trace(
                result.equilibrium.trace, plot, title=f"{matchup.name}: {result.equilibrium.method}"
            )
        if as_json:
            show.print_json(data)
        else:
            print_contest(matchup, result, mixed, lines)
            if plot is not None:
                print(f"\nFigure in {plot}")
            if run is not None and better < result.equilibrium.gap:
                print(f"\n{run.directory} holds a better one, with a gap of {better:.3g}; it stays.")
            elif run is not None:
                print(f"\nKept in {run.directory}: result.json, book-1.json, book-2.json, tree.npz")
    if stop.asked:
        raise typer.Exit(130)


def _kept_gap(run: Run) -> float:
    """The gap of the result that a run directory holds already; infinite if there is none."""
    if not run.path("result.json").exists():
        return math.inf
    gap = run.read("result.json").get("gap")
    return float(gap) if isinstance(gap, int | float) else math.inf


def _solving(quiet: bool) -> Callable[[SolverProgress], None] | None:
    if quiet or not sys.stderr.isatty():
        return None

    def tell(now: SolverProgress) -> None:
        print(
            f"\r{now.iteration:,} iterations  gap {now.gap:.2e}  {now.seconds:.1f} s".ljust(70),
            end="",
            file=sys.stderr,
            flush=True,
        )

    return tell


def as_data(result: Contest, mixed: list[Book]) -> dict[str, Any]:
    """The contract's JSON object, with what it means added."""
    found = result.equilibrium
    return {
        "value": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "gap": found.gap,
        "solver_gap": found.solver_gap,
        "sampling_error": found.radius_error,
        "open_error": found.open_error,
        "method": found.method,
        "iterations": found.iterations,
        "seconds": found.seconds,
        "costs": list(found.costs),
        "baseline": result.baseline,
        "utility": result.utility,
        "only_one_prepares": {"1": result.alone[0], "2": result.alone[1]},
        "histories": result.tree.size,
        "ending": result.grown.ending,
        "questions": result.grown.questions,
        "sides": {
            str(book.side): {
                "expected_size": found.expected_size[book.side - 1],
                "entropy": vars(result.entropy[book.side - 1]),
                "book": [
                    {"history": list(e.history), "probability": e.probability} for e in book.entries
                ],
            }
            for book in mixed
        },
        "trace": [{"iteration": p.iteration, "seconds": p.seconds, "gap": p.gap} for p in found.trace],
    }


def print_contest(matchup: Matchup[Any], result: Contest, mixed: list[Book], lines: int) -> None:
    """A readable account of the equilibrium."""
    found = result.equilibrium
    first = matchup.sides[0]
    print(f"Equilibrium of preparation in {matchup.name}, values for side {first}")
    print(f"  nobody prepares        {result.baseline:.6g}")
    for side, name in enumerate(matchup.sides):
        print(f"  only {name} prepares".ljust(25) + f"{result.alone[side]:.6g}  (net of memory)")
    print(
        f"  both prepare           {found.value:.6g}, certified in [{found.lower:.6g}, {found.upper:.6g}]"
    )
    print(f"  played utility         {result.utility:.6g}  (memory not subtracted)")
    print(f"  gap                    {found.gap:.3g}", end="")
    unsure = "values not known" if matchup.sampling is None else "sampling"
    parts = [
        f"{size:.2g} {what}"
        for size, what in ((found.radius_error, unsure), (found.open_error, "not looked at"))
        if size > 0.005 * found.gap and size > 1e-12
    ]
    print(f"  (of it {', '.join(parts)})" if parts else "")
    print(
        f"  method                 {found.method}, {found.iterations:,} iterations, {found.seconds:.2f} s"
    )
    grown = show.histories(result.tree.size)
    print(f"  public tree            {grown}, {result.grown.questions:,} questions")
    if result.grown.ending != "complete":
        print(f"  growth stopped by      {result.grown.ending}")
    if matchup.guessing:
        print(
            "  values                 first guesses, no games were played; "
            "`preplay match` of a saved run plays them"
        )
    for book in mixed:
        name = matchup.sides[book.side - 1]
        size = found.expected_size[book.side - 1]
        entropy = result.entropy[book.side - 1]
        print(f"\nSide {name}: memorizes {size:.2f} histories on average")
        print(f"  its moves have {entropy.play:.4g} nats of entropy a game", end="")
        if entropy.applies and entropy.bound > 0:
            print(f"; Theorem 2: at least {entropy.bound:.4g}, found {entropy.found:.4g}")
        else:
            print("; Theorem 2 makes no claim here")
        often = [e for e in book.entries if e.probability >= 0.0005]
        rows = [
            (
                matchup.write_line(e.history) or "(start)",
                show.moves(matchup, e),
                f"{e.probability:.3f}",
                show.one_in(e.reach),
                f"{e.gain:+.5f}",
            )
            for e in sorted(often, key=lambda e: (-e.probability * e.reach, len(e.history)))[:lines]
        ]
        if rows:
            show.print_table(("history", "play", "memorized", "met", "gain"), rows, right=(2, 3, 4))
        if len(rows) < len(often):
            print(f"... and {len(often) - len(rows)} more (--lines N, --json or --save DIR for all)")
