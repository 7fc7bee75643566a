"""One setting over many values, and the paper's Figure 1."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from preplay.arguments import as_path, check_flag, check_whole, shown
from preplay.errors import InputError
from preplay.experiments import figure1 as experiment
from preplay.experiments.asking import (
    besides_of,
    check_effect,
    check_no_engines,
    check_unsaid,
    colours_of,
    measures_of,
    price_of,
    published_of,
    randomness_of,
    several,
    values_of,
    way_of,
)
from preplay.experiments.figure1 import Reference
from preplay.experiments.sweep import (
    Besides,
    Opening,
    Point,
    Task,
    determine,
    run_tasks,
)
from preplay.growth.goals import Limits
from preplay.machine import cores
from preplay.matchup import Matchup, load_config
from preplay.matchup.model import side_named
from preplay.matchup.own import check_arguments
from preplay.matchup.settings import PRICES, check_price, saying, validate
from preplay.matchup.source import BY_ENGINES, sides_of
from preplay.response import check_budget, check_cost
from preplay.runs.directory import POINTS, Run, start
from preplay.runs.keeping import save as keep
from preplay.runs.swept import MEASURED, SweepProgress, SweepResult
from preplay.stopping import NEVER, Stop

Source = str | Path | Matchup[Any] | Callable[..., Matchup[Any]]
"""What can be swept: what `open_matchup` takes, a matchup, or a function that builds one."""


def sweep(
    source: Source,
    key: str,
    values: Iterable[Any],
    *,
    side: str | int,
    measures: Iterable[str] = MEASURED,
    cost: float | None = None,
    budget: int | None = None,
    advantage: float | None = None,
    epsilon: float | None = None,
    gap: float | None = None,
    changes: Iterable[str] = (),
    histories: int | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    store: str | Path | None = None,
    save: str | Path | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> SweepResult:
    """The best book of a side at each value of one setting.

    `source` is what `open_matchup` takes, and `key` a setting as in `black.randomness`, or `cost`: points
    are then computed on all cores. Or it is a function of one's own that builds a matchup, and `key` the
    name of its argument. Of a matchup that is open only the `cost` can vary. `measures` of Theorem 1 need
    its `advantage` and `epsilon`; those of the equilibrium are to within `gap` (1e-4). With `save` the
    points are kept in that directory, and the same call goes on from there. `progress` hears of each.
    """
    if not isinstance(key, str):
        raise InputError(f"key {shown(key)}; expected a setting by its name, as 'black.randomness'")
    measures, values, changes = measures_of(measures), values_of(values), several("changes", changes)
    cost = price_of(cost)
    check_budget(budget)
    besides = besides_of(measures, budget, advantage, epsilon, gap)
    limits, kept = Limits(histories, seconds), way_of(workers, cluster, store, stop, progress)
    if isinstance(source, str | Path):
        name, config = load_config(source, changes)
        check_unsaid(key, changes)
        check_price(cost, changes)
        if config.get("kind") not in BY_ENGINES:
            check_no_engines(store=store)  # not the cluster, which may be the environment's word
        sides, opening = sides_of(config), None
    else:
        check_no_engines(store=store, cluster=cluster)
        opening = _opening(source, key, changes)
        name, sides = _known(source, key, values)
        config = {}
    who = side_named(str(side), sides)
    check_effect(key, cost, who, sides, config, measures)
    tasks = []
    for setting in values:
        price, changed = cost, config
        if key == "cost":
            price = _cost(setting)
        elif isinstance(source, str | Path):
            _, changed = load_config(source, [*changes, f"{key}={json.dumps(setting)}"])
        task = Task(name, changed, who, key, setting, price, budget, kept, limits, sides[who - 1])
        tasks.append(replace(task, besides=besides))
    results = determine(tasks) if opening is None else determine(tasks, opening)
    identity = {
        **results.shared,
        "side": who,
        "key": key,
        "values": list(values),
        "own": results.own,
        "budget": budget,
        "histories": histories,
        "seconds": seconds,
    } | ({} if besides == Besides() else {"besides": asdict(besides)})
    run = (
        start(as_path("save", save), "sweep", name, identity, results.versions)
        if save is not None
        else None
    )
    points = _computed(tasks, run, workers, cluster, stop, progress, opening)
    result = SweepResult(
        key=key,
        points=tuple(points),
        measures=measures,
        columns=measures,
        cost=results.shared.get("cost"),
        name=name,
        run=run,
    )
    if run is not None:
        keep(run, result)
    return result


def _opening(source: Any, key: str, changes: Sequence[str]) -> Opening:
    """How the tasks of a sweep over one's own game come to their matchups."""
    if isinstance(source, AbstractContextManager):
        raise InputError(
            "source is a matchup that is not open; expected its name, or the matchup: open it in a `with`"
        )
    if not callable(source) and not isinstance(source, Matchup):
        raise InputError(f"source {shown(source)}; expected a name, a file, a matchup or a function")
    if changes:
        raise InputError(f"changes {shown(changes[0])} of a matchup of one's own; expected none")
    if isinstance(source, Matchup):
        if key != "cost":
            raise InputError(
                f"key '{key}' of a matchup that is open, where only the cost can vary; "
                "expected a function that builds the matchup"
            )
        return lambda task: nullcontext(source)
    return lambda task: nullcontext(_built(source, key, task.setting))


