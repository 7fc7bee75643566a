"""What a sweep is asked for: values, measures and what they need, checked before any work."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from preplay.arguments import (
    as_path,
    check_function,
    check_listed,
    check_made,
    check_number,
    check_whole,
    is_number,
    shown,
)
from preplay.errors import InputError, nearest
from preplay.experiments.figure1 import Reference
from preplay.experiments.measures import BOOK, BOUNDS, EQUILIBRIUM, MEASURES
from preplay.experiments.sweep import Besides, setting_text
from preplay.game import Side, other
from preplay.matchup.model import side_named
from preplay.matchup.settings import saying
from preplay.response import check_cost
from preplay.stopping import Stop
from preplay.theorems import check_theorem1

T = TypeVar("T")
GAP = 1e-4
"""The certified gap that equilibria are solved to unless something else is asked for."""
BUDGETED = tuple(name for name in BOOK if name not in ("baseline", "unprepared"))
"""The measures that a budget has an effect on."""


def several(name: str, given: Any) -> list[Any]:
    """An argument that holds several of something, as a list of plain Python data."""
    check_listed(name, given)
    if getattr(given, "shape", None) == ():  # NumPy's arrays of no dimension cannot be gone through
        raise InputError(f"{name} {shown(given)}; expected a list of them")
    return [python_data(one) for one in given]


def python_data(given: Any) -> Any:
    """The same data with Python's own numbers and lists for those of NumPy."""
    if hasattr(given, "dtype") and hasattr(given, "tolist"):
        return given.tolist()
    if isinstance(given, Mapping):
        return {name: python_data(part) for name, part in given.items()}
    if type(given) in (list, tuple):
        return type(given)(map(python_data, given))
    return given


def values_of(values: Iterable[Any]) -> list[Any]:
    """The values to sweep over, each once and of a kind that JSON can keep."""
    settings = several("values", values)
    if not settings:
        raise InputError("no values; expected at least one to sweep over")
    for setting in settings:
        try:
            json.dumps(setting, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            said = f"value {shown(setting)}; expected what JSON can say, its numbers finite"
            raise InputError(said) from None
    _check_once("value", settings, _same)
    return settings


def _same(setting: Any) -> Any:
    """Equal for values that make equal rows: 1 and 1.0 do, 1 and true do not."""
    return setting if is_number(setting) else (setting_text(setting),)


def _check_once(name: str, items: Iterable[T], same: Callable[[T], Any]) -> None:
    met = set()
    for item in items:
        if same(item) in met:
            raise InputError(f"{name} {shown(item)} is there twice; expected each once")
        met.add(same(item))


def measures_of(measures: Iterable[str]) -> tuple[str, ...]:
    """The measures to tell, each once; InputError for one that sweeps do not have."""
    names = several("measures", measures)
    if not names:
        raise InputError(f"no measures; expected at least one among {', '.join(MEASURES)}")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"measure {shown(name)}; expected a name among {', '.join(MEASURES)}")
        if name not in MEASURES:
            raise InputError(f"measure '{name}'; {nearest(name, MEASURES)}")
    _check_once("measure", names, str)
    return tuple(names)


def besides_of(
    measures: Sequence[str],
    budget: int | None,
    advantage: float | None,
    epsilon: float | None,
    gap: float | None,
) -> Besides:
    """What has to be computed besides the best books, for these measures; what none uses is refused."""
    used = {
        "budget": (budget, BUDGETED),
        "advantage": (advantage, BOUNDS),
        "epsilon": (epsilon, BOUNDS),
        "gap": (gap, EQUILIBRIUM),
    }
    for name, (given, using) in used.items():
        if given is not None and not set(measures) & set(using):
            raise InputError(
                f"{name} {shown(given)} has no effect on {', '.join(measures)}; expected a measure among "
                f"{', '.join(using)}"
            )
    asked = next((name for name in measures if name in BOUNDS), None)
    bounds = None
    if asked is not None:
        if advantage is None or epsilon is None:
            raise InputError(
                f"measure '{asked}' is Theorem 1's; expected an advantage and an epsilon too"
            )
        check_theorem1(advantage, epsilon)
        bounds = python_data(advantage), python_data(epsilon)
    if not any(name in EQUILIBRIUM for name in measures):
        return Besides(bounds)
    check_number("gap", GAP if gap is None else gap)
    return Besides(bounds, GAP if gap is None else python_data(gap))


