"""The order of questions against one plain heap, and states that are found again against kept ones."""

from __future__ import annotations

import heapq
import random

import numpy as np
import pytest

from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticValue
from preplay.growth import Limits, Pays, agenda, grow, met
from preplay.growth.builder import CLOSED, Builder
from preplay.tree import Tree


@pytest.mark.parametrize("near", [1, 3, 40])
@pytest.mark.parametrize("seed", range(6))
def test_the_largest_priority_comes_first_and_of_equals_the_earliest(
    near: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agenda, "NEAR", near)
    rng, built, heap = random.Random(seed), Builder(), list[tuple[float, int]]()
    built.add(-1, "", 1, 1.0, 1.0)
    waiting = agenda.ByPriority(built)
    for _ in range(400):
        if rng.random() < 0.45:
            n = rng.randint(1, 4)
            new = built.add_children(0, ["a"] * n, [1] * n, [0.5] * n, [0.5] * n)
            priorities = [rng.choice([0.1, 0.25, rng.random(), rng.random() ** 4]) for _ in new]
            waiting.add_all(new, priorities)
            for k, priority in zip(new, priorities, strict=True):
                heapq.heappush(heap, (-priority, k))
        elif rng.random() < 0.2:
            built.stage[rng.randrange(len(built))] = CLOSED
        else:
            most, expected = rng.choice([1, 1, 2, 5, 30]), list[int]()
            while heap and len(expected) < most:
                _, k = heapq.heappop(heap)
                if built.stage[k] != CLOSED:
                    expected.append(k)
            assert waiting.take(most) == expected


def test_states_that_are_not_kept_are_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    game = SyntheticGame(8, 3, luck=0.1)
    base, prep = SyntheticPolicy(game, "base"), SyntheticPolicy(game, "prep")

    def tree() -> Tree:
        return grow(game, 1, (base, base), prep, SyntheticValue(), Pays(1e-3), Limits(window=8)).tree

    kept = tree()
    monkeypatch.setattr(met, "KEPT", 5)
    again = tree()
    assert kept.names == again.names
    for name in ("parent", "player", "base", "prep", "value", "radius", "open", "action"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(again, name))
