"""Checkpoints of a growth: written so that a kill leaves a whole one, read back to go on."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from preplay.files import write_arrays
from preplay.game import S, Side
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder, check_counts
from preplay.growth.columns import read_columns, reading
from preplay.growth.front import FIRST, Front
from preplay.growth.intervals import BOUNDS
from preplay.growth.met import KEPT
from preplay.growth.sharing import Pools
from preplay.growth.window import Window
from preplay.value import Remembering


def save(front: Front[S], window: Window[S], path: Path) -> None:
    """Write what is known, with bounds as out of date as they are and questions in the order asked.

    So a growth that goes on from here takes the very same steps as one that was never interrupted.
    """
    more: dict[str, Any] = {
        "reach": np.array(front.reach),
        "asked": np.array([questions.asked for questions in front.oracles]),
        "untaken": np.array([k for q in front.oracles for k in q.answers], dtype=np.int64),
        "window": np.array([k for k, _ in window.under_way], dtype=np.int64),
        "unsettled": np.array(front.bounds.unsettled, dtype=np.int64),
        "purpose": np.array(_purpose(front)),
    }
    if front.choosing:
        more["choosing"] = np.array(sorted(front.built.choosing), dtype=np.int64)
        more["beaten"] = np.array(sorted(front.built.beaten), dtype=np.int64)
        more["spent"] = np.array(front.spent)
    if isinstance(front.value, Remembering):
        more["kept"] = np.frombuffer(front.value.kept().encode(), dtype=np.uint8)
    write_arrays(path, front.built.columns() | front.bounds.columns() | more)


def take_up(front: Front[S], window: Window[S], path: Path) -> None:
    """Put a checkpoint into a new front and its window; one made for another purpose is refused."""
    with reading(path):
        columns = read_columns(path, _purpose(front))
        front.built.restore(columns)
        _check(columns)
        _restore(front, window, columns)
        if isinstance(front.value, Remembering) and "kept" in columns:
            front.value.recall(columns["kept"].tobytes().decode())


def _purpose(front: Front[S]) -> str:
    purpose = f"side {front.side}, {front.goal!r}"
    if front.pools is not None:
        purpose += ", memory by position"
    if not front.choosing:
        return purpose
    limited = ", within a budget" if front.goal.limited else ""
    return f"{purpose}, choosing, deviations {front.deviations:g}{limited}"


def _restore(front: Front[S], window: Window[S], columns: dict[str, Any]) -> None:
    built = front.built
    front.reach = columns["reach"].tolist()
    if front.choosing:
        built.choosing.update(columns["choosing"].tolist())
        built.beaten.update(columns["beaten"].tolist())
        front.spent = array("i", columns["spent"].tolist())
    for questions, asked in zip(front.oracles, columns["asked"].tolist(), strict=True):
        questions.asked = asked
    front.bounds.restore(columns, front.goal.cost)
    front.bounds.unsettled = columns["unsettled"].tolist() if "unsettled" in columns else []
    front.opening = _opening(built, front.side)
    state, asked_about = front.met.replay(), columns["window"].tolist()
    waiting = set(asked_about)
    if front.pools is not None:
        _pool(front, front.pools, state)
    for k in range(len(built)):
        if built.stage[k] not in (UNASKED, VALUED):
            continue
        if len(front.states) < KEPT:
            front.states[k] = state(k)
        if k not in waiting:
            priority = FIRST if k in front.opening else front.reach[k]
            if built.stage[k] == VALUED:
                priority = front.potential(k)
            front.agenda.add(k, priority)
    for k in asked_about:
        window.put(k, front.questions(k))
    answered = set(columns["untaken"].tolist())
    for questions in front.oracles:
        mine = [k for k, asked in window.under_way if questions in asked and k in answered]
        questions.recall([k for k in mine if built.stage[k] != CLOSED])


def _check(columns: Mapping[str, Any]) -> None:
    """Raise ValueError for what no growth can have written: a damaged file must certify nothing."""
    n, parent = len(columns["parent"]), columns["parent"]
    whole = ("asked", "untaken", "window", "unsettled", "choosing", "beaten", "spent")
    check_counts(columns, (name for name in whole if name in columns))
    if any(columns[name].dtype != np.float64 for name in ("reach", *BOUNDS)):
        raise ValueError("bounds that are no plain numbers")
    if any(columns[name].shape != (n,) for name in ("reach", *BOUNDS)):
        raise ValueError("columns of unequal length")
    share = np.where(np.isnan(columns["base"]), columns["prep"], columns["base"])
    reach = columns["reach"]
    if not np.allclose(reach[1:], reach[parent[1:]] * share[1:], rtol=1e-9, atol=1e-300):
        raise ValueError("reaches that do not follow from the moves")
    if reach[0] != 1.0 or any(np.any(np.isnan(columns[name])) for name in BOUNDS):
        raise ValueError("bounds that are no numbers")
    if np.any(columns["low"] > columns["up"] + 1e-9) or np.any(columns["up"] > reach + 1e-9):
        raise ValueError("bounds that contradict each other")
    if np.any(np.isin(columns["untaken"], columns["window"], invert=True)):
        raise ValueError("answers to questions that nobody asked")
    for name in ("window", "unsettled"):
        if name in columns and np.any(np.isin(columns[name], np.arange(n), invert=True)):
            raise ValueError("questions about histories that are not there")


def _pool(front: Front[S], pools: Pools[S], state: Callable[[int], S]) -> None:
    """Which histories of which positions are known, and which of them wait."""
    built = front.built
    for k in range(len(built)):
        if built.player[k] == front.side and built.stage[k] != UNASKED:
            there = state(k)
            pools.enter(k, there, front.reach[k] * (1.0 - front.mine(k)[0]))
            if built.stage[k] == CLOSED:
                pools.wait(k, there)


def _opening(built: Builder, side: Side) -> set[int]:
    """The root and all that follows it before and at the first decision of `side`."""
    found, stack = {0}, [0]
    while stack:
        k = stack.pop()
        if built.player[k] != side and built.stage[k] == EXPANDED:
            children = range(built.first[k], built.first[k] + built.count[k])
            found.update(children)
            stack.extend(children)
    return found