def check_unsaid(key: str, changes: Sequence[str]) -> None:
    """Raise InputError for a change that says the setting that varies."""
    prices = ("white_cost", "black_cost") if key == "cost" else ()
    for name in (key, *prices):
        if change := saying(name, changes):
            raise InputError(f"change {change} beside a sweep over {key}; expected one of them")


def check_effect(
    key: str,
    cost: float | None,
    side: Side,
    sides: tuple[str, str],
    config: Mapping[str, Any],
    measures: Sequence[str],
) -> None:
    """Raise InputError for a setting that changes nothing of what is measured for a side."""
    if cost is not None and key in ("cost", f"{sides[side - 1]}_cost"):
        swept = "the cost" if key == "cost" else key
        raise InputError(f"cost {cost:g} beside a sweep over {swept}; expected one of them")
    by_position = key == "memory" or config.get("memory") == "positions"
    if by_position and not any(name in BOOK for name in measures):
        told = ", ".join(measures)
        raise InputError(
            f"memory by position has no effect on {told}: each history counts there; expected a measure "
            f"among {', '.join(BOOK)}"
        )
    if any(name in EQUILIBRIUM for name in measures):
        return
    theirs = sides[other(side) - 1]
    table, _, setting = key.partition(".")
    studied = table in (f"{theirs}_prep", f"prep{other(side)}") and setting != "extend"
    value = config.get("value")
    by_games = (
        isinstance(value, Mapping) and value.get("model") == "calibrated"
    )  # both sides prepare there
    if key == f"{theirs}_cost" or (studied and not by_games):
        raise InputError(
            f"key '{key}' has no effect on the preparation of side {sides[side - 1]}; "
            f"expected another key, or a measure among {', '.join(EQUILIBRIUM)}"
        )


def randomness_of(values: Iterable[float]) -> tuple[float, ...]:
    """The values of r of a figure, each once; InputError for one that nobody can play with."""
    found = several("randomness", values)
    for r in found:
        check_number("randomness", r, finite=True)
    _check_once("randomness", found, float)
    return tuple(found)


def colours_of(sides: Iterable[str | int]) -> tuple[Side, ...]:
    """The sides of a figure, by number or colour, each once."""
    names = ("white", "black")
    found = tuple(side_named(str(side), names) for side in several("sides", sides))
    if not found:
        raise InputError("no sides; expected white, black or both")
    _check_once("side", [names[side - 1] for side in found], str)
    return found


def published_of(points: Iterable[Reference]) -> tuple[Reference, ...]:
    """Points to draw as well; InputError for what is none."""
    check_listed("published", points)
    found = tuple(points)
    for point in found:
        check_made("published", point, Reference, "as read_reference gives")
    return found


def price_of(cost: Any) -> float | None:
    """A cost that was given, as Python's number."""
    if cost is not None:
        check_cost(cost)
    price: float | None = python_data(cost)
    return price


def way_of(workers: Any, cluster: Any, store: Any, stop: Any, progress: Any) -> Path | None:
    """The path of the store; InputError for anything that says wrongly how to compute."""
    if workers is not None:
        check_whole("workers", workers, 1)
    if cluster is not None and not isinstance(cluster, str):
        raise InputError(f"cluster {shown(cluster)}; expected local, auto or HOST:PORT of a Ray cluster")
    check_made("stop", stop, Stop, "as preplay.Stop()")
    check_function("progress", progress)
    return None if store is None else as_path("store", store)


def check_no_engines(**given: object) -> None:
    """Raise InputError for what is said about engines where a sweep starts none."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"{name} {shown(value)} has no effect where a sweep starts no engines; expected none"
            )
