"""Sweeps: what makes them the same run, what they are asked for and what they write."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay
from sweeppoints import point

from preplay import runs
from preplay.cli.sweep import _settings
from preplay.experiments import figure1
from preplay.experiments.sweep import Point, Task, as_csv, opened, read_points, run_tasks
from preplay.growth import Limits
from preplay.matchup import Matchup, load_config
from preplay.report.gather import gather
from preplay.stopping import Stop

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCS = Path(__file__).parents[2] / "docs"
SWEEP = ("sweep", "synthetic", "--side", 1, "--set", "length=4")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker processes: they take seconds to start."""

    def serial(
        work: Callable[[Task], Point], tasks: Sequence[Task], workers: int, stop: Stop
    ) -> Iterator[tuple[int, Point]]:
        for number, task in enumerate(tasks):
            if not stop.asked:
                yield number, work(task)

    monkeypatch.setattr("preplay.experiments.sweep.computed", serial)


def data(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    code, out, err = preplay(capsys, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code, out, err = preplay(capsys, *words)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    return err


def test_a_file_that_changed_makes_it_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "game.json"
    shutil.copy(EXAMPLES / "game.json", game)
    words = ("sweep", game, "--side", 1, "--key", "cost", "--values", "0.01,0.02")
    first = data(capsys, *words, "--save", tmp_path / "run")
    assert data(capsys, *words, "--save", tmp_path / "run") == first
    game.write_text(game.read_text().replace("0.9", "0.8"))
    assert "belongs to another run (matchup.sha256 was" in refused(
        capsys, *words, "--save", tmp_path / "run"
    )
    lists = tmp_path / "files.toml"
    lists.write_text('kind = "tabular"\nfile = "game.json"\ncost = 0.01\n')
    shutil.copy(EXAMPLES / "game.json", tmp_path / "other.json")
    files = f"{game},{tmp_path / 'other.json'}"
    words = ("sweep", lists, "--side", 1, "--key", "file", "--values", files)
    data(capsys, *words, "--save", tmp_path / "files")
    game.write_text(game.read_text() + "\n")
    assert f"own.{game}.matchup.sha256 was" in refused(capsys, *words, "--save", tmp_path / "files")


def test_a_cost_of_the_matchup_that_changed_makes_it_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*SWEEP, "--key", "seed", "--values", 1, "--save", tmp_path / "run")
    data(capsys, *words, "--set", "cost=0.01")
    assert "cost was 0.01, now 0.02" in refused(capsys, *words, "--set", "cost=0.02")
    assert "seconds was null, now 5.0" in refused(capsys, *words, "--set", "cost=0.01", "--seconds", 5)
    identity = runs.open_run(tmp_path / "run").identity
    assert identity["matchup"]["length"] == 4
    assert identity["values"] == (1,)


def test_a_run_tells_what_its_points_share_and_what_each_has_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*SWEEP, "--key", "seed", "--values", "1,2", "--save", tmp_path / "run")
    got = data(capsys, *words)
    identity = runs.open_run(tmp_path / "run").identity
    assert "seed" not in identity["matchup"]
    assert identity["own"] == {"1": {"matchup": {"seed": 1}}, "2": {"matchup": {"seed": 2}}}
    assert identity["cost"] == 0.001
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == got
    costs = (*SWEEP, "--key", "cost", "--values", "0.1,0.2", "--save", tmp_path / "costs")
    data(capsys, *costs)
    assert gather(tmp_path / "costs")["cost"] is None


@pytest.mark.parametrize("kind", ["chess", "chess-clock", "synthetic"])
def test_points_that_are_kept_are_not_computed_again(kind: str, tmp_path: Path) -> None:
    name, config = load_config(kind)
    label = "1" if kind == "synthetic" else "white"
    task = Task(name, config, 1, "cost", 0.1, 0.1, None, None, Limits(), label)
    kept = tmp_path / "points.jsonl"
    old = point(label, 0.1, "cost")
    kept.write_text(json.dumps(old.__dict__) + "\n")
    stop = Stop()
    stop.request()
    assert run_tasks([task], 1, kept, stop=stop) == [old]
    assert read_points(kept) == [old]


