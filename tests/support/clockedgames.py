"""Small games under a clock, and what the clock means, written down a second time for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from randomgames import Raw

from preplay.game import Distribution
from preplay.games.clocked import ClockedState, ShareOfTheRest
from preplay.games.tabular import Node

FULL = 4
"""The effort that plays as well as preparation."""

Spend = Callable[[int, int, Sequence[int]], int]
"""What the expansion's rule takes: left, increment and the times of the side's earlier moves."""


@dataclass(frozen=True)
class Blend:
    """The file's base without effort, its prep with full effort, and in between by the effort."""

    def distributions(
        self, states: Sequence[ClockedState[Node]], efforts: Sequence[int]
    ) -> list[Distribution]:
        return [blend(s.inner.base, s.inner.prep, e) for s, e in zip(states, efforts, strict=True)]


def blend(base: Distribution, prep: Distribution, effort: int) -> dict[str, float]:
    weight = min(effort, FULL) / FULL
    return {a: (1 - weight) * base[a] + weight * prep[a] for a in base}


def half(left: int, increment: int, past: Sequence[int]) -> int:
    """Half of what is left and the increment, at least 1: one of 1, 2, 3, …"""
    want = max(1.0, 0.5 * left + increment)
    return max(1, int(min(want, left)))


HALF = ShareOfTheRest(0.5, 1.0, least=1)
LEVELS = tuple(range(1, 13))


def expand(
    node: Raw,
    left: tuple[int, int],
    increment: tuple[int, int],
    spend: Spend,
    keeping: float = 0.0,
    past: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
) -> Raw:
    """The clocked game of a tabular game as a plain tabular game, by the definition."""
    if "utility" in node:
        return node
    if node["player"] == "chance":
        return {
            "player": "chance",
            "actions": {
                name: {"prob": e["prob"], "to": expand(e["to"], left, increment, spend, keeping, past)}
                for name, e in node["actions"].items()
            },
        }
    k = node["player"] - 1
    time = spend(left[k], increment[k], past[k])
    kept = 0.0
    for earlier in past[k]:
        kept = keeping * (kept + earlier)
    actions: Raw = {}

    def play(name: str, time: int, base: float, prep: float) -> None:
        label = name if time == 0 else f"{name}@{time}"
        clocks, times = list(left), list(past)
        clocks[k] += increment[k] - time
        times[k] = (*past[k], time)
        to = node["actions"][name]["to"]
        if time > left[k]:
            below: Raw = {"utility": 0.0 if k == 0 else 1.0}
        else:
            now, since = (clocks[0], clocks[1]), (times[0], times[1])
            below = expand(to, now, increment, spend, keeping, since)
        actions[label] = {"base": base, "prep": prep, "to": below}

    table = {name: (e["base"], e["prep"]) for name, e in node["actions"].items()}
    if time > left[k]:
        play(next(iter(table)), time, 1.0, 0.0)
    else:
        weak, strong = {n: b for n, (b, _) in table.items()}, {n: p for n, (_, p) in table.items()}
        for name, p in blend(weak, strong, time + int(kept)).items():
            if p > 0:
                play(name, time, p, 0.0)
    for name, (_, prep) in table.items():
        if prep > 0:
            play(name, 0, 0.0, prep)
    return {"player": node["player"], "actions": actions}


def decision(player: int, **actions: tuple[float, float, Any]) -> Raw:
    return {
        "player": player,
        "actions": {
            name: {"base": base, "prep": prep, "to": to if isinstance(to, dict) else {"utility": to}}
            for name, (base, prep, to) in actions.items()
        },
    }


def one_line() -> Raw:
    """A routine move, an answer, and a decision that needs thought."""
    hard = decision(1, good=(0.5, 1.0, 1.0), bad=(0.5, 0.0, 0.0))
    # Too many answers to memorize the decision itself: each is met once in twenty games.
    answers: dict[str, tuple[float, float, Any]] = {f"b{k}": (0.05, 0.05, hard) for k in range(20)}
    return {"format": "preplay-game/1", "root": decision(1, a=(1.0, 1.0, decision(2, **answers)))}
