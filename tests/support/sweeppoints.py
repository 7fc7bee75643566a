"""Points of a sweep that nobody computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preplay.experiments.sweep import Point


def point(
    side: str | int,
    setting: Any,
    key: str = "randomness",
    size: int = 20,
    ending: str = "complete",
    besides: Mapping[str, float] | None = None,
) -> Point:
    told = (0.9, size, 0.88, 0.89, 0.5, 0.5, 7, 9, 4, 1.5, ending)
    return Point(side, key, setting, *told, besides=dict(besides or {}))
