"""preplay uci: an engine that plays its book and then its base engine."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options

if TYPE_CHECKING:
    from preplay.chess.uci.options import UciSettings


OF_THE_BASE = {
    "--engine": "base_engine",
    "--by-history": "by_position",
    "--nodes": "nodes",
    "--fresh-hash": "fresh",
    "--randomness": "randomness",
    "--multipv": "choices",
}
"""The options of the engine that plays outside a book, and the settings they stand for."""


def uci(
    book: Annotated[
        str,
        typer.Option(
            "--book",
            metavar="RUN|FILE",
            help="The book to play: a run, or a .bin, .pgn, .epd or .json file.",
        ),
    ] = "",
    engine: Annotated[
        str,
        typer.Option(
            "--engine", help="The base engine, which plays outside the book: a command or its path."
        ),
    ] = "stockfish",
    as_opponent: Annotated[
        Path | None,
        typer.Option(
            "--as-opponent",
            metavar="RUN",
            help="Play as the opponent of this run, with the same limits, randomness and habits.",
        ),
    ] = None,
    side: Annotated[
        str | None,
        typer.Option(
            "--side", help="Of an equilibrium run: whose book to play, or whose opponent to be."
        ),
    ] = None,
    by_history: Annotated[
        bool,
        typer.Option(
            "--by-history", help="Play lines of the book only; other ways to its positions do not count."
        ),
    ] = False,
    nodes: Annotated[
        int,
        typer.Option(
            "--nodes", min=0, help="Nodes of the base engine for each move; 0: the GUI decides."
        ),
    ] = 0,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh-hash",
            help="Ask the base engine as the model does: with an empty hash for each move.",
        ),
    ] = False,
    randomness: Annotated[
        float,
        typer.Option(
            "--randomness",
            min=0.0,
            help="How randomly the base engine plays: r in centipawns; 0: its best move.",
        ),
    ] = 0.0,
    multipv: Annotated[
        int,
        typer.Option(
            "--multipv", min=1, help="K: how many of its best moves the base engine chooses among."
        ),
    ] = 2,
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, help="Decides all random choices; 0: other ones at each start."),
    ] = 0,
    install_hint: Annotated[
        bool, typer.Option("--install-hint", help="Print what to enter in a chess GUI, and exit.")
    ] = False,
    script: Annotated[
        Path | None,
        typer.Option(
            "--script",
            metavar="FILE",
            help="With --install-hint: write a script that starts this engine.",
        ),
    ] = None,
    store: options.Store = None,
) -> None:
    """Play a book, or as a run's opponent, as a UCI engine.

    It talks on stdin and stdout. Where the book has no move, the base engine plays.

    Example: preplay uci --book runs/white --engine stockfish

    Example: preplay uci --as-opponent runs/white
    """
    from preplay.chess.books.lookup import open_book
    from preplay.chess.uci.modelled import run_modelled
    from preplay.chess.uci.options import UciSettings
    from preplay.chess.uci.server import install_hint as hint
    from preplay.chess.uci.server import opened_for_a_gui, run_uci, wrapper
    from preplay.errors import InputError
    from preplay.files import write_text
    from preplay.runs import open_run
    from preplay.runs.opposing import opponent_of

    if as_opponent is not None and book:
        raise InputError(f"--book {book} with --as-opponent {as_opponent}; expected one of them")
    path = _book_file(book, side)
    settings = UciSettings(
        book_file=path,
        base_engine=engine,
        by_position=not by_history,
        nodes=nodes,
        fresh=fresh,
        randomness=randomness,
        choices=multipv,
        seed=seed,
    )
    if as_opponent is not None:
        _check_opponents_own(as_opponent, settings)
    if store is not None and as_opponent is None:
        raise InputError(f"--store {store}: expected together with --as-opponent RUN")
    if script is not None and not install_hint:
        raise InputError(f"--script {script}: expected together with --install-hint")
    if install_hint:
        if path:
            open_book(path)
        words = _arguments(book, side, settings)
        if as_opponent is not None:
            with opponent_of(open_run(as_opponent), side, store=store):  # whether it can start
                words = _opponent_arguments(as_opponent, side, seed, store)
        command = [*_started(), *words]
        if script is not None:
            write_text(script, wrapper(command))
            script.chmod(0o755)
            print(f"Written: {script}")
        else:
            print(hint(command), end="")
        return
    if as_opponent is not None:
        with opponent_of(open_run(as_opponent), side, store=store) as player:
            run_modelled(player, sys.stdin, sys.stdout, seed=seed)
        return
    run_uci(opened_for_a_gui(path, sys.stdout), sys.stdin, sys.stdout, settings=settings)


def _started() -> list[str]:
    """How this program was started, for others that are to start it."""
    program = Path(shutil.which(sys.argv[0]) or sys.argv[0]).absolute()
    by_module = program.name == "__main__.py"
    return [sys.executable, "-m", "preplay"] if by_module else [str(program)]


def _check_opponents_own(directory: Path, settings: UciSettings) -> None:
    """Raise InputError for what is said of a base engine where a run's opponent plays."""
    from preplay.chess.uci.options import UciSettings
    from preplay.errors import InputError

    usual = UciSettings()
    for option, field in OF_THE_BASE.items():
        given = getattr(settings, field)
        if given != getattr(usual, field):
            said = option if isinstance(given, bool) else f"{option} {given}"
            raise InputError(
                f"{said} with --as-opponent {directory}: the run says how its opponent plays; "
                "expected one of them"
            )


def _opponent_arguments(directory: Path, side: str | None, seed: int, store: Path | None) -> list[str]:
    """The words that start this opponent again, from any directory."""
    words = ["uci", "--as-opponent", str(directory.absolute())]
    if side is not None:
        words += ["--side", side]
    if store is not None:
        words += ["--store", str(store.absolute())]
    return [*words, "--seed", str(seed)] if seed else words


def _arguments(book: str, side: str | None, settings: UciSettings) -> list[str]:
    """The words that start this engine again, from any directory."""
    from preplay.chess.engines.discovery import absolute_command
    from preplay.chess.uci.options import UciSettings

    usual = UciSettings()
    words = ["uci"]
    if book:
        words += ["--book", str(Path(book).absolute())]
    words += ["--engine", absolute_command(settings.base_engine)]
    if side is not None:
        words += ["--side", side]
    if not settings.by_position:
        words += ["--by-history"]
    if settings.fresh:
        words += ["--fresh-hash"]
    for option, field in (
        ("--nodes", "nodes"),
        ("--randomness", "randomness"),
        ("--multipv", "choices"),
        ("--seed", "seed"),
    ):
        if getattr(settings, field) != getattr(usual, field):
            words += [option, str(getattr(settings, field))]
    return words


def _book_file(book: str, side: str | None) -> str:
    """The book file that a run holds, if it is of chess; other names stand for themselves."""
    if not book or not Path(book).is_dir():
        return book
    from preplay.runs import find_chess_book, open_run

    find_chess_book(Path(book), side)  # whether there is one
    return str(open_run(Path(book)).book_file(side))
