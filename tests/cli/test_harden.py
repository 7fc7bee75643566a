"""Hiding, from the command line: a game in a file, and real chess with every command that takes it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.polyglot
import pytest
from commandline import preplay
from dialogue import Talk, fake

import preplay as library
from preplay import book as books
from preplay.chess.books.lookup import book_lookup
from preplay.runs.hardened import HardenResult


def answer(base: float, utility: float) -> dict[str, Any]:
    """A history of the preparer: whoever has learned it wins."""
    right = {"base": base, "prep": 1, "to": {"utility": 1}}
    return {
        "player": 1,
        "actions": {"right": right, "wrong": {"base": 1 - base, "prep": 0, "to": {"utility": utility}}},
    }


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """Two answers; the second gives 0.02 away, and mixing them makes neither worth learning."""
    edges = {
        "x": {"base": 1, "prep": 1, "menu": True, "to": answer(0.5, 0.0)},
        "y": {"base": 0, "prep": 0, "menu": True, "to": answer(0.4, 0.2)},
    }
    path = tmp_path / "hide.json"
    path.write_text(json.dumps({"format": "preplay-game/1", "root": {"player": 2, "actions": edges}}))
    return path


def test_what_cannot_be_hardened_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = preplay(
        capsys, "harden", "synthetic", "--side", "2", "--cost", "0.01", "--save", tmp_path / "run"
    )
    assert (code, len(err.splitlines())) == (1, 1)
    assert "has no moves to choose among" in err
    assert not (tmp_path / "run").exists()


def test_a_game_in_a_file(game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("harden", game, "--side", "2", "--cost", "0.3")
    code, out, _ = preplay(capsys, *words, "--json", "--save", tmp_path / "run")
    assert code == 0
    data = json.loads(out)
    assert data["value"] == pytest.approx(0.508, abs=1e-6)  # 0.6 x and 0.4 y: nothing is worth learning
    assert (data["lower"], data["upper"]) == (pytest.approx(0.508, abs=1e-6),) * 2
    assert data["loss"] == pytest.approx(0.008, abs=1e-6)
    assert data["unhardened"] == pytest.approx(0.7)
    assert data["policy"] == [{"history": [], "moves": pytest.approx({"x": 0.6, "y": 0.4}, abs=1e-6)}]
    assert data["before"]["value"] >= data["upper"]
    assert all(row["mix"] <= row["value"] + 1e-6 for row in data["softmax"])
    kept = library.load_run(tmp_path / "run")
    assert isinstance(kept, HardenResult)
    assert kept.value == data["value"]
    _, again, _ = preplay(capsys, *words, "--json", "--save", tmp_path / "run")
    assert json.loads(again) == data
    # At most half of that may be given away: y is played a quarter of the time, and x is learned.
    tight = json.loads(preplay(capsys, *words, "--loss", "0.005", "--json")[1])
    assert tight["loss"] == pytest.approx(0.005, abs=1e-6)
    assert tight["value"] == pytest.approx(0.75 * 1.0 + 0.25 * 0.52 - 0.3, abs=1e-6)
    told = " ".join(preplay(capsys, *words)[1].split())
    assert "the mix 0.50800, certified in [0.50800, 0.50800], gives away 0.00800" in told
    assert "x 60% / y 40%" in told


def test_what_is_refused(game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = [
        (("--side", "3"), "side '3'; expected 1 or 2"),
        (("--side", "1"), "side 1 has no moves to choose among"),
        (("--side", "2", "--choose", "3"), "a tabular game has its menus in its file"),
        (("--side", "2", "--method", "magic"), "method 'magic'; expected lp, or sweep"),
    ]
    for words, message in refused:
        code, _, err = preplay(capsys, "harden", game, "--cost", "0.3", *words)
        assert (code, err.count("\n")) == (1, 1)
        assert message in err
    folder = tmp_path / "run"
    assert preplay(capsys, "harden", game, "--side", "2", "--cost", "0.3", "--save", folder)[0] == 0
    code, _, err = preplay(capsys, "harden", game, "--side", "2", "--cost", "0.2", "--save", folder)
    assert code == 1
    assert "belongs to another run (cost was 0.3, now 0.2)" in err


SETTINGS = (
    *("white.nodes=200", "black.nodes=200", "prep.nodes=200", "white.multipv=3", "white.randomness=30"),
    *("black.randomness=10", "value.model=linear", "judge.nodes=1000", "judge.fresh.nodes=1500"),
)
SMALL = [part for change in SETTINGS for part in ("--set", change)]
HARDEN = (
    *("harden", "chess", *SMALL, "--side", "black", "--cost", "0.01", "--gap", "5e-3"),
    *("--choose", "3", "--margin", "60", "--deviations", "1"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def run(
    home: Path, stockfish: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A kept run, made by the first test that asks for it."""
    monkeypatch.setenv("PREPLAY_STORE", str(home / "store.sqlite"))
    folder = home / "run"
    if not (folder / "result.json").exists():
        assert preplay(capsys, *HARDEN, "--save", folder, "--quiet")[0] == 0
    return folder


