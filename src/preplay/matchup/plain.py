"""Matchups without engines: tabular files, synthetic trees, OpenSpiel games."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from preplay.errors import InputError
from preplay.game import Game, Merging
from preplay.judging import Judge
from preplay.matchup.model import Deciding, Matchup, Sampling
from preplay.matchup.offers import searched
from preplay.matchup.settings import (
    IDLE,
    LEAST_COST,
    OWN,
    Offering,
    Settings,
    check_offers,
    validate,
    without_idle_menus,
)
from preplay.policy import Menus, Policy, Uniform, by_position
from preplay.value import Evaluator, Exact

Cost = Field(default=None, gt=0.0)


class Tabular(Settings):
    """A game written down in full, with both policies in it."""

    kind: Literal["tabular"]
    file: str
    judge: Literal["exact"] | None = None
    deviations: int | None = Field(default=None, ge=0)
    cost: float | None = Cost


class Synthetic(Settings):
    """A random game from a seed."""

    kind: Literal["synthetic"]
    length: int = Field(default=8, ge=1, le=10_000)
    width: int = Field(default=3, ge=1, le=10_000)
    luck: float = Field(default=0.0, ge=0.0, le=1.0)
    seed: int = 0
    randomness: float = Field(default=0.2, ge=0.0)
    noise: float = Field(default=1.0, ge=0.0)
    value: Literal["exact", "estimate"] = "exact"
    judge: Literal["exact"] | None = None
    cost: float | None = Cost

    def idle(self) -> Iterable[str]:
        """Exact values need no second opinion."""
        return ("judge",) if self.value == "exact" else ()


class Play(Settings):
    """A ready policy of a plain game."""

    policy: Literal["uniform", "search", "mcts"] = "uniform"
    depth: int = Field(default=2, ge=1)
    rollouts: int = Field(default=0, ge=0)
    simulations: int = Field(default=100, ge=1)
    exploration: float = Field(default=1.0, ge=0.0)
    randomness: float = Field(default=0.0, ge=0.0)
    seed: int = 0

    def idle(self) -> Iterable[str]:
        """What other policies look at; and the seed of a search without random games."""
        silent = self.policy == "search" and not self.rollouts
        return (*IDLE["policy"][self.policy], "seed") if silent else IDLE["policy"][self.policy]


class Studied(Play, Offering):
    """A preparation: it may offer the best few actions of its search, for a book to choose from."""

    margin: float = Field(default=1.0, ge=0.0)

    @model_validator(mode="after")
    def _only_a_search_offers(self) -> Studied:
        if self.choose > 1 and self.policy == "uniform":
            raise ValueError("choose needs policy 'search' or 'mcts'; a uniform one likes all alike")
        return self


class PlainValue(Settings):
    """How v(h) is found: by enumeration, or by roll-outs with an error radius."""

    model: Literal["exact", "rollouts", "adaptive"] = "exact"
    samples: int | None = Field(default=None, ge=1)
    epsilon: float = Field(default=0.05, gt=0.0, lt=1.0)
    delta: float = Field(default=0.05, gt=0.0, lt=1.0)
    seed: int = 0

    def idle(self) -> Iterable[str]:
        """What other models look at; a given number of samples needs no ε."""
        return IDLE["model"].get(self.model, ("epsilon",) if self.samples else ())


class OpenSpiel(Settings):
    """An OpenSpiel game by name, with a ready policy for each part."""

    kind: Literal["openspiel"]
    game: str
    base: Play = Field(default_factory=Play)
    base1: Play | None = None
    base2: Play | None = None
    prep: Studied = Field(default_factory=lambda: Studied(policy="search"))
    prep1: Studied | None = None
    prep2: Studied | None = None
    value: PlainValue = Field(default_factory=PlainValue)
    memory: Literal["histories", "positions"] = "histories"
    cost: float | None = Cost

    def idle(self) -> Iterable[str]:
        """What both sides have tables of their own instead of."""
        return [name for name in OWN if all(getattr(self, own) for own in OWN[name])]

    @model_validator(mode="after")
    def _margins_are_of_menus(self) -> OpenSpiel:
        check_offers({"prep": self.prep}, {"prep1": self.prep1}, {"prep2": self.prep2})
        return self

    @model_validator(mode="after")
    def _rollouts_need_a_number(self) -> OpenSpiel:
        if self.value.model == "rollouts" and self.value.samples is None and self.cost is None:
            raise ValueError("value.model 'rollouts' needs value.samples, or a cost for Theorem 3's K")
        return self


def open_tabular(config: Mapping[str, Any]) -> Matchup[Any]:
    """The matchup of a `preplay-game/1` file; its digest is part of the identity."""
    from preplay.games import tabular

    settings = validate(Tabular, config, "tabular matchup")
    game = tabular.load(settings.file)
    if settings.judge and not game.estimates:
        raise InputError(
            f'tabular matchup: judge = "exact" has no effect, as no history of {settings.file} has a '
            '"value" of its own: all are exact'
        )
    if settings.deviations is not None and not any(game.offers):
        raise InputError(
            f"tabular matchup: deviations = {settings.deviations} has no effect, as no action of "
            f'{settings.file} has "menu": true'
        )
    digest = hashlib.sha256(Path(settings.file).read_bytes()).hexdigest()
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    return Matchup(
        name=Path(settings.file).stem,
        game=game,
        base=(base, base),
        prep=(prep, prep),
        value=tabular.TabularValue(),
        judge=_judge(settings.judge, game, base),
        menus=(
            tabular.TabularMenus() if game.offers[0] else None,
            tabular.TabularMenus() if game.offers[1] else None,
        ),
        costs=(settings.cost, settings.cost),
        deviations=(settings.deviations, settings.deviations),
        config={"kind": "tabular", "sha256": digest}
        | ({"judge": settings.judge} if settings.judge else {})
        | ({} if settings.deviations is None else {"deviations": settings.deviations}),
        enumerable=True,
        window=4096,
    )


def open_synthetic(config: Mapping[str, Any]) -> Matchup[Any]:
    """A random game with noisy base and clear-sighted prep."""
    from preplay.games import synthetic

    settings = validate(Synthetic, config, "synthetic matchup")
    histories = settings.width**settings.length
    key = "value" if settings.value == "exact" else "judge"
    if "exact" in (settings.value, settings.judge) and histories > 5_000_000:
        raise InputError(
            f'synthetic matchup: {key} = "exact" over {settings.width}^{settings.length} games; '
            'expected at most 5,000,000 games, or value = "estimate"'
        )
    game = synthetic.SyntheticGame(settings.length, settings.width, settings.luck, seed=settings.seed)
    base = synthetic.SyntheticPolicy(game, "base", settings.randomness, settings.noise)
    prep = synthetic.SyntheticPolicy(game, "prep", settings.randomness, settings.noise)
    exact = settings.value == "exact"
    value: Evaluator[synthetic.SyntheticState] = (
        Exact(game, (base, base)) if exact else synthetic.SyntheticValue()
    )
    return Matchup(
        name="synthetic",
        game=game,
        base=(base, base),
        prep=(prep, prep),
        value=value,
        judge=_judge(settings.judge, game, base),
        costs=(settings.cost, settings.cost),
        config=settings.model_dump(),
        enumerable=exact,
        window=1024,
    )


def _judge(judge: Literal["exact"] | None, game: Game[Any], base: Policy[Any]) -> Judge[Any] | None:
    """The judge of a game that is small enough to be played out, if one was asked for."""
    if judge is None:
        return None
    exact = Exact(game, (base, base))
    return Judge(exact, exact)


def open_openspiel(config: Mapping[str, Any]) -> Matchup[Any]:
    """Any suitable OpenSpiel game; weak base and strong prep are a matter of numbers."""
    from preplay.games.openspiel import openspiel

    settings = validate(OpenSpiel, config, "openspiel matchup")
    game = openspiel(settings.game)
    base = (_play(game, settings.base1 or settings.base), _play(game, settings.base2 or settings.base))
    studies = settings.prep1 or settings.prep, settings.prep2 or settings.prep
    prep = _play(game, studies[0]), _play(game, studies[1])
    value, sampling = valued(game, base, settings.value, settings.cost)
    return Matchup(
        name=settings.game,
        game=game,
        base=base,
        prep=prep,
        value=value,
        menus=(_menus(prep[0], studies[0]), _menus(prep[1], studies[1])),
        position=game.position if settings.memory == "positions" else None,
        deviations=(studies[0].deviations, studies[1].deviations),
        sampling=sampling,
        costs=(settings.cost, settings.cost),
        config=without_idle_menus(
            settings.model_dump(exclude={"memory"} if settings.memory == "histories" else set()), settings
        ),
        window=256,
        versions={"open_spiel": version("open_spiel")},
    )


def _play(game: Any, play: Play) -> Policy[Any]:
    if play.policy == "uniform":
        return Uniform(game)
    if play.policy == "search":
        from preplay.games.search import SearchPolicy

        return SearchPolicy(
            game,
            play.depth,
            randomness=play.randomness,
            rollouts=play.rollouts,
            seed=play.seed,
            key=game.position,
        )
    from preplay.games.mcts import MctsPolicy

    return MctsPolicy(
        game, play.simulations, play.exploration, temperature=play.randomness, seed=play.seed
    )


def _menus(policy: Policy[Any], study: Studied) -> Menus[Any] | None:
    """The best actions of the search that prep makes, if a book may choose among them."""
    return searched(policy, study.choose, study.margin) if study.offering else None


def valued(
    game: Game[Any], base: tuple[Policy[Any], Policy[Any]], value: PlainValue, cost: float | None
) -> tuple[Evaluator[Any], Sampling[Any] | None]:
    """v(h) as the settings say: exact, or sampled for books at a price (`cost` where none is given)."""
    if value.model == "exact":
        looking = by_position(base[0]) and by_position(base[1])
        key = game.position if looking and isinstance(game, Merging) and game.merges else None
        return Exact(game, base, key=key), None
    from preplay.sampling.adaptive import AdaptiveRollouts
    from preplay.sampling.rollouts import Rollouts, enough_samples, theorem3_histories, theorem3_samples
    from preplay.sampling.samplers import sampler_of

    sampler = sampler_of(game, base, value.seed)

    def fixed(price: float) -> Evaluator[Any]:
        size = price, game.longest, game.widest
        if value.model == "adaptive":
            return Rollouts(game, sampler, *enough_samples(value.epsilon, value.delta, *size))
        samples = value.samples or theorem3_samples(value.epsilon, value.delta, *size)
        return Rollouts(game, sampler, samples, value.delta / theorem3_histories(*size))

    if value.model == "rollouts":
        return fixed(cost or LEAST_COST), Sampling(fixed)
    adaptive = AdaptiveRollouts(game, sampler, value.delta)
    return adaptive, Sampling(fixed, Deciding(adaptive, value.epsilon))
