"""The one way in which this package compiles its loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile with numba and keep the machine code on disk, so that later processes start at once.

    Results are the same floats on every machine: no fast-math, no threads.
    """
    return cast(F, numba.njit(cache=True)(function))
