"""What is told of an opponent who was fitted to games: which games, which model, how well it foresees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from preplay.chess.players.foresight import Foresight
from preplay.chess.players.gather import Skipped
from preplay.chess.players.opponent import Fit
from preplay.chess.players.opponents import Opponent, save_opponent
from preplay.runs.encoding import as_data, beside, optional


@dataclass(frozen=True)
class OthersKnown:
    """What games of others tell."""

    positions: int
    moves: int


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """The numbers of the model."""

    own_weight: float
    """All else counts as so many of the player's own games."""
    population_weight: float
    """The engine counts as so many games of others."""
    engine: str
    """Who stands in where no games tell."""
    least: float
    asked: int
    """Moves that the engine was asked about."""
    choice: float
    narrow: float
    narrow_randomness: float
    wide_randomness: float
    rest: float


@dataclass(frozen=True)
class NewestGames:
    """How many games the model was held against, and how many are before them."""

    train: int
    test: int
    since: str | None
    """The date of the first of the newest; None where they are drawn."""


@dataclass(frozen=True)
class CountedGames:
    """Which games were asked for."""

    since: str
    speeds: tuple[str, ...]
    rating: tuple[int, int] | None


@dataclass(frozen=True, kw_only=True)
class OpponentResult:
    """A model of somebody's play, and how well it foresees their newest games."""

    side: Literal["white", "black"]
    players: tuple[str, ...]
    """The names that were asked for."""
    games: int
    names: Mapping[str, int]
    """How often each spelling of the name occurs."""
    speeds: Mapping[str, int]
    dates: tuple[str, str] | None
    """Of the first and the last game that has one."""
    positions: int
    """How many positions the player's games tell of."""
    known: float | None
    """The share of the newest games' positions that occur in older ones."""
    population: OthersKnown
    fitted: FittedModel
    split: NewestGames
    filters: CountedGames
    skipped: Skipped
    files: tuple[str, ...]
    warnings: tuple[str, ...]
    logloss: float | None
    """In nats a move; None where too few games were left."""
    error: float | None
    top1: float | None
    below: float | None
    reliability: tuple[tuple[float, float, int], ...] | None = optional()
    baselines: Mapping[str, float]
    """The log-loss of simpler models."""
    levels: Mapping[str, Foresight] | None = optional()
    """All that is known of these."""
    moves: int
    """How many moves the model was held against."""
    opponent: Opponent = beside()
    """The model itself."""

    def save(self, path: Path) -> None:
        """Keep the model with this account of it, for `black.opponent` of a matchup."""
        save_opponent(replace(self.opponent, report=as_data(self)), path)


def opponent_result(fit: Fit) -> OpponentResult:
    """What is told of a fit."""
    gathered, which, person = fit.gathered, fit.asking.which, fit.opponent.person
    habits, held = person.habits, fit.foresight
    dates = [game.date for game in gathered.games if game.date > "0001"]
    return OpponentResult(
        side="white" if gathered.side == 1 else "black",
        players=gathered.wanted,
        games=len(gathered.games),
        names=gathered.names,
        speeds=gathered.speeds,
        dates=(dates[0], dates[-1]) if dates else None,
        positions=habits.own.positions,
        known=fit.known,
        population=OthersKnown(habits.others.positions, habits.others.moves),
        fitted=FittedModel(
            own_weight=habits.weight,
            population_weight=habits.others_weight,
            engine=str(person.level),
            least=person.least,
            asked=fit.asked,
            **person.standin.as_data(),
        ),
        split=NewestGames(fit.train, fit.test, fit.since),
        filters=CountedGames(which.since, which.speeds, which.rating),
        skipped=gathered.skipped,
        files=tuple(map(str, gathered.files)),
        warnings=fit.warnings,
        logloss=None if held is None else held.logloss,
        error=None if held is None else held.error,
        top1=None if held is None else held.top1,
        below=None if held is None else held.below,
        reliability=None if held is None else held.reliability,
        baselines={name: level.logloss for name, level in fit.simpler.items()},
        levels=None if held is None else fit.simpler,
        moves=fit.held,
        opponent=fit.opponent,
    )