@pytest.mark.parametrize(("quick", "sent"), [(3600.0, 0), (0.0, 3)])
def test_small_points_need_no_other_process(
    quick: float, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, config = load_config("synthetic")
    config = {**config, "length": 4}
    tasks = [Task(name, config, 1, "cost", c, c, None, None, Limits(), "1") for c in (0.1, 0.02, 0.004)]
    there: list[Task] = []

    def computed(
        work: Callable[[Task], Point], tasks: Sequence[Task], workers: int, stop: Stop
    ) -> Iterator[tuple[int, Point]]:
        there.extend(tasks)
        yield from ((number, work(task)) for number, task in enumerate(tasks))

    monkeypatch.setattr("preplay.experiments.sweep.computed", computed)
    monkeypatch.setattr("preplay.experiments.sweep.QUICK", quick)
    points = run_tasks(tasks, 2, stop=Stop())
    assert len(there) == sent
    assert [point.setting for point in points] == [0.1, 0.02, 0.004]
    assert [point.size for point in points] == sorted(point.size for point in points)
    assert all(point.whole for point in points)


def test_what_a_stop_cuts_short_is_no_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point that is computed here is given up with the request, and not kept as a cut one."""
    name, config = load_config("synthetic")
    task = Task(name, config, 1, "cost", 1e-5, 1e-5, None, None, Limits(), "1")
    stop = Stop()

    @contextmanager
    def opening(task: Task) -> Iterator[Matchup[Any]]:
        with opened(task) as matchup:
            stop.request()
            yield matchup

    assert run_tasks([task, task], 1, stop=stop, opening=opening) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--plot", "x.foo"), "expected a name ending in .svg, .png, .pdf"),
        (("--plot", "FILE/x.svg"), "cannot be written"),
        (("--plot", "DIR.svg"), "is a directory"),
        (("--csv", "FILE/x.csv"), "cannot be written"),
    ],
)
@pytest.mark.parametrize("words", [(*SWEEP, "--key", "seed", "--values", "1"), ("figure1",)])
def test_files_that_cannot_be_written_are_found_before_the_work(
    words: tuple[object, ...],
    more: tuple[str, str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*given: object, **named: object) -> None:
        raise AssertionError("work was done")

    (tmp_path / "FILE").touch()
    (tmp_path / "DIR.svg").mkdir()
    monkeypatch.setattr("preplay.runs.sweeps.run_tasks", never)
    assert message in refused(capsys, *words, more[0], tmp_path / more[1])


def test_a_plot_that_fails_loses_no_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("preplay.figures.sweep_figure", fail)
    words = (*SWEEP, "--key", "seed", "--values", "1")
    code, out, err = preplay(capsys, *words, "--csv", tmp_path / "x.csv", "--plot", tmp_path / "x.svg")
    assert (code, err) == (1, "preplay: cannot write: disk full\n")
    assert (tmp_path / "x.csv").read_text().startswith("side,seed,value,size\n1,1,")
    assert "seed" in out


def test_off_a_terminal_there_is_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = preplay(capsys, *SWEEP, "--key", "seed", "--values", "1,2")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 4


def test_sizes_and_counts_are_integers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measures = ("value", "size", "histories", "questions", "searches")
    words = [word for measure in measures for word in ("--measure", measure)]
    got = data(capsys, *SWEEP, "--key", "seed", "--values", 1, *words, "--save", tmp_path / "run")
    (row,) = got["points"]
    assert isinstance(row["value"], float)
    assert all(type(row[name]) is int for name in ("seed", *measures[1:]))
    (shown,) = gather(tmp_path / "run")["series"][0]["points"]
    assert all(type(shown[name]) is int for name in measures[1:])
    code, out, _ = preplay(capsys, *SWEEP, "--key", "cost", "--values", 0.9, "--measure", "size")
    assert (code, out.split()[-3:]) == (0, ["1", "0.9", "0"])


@pytest.mark.parametrize(
    ("values", "settings"),
    [
        ('["e4","e5"],["d4","d5"]', [["e4", "e5"], ["d4", "d5"]]),
        ('{"a": 1, "b": 2}', [{"a": 1, "b": 2}]),
        ("linear, wdl", ["linear", "wdl"]),
        ("1, 2.5,1e-3", [1, 2.5, 1e-3]),
        ('5,true,"1,2"', [5, True, "1,2"]),
        ("5,linear,true", [5, "linear", True]),
        (".05,1.,+3, -.5 ,007", [0.05, 1.0, 3, -0.5, 7]),
        ("1_000,inf,nan,+,1.e", ["1_000", "inf", "nan", "+", "1.e"]),
    ],
)
def test_values_are_json_or_text_between_commas(values: str, settings: list[Any]) -> None:
    assert _settings(values) == settings
    assert list(map(type, _settings(values))) == list(map(type, settings))


def test_any_values_can_be_swept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspiel")
    words = ("sweep", "tic-tac-toe", "--side", 1, "--key", "base", "--cost", 0.3, "--set", "prep.depth=1",
             "--set", "value.model=rollouts", "--set", "value.samples=5",
             "--values", '{"policy": "uniform"}, {"policy": "search", "depth": 1}')  # fmt: skip
    got = data(capsys, *words, "--save", tmp_path / "run", "--plot", tmp_path / "x.svg")
    assert [row["base"]["policy"] for row in got["points"]] == ["uniform", "search"]
    rows = list(csv.DictReader((tmp_path / "run" / "points.csv").read_text().splitlines()))
    assert [json.loads(row["base"]) for row in rows] == [row["base"] for row in got["points"]]
    assert json.loads(gather(tmp_path / "run")["settings"][1])["depth"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--key", "cost", "--values", "true"), "expected a number as cost"),
        (("--key", "cost", "--values", "[1]"), "expected a number as cost"),
        (("--key", "cost", "--values", "0.1,-1"), "cost -1; expected a finite number above 0"),
        (("--key", "seed", "--values", " "), "expected values separated by commas"),
        (("--key", "length", "--values", "3,-3"), "length = -3"),
        (("--key", "length", "--values", "[3"), 'length = "[3"'),
    ],
)
def test_values_that_make_no_sense_are_found_before_the_work(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert message in refused(capsys, *SWEEP[:4], *words, "--save", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("values", ["-1", "1,nan", "inf"])
def test_figure_1_refuses_randomness_that_is_none(
    values: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("figure1", "--randomness", values, "--save", tmp_path / "run")
    assert "expected a finite number of at least 0" in refused(capsys, *words)
    overlay = tmp_path / "published.csv"
    overlay.write_text("side,randomness,utility,size\nwhite,-1,0.5,3\n")
    assert "at least 0" in refused(capsys, "figure1", "--overlay", overlay)


def test_a_figure_without_values_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--randomness ''; expected numbers" in refused(capsys, "figure1", "--randomness", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, ": No such file or directory; expected a CSV of published points"),
        (b"\xff", ": is no text in UTF-8; expected a CSV of published points"),
        (b"name,randomness\nx,1\n", ": has no column 'side'; expected side, randomness, utility (or"),
        (b"side,randomness,value,size\nwhite,1,0.5,x\n", ": line 2: size 'x'; expected a whole number"),
        (b"side,randomness,utility,size\nwhite,1\n", ": line 2: utility nothing; expected a number"),
    ],
)
def test_published_points_that_cannot_be_read(
    text: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    if text is not None:
        path.write_bytes(text)
    err = refused(capsys, "figure1", "--overlay", path)
    assert err.startswith(f"preplay: {path}{message}")


@pytest.mark.parametrize(("name", "randomness"), [("points", figure1.FULL), ("quick", figure1.QUICK)])
def test_the_points_in_the_documents_are_as_the_command_writes_them(
    name: str, randomness: tuple[float, ...]
) -> None:
    text = (DOCS / "figure1" / f"{name}.csv").read_text()
    points = [point(side, r) for r in randomness for side in ("white", "black")]
    ordered = [p for curve in figure1.by_side(points).values() for p in curve]
    ours = as_csv(ordered, "randomness", (*figure1.COLUMNS, "fresh"))  # made with --fresh

    def form(csv: str) -> list[list[str]]:
        head, *rows = (line.split(",") for line in csv.splitlines())
        return [head, *(row[:2] for row in rows)]

    assert form(text) == form(ours)


def test_points_that_were_cut_short_are_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*SWEEP, "--key", "seed", "--values", "1,2", "--set", "length=6")
    code, out, _ = preplay(capsys, *words, "--csv", tmp_path / "whole.csv")
    assert code == 0
    assert "ending" not in out
    assert (tmp_path / "whole.csv").read_text().splitlines()[0] == "side,seed,value,size"
    cut = (*words, "--histories", 60, "--measure", "net", "--save", tmp_path / "run")
    code, out, _ = preplay(capsys, *cut, "--csv", tmp_path / "cut.csv", "--plot", tmp_path / "cut.svg")
    assert code == 0
    assert out.split("\n")[0].split() == ["side", "seed", "net", "upper", "ending"]
    assert "cut short" in out
    assert "cut short" in (tmp_path / "cut.svg").read_text()
    for row in csv.DictReader((tmp_path / "cut.csv").read_text().splitlines()):
        assert row["ending"] == "histories"
        assert float(row["net"]) <= float(row["upper"]) <= 1.0
    kept = runs.load_run(tmp_path / "run")
    assert kept.measures == ("net",)
    told = data(capsys, *cut)
    assert all(
        point["upper"] >= point["net"] and point["ending"] == "histories" for point in told["points"]
    )


def test_sweeps_measure_bounds_and_equilibria(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same numbers that `bounds` and `equilibrium` tell of the same matchup."""
    measures = ("entropy", "guarantee", "reached", "equilibrium", "equilibrium_gap", "equilibrium_size")
    words = [*SWEEP, "--key", "seed", "--values", "1,2", "--cost", 0.02]
    words += ["--advantage", 0.6, "--epsilon", 0.5, "--save", tmp_path / "run"]
    for name in measures:
        words += ["--measure", name]
    told = data(capsys, *words)["points"]
    matchup = ("synthetic", "--set", "length=4", "--set", "seed=2", "--cost", 0.02)
    bounds = data(capsys, "bounds", *matchup, "--side", 1, "--advantage", 0.6, "--epsilon", 0.5)
    solved = data(capsys, "equilibrium", *matchup, "--gap", 1e-4)
    assert told[1]["entropy"] == bounds["entropy"]
    assert told[1]["guarantee"] == bounds["guarantee"]
    assert told[1]["reached"] == bounds["lemma1"]["count"]
    assert told[1]["equilibrium"] == pytest.approx(solved["value"], abs=1e-4)
    assert 0.0 <= told[1]["equilibrium_gap"] <= 1e-4
    assert told[1]["equilibrium_size"] == pytest.approx(solved["sides"]["1"]["expected_size"], abs=0.2)
    assert {point["ending"] for point in told} == {"complete"}
    assert data(capsys, *words)["points"] == told  # taken up again
    assert runs.load_run(tmp_path / "run").points[0].besides["reached"] == told[0]["reached"]
    assert "besides" in refused(capsys, *words[:-18], "--save", tmp_path / "run")


def test_what_was_cut_short_is_told_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """The equilibrium is, the books are not: its bounds are shown, and whose ending it is."""
    game = Path(__file__).parents[2] / "examples" / "dice_race.toml"
    words = ("sweep", game, "--side", "1", "--key", "settings.courage", "--values", "0.1,0.4")
    more = ("--histories", "300", "--measure", "equilibrium", "--measure", "net", "--json", "--quiet")
    code, out, _ = preplay(capsys, *words, *more)
    assert code == 0
    for row in json.loads(out)["points"]:
        assert row["ending"].startswith("equilibrium: ")
        assert row["net"] == row["upper"]
        assert row["equilibrium_lower"] < row["equilibrium"] < row["equilibrium_upper"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--advantage", "0.6"),
            "advantage 0.6 has no effect on value, size; expected a measure",
        ),
        (("--epsilon", "0.6"), "epsilon 0.6 has no effect on value, size"),
        (("--gap", "0.001", "--measure", "entropy"), "gap 0.001 has no effect on entropy; expected"),
        (
            ("--budget", "3", "--measure", "equilibrium"),
            "budget 3 has no effect on equilibrium; expected",
        ),
        (("--budget", "3", "--measure", "baseline"), "budget 3 has no effect on baseline; expected"),
        (("--store", "x.sqlite"), "has no effect where a sweep starts no engines; expected none"),
        (("--measure", "net", "--measure", "net"), "measure 'net' is there twice; expected each once"),
        (("--values", "1,2,1.0"), "value 1.0 is there twice; expected each once"),
        (
            ("--key", "cost", "--cost", "0.1"),
            "cost 0.1 beside a sweep over the cost; expected one of",
        ),
    ],
)
def test_options_without_an_effect_are_refused(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, *SWEEP, "--key", "seed", "--values", "1", *words)


