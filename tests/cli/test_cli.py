"""The contracts of the commands on tabular and other plain games."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, books, games, v, worth

from preplay.book import load

PREPARE = ("prepare", "synthetic", "--side", "1")
KEYS = {"side", "cost", "baseline", "value", "net", "upper", "size", "book"}


def data(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    code, out, err = preplay(capsys, *words, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    return dict(json.loads(out))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.json"
    path.write_text((Path(__file__).parents[2] / "examples" / "game.json").read_text())
    return path


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(games(depth=4, own=7), st.sampled_from([1, 2]), st.sampled_from([0.01, 0.05]))
def test_prepare_and_frontier_keep_their_contracts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], raw: Raw, side: int, cost: float
) -> None:
    path = tmp_path / "random.json"
    path.write_text(json.dumps(raw))
    root = raw["root"]
    every = {book: worth(root, side, book) for book in books(root, side)}
    got = data(capsys, "prepare", path, "--side", side, "--cost", cost)
    assert got.keys() >= KEYS
    assert got["side"] == side
    assert got["baseline"] == pytest.approx(v(root) if side == 1 else 1 - v(root), abs=1e-9)
    book = frozenset(tuple(entry["history"]) for entry in got["book"])
    assert len(book) == got["size"]
    assert every[book] == pytest.approx(got["value"], abs=1e-9)
    assert got["net"] == pytest.approx(got["value"] - cost * got["size"], abs=1e-12)
    assert got["net"] == pytest.approx(max(w - cost * len(b) for b, w in every.items()), abs=1e-9)
    assert got["upper"] == pytest.approx(got["net"], abs=1e-9)
    assert got["upper"] >= got["net"]
    for entry in got["book"]:
        history = tuple(entry["history"])
        before = frozenset(h for h in book if len(h) < len(history) and history[: len(h)] == h)
        assert entry["moves"] == pytest.approx(prep_at(root, history))
        assert entry["reach"] == pytest.approx(reach(root, side, history), abs=1e-12)
        assert entry["gain"] == pytest.approx(every[before | {history}] - every[before], abs=1e-9)
    few = data(capsys, "prepare", path, "--side", side, "--budget", 2)
    assert few["value"] == pytest.approx(max(w for b, w in every.items() if len(b) <= 2), abs=1e-9)
    frontier = data(capsys, "frontier", path, "--side", side)
    points = frontier["points"]
    learned = [tuple(row["history"]) for row in frontier["order"]]
    value = frontier["unprepared"]
    for n, row in enumerate(frontier["order"], 1):
        value += row["gain"]
        assert value == pytest.approx(every[frozenset(learned[:n])], abs=1e-9)
    assert [p["cost"] for p in points] == sorted((p["cost"] for p in points), reverse=True)
    for point in points:
        below = point["cost"] * (1 - 1e-6)
        best = max(w - below * len(b) for b, w in every.items())
        assert point["value"] - below * point["size"] == pytest.approx(best, abs=1e-9)


def at(root: Raw, history: History) -> Raw:
    for action in history:
        root = root["actions"][action]["to"]
    return root


def prep_at(root: Raw, history: History) -> dict[str, float]:
    edges = at(root, history)["actions"].items()
    return {name: edge["prep"] for name, edge in edges if edge["prep"] > 0.0}


def reach(root: Raw, side: int, history: History) -> float:
    product = 1.0
    for n, action in enumerate(history):
        node = at(root, history[:n])
        edge = node["actions"][action]
        product *= edge.get("prob", edge.get("prep" if node["player"] == side else "base"))
    return product


def test_bounds_and_equilibrium_keep_their_contracts(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    got = data(capsys, "bounds", file, "--side", 1, "--advantage", 0.6, "--epsilon", 0.5)
    assert got.keys() >= {"entropy", "p_norm", "size_bound", "guarantee", "constructed"}
    assert got["constructed"]["value"] >= got["guarantee"] - 1e-12
    assert got["constructed"]["size"] <= got["size_bound"]
    assert got["lemma1"]["count"] <= got["lemma1"]["bound"]
    got = data(capsys, "equilibrium", file, "--costs", 0.01, 0.02, "--gap", "1e-8")
    assert got.keys() >= {"value", "lower", "upper", "gap", "method", "iterations", "seconds", "sides"}
    assert got["lower"] <= got["value"] <= got["upper"]
    assert got["gap"] <= 1e-7
    for side in ("1", "2"):
        book = got["sides"][side]["book"]
        total = sum(entry["probability"] for entry in book)
        assert total == pytest.approx(got["sides"][side]["expected_size"], abs=1e-6)
    lp = data(capsys, "equilibrium", file, "--costs", 0.01, 0.02, "--method", "lp")
    assert lp["value"] == pytest.approx(got["value"], abs=1e-7)


def test_tables_are_readable(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = preplay(capsys, "prepare", file, "--side", 1, "--cost", 0.01)
    assert (code, err) == (0, "")
    assert "certified upper bound" in out
    assert "sharp accept" in out
    for words in (
        ("frontier", file, "--side", 1, "--plot", tmp_path / "f.svg"),
        ("equilibrium", file, "--cost", 0.01, "--plot", tmp_path / "e.png"),
        ("bounds", file, "--side", 2, "--advantage", 0.5, "--epsilon", 0.5),
        (
            "sweep",
            "synthetic",
            "--side",
            1,
            "--key",
            "seed",
            "--values",
            "1,2",
            "--plot",
            tmp_path / "s.svg",
        ),
    ):
        code, out, _ = preplay(capsys, *words)
        assert code == 0
        assert out
    for name in ("f.svg", "e.png", "s.svg"):
        assert (tmp_path / name).stat().st_size > 1000
    code, out, _ = preplay(capsys, "matchups")
    assert all(name in out for name in ("chess", "chess-paper", "synthetic", "tic-tac-toe"))


def test_a_saved_run_is_taken_up_again(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("prepare", file, "--side", 1, "--cost", 0.01, "--save", tmp_path / "run")
    part = data(capsys, *words, "--histories", 3)
    whole = data(capsys, *words)
    assert part["ending"] == "histories"
    assert part["upper"] >= whole["net"] - 1e-12
    assert whole["ending"] == "complete"
    assert data(capsys, "prepare", file, "--side", 1, "--cost", 0.01)["book"] == whole["book"]
    assert (tmp_path / "run" / "run.json").exists()
    kept = {path.name for path in (tmp_path / "run").iterdir()}
    assert kept == {"run.json", "result.json", "book.json", "tree.npz", "checkpoint.npz"}
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == whole
    assert data(capsys, *words) == whole  # a run that is done stays as it is
    book = load(tmp_path / "run" / "book.json")
    assert [list(entry.history) for entry in book.entries] == [row["history"] for row in whole["book"]]
    assert (book.value, book.net, book.upper) == (whole["value"], whole["net"], whole["upper"])
    assert book.provenance["identity"]["cost"] == 0.01
    code, _, err = preplay(capsys, *words[:5], 0.02, *words[6:])
    assert code == 1
    assert "belongs to another run (cost was 0.01, now 0.02)" in err


def test_damaged_and_foreign_runs_are_refused(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    words = ("prepare", file, "--side", 1, "--cost", 0.01, "--save", run)

    def refused(*more: object) -> str:
        code, out, err = preplay(capsys, *(more or words))
        assert (code, out) == (1, "")
        assert err.count("\n") == 1
        return err

    data(capsys, *words)
    assert "(side was 1, now 2)" in refused(*words[:3], 2, *words[4:])
    assert "(budget was null, now 3)" in refused(*words, "--budget", 3)
    text = file.read_text()
    file.write_text(text.replace("0.9", "0.8"))
    assert "matchup.sha256 was" in refused()
    file.write_text(text)
    (run / "checkpoint.npz").write_text("garbage")
    assert "checkpoint.npz: not a checkpoint to go on from (damaged, or not an .npz file)" in refused()
    (run / "run.json").write_text("{")
    assert "run.json: line 1, column 2" in refused()
    (run / "run.json").write_text('{"format": "preplay-run/9"}')
    assert "(format 'preplay-run/9'); expected preplay-run/1" in refused()
    (run / "run.json").unlink()
    assert "is not empty and holds no run" in refused()


def test_limits_end_a_run_with_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("prepare", "synthetic-large", "--side", 1, "--cost", 0.002)
    whole = data(capsys, *words)
    for more, ending in ((("--histories", 40), "histories"), (("--seconds", 0), "seconds")):
        part = data(capsys, *words, *more)
        assert part["ending"] == ending
        assert part["net"] <= whole["net"] + 1e-12
        assert part["upper"] >= whole["net"] - 1e-12
    near = data(capsys, *words, "--within", 0.05)
    assert near["ending"] == "gap"
    assert near["upper"] - near["net"] <= 0.05
    assert near["histories"] < whole["histories"]
    code, out, _ = preplay(capsys, *words, "--histories", 40)
    assert code == 0
    assert "growth stopped by    histories" in out
    few = data(capsys, "prepare", "synthetic-large", "--side", 1, "--budget", 4)
    assert (few["size"], few["cost"], few["budget"]) == (4, 0.0, 4)
    assert few["value"] <= few["upper"]


def test_what_json_cannot_say_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    got = data(capsys, "bounds", "synthetic", "--side", 1, "--advantage", 0.6, "--epsilon", 0.001)
    assert got["size_bound"] is None
    assert got["constructed"]["value"] >= got["guarantee"]


def test_the_list_of_matchups_is_data_too(capsys: pytest.CaptureFixture[str]) -> None:
    rows = data(capsys, "matchups")["matchups"]
    assert {"name", "summary", "config"} == set(rows[0])
    _, out, _ = preplay(capsys, "matchups")
    begun = [line for line in out.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in begun] == [row["name"] for row in rows]


@pytest.mark.parametrize("verb", ["export", "report"])
def test_quiet_says_what_it_does(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Do not tell what was written." in preplay(capsys, verb, "--help")[1]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = preplay(capsys, "--version")
    assert code == 0
    assert out.startswith("preplay 0.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("prepare", "GAME", "--side", "3", "--cost", "0.1"), "side '3'; expected 1 or 2"),
        (("prepare", "GAME", "--side", "1", "--cost", "0"), "cost 0"),
        (("prepare", "GAME", "--side", "1", "--cost=-1"), "expected a finite number above 0"),
        (("prepare", "GAME", "--side", "1", "--cost", "nan"), "cost nan"),
        (("prepare", "GAME", "--side", "1"), "no cost for side 1"),
        (("prepare", "missing.json", "--side", "1", "--cost", "0.1"), "no such file"),
        (("prepare", "missing.toml", "--side", "1", "--cost", "0.1"), "no such file"),
        (("prepare", "syntetic", "--side", "1", "--cost", "0.1"), "did you mean 'synthetic'"),
        (("prepare", "synthetic", "--side", "1", "--set", "lenght=3"), "did you mean 'length'"),
        (("prepare", "synthetic", "--side", "1", "--set", "length"), "expected KEY=VALUE"),
        (("prepare", "synthetic", "--side", "1", "--set", "length=0"), "length = 0"),
        (("prepare", "synthetic", "--side", "1", "--set", "length=40"), "at most 5,000,000"),
        (
            ("prepare", "synthetic", "--side", "1", "--cost", "0.1", "--set", "cost=0.2"),
            "cost 0.1 and change cost=0.2; expected one of the two",
        ),
        (
            ("equilibrium", "synthetic", "--costs", "0.1", "0.2", "--set", "cost=0.2"),
            "cost (0.1, 0.2) and change cost=0.2; expected one of the two",
        ),
        (
            ("match", "synthetic", "--games", "1", "--cost", "0.1", "--set", "cost=0.2"),
            "cost 0.1 and change",
        ),
        (
            ("prepare", "chess", "--side", "1", "--rival", "x.json", "--set", "black.opponent=y.json"),
            "--rival x.json and --set black.opponent=y.json; expected one of the two",
        ),
        (
            ("frontier", "chess", "--side", "1", "--avoid", "x.pgn", "--set", "white_prep.avoid=y.pgn"),
            "--avoid x.pgn and --set white_prep.avoid=y.pgn; expected one of the two",
        ),
        (("prepare", "GAME", "--side", "1", "--cost", "0.1", "--set", "a=1"), "no settings to change"),
        (("prepare", "GAME", "--side", "1", "--cost", "0.1", "--save", "GAME"), "is a file"),
        (("prepare", "GAME", "--side", "1", "--cost", "0.1", "--save", "HERE"), "not empty"),
        (("prepare", "GAME", "--side", "1", "--cost", "0.1", "--report", "x.html"), "needs --save"),
        (("prepare", "GAME", "--side", "1", "--cost", "inf"), "cost inf; expected a finite number"),
        (("prepare", "GAME", "--side", "", "--cost", "0.1"), "side ''; expected 1 or 2"),
        (("prepare", "HERE", "--side", "1", "--cost", "0.1"), "expected a .toml or .json file"),
        (("prepare", "GAME", "--side", "1", "--cost", "0.1", "--save", "GAME/run"), "cannot be written"),
        (("prepare", "synthetic", "--side", "1", "--set", "cost.x=1"), "'cost' is not a table"),
        (("prepare", "synthetic", "--side", "1", "--set", "cost=-1"), "cost = -1"),
        (("prepare", "synthetic", "--side", "1", "--set", "value=exat"), 'value = "exat"'),
        ((*PREPARE, "--set", "randomness=x"), 'randomness = "x"; expected a number'),
        ((*PREPARE, "--set", "length=3.5"), "length = 3.5; expected a whole number"),
        (
            ("prepare", "chess", "--side", "1", "--set", "judge.fresh=2000"),
            "judge.fresh = 2000; expected a table with keys among engine, options, nodes, depth",
        ),
        (
            ("prepare", "chess", "--side", "1", "--set", "start=5"),
            "start = 5; expected a table with keys among fen, moves",
        ),
        (("frontier", "GAME", "--side", "1", "--cost", "0"), "expected a finite number above 0"),
        (
            ("prepare", "chess", "--side", "1", "--set", "white.rating=2000"),
            'white.rating = 2000 has no effect with value.model = "calibrated"; expected "logistic"',
        ),
        (
            (
                "prepare",
                "chess",
                "--side",
                "1",
                "--set",
                "black.rating=2000",
                "--set",
                "value.model=logistic",
            ),
            "black.rating = 2000 alone; expected white.rating and black.rating",
        ),
        (("export", "HERE", "--csv", "HERE/x", "--pgn", "HERE/./x"), "is to be written twice; expected"),
        (("frontier", "synthetic-large", "--side", "1", "--set", "cost=null"), "no cost for side 1"),
        (("frontier", "GAME", "--side", "1", "--plot", "GAME/x.svg"), "cannot be written"),
        (("bounds", "GAME", "--side", "1", "--advantage", "nan", "--epsilon", "0.5"), "advantage nan"),
        (("frontier", "GAME", "--side", "1", "--plot", "x.bmp"), "expected a name ending in"),
        (("bounds", "GAME", "--side", "1", "--advantage", "2", "--epsilon", "0.5"), "advantage 2"),
        (("bounds", "GAME", "--side", "1", "--advantage", "0.5", "--epsilon", "1"), "epsilon 1"),
        (("equilibrium", "GAME", "--cost", "0.1", "--costs", "0.1", "0.1"), "both given"),
        (("equilibrium", "GAME", "--costs", "0.1", "0"), "cost 0"),
        (("equilibrium", "GAME", "--cost", "0.1", "--method", "cfp"), "did you mean"),
        (("report", "HERE", "-o", "x.html"), "holds no run.json"),
        (("report", "HERE", "--workers", "2"), "--workers 2: expected together with --alternatives N"),
        (("uci", "--store", "x"), "--store x: expected together with --as-opponent RUN"),
        (
            ("prepare", "synthetic", "--side", "1", "--store", "x"),
            "--store x: matchup 'synthetic' has no",
        ),
        (
            ("prepare", "synthetic", "--side", "1", "--workers", "3"),
            "--workers 3: matchup 'synthetic' has",
        ),
        (("frontier", "GAME", "--side", "1", "--cluster", "local"), "has no engines; expected a chess"),
        (
            ("bounds", "tic-tac-toe", "--side", "1", "--workers", "1"),
            "matchup 'tic-tac-toe' has no engines",
        ),
        (("equilibrium", "GAME", "--cost", "0.1", "--store", "x"), "--store x: matchup 'game' has no"),
        (("harden", "GAME", "--side", "1", "--cost", "0.1", "--workers", "1"), "--workers 1: matchup"),
        (("match", "synthetic", "--games", "1", "--store", "x"), "--store x: matchup 'synthetic' has no"),
    ],
)
def test_mistakes_are_one_line(
    words: tuple[str, ...], message: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"GAME": str(file), "HERE": str(tmp_path)}
    named = [word.replace("GAME", places["GAME"]).replace("HERE", places["HERE"]) for word in words]
    code, out, err = preplay(capsys, *named)
    assert code == 1
    assert message in err
    assert err.startswith("preplay: ")
    assert len(err.strip().splitlines()) == 1
    assert out == ""


def test_what_the_environment_says_of_engines_may_have_no_effect(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREPLAY_STORE", "/nowhere/store.sqlite")
    monkeypatch.setenv("PREPLAY_CLUSTER", "local")
    words = ("prepare", file, "--side", 1, "--cost", 0.01)
    assert data(capsys, *words)["size"] > 0
    assert preplay(capsys, *words, "--cluster", "auto")[0] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("prepare",), "missing argument 'MATCHUP'; see `preplay prepare --help`"),
        (("nonsense",), "no such command 'nonsense'; see `preplay --help`"),
        (("--nonsense",), "no such option: --nonsense; see `preplay --help`"),
        (("prepare", "synthetic"), "missing option '--side'; see `preplay prepare --help`"),
        ((*PREPARE, "--budget=-1"), "--budget -1; expected a number of at least 0"),
        ((*PREPARE, "--budget", "3.5"), "--budget 3.5; expected a whole number"),
        ((*PREPARE, "--cost", "cheap"), "--cost cheap; expected a number"),
        ((*PREPARE, "--cost"), "option '--cost' requires an argument"),
        ((*PREPARE, "--histories", "0"), "--histories 0; expected a number of at least 1"),
        ((*PREPARE, "--workers", "5000"), "--workers 5000; expected a number of at most 1024"),
        ((*PREPARE, "--seconds=-1"), "--seconds -1; expected a number of at least 0"),
        ((*PREPARE, "--seconds", "nan"), "--seconds nan; expected a number of at least 0"),
        ((*PREPARE, "--nonsense"), "no such option: --nonsense"),
        (("bounds", "synthetic", "--advantage", "0.5"), "missing option '--side'"),
        (("equilibrium", "synthetic", "--costs", "1", "x"), "--costs x; expected a number"),
    ],
)
def test_wrong_usage_exits_with_2(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = preplay(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"preplay: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "chequers"', "kind = 'chequers'"),
        ("", "key 'kind' is missing; expected one of chess, chess-clock, openspiel"),
        ("cost = 0.1", "key 'kind' is missing; expected one of"),
        ("kind = ", "expected TOML"),
        ('kind = "openspiel"\ngame = "tic_tac_to"', "tic_tac_toe"),
        ('kind = "openspiel"\ngame = "kuhn_poker"', "perfect"),
        ('kind = "openspiel"\ngame = "tic_tac_toe"\n[base]\npolicy = "guess"', "base.policy"),
    ],
)
def test_mistakes_in_matchup_files(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    code, _, err = preplay(capsys, "prepare", path, "--side", 1, "--cost", 0.1)
    assert code == 1
    assert message in err
    assert len(err.strip().splitlines()) == 1
