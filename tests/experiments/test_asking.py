"""Sweeps and Figure 1 from Python: what is refused before any work, and what sides are called."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweeppoints import point

import preplay
from preplay.book import Book, Entry
from preplay.errors import InputError
from preplay.experiments.asking import check_effect
from preplay.experiments.figure1 import Reference
from preplay.experiments.sweep import Determined, Point, Task
from preplay.report.gather import gather
from preplay.runs import as_data
from preplay.runs.tables import book_table

SMALL: dict[str, Any] = {"side": 1, "changes": ["length=4"], "workers": 1}


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        work()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def build(seed: int = 1) -> preplay.Matchup[Any]:
    with preplay.open_matchup("synthetic", ["length=4", f"seed={seed}"]) as matchup:
        return matchup


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": 3}, "key 3; expected a setting by its name"),
        ({"measures": [3]}, "measure 3; expected a name among value, size"),
        ({"measures": [["net"]]}, "measure ['net']; expected a name among"),
        ({"measures": []}, "no measures; expected at least one among value, size"),
        ({"measures": "net"}, "measures 'net'; expected a list of them"),
        ({"measures": ["net", "size", "net"]}, "measure 'net' is there twice; expected each once"),
        ({"key": "seed", "cost": "x"}, "cost 'x'; expected a finite number above 0"),
        ({"cost": "x"}, "cost 'x'; expected"),
        ({"values": 3}, "values 3; expected a list of them"),
        ({"values": np.array(3)}, "values array(3); expected a list of them"),
        ({"values": [0.1, 0.2, 1e-1]}, "value 0.1 is there twice; expected each once"),
        ({"values": np.array([0.1, 0.1])}, "value 0.1 is there twice"),
        ({"key": "seed", "values": [[1], [1]]}, "value [1] is there twice"),
        ({"key": "seed", "values": [object]}, "value <class 'object'>; expected what JSON can say"),
        (
            {"key": "seed", "values": [np.nan]},
            "value nan; expected what JSON can say, its numbers finite",
        ),
        ({"progress": 3}, "progress 3; expected a function"),
        ({"stop": 3}, "stop 3; expected a Stop"),
        ({"store": 3}, "store 3; expected a path"),
        ({"store": "x.sqlite"}, "store 'x.sqlite' has no effect where a sweep starts no engines"),
        ({"cluster": 3}, "cluster 3; expected local, auto or HOST:PORT"),
        ({"workers": 0}, "workers 0; expected a whole number of at least 1"),
        ({"changes": "length=4"}, "changes 'length=4'; expected a list of them"),
        ({"changes": 3}, "changes 3; expected a list of them"),
        ({"side": 3}, "side '3'; expected 1 or 2"),
        ({"budget": 3, "measures": ["equilibrium"]}, "budget 3 has no effect on equilibrium; expected"),
        ({"cost": 0.1}, "cost 0.1 beside a sweep over the cost; expected one of them"),
        ({"changes": ["cost=1"]}, "change cost=1 beside a sweep over cost; expected one of them"),
        ({"key": "seed", "cost": 0.1, "changes": ["cost=1"]}, "cost 0.1 and change cost=1; expected one"),
        ({"key": "seed", "values": [1], "changes": ["seed=2"]}, "change seed=2 beside a sweep over seed"),
        (
            {"source": "chess", "key": "prep.nodes", "values": [5], "changes": ["prep.depth=3"]},
            "prep: expected exactly one of nodes, depth, milliseconds",
        ),
        (
            {"source": "tic-tac-toe", "key": "memory", "changes": (), "measures": ["equilibrium"]},
            "memory by position has no effect on equilibrium: each history counts there",
        ),
        (
            {"source": "chess", "changes": ["memory=positions"], "measures": ["equilibrium"]},
            "memory by position has no effect on equilibrium: each history counts there",
        ),
        ({"source": preplay.open_matchup("synthetic")}, "open it in a `with`"),
        ({"source": 3}, "source 3; expected a name, a file, a matchup or a function"),
        ({"source": build}, "changes 'length=4' of a matchup of one's own; expected none"),
        ({"source": build, "changes": (), "store": "x"}, "store 'x' has no effect"),
        ({"source": build, "changes": (), "cluster": "auto"}, "cluster 'auto' has no effect"),
        ({"source": build(), "changes": (), "store": "x"}, "store 'x' has no effect"),
    ],
)
def test_a_sweep_refuses_in_one_line(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    asked = {"source": "synthetic", "key": "cost", "values": [0.1], "save": tmp_path / "run"}
    assert message in refused(lambda: preplay.sweep(**{**asked, **SMALL, **change}))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sides": (3,)}, "side '3'; expected white or black"),
        ({"sides": 1}, "sides 1; expected a list of them"),
        ({"sides": "white"}, "sides 'white'; expected a list of them"),
        ({"sides": ()}, "no sides; expected white, black or both"),
        ({"sides": ("white", 1)}, "side 'white' is there twice; expected each once"),
        ({"randomness": 3}, "randomness 3; expected a list of them"),
        ({"randomness": ["x"]}, "randomness 'x'; expected a finite number of at least 0"),
        ({"randomness": [1, -1]}, "randomness -1; expected a finite number of at least 0"),
        ({"randomness": [1, 1.0]}, "randomness 1.0 is there twice"),
        ({"fresh": "x"}, "fresh 'x'; expected a whole number of at least 0"),
        ({"fresh": -1}, "fresh -1; expected a whole number of at least 0"),
        ({"published": 3}, "published 3; expected a list of them"),
        ({"published": [3]}, "published 3; expected a Reference"),
        ({"cost": "x"}, "cost 'x'; expected a finite number above 0"),
        ({"quick": "x"}, "quick 'x'; expected True or False"),
        ({"progress": 3}, "progress 3; expected a function"),
        ({"stop": 3}, "stop 3; expected a Stop"),
        ({"store": 3}, "store 3; expected a path"),
        ({"spec": "synthetic"}, "is not chess"),
        ({"changes": ["cost=1"]}, "change cost=1: a figure has one cost for both sides"),
        (
            {"changes": ['black={"randomness": 3}'], "sides": ["white"]},
            'change black={"randomness": 3} beside a sweep over black.randomness; expected one of them',
        ),
        ({"changes": ["black.opponent=x.json"]}, "black: randomness = 0.1 has no effect here"),
    ],
)
def test_figure_1_refuses_in_one_line(change: dict[str, Any], message: str) -> None:
    assert message in refused(lambda: preplay.figure1(**change))


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (("white",), ["white"]),
        (["black", "white"], ["white", "black"]),
        (np.array([2]), ["black"]),
        ((1, "2"), ["white", "black"]),
    ],
)
def test_figure_1_takes_sides_and_numbers_as_they_are_written_elsewhere(
    sides: Any, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No engine is asked: points are made up from the tasks."""
    asked: list[Task] = []

    def points(tasks: Sequence[Task], *given: object, **named: object) -> list[Point]:
        asked.extend(tasks)
        return [point(task.label, task.setting) for task in tasks]

    monkeypatch.setattr("preplay.runs.sweeps.determine", lambda tasks: Determined({}, {}, {}))
    monkeypatch.setattr("preplay.runs.sweeps.run_tasks", points)
    published = [Reference("white", 1.0, 0.5, 3)]
    values = np.array([0.5, 2], dtype=np.float32)
    found = preplay.figure1(sides=sides, randomness=values, published=published, cost=np.float64(0.1))
    rows = json.loads(json.dumps(as_data(found)))["points"]
    assert [row["side"] for row in rows] == [side for side in expected for _ in (0, 1)]
    assert {row["randomness"] for row in rows} == {0.5, 2.0}
    assert {task.config[{1: "black", 2: "white"}[task.side]]["randomness"] for task in asked} == {0.5, 2}
    assert found.published == tuple(published)
    assert set(found.to_pandas()["side"]) == set(expected)
    assert found.plot().axes[0].get_title(loc="left") == f"{expected[0].capitalize()} prepares"


