"""preplay bounds: Theorem 1, and Lemma 1 beside the real count."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options, show
from preplay.cli.working import at_work

if TYPE_CHECKING:
    from preplay.runs.bounded import BoundsResult


def bounds(
    spec: options.Spec,
    side: options.SideName,
    advantage: Annotated[
        float | None,
        typer.Option("--advantage", help="The theorem's v: a value worth reaching, from 0 to 1."),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", help="The theorem's ε: the share of it that may be lost, between 0 and 1."
        ),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(
            "--cost",
            help="Price of memorizing one history, and Lemma 1's p; default: the matchup's, or 0.01.",
        ),
    ] = None,
    changes: options.Set = None,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell what a book is sure to earn, by Theorem 1 of the paper.

    It depends on how randomly the opponent plays. Give both --advantage and --epsilon, or neither: then
    those are taken with which the theorem promises most, less the price of the memory. Lemma 1 counts the
    histories that are met with at least the probability p.

    Example: preplay bounds synthetic --side 1 --advantage 0.6 --epsilon 0.5
    """
    from preplay.runs import as_data
    from preplay.runs.bounded import bounds as bounds_run

    silent = quiet or as_json
    with at_work(
        spec, changes or (), seconds, silent, cost=cost, workers=workers, store=store, cluster=cluster
    ) as work:
        matchup, stop, left, progress = work
        result = bounds_run(
            matchup,
            side,
            cost,
            advantage=advantage,
            epsilon=epsilon,
            save=save,
            histories=histories,
            seconds=left(),
            stop=stop,
            progress=progress,
        )
        show.end_progress(progress)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_bounds(result)
            show.kept(result)
    if stop.asked:
        raise typer.Exit(130)


def print_bounds(found: BoundsResult) -> None:
    """A readable account of what the theorem and the lemma say."""
    lemma = found.lemma1
    show.say(f"Theorem 1 for side {found.side} of {found.name}")
    if found.constructed is None:
        show.say(f"says nothing at a price of {lemma.p:g}, for any advantage and ε", indent=2)
    else:
        said = partial(show.fact, indent=25)
        said("first worth", f"{found.advantage:.4g} or more: {show.histories(found.firsts or 0)}")
        said("one of them is met", f"with probability {found.p_norm:.6g} (P_norm)")
        said("entropy of which one", f"{found.entropy:.6g} nats")
        said("a book of at most", f"{found.size_bound:,.6g} histories")
        said("is sure to earn", f"{found.guarantee:.6g} (ε = {found.epsilon:.4g})")
        built = found.constructed
        said("the proof's book", f"has {show.histories(built.size)} and earns {built.value:.6g}")
        if not found.complete:
            said("growth was cut short", "the numbers are of the histories found so far")
    least = "" if lemma.complete else "at least "
    count = show.histories(lemma.count)
    show.say(f"Lemma 1: {least}{count} of reach >= {lemma.p:g}, bound {lemma.bound:,.6g}")
