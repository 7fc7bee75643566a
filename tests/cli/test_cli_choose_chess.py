"""Books that choose, on real chess: every command that takes a book takes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chess.pgn
import chess.polyglot
import pytest
from commandline import preplay
from dialogue import Talk, fake

from preplay import book as books
from preplay.chess.books.lookup import book_lookup

pytestmark = pytest.mark.usefixtures("stockfish")

SETTINGS = (
    *("white.nodes=100", "black.nodes=100", "prep.nodes=100", "prep.multipv=3"),
    *("black.randomness=10", "value.model=linear", "judge=false", "length=20"),
)
SMALL = [part for change in SETTINGS for part in ("--set", change)]
CLASS = [part for key in ("choose=3", "margin=60", "deviations=1") for part in ("--set", f"prep.{key}")]
CHOOSE = ("--choose", "3", "--margin", "60", "--deviations", "1")
PREPARE = ("prepare", "chess", *SMALL, "--side", "white", "--cost", "0.02")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREPLAY_STORE", str(home / "store.sqlite"))


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A kept run of a book that deviates somewhere; made by the first test that asks for it."""
    folder = home / "run"
    if not folder.exists():
        assert preplay(capsys, *PREPARE, *CHOOSE, "--save", folder, "--quiet")[0] == 0
    return folder


