"""A UCI engine that plays its book at once and then its base engine: the paper's Stockfish′."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from preplay.chess.books.lookup import Lookup, open_book
from preplay.chess.uci.base import Inbox
from preplay.chess.uci.options import UciSettings
from preplay.chess.uci.session import OpenBook, Session
from preplay.errors import EngineError, PreplayError


def run_uci(
    book: Lookup | None,
    stdin: IO[str],
    stdout: IO[str],
    *,
    settings: UciSettings | None = None,
    read: OpenBook = open_book,
) -> None:
    """Serve a GUI on `stdin` and `stdout` until it leaves; `read` opens what it sets as Book File.

    Raises EngineError, after an `info string` that says the same, when the base engine cannot be
    started, or died twice in a game.
    """
    inbox = Inbox(stdin)
    session = None
    try:
        session = Session(inbox, stdout, book, read, settings or UciSettings())
        session.run()
    except EngineError as error:
        stdout.write(f"info string {error}\n")
        stdout.flush()
        raise
    finally:
        if session is not None:
            session.close()


def opened_for_a_gui(path: str, stdout: IO[str]) -> Lookup | None:
    """The book at `path`, if one is named; what is wrong with it is told to the GUI too."""
    try:
        return open_book(path) if path else None
    except PreplayError as error:
        stdout.write(f"info string {' '.join(str(error).split())}\n")
        stdout.flush()
        raise


def install_hint(command: Sequence[str]) -> str:
    """What to enter in a chess GUI or match runner to play with `command`."""
    program, *arguments = command
    words = shlex.join(arguments)
    single = " ".join(f"arg={shlex.quote(argument)}" for argument in arguments)
    return (
        f"Name:      preplay\nProtocol:  UCI\nCommand:   {program}\nArguments: {words}\n"
        f"cutechess: -engine name=preplay proto=uci cmd={shlex.quote(program)} {single}\n"
        f"fastchess: -engine name=preplay cmd={shlex.quote(program)} args={shlex.quote(words)}\n"
        "One executable, no arguments: --install-hint --script FILE writes a wrapper\n"
        f"{_lichess_bot(program, arguments)}"
    )


def _lichess_bot(program: str, arguments: Sequence[str]) -> str:
    """The engine's table in lichess-bot's config.yml: an interpreter that gets the book as its script."""
    if "--book" not in arguments:
        return ""
    at = list(arguments).index("--book")
    book = Path(arguments[at + 1])
    options = [*arguments[:at], *arguments[at + 2 :], "--book"]
    return (
        "lichess-bot, in config.yml:\n  engine:\n"
        f"    dir: {json.dumps(str(book.parent))}\n    name: {json.dumps(book.name)}\n"
        f"    interpreter: {json.dumps(program)}\n    interpreter_options: {json.dumps(options)}\n"
        '    protocol: "uci"\n'
    )


def wrapper(command: Sequence[str]) -> str:
    """A script for programs that take one executable without arguments."""
    return f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m preplay.chess.uci.server --book BOOK --engine ENGINE`."""
    parser = argparse.ArgumentParser(prog="preplay uci", description="A UCI engine that plays a book.")
    parser.add_argument("--book", default="", help="a .bin, .pgn, .epd or .json book")
    parser.add_argument("--engine", default="stockfish", help="the base engine: a command or its path")
    parser.add_argument("--by-history", action="store_true", help="ignore transpositions into the book")
    parser.add_argument("--nodes", type=int, default=0, help="nodes per move of the base engine")
    parser.add_argument(
        "--randomness", type=float, default=0.0, help="softmax r of the base engine's moves"
    )
    parser.add_argument(
        "--multipv", type=int, default=2, help="K, the base engine's moves to choose among"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all dice; 0 is another one each time")
    given = parser.parse_args(argv)
    settings = UciSettings(
        book_file=given.book,
        base_engine=given.engine,
        by_position=not given.by_history,
        nodes=given.nodes,
        randomness=given.randomness,
        choices=given.multipv,
        seed=given.seed,
    )
    try:
        book = opened_for_a_gui(given.book, sys.stdout)
        run_uci(book, sys.stdin, sys.stdout, settings=settings)
    except PreplayError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the GUI is gone; nothing is left to flush to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
