"""Run directories: a result, everything that made it, and what is needed to go on.

The names of a run's files are said here and nowhere else.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preplay import __version__
from preplay import book as books
from preplay.arguments import as_path, shown
from preplay.errors import InputError, StoreError
from preplay.files import parse_json, read_text, write_text
from preplay.frozen import freeze, frozen, thawed
from preplay.game import Side
from preplay.matchup.model import label_of, side_named
from preplay.matchup.source import BY_ENGINES, sides_of

if TYPE_CHECKING:
    from preplay.matchup import Matchup
    from preplay.tree import Tree

FORMAT = "preplay-run/1"
RUN, RESULT = "run.json", "result.json"
BOOK, BOOKS = books.FILE, ("book-1.json", "book-2.json")
TREE, CHECKPOINT = "tree.npz", "checkpoint.npz"
GROWTHS = "*.npz"
"""Growth under way: the checkpoint, and beside it those of the books that a result was compared with."""
POINTS, POINTS_TABLE = "points.jsonl", "points.csv"
GAMES, GAMES_PGN = "games.jsonl", "games.pgn"
WITH_BOOKS = ("prepare", "frontier", "equilibrium", "harden")
"""The commands whose runs hold books."""
BEGUN = "expected a directory for the run"
_KINDS = {"command": str, "matchup": str, "identity": dict, "versions": dict, "created": str}
"""What run.json holds besides its format."""
FIGURES = ("figure1.svg", "figure1.png")


@dataclass(frozen=True)
class Run:
    """One run directory. `identity` determines the result; the same command takes it up again."""

    directory: Path
    command: str
    name: str
    identity: Mapping[str, Any]
    versions: Mapping[str, str]
    created: str

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def matchup(self) -> Mapping[str, Any]:
        """A copy of the settings of the matchup, as far as they determine the result."""
        settings: Mapping[str, Any] = thawed(self.identity.get("matchup") or {})
        return settings

    @property
    def is_chess(self) -> bool:
        """Whether it is about chess, with a clock or without."""
        return self.matchup.get("kind") in BY_ENGINES

    @property
    def sides(self) -> tuple[str, str]:
        """What the sides are called."""
        return sides_of(self.matchup)

    def label(self, side: Side) -> str | int:
        """What a side is called in results: a number, or a colour in chess."""
        return label_of(self.sides[side - 1])

    def path(self, name: str) -> Path:
        """A file of this run."""
        return self.directory / name

    def write(self, name: str, data: Any) -> None:
        """Keep JSON data under `name`."""
        write_text(self.path(name), json.dumps(data, indent=1) + "\n")

    def read(self, name: str) -> Any:
        """JSON data kept under `name`; an unfinished run has none yet."""
        if not self.path(name).exists():
            raise StoreError(
                f"{self.directory}: has no {name} yet; finish its `preplay {self.command} --save`"
            )
        return _object(self.path(name))

    def tree(self) -> Tree:
        """The tree that the result was found on."""
        from preplay.tree import load

        return load(self.path(TREE))

    def book_file(self, side: str | None = None) -> Path:
        """Where the book is: of `prepare` the only one, of `frontier` the largest, of `equilibrium` a
        side's, of `harden` the mix of who hides unless the preparer's is asked for."""
        self.check_books()
        if self.command == "harden":
            self.read(RESULT)
            whose = self.side if side is None else side_named(side, self.sides)
            return self.path(BOOKS[whose - 1])
        if self.command == "equilibrium":
            if side is None:
                first, second = self.sides
                raise InputError(
                    f"{self.directory}: an equilibrium has two books; expected side {first} or {second}"
                )
            self.read(RESULT)
            return self.path(BOOKS[side_named(side, self.sides) - 1])
        self.read(RESULT)
        return self.path(BOOK)

    def identified(self, name: str, possible: Callable[[Any], bool]) -> Any:
        """What the identity says of `name`; a value that no command can have written is a StoreError."""
        value = thawed(self.identity.get(name))
        if not possible(value):
            raise StoreError(f"{self.path(RUN)}: damaged ({name} {value!r})")
        return value

    @property
    def side(self) -> Side:
        """The side that the command was given."""
        side: Side = self.identified("side", (1, 2).__contains__)
        return side

    def check_books(self) -> None:
        """Raise InputError where the command makes no books."""
        if self.command not in WITH_BOOKS:
            made = f"{self.directory}: made by `preplay {self.command}`"
            raise InputError(f"{made}; expected {', '.join(WITH_BOOKS[:-1])} or {WITH_BOOKS[-1]}")

    def book(self, side: str | None = None) -> books.Book:
        """The book of `prepare`, the largest of `frontier`, a side's mixed book of `equilibrium`, or of
        `harden` the mix, unless the preparer's best book is asked for."""
        book = books.load(self.book_file(side))
        if side is not None and side_named(side, self.sides) != book.side:
            raise InputError(
                f"{self.directory}: holds a book for {self.sides[book.side - 1]}, not for {side}"
            )
        return book

    @property
    def time(self) -> int:
        """When it was begun, in seconds since 1970."""
        return int(datetime.fromisoformat(self.created).timestamp())

    @property
    def provenance(self) -> dict[str, Any]:
        """What made this run, as JSON data for its books: the same whenever it was made."""
        return {
            "command": self.command,
            "matchup": self.name,
            "identity": self.identity,
            "versions": self.versions,
        }