def test_what_is_kept_of_chess(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads((run / "result.json").read_text())
    assert data["lower"] <= data["value"] <= data["upper"] <= data["unhardened"] + 5e-3
    assert data["judged"]["left"] == 0
    assert data["judged"]["fresh"] == pytest.approx(data["value"], abs=data["judged"]["error"] + 1e-9)
    assert data["choosing"][0] <= data["choosing"][1] + 1e-12
    assert data["choosing_judged"]["left"] == 0
    assert all(row["mix"] <= row["value"] + 5e-3 for row in data["softmax"])
    best = books.load(run / "book-1.json")
    assert best.value - best.cost * len(best.entries) == pytest.approx(data["value"], abs=1e-9)
    monkeypatch.setenv("COLUMNS", "60")
    _, told, _ = preplay(capsys, *HARDEN, "--save", run, "--quiet")  # from its checkpoint
    assert "a mix that gives away no more" in " ".join(told.split())
    mix = told[told.index("The mix: what black plays") :].partition("\n\nKept in")[0]
    assert max(map(len, mix.splitlines())) <= 60
    assert any(re.match(r"  \S+ 2\. \S+: \S+ \d+% / ", row) for row in mix.splitlines())  # in SAN
    assert json.loads((run / "result.json").read_text()) == data


def mixed(run: Path) -> tuple[books.Entry, chess.Board]:
    """A position of the mix with two moves or more, after one line alone."""
    entries = books.load(run / "book-2.json").entries
    boards = {}
    for entry in entries:
        board = chess.Board()
        for move in entry.history:
            board.push_uci(move)
        boards[entry.history] = board
    lines = Counter(board.epd() for board in boards.values())
    found = next(e for e in entries if len(e.moves) > 1 and lines[boards[e.history].epd()] == 1)
    return found, boards[found.history]


def test_exports_and_the_page_of_chess(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {kind: tmp_path / f"mix.{kind}" for kind in ("bin", "pgn", "csv")}
    words = ("--polyglot", names["bin"], "--pgn", names["pgn"], "--csv", names["csv"])
    assert preplay(capsys, "export", run, *words)[0] == 0
    entry, board = mixed(run)
    with chess.polyglot.open_reader(names["bin"]) as reader:
        weights = {found.move.uci(): found.weight for found in reader.find_all(board)}
    shares = {move: weight / sum(weights.values()) for move, weight in weights.items()}
    assert shares == pytest.approx(entry.moves, abs=1e-3)
    with names["pgn"].open() as file:
        parsed = chess.pgn.read_game(file)
        assert parsed is not None
        assert not parsed.errors
        node: chess.pgn.GameNode = parsed
        for move in entry.history:
            node = node.variation(chess.Move.from_uci(move))
        assert {child.move.uci() for child in node.variations} == set(entry.moves)
    rows = names["csv"].read_text().splitlines()
    assert len(rows) == 1 + len(books.load(run / "book-2.json").entries)
    page = tmp_path / "page.html"
    assert preplay(capsys, "report", run, "-o", page)[0] == 0
    assert "<html" in page.read_text()


def test_the_mix_at_the_board(run: Path, tmp_path: Path) -> None:
    """Many games: the UCI engine draws its moves in the shares of the mix."""
    entry, _ = mixed(run)
    moves, seen = " ".join(entry.history), Counter[str]()
    with Talk(book_lookup(books.load(run / "book-2.json"), "run"), fake(tmp_path / "log")) as talk:
        for _ in range(200):
            talk.send("ucinewgame")
            seen[talk.best(f"position startpos moves {moves}", "go nodes 1")] += 1
    assert set(seen) <= set(entry.moves)
    for move, share in entry.moves.items():
        assert seen[move] / 200 == pytest.approx(share, abs=5 * (share * (1 - share) / 200) ** 0.5)


def test_the_best_book_meets_the_mix(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--seed", 1, "--json", "--quiet")
    code, out, _ = preplay(capsys, "match", run, "--games", 40, *words)
    assert code == 0
    played = json.loads(out)
    best = books.load(run / "book-1.json")
    assert played["sides"] == ["white"]
    assert played["promised"] == pytest.approx(best.value, abs=1e-9)
    assert played["p_value"] > 1e-4  # fails with that probability if the promise is true
    _, out, _ = preplay(capsys, "match", run, "--games", 2, "--adjudication", "rules", *words)
    assert json.loads(out)["games"] == 2
