"""Wrong arguments of Python functions: preplay's own error, one line that names argument and value."""

from __future__ import annotations

import json
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
    told(preplay.bounds, matchup, 1, histories=0, save=tmp_path / "run")
    told(preplay.prepare, matchup, 1, stop=None, save=tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [3, "", " ", b"runs", ["runs"], "a\0b", "\ud800", True])
def test_paths_that_are_none(matchup: preplay.Matchup[Any], path: Any) -> None:
    expected = f"{shown(path)}; expected a path, as text or Path"
    for call in (preplay.prepare, preplay.frontier, preplay.match, preplay.bounds):
        assert told(call, matchup, side=1, save=path) == f"save {expected}"
    assert told(preplay.equilibrium, matchup, save=path) == f"save {expected}"
    assert told(preplay.sweep, "synthetic", "seed", [1], side=1, save=path) == f"save {expected}"
    assert told(preplay.load_run, path) == f"directory {expected}"
    for load in (preplay.load_book, preplay.load_tree):
        assert told(load, path) == f"path {expected}"


def test_places_where_no_run_can_be(matchup: preplay.Matchup[Any], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("/proc")
    for place in (tmp_path / "file" / "run", tmp_path / ("x" * 300), tmp_path / "link" / "run"):
        with pytest.raises(
            preplay.StoreError, match=r"cannot be .*; expected a directory for the run"
        ) as no:
            preplay.prepare(matchup, 1, save=place)
        assert "\n" not in str(no.value)
    with pytest.raises(preplay.InputError, match="no such run"):
        preplay.load_run(tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    "call",
    [
        preplay.prepare,
        preplay.frontier,
        preplay.bounds,
        preplay.equilibrium,
        preplay.match,
    ],
)
def test_who_stops_and_who_listens(matchup: preplay.Matchup[Any], call: Call) -> None:
    side = {} if call is preplay.equilibrium else {"side": 1}
    for stop in (None, 3):
        assert told(call, matchup, **side, stop=stop) == f"stop {stop}; expected a Stop, as Stop()"
    assert told(call, matchup, **side, progress=3) == "progress 3; expected a function, or None"


def test_who_stops_and_who_listens_while_hiding() -> None:
    changes = ["base.policy=search", "prep.choose=2"]
    with preplay.open_matchup("tic-tac-toe", changes) as hiding:
        assert "a Stop, as Stop()" in told(preplay.harden, hiding, 1, stop=None)
        assert "a function, or None" in told(preplay.harden, hiding, 1, progress=3)


def test_numbers_of_numpy_are_kept(tmp_path: Path) -> None:
    """Whatever numbers they were, a run that is saved with some goes on with others that are equal."""
    half, three = np.float32(0.5), np.int64(3)
    calls: dict[str, tuple[Call, dict[str, Any]]] = {
        "prepare": (preplay.prepare, {"side": 1, "cost": half, "budget": three, "within": half}),
        "equilibrium": (preplay.equilibrium, {"cost": half, "gap": np.float32(1e-3)}),
        "frontier": (preplay.frontier, {"side": 1, "cost": half, "histories": np.int64(10**6)}),
        "bounds": (preplay.bounds, {"side": 1, "cost": half, "advantage": half, "epsilon": half}),
        "match": (preplay.match, {"side": 1, "games": three, "seed": three, "cost": half}),
    }
    with preplay.open_matchup("synthetic", ["length=3"]) as matchup:
        for name, (call, given) in calls.items():
            call(matchup, **given, save=tmp_path / name)
            plain = {key: getattr(number, "item", lambda n=number: n)() for key, number in given.items()}
            again = call(matchup, **plain, save=tmp_path / name)
            assert type(preplay.load_run(tmp_path / name)) is type(again)
    assert json.loads((tmp_path / "prepare" / "run.json").read_text())["identity"]["budget"] == 3


def test_a_cost_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    with preplay.open_matchup("synthetic", ["length=3"]) as matchup:
        for number, more in enumerate(({}, {"budget": 2})):
            for cost in (1, 1.0, np.int64(1)):
                found = preplay.prepare(matchup, 1, cost, save=tmp_path / str(number), **more)  # type: ignore[arg-type]
                assert type(found.cost) is float
        for cost in (1, 1.0):
            preplay.frontier(matchup, 1, cost, save=tmp_path / "frontier")
            preplay.equilibrium(matchup, costs=(cost, cost), save=tmp_path / "equilibrium")


GAMES = ("grow", "Uniform", "SearchPolicy", "MctsPolicy", "Exact", "Playouts", "Clocked")


@pytest.mark.parametrize("name", GAMES)
def test_what_is_no_game(matchup: preplay.Matchup[Any], name: str) -> None:
    more: dict[str, tuple[Any, ...]] = {
        "grow": (1, matchup.base, matchup.prep[0], matchup.value, preplay.Pays(0.01)),
        "SearchPolicy": (1,),
        "MctsPolicy": (1,),
        "Exact": (matchup.base,),
        "Playouts": (matchup.base,),
        "Clocked": ((1, 1),),
    }
    for nothing in (None, 3):
        message = told(getattr(preplay, name), nothing, *more.get(name, ()))
        assert message == f"game {nothing} has no `longest`; expected a game as preplay.Game says"
    kind = type(matchup.game)
    assert told(getattr(preplay, name), kind, *more.get(name, ())) == (
        f"game is the class {kind.__name__}; expected a game, as {kind.__name__}(...)"
    )


def test_what_cannot_be_grown(matchup: preplay.Matchup[Any]) -> None:
    parts = (matchup.base, matchup.prep[0], matchup.value, preplay.Pays(0.01))
    assert told(preplay.grow, matchup.game, 1.0, *parts).startswith("side 1.0; expected 1 or 2")
    assert told(preplay.grow, matchup.game, 3, *parts) == "side 3; expected 1 or 2"
    tree = preplay.grow(matchup.game, 1, *parts).tree
    for side in (1.0, True, "1", None):
        assert told(preplay.best_book, tree, side, 0.01) == f"side {shown(side)}; expected 1 or 2"
        assert told(preplay.evaluate, tree, side, [0]) == f"side {shown(side)}; expected 1 or 2"
    for path in (3, ""):
        assert "expected a path" in told(preplay.grow, matchup.game, 1, *parts, checkpoint=path)
    assert "stop None; expected a Stop" in told(preplay.grow, matchup.game, 1, *parts, stop=None)
    assert "progress 3; expected" in told(preplay.grow, matchup.game, 1, *parts, progress=3)
    assert "expected one as Pays" in told(preplay.grow, matchup.game, 1, *parts[:3], preplay.Advantage)
    for least in (math.nan, -1, 2, "x", None, True):
        expected = f"least {shown(least)}; expected a number in [0, 1]"
        assert told(preplay.Advantage, least) == expected


@pytest.mark.parametrize("nodes", [[10**6], [-1], [0.5], "x", ["x"], 0, None, [[0]], [[0], [0, 1]]])
def test_books_that_are_on_no_tree(contested: Contested, nodes: Any) -> None:
    assert told(preplay.evaluate, contested.tree, 1, nodes).startswith(f"nodes {shown(nodes)}; expected ")


def test_what_is_no_book(matchup: preplay.Matchup[Any], tmp_path: Path) -> None:
    found = preplay.prepare(matchup, 1, 0.01)
    for books in (found.book, None, 3):
        assert told(preplay.merge, books).endswith("; expected a list of them")
    assert told(preplay.merge, [3]) == "book 3; expected a Book, as prepare(...).book is"
    assert told(preplay.merge, []) == "no books to merge; expected at least one"
    assert preplay.merge([found.book]).size == found.size
    assert preplay.evaluate(found.tree, 1, []) == pytest.approx(found.unprepared)  # type: ignore[arg-type]
    for none in (None, found):
        assert "expected a Book" in told(preplay.save_book, none, tmp_path / "book.json")
        assert "expected a Book" in told(preplay.draw, none, np.random.default_rng(0))
    assert told(preplay.draw, found.book, 0) == (
        "rng 0; expected a Generator, as numpy.random.default_rng(0)"
    )
    assert not list(tmp_path.iterdir())


def constructors(matchup: preplay.Matchup[Any]) -> list[tuple[Call, tuple[Any, ...], dict[str, Any]]]:
    """What opens the front door, with arguments that are right."""
    game, base = matchup.game, matchup.base
    plays = preplay.Playouts(game, base)
    return [
        (preplay.SearchPolicy, (game, 1), {"depth": ("x", 1.5), "seed": ("x",), "evaluate": (3,)}),
        (preplay.MctsPolicy, (game, 1), {"simulations": ("x", 0, 1.5), "seed": ("x", None)}),
        (preplay.Rollouts, (game, plays, 5, 0.1), {"samples": ("x", 0), "delta": ("x", 2)}),
        (preplay.AdaptiveRollouts, (game, plays, 0.1), {"first": ("x", -1), "delta": (None,)}),
        (preplay.Playouts, (game, base), {"base": (base[0], None, (base[0], 3)), "seed": (0.5,)}),
        (preplay.Exact, (game, base), {"base": (base[0], base * 2), "most": ("x",), "key": (3,)}),
        (preplay.Clocked, (game, (5, 5)), {"budget": (("x", 1), 5, (1,), (1.5, 1), (-1, 1))}),
        (preplay.Clocked, (game, (5, 5)), {"levels": (("x",), 3, (0,), (2, 1), (1.5,))}),
        (preplay.Judge, (matchup.value, matchup.value), {"value": (3,), "fresh": (None,)}),
        (preplay.Judge, (matchup.value, matchup.value), {"doubt": (-1, "x", math.nan)}),
    ]


def test_constructors_name_what_is_wrong(matchup: preplay.Matchup[Any]) -> None:
    for build, right, wrong in constructors(matchup):
        good = build(*right)
        for name, values in wrong.items():
            for value in values:
                message = told(replace, good, **{name: value})
                what = {"levels": "times", "budget": "clock "}.get(name, name)
                assert what in message, message
                assert "; expected " in message


def test_functions_that_are_none(matchup: preplay.Matchup[Any]) -> None:
    assert told(preplay.ValueFunction, 3) == "value 3; expected a function from a state to a number"
    assert told(preplay.PolicyFunction, None).startswith("policy None; expected a function from a state")
    assert told(preplay.openspiel, 3) == "game 3; expected a name of OpenSpiel's, as text"
    nothing: tuple[Any, ...] = ([], {}, {"a": 1.0}, "ab", ["a"], 3, None, [1.0, math.nan], [math.inf])
    for scores in nothing:
        expected = f"scores {shown(scores)}; expected a list of at least one number"
        assert told(preplay.softmax, scores, 1) == expected
    for randomness in (-1, math.nan, "x", None):
        assert told(preplay.softmax, [1.0], randomness).startswith(f"randomness {shown(randomness)}; ")
    assert preplay.softmax(np.array([1.0, 1.0]), 1) == [0.5, 0.5]  # type: ignore[arg-type]


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
