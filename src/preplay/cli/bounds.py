"""preplay bounds: Theorem 1, and Lemma 1 beside the real count."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from preplay.cli import options, show
from preplay.cli.working import at_work


def bounds(
    spec: options.Spec,
    side: options.SideName,
    advantage: Annotated[
        float | None,
        typer.Option(
            "--advantage", help="v: the advantage to reach, in [0, 1]; default: the most useful."
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="How much of it may be lost, in (0, 1).")
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", help="Lemma 1's p; default: the matchup's cost or 0.01.")
    ] = None,
    changes: options.Set = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Bound how exploitable the opponent is by how randomly they play (Theorem 1 of the paper).

    Without an advantage and ε, those for which it says most at the price.

    Example: preplay bounds synthetic --side 1 --advantage 0.6 --epsilon 0.5
    """
    from preplay.bounding import bound
    from preplay.growth import Limits

    silent = quiet or as_json
    with at_work(
        spec, changes or (), seconds, silent, workers=workers, store=store, cluster=cluster
    ) as work:
        matchup, stop, left, progress = work
        who = matchup.side(side)
        limits = Limits(histories, left())
        found = bound(matchup, who, advantage, epsilon, cost, limits, stop=stop, progress=progress)
        show.end_progress(progress)
        first, lemma, counted = found.theorem1, found.lemma1, found.counted
        data: dict[str, Any] = {
            "side": matchup.label(who),
            "advantage": None,
            "epsilon": None,
            "lemma1": {"p": lemma.p, "count": lemma.count, "bound": lemma.bound, "complete": counted},
        }
        if first is not None:
            data |= {
                "advantage": first.advantage,
                "epsilon": first.epsilon,
                "entropy": first.entropy,
                "p_norm": first.p_norm,
                "firsts": first.firsts,
                "size_bound": show.finite(first.size_bound),
                "guarantee": first.guarantee,
                "constructed": {"size": len(first.nodes), "value": first.value},
                "complete": first.complete,
            }
        if as_json:
            show.print_json(data)
        else:
            print(f"Theorem 1 for side {matchup.sides[who - 1]} of {matchup.name}")
            if first is None:
                print(f"  says nothing at a price of {lemma.p:g}, for any advantage and ε")
            else:
                print(f"  first histories with value >= {first.advantage:.4g}: {first.firsts:,}")
                print(f"  met with probability (P_norm)     {first.p_norm:.6g}")
                print(f"  entropy of which one              {first.entropy:.6g} nats")
                print(f"  a book of at most                 {first.size_bound:,.6g}")
                print(
                    f"  is sure to earn                   {first.guarantee:.6g} (ε = {first.epsilon:.4g})"
                )
                built = f"{len(first.nodes):,} and earns {first.value:.6g}"
                print(f"  the proof's book has              {built}")
                if not first.complete:
                    print("  growth was cut short: the numbers speak of the histories found so far")
            least = "" if counted else "at least "
            count = show.histories(lemma.count)
            print(f"Lemma 1: {least}{count} of reach >= {lemma.p:g}, bound {lemma.bound:,.6g}")
    if stop.asked:
        raise typer.Exit(130)
