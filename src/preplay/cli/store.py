"""preplay store: what engines have computed so far."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.chess.engines.tables import HoldingReport


def store(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The store; default: the one that all runs share."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write all analyses (.csv or .parquet)."),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Delete what the filters below select.")] = False,
    engine: Annotated[
        str | None, typer.Option("--engine", help="Filter: part of the engine's name.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option("--nodes", min=1, help="Filter: searches of so many nodes.")
    ] = None,
    milliseconds: Annotated[
        int | None,
        typer.Option("--milliseconds", min=1, help="Filter: searches of so many milliseconds."),
    ] = None,
    older: Annotated[
        float | None, typer.Option("--older", min=0.0, help="Filter: kept for more than so many days.")
    ] = None,
    false_clock: Annotated[
        bool,
        typer.Option(
            "--false-clock", help="Filter: kept by early versions, which told engines a false move clock."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show, export or prune the store of engine analyses.

    Example: preplay store --export analyses.csv
    """
    import time

    from preplay.chess.engines.analysis import Limit
    from preplay.chess.engines.store import AnalysisStore
    from preplay.chess.engines.tables import StoreReport, export_analyses
    from preplay.errors import InputError
    from preplay.matchup.chess import default_store
    from preplay.runs import as_data

    path = file or default_store()
    if not path.exists():
        raise InputError(f"{path}: no such store; the first run with engines makes it")
    filters = {"engine": engine, "nodes": nodes, "milliseconds": milliseconds, "older": older}
    given = [name for name, value in filters.items() if value is not None]
    given += ["false-clock"] if false_clock else []
    if prune and not given:
        raise InputError(
            "--prune without a filter; "
            "expected --engine, --nodes, --milliseconds, --older or --false-clock"
        )
    if given and not prune:
        raise InputError(f"--{given[0]} has no effect without --prune")
    limit = Limit(nodes, None, milliseconds) if nodes or milliseconds else None
    before = time.time() - older * 86_400 if older is not None else None
    with AnalysisStore(path) as kept:
        removed = (
            kept.prune(engine=engine, limit=limit, before=before, false_clock=false_clock)
            if prune
            else None
        )
        written = export_analyses(kept.records(), export) if export is not None else None
        found = StoreReport.of(kept, removed=removed, exported=written)
    if as_json:
        show.print_json(as_data(found))
        return
    print(f"Store {path}")
    print(f"{path.stat().st_size:,} bytes")
    _print(found.holdings)
    if removed is not None:
        print(f"\nRemoved {removed:,} analyses")
    if written is not None:
        print()
        show.written(export, about=f" ({written:,} analyses)")


def _print(holdings: Sequence[HoldingReport]) -> None:
    """A table for each engine; the clock where versions told a false one."""
    false = any(not h.true_clock for h in holdings)
    for engine in dict.fromkeys(h.engine for h in holdings):
        rows = [
            (
                h.limit,
                f"{h.multipv}",
                f"{h.analyses:,}",
                *(["true" if h.true_clock else "false"] if false else []),
                "; ".join([*(["Chess960"] if h.chess960 else []), *filter(None, [h.options])]),
            )
            for h in holdings
            if h.engine == engine
        ]
        titles = ("limit", "K", "analyses", *(["clock"] if false else []), "options")
        print()
        show.say(engine)
        show.print_table(titles, rows, right=(0, 1, 2), cut=len(titles) - 1)