def versions() -> dict[str, str]:
    """Versions of preplay and of the libraries that results depend on."""
    names = ("numpy", "scipy", "numba", "chess")
    return {"preplay": __version__, "python": platform.python_version()} | {n: version(n) for n in names}


def settings_of(matchup: Matchup[Any]) -> dict[str, Any]:
    """What determines the results of a matchup, with the names of its sides where they are its own."""
    known = matchup.identity
    return known if sides_of(known) == matchup.sides else known | {"sides": list(matchup.sides)}


def provenance_of(run: Run | None, matchup: Matchup[Any]) -> dict[str, Any]:
    """What made a result, for its books; where no run keeps it, the matchup alone."""
    if run is not None:
        return run.provenance
    return {"matchup": matchup.name, "identity": {"matchup": thawed(matchup.config)}}


def start(
    directory: Path, command: str, name: str, identity: Mapping[str, Any], more: Mapping[str, str]
) -> Run:
    """Begin a run in `directory`, or take it up again when it belongs to the same configuration."""
    identity = frozen(json.loads(json.dumps(frozen(dict(identity)))))
    try:
        return _begun(directory, command, name, identity, versions() | dict(more))
    except OSError as error:
        raise StoreError(f"{directory}: cannot be used ({error.strerror}); {BEGUN}") from None


def start_of(
    matchup: Matchup[Any], command: str, asked: Mapping[str, Any], save: str | Path | None
) -> Run | None:
    """The run of what is asked of a matchup, in the directory `save`; None: nothing is to be kept."""
    if save is None:
        return None
    identity = {**asked, "matchup": settings_of(matchup)}
    return start(as_path("save", save), command, matchup.name, identity, matchup.versions)


