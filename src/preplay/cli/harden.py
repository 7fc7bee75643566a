"""preplay harden: the way of playing that is hardest to prepare against."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show
from preplay.cli.lines import print_lines
from preplay.cli.working import at_work

if TYPE_CHECKING:
    from preplay.judging import Judged
    from preplay.matchup import Matchup
    from preplay.runs.hardened import HardenResult


def harden(
    spec: options.Spec,
    side: Annotated[
        str,
        typer.Option("--side", help="The side whose moves are mixed: 1 or 2, in chess white or black."),
    ],
    cost: Annotated[
        float | None,
        typer.Option("--cost", help="What memorizing one history costs the opponent who prepares."),
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(
            "--loss", min=0.0, help="How much the mix may lose against one who does not prepare."
        ),
    ] = None,
    choose: Annotated[
        int | None,
        typer.Option(
            "--choose", min=2, help="Mix at most so many of the best moves (not in tabular games)."
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            min=0.0,
            help="How much worse than the best a mixed move may be; in chess: centipawns.",
        ),
    ] = None,
    deviations: Annotated[
        int | None,
        typer.Option(
            "--deviations",
            min=0,
            help="For an opponent who also chooses their moves: how many of a line may differ from the "
            "first choice.",
        ),
    ] = None,
    gap: Annotated[
        float,
        typer.Option("--gap", min=0.0, help="Stop when it is certified to be this near the best mix."),
    ] = 1e-4,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", help="How to solve it: lp or sweep; default: sweep for large trees, else lp."
        ),
    ] = None,
    changes: options.Set = None,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    lines: Annotated[
        int, typer.Option("--lines", min=0, help="How many lines of the mix to print.")
    ] = 20,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Mix a side's moves so that preparing against it gains least.

    Example: preplay harden chess --side black --cost 1e-3 --choose 4 --margin 60
    """
    from preplay.cli.changes import to_choose
    from preplay.runs import as_data
    from preplay.runs.hardened import harden as harden_run

    settings = to_choose(spec, changes or (), choose, margin, deviations)
    silent = quiet or as_json
    with at_work(
        spec, settings, seconds, silent, cost=cost, workers=workers, store=store, cluster=cluster
    ) as work:
        matchup, stop, left, progress = work
        result = harden_run(
            matchup,
            side,
            cost,
            loss=loss,
            gap=gap,
            method=method,
            histories=histories,
            seconds=left(),
            save=save,
            stop=stop,
            progress=progress,
        )
        show.end_progress(progress)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_hardened(matchup, result, lines)
            show.kept(result)
    if stop.asked:
        raise typer.Exit(130)


def print_hardened(matchup: Matchup[Any], found: HardenResult, lines: int) -> None:
    """A readable account of the mix and of what it is worth."""
    hides, preparer = (_named(matchup.sides[book.side - 1]) for book in (found.policy, found.best))
    show.say(f"How {hides} should play {matchup.name}, so that {preparer}, who prepares, gains least")
    said = partial(show.fact, indent=27)
    show.say(f"What {preparer} has, net of memory at {found.cost:g} a history:")
    said("without a book", f"{found.unprepared:.5f}")
    if found.unhardened is not None:
        said(f"as {hides} plays now", f"{found.unhardened:.5f}{_fresh(found.unhardened_judged)}")
    if found.before is not None:
        best = found.before
        said(
            "best softmax",
            f"{best.value:.5f} or more  (r = {best.randomness:g}, gives away {best.loss:.5f})",
        )
    inside = f"certified in [{found.lower:.5f}, {found.upper:.5f}]"
    said("the mix", f"{found.value:.5f}, {inside}, gives away {found.loss:.5f}")
    if found.error:
        said("", f"results may be off by {found.error:.3f}, by judge and calibration")
    if found.choosing is not None:
        most = f", at most {found.choosing[1]:.5f}" if found.choosing[1] > found.choosing[0] else ""
        said(
            f"if {preparer} also chooses", f"{found.choosing[0]:.5f}{most}{_fresh(found.choosing_judged)}"
        )
    grown = show.histories(found.histories)
    said("looked at", f"{grown}, {show.counted(found.questions, 'question')} ({found.method})")
    if found.ending != "complete":
        said("stopped by", f"{found.ending}: the bounds say what is certain")
    if found.judged is not None:
        show.print_judged(found.judged, indent=27)
    elif found.scores == "model":
        said("values", "as they are, no judge: a preparer is drawn to their errors")
    if found.scores == "model":
        said("model scores", "not expected results: no games bear them out")
    if len(found.softmax) > 1:
        _print_softmax(found, hides, preparer)
    if found.policy.entries:
        print(f"\nThe mix: what {hides} plays")
        met = {"met": lambda entry: show.one_in(entry.reach)}
        more = "--lines N, --json or --save DIR for all"
        print_lines(found.policy.entries, matchup.write, met, lines, more=more)


def _named(side: str) -> str:
    """A side in a sentence: "white", or "side 1"."""
    return f"side {side}" if side.isdigit() else side


def _print_softmax(found: HardenResult, hides: str, preparer: str) -> None:
    """Each softmax beside a mix that gives away no more."""
    print()
    show.say(
        f"By softmax over the same menus: what {preparer} nets at least, what {hides} gives away, and "
        f"what {preparer} nets at most against a mix that gives away no more:"
    )
    rows = [
        (
            f"{s.randomness:g}",
            f"{s.value:.5f}",
            f"{s.loss:.5f}",
            "" if s.mix is None else f"{s.mix:.5f}",
        )
        for s in found.softmax
    ]
    show.print_table(("r", "nets", "gives away", "with the mix"), rows, right=(0, 1, 2, 3))


def _fresh(judged: Judged | None) -> str:
    """What the judge made of a book, in a few words."""
    if judged is None:
        return ""
    return f"  (judged: {judged.before:.4f} became {judged.after:.4f} before memory)"
