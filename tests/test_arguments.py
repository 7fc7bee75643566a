"""Wrong arguments of Python functions: preplay's own error, one line that names argument and value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import preplay
from preplay.arguments import check_both, check_number, check_whole, shown
from preplay.growth import Contested

Call = Callable[..., Any]  # with arguments of any kind: that they are wrong is the point
WHOLE = (2.5, -1, math.nan, True, "3", [1])
NUMBERS = (-1, math.nan, "x", True)
PREPARE: dict[str, tuple[Any, ...]] = {
    "budget": WHOLE,
    "cost": (*NUMBERS, 0, math.inf, [0.1]),
    "histories": (*WHOLE, 0),
    "seconds": NUMBERS,
    "within": (*NUMBERS, None),
}
EQUILIBRIUM: dict[str, tuple[Any, ...]] = {
    "costs": ((0.01,), 0.01, (), "ab", (0.1, 0.1, 0.1), (0.1, None)),
    "gap": (*NUMBERS, None),
    "iterations": (2.5, -1, math.nan),
    "histories": (-3, 0),
    "seconds": NUMBERS,
}
SWEEP: dict[str, tuple[Any, ...]] = {
    "values": (3, "12", None, {}),
    "measures": ("value", 3),
    "budget": WHOLE,
    "histories": (-3,),
    "seconds": NUMBERS,
    "workers": (0, -1, 2.5),
}


@pytest.fixture(scope="module")
def matchup() -> preplay.Matchup[Any]:
    with preplay.open_matchup("synthetic", ["length=3"]) as opened:
        return opened


@pytest.fixture(scope="module")
def contested(matchup: preplay.Matchup[Any]) -> Contested:
    return preplay.grow_contested(matchup.game, matchup.base, matchup.prep, matchup.value, (0.01, 0.01))


def told(call: Call, *words: Any, **more: Any) -> str:
    """The one line of the error."""
    with pytest.raises(preplay.InputError) as caught:
        call(*words, **more)
    message = str(caught.value)
    assert "\n" not in message
    assert "--" not in message  # Python has no options
    assert len(message) < 200
    return message


def cases(table: dict[str, tuple[Any, ...]]) -> list[tuple[str, Any]]:
    return [(name, value) for name, values in table.items() for value in values]


@pytest.mark.parametrize(("name", "value"), cases(PREPARE))
def test_prepare_names_what_is_wrong(matchup: preplay.Matchup[Any], name: str, value: Any) -> None:
    message = told(preplay.prepare, matchup, 1, **{name: value})
    assert message.startswith(f"{name} {shown(value)}; expected a ")


@pytest.mark.parametrize("name", ["cost", "histories", "seconds"])
def test_so_does_frontier(matchup: preplay.Matchup[Any], name: str) -> None:
    assert told(preplay.frontier, matchup, 1, **{name: -1}).startswith(f"{name} -1; expected a ")


@pytest.mark.parametrize(("name", "value"), cases(EQUILIBRIUM))
def test_so_does_equilibrium(matchup: preplay.Matchup[Any], name: str, value: Any) -> None:
    message = told(preplay.equilibrium, matchup, **{name: value})
    assert message.startswith(f"{name} {shown(value)}; expected ")


@pytest.mark.parametrize(("name", "value"), cases(SWEEP))
def test_so_does_sweep(name: str, value: Any) -> None:
    given: dict[str, Any] = {"key": "seed", "values": [1], "side": 1, name: value}
    assert told(preplay.sweep, "synthetic", **given).startswith(f"{name} {shown(value)}; expected ")


def test_nothing_is_begun_with_wrong_arguments(matchup: preplay.Matchup[Any], tmp_path: Path) -> None:
    told(preplay.prepare, matchup, 1, within=-1, save=tmp_path / "run")
    told(preplay.frontier, matchup, 1, seconds=-1, save=tmp_path / "run")
    told(preplay.equilibrium, matchup, gap=math.nan, save=tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [3, "", " ", b"runs", ["runs"]])
def test_paths_that_are_none(matchup: preplay.Matchup[Any], path: Any) -> None:
    expected = f"{shown(path)}; expected a path, as text or Path"
    for call in (preplay.prepare, preplay.frontier, preplay.match, preplay.bounds):
        assert told(call, matchup, side=1, save=path) == f"save {expected}"
    assert told(preplay.equilibrium, matchup, save=path) == f"save {expected}"
    assert told(preplay.sweep, "synthetic", "seed", [1], side=1, save=path) == f"save {expected}"
    assert told(preplay.load_run, path) == f"directory {expected}"
    for call in (preplay.load_book, preplay.load_tree):
        assert told(call, path) == f"path {expected}"


def test_arguments_that_are_swapped_or_forgotten(
    matchup: preplay.Matchup[Any], contested: Contested
) -> None:
    tree, solve, best = contested.tree, preplay.solve, preplay.best_book
    assert told(solve, tree, 0.005) == "costs 0.005; expected two numbers, one for each side"
    assert told(solve, (0.01, 0.01), tree) == "tree (0.01, 0.01); expected a Tree, as grow(...).tree is"
    assert "expected a Tree" in told(solve, contested, (0.01, 0.01))
    assert told(solve, tree, (0.01, 0.01), seconds=-1) == "seconds -1; expected a number of at least 0"
    assert "expected a Tree" in told(best, 1, tree, 0.01)
    assert told(best, tree, 1, 0.01, 2.5) == "budget 2.5; expected a whole number of at least 0"
    assert "expected a Tree" in told(preplay.theorem1, 1, tree, 0.5, 0.5, 3)
    assert "expected a Tree" in told(preplay.evaluate, 1, tree, [0])
    assert told(preplay.theorem2, math.nan, 0.5, 0.1, 3) == "advantage nan; expected a finite number"
    assert "value 'x'; expected a finite number" in told(preplay.entropy_floor, 0.5, "x", 0.1, 3)
    for call in (preplay.prepare, preplay.frontier, preplay.equilibrium, preplay.match):
        assert told(call, "chess", 1).startswith("matchup 'chess'; expected a Matchup, as make_matchup")
    assert "open_matchup in a `with`" in told(preplay.prepare, preplay.open_matchup("synthetic"), 1)
    assert told(preplay.prepare, matchup, matchup).startswith("side 'Matchup(")
    grow = (matchup.game, 1, matchup.base, matchup.prep[0], matchup.value, preplay.Pays(0.01))
    assert told(preplay.grow, *grow, 5) == "limits 5; expected a Limits, as Limits(histories=1000)"
    both = (matchup.game, matchup.base, matchup.prep, matchup.value)
    assert told(preplay.grow_contested, *both, 0.01).startswith("costs 0.01; expected two numbers")
    assert told(preplay.match, matchup, sprt=3) == "sprt 3; expected two numbers, elo0 and elo1"
    assert told(preplay.match, matchup, seed=2.5).startswith("seed 2.5; expected a whole number")
    assert told(preplay.sweep, 3, "cost", [0.1], side=1).startswith("source 3; expected a name, a file")
    assert told(preplay.open_matchup("synthetic", "length=3").__enter__).startswith(
        "changes 'length=3'; "
    )
    assert told(preplay.open_matchup("synthetic", [3]).__enter__).startswith("change 3; ")  # type: ignore[list-item]
    assert told(preplay.open_matchup(3).__enter__).startswith("matchup 3; ")  # type: ignore[arg-type]


def test_errors_name_no_option_of_a_command(matchup: preplay.Matchup[Any]) -> None:
    """`told` refuses those."""
    free = replace(matchup, costs=(None, None))
    assert told(preplay.prepare, free, 1) == "no cost for side 1; expected one, given or in the matchup"
    assert told(preplay.equilibrium, matchup, 0.1, costs=(0.1, 0.1)).startswith("cost and costs are both")
    assert told(preplay.sweep, "synthetic", "cost", ["a"], side=1).startswith('values: "a"; expected')
    assert told(preplay.load_run, "nowhere").startswith("nowhere: no such run")
    assert told(preplay.open_matchup("synthetic", ["length"]).__enter__).startswith("change length; ")


def test_numbers_of_numpy_are_numbers(contested: Contested) -> None:
    check_whole("budget", np.int64(3))
    check_number("cost", np.float32(0.5), above=True, finite=True)
    check_both("costs", np.array([0.1, 0.2]))
    assert preplay.solve(contested.tree, np.array([0.01, 0.02])).gap < 1e-6  # type: ignore[arg-type]
    with preplay.open_matchup("synthetic") as matchup:
        found = preplay.prepare(matchup, 1, np.float32(0.01))  # type: ignore[arg-type]
        assert found.net == preplay.prepare(matchup, 1, float(np.float32(0.01))).net


def test_a_path_names_a_matchup_too(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text("kind = 'synthetic'\nlength = 2\ncost = 0.1\n")
    with preplay.open_matchup(file) as opened:
        assert opened.name == "small"
