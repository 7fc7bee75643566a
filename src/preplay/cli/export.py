"""preplay export: books that other programs can load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from preplay.book import Book
    from preplay.runs import Run


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|BOOK", help="A directory made with --save, or a book's file.")
    ],
    polyglot: Annotated[
        Path | None, typer.Option("--polyglot", metavar="FILE", help="A .bin book.")
    ] = None,
    pgn: Annotated[
        Path | None, typer.Option("--pgn", metavar="FILE", help="Variations with comments.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="A preplay-book/1 file.")
    ] = None,
    epd: Annotated[Path | None, typer.Option("--epd", metavar="FILE", help="A position a line.")] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="A line per own position.")
    ] = None,
    anki: Annotated[
        Path | None, typer.Option("--anki", metavar="FILE", help="An .apkg deck, a card a position.")
    ] = None,
    efg: Annotated[
        Path | None,
        typer.Option("--efg", metavar="FILE", help="The explicit game G' (equilibrium runs)."),
    ] = None,
    order: Annotated[
        str, typer.Option("--order", help="PGN: tree, or learn for lines in the order worth learning.")
    ] = "tree",
    side: Annotated[
        str | None, typer.Option("--side", help="Whose book, in an equilibrium run.", show_default=False)
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Largest G' to write, in nodes.")
    ] = 1_000_000,
    quiet: options.Quiet = False,
) -> None:
    """Write a saved book as Polyglot, PGN, JSON, EPD, CSV or Anki deck, or an equilibrium's game as .efg.

    Example: preplay export runs/white --polyglot book.bin --pgn book.pgn

    Example: preplay export drawn.json --polyglot book.bin
    """
    from preplay import book as books
    from preplay.errors import InputError
    from preplay.files import check_writable, write_bytes
    from preplay.runs import find_book, maker, open_run

    if order not in ("tree", "learn"):
        raise InputError(f"order '{order}'; expected tree or learn")
    wanted = {"polyglot": polyglot, "pgn": pgn, "json": json, "epd": epd, "csv": csv, "anki": anki} | {
        "efg": efg
    }
    if not any(wanted.values()):
        raise InputError("nothing to write; expected at least one of --" + ", --".join(wanted))
    kept = open_run(run) if run.is_dir() else None
    written: list[tuple[Path, bytes]] = []  # all is made before anything is written
    if efg is not None:
        if kept is None:
            raise InputError(f"{run}: not a run; --efg needs the directory of an equilibrium")
        written.append((efg, _efg(kept, limit).encode()))
    if any(path for name, path in wanted.items() if name != "efg"):
        book = find_book(run, side)
        made = kept or maker(book, run)
        if json is not None:
            written.append((json, books.dumps(book).encode()))
        if any((polyglot, pgn, epd, csv, anki)):
            if made is not None and made.matchup.get("kind") not in ("chess", "chess-clock"):
                raise InputError(f"{run}: not of chess; expected --json for other games")
            deck = run.stem if made is None else made.name
            written += _chess(book, made, wanted, order == "learn", deck)
    for path, _ in written:
        check_writable(path)
    for path, data in written:
        write_bytes(path, data)
        if not quiet:
            print(f"Written: {path}")


def _chess(
    book: Book, made: Run | None, wanted: Mapping[str, Path | None], learn: bool, deck: str
) -> Iterator[tuple[Path, bytes]]:
    """What is to be written of a chess book, file by file."""
    from preplay.chess.books.lines import csv_text, epd_text, learning_order
    from preplay.chess.books.naming import scores
    from preplay.chess.books.pgn import pgn_lines, pgn_tree
    from preplay.chess.books.polyglot import polyglot_bytes

    if path := wanted["polyglot"]:
        yield path, polyglot_bytes(book)
    if path := wanted["pgn"]:
        tags, evals = {} if made is None else _headers(made, book), scores(book)
        text = pgn_tree(book, evals=evals, headers=tags)
        if learn:
            text = pgn_lines(book, learning_order(book), evals=evals, headers=tags)
        yield path, text.encode()
    if path := wanted["epd"]:
        yield path, epd_text(book).encode()
    if path := wanted["csv"]:
        yield path, csv_text(book).encode()
    if path := wanted["anki"]:
        from preplay.chess.books.anki import anki_bytes

        time = made.time if made is not None and made.created else 0
        yield path, anki_bytes(book, f"preplay {deck}", time)


def _headers(run: Run, book: Book) -> Mapping[str, object]:
    """PGN headers that say who prepared against whom, with what."""
    from preplay.chess.books.naming import player_name
    from preplay.report.words import clock, engine, timed

    matchup = run.matchup
    own, opponent = ("white", "black") if book.side == 1 else ("black", "white")
    study, theirs = matchup.get(f"{own}_prep") or matchup.get("prep", {}), matchup.get(opponent, {})
    against = player_name(theirs, engine(matchup, theirs))
    return {
        own.capitalize(): f"Preparation ({player_name(study, engine(matchup, study))})",
        opponent.capitalize(): f"{against}, {clock(matchup, theirs)}" if timed(matchup) else against,
        "Date": run.created[:10].replace("-", ".") or "????.??.??",
        "Matchup": run.name,
        "Engines": ", ".join(matchup.get("engines", ())),
        "PreplayVersion": run.versions.get("preplay", "?"),
    }


def _two_prices(costs: object) -> bool:
    return isinstance(costs, list) and len(costs) == 2 and all(isinstance(c, int | float) for c in costs)


def _efg(run: Run, limit: int) -> str:
    from preplay.equilibria.explicit import efg_text, explicit_game
    from preplay.errors import InputError

    if run.command != "equilibrium":
        raise InputError(f"{run.directory}: made by `preplay {run.command}`; G' needs an equilibrium run")
    costs = run.identified("costs", _two_prices)
    tree = run.tree()
    # What was not adopted by its mover is not to be memorized: its prep was never looked at further.
    game = explicit_game(tree, (costs[0], costs[1]), memorizable=~tree.open, limit=limit)
    return efg_text(game, run.name)
