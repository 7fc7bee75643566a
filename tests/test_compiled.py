"""Loops have two forms, and nobody can tell by the results which one ran."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.core import random_tree

from preplay import response
from preplay.compiled import Loop, always, jit, jit_of, step
from preplay.equilibria import solve


def plain(self: Loop[..., Any], *given: Any) -> Any:
    return self.plain(*given)


def compiled(self: Loop[..., Any], *given: Any) -> Any:
    return self.compiled(*given)


def same(one: Any, two: Any) -> bool:
    if is_dataclass(one):
        names = [f.name for f in fields(one) if f.name not in ("seconds", "trace")]
        return all(same(getattr(one, name), getattr(two, name)) for name in names)
    if isinstance(one, tuple):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=True)
    return bool(one == two)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "ask",
    [
        lambda tree: response.best_book(tree, 1, 0.002),
        lambda tree: response.best_book(tree, 2, 0.001, 7),
        lambda tree: response.frontier(tree, 1),
        lambda tree: solve(tree, (0.01, 0.02), gap=1e-3, method="sweep", iterations=60),
    ],
    ids=["book", "budget", "frontier", "equilibrium"],
)
def test_both_forms_give_the_same_to_the_last_bit(
    ask: Callable[[Any], Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = random_tree(300, seed=seed)
    found = []
    for form in (plain, compiled):
        monkeypatch.setattr(Loop, "__call__", form)
        found.append(ask(tree))
    assert same(*found)


@step
def double(number: float) -> float:
    return 2.0 * number


@jit
def total(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    result = 0.0
    for number in numbers:
        result += double(number)
    return result


@jit_of(lambda numbers, times: len(numbers) * times)
def often(numbers: np.ndarray[Any, np.dtype[np.float64]], times: int) -> float:
    result = 0.0
    for _ in range(times):
        result += total(numbers)
    return result


@always
def wraps(number: np.uint64) -> np.uint64:
    return number * number


def ready() -> list[bool]:
    return [isinstance(loop, Loop) and loop.ready for loop in (total, often)]


def test_much_work_is_compiled_and_little_is_not() -> None:
    assert total(np.arange(4.0)) == often(np.arange(4.0), 1) == 12.0
    assert ready() == [False, False]
    assert often(np.arange(4.0), 1_000_000) == 12e6
    assert ready() == [True, True]
    assert wraps(np.uint64(2**40)) == 0


def test_a_small_game_needs_no_compiler() -> None:
    script = """
import sys
from bench.core import random_tree
from preplay.response import best_book, frontier
best_book(random_tree(500), 1, 0.01)
frontier(random_tree(500), 1)
assert "numba" not in sys.modules
large = random_tree(100_000)
for _ in range(4):
    best_book(large, 1, 0.01)
assert "numba" in sys.modules
"""
    here = Path(__file__).parents[1]
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=here)
    assert done.returncode == 0, done.stderr
