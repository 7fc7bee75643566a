"""The paper's Figure 1: how exploitable a side is as a function of how randomly it plays."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from preplay.arguments import check_number
from preplay.errors import InputError
from preplay.experiments.sweep import Point, Task
from preplay.game import Side
from preplay.growth import Limits
from preplay.matchup import settings

N = TypeVar("N", int, float)
FULL = tuple(round(0.1 * 2**k, 1) for k in range(15))
"""r = 0.1 to 1638.4, doubling: the values that the paper's author published."""
QUICK = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
COLUMNS = ("value", "size", "net", "upper", "unprepared", "histories", "questions")
"""What its CSV tells of each point: all that the same command gives again."""


def with_fresh(columns: tuple[str, ...], points: Sequence[Point]) -> tuple[str, ...]:
    """The columns, and that of the fresh values where there are any."""
    return columns if all(point.fresh is None for point in points) else (*columns, "fresh")


@dataclass(frozen=True)
class Reference:
    """A published point to compare with."""

    side: str
    randomness: float
    utility: float
    size: int
    name: str = "published"
    """What the curve that it belongs to is called."""


def check_randomness(values: Sequence[float]) -> None:
    """Raise InputError for an r that nobody can play with; 0 is always the best move."""
    for r in values:
        check_number("randomness", r, finite=True)


def tasks(
    name: str,
    config: Mapping[str, Any],
    randomness: Sequence[float],
    sides: Sequence[Side],
    cost: float | None,
    store: Path | None,
    limits: Limits,
    fresh: int = 0,
) -> list[Task]:
    """Both sides in turns: tasks under way at once share few positions. The opponent's r varies.

    So many of the books, spread over all, are valued afresh by searches ten times as long.
    """
    result = []
    places = _spread(len(randomness), math.ceil(fresh / len(sides)))
    for k, r in enumerate(randomness):
        for side in sides:
            own, opponent = ("white", "black") if side == 1 else ("black", "white")
            again = ("judge=true",) if k in places else ()
            changed = settings.override(config, [f"{opponent}.randomness={r!r}", *again])
            task = Task(name, changed, side, "randomness", r, cost, None, store, limits, own)
            result.append(replace(task, afresh=k in places))
    return result


def _spread(count: int, wanted: int) -> set[int]:
    """So many of the first `count` numbers, spread evenly, the ends among them."""
    if wanted < 2:
        return {count // 2} if wanted else set()
    return {round(k * (count - 1) / (wanted - 1)) for k in range(min(wanted, count))} if count else set()


def read_reference(path: Path) -> list[Reference]:
    """Points from a CSV with the columns side, randomness, utility (or value), size, named as the file.

    So published points can be drawn as well, and those of another figure, by its own CSV.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected a CSV of published points") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text in UTF-8; expected a CSV of published points") from None
    published = [_reference(path, number, row) for number, row in enumerate(rows, 2)]
    check_randomness([point.randomness for point in published])
    return published


def _reference(path: Path, number: int, row: Mapping[str, str | None]) -> Reference:
    """The published point of a line, by the columns that it has."""
    value = "value" if "value" in row else "utility"
    for name in ("side", "randomness", value, "size"):
        if name not in row:
            raise InputError(
                f"{path}: has no column '{name}'; expected side, randomness, utility (or value) and size"
            )

    def of(name: str, kind: type[N], expected: str) -> N:
        try:
            return kind(str(row[name]))
        except ValueError:
            given = "nothing" if row[name] is None else f"'{row[name]}'"
            raise InputError(f"{path}: line {number}: {name} {given}; expected {expected}") from None

    numbers = of("randomness", float, "a number"), of(value, float, "a number")
    return Reference(str(row["side"]), *numbers, of("size", int, "a whole number"), path.stem)


def by_side(points: Sequence[Point]) -> dict[str, list[Point]]:
    """The points of each side, in rising randomness."""
    sides: dict[str, list[Point]] = {}
    for point in sorted(points, key=lambda p: float(p.setting)):
        sides.setdefault(str(point.side), []).append(point)
    return {side: sides[side] for side in ("white", "black") if side in sides} or sides
