"""What is fuzzed: every reader of input that comes from outside, with valid examples to change.

What was read is used, too: a checkpoint must lead to a growth whose certified bound is one, a tree to a
book, a run to a page.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import chess

from fuzz.mutate import arrays_of, bytes_of, json_of
from preplay import book as books
from preplay import tree as trees
from preplay.book import Book, Entry
from preplay.errors import PreplayError

Mutate = Callable[[Random, Sequence[bytes]], bytes]
GAME = Path(__file__).parents[1] / "examples" / "game.json"
EXAMPLES = Path(__file__).with_name("examples")
RIVAL = Path(__file__).parents[1] / "examples" / "rival.pgn"


@dataclass(frozen=True)
class Target:
    """A reader: what it reads, and how valid input is changed."""

    name: str
    read: Callable[[bytes, Path], object]
    """Reads the input, given as bytes; the folder is for files."""
    examples: Callable[[], Sequence[bytes]]
    mutate: Mutate = bytes_of
    weight: float = 1.0
    """Its share of the inputs."""

    @property
    def seeds(self) -> Sequence[bytes]:
        """Valid inputs."""
        return _examples(self.examples)


@cache
def _examples(make: Callable[[], Sequence[bytes]]) -> Sequence[bytes]:
    return make()


def _file(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# Games and configuration


def _tabular(data: bytes, folder: Path) -> None:
    from preplay.games import tabular

    tabular.load(_file(data, folder, "game.json"))


TOML = b"""kind = "chess"
cost = 1e-3
length = 100
[start]
moves = ["e4", "c5"]
[white]
options = { "Skill Level" = 20 }
nodes = 5000
multipv = 2
[black]
randomness = 10
[prep]
nodes = 20000
[value]
model = "linear"
"""
SET = (b"black.randomness=10", b'start.moves=["e4"]\nprep.nodes=5')
OTHERS = (
    b'kind = "synthetic"\nlength = 4\nwidth = 3\nseed = 7\nluck = 0.1\nvalue = "exact"\n',
    b'kind = "openspiel"\ngame = "tic_tac_toe"\n[base]\npolicy = "uniform"\n[prep]\npolicy = "search"\n',
    b'kind = "tabular"\nfile = "game.json"\n',
)


def _toml(data: bytes, folder: Path) -> None:
    """Read and check a matchup file; no engine is started."""
    from preplay.matchup import load_config
    from preplay.matchup.chess_settings import Chess
    from preplay.matchup.plain import OpenSpiel, Synthetic, Tabular
    from preplay.matchup.settings import validate

    _, config = load_config(str(_file(data, folder, "matchup.toml")))
    schemas: dict[str, Any] = {"synthetic": Synthetic, "openspiel": OpenSpiel, "tabular": Tabular}
    validate(schemas.get(str(config.get("kind")), Chess), config, "matchup")


def _set(data: bytes, folder: Path) -> None:
    from preplay.matchup import load_config
    from preplay.matchup.chess_settings import Chess
    from preplay.matchup.settings import validate

    changes = data.decode("utf-8", "surrogateescape").split("\n")
    validate(Chess, load_config("chess", changes)[1], "matchup")


# Chess files


def _pgn(data: bytes, folder: Path) -> None:
    from preplay.chess.players.habits import read_habits

    read_habits([str(_file(data, folder, "rival.pgn"))], 2)


def _pgn_games() -> list[bytes]:
    text = RIVAL.read_bytes()
    return [text[:900], b"1. e4 e5 2. Nf3 (2. f4 exf4) Nc6 {a comment} $3 3. Bb5 a6 1-0\n"]


def _pgn_book(data: bytes, folder: Path) -> None:
    from preplay.chess.books.lookup import open_book

    _look(open_book(str(_file(data, folder, "book.pgn"))))


def _pgn_books() -> list[bytes]:
    from preplay.chess.books.pgn import pgn_lines, pgn_tree

    return [pgn_tree(example_book()).encode(), pgn_lines(example_book()).encode()]


def _epd(data: bytes, folder: Path) -> None:
    from preplay.chess.books.lookup import open_book

    _look(open_book(str(_file(data, folder, "book.epd"))))


def _epds() -> list[bytes]:
    from preplay.chess.books.lines import epd_text

    return [epd_text(example_book()).encode()]


def _kept_games(data: bytes, folder: Path) -> None:
    """What was kept of a file of games; damaged, the file is read again, with the same result."""
    from preplay.chess.players.habits import read_habits

    path, kept = _file(RIVAL.read_bytes(), folder, "rival.pgn"), folder / "kept"
    kept.mkdir(exist_ok=True)
    read_habits([str(path)], 2, keep=kept)
    (file,) = kept.iterdir()
    file.write_bytes(data)
    if read_habits([str(path)], 2, keep=kept).own.moves != _rival_moves():
        raise AssertionError("damage was believed")
    file.unlink()


@cache
def _rival_moves() -> int:
    from preplay.chess.players.habits import read_habits

    return read_habits([str(RIVAL)], 2).own.moves


def _kept_archives() -> list[bytes]:
    from preplay.chess.players.habits import read_habits

    with tempfile.TemporaryDirectory() as folder:
        read_habits([str(RIVAL)], 2, keep=Path(folder))
        return [path.read_bytes() for path in Path(folder).iterdir()]


def _opponent(data: bytes, folder: Path) -> None:
    """A fitted opponent, read and asked what it plays."""
    from preplay.chess.engines.engine import read_answer
    from preplay.chess.players.opponents import load_opponent

    found, _ = load_opponent(_file(data, folder, "rival.json"))
    board = chess.Board()
    shares = found.person.distribution(board, read_answer(INFO.decode(), 0.1, board, 2))
    if not abs(sum(shares.values()) - 1.0) < 1e-6:
        raise AssertionError(f"shares of {sum(shares.values())}")
    str(found.person.level)


def _opponents() -> list[bytes]:
    import json

    from preplay.chess.players.habits import read_habits
    from preplay.chess.players.opponents import Opponent, opponent_data
    from preplay.chess.players.person import Level, Person
    from preplay.chess.players.standin import StandIn

    person = Person(read_habits([str(RIVAL)], 2), Level(options={"Skill Level": 5}), StandIn())
    return [json.dumps(opponent_data(Opponent(2, ("Rival",), person))).encode()]


def _note(data: bytes, folder: Path) -> None:
    from preplay.chess.calibration import different, read_game
    from preplay.logistic import fitted

    fitted(different([read_game(data.decode("utf-8", "replace"))]))


NOTE = b'{"number": 3, "moves": "e2e4 e7e5", "points": [[0, 30], [2, -15]], "result": 0.5}'


def _polyglot(data: bytes, folder: Path) -> None:
    from preplay.chess.books.lookup import open_book

    found = open_book(str(_file(data, folder, "book.bin")))
    _look(found)


def _look(found: object) -> None:
    from preplay.chess.books.lines import position_key
    from preplay.chess.books.lookup import Lookup, Played

    lookup: Lookup = found  # type: ignore[assignment]
    board = chess.Board()
    lookup.find(Played(position_key(board), (), board))


def example_book() -> Book:
    """White's book of three positions."""
    entries = (
        Entry((), {"e2e4": 1.0}, 1.0, 0.01, 0.5, score=30),
        Entry(("e2e4", "e7e5"), {"g1f3": 1.0}, 0.6, 0.02, 0.55, score=40),
        Entry(("e2e4", "c7c5"), {"g1f3": 0.5, "b1c3": 0.5}, 0.4, 0.0, 0.5, score=31_990),
    )
    return Book(1, entries, 0.5, 0.53, 0.001, 0.54)


