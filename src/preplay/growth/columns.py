"""Growable columns of numbers, and how they are kept in a file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from zipfile import is_zipfile

import numpy.typing as npt

from preplay.errors import StoreError
from preplay.files import read_arrays

T = TypeVar("T", int, float)

ROOM = 4096
"""How many numbers are added to a column at once."""


class Defaults:
    """Columns of what is learned later: they begin at a default, and there is always room ahead.

    Extending a column by a block takes hardly longer than by a number, and growth has many columns.
    Those that every step reads are lists, which Python reads several times as fast as arrays.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[list[Any] | array[Any], list[Any] | array[Any]]] = []

    def numbers(self, default: T) -> list[T]:
        """A new column that is read often."""
        column: list[T] = []
        self._blocks.append((column, [default] * ROOM))
        return column

    def array(self, code: str, default: float) -> array[Any]:
        """A new column that takes little memory."""
        column = array(code)
        self._blocks.append((column, array(code, [default]) * ROOM))
        return column

    def cover(self, size: int) -> None:
        """Make every column at least so long."""
        for column, block in self._blocks:
            while len(column) < size:
                column.extend(block)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever is wrong with what a checkpoint holds is a StoreError."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())
        raise StoreError(
            f"{path}: not a checkpoint to go on from ({reason}); remove it to start anew"
        ) from None


def read_columns(path: Path, purpose: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a checkpoint; ValueError where it is damaged or was made for another purpose."""
    if not is_zipfile(path):
        raise ValueError("damaged, or not an .npz file")
    columns = read_arrays(path)
    if str(columns["purpose"]) != purpose:
        raise ValueError(f"it is for {columns['purpose']}, not {purpose}")
    return columns
