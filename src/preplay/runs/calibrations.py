"""What a score is worth to the players of a matchup: the curve, and how well it fits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from preplay.chess.calibration import Calibrator, different
from preplay.errors import InputError
from preplay.logistic import Bin, Curve, reliability
from preplay.matchup import Matchup
from preplay.stopping import NEVER, Stop

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class CalibrateResult:
    """How results follow from scores when base meets base. All values are player 1's."""

    matchup: str
    """The matchup's name."""
    wanted: int
    """How many games were asked for."""
    ending: Literal["complete", "seconds", "interrupted"]
    """What ended the games."""
    score: float
    """The mean result of the games."""
    calibration: Curve
    """The curve through them."""
    reliability: tuple[Bin, ...]
    """Expected against played, in parts of equally many positions."""

    def plot_reliability(self) -> Figure:
        """What was played against the score, and the curve, as a matplotlib Figure."""
        from preplay.figures import reliability_figure

        title = f"{self.matchup}: {self.calibration.games:,} games of base against base"
        return reliability_figure(self.calibration, self.reliability, title)


def calibrate(
    matchup: Matchup[Any],
    *,
    seconds: float | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> CalibrateResult:
    """Play base against base, and fit how results follow from scores.

    The matchup says how many games (`value.games`); its value model must be `calibrated`. Games are kept
    in the analysis store, so the same call goes on where it was.
    """
    calibrator = matchup.calibration
    if not isinstance(calibrator, Calibrator):
        raise InputError(
            f"matchup '{matchup.name}' is not calibrated; expected value.model = 'calibrated'"
        )
    end = stop if seconds is None else stop.until(time.monotonic() + seconds)
    curve = calibrator.curve(end, progress)
    played = different(calibrator.games)
    return CalibrateResult(
        matchup=matchup.name,
        wanted=calibrator.wanted,
        ending="complete" if calibrator.whole else end.reason,
        score=sum(result for _, result in played) / max(1, len(played)),
        calibration=curve,
        reliability=tuple(reliability(curve, played)),
    )
