"""preplay frontier: memory against value for all costs at once, and the order in which to learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from preplay.cli import options, show


def frontier(
    spec: options.Spec,
    side: options.SideName,
    cost: Annotated[
        float | None, typer.Option("--cost", help="The lowest cost to look at; needed for large games.")
    ] = None,
    changes: options.Set = None,
    plot: options.Plot = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    store: options.Store = None,
    lines: Annotated[
        int, typer.Option("--lines", min=0, help="How many rows of each table to print.")
    ] = 20,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show every optimal trade-off between memory and value, and what to learn first.

    Example: preplay frontier synthetic --side 1 --plot frontier.svg
    """
    from preplay.growth import Limits
    from preplay.matchup import open_matchup
    from preplay.preparation import explore
    from preplay.report.figures import check_figure
    from preplay.stopping import on_interrupt

    if plot is not None:
        check_figure(plot)
    with (
        open_matchup(spec, changes or (), workers=workers, store=store) as matchup,
        on_interrupt() as stop,
    ):
        who = matchup.side(side)
        progress = show.progress_line(quiet or as_json, matchup.telling)
        playing = show.text_line(quiet or as_json, matchup.telling)
        limits = Limits(histories, seconds)
        explored = explore(matchup, who, cost, limits, stop=stop, progress=progress, playing=playing)
        show.end_progress(progress)
        grown, front = explored.grown, explored.frontier
        points = [
            {"cost": float(c), "size": int(s), "value": float(v)}
            for c, s, v in zip(front.cost, front.size, front.value, strict=True)
        ]
        order = [grown.tree.history(int(k)) for k in front.order]
        radius = grown.tree.radius[grown.tree.player == who]
        error = float(radius[radius < 0.5].max(initial=0.0))
        if plot is not None:
            from preplay.report.figures import plot_frontier

            plot_frontier(front, plot, title=f"{matchup.name}, side {matchup.sides[who - 1]}")
        if as_json:
            show.print_json(
                {
                    "side": matchup.label(who),
                    "least_cost": explored.cost,
                    "unprepared": front.unprepared,
                    "error": error,
                    "ending": grown.ending,
                    "points": points,
                    "order": [
                        {"history": list(h), "gain": float(g)}
                        for h, g in zip(order, front.gain, strict=True)
                    ],
                }
                | ({"guess": True} if matchup.guessing else {})
                | ({"judged": explored.judged.as_data()} if explored.judged else {})
            )
        else:
            name = matchup.sides[who - 1]
            print(f"Memory against value for side {name} of {matchup.name}")
            print(f"Without preparation {front.unprepared:.6g}.", end=" ")
            if error > 1e-6:
                print(f"Values come from games and are off by up to {error:.3g}.", end=" ")
            if explored.judged is not None:
                print("Of the largest book:")
                show.print_judged(explored.judged)
            print("Just below each cost the best book is:\n" if points else "Nothing is worth learning.")
            rows = [(f"{p['cost']:.4g}", f"{p['size']}", f"{p['value']:.6f}") for p in points]
            if points:
                show.print_table(("cost", "size", "value"), _thinned(rows, lines), right=(0, 1, 2))
                print("\nIn the order worth learning:\n")
            total = front.unprepared
            learn = []
            for n, (history, gain) in enumerate(zip(order, front.gain, strict=True), 1):
                total += float(gain)
                if n <= lines:
                    line = matchup.write_line(history) or "(start)"
                    learn.append((f"{n}", line, f"{gain:+.5f}", f"{total:.5f}"))
            if learn:
                show.print_table(("", "history", "gain", "value so far"), learn, right=(0, 2, 3))
            if len(order) > lines:
                print(f"... and {len(order) - lines} more (--lines N or --json for all)")
            if grown.ending != "complete":
                print(f"Growth stopped by {grown.ending}: there may be better books.")
            if matchup.guessing:
                print(
                    "\nAll values are first guesses, no games were played; `preplay prepare` plays them."
                )
            if plot is not None:
                print(f"\nFigure in {plot}")
    if grown.ending == "interrupted":
        raise typer.Exit(130)


def _thinned(rows: Sequence[tuple[str, ...]], most: int) -> Sequence[tuple[str, ...]]:
    """At most `most` rows, spread evenly, the first and last among them."""
    if len(rows) <= most or most < 2:
        return rows[:most] if most < 2 else rows
    return [rows[round(k * (len(rows) - 1) / (most - 1))] for k in range(most)]
