"""The chess commands from end to end, on one small run with real Stockfish."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess.pgn
import chess.polyglot
import pytest
from commandline import preplay

from preplay import book as books

pytestmark = pytest.mark.usefixtures("stockfish")

SMALL = (
    "white.nodes=300",
    "black.nodes=300",
    "prep.nodes=1000",
    "black.randomness=5",
    "white.randomness=5",
    "value.model=linear",
    "judge=false",
)
LATE = ("value.model=threshold", 'start.moves=["e4"]', "black.randomness=20")


def sets(*changes: str) -> list[str]:
    return [part for change in (*SMALL, *changes) for part in ("--set", change)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with prepare runs, an equilibrium run and their store."""
    home = tmp_path_factory.mktemp("home")
    environment = os.environ | {"PREPLAY_STORE": str(home / "store.sqlite")}
    start = [sys.executable, "-c", "from preplay.cli import main; main()"]
    for words in (
        ("prepare", "chess", *sets(), "--side", "white", "--cost", "0.006", "--save", str(home / "run")),
        (
            "prepare",
            "chess",
            *sets(*LATE),
            "--side",
            "white",
            "--cost",
            "0.008",
            "--save",
            str(home / "late"),
        ),
        (
            "equilibrium",
            "chess",
            *sets(),
            "--cost",
            "0.015",
            "--save",
            str(home / "both"),
            "--gap",
            "1e-5",
        ),
    ):
        subprocess.run([*start, *words], check=True, env=environment, capture_output=True, timeout=300)
    return home


@pytest.fixture(autouse=True)
def _store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREPLAY_STORE", str(home / "store.sqlite"))