def _polyglot_books() -> list[bytes]:
    from preplay.chess.books.polyglot import polyglot_bytes

    return [polyglot_bytes(example_book())]


def _book(data: bytes, folder: Path) -> None:
    from preplay.chess.books.lookup import open_book

    _look(open_book(str(_file(data, folder, "book.json"))))


# Trees and checkpoints


@cache
def small_growth(checkpoint: bool) -> bytes:
    """The tree, or the checkpoint in mid-growth, of a small game."""
    from preplay.growth import Limits, Pays, grow
    from preplay.matchup import open_matchup

    with tempfile.TemporaryDirectory() as folder, open_matchup("synthetic", ["length=4"]) as matchup:
        path = Path(folder) / "file.npz"
        limits = Limits(histories=30) if checkpoint else Limits()
        parts = matchup.game, 1, matchup.base, matchup.prep[0], matchup.value, Pays(0.01), limits
        grown = grow(*parts, checkpoint=path if checkpoint else None)  # type: ignore[arg-type]
        if not checkpoint:
            trees.save(grown.tree, path)
        return path.read_bytes()


def read_tree(data: bytes, folder: Path) -> None:
    """A tree, and the best book on it."""
    from preplay import response

    tree = trees.load(_file(data, folder, "tree.npz"))
    best = response.best_book(tree, 1, 0.01)
    _within(best.value, best.upper)


