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
        Path, typer.Argument(metavar="RUN|BOOK", help="A folder made with --save, or the file of a book.")
    ],
    polyglot: Annotated[
        Path | None, typer.Option("--polyglot", metavar="FILE", help="Write a Polyglot book (.bin).")
    ] = None,
    pgn: Annotated[
        Path | None, typer.Option("--pgn", metavar="FILE", help="Write PGN: variations with comments.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write preplay's own format, of any game (.json)."),
    ] = None,
    epd: Annotated[
        Path | None, typer.Option("--epd", metavar="FILE", help="Write EPD: one position in each line.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Write a table: one memorized history in each line, of any game.",
        ),
    ] = None,
    anki: Annotated[
        Path | None,
        typer.Option(
            "--anki", metavar="FILE", help="Write an Anki deck (.apkg): one card for each position."
        ),
    ] = None,
    efg: Annotated[
        Path | None,
        typer.Option(
            "--efg",
            metavar="FILE",
            help="Write an equilibrium's game of preparation, for Gambit and OpenSpiel.",
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            help="With --pgn: tree (variations, the default), or learn (line by line, in the order worth "
            "learning).",
        ),
    ] = None,
    side: Annotated[
        str | None,
        typer.Option(
            "--side", help="Whose book, where the run has one of each side.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, help="With --efg: write at most so many nodes; default: a million."
        ),
    ] = None,
    quiet: options.Silent = False,
) -> None:
    """Write a saved book in formats that other programs read.

    Example: preplay export runs/white --polyglot book.bin --pgn book.pgn

    Example: preplay export drawn.json --polyglot book.bin
    """
    from preplay import book as books
    from preplay.errors import InputError
    from preplay.files import check_apart, check_writable, write_bytes
    from preplay.runs import find_book, maker, open_run

    if order not in (None, "tree", "learn"):
        raise InputError(f"order '{order}'; expected tree or learn")
    wanted = {"polyglot": polyglot, "pgn": pgn, "json": json, "epd": epd, "csv": csv, "anki": anki} | {
        "efg": efg
    }
    check_apart(*wanted.values())
    if not any(wanted.values()):
        raise InputError("nothing to write; expected at least one of --" + ", --".join(wanted))
    of_books = [name for name, path in wanted.items() if path is not None and name != "efg"]
    _check_used("order", order, "pgn" in of_books, "--pgn")
    _check_used("limit", limit, efg is not None, "--efg")
    _check_used("side", side, bool(of_books), "a book to write")
    kept = open_run(run) if run.is_dir() else None
    written: list[tuple[Path, bytes]] = []  # all is made before anything is written
    if efg is not None:
        from preplay.runs.exporting import LARGEST, preparation_game

        if kept is None:
            raise InputError(f"{run}: not a run; --efg needs the directory of an equilibrium")
        written.append((efg, preparation_game(kept, limit or LARGEST).encode()))
    if of_books:
        book = find_book(run, side)
        made = kept or maker(book, run)
        if json is not None:
            written.append((json, books.dumps(book).encode()))
        if made is None or made.is_chess:
            deck = run.stem if made is None else made.name
            written += _chess(book, made, wanted, order == "learn", deck)
        else:
            written += _other(run, book, wanted)
    for path, _ in written:
        check_writable(path)
    for path, data in written:
        write_bytes(path, data)
        if not quiet:
            print(f"Written: {path}")


def _check_used(option: str, given: object, used: bool, by: str) -> None:
    """Raise InputError for an option that nothing looks at."""
    from preplay.errors import InputError

    if given is not None and not used:
        raise InputError(f"--{option} {given} has no effect without {by}")


def _chess(
    book: Book, made: Run | None, wanted: Mapping[str, Path | None], learn: bool, deck: str
) -> Iterator[tuple[Path, bytes]]:
    """What is to be written of a chess book, file by file."""
    from preplay.chess.books.lines import csv_text, epd_text, learning_order
    from preplay.chess.books.naming import scores
    from preplay.chess.books.pgn import pgn_lines, pgn_tree
    from preplay.chess.books.polyglot import polyglot_bytes
    from preplay.runs.exporting import pgn_headers

    if path := wanted["polyglot"]:
        yield path, polyglot_bytes(book)
    if path := wanted["pgn"]:
        tags, evals = {} if made is None else pgn_headers(made, book), scores(book)
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


def _other(run: Path, book: Book, wanted: Mapping[str, Path | None]) -> Iterator[tuple[Path, bytes]]:
    """What is to be written of a book of another game."""
    from preplay.errors import InputError
    from preplay.runs.tables import book_csv

    if any(wanted[name] for name in ("polyglot", "pgn", "epd", "anki")):
        raise InputError(f"{run}: not of chess; expected --json or --csv for other games")
    if path := wanted["csv"]:
        yield path, book_csv(book).encode()