def test_export_writes_what_others_read(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {kind: tmp_path / f"book.{kind}" for kind in ("bin", "pgn", "json", "epd", "csv")}
    options = [
        word
        for kind, path in names.items()
        for word in (f"--{'polyglot' if kind == 'bin' else kind}", path)
    ]
    code, out, _ = preplay(capsys, "export", home / "run", *options)
    assert code == 0
    assert out.count("Written:") == 5
    book = json.loads(names["json"].read_text())
    with chess.polyglot.open_reader(names["bin"]) as reader:
        (entry,) = list(reader.find_all(chess.Board()))
        assert entry.move.uci() in book["entries"][0]["moves"]
    with names["pgn"].open() as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    assert not game.errors
    assert "r = 5" in game.headers["Black"]
    created = json.loads((home / "run" / "run.json").read_text())["created"]
    assert game.headers["Date"] == created[:10].replace("-", ".")
    assert "[%eval" in names["pgn"].read_text()
    assert len(names["csv"].read_text().splitlines()) == 1 + len(book["entries"])
    assert (
        preplay(capsys, "export", home / "run", "--pgn", tmp_path / "l.pgn", "--order", "learn")[0] == 0
    )
    assert (tmp_path / "l.pgn").read_text().count("[Event ") >= 1


def test_match_agrees_with_the_promise_and_resumes(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("match", home / "run", "--save", tmp_path / "m", "--json")
    code, out, err = preplay(capsys, *words, "--games", 30)
    assert (code, err) == (0, "")
    part = json.loads(out)
    code, out, _ = preplay(capsys, *words, "--games", 120)
    whole = json.loads(out)
    assert (part["games"], whole["games"]) == (30, 120)
    assert whole["p_value"] > 1e-4  # fails with that probability if the promise is true
    assert len((tmp_path / "m" / "games.jsonl").read_text().splitlines()) == 120
    _, fresh, _ = preplay(capsys, "match", home / "run", "--games", 120, "--json", "--workers", 1)
    assert json.loads(fresh) == whole  # no matter how it was cut, or how many engines played
    pgn = tmp_path / "all.pgn"
    code, out, _ = preplay(capsys, "match", home / "run", "--games", 12, "--control", "--pgn", pgn)
    assert code == 0
    assert "without the book" in out
    assert pgn.read_text().count('[White "Prepared"]') == 12
    assert pgn.read_text().count('[White "Unprepared"]') == 12


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_match_of_an_equilibrium_plays_both_books(
    side: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = preplay(capsys, "match", home / "both", "--side", side, "--games", 300, "--json")
    assert code == 0
    data = json.loads(out)
    result = json.loads((home / "both" / "result.json").read_text())
    assert data["opponent"] == "prepared"
    assert data["promised"] == pytest.approx(
        result["utility"] if side == "white" else 1 - result["utility"]
    )
    assert data["p_value"] > 1e-4  # fails with that probability if the promise is true


def test_scores_are_the_engines_and_gains_add_up(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = books.load(home / "run" / "book.json")
    for entry in plain.entries:  # with linear values, prep and value are one search
        assert entry.score is not None
        assert entry.value == pytest.approx(min(1.0, max(0.0, (entry.score / 400 + 1) / 2)))
    for run, side in (("run", None), ("late", None), ("both", "white"), ("both", "black")):
        choice = () if side is None else ("--side", side)
        path = tmp_path / "lines.csv"
        words = ("export", home / run, *choice, "--csv", path, "--pgn", tmp_path / "x.pgn")
        assert preplay(capsys, *words)[0] == 0
        name = "book" if side is None else f"book-{1 if side == 'white' else 2}"
        book = books.load(home / run / f"{name}.json")
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert len(rows) == book.size > 0
        assert float(rows[-1]["cumulative_value"]) == pytest.approx(book.value)
        gains = sum(entry.gain * entry.probability for entry in book.entries)
        assert book.without + gains == pytest.approx(book.value, abs=1e-6)
        assert f'[Baseline "{book.without:.6g}"]' in (tmp_path / "x.pgn").read_text()
        assert (tmp_path / "x.pgn").read_text().count("[%eval") > 0 or book.size == 1


def test_games_played_out_are_legal_and_checked(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn = tmp_path / "games.pgn"
    code, out, _ = preplay(capsys, "match", home / "run", "--games", 2, "--adjudication", "rules",
                           "--set", "length=30", "--pgn", pgn, "--json")  # fmt: skip
    assert code == 0
    data = json.loads(out)
    assert data["wins"] + data["draws"] + data["losses"] == 2
    assert (data["cut"], data["settled"]) == (0, 0)
    with pgn.open() as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    assert len(games) == 2
    for game in games:
        assert game is not None
        assert not game.errors
        board = game.end().board()
        assert board.is_game_over(claim_draw=True)  # the model's length of 30 cuts nothing
        assert board.result(claim_draw=True) == game.headers["Result"]
        assert game.headers["Termination"] == "normal"
    lines = pgn.read_text().splitlines()
    assert max(len(line) for line in lines if not line.startswith("[")) < 80
    tags = dict(line.strip("[]").split(" ", 1) for line in lines if line.startswith("["))
    assert list(tags)[:7] == ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
    assert "nodes, best of 2, r = 5" in tags["BlackEngine"]
    assert tags["Seed"] == '"0"'
    words = ("match", home / "run", "--games", 4, "--adjudication", "rules", "--json")
    _, out, _ = preplay(capsys, *words, "--longest", 30, "--resign", 2000)
    data = json.loads(out)
    assert data["cut"] + data["settled"] > 0
    assert data["endings"].get("cut as drawn", 0) == data["cut"]
    code, out, _ = preplay(capsys, "check", home / "run", pgn, "--json")
    assert code == 0
    report = json.loads(out)
    assert report["summary"]["games"] == 2
    assert all(row["outcome"] != "deviation" for row in report["games"])


def test_an_equilibrium_is_drawn_and_exported(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result: dict[str, Any] = json.loads((home / "both" / "result.json").read_text())
    assert result["upper"] - result["lower"] == pytest.approx(result["gap"], abs=1e-12)
    assert result["gap"] < 1e-4
    assert set(result["sides"]) == {"1", "2"}
    for seed in (1, 1):
        code, out, _ = preplay(capsys, "draw", home / "both", "--side", "white", "--seed", seed, "--json")
        assert code == 0
    drawn = {tuple(row["history"]) for row in json.loads(out)["book"]}
    mixed = {tuple(row["history"]): row["probability"] for row in result["sides"]["1"]["book"]}
    assert drawn <= set(mixed)
    assert {h for h, x in mixed.items() if x > 1 - 1e-9} <= drawn
    assert (
        preplay(capsys, "export", home / "both", "--side", "white", "--pgn", tmp_path / "e.pgn")[0] == 0
    )
    assert preplay(capsys, "export", home / "both", "--efg", tmp_path / "g.efg")[0] == 0
    assert (tmp_path / "g.efg").read_text().startswith("EFG 2 R")
    code, _, err = preplay(capsys, "export", home / "both", "--efg", tmp_path / "h.efg", "--limit", 3)
    assert code == 1
    assert "expected" in err or "limit" in err


def test_the_store_tells_what_it_holds(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = preplay(capsys, "store", "--json", "--export", tmp_path / "all.csv")
    assert code == 0
    data = json.loads(out)
    total = sum(row["analyses"] for row in data["holdings"])
    assert data["exported"] == total > 20
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes((home / "store.sqlite").read_bytes())
    code, _, err = preplay(capsys, "store", copy, "--nodes", 300)
    assert (code, err) == (1, "preplay: --nodes has no effect without --prune\n")
    code, out, _ = preplay(capsys, "store", copy, "--prune", "--nodes", 300, "--json")
    assert 0 < json.loads(out)["removed"] < total


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("export", "RUN"), "nothing to write"),
        (("export", "RUN", "--pgn", "x.pgn", "--order", "abc"), "order 'abc'"),
        (("export", "nowhere", "--pgn", "x.pgn"), "no such run"),
        (("export", "BOTH", "--pgn", "x.pgn"), "expected side white or black"),
        (("export", "RUN", "--efg", "x.efg"), "needs an equilibrium run"),
        (("export", "RUN", "--csv", "x.csv", "--order", "learn"), "--order learn has no effect without"),
        (("export", "RUN", "--pgn", "x.pgn", "--limit", "9"), "--limit 9 has no effect without --efg"),
        (("export", "BOTH", "--efg", "x", "--side", "white"), "--side white has no effect without a"),
        (("match", "RUN", "--adjudication", "judge"), "adjudication 'judge'"),
        (("match", "RUN", "--resign", "400"), "expected adjudication rules"),
        (("match", "RUN", "--side", "black"), "holds a book for white, not for black"),
        (("match", "RUN", "--side", "both"), "holds a book for white, not for both"),
        (("match", "RUN", "--cost", "0.1"), "which has its cost"),
        (("match", "RUN", "--set", 'start.moves=["e4"]'), "a book from the usual position"),
        (("match", "RUN", "--pgn", "."), "is a directory"),
        (("export", "RUN", "--side", "black", "--pgn", "x.pgn"), "holds a book for white"),
        (("match", "synthetic", "--pgn", "x.pgn"), "not chess"),
        (
            ("match", "synthetic", "--cost", "0.01", "--longest", "9", "--adjudication", "rules"),
            "not chess",
        ),
        (("draw", "RUN", "--side", "white"), "expected an equilibrium run"),
        (("check", "RUN", "missing.pgn"), "missing.pgn"),
        (("store", "missing.sqlite"), "no such store"),
        (("uci", "--book", "missing.bin"), "missing.bin"),
        (("prepare", "chess", "--side", "green"), "expected white or black"),
        (("figure1", "--side", "green"), "expected white, black or both"),
        (("figure1", "--matchup", "synthetic"), "not chess"),
        (("sweep", "chess", "--side", "white", "--key", "cost", "--values", "a"), "expected a number"),
        (
            ("sweep", "chess", "--side", "white", "--key", "cost", "--values", "1", "--measure", "luck"),
            "luck",
        ),
    ],
)
def test_mistakes_are_one_line(
    words: tuple[str, ...], message: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"RUN": str(home / "run"), "BOTH": str(home / "both")}
    code, out, err = preplay(capsys, *(places.get(word, word) for word in words))
    assert code == 1
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert out == "" or (words[0] == "uci" and out.startswith("info string "))  # told to the GUI


def test_a_run_of_another_configuration_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("prepare", "chess", *sets(), "--side", "white", "--cost", "0.005", "--save", home / "run")
    code, _, err = preplay(capsys, *words)
    assert code == 1
    assert "cost was 0.006, now 0.005" in err


@pytest.mark.parametrize(
    "words",
    [
        ("prepare", "chess", "--side", "white", "--cost", "0.01"),
        ("frontier", "chess", "--side", "white", "--cost", "0.01"),
        ("equilibrium", "chess", "--cost", "0.01"),
        ("harden", "chess", "--side", "black", "--cost", "0.01"),
        ("sweep", "chess", "--side", "white", "--key", "cost", "--values", "0.01"),
        ("figure1", "--randomness", "10"),
        ("calibrate", "chess"),
        ("match", "RUN", "--games", "1"),
        ("cluster", "local"),
    ],
    ids=lambda words: words[0],
)
def test_without_ray_a_cluster_is_one_line(
    words: tuple[str, ...],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    given = [home / "run" if word == "RUN" else word for word in words]
    option = () if words[0] == "cluster" else ("--cluster", "local")
    code, out, err = preplay(capsys, *given, *option)
    assert (code, out) == (1, "")
    assert err == "preplay: cluster needs Ray: pip install 'preplay[cluster]'\n"


@pytest.mark.parametrize(("run", "cost", "more"), [("run", "0.006", ()), ("late", "0.008", LATE)])
def test_a_gain_is_told_in_points(
    home: Path, capsys: pytest.CaptureFixture[str], run: str, cost: str, more: tuple[str, ...]
) -> None:
    words = ["prepare", "chess", *sets(*more), "--side", "white", "--cost", cost]
    code, out, _ = preplay(capsys, *words, "--save", home / run, "--store", home / "store.sqlite")
    assert code == 0
    assert " points per 100 games)" in out
