"""preplay calibrate: what a score is worth to the players of a matchup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.runs.calibrations import CalibrateResult


def calibrate(
    spec: Annotated[
        str,
        typer.Argument(metavar="MATCHUP", help="A matchup of chess: a built-in name or a .toml file."),
    ],
    games: Annotated[
        int | None,
        typer.Option(
            "--games", min=1, help="How many games to play; default: as many as the matchup says."
        ),
    ] = None,
    changes: options.Set = None,
    plot: options.Plot = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play games to find what an engine's score is worth.

    The two players of the matchup play each other, without books. The games, and all that engines found
    in them, are kept in the analysis store: `prepare` and the
    other commands use them, and the same command continues them.

    Example: preplay calibrate chess --set black.randomness=10 --games 200 --plot reliability.svg
    """
    from preplay.errors import InputError
    from preplay.figures import check_figure, save_figure
    from preplay.matchup import load_config
    from preplay.matchup.source import from_config
    from preplay.runs import as_data
    from preplay.runs.calibrations import calibrate as calibrate_run
    from preplay.stopping import on_interrupt

    if plot is not None:
        check_figure(plot)
    wanted = () if games is None else (f"value.games={games}",)
    name, config = load_config(spec, changes or ())
    if config.get("kind") != "chess":
        raise InputError(f"matchup '{spec}' is not chess; other games have no scores to calibrate")
    _, config = load_config(spec, (*(changes or ()), "value.model=calibrated", *wanted))
    with (
        from_config(name, config, workers=workers, store=store, cluster=cluster) as matchup,
        on_interrupt() as stop,
    ):
        progress = show.progress(quiet or as_json, matchup.telling)
        result = calibrate_run(matchup, seconds=seconds, stop=stop, progress=progress)
        show.end_progress(progress)
        if plot is not None:
            save_figure(result.plot_reliability(), plot)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_calibration(result)
            if plot is not None:
                print()
                show.written(plot)
    if result.ending == "interrupted":
        raise typer.Exit(130)


def print_calibration(result: CalibrateResult) -> None:
    """A readable account: the curve, and what was played beside what it expects."""
    curve = result.calibration
    show.say(f"What a score is worth to the players of {result.matchup}")
    show.fact("different games", f"{curve.games:,} to the end; White scored {result.score:.3f}")
    show.fact("positions", f"{curve.positions:,}")
    level = f"intercept {curve.intercept:.3f} ± {curve.intercept_error:.3f}"
    show.fact("level position", f"{curve.score(0.0):.3f} for White ({level})")
    pawn = f"slope {curve.slope:.3f} ± {curve.slope_error:.3f}"
    show.fact("a pawn ahead", f"{curve.score(1.0):.3f} for White ({pawn})")
    if result.ending != "complete":
        show.fact("stopped by", f"{result.ending}: {result.wanted:,} games were wanted")
    rows = [
        (
            f"{part.low:+.2f} to {part.high:+.2f}",
            f"{part.positions}",
            f"{part.expected:.3f}",
            f"{part.played:.3f} ± {part.error:.3f}",
        )
        for part in result.reliability
    ]
    if rows:
        print()
        show.print_table(("pawns", "positions", "expected", "played"), rows, right=(1, 2, 3))
