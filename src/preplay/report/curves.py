"""A sweep or Figure 1 as data for the page: curves, and the settings that stayed the same."""

from __future__ import annotations

from typing import Any

from preplay.experiments.measures import BOOK
from preplay.experiments.sweep import Point
from preplay.runs.directory import Run
from preplay.runs.swept import SweepResult


def curves(run: Run) -> dict[str, Any]:
    """What the page needs of the points of a sweep."""
    points = list(SweepResult.found(run).points)
    plain = all(isinstance(p.setting, (int, float)) and not isinstance(p.setting, bool) for p in points)
    if plain:
        points = sorted(points, key=lambda p: float(p.setting))
    settings: list[Any] = list(dict.fromkeys(p.setting if plain else p.label for p in points))
    log = plain and min(settings) > 0 and max(settings) / min(settings) >= 20
    return {
        "key": points[0].key,
        "plain": plain,
        "log": log,
        "settings": settings,
        "cost": run.identity.get("cost"),
        "measures": [*BOOK, *points[0].besides],
        "series": [
            {"side": side, "points": [_row(p, settings, plain) for p in points if p.side == side]}
            for side in dict.fromkeys(p.side for p in points)
        ],
    }


def _row(point: Point, settings: list[Any], plain: bool) -> dict[str, Any]:
    at = settings.index(point.setting if plain else point.label)
    measured = {name: _short(point.measure(name)) for name in (*BOOK, *point.besides)}
    return {"at": at, "ending": point.ending} | measured


def _short(number: float | None) -> float | None:
    """A count as it is, else eight digits; None is beyond all numbers."""
    return number if number is None or isinstance(number, int) else float(f"{number:.8g}")
