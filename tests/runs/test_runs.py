"""Results: what JSON says of them, and that what is saved is found again."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from preplay import load_book, load_tree, runs
from preplay.errors import InputError, StoreError
from preplay.experiments.sweep import Task
from preplay.figures import save_figure
from preplay.matchup import open_matchup
from preplay.matchup.settings import override
from preplay.runs.bounded import BoundsResult, Counted, bounds
from preplay.runs.equilibria import EquilibriumResult, MixedSide, equilibrium
from preplay.runs.frontiers import FrontierResult, frontier
from preplay.runs.hardened import harden
from preplay.runs.matches import match
from preplay.runs.outcomes import MatchResult
from preplay.runs.prepared import PrepareResult, prepare
from preplay.runs.sweeps import sweep
from preplay.stopping import Stop
from preplay.tree import Tree
from preplay.value import Value

GAME = str(Path(__file__).parents[2] / "examples" / "game.json")

PREPARE = (
    "side cost budget baseline value net upper error size ending histories questions book clock refused"
)
FRONTIER = "side least_cost unprepared error ending points order guess"
EQUILIBRIUM = (
    "value lower upper gap solver_gap sampling_error open_error method iterations seconds costs baseline "
    "utility only_one_prepares histories ending questions sides trace"
)
BOUNDS = "side advantage epsilon lemma1 entropy p_norm firsts size_bound guarantee constructed complete"
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
        (BoundsResult, BOUNDS),
        (Counted, "p count bound complete"),
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
    moves: Any = result.book.entries[0].moves
    for change in (
        lambda: moves.update(x=1.0),
        lambda: moves.__setitem__("x", 1.0),
        lambda: moves.pop("x", None),
        moves.clear,
    ):
        with pytest.raises(TypeError, match="results are frozen"):
            change()
    assert dict(moves) == moves == copy.deepcopy(moves) == pickle.loads(pickle.dumps(moves))
    assert copy.deepcopy(result.book) == result.book


def test_settings_of_a_kept_run_are_changed_in_a_copy(tmp_path: Path) -> None:
    with open_matchup("synthetic") as matchup:
        run = prepare(matchup, 1, 0.01, save=tmp_path / "run").run
    assert run is not None
    nested = replace(run, identity={"matchup": {"value": {"model": "exact"}, "list": [1]}})
    changed = override(nested.matchup, ["value.model=adaptive", "value.new.key=2"])
    assert changed == {"value": {"model": "adaptive", "new": {"key": 2}}, "list": [1]}
    assert nested.matchup["value"] == {"model": "exact"}
    with pytest.raises(TypeError, match="results are frozen"):
        nested.identity["matchup"]["value"]["model"] = "adaptive"
    assert isinstance(hash(nested), int)


def hiding() -> dict[str, Any]:
    """A game in which side 2 has two answers to hide among, and side 1 a choice after them."""

    def answer(base: float, utility: float) -> dict[str, Any]:
        right = {"base": base, "prep": 1, "menu": True, "to": {"utility": 1}}
        wrong = {"base": 1 - base, "prep": 0, "menu": True, "to": {"utility": utility}}
        return {"player": 1, "actions": {"right": right, "wrong": wrong}}

    edges = {
        "x": {"base": 1, "prep": 1, "menu": True, "to": answer(0.5, 0.0)},
        "y": {"base": 0, "prep": 0, "menu": True, "to": answer(0.4, 0.2)},
    }
    return {"format": "preplay-game/1", "root": {"player": 2, "actions": edges}}


def parts(value: Any) -> Iterator[Any]:
    """Everything that a result holds; what a run was made with is JSON data."""
    yield value
    inside: Any = ()
    if is_dataclass(value) and not isinstance(value, Tree | runs.Run):
        inside = [getattr(value, f.name) for f in fields(value) if f.name != "provenance"]
    elif isinstance(value, Mapping):
        inside = [*value, *value.values()]
    elif isinstance(value, tuple | list):
        inside = value
    for part in inside:
        yield from parts(part)


def test_every_kind_of_result_is_plain_and_frozen_and_found_again(tmp_path: Path) -> None:
    """Fresh or loaded, a result holds Python's own numbers and nothing that could be changed."""
    file = tmp_path / "hide.json"
    file.write_text(json.dumps(hiding()))
    with open_matchup(str(file)) as matchup:
        made: dict[str, Any] = {
            "harden": harden(matchup, 2, 0.3, save=tmp_path / "harden"),
            "chosen": prepare(matchup, 1, 0.01, save=tmp_path / "chosen"),
        }
    with open_matchup(GAME) as matchup:
        made["prepare"] = best = prepare(matchup, 1, 0.01, save=tmp_path / "prepare")
        made |= {
            "budget": prepare(matchup, 1, budget=2, save=tmp_path / "budget"),
            "frontier": frontier(matchup, 1, save=tmp_path / "frontier"),
            "equilibrium": equilibrium(matchup, 0.01, save=tmp_path / "equilibrium"),
            "bounds": bounds(matchup, 1, advantage=0.5, epsilon=0.5, save=tmp_path / "bounds"),
            "beyond": bounds(matchup, 1, advantage=0.6, epsilon=1e-4, save=tmp_path / "beyond"),
            "nothing": bounds(matchup, 1, 0.9, save=tmp_path / "nothing"),
            "match": match(matchup, best, games=20, save=tmp_path / "match"),
        }
    asked: dict[str, Any] = {
        "measures": ["net", "entropy", "equilibrium"],
        "advantage": 0.5,
        "epsilon": 0.5,
    }
    made["sweep"] = sweep(GAME, "cost", [0.1, 0.01], side=1, **asked, workers=1, save=tmp_path / "sweep")
    assert made["beyond"].size_bound == float("inf")
    assert made["nothing"].guarantee is None
    for name, result in made.items():
        same(result, tmp_path / name)
        for one in (result, runs.load_run(tmp_path / name)):
            odd = [p for p in parts(one) if isinstance(p, np.generic | list) or type(p) is dict]
            assert not odd, f"{name}: {odd[:3]}"
    assert {type(result).__name__ for result in made.values()} == {
        name for _, name in runs.keeping.HOMES.values()
    }


