"""Random games of any size from a seed: for tests, benchmarks and first experiments.

A latent advantage wanders from move to move. Every action shifts it; a side on base sees the shifts
through noise, a side on prep sees them as they are. Nothing is stored: all that a history needs is
drawn from a generator seeded by its path.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from preplay.errors import InputError
from preplay.game import CHANCE, FINAL, Distribution
from preplay.policy import softmax
from preplay.value import Value

_MASK = (1 << 64) - 1
_STREAM = 0xD1342543DE82EF95
"""Keeps the random numbers of one history's several uses apart."""


class SyntheticState(NamedTuple):
    """A history: its actions, a hash of them, and player 1's latent advantage."""

    path: tuple[str, ...]
    key: int
    advantage: float


@dataclass(frozen=True)
class SyntheticGame:
    """Players alternate (chance steps in with probability `luck`); every game lasts `longest` moves."""

    longest: int = 8
    widest: int = 3
    luck: float = 0.0
    spread: float = 0.5
    """Size of the shifts of the latent advantage."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.longest < 1 or self.widest < 1:
            raise InputError(
                f"synthetic game of length {self.longest} and width {self.widest}; expected at least 1"
            )
        if not 0.0 <= self.luck <= 1.0:
            raise InputError(f"luck {self.luck}; expected a number in [0, 1]")

    def root(self) -> SyntheticState:
        """The empty history at an even game."""
        return SyntheticState((), _mix(self.seed), 0.0)

    def history(self, state: SyntheticState) -> tuple[str, ...]:
        """The actions from the root."""
        return state.path

    def player(self, state: SyntheticState) -> int:
        """Players take turns, but for chance."""
        if len(state.path) >= self.longest:
            return FINAL
        if self.luck > 0.0 and _unit(state.key, 0) < self.luck:
            return CHANCE
        return 1 + len(state.path) % 2

    def actions(self, state: SyntheticState) -> Sequence[str]:
        """Always `widest` many."""
        return _numbers(self.widest)

    def chance(self, state: SyntheticState) -> Distribution:
        """Uniform."""
        return dict.fromkeys(_numbers(self.widest), 1.0 / self.widest)

    def next(self, state: SyntheticState, action: str) -> SyntheticState:
        """The history after `action`, with the advantage shifted."""
        k = int(action)
        return SyntheticState(
            (*state.path, action), _mix(state.key + k + 1), state.advantage + self.shift(state, k)
        )

    def utility(self, state: SyntheticState) -> float:
        """The latent advantage squeezed into [0, 1]."""
        return _squeeze(state.advantage)

    def shift(self, state: SyntheticState, k: int) -> float:
        """How much action `k` moves player 1's latent advantage."""
        return self.spread * (2.0 * _unit(state.key, 2 * k + 1) - 1.0)


@dataclass(frozen=True)
class SyntheticPolicy:
    """Softmax over the shifts, seen as they are (prep) or through noise (base)."""

    game: SyntheticGame
    kind: Literal["base", "prep"]
    randomness: float = 0.1
    noise: float = 1.0
    """How much of what base sees is noise, relative to the shifts."""

    def distributions(self, states: Sequence[SyntheticState]) -> list[Distribution]:
        """Probabilities proportional to exp(shift seen / randomness)."""
        spread, width = self.game.spread, self.game.widest
        actions, blur = _numbers(width), self.noise * spread
        answer: list[Distribution] = []
        for state in states:
            scale = spread if self.game.player(state) == 1 else -spread
            seen = [scale * (2.0 * u - 1.0) for u in _units(state.key, _streams(1, width))]
            if self.kind == "base":
                noise = _units(state.key, _streams(2, width))
                seen = [s + blur * (2.0 * u - 1.0) for s, u in zip(seen, noise, strict=True)]
            answer.append(dict(zip(actions, softmax(seen, self.randomness), strict=True)))
        return answer


@dataclass(frozen=True)
class SyntheticValue:
    """A quick estimate of v(h), the present advantage squeezed; for games too large for exact values."""

    def values(self, states: Sequence[SyntheticState]) -> list[Value]:
        """The estimate, taken as it is."""
        return [Value(_squeeze(state.advantage)) for state in states]


def _mix(x: int) -> int:
    """SplitMix64: well-spread 64 bits from any number."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def _unit(key: int, stream: int) -> float:
    return _mix(key ^ (stream * _STREAM & _MASK)) / 2.0**64


def _units(key: int, streams: Sequence[int]) -> list[float]:
    """`_unit` of several streams at once."""
    return [_mix(key ^ stream) / 2.0**64 for stream in streams]


@cache
def _streams(first: int, width: int) -> tuple[int, ...]:
    return tuple((2 * k + first) * _STREAM & _MASK for k in range(width))


@cache
def _numbers(width: int) -> tuple[str, ...]:
    return tuple(str(k) for k in range(width))


def _squeeze(advantage: float) -> float:
    return 1.0 / (1.0 + math.exp(-advantage))
