"""Fitting the model of a player to moves that it has not counted: by likelihood, near safe defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from preplay.chess.engines.analysis import Analysis
from preplay.chess.players.standin import NARROW, SPAN, StandIn
from preplay.tree import Floats

FLOOR = 1e-4
"""No move counts as less likely than this in a log-loss."""
OWN_WEIGHT, OTHERS_WEIGHT = 3.0, 1.2
"""As how many games a prior counts, before anything is known."""
_SPREAD = np.array([1.0, 1.0, 0.7, 0.7, 1.0, 1.0, 1.0])
"""How far each parameter may be from its default, as a standard deviation on its logarithmic scale.

With few moves the defaults hold, with hundreds the moves decide."""


@dataclass(frozen=True)
class Weights:
    """All that is fitted: as how many games each level counts for the next, and the engine's play."""

    own: float = OWN_WEIGHT
    others: float = OTHERS_WEIGHT
    engine: StandIn = field(default_factory=StandIn)


@dataclass(frozen=True)
class SeenMove:
    """A move that was played, and what was known before it."""

    code: int
    own: dict[int, int]
    """How often the player had chosen each move there."""
    others: dict[int, int]
    analysis: Analysis
    codes: tuple[int, ...]
    """The moves of the analysis, in its order."""
    best: int
    """The engine's own choice."""
    legal: int


@dataclass(frozen=True, eq=False)
class MoveColumns:
    """Moves to be explained, as columns."""

    scores: Floats  # [n, K] centipawns behind the best; -inf where there are fewer moves
    hit: npt.NDArray[np.int64]  # [n] which of them was played, -1 for none
    chosen: npt.NDArray[np.bool_]  # [n] whether the engine's own choice was played
    own: Floats  # [n] times that the player had the position
    own_hit: Floats  # [n] times of these that the move was played
    others: Floats  # [n]
    others_hit: Floats  # [n]
    rest: Floats  # [n] legal moves that were not scored

    @classmethod
    def of(cls, moves: Sequence[SeenMove]) -> MoveColumns:
        """The columns of some moves."""
        widest = max((len(move.codes) for move in moves), default=1)
        scores = np.full((len(moves), widest), -np.inf)
        for row, move in zip(scores, moves, strict=True):
            row[: len(move.codes)] = np.clip([line.score for line in move.analysis.lines], -SPAN, SPAN)
        best = [move.best if move.best in move.codes else move.codes[0] for move in moves]

        def column(values: Sequence[float]) -> Floats:
            return np.array(values, dtype=np.float64)

        return cls(
            scores=scores - scores.max(axis=1, keepdims=True, initial=-SPAN),
            hit=np.array([m.codes.index(m.code) if m.code in m.codes else -1 for m in moves], np.int64),
            chosen=np.array([m.code == b for m, b in zip(moves, best, strict=True)], np.bool_),
            own=column([sum(m.own.values()) for m in moves]),
            own_hit=column([m.own.get(m.code, 0) for m in moves]),
            others=column([sum(m.others.values()) for m in moves]),
            others_hit=column([m.others.get(m.code, 0) for m in moves]),
            rest=column([m.legal - len(m.codes) for m in moves]),
        )

    def engine(self, mix: StandIn) -> Floats:
        """[n] the probability of each move by the engine that stands in."""
        rows, hit = np.arange(len(self.hit)), np.maximum(self.hit, 0)
        wide = _softmax(self.scores, mix.wide_randomness)[rows, hit]
        narrow = _softmax(self.scores[:, :NARROW], mix.narrow_randomness)
        near = narrow[rows, np.minimum(hit, narrow.shape[1] - 1)]
        listed = (1.0 - mix.narrow - mix.choice) * wide + mix.choice * self.chosen
        listed += mix.narrow * np.where(hit < narrow.shape[1], near, 0.0)
        rest = np.where(self.rest > 0, mix.rest, 0.0)
        return np.where(self.hit >= 0, (1.0 - rest) * listed, rest / np.maximum(self.rest, 1.0))

    def likelihood(self, weights: Weights) -> Floats:
        """[n] the probability of each move: own games over others' over the engine."""
        engine = self.engine(weights.engine)
        others = (self.others_hit + weights.others * engine) / (self.others + weights.others)
        return (self.own_hit + weights.own * others) / (self.own + weights.own)


def _softmax(scores: Floats, randomness: float) -> Floats:
    powers = np.exp((scores - scores[:, :1]) / randomness)
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def fit_weights(columns: MoveColumns, default: Weights | None = None) -> Weights:
    """The weights that explain the moves best, and their own nearness to the default.

    The same moves always give the same weights. Without moves the default is the answer.
    """
    from scipy.optimize import minimize  # half a second, which only fitting takes

    default = default or Weights()
    centre = _free(default)
    if not len(columns.hit):
        return default

    def badness(point: Floats) -> float:
        surprise = -np.log(np.maximum(columns.likelihood(_weights(point)), 1e-12)).sum()
        return float(surprise + 0.5 * np.square((point - centre) / _SPREAD).sum())

    found: Any = minimize(badness, centre, method="L-BFGS-B")
    return _rounded(_weights(np.asarray(found.x, dtype=np.float64)))


def fitted_loss(columns: MoveColumns, weights: Weights) -> float:
    """The mean surprise of moves by a level: what the levels of an engine are compared by."""
    return float(-np.log(np.maximum(columns.likelihood(weights), 1e-12)).mean())


def _free(weights: Weights) -> Floats:
    """The weights as numbers that may be anything."""
    mix = weights.engine
    wide = max(1e-9, 1.0 - mix.choice - mix.narrow)
    return np.array(
        [
            np.log(max(mix.choice, 1e-9) / wide),
            np.log(max(mix.narrow, 1e-9) / wide),
            np.log(mix.narrow_randomness),
            np.log(mix.wide_randomness),
            np.log(max(mix.rest, 1e-9) / (1.0 - mix.rest)),
            np.log(weights.others),
            np.log(weights.own),
        ]
    )


def _weights(free: Floats) -> Weights:
    """The inverse of `_free`."""
    point = np.clip(free, -12.0, 12.0)
    choice, narrow = np.exp(point[0]), np.exp(point[1])
    total = 1.0 + choice + narrow
    return Weights(
        own=float(np.exp(point[6])),
        others=float(np.exp(point[5])),
        engine=StandIn(
            choice=float(choice / total),
            narrow=float(narrow / total),
            narrow_randomness=float(np.exp(point[2])),
            wide_randomness=float(np.exp(point[3])),
            rest=float(1.0 / (1.0 + np.exp(-point[4]))),
        ),
    )


def _rounded(weights: Weights) -> Weights:
    """Four digits: what a fit can tell, and what does not depend on the last bit of a machine."""

    def short(x: float) -> float:
        return float(f"{x:.4g}")

    mix = weights.engine
    engine = StandIn(**{name: short(value) for name, value in mix.as_data().items()})
    return Weights(short(weights.own), short(weights.others), engine)
