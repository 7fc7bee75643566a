"""preplay equilibrium: what both sides memorize when both prepare."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show
from preplay.cli.lines import print_lines
from preplay.cli.working import at_work

if TYPE_CHECKING:
    from preplay.equilibria.contest import Entropy
    from preplay.matchup import Matchup
    from preplay.runs.equilibria import EquilibriumResult


SELDOM = 0.0005
"""Histories that are memorized with a smaller probability are not printed."""


def equilibrium(
    spec: options.Spec,
    cost: options.Cost = None,
    costs: Annotated[
        tuple[float, float] | None,
        typer.Option("--costs", help="Prices of one history for side 1 and for side 2."),
    ] = None,
    gap: Annotated[
        float,
        typer.Option("--gap", min=0.0, help="Stop when it is certified to be this near the equilibrium."),
    ] = 1e-6,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="How to solve it: auto (lp for small games, else sweep), lp, sweep, cfr, cfr+, dcfr, "
            "pcfr+, pcfr+/restarts, pdcfr+, sapcfr+ or sapdcfr+.",
        ),
    ] = "auto",
    iterations: Annotated[
        int | None, typer.Option("--iterations", min=1, help="At most so many iterations of the solver.")
    ] = 100_000,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.0,
            help="At most so many seconds for each step: calibrating games, growing the tree, solving.",
        ),
    ] = None,
    histories: options.Histories = None,
    changes: options.Set = None,
    plot: options.Plot = None,
    save: options.Save = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    lines: Annotated[
        int, typer.Option("--lines", min=0, help="How many lines of each book to print.")
    ] = 12,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find what both sides memorize when both prepare.

    The books are mixed, each line with a probability, and certified to be near an equilibrium.

    Example: preplay equilibrium synthetic --costs 0.001 0.002 --gap 1e-6
    """
    from preplay.equilibria.solvers import check_method
    from preplay.errors import InputError
    from preplay.figures import check_figure, save_figure
    from preplay.runs import as_data
    from preplay.runs.equilibria import equilibrium as equilibrium_run

    if cost is not None and costs is not None:  # before engines start
        raise InputError("cost and costs are both given; expected one of them")
    check_method(method)
    if plot is not None:
        check_figure(plot)
    silent = quiet or as_json
    with at_work(
        spec,
        changes or (),
        seconds,
        silent,
        cost=cost if costs is None else costs,
        workers=workers,
        store=store,
        cluster=cluster,
    ) as work:
        matchup, stop, left, progress = work
        result = equilibrium_run(
            matchup,
            cost,
            costs=costs,
            gap=gap,
            method=method,
            iterations=iterations,
            seconds=left(),
            histories=histories,
            save=save,
            stop=stop,
            progress=progress,
        )
        show.end_progress(progress)
        if plot is not None:
            save_figure(result.plot_trace(), plot)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_contest(matchup, result, lines)
            if result.better is None:
                show.kept(result, plot)
            else:
                print()
                show.written(plot)
                show.say(f"{save} keeps a better one, with a gap of {result.better:.3g}; it stays.")
    if stop.asked:
        raise typer.Exit(130)


def print_contest(matchup: Matchup[Any], found: EquilibriumResult, lines: int) -> None:
    """A readable account of the equilibrium."""
    first = matchup.sides[0]
    show.say(f"Equilibrium of preparation in {matchup.name}, values for side {first}")
    said = partial(show.fact, indent=25)
    said("nobody prepares", f"{found.baseline:.6g}")
    for name, alone, inside in zip(
        matchup.sides, found.only_one_prepares, found.only_one_bounds, strict=True
    ):
        if alone is not None and inside is not None:
            apart = f"in [{inside[0]:.6g}, {inside[1]:.6g}]"
            known = f"{alone:.6g}" if inside[1] - inside[0] <= 1e-9 else apart
            said(f"only {'side ' * name.isdigit()}{name} prepares", f"{known}  (net of memory)")
    bounds = f"in [{found.lower:.6g}, {found.upper:.6g}]"
    both = f"{found.value:.6g}, certified {bounds}" if found.ending == "complete" else bounds
    said("both prepare", both)
    sure = f" ± {found.calibration_error:.3g}" if found.calibration_error else ""
    said("played utility", f"{found.utility:.6g}{sure}  (memory not subtracted)")
    unsure = "values not known" if matchup.sampling is None else "sampling"
    parts = [
        f"{size:.2g} {what}"
        for size, what in ((found.sampling_error, unsure), (found.open_error, "not looked at"))
        if size > 0.005 * found.gap and size > 1e-12
    ]
    said("gap", f"{found.gap:.3g}" + (f"  (of it {', '.join(parts)})" if parts else ""))
    said("method", f"{found.method}, {found.iterations:,} iterations, {found.seconds:.2f} s")
    said("public tree", f"{show.histories(found.histories)}, {show.counted(found.questions, 'question')}")
    pairs = zip(found.matters, found.lemma3, strict=True)
    counts = " and ".join(f"{count:,} (at most {bound:,.0f})" for count, bound in pairs)
    said("matter to the sides", f"{counts}, by Lemma 3")
    if found.ending != "complete":
        said("growth stopped by", found.ending)
    if matchup.guessing:
        said("values", "first guesses, no games were played; `preplay match` of a saved run plays them")
    for name, opponent, mixed in zip(matchup.sides, matchup.sides[::-1], found.sides, strict=True):
        print()
        show.say(f"Side {name}: memorizes {mixed.expected_size:.2f} histories on average")
        show.say(f"its moves have {mixed.entropy.play:.4g} nats of entropy a game", indent=2)
        show.say(theorem2_words(mixed.entropy, opponent), indent=2)
        often = [e for e in mixed.book.entries if e.probability >= SELDOM]
        print_lines(
            often,
            matchup.write,
            {
                "memorized": lambda e: f"{e.probability:.3f}",
                "met": lambda e: show.one_in(e.reach),
                "gain": lambda e: f"{e.gain:+.5f}",
            },
            lines if often else 0,
            more="--lines N, --json or --save DIR for all",
        )


def theorem2_words(entropy: Entropy, opponent: str) -> str:
    """Theorem 2 beside the sharper bound of its argument, in words."""
    if entropy.floor <= 0.0:
        return "how random it must be: neither Theorem 2 nor its argument makes a claim here"
    where = f"where {opponent}, always on prep, first has {entropy.advantage:.3f}"
    paper = (
        f"Theorem 2: {entropy.bound:.4g}"
        if entropy.applies and entropy.bound > 0
        else "Theorem 2 is void"
    )
    return f"entropy of {where}: {entropy.found:.4g} nats, at least {entropy.floor:.4g} ({paper})"