def read_checkpoint(data: bytes, folder: Path) -> None:
    """A checkpoint, the growth that goes on from it, and the best book on that tree."""
    from preplay import response
    from preplay.growth import Limits, Pays, grow
    from preplay.matchup import open_matchup

    path = _file(data, folder, "checkpoint.npz")
    with open_matchup("synthetic", ["length=4"]) as matchup:
        parts = matchup.game, 1, matchup.base, matchup.prep[0], matchup.value, Pays(0.01)
        grown = grow(*parts, Limits(), checkpoint=path)  # type: ignore[arg-type]
    best = response.best_book(grown.tree, 1, 0.01)
    _within(best.value, best.upper)


def _within(*values: float) -> None:
    for value in values:
        if not -1e-9 <= value <= 1.0 + 1e-9:
            raise AssertionError(f"a value of {value} was certified")


# Engines


INFO = b"""info depth 2 multipv 1 score cp 30 wdl 300 500 200 nodes 99 pv e2e4 e7e5
info depth 2 multipv 2 score mate -3 nodes 99 pv d2d4
bestmove e2e4 ponder e7e5
"""


def _engine_lines(data: bytes, folder: Path) -> None:
    from preplay.chess.engines.encoding import decode, encode
    from preplay.chess.engines.engine import read_answer

    decode(encode(read_answer(data.decode("utf-8", "replace"), 0.1, chess.Board(), 2)))


def _cell(data: bytes, folder: Path) -> None:
    from preplay.chess.engines.encoding import decode

    decode(data)


def _cells() -> list[bytes]:
    from preplay.chess.engines.encoding import encode
    from preplay.chess.engines.engine import read_answer

    return [encode(read_answer(INFO.decode(), 0.1, chess.Board(), 2))]


COMMANDS = b"""uci
isready
setoption name Hash value 16
setoption name Base Nodes value 5
setoption name Randomness value 10
ucinewgame
position startpos moves e2e4 e7e5
position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves g1f3
go wtime 1000 btime 1000 movestogo 40
"""


def _gui_words(data: bytes, folder: Path) -> None:
    """The words that a GUI may say, each read as the session reads them."""
    from preplay.chess.uci.game import Tracker, parse_go
    from preplay.chess.uci.options import UciSettings, own_option, parse_setoption

    tracker, settings = Tracker(), UciSettings()
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            if line.startswith("setoption"):
                name, value = parse_setoption(line)
                own = own_option(name)
                settings = settings if own is None else own.change(settings, value or "")
            elif line.startswith("position"):
                tracker.follow(line)
            elif line.startswith("go"):
                parse_go(line).line(ponder=False, limit=settings.limit, spent=3)
        except PreplayError as error:  # the session tells it and goes on
            if "\n" in str(error):
                raise AssertionError(str(error)) from None


# Results


