"""preplay prepare: the best book against a given opponent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.book import Book
    from preplay.matchup import Matchup
    from preplay.preparation import Prepared


ROUNDING = 1e-12
"""Gains smaller than this are rounding errors."""


def prepare(
    spec: options.Spec,
    side: options.SideName,
    cost: options.Cost = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, help="At most this many histories.")
    ] = None,
    changes: options.Set = None,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    within: options.Gap = 0.0,
    workers: options.Workers = None,
    store: options.Store = None,
    lines: Annotated[
        int, typer.Option("--lines", min=0, help="How many lines of the book to print.")
    ] = 20,
    page: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a page to explore it (with --save)."),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the best book for one side, with a certified bound.

    Example: preplay prepare synthetic --side 1 --cost 0.001
    """
    from preplay import book as books
    from preplay import runs, tree
    from preplay.errors import InputError
    from preplay.files import check_writable
    from preplay.growth import Limits
    from preplay.matchup import open_matchup
    from preplay.preparation import book_of
    from preplay.preparation import prepare as solve
    from preplay.response import check_cost
    from preplay.stopping import on_interrupt

    if page is not None and save is None:
        raise InputError("--report needs --save DIR, where what the page shows is kept")
    if page is not None:
        check_writable(page)
    with (
        open_matchup(spec, changes or (), workers=workers, store=store) as matchup,
        on_interrupt() as stop,
    ):
        who = matchup.side(side)
        run = checkpoint = None
        price = cost if budget is not None else matchup.cost(who, cost)
        if price is not None:
            check_cost(price)
        if save is not None:
            identity = {"side": who, "cost": price, "budget": budget, "matchup": dict(matchup.config)}
            run = runs.start(save, "prepare", matchup.name, identity, matchup.versions)
            checkpoint = run.path("checkpoint.npz")
        progress = show.progress_line(quiet or as_json, matchup.telling)
        playing = show.text_line(quiet or as_json, matchup.telling)
        limits = Limits(histories=histories, seconds=seconds, gap=within)
        prepared = solve(
            matchup,
            who,
            cost,
            budget,
            limits,
            stop=stop,
            progress=progress,
            playing=playing,
            checkpoint=checkpoint,
        )
        show.end_progress(progress)
        made = book_of(matchup, prepared, provenance=run.provenance if run else {})
        data = as_data(matchup, prepared, made)
        if run is not None:
            run.write("result.json", data)
            tree.save(prepared.tree, run.path("tree.npz"))
            books.save(made, run.path("book.json"))
        if page is not None and run is not None:
            from preplay.report.page import write_report

            write_report(run.directory, page)
        if as_json:
            show.print_json(data)
        else:
            print_book(matchup, prepared, made, lines)
            if run is not None:
                print(f"\nKept in {run.directory}: book.json, result.json, tree.npz")
    if prepared.grown.ending == "interrupted":
        raise typer.Exit(130)


def as_data(matchup: Matchup[Any], prepared: Prepared, book: Book) -> dict[str, Any]:
    """The contract's JSON object, with how the growth ended added."""
    best = prepared.response
    clock = {} if prepared.played is None else {"clock": prepared.played.as_data()}
    if prepared.refused is not None:
        clock["refused"] = prepared.refused.as_data()
    if prepared.judged is not None:
        clock["judged"] = prepared.judged.as_data()
    return {
        "side": matchup.label(best.side),
        "cost": best.cost,
        "budget": best.budget,
        "baseline": best.baseline,
        "value": best.value,
        "net": best.net,
        "upper": best.upper,
        "error": best.error,
        "size": best.size,
        "ending": prepared.grown.ending,
        "histories": prepared.grown.histories,
        "questions": prepared.grown.questions,
        "book": [
            {"history": list(e.history), "moves": dict(e.moves), "reach": e.reach, "gain": e.gain}
            for e in book.entries
        ],
    } | clock


def print_book(matchup: Matchup[Any], prepared: Prepared, book: Book, lines: int) -> None:
    """A readable account: what the book is worth, and its most important lines."""
    best, grown = prepared.response, prepared.grown
    name = matchup.sides[best.side - 1]
    print(f"Best book for side {name} of {matchup.name}")
    error = f" ± {best.error:.4g}" if best.error > 1e-6 else ""
    print(f"  without preparation  {best.unprepared:.6g}")
    gain = best.value - best.unprepared
    gain = gain if abs(gain) > ROUNDING else 0.0
    print(f"  with the book        {best.value:.6g}{error}  ({gain:+.6g})")
    limit = f", at most {best.budget}" if best.budget is not None else ""
    print(f"  memorized            {show.histories(best.size)} at {best.cost:g} each{limit}")
    print(f"  net of memory        {best.net:.6g}, certified upper bound {best.upper:.6g}")
    if grown.ending != "complete" and not grown.tree.complete:
        print(f"  growth stopped by    {grown.ending}: the bound counts what was not looked at")
    elif grown.ending != "complete":
        print(f"  games stopped by     {grown.ending}: the bound and the error count what was not played")
    if matchup.clock is not None and prepared.played is None:
        print("  no fresh games       the values are first guesses; only the bound and the error count")
    print(f"  looked at            {show.histories(grown.histories)}, {grown.questions:,} questions")
    if prepared.judged is not None:
        show.print_judged(prepared.judged)
    if prepared.played is not None:
        print("\n" + "\n".join(prepared.played.lines()))
    if not book.entries:
        why = "no places are allowed" if best.budget == 0 else "no history is worth its price"
        if best.budget != 0 and grown.ending != "complete":
            why = "nothing that was looked at so far is worth its price"
        if prepared.refused is not None:
            why = f"one of {show.histories(prepared.refused.size)} was chosen, but {prepared.refused}"
        print(f"\nThe best book is empty: {why}.")
        return
    rows = [
        (
            matchup.write_line(entry.history) or "(start)",
            show.moves(matchup, entry),
            show.one_in(entry.reach),
            f"{entry.gain:+.5f}",
            f"{entry.value:.3f}",
        )
        for entry in sorted(book.entries, key=lambda e: (-e.reach, len(e.history)))[:lines]
    ]  # fmt: skip
    if rows:
        print()
        show.print_table(("history", "play", "met", "gain", "value there"), rows, right=(2, 3, 4))
        if len(rows) < book.size:
            print(f"... and {book.size - len(rows)} more (--lines N, --json or --save DIR for all)")
