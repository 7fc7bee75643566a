"""What positions are worth in chess matchups: value models, second opinions, calibration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import Field

from preplay.chess.engines.analysis import Limit
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players.play import EngineValue, Model, Rated, Scale, Search
from preplay.chess.rules import ChessGame
from preplay.errors import InputError
from preplay.judging import Judge
from preplay.matchup.model import Deciding, Sampling
from preplay.matchup.searching import PREP_NODES, Searching, limited, search_of
from preplay.matchup.settings import IDLE, LEAST_COST, LIMITS
from preplay.policy import Policy
from preplay.value import Evaluator

GAMES = 64
"""Calibration games where nothing else is said."""
RESULTS = ("calibrated", "rollouts")
"""Value models that tell expected results; all others tell scores."""


class ChessValue(Searching):
    """What a position is worth. Settings left out are those of the preparation, so one search serves."""

    model: Literal["threshold", "linear", "wdl", "logistic", "calibrated", "rollouts"] = "linear"
    games: int = Field(default=GAMES, ge=1)
    """Calibrated: how many games are played."""
    multipv: int | None = Field(default=None, ge=1, le=218)  # type: ignore[assignment]
    samples: int | None = Field(default=None, ge=1)
    epsilon: float = Field(default=0.1, gt=0.0, lt=1.0)
    delta: float = Field(default=0.05, gt=0.0, lt=1.0)
    seed: int = 0

    def idle(self) -> Iterable[str]:
        """What other models look at; a given number of samples needs no ε."""
        if self.model == "calibrated":
            return ("samples", "epsilon", "delta")
        return ("games", *IDLE["model"].get(self.model, ("epsilon",) if self.samples else ()))


class Judging(Searching):
    """Second opinions about positions that a choice rests on.

    What it leaves out is as in the value's search, with ten times its limit and one line.
    """

    multipv: int = Field(default=1, ge=1, le=218)
    fresh: Searching | None = None
    """Who values the final choice afresh; what it leaves out is as the judge's, with twice the limit."""
    doubt: float = Field(default=0.0, ge=0.0, le=0.5)
    """How much too low a first value may be: what would be best then is judged too."""


def valuer_of(value: ChessValue, prep: Searching, multipv: int) -> Searching:
    """Who gives values: what its table leaves out is as in the preparation."""
    own = {k: getattr(value, k) for k in ("engine", "options", "multipv") if getattr(value, k)}
    source = value if limited(value) else prep
    own |= {k: getattr(source, k) for k in LIMITS}
    return prep.model_copy(update={"multipv": multipv} | own)


HASH = 16
"""Megabytes of hash for a judge: its searches are too long for the small hash of the others."""
TIMES, AFRESH = 10, 2
"""How much further a judge looks than the value's search, and a fresh search than the judge."""


def judges_of(judge: Judging | None, valuer: Searching, valuing: Search) -> list[Search]:
    """The searches of the judge and of the fresh value, or none."""
    if judge is None:
        return []
    first = _further(judge, valuer, valuing.limit, TIMES)
    fresh = judge.fresh or Searching(multipv=judge.multipv)
    options = judge.options if judge.engine else valuer.options | judge.options
    merged = judge.model_copy(update={"engine": judge.engine or valuer.engine, "options": options})
    return [first, _further(fresh, merged, first.limit, AFRESH)]


def _further(own: Searching, before: Searching, limit: Limit, times: int) -> Search:
    """A search that looks further than another: what its table leaves out is as there."""
    options = own.options if own.engine else before.options | own.options
    given = Searching(
        engine=own.engine or before.engine,
        options=options if "hash" in map(str.casefold, options) else options | {"Hash": HASH},
        multipv=own.multipv,
        **{k: getattr(own, k) for k in LIMITS},
    )
    if limited(own):
        return search_of(given, PREP_NODES)
    further = (
        limit.amount + round(math.log(times, 1.7)) if limit.kind == "depth" else times * limit.amount
    )
    return search_of(given.model_copy(update={limit.kind: further}), PREP_NODES)


def judge_of(
    analyst: Analyst, judging: Judging | None, judges: Sequence[Search], scale: Model | Scale | None
) -> Judge[Any] | None:
    """Second opinions by the same value model."""
    if judging is None or scale is None:
        return None
    first, fresh = (EngineValue(analyst, search, scale) for search in judges)
    return Judge(first, fresh, judging.doubt)


def scale_of(
    value: ChessValue, ratings: tuple[float | None, float | None], calibration: Scale | None
) -> Model | Scale | None:
    """How scores become values; None where games are played out instead."""
    given = {
        f"{side}.rating = {rating:g}": rating
        for side, rating in zip(("white", "black"), ratings, strict=True)
        if rating is not None
    }
    if given and value.model != "logistic":
        said = f'{next(iter(given))} has no effect with value.model = "{value.model}"'
        raise InputError(f'{said}; expected "logistic"')
    if value.model == "rollouts":
        return None
    if value.model == "calibrated":
        return calibration
    if given:
        white, black = ratings
        if white is None or black is None:
            raise InputError(f"{next(iter(given))} alone; expected white.rating and black.rating")
        return Rated(white - black)
    return value.model


def played_out(
    value: ChessValue,
    game: ChessGame,
    base: tuple[Policy[Any], Policy[Any]],
    widest: int,
    cost: float | None,
) -> tuple[Evaluator[Any], Sampling[Any]]:
    """Values by games of base against base."""
    from preplay.sampling.adaptive import AdaptiveRollouts
    from preplay.sampling.rollouts import Rollouts, enough_samples, theorem3_histories
    from preplay.sampling.samplers import Playouts

    sampler = Playouts(game, base, seed=value.seed)

    def fixed(price: float) -> Evaluator[Any]:
        size = price, game.longest, widest
        if value.samples is None:
            return Rollouts(game, sampler, *enough_samples(value.epsilon, value.delta, *size))
        return Rollouts(game, sampler, value.samples, value.delta / theorem3_histories(*size))

    if value.samples is not None:
        return fixed(cost or LEAST_COST), Sampling(fixed)
    adaptive = AdaptiveRollouts(game, sampler, value.delta)
    return adaptive, Sampling(fixed, Deciding(adaptive, value.epsilon))