def _overlay(data: bytes, folder: Path) -> None:
    from preplay.experiments.figure1 import read_reference

    read_reference(_file(data, folder, "published.csv"))


COMMANDS_TO_SAVE = {
    "prepare": ["prepare", str(GAME), "--side", "1", "--cost", "0.01"],
    "equilibrium": ["equilibrium", str(GAME), "--cost", "0.01"],
    "frontier": ["frontier", str(GAME), "--side", "1", "--cost", "0.01"],
    "sweep": [
        *("sweep", "synthetic", "--set", "length=3", "--side", "1", "--quiet"),
        *("--key", "randomness", "--values", "0.1,0.5", "--workers", "1"),
    ],
}
"""Runs whose files are damaged, one at a time."""


@cache
def small_runs() -> dict[str, dict[str, bytes]]:
    """The files of small runs, by the run and by their names."""
    from preplay.cli.app import application

    found: dict[str, dict[str, bytes]] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for name, words in COMMANDS_TO_SAVE.items():
            application()([*words, "--save", f"{folder}/{name}"], standalone_mode=False)
            found[name] = {p.name: p.read_bytes() for p in (Path(folder) / name).iterdir()}
    for kept in sorted(EXAMPLES.iterdir()):  # of chess, which need an engine to be made
        found[kept.name] = {path.name: path.read_bytes() for path in sorted(kept.iterdir())}
    return found


def _run_files() -> list[bytes]:
    """Each JSON file of each run: its place, a line end, its text."""
    return [
        f"{run}/{name}\n".encode() + data
        for run, files in small_runs().items()
        for name, data in files.items()
        if name.endswith((".json", ".jsonl"))
    ]


def _changed_run(rng: Random, seeds: Sequence[bytes]) -> bytes:
    place, _, text = rng.choice(seeds).partition(b"\n")
    change = bytes_of if place.endswith(b".jsonl") else json_of
    return place + b"\n" + change(rng, [text])


def _run(data: bytes, folder: Path) -> None:
    """A run with one damaged file, loaded, its books found and its page made."""
    from preplay.report.page import write_report
    from preplay.runs.keeping import load_run

    place, _, text = data.partition(b"\n")
    run, _, name = place.decode().partition("/")
    here = folder / run
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    for other, content in small_runs()[run].items():
        (here / other).write_bytes(text if other == name else content)
    load_run(here)
    write_report(here, folder / "page.html")


CSV = b"side,randomness,utility,size\nwhite,0.1,0.98,120\nblack,100,0.52,3\n"

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("tabular", _tabular, lambda: [GAME.read_bytes()], json_of, 1.0),
        Target("toml", _toml, lambda: [TOML, *OTHERS], bytes_of, 4.0),
        Target("set", _set, lambda: SET, bytes_of, 4.0),
        Target("pgn", _pgn, _pgn_games, bytes_of, 0.5),
        Target("pgn-book", _pgn_book, _pgn_books, bytes_of, 2.0),
        Target("epd", _epd, _epds, bytes_of, 2.0),
        Target("kept", _kept_games, _kept_archives, bytes_of, 0.05),
        Target("opponent", _opponent, _opponents, json_of, 2.0),
        Target("note", _note, lambda: [NOTE], json_of, 2.0),
        Target("polyglot", _polyglot, _polyglot_books, bytes_of, 2.0),
        Target("book", _book, lambda: [books.dumps(example_book()).encode()], json_of, 1.0),
        Target("tree", read_tree, lambda: [small_growth(False)], arrays_of, 0.5),
        Target("checkpoint", read_checkpoint, lambda: [small_growth(True)], arrays_of, 0.2),
        Target("engine", _engine_lines, lambda: [INFO], bytes_of, 12.0),
        Target("cell", _cell, _cells, bytes_of, 4.0),
        Target("gui", _gui_words, lambda: [COMMANDS], bytes_of, 10.0),
        Target("run", _run, _run_files, _changed_run, 0.3),
        Target("overlay", _overlay, lambda: [CSV], bytes_of, 2.0),
    )
}