def test_what_is_kept(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads((run / "result.json").read_text())
    book = books.load(run / "book.json")
    assert any(entry.deviates for entry in book.entries)
    assert data["net"] >= data["fixed"]["net"]
    fixed = json.loads(preplay(capsys, *PREPARE, "--json", "--quiet")[1])
    assert data["fixed"]["net"] == pytest.approx(fixed["net"], abs=1e-12)
    for entry in book.entries:
        if entry.decision is not None:
            played = entry.decision.options[entry.decision.played]
            assert entry.moves == {played.move: 1.0}
            assert all(option.opinion is not None for option in entry.decision.options)
    again = json.loads(preplay(capsys, *PREPARE, *CHOOSE, "--json", "--quiet", "--workers", 1)[1])
    assert again == {key: value for key, value in data.items() if key in again}


def test_exports_and_the_page(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {kind: tmp_path / f"book.{kind}" for kind in ("bin", "pgn", "csv")}
    words = ("--polyglot", names["bin"], "--pgn", names["pgn"], "--csv", names["csv"])
    assert preplay(capsys, "export", run, *words)[0] == 0
    book = books.load(run / "book.json")
    deviation = next(entry for entry in book.entries if entry.deviates)
    board = chess.Board()
    for move in deviation.history:
        board.push_uci(move)
    with chess.polyglot.open_reader(names["bin"]) as reader:
        assert {entry.move.uci() for entry in reader.find_all(board)} == set(deviation.moves)
    with names["pgn"].open() as file:
        assert (game := chess.pgn.read_game(file)) is not None
        assert not game.errors
    assert len(names["csv"].read_text().splitlines()) == 1 + len(book.entries)
    page = tmp_path / "page.html"
    assert preplay(capsys, "report", run, "-o", page)[0] == 0
    assert "A book of first choices alone" in page.read_text()


def test_at_the_board(run: Path, tmp_path: Path) -> None:
    """The UCI engine plays the move that the book chose, not the first choice."""
    book = books.load(run / "book.json")
    deviation = next(entry for entry in book.entries if entry.deviates)
    with Talk(book_lookup(book, "run"), fake(tmp_path / "log")) as talk:
        moves = " ".join(deviation.history)
        found = talk.best(
            f"position startpos moves {moves}" if moves else "position startpos", "go nodes 1"
        )
    assert found == next(iter(deviation.moves))


def test_games_and_their_check(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pgn = tmp_path / "games.pgn"
    code, out, _ = preplay(capsys, "match", run, "--games", 12, "--pgn", pgn, "--json", "--quiet")
    assert code == 0
    assert json.loads(out)["p_value"] > 1e-4  # fails with that probability if the promise is true
    code, out, _ = preplay(capsys, "check", run, pgn, "--json")
    assert code == 0
    report = json.loads(out)
    assert report["summary"]["games"] == 12
    assert all(row["outcome"] != "deviation" for row in report["games"])


@pytest.mark.parametrize(
    ("key", "values"), [("prep.choose", "1,3"), ("prep.deviations", "0,1"), ("prep.margin", "0,60")]
)
def test_sweeps_of_the_class(key: str, values: str, capsys: pytest.CaptureFixture[str]) -> None:
    """More freedom promises no less by the same values, and no choice is the book of first choices."""
    rest = [part for change in CLASS[1::2] if not change.startswith(key) for part in ("--set", change)]
    words = [*SMALL, *rest, "--side", "white", "--cost", "0.02", "--json", "--quiet", "--workers", 1]
    words += ["--measure", "value", "--measure", "size", "--measure", "net"]
    code, out, _ = preplay(capsys, "sweep", "chess", "--key", key, "--values", values, *words)
    assert code == 0
    few, many = json.loads(out)["points"]
    assert few["net"] <= many["net"] + 1e-12
    assert {"value", "size"} <= set(few)
    fixed = json.loads(preplay(capsys, *PREPARE, "--json", "--quiet")[1])
    if key == "prep.margin":  # moves with equal scores are on the menu
        assert few["net"] >= fixed["net"] - 1e-12
    else:
        assert few["net"] == pytest.approx(fixed["net"], abs=1e-12)


def test_frontiers(capsys: pytest.CaptureFixture[str]) -> None:
    """With the moves fixed for the least cost, by history and by position; by flags as by settings."""
    common = ("chess", *SMALL, "--side", "white", "--cost", "0.02", "--json", "--quiet")
    for memory in ("histories", "positions"):
        words = (*common, "--set", f"memory={memory}")
        points = json.loads(preplay(capsys, "frontier", *words, *CHOOSE)[1])["points"]
        assert points
        assert points == sorted(points, key=lambda point: -point["cost"])
        best = json.loads(preplay(capsys, "prepare", *words, *CLASS)[1])
        assert points[-1]["size"] == best["size"]
        told = [entry["decision"] for entry in best["book"] if "decision" in entry]
        assert any(decision["played"] > 0 and decision["hoped"] for decision in told)
        assert points[-1]["value"] == pytest.approx(best["value"], abs=1e-9)


def test_a_frontier_that_extends_a_repertoire(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It ends with the book that `prepare` finds by the same flags, and tells the same to repair."""
    lines = tmp_path / "mine.pgn"
    lines.write_text("1. f3 e5 (1... d5 2. g4) *\n")
    words = ("chess", *SMALL, "--side", "white", "--cost", "0.02", "--quiet", "--extend", lines)
    code, told, _ = preplay(capsys, "frontier", *words, "--save", tmp_path / "run")
    assert code == 0
    assert "Known moves that lose" in told
    front = json.loads((tmp_path / "run" / "result.json").read_text())
    best = json.loads(preplay(capsys, "prepare", *words, "--json")[1])
    assert len(front["order"]) == best["size"]
    assert front["repairs"] == best["repairs"]


def test_lines_that_both_sides_know(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Prepared, played to the end, shown, and met as the opponent was modelled."""
    for name, lines in (("white", "1. f3 *"), ("black", "1. f3 e5 2. e4 *")):
        (tmp_path / f"{name}.pgn").write_text(lines + "\n")
    known = [w for n in ("white", "black") for w in ("--set", f"{n}_prep.extend={tmp_path / n}.pgn")]
    words = ("chess", *SMALL, *known, "--side", "white", "--cost", "0.02", "--quiet", "--histories", 80)
    assert preplay(capsys, "prepare", *words, "--save", tmp_path / "run")[0] == 0
    book = books.load(tmp_path / "run" / "book.json")
    assert all(entry.history[:2] == ("f2f3", "e7e5") for entry in book.entries)
    pgn = tmp_path / "games.pgn"
    rules = ("--adjudication", "rules", "--longest", 12, "--games", 2, "--pgn", pgn, "--quiet")
    assert preplay(capsys, "match", tmp_path / "run", *rules)[0] == 0
    assert pgn.read_text().count("1. f3") == 2
    assert preplay(capsys, "report", tmp_path / "run", "-o", tmp_path / "page.html")[0] == 0
    told = subprocess.run(
        [sys.executable, "-m", "preplay", "uci", "--as-opponent", tmp_path / "run"],
        input="uci\nposition startpos moves f2f3\ngo\n", capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "bestmove " in told
