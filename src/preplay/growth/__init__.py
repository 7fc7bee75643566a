"""Growing trees in waves of batched questions: bounds, limits, checkpoints, progress."""

from preplay.growth.contested import Contested, ContestedGrowth, grow_contested
from preplay.growth.goals import Advantage, Goal, Grown, Lemma1, Limits, Pays, Progress
from preplay.growth.onesided import grow
from preplay.growth.stopping import NEVER, Stop, on_interrupt

__all__ = [
    "NEVER",
    "Advantage",
    "Contested",
    "ContestedGrowth",
    "Goal",
    "Grown",
    "Lemma1",
    "Limits",
    "Pays",
    "Progress",
    "Stop",
    "grow",
    "grow_contested",
    "on_interrupt",
]
