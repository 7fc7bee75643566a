"""Checkpoints of a growth: written so that a kill leaves a whole one, read back to go on."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic
from zipfile import is_zipfile

import numpy as np

from preplay.errors import StoreError
from preplay.files import read_arrays
from preplay.game import Game, S, Side
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder
from preplay.growth.columns import save_columns
from preplay.growth.front import FIRST, KEPT, Front
from preplay.growth.intervals import BOUNDS
from preplay.growth.sharing import Pools
from preplay.tree import KINDS, check_columns
from preplay.value import Remembering


def save(front: Front[S], path: Path) -> None:
    """Write what is known, with bounds as out of date as they are and questions in the order asked.

    So a growth that goes on from here takes the very same steps as one that was never interrupted.
    """
    more: dict[str, Any] = {
        "reach": np.array(front.reach),
        "asked": np.array([questions.asked for questions in front.oracles]),
        "untaken": np.array([k for q in front.oracles for k in q.answers], dtype=np.int64),
        "window": np.array([k for k, _ in front.window], dtype=np.int64),
        "purpose": np.array(_purpose(front)),
    }
    if front.ask_choice is not None:
        more["choosing"] = np.array(sorted(front.built.choosing), dtype=np.int64)
        more["beaten"] = np.array(sorted(front.built.beaten), dtype=np.int64)
        more["spent"] = np.array(front.spent)
    if isinstance(front.value, Remembering):
        more["kept"] = np.frombuffer(front.value.kept().encode(), dtype=np.uint8)
    save_columns(path, front.built.columns() | front.bounds.columns() | more)


def take_up(front: Front[S], path: Path) -> None:
    """Put a checkpoint into a new front; one that was made for another purpose is refused."""
    try:
        if not is_zipfile(path):
            raise ValueError("damaged, or not an .npz file")
        columns = read_arrays(path)
        purpose = str(columns["purpose"])
        if purpose != _purpose(front):
            raise ValueError(f"it is for {purpose}, not {_purpose(front)}")
        check_columns(
            {name: columns[name] for name in KINDS}, len(columns["parent"]), len(columns["names"])
        )
        _check(columns)
        _restore(front, columns)
        if isinstance(front.value, Remembering) and "kept" in columns:
            front.value.recall(columns["kept"].tobytes().decode())
    except Exception as error:
        reason = " ".join(str(error).split())
        raise StoreError(
            f"{path}: not a checkpoint to go on from ({reason}); remove it to start anew"
        ) from None


def _purpose(front: Front[S]) -> str:
    purpose = f"side {front.side}, {front.goal!r}"
    if front.pools is not None:
        purpose += ", memory by position"
    if front.ask_choice is None:
        return purpose
    limited = ", within a budget" if front.goal.limited else ""
    return f"{purpose}, choosing, deviations {front.deviations:g}{limited}"


def _restore(front: Front[S], columns: dict[str, Any]) -> None:
    built = front.built
    built.restore(columns)
    front.reach = columns["reach"].tolist()
    if front.ask_choice is not None:
        built.choosing.update(columns["choosing"].tolist())
        built.beaten.update(columns["beaten"].tolist())
        front.spent = array("i", columns["spent"].tolist())
    for questions, asked in zip(front.oracles, columns["asked"].tolist(), strict=True):
        questions.asked = asked
    front.bounds.restore(columns, front.goal.cost)
    front.opening = _opening(built, front.side)
    paths, asked_about = _Paths(front.game, built), columns["window"].tolist()
    waiting = set(asked_about)
    if front.pools is not None:
        _pool(front, front.pools, paths)
    for k in range(len(built)):
        if built.stage[k] not in (UNASKED, VALUED):
            continue
        if len(front.states) < KEPT:
            front.states[k] = paths.state(k)
        if k not in waiting:
            priority = FIRST if k in front.opening else front.reach[k]
            if built.stage[k] == VALUED:
                priority = front.potential(k)
            front.agenda.add(k, priority)
    for k in asked_about:
        questions = front.questions(k)
        if built.stage[k] != CLOSED:
            questions.submit(k, front.state(k))
        front.window.append((k, questions))
    answered = set(columns["untaken"].tolist())
    for questions in front.oracles:
        mine = [k for k, asked in front.window if asked is questions and k in answered]
        questions.recall([k for k in mine if built.stage[k] != CLOSED])


def _check(columns: Mapping[str, Any]) -> None:
    """Raise ValueError for what no growth can have written: a damaged file must certify nothing."""
    n = len(columns["parent"])
    parent, first, count, stage = (columns[name] for name in ("parent", "first", "count", "stage"))
    whole = ("first", "count", "stage", "asked", "untaken", "window", "choosing", "beaten", "spent")
    if any(columns[name].dtype.kind not in "iu" for name in whole if name in columns):
        raise ValueError("numbers that are not whole")
    if any(columns[name].dtype != np.float64 for name in ("reach", *BOUNDS)):
        raise ValueError("bounds that are no plain numbers")
    if any(columns[name].shape != (n,) for name in ("reach", "first", "count", "stage", *BOUNDS)):
        raise ValueError("columns of unequal length")
    if parent[0] != -1 or np.any(parent[1:] < 0) or np.any(parent >= np.arange(n)):
        raise ValueError("parents do not come before their children")
    if np.any((stage < UNASKED) | (stage > CLOSED)):
        raise ValueError("a history at no stage of growth")
    grown = np.flatnonzero(count)
    children = np.repeat(first[grown], count[grown]) + (
        np.arange(int(count.sum())) - np.repeat(np.cumsum(count[grown]) - count[grown], count[grown])
    )
    if np.any(count < 0) or not np.array_equal(np.sort(children), np.arange(1, n)):
        raise ValueError("children that do not fit")
    if not np.array_equal(parent[children], np.repeat(grown, count[grown])):
        raise ValueError("children of other parents")
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
    if np.any(np.isin(columns["window"], np.arange(n), invert=True)):
        raise ValueError("questions about histories that are not there")


def _pool(front: Front[S], pools: Pools[S], paths: _Paths[S]) -> None:
    """Which histories of which positions are known, and which of them wait."""
    built = front.built
    for k in range(len(built)):
        if built.player[k] == front.side and built.stage[k] != UNASKED:
            state = paths.state(k)
            pools.enter(k, state, front.reach[k] * (1.0 - front.mine(k)[0]))
            if built.stage[k] == CLOSED:
                pools.wait(k, state)


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


class _Paths(Generic[S]):
    """The states of histories that a builder knows only by their actions."""

    def __init__(self, game: Game[S], built: Builder) -> None:
        self._game, self._built = game, built
        self._names = list(built.names)
        self._known: dict[int, S] = {0: game.root()}

    def state(self, k: int) -> S:
        """The state of history `k`, replayed from the nearest known one."""
        path = []
        while k not in self._known:
            path.append(k)
            k = self._built.parent[k]
        state = self._known[k]
        for j in reversed(path):
            if not self._built.is_rest(j):
                state = self._game.next(state, self._names[self._built.action[j]])
            self._known[j] = state
        return state
