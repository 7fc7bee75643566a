"""Checkpoints of a growth: written so that a kill leaves a whole one, read back to go on."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, Generic
from zipfile import is_zipfile

import numpy as np

from preplay.errors import StoreError
from preplay.game import Game, S, Side
from preplay.growth.builder import CLOSED, EXPANDED, UNASKED, VALUED, Builder, save_columns
from preplay.growth.front import FIRST, Front
from preplay.value import Remembering


def save(front: Front[S], path: Path) -> None:
    """Write what is known; bounds and priorities follow from it."""
    more = {
        "reach": np.array(front.reach),
        "asked": np.array([questions.asked for questions in front.oracles]),
        "purpose": np.array(_purpose(front)),
    }
    if front.ask_choice is not None:
        more["choosing"] = np.array(sorted(front.built.choosing), dtype=np.int64)
        more["beaten"] = np.array(sorted(front.built.beaten), dtype=np.int64)
        more["spent"] = np.array(front.spent)
    if isinstance(front.value, Remembering):
        more["kept"] = np.frombuffer(front.value.kept().encode(), dtype=np.uint8)
    save_columns(path, front.built.columns() | more)


def take_up(front: Front[S], path: Path) -> None:
    """Put a checkpoint into a new front; one that was made for another purpose is refused."""
    try:
        if not is_zipfile(path):
            raise ValueError("damaged, or not an .npz file")
        with np.load(path, allow_pickle=False) as file:
            columns = dict(file)
        purpose = str(columns["purpose"])
        if purpose != _purpose(front):
            raise ValueError(f"it is for {purpose}, not {_purpose(front)}")
        _restore(front, columns)
        if isinstance(front.value, Remembering) and "kept" in columns:
            front.value.recall(columns["kept"].tobytes().decode())
    except Exception as error:
        raise StoreError(
            f"{path}: not a checkpoint to go on from ({error}); remove it to start anew"
        ) from None


def _purpose(front: Front[S]) -> str:
    purpose = f"side {front.side}, {front.goal!r}"
    if front.ask_choice is None:
        return purpose
    limited = ", within a budget" if front.goal.limited else ""
    return f"{purpose}, choosing, deviations {front.deviations:g}{limited}"


def _restore(front: Front[S], columns: dict[str, Any]) -> None:
    built = front.built
    built.restore(columns)
    front.reach = array("d", columns["reach"].tolist())
    if front.ask_choice is not None:
        built.choosing.update(columns["choosing"].tolist())
        built.beaten.update(columns["beaten"].tolist())
        front.spent = array("i", columns["spent"].tolist())
    for questions, asked in zip(front.oracles, columns["asked"].tolist(), strict=True):
        questions.asked = asked
    zeros = [0.0] * len(built)
    front.bounds.add(zeros, zeros)
    for k in reversed(range(len(built))):
        _bound(front, k)
    front.opening = _opening(built, front.side)
    paths = _Paths(front.game, built)
    for k in range(len(built)):
        if built.stage[k] in (UNASKED, VALUED):
            front.states[k] = paths.state(k)
            priority = FIRST if k in front.opening else front.reach[k]
            if built.stage[k] == VALUED:
                priority = front.goal.potential(front.reach[k], front.mine(k)[0])
            front.agenda.add(k, priority)


def _bound(front: Front[S], k: int) -> None:
    """The bounds of `k` from what is known of it and of its children."""
    bounds, stage, own = front.bounds, front.built.stage[k], front.built.player[k] == front.side
    reach, cost = front.reach[k], front.goal.cost if own else 0.0
    if stage == UNASKED:
        bounds.up[k], bounds.low[k] = reach, 0.0
        return
    if stage == EXPANDED:
        bounds.sum_up(k, cost)
    elif stage == VALUED:
        bounds.on_up[k] = reach - cost
    if own or stage == CLOSED:
        low, high = front.mine(k)
        bounds.stop_up[k], bounds.stop_low[k] = reach * high, reach * low
    bounds.up[k] = max(bounds.on_up[k], bounds.stop_up[k])
    bounds.low[k] = max(bounds.on_low[k], bounds.stop_low[k])


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
