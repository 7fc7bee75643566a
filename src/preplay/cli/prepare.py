"""preplay prepare: the best book against a given opponent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show, words
from preplay.cli.lines import print_lines
from preplay.cli.working import at_work

if TYPE_CHECKING:
    from preplay.book import Book
    from preplay.matchup import Matchup
    from preplay.repairs import Repair
    from preplay.runs.prepared import PrepareResult


ROUNDING = 1e-12
"""Gains smaller than this are rounding errors."""


def prepare(
    spec: options.Spec,
    side: options.SideName,
    cost: options.Cost = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, help="Memorize at most this many histories.")
    ] = None,
    choose: options.Choose = None,
    margin: options.Margin = None,
    deviations: options.Deviations = None,
    repertoire: options.Repertoire = None,
    avoid: options.Avoid = None,
    extend: options.Extend = None,
    changes: options.Set = None,
    rival: Annotated[
        list[str] | None,
        typer.Option(
            "--rival",
            metavar="FILE[:SHARE]",
            help="An opponent who may come: a file made by `preplay opponent`, with how likely they are; "
            "may be repeated.",
        ),
    ] = None,
    save: options.Save = None,
    histories: options.Histories = None,
    seconds: options.Seconds = None,
    within: options.Gap = 0.0,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    lines: Annotated[
        int, typer.Option("--lines", min=0, help="How many lines of the book to print.")
    ] = 20,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Also write a page to explore the book (needs --save)."
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the best book for one side, with a certified bound.

    Example: preplay prepare synthetic --side 1 --cost 0.001
    """
    from preplay.cli.changes import bound_to, to_choose
    from preplay.errors import InputError
    from preplay.files import check_writable
    from preplay.runs import as_data
    from preplay.runs.prepared import prepare as prepare_run

    if page is not None and save is None:
        raise InputError("--report needs --save DIR, where what the page shows is kept")
    if page is not None:
        check_writable(page)
    changes = to_choose(spec, changes or (), choose, margin, deviations)
    changes += words.rivals(rival or (), side, spec, changes)
    changes += bound_to(spec, side, repertoire, avoid, extend, changes)
    silent = quiet or as_json
    with at_work(
        spec, changes, seconds, silent, cost=cost, workers=workers, store=store, cluster=cluster
    ) as work:
        matchup, stop, left, progress = work
        words.warn_of_sides(matchup, matchup.side(side))
        result = prepare_run(
            matchup,
            side,
            cost,
            budget=budget,
            save=save,
            histories=histories,
            seconds=left(),
            within=within,
            stop=stop,
            progress=progress,
        )
        show.end_progress(progress)
        if page is not None and save is not None:
            from preplay.report.page import write_report

            write_report(save, page)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_book(matchup, result, lines)
            show.kept(result, page)
    if result.ending == "interrupted":
        raise typer.Exit(130)


def print_book(matchup: Matchup[Any], best: PrepareResult, lines: int) -> None:
    """A readable account: what the book is worth, and its most important lines."""
    book, name = best.book, best.side
    show.say(f"Best book for side {name} of {matchup.name}")
    error = f" ± {best.error:.4g}" if best.error > 1e-6 else ""
    known = matchup.known[book.side - 1] is not None
    show.fact("with what is known" if known else "without preparation", f"{best.unprepared:.6g}")
    gain = best.value - best.unprepared
    gain = gain if abs(gain) > ROUNDING else 0.0
    told = f": {words.points(gain)}" if matchup.is_chess else ""
    show.fact("with the book", f"{best.value:.6g}{error}  ({gain:+.6g}{told})")
    limit = f", at most {best.budget}" if best.budget is not None else ""
    show.fact("memorized", f"{book.memory} at {best.cost:g} each{limit}")
    show.fact("net of memory", f"{best.net:.6g}, certified upper bound {best.upper:.6g}")
    if best.ending != "complete":
        show.fact(*stopped(matchup, best))
    if matchup.clock is not None and best.clock is None:
        show.fact("no fresh games", "the values are first guesses; only the bound and the error count")
    looked = f"{show.histories(best.histories)}, {show.counted(best.questions, 'question')}"
    show.fact("looked at", looked)
    if best.judged is not None:
        show.print_judged(best.judged)
    if best.fixed is not None:
        show.fact("first choices alone", str(best.fixed))
    show.print_scale(best.scores, best.calibration)
    if best.opponent is not None:
        words.print_account(best.opponent)
    if best.clock is not None:
        words.print_clock(best.clock)
    if best.repairs is not None:
        print_repairs(matchup, best.repairs, lines)
    if not book.entries:
        why = "no places are allowed" if best.budget == 0 else "no history is worth its price"
        if best.budget != 0 and best.ending != "complete":
            why = "nothing that was looked at so far is worth its price"
        if best.refused is not None:
            why = f"one of {show.histories(best.refused.size)} was chosen, but {best.refused}"
        print()
        show.say(f"The best book is empty: {why}.")
        return
    print()
    print_lines(
        book.entries,
        matchup.write,
        {
            "met": lambda e: show.one_in(e.reach),
            "gain": lambda e: f"{e.gain:+.5f}",
            "value there": lambda e: f"{e.value:.3f}",
        },
        lines,
        more="--lines N, --json or --save DIR for all",
    )
    print_deviations(matchup, book, lines)


