"""Growing trees in waves of batched questions: bounds, limits, checkpoints, progress."""

from preplay.growth.contested import Contested, ContestedGrowth, grow_contested
from preplay.growth.goals import Advantage, Goal, Grown, GrowthProgress, Lemma1, Limits, Pays
from preplay.growth.onesided import grow

__all__ = [
    "Advantage",
    "Contested",
    "ContestedGrowth",
    "Goal",
    "Grown",
    "GrowthProgress",
    "Lemma1",
    "Limits",
    "Pays",
    "grow",
    "grow_contested",
]