def _begun(
    directory: Path, command: str, name: str, identity: Mapping[str, Any], made: Mapping[str, str]
) -> Run:
    if directory.exists() and not directory.is_dir():
        raise StoreError(f"{directory}: is a file; {BEGUN}")
    if (directory / RUN).exists():
        run = open_run(directory)
        if run.command != command or run.identity != identity:
            raise StoreError(
                f"{directory}: belongs to another run ({_difference(run, command, identity)}); "
                "choose another directory"
            )
        return run
    if directory.exists() and any(directory.iterdir()):
        raise StoreError(f"{directory}: is not empty and holds no run; choose another directory")
    run = Run(
        directory=directory,
        command=command,
        name=name,
        identity=identity,
        versions=made,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    try:
        run.write(RUN, {"format": FORMAT} | run.provenance | {"created": run.created})
    except InputError as error:  # what cannot be written
        raise StoreError(f"{error}; {BEGUN}") from None
    return run


def open_run(directory: Path) -> Run:
    """An existing run directory."""
    path = directory / RUN
    if not _is_directory(directory):
        raise InputError(f"{directory}: no such run; expected the directory of a saved run")
    if not path.exists():
        raise StoreError(f"{directory}: holds no {RUN}; expected the directory of a saved run")
    data = _object(path)
    if data.get("format") != FORMAT:
        raise StoreError(f"{path}: damaged or foreign (format {data.get('format')!r}); expected {FORMAT}")
    for name, kind in _KINDS.items():
        if not isinstance(data.get(name), kind):
            raise StoreError(f"{path}: damaged ({name} is no {kind.__name__}); expected {FORMAT}")
    run = Run(directory, *(data[name] for name in _KINDS))
    if not isinstance(run.matchup, dict):
        raise StoreError(f"{path}: damaged (the matchup is no table); expected {FORMAT}")
    try:
        _ = run.time
    except (ValueError, OverflowError):
        raise StoreError(f"{path}: damaged (created {run.created!r}); expected a date") from None
    return run


TOLD_BY = {
    "tabular": ("sha256",),
    "synthetic": ("length", "width", "luck", "seed"),
    "openspiel": ("game",),
}
"""What tells games of a kind apart. Chess is one game: players and limits may be others on purpose."""
NO_RULES = ("sides", "value", "judge", "memory", "choose", "margin", "deviations")
"""What may differ in a matchup made in Python without its being another game or opponent."""


def check_same_game(book: books.Book, matchup: Matchup[Any], place: str) -> None:
    """Raise InputError for a book that was made for another game, as far as its provenance tells."""
    identity = book.provenance.get("identity")
    then = identity.get("matchup") if isinstance(identity, Mapping) else None
    now: Mapping[str, Any] = matchup.config
    kind = now.get("kind")
    if not isinstance(then, Mapping) or "kind" not in then:
        return
    keys: Sequence[str] = TOLD_BY.get(str(kind), ())
    if then["kind"] != kind:
        keys = () if then["kind"] in BY_ENGINES and kind in BY_ENGINES else ("kind",)
    elif kind == "python":
        now = matchup.identity if "fingerprint" in then else now
        keys = [key for key in then if key in now and key not in NO_RULES]
    old, new = ({key: thawed(told.get(key)) for key in keys} for told in (then, now))
    for key, was, given in _differing(old, new, ""):
        raise InputError(
            f"{place}: of another game ({key} was {shown(was)}, now {shown(given)}); "
            "expected the matchup that it was made for"
        )


def _is_directory(path: Path) -> bool:
    """Whether there is such a directory; a name that is too long for any names none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def maker(book: books.Book, path: Path) -> Run | None:
    """The run that made the book of a file, as far as its provenance tells."""
    told = {"created": ""} | dict(book.provenance)
    if not all(isinstance(told.get(name), kind) for name, kind in _KINDS.items()):
        return None
    return Run(path, *(told[name] for name in _KINDS))


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a run."""
    try:
        data = parse_json(read_text(path, "a file of a run"), path, finite=True)
    except InputError as error:
        raise StoreError(f"{error} (damaged)") from None
    if not isinstance(data, dict):
        raise StoreError(f"{path}: damaged (not a JSON object)")
    return data


def find_book(path: Path, side: str | None = None) -> books.Book:
    """The book that a user means: of a run directory (perhaps a side's), or a file, also exported PGN."""
    if path.is_dir():
        return open_run(path).book(side)
    if not path.exists():
        raise InputError(f"{path}: no such run or book; expected the directory of a saved run, or a file")
    if path.suffix == ".pgn":
        from preplay.chess.books.reading import read_pgn_book

        book = read_pgn_book(path)
    else:
        book = books.load(path)
    made = maker(book, path)
    sides = ("white", "black") if made is None else made.sides
    if side is not None and side_named(side, sides) != book.side:
        raise InputError(f"{path}: holds a book for {sides[book.side - 1]}, not for {side}")
    return book


def find_chess_book(path: Path, side: str | None = None) -> books.Book:
    """The same where it has to be of chess; one that does not tell what made it may be."""
    book = find_book(path, side)
    made = open_run(path) if path.is_dir() else maker(book, path)
    if made is not None and not made.is_chess:
        raise InputError(f"{path}: a book of '{made.name}', which is not chess; expected a chess book")
    return book


def _difference(run: Run, command: str, identity: Mapping[str, Any]) -> str:
    """The first setting in which two runs differ."""
    if run.command != command:
        return f"`preplay {run.command}`, not `preplay {command}`"
    for key, old, new in _differing(run.identity, identity, ""):
        return f"{key} was {json.dumps(old)}, now {json.dumps(new)}"
    return "its settings differ"


def _differing(old: Any, new: Any, place: str) -> list[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        rows = []
        for key in {**old, **new}:
            rows += _differing(old.get(key), new.get(key), f"{place}.{key}".strip("."))
        return rows
    return [] if old == new else [(place, old, new)]