def test_bounds_are_kept_and_a_whole_result_stays(tmp_path: Path) -> None:
    with open_matchup("synthetic") as matchup:
        whole = bounds(matchup, 1, advantage=0.6, epsilon=0.5, save=tmp_path / "run")
        again = bounds(matchup, 1, advantage=0.6, epsilon=0.5, save=tmp_path / "run", histories=100)
        short = bounds(matchup, 1, advantage=0.6, epsilon=0.5, histories=100)
        with pytest.raises(InputError, match="only one of advantage and epsilon"):
            bounds(matchup, 1, advantage=0.6, save=tmp_path / "never")
    assert not (tmp_path / "never").exists()
    assert again == whole == runs.load_run(tmp_path / "run", BoundsResult)
    assert (whole.whole, short.whole) == (True, False)
    assert whole.constructed is not None
    assert whole.guarantee is not None
    assert whole.constructed.value >= whole.guarantee
    assert short.lemma1.count <= whole.lemma1.count


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


class Vague:
    """Knows nothing: radii above 1, as those of two or three playouts are."""

    def values(self, states: Sequence[Any]) -> list[Value]:
        return [Value(0.5, 1.5) for _ in states]


def test_a_run_of_values_that_are_hardly_known_is_found_again(tmp_path: Path) -> None:
    with open_matchup(GAME) as matchup:
        made = prepare(replace(matchup, value=Vague()), 1, 0.01, save=tmp_path / "run")
    assert made.tree.radius.max() == 1.5
    assert runs.load_run(tmp_path / "run") == made


def test_a_figure_says_what_memory_is_counted_in() -> None:
    for memory in ("histories", "positions"):
        with open_matchup("tic-tac-toe", [f"memory={memory}"]) as matchup:
            for result in (prepare(matchup, 1, 0.02), frontier(matchup, 1, 0.02)):
                assert result.plot_frontier().axes[0].get_xlabel() == f"memorized {memory}"
            limited = prepare(matchup, 1, budget=2)  # it has no cost, but its tree was grown for one
            assert limited.plot_frontier().axes[0].get_xlabel() == f"memorized {memory}"


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
        assert vars(figure)["_repr_png_"]().startswith(b"\x89PNG")  # as notebooks ask for it
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


@pytest.mark.parametrize(("within", "ending"), [(0.0, "complete"), (0.02, "gap")])
def test_a_complete_run_is_not_replaced_by_one_cut_short(
    within: float, ending: str, tmp_path: Path
) -> None:
    with open_matchup("synthetic", ("cost=0.002",)) as matchup:
        whole = prepare(matchup, 1, save=tmp_path / "run", within=within)
        assert whole.ending == ending
        (tmp_path / "run" / "checkpoint.npz").unlink()
        again = prepare(matchup, 1, save=tmp_path / "run", histories=5)
        short = prepare(matchup, 1, histories=5)
    assert short.ending == "histories"
    assert again == whole
    assert runs.load_run(tmp_path / "run") == whole


@pytest.mark.parametrize("work", [prepare, frontier])
def test_a_whole_result_is_not_replaced_by_one_that_was_cut_short(work: Any, tmp_path: Path) -> None:
    with open_matchup("synthetic", ["value=estimate", "judge=exact"]) as matchup:
        whole = work(matchup, 1, 0.02, save=tmp_path / "run")
        assert (whole.ending, whole.judged.left) == ("complete", 0)
        again = work(matchup, 1, 0.02, save=tmp_path / "run", seconds=0.0)
    assert again.ending == "complete"
    same(whole, tmp_path / "run")


def test_memory_by_position_is_refused_where_histories_count() -> None:
    pytest.importorskip("pyspiel")
    with open_matchup("tic-tac-toe", ["memory=positions"]) as matchup:
        for work in (lambda: equilibrium(matchup, 0.3), lambda: bounds(matchup, 1, 0.3)):
            with pytest.raises(InputError, match=r'memory = "positions" has no effect on .* histor'):
                work()


def test_a_whole_mix_is_not_replaced_by_one_that_was_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "hide.json"
    file.write_text(json.dumps(hiding()))
    stop = Stop()
    stop.asked = True
    with open_matchup(str(file)) as matchup:
        whole = harden(matchup, 2, 0.3, save=tmp_path / "run")
        again = harden(matchup, 2, 0.3, save=tmp_path / "run", stop=stop)
        assert whole.unhardened is not None
        assert whole.choosing is not None
        assert again == whole
        same(whole, tmp_path / "run")
        (tmp_path / "run" / "result.json").write_text("{}")  # which is no better
        assert harden(matchup, 2, 0.3, save=tmp_path / "run", stop=stop).unhardened is None