def test_a_sweep_may_begin_where_nothing_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    """Settings that have an effect at some points stand at the others too."""
    pytest.importorskip("pyspiel")
    words = ["sweep", "tic-tac-toe", "--side", 1, "--cost", 0.3, "--workers", 1]
    words += ["--set", "prep.margin=0.5", "--set", "prep.depth=1"]
    for key, more in (("prep.choose", ["prep.deviations=1"]), ("prep.deviations", ["prep.choose=2"])):
        values = "1,2" if key == "prep.choose" else "0,1"
        told = data(capsys, *words, "--set", *more, "--key", key, "--values", values)
        assert len(told["points"]) == 2


def test_bounds_need_an_advantage(capsys: pytest.CaptureFixture[str]) -> None:
    words = (*SWEEP, "--key", "seed", "--values", "1", "--measure", "entropy")
    assert "measure 'entropy' is Theorem 1's; expected an advantage" in refused(capsys, *words)


def test_a_setting_without_an_effect_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspiel")
    words = ("sweep", "tic-tac-toe", "--side", 1, "--key", "base.randomness", "--values", "1,2")
    assert "base: randomness = 1.0 has no effect here" in refused(capsys, *words)


def test_a_script_that_sweeps_is_run_once(tmp_path: Path) -> None:
    """Without a guard for the main module: workers do not run the script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import preplay\n"
        "print('begun')\n"
        "swept = preplay.sweep('synthetic', 'randomness', [0.1, 1.0], side=1, cost=0.01, workers=2)\n"
        "print(len(swept.points))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["begun", "2"], done.stderr


def test_a_setting_named_like_a_measure_stands_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*SWEEP, "--key", "value", "--values", "exact,estimate", "--cost", 0.01)
    told = data(capsys, *words, "--save", tmp_path / "run", "--plot", tmp_path / "x.svg")
    assert [row["setting"] for row in told["points"]] == ["exact", "estimate"]
    assert all(0.0 < row["value"] < 1.0 for row in told["points"])
    text = (tmp_path / "run" / "points.csv").read_text()
    assert text.startswith("side,setting,value,size\n1,exact,0.")
    found = runs.load_run(tmp_path / "run")
    assert (runs.as_data(found), found.measures) == (told, ("value", "size"))
    table = found.to_pandas()
    assert table.columns.is_unique
    assert list(table["setting"]) == ["exact", "estimate"]
    assert preplay(capsys, *words)[1].split()[:4] == ["side", "setting", "value", "size"]


def test_bounds_are_told_of_where_they_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    words = (*SWEEP, "--key", "seed", "--values", 1, "--histories", 5, "--cost", 1e-4)
    theorem = ("--measure", "reached", "--advantage", 0.1, "--epsilon", 0.1)
    out = preplay(capsys, *words, *theorem)[1]
    assert "were cut short." in out
    assert "bounds say" not in out
    out = " ".join(preplay(capsys, *words, *theorem, "--measure", "equilibrium")[1].split())
    assert "cut short; bounds say what may be missing" in out
    assert "equilibrium_upper" in out
    assert "…" not in out
    assert "lemma 1: histories" in out
    assert "equilibrium: histories" in out