@pytest.mark.parametrize(
    ("key", "values", "plain"),
    [
        ("seed", np.arange(2), [0, 1]),
        ("randomness", np.array([0.5, 0.25], dtype=np.float32), [0.5, 0.25]),
        ("cost", [np.float64(0.5), np.float32(0.25)], [0.5, 0.25]),
        ("seed", (k for k in (1, 2)), [1, 2]),
    ],
)
def test_numbers_of_numpy_are_plain_numbers(
    key: str, values: Any, plain: list[Any], tmp_path: Path
) -> None:
    more: dict[str, Any] = {} if key == "cost" else {"cost": np.float32(0.5)}
    found = preplay.sweep("synthetic", key, values, **SMALL, **more, save=tmp_path / "run")
    rows = json.loads((tmp_path / "run" / "result.json").read_text())["points"]
    assert [row[key] for row in rows] == plain
    assert [type(p.setting) for p in found.points] == list(map(type, plain))
    assert preplay.load_run(tmp_path / "run") == found


def test_a_function_gets_plain_numbers_in_whatever_holds_them() -> None:
    heard: list[Any] = []

    def builder(what: Any) -> preplay.Matchup[Any]:
        heard.append(what)
        return build()

    values = [np.int64(3), [np.int64(1), 2], (np.float32(0.5),), {"a": np.bool_(True)}, np.eye(1)]
    preplay.sweep(builder, "what", values, side=1)
    assert json.dumps(heard[-5:]) == '[3, [1, 2], [0.5], {"a": true}, [[1.0]]]'


