"""Points of a sweep that nobody computed."""

from __future__ import annotations

from typing import Any

from preplay.experiments.sweep import Point


def point(side: str, setting: Any, key: str = "randomness", size: int = 20) -> Point:
    return Point(side, key, setting, 0.9, size, 0.88, 0.89, 0.5, 0.5, 7, 9, 4, 1.5, "complete")
