"""A calibration whose games were played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from preplay.logistic import Curve
from preplay.stopping import NEVER, Stop


@dataclass(frozen=True)
class Standing:
    """A curve that stands."""

    through: Curve
    whole: bool = True

    def curve(self, stop: Stop = NEVER, tell: Callable[[str], None] | None = None) -> Curve:
        return self.through
