"""preplay frontier: memory against value for all costs at once, and the order in which to learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show
from preplay.cli.lines import moves
from preplay.cli.prepare import print_deviations, print_repairs
from preplay.cli.working import at_work

if TYPE_CHECKING:
    from preplay.matchup import Matchup
    from preplay.runs.frontiers import FrontierResult


def frontier(
    spec: options.Spec,
    side: options.SideName,
    cost: Annotated[
        float | None,
        typer.Option("--cost", help="The lowest price of a history to look at; large games need one."),
    ] = None,
    choose: options.Choose = None,
    margin: options.Margin = None,
    deviations: options.Deviations = None,
    repertoire: options.Repertoire = None,
    avoid: options.Avoid = None,
    extend: options.Extend = None,
    changes: options.Set = None,
    plot: options.Plot = None,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    lines: Annotated[
        int, typer.Option("--lines", min=0, help="How many rows of each table to print.")
    ] = 20,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show memory against value, and what to learn first.

    With --choose the moves are chosen once, for the lowest cost, and all smaller books play the same
    moves. At a higher cost `prepare` may choose others and earn more.

    Example: preplay frontier synthetic --side 1 --plot frontier.svg
    """
    from preplay.cli.changes import bound_to, to_choose
    from preplay.figures import check_figure, save_figure
    from preplay.runs import as_data
    from preplay.runs.frontiers import frontier as frontier_run

    if plot is not None:
        check_figure(plot)
    changes = to_choose(spec, changes or (), choose, margin, deviations)
    changes += bound_to(spec, side, repertoire, avoid, extend, changes)
    silent = quiet or as_json
    with at_work(
        spec, changes, seconds, silent, cost=cost, workers=workers, store=store, cluster=cluster
    ) as work:
        matchup, stop, left, progress = work
        result = frontier_run(
            matchup,
            side,
            cost,
            save=save,
            histories=histories,
            seconds=left(),
            stop=stop,
            progress=progress,
        )
        show.end_progress(progress)
        if plot is not None:
            save_figure(result.plot_frontier(), plot)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_frontier(matchup, result, lines)
            show.kept(result, plot)
    if result.ending == "interrupted":
        raise typer.Exit(130)


def print_frontier(matchup: Matchup[Any], front: FrontierResult, lines: int) -> None:
    """A readable account: the best books by falling cost, and the order worth learning."""
    show.say(f"Memory against value for side {front.side} of {matchup.name}")
    error = f" Values may be off by up to {front.error:.3g}." if front.error > 1e-6 else ""
    below = " Just below each cost the best book is:" if front.points else " Nothing is worth learning."
    if front.judged is not None:
        print("Of the largest book:")
        show.print_judged(front.judged)
    show.print_scale(front.scores, front.calibration)
    show.say(f"Without preparation {front.unprepared:.6g}.{error}{below}")
    print()
    if front.points:
        rows = [(f"{p.cost:.4g}", f"{p.size}", f"{p.value:.6f}") for p in front.points]
        show.print_table(("cost", "size", "value"), _thinned(rows, lines), right=(0, 1, 2))
        if len(rows) > lines:
            show.say(f"... {lines} of {len(rows):,} books, spread evenly (--lines N or --json for all)")
        print("\nIn the order worth learning:\n")
    learn, total = [], front.unprepared
    answers = {entry.history: moves(entry, matchup.write) for entry in front.book.entries}
    for n, (history, gain) in enumerate(front.order[:lines], 1):
        total += gain
        line = f"{matchup.write_line(history) or '(start)'}: {answers[history]}"
        learn.append((f"{n}", line, f"{gain:+.5f}", f"{total:.5f}"))
    if learn:
        show.print_table(("", "line", "gain", "value so far"), learn, right=(0, 2, 3), cut=1, tail=True)
    if len(front.order) > lines:
        show.say(f"... and {len(front.order) - lines:,} more (--lines N or --json for all)")
    print_deviations(matchup, front.book, lines)
    if front.repairs is not None:
        print_repairs(matchup, front.repairs, lines)
    if front.ending != "complete":
        show.say(f"Growth stopped by {front.ending}: there may be better books.")
    if front.guess:
        show.say("All values are first guesses, no games were played; `preplay prepare` plays them.")


def _thinned(rows: Sequence[tuple[str, ...]], most: int) -> Sequence[tuple[str, ...]]:
    """At most `most` rows, spread evenly, the first and last among them."""
    if len(rows) <= most or most < 2:
        return rows[:most] if most < 2 else rows
    return [rows[round(k * (len(rows) - 1) / (most - 1))] for k in range(most)]