def test_true_and_one_are_two_values() -> None:
    found = preplay.sweep(lambda what: build(), "what", [1, True, "a", None], side=1)
    assert [p.label for p in found.points] == ["1", "true", "a", "null"]


def test_a_side_is_called_the_same_everywhere(tmp_path: Path) -> None:
    found = preplay.sweep("synthetic", "seed", [1, 2], **SMALL, save=tmp_path / "run")
    prepared = preplay.prepare(build(), 1)
    assert as_data(prepared)["side"] == 1
    for result in (found, preplay.load_run(tmp_path / "run")):
        assert [row["side"] for row in as_data(result)["points"]] == [1, 1]
        assert result.to_pandas()["side"].tolist() == [1, 1]
    assert prepared.to_pandas()["side"].tolist() == [1] * prepared.size
    assert gather(tmp_path / "run")["series"][0]["side"] == 1


def test_runs_that_kept_a_side_as_text_are_found_and_go_on(tmp_path: Path) -> None:
    asked: dict[str, Any] = {**SMALL, "save": tmp_path / "run"}
    found = preplay.sweep("synthetic", "seed", [2, 1], **asked)
    for name in ("points.jsonl", "result.json"):
        path = tmp_path / "run" / name
        text = path.read_text()
        assert '"side": 1' in text
        path.write_text(text.replace('"side": 1', '"side": "1"'))
    old = preplay.load_run(tmp_path / "run")
    assert old == found
    assert [p.side for p in old.points] == [1, 1]
    heard: list[object] = []
    assert preplay.sweep("synthetic", "seed", [2, 1], **asked, progress=heard.append) == found
    assert heard == []  # nothing was computed again
    assert '"side": 1' in (tmp_path / "run" / "result.json").read_text()


def test_a_table_of_a_chess_book_has_its_colour() -> None:
    entry = Entry(("e2e4",), {"e7e5": 1.0}, 0.5, 0.1, 0.4)
    book = Book(2, (entry,), 0.5, 0.6, 0.01, 0.6)

    def side(**more: Any) -> list[Any]:
        return list(book_table(replace(book, **more))["side"])

    assert side() == [2]
    assert side(start="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1") == ["black"]
    for matchup, label in (
        ({"kind": "chess"}, "black"),
        ({"kind": "python", "sides": ["better", "guesser"]}, "guesser"),
        ({"kind": "synthetic"}, 2),
    ):
        assert side(provenance={"identity": {"matchup": matchup}}) == [label]


@pytest.mark.parametrize(
    ("key", "change", "told"),
    [
        ("white_cost", {"cost": 0.1}, "cost 0.1 beside a sweep over white_cost; expected one of them"),
        ("black_cost", {}, "key 'black_cost' has no effect on the preparation of side white; expected"),
        ("black_prep.nodes", {}, "key 'black_prep.nodes' has no effect on the preparation of side white"),
    ],
)
def test_what_the_other_side_does_with_its_preparation_has_no_effect(
    key: str, change: dict[str, Any], told: str
) -> None:
    linear = ("value.model=linear",)
    assert told in refused(
        lambda: preplay.sweep("chess", key, [0.1, 0.2], side="white", changes=linear, **change)
    )


def test_whose_preparation_a_key_is_about() -> None:
    book, both = ("value",), ("equilibrium",)
    config: dict[str, Any] = {"value": {"model": "linear"}}
    sides = ("white", "black")
    for key in ("white_cost", "white_prep.nodes", "prep.nodes", "black.nodes", "black_prep.extend"):
        check_effect(key, None, 1, sides, config, book)
    for key in ("black_cost", "black_prep.nodes", "prep2.depth"):
        check_effect(key, None, 1, sides, config, both)
        with pytest.raises(InputError, match="has no effect"):
            check_effect(key, None, 1, sides, config, book)
    check_effect("black_prep.nodes", None, 1, sides, {"value": {"model": "calibrated"}}, book)
    check_effect("luck", None, 1, ("1", "2"), {"value": "estimate"}, book)


def test_each_measure_is_marked_by_the_work_that_it_rests_on() -> None:
    counted = replace(point("a", 0.5), ending="lemma 1: histories")
    assert [counted.cut(name) for name in ("value", "entropy", "reached", "equilibrium")] == [
        *(False, False, True, False)
    ]
    bounded = replace(counted, ending="seconds, bounds: histories")
    assert [bounded.cut(name) for name in ("value", "entropy", "reached", "equilibrium")] == [
        *(True, True, False, False)
    ]