def stopped(matchup: Matchup[Any], best: PrepareResult) -> tuple[str, str]:
    """What was cut short, and by what."""
    if not best.tree.starts(best.book.side):
        return (
            "growth stopped by",
            f"{best.ending}, before {best.side} first moves: values are the start's",
        )
    if best.tree.complete and (best.clock is not None or matchup.deciding is not None):
        return "games stopped by", f"{best.ending}: bound and error count what was not played"
    if best.judged is not None and (best.judged.left or best.upper - best.net <= ROUNDING):
        return "judging stopped by", f"{best.ending}: what it did not get to is told below"
    return "growth stopped by", f"{best.ending}: the bound counts what was not looked at"


def print_repairs(matchup: Matchup[Any], repairs: Sequence[Repair], lines: int) -> None:
    """Which of the known moves lose most."""
    if not repairs:
        print("\nNone of the known moves that may be met loses anything.")
        return
    print(f"\nKnown moves that lose: {len(repairs):,}, the dearest first (loss a game)")
    rows = [
        (
            matchup.write_line(repair.history) or "(start)",
            " / ".join(matchup.write_move(repair.history, move) for move in repair.moves),
            show.one_in(repair.reach),
            f"{repair.value:.3f}",
            f"{repair.worth:.3f}",
            f"{repair.loss:.5f}",
        )
        for repair in repairs[:lines]
    ]
    titles = ("history", "known", "met", "value", "with it", "loss")
    show.print_table(titles, rows, right=(2, 3, 4, 5), cut=0, tail=True)
    if len(repairs) > lines:
        show.say(f"... and {len(repairs) - lines:,} more (--lines N or --json for all)")


def print_deviations(matchup: Matchup[Any], book: Book, lines: int) -> None:
    """Where the book does not play the first choice: what that would earn, and what it hopes for."""
    chosen = [entry for entry in book.entries if entry.deviates and entry.decision is not None]
    if not chosen:
        return
    print(f"\nOther moves than the first choice: {len(chosen)} of {show.histories(len(book.entries))}")
    show.say("(what a game that gets there earns on average, memory paid)", indent=2)
    if matchup.judge is not None:
        show.say("(what is not played was not judged to its end: it may be worth less)", indent=2)
    for entry in sorted(chosen, key=lambda e: (-e.reach, len(e.history)))[:lines]:
        decision = entry.decision
        assert decision is not None
        first, played = decision.options[0], decision.options[decision.played]
        place = matchup.write_line(entry.history) or "(start)"
        bought = entry.reach * (played.worth - first.most)
        least = "" if first.exact else "at least "
        buys = f": {least}{bought:+.5f} a game" if bought > 0.0 else ""
        show.say(
            f"{place}: {matchup.write_move(entry.history, played.move)} is worth {played.worth:.4f} "
            f"from here, {matchup.write_move(entry.history, first.move)} {first.earns}{buys}",
            indent=2,
        )
        if decision.hoped is not None:
            reply = matchup.write_move((*entry.history, played.move), decision.hoped.reply)
            hoped = f"{reply} ({decision.hoped.probability:.0%}), then {decision.hoped.worth:.4f}"
            show.say(f"it hopes for {hoped}", indent=4)
    if len(chosen) > lines:
        show.say(f"... and {len(chosen) - lines:,} more (--lines N or --json for all)", indent=2)
