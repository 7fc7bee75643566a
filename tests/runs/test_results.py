"""Results: what JSON says of them, and that what is saved is found again."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from preplay import load_book, load_tree, runs
from preplay.errors import InputError, StoreError
from preplay.experiments.sweep import Task
from preplay.figures import save_figure
from preplay.matchup import open_matchup
from preplay.runs.equilibria import EquilibriumResult, MixedSide, equilibrium
from preplay.runs.frontiers import FrontierResult, frontier
from preplay.runs.matches import MatchResult
from preplay.runs.prepared import PrepareResult, prepare
from preplay.runs.sweeps import sweep
from preplay.stopping import Stop

GAME = str(Path(__file__).parents[2] / "examples" / "game.json")

PREPARE = (
    "side cost budget baseline value net upper error size ending histories questions book clock refused"
)
FRONTIER = "side least_cost unprepared error ending points order guess"
EQUILIBRIUM = (
    "value lower upper gap solver_gap sampling_error open_error method iterations seconds costs baseline "
    "utility only_one_prepares histories ending questions sides trace"
)
MATCH = (
    "matchup adjudication sides games opponent wins draws losses score elo superiority book_moves "
    "endings promised promised_error z p_value agrees sprt control time"
)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (PrepareResult, PREPARE),
        (FrontierResult, FRONTIER),
        (EquilibriumResult, EQUILIBRIUM),
        (MixedSide, "expected_size entropy book"),
        (MatchResult, MATCH),
    ],
)
def test_the_keys_of_the_json_stand_in_their_order(kind: type[Any], keys: str) -> None:
    """Programs read these: keys may be added, but none may go."""
    told = [f.name for f in fields(kind) if not f.metadata.get("beside")]
    assert [name for name in told if name in keys.split()] == keys.split()


def same(result: Any, directory: Path) -> None:
    """What was saved is found again, whole."""
    again = runs.load_run(directory)
    assert again == result
    assert type(again) is type(result)
    assert runs.load_run(directory, type(result)) == result
    with pytest.raises(InputError, match="expected a Task"):
        runs.load_run(directory, Task)
    assert (
        runs.as_data(again) == runs.as_data(result) == json.loads((directory / "result.json").read_text())
    )
    assert again.run.directory == directory
    for f in fields(result):
        if f.name not in ("tree", "run", "better"):
            assert getattr(again, f.name) == getattr(result, f.name), f.name
    if hasattr(result, "tree"):
        assert np.array_equal(again.tree.value, result.tree.value, equal_nan=True)
        assert again.tree.names == result.tree.names


def test_what_is_saved_is_found_again(tmp_path: Path) -> None:
    with open_matchup(GAME) as matchup:
        prepared = prepare(matchup, 1, 0.01, save=tmp_path / "prepare")
        same(prepared, tmp_path / "prepare")
        assert prepared.net == prepared.value - 0.01 * prepared.size
        assert (prepared.book.size, prepared.book.value) == (prepared.size, prepared.value)
        same(prepare(matchup, "2", budget=2, save=str(tmp_path / "few")), tmp_path / "few")
        front = frontier(matchup, 1, save=tmp_path / "frontier")
        same(front, tmp_path / "frontier")
        assert runs.find_book(tmp_path / "frontier") == front.book
        assert front.book.value == pytest.approx(front.points[-1].value)
        assert {e.history for e in front.book.entries} == {step.history for step in front.order}
        assert front.points[-1].value == pytest.approx(
            front.unprepared + sum(s.gain for s in front.order)
        )
        both = equilibrium(matchup, 0.01, save=tmp_path / "both")
        same(both, tmp_path / "both")
        assert both.lower <= both.value <= both.upper
        assert both.books[1].side == 2
        assert prepare(matchup, 1, 0.01).run is None


def test_a_sweep_is_found_again_in_its_order(tmp_path: Path) -> None:
    result = sweep(
        GAME,
        "cost",
        [0.1, 0.001, 0.02],
        side=1,
        measures=["net", "size"],
        workers=2,
        save=tmp_path / "run",
    )
    same(result, tmp_path / "run")
    assert [p.setting for p in result.points] == [0.1, 0.001, 0.02]
    (tmp_path / "run" / "result.json").unlink()  # as after a kill: points are kept as they are found
    assert {p.setting for p in runs.load_run(tmp_path / "run").points} == {0.1, 0.001, 0.02}


def test_a_better_equilibrium_stays(tmp_path: Path) -> None:
    with open_matchup("synthetic", ["length=5", "seed=3"]) as matchup:
        asked: dict[str, Any] = {
            "cost": 0.003,
            "method": "cfr",
            "save": tmp_path / "run",
            "iterations": 2,
        }
        first = equilibrium(matchup, **asked)
        assert first.gap > 1e-9
        path = tmp_path / "run" / "result.json"
        path.write_text(json.dumps(runs.as_data(first) | {"gap": 1e-9}))  # as if found in a longer run
        again = equilibrium(matchup, **asked)
    assert (first.better, again.better) == (None, 1e-9)
    assert runs.load_run(tmp_path / "run").gap == 1e-9


def test_damaged_results_are_told_in_one_line(tmp_path: Path) -> None:
    with open_matchup(GAME) as matchup:
        prepare(matchup, 1, 0.01, save=tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    whole = json.loads(path.read_text())
    for change, message in (
        ({"value": "much"}, r"damaged \(value: input should be a valid number"),
        ({"ending": "soon"}, r"damaged \(ending: input should be 'complete'"),
    ):
        path.write_text(json.dumps(whole | change))
        with pytest.raises(StoreError, match=message):
            runs.load_run(tmp_path / "run")
    path.write_text(json.dumps({k: v for k, v in whole.items() if k != "net"}))
    with pytest.raises(StoreError, match="'net' is missing"):
        runs.load_run(tmp_path / "run")
    path.unlink()
    with pytest.raises(StoreError, match=r"has no result.json yet; finish its `preplay prepare --save`"):
        runs.load_run(tmp_path / "run")
    with pytest.raises(InputError, match="no such run"):
        runs.load_run(tmp_path / "none")


def test_what_later_versions_add_is_passed_over_and_what_they_lack_has_a_default(tmp_path: Path) -> None:
    with open_matchup(GAME) as matchup:
        result = prepare(matchup, 1, 0.01, save=tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"new": [1, 2]}))
    assert runs.load_run(tmp_path / "run") == result
    assert result.clock is None
    assert "clock" not in runs.as_data(result)


def test_results_are_frozen() -> None:
    with open_matchup(GAME) as matchup:
        result = prepare(matchup, 1, 0.01)
    with pytest.raises(AttributeError):
        result.value = 1.0  # type: ignore[misc]
    assert replace(result, value=1.0).value == 1.0


def test_a_stop_is_told_and_the_same_call_goes_on(tmp_path: Path) -> None:
    stop = Stop()
    seen: list[str] = []

    def progress(now: object) -> None:
        seen.append(str(now))
        stop.asked = True

    with open_matchup("synthetic") as matchup:
        cut = prepare(matchup, 1, 0.001, save=tmp_path / "run", stop=stop, progress=progress)
        whole = prepare(matchup, 1, 0.001, save=tmp_path / "run")
        assert whole == prepare(matchup, 1, 0.001, save=tmp_path / "other")
    assert cut.ending in ("interrupted", "complete")
    assert all("histories" in line for line in seen)
    assert whole.ending == "complete"


def test_results_are_tables_and_figures(tmp_path: Path) -> None:
    with open_matchup(GAME) as matchup:
        prepared = prepare(matchup, 1, 0.01)
        front = frontier(matchup, 1)
        both = equilibrium(matchup, 0.01)
    table = prepared.to_pandas()
    assert len(table) == prepared.size
    assert table["gain"].sum() == pytest.approx(prepared.value - prepared.unprepared)
    assert list(front.to_pandas()["size"]) == [p.size for p in front.points]
    assert set(both.to_pandas()["side"]) == {1, 2}
    swept = sweep(GAME, "cost", [0.01, 0.1], side=1, workers=1)
    assert list(swept.to_pandas()["cost"]) == [0.01, 0.1]
    assert list(swept.to_pandas()["net"]) == [p.net for p in swept.points]
    best = [p for p in front.points if p.cost > 0.01]
    (line, *_), *_ = [axis.lines for axis in prepared.plot_frontier().axes]
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx(
        [front.unprepared, *(p.value for p in best)]
    )
    for figure in (prepared.plot_frontier(), front.plot_frontier(), both.plot_trace(), swept.plot()):
        save_figure(figure, tmp_path / "figure.svg")
        assert (tmp_path / "figure.svg").stat().st_size > 5000
    empty = prepare(matchup, 1, 0.9)
    assert list(empty.to_pandas().columns) == list(table.columns)


def test_without_pandas_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_matchup(GAME) as matchup:
        result = prepare(matchup, 1, 0.01)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'preplay\[pandas\]'"):
        result.to_pandas()


def test_paths_may_be_text(tmp_path: Path) -> None:
    with open_matchup(GAME, store=str(tmp_path / "store.sqlite")) as matchup:
        result = prepare(matchup, 1, 0.01, save=str(tmp_path / "run"))
    assert load_book(str(tmp_path / "run" / "book.json")) == result.book
    assert load_tree(str(tmp_path / "run" / "tree.npz")).size == result.tree.size


def test_a_complete_run_is_not_replaced_by_one_cut_short(tmp_path: Path) -> None:
    with open_matchup("synthetic", ("cost=0.002",)) as matchup:
        whole = prepare(matchup, 1, save=tmp_path / "run")
        (tmp_path / "run" / "checkpoint.npz").unlink()
        again = prepare(matchup, 1, save=tmp_path / "run", histories=5)
        short = prepare(matchup, 1, histories=5)
    assert short.ending == "histories"
    assert again == whole
    assert runs.load_run(tmp_path / "run") == whole