def _built(source: Callable[..., Matchup[Any]], key: str, setting: Any) -> Matchup[Any]:
    given = {} if key == "cost" else {key: setting}
    check_arguments(source, given, f"key '{key}'" if given else "source")
    matchup = source(**given)
    if not isinstance(matchup, Matchup):
        raise InputError(f"{source!r} gives {type(matchup).__name__}; expected a preplay.Matchup")
    return matchup


def _known(
    source: Matchup[Any] | Callable[..., Matchup[Any]], key: str, values: Sequence[Any]
) -> tuple[str, tuple[str, str]]:
    """The name and the sides of one's own matchup."""
    first = source if isinstance(source, Matchup) else _built(source, key, values[0])
    return first.name, first.sides


PAPER_NODES = ("white.nodes=4000", "black.nodes=4000", "prep.nodes=20000")
AS_PUBLISHED = ("judge=false", "value.model=linear")
"""The paper takes values as they are: no second opinions, no calibration, unless asked for."""
QUICK_NODES = ("white.nodes=1500", "black.nodes=1500", "prep.nodes=6000")


def figure1(
    spec: str = "chess",
    *,
    quick: bool = False,
    sides: Iterable[str | int] = (1, 2),
    cost: float | None = None,
    randomness: Iterable[float] = (),
    changes: Iterable[str] = (),
    published: Iterable[Reference] = (),
    fresh: int = 0,
    histories: int | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    store: str | Path | None = None,
    save: str | Path | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> SweepResult:
    """The paper's Figure 1: the best books of both sides against how randomly the opponent plays.

    `quick` takes fewer values of r and fewer nodes; `published` points are drawn as well. So many books
    as `fresh` says are valued again by searches that took no part in choosing them. With `histories` or
    `seconds` each point stops there, with the best so far and its certified bound.
    """
    values = randomness_of(randomness) or (experiment.QUICK if quick else experiment.FULL)
    colours, drawn, limits = colours_of(sides), published_of(published), Limits(histories, seconds)
    check_whole("fresh", fresh)
    check_flag("quick", quick)
    price = price_of(cost) or (1e-3 if quick else 1e-4)
    kept = way_of(workers, cluster, store, stop, progress)
    nodes = QUICK_NODES if quick else PAPER_NODES
    own = (*nodes, *AS_PUBLISHED) if spec == "chess" else ()
    name, config = load_config(spec, changes := several("changes", changes), usual=own)
    if config.get("kind") != "chess":
        raise InputError(f"matchup '{spec}' is not chess; use `preplay sweep` for other games")
    for side in colours:
        check_unsaid("black.randomness" if side == 1 else "white.randomness", changes)
    if change := next((c for key in PRICES if (c := saying(key, changes))), None):
        raise InputError(
            f"change {change}: a figure has one cost for both sides; expected it as its cost"
        )
    config["cost"] = price
    tasks = experiment.tasks(name, config, values, colours, price, kept, limits, fresh)
    from preplay.matchup.chess_settings import Chess  # and with it all that chess needs

    for task in tasks:
        validate(Chess, task.config, "chess matchup")
    results = determine([replace(tasks[0], config=config)])
    identity = {**results.shared, "randomness": list(values), "sides": list(colours)}
    asked = {"fresh": fresh or None, "histories": histories, "seconds": seconds}
    identity |= {name: given for name, given in asked.items() if given is not None}
    run = (
        start(as_path("save", save), "figure1", name, identity, results.versions)
        if save is not None
        else None
    )
    points = _computed(tasks, run, workers, cluster, stop, progress)
    result = SweepResult(
        key="randomness",
        points=tuple(p for curve in experiment.by_side(points).values() for p in curve),
        measures=experiment.with_fresh(MEASURED, points),
        columns=experiment.with_fresh(experiment.COLUMNS, points),
        command="figure1",
        cost=price,
        published=drawn,
        name=name,
        run=run,
    )
    if run is not None:
        keep(run, result)
    return result


def _computed(
    tasks: Sequence[Task],
    run: Run | None,
    workers: int | None,
    cluster: str | None,
    stop: Stop,
    progress: Callable[[object], None] | None,
    opening: Opening | None = None,
) -> list[Point]:
    """The points of the tasks, in their order; a run's own are not computed again."""

    def tell(point: Point, done: int, total: int) -> None:
        if progress is not None:
            progress(SweepProgress(point, done, total))

    kept = run.path(POINTS) if run else None
    if cluster is None:
        return run_tasks(tasks, workers or cores(), kept, stop=stop, tell=tell, opening=opening)
    from preplay.chess.engines.joining import shared

    with shared(cluster, workers) as (address, engines):  # a few drivers share what the cluster has
        drivers = max(1, min(cores(), engines, len(tasks)))
        spread = [replace(task, cluster=address, engines=engines // drivers) for task in tasks]
        return run_tasks(spread, drivers, kept, stop=stop, tell=tell, opening=opening)


def _cost(setting: Any) -> float:
    if isinstance(setting, bool) or not isinstance(setting, (int, float)):
        raise InputError(f"values: {json.dumps(setting)}; expected a number as cost")
    check_cost(setting)
    return setting
