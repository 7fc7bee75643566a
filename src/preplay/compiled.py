"""Numeric loops: written once, run as they are where little is to be done, compiled where it is much.

Importing the compiler takes most of a second and loading a compiled loop some hundredths; in that time
plain Python is done with a small game. So a loop is compiled once it, and all loops together, have done
about as much work as that takes. Both forms do the same operations in the same order on the same numbers,
so no result depends on it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

TO_IMPORT = 3_000_000
"""Elements that all loops together may visit before the compiler is imported."""
TO_LOAD = 40_000
"""Elements that one loop may visit before it is compiled."""


class _Spent:
    """What plain loops have done in this process."""

    elements = 0


class Loop(Generic[P, R]):
    """A loop over flat arrays; `plain` and `compiled` are its two forms."""

    def __init__(self, plain: Callable[P, R], patient: bool, work: Callable[P, int] | None) -> None:
        self.plain = plain
        self._patient = patient
        self._work = work
        self._done = 0
        self._compiled: Callable[P, R] | None = None
        update_wrapper(self, plain)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run whichever form is quicker by now."""
        if self._compiled is not None:
            return self._compiled(*args, **kwargs)
        if self._patient:
            elements = _elements(args) if self._work is None else self._work(*args, **kwargs)
            most = TO_LOAD if "numba" in sys.modules else TO_IMPORT - _Spent.elements + self._done
            if self._done + elements <= most:
                self._done += elements
                _Spent.elements += elements
                return self.plain(*args, **kwargs)
        return self.compiled(*args, **kwargs)

    @property
    def ready(self) -> bool:
        """Whether it is compiled."""
        return self._compiled is not None

    @property
    def compiled(self) -> Callable[P, R]:
        """The loop by numba, kept on disk between runs."""
        if self._compiled is None:
            import numba

            source = cast(FunctionType, self.plain)
            seen = {name: _inside(source.__globals__.get(name)) for name in source.__code__.co_names}
            seen = source.__globals__ | {name: thing for name, thing in seen.items() if thing is not None}
            same = FunctionType(source.__code__, seen, source.__name__, source.__defaults__)
            same.__qualname__, same.__module__ = source.__qualname__, source.__module__
            self._compiled = cast(Callable[P, R], numba.njit(cache=True, nogil=True)(same))
        return self._compiled


def _inside(thing: Any) -> Any:
    """What a compiled loop sees of another: its compiled form; None where it is no loop."""
    inner = getattr(thing, "loop", thing)
    return inner.compiled if isinstance(inner, Loop) else None


def _elements(things: tuple[Any, ...]) -> int:
    """How many elements the arrays among `things` have."""
    total = 0
    for thing in things:
        if isinstance(thing, np.ndarray):
            total += thing.size
        elif isinstance(thing, tuple):
            total += _elements(thing)
    return total


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """A loop that visits every element of its arrays a few times."""
    return cast(Callable[P, R], Loop(function, True, None))


def jit_of(work: Callable[P, int]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A loop that visits as many elements as `work` says of its arguments."""
    return lambda function: cast(Callable[P, R], Loop(function, True, work))


def always(function: Callable[P, R]) -> Callable[P, R]:
    """A loop that is compiled whatever it has to do: its integers wrap around, as Python's do not."""
    return cast(Callable[P, R], Loop(function, False, None))


def step(function: Callable[P, R]) -> Callable[P, R]:
    """A part of other loops, plain in plain ones and compiled in compiled ones."""
    function.loop = Loop(function, False, None)  # type: ignore[attr-defined]
    return function
