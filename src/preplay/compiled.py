"""Compiling numeric loops: one setting for the whole project, and types that survive it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over flat arrays with numba, kept on disk between runs."""
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True)(function))
