"""Chess matchups with a clock for the whole game: time is spent, and preparation saves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from preplay.chess.clock import ClockedChess, EngineEffort, Guess
from preplay.chess.engines.analysis import EngineSpec
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.cluster import open_pool
from preplay.chess.engines.discovery import find_command
from preplay.chess.engines.store import AnalysisStore
from preplay.chess.players.habits import Habits
from preplay.chess.players.play import EnginePolicy, scores
from preplay.game import Side, walk
from preplay.games.clocked import AtTheBoard, FromMemory, ShareOfTheRest, geometric_levels
from preplay.matchup.chess import (
    AHEAD_OF_ENGINES,
    NEGLIGIBLE,
    WINDOW,
    default_store,
    kept_games,
)
from preplay.matchup.chess_settings import Player, Rules, recorded, study
from preplay.matchup.model import Clock, Deciding, Engines, Matchup, Notation
from preplay.matchup.people import Known, habits_of, record_of
from preplay.matchup.searching import PREP_NODES, search_of
from preplay.matchup.settings import Settings, validate
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.replaying import Memory, time_share
from preplay.sampling.streams import Streams
from preplay.sampling.timeshare import TimeShare
from preplay.stopping import Stop


class Timing(Settings):
    """The time of each side, and how base spends it: a share of the rest and a part of the increment."""

    unit: Literal["nodes", "milliseconds"] = "nodes"
    budget: int = Field(default=30_000, ge=1)
    increment: int = Field(default=0, ge=0)
    share: float = Field(default=0.05, gt=0.0, le=1.0)
    increment_share: float = Field(default=0.75, ge=0.0, le=1.0)
    least: int = Field(default=100, ge=1)
    most: int | None = Field(default=None, ge=1)
    grid: float = Field(default=1.25, gt=1.0, le=10.0)

    @model_validator(mode="after")
    def _bounds(self) -> Timing:
        if self.most is not None and self.most < self.least:
            raise ValueError(f"clock.most = {self.most} below clock.least = {self.least}")
        return self


class ClockedPlayer(Known):
    """A side at the board; what it leaves out of its time is as in the clock."""

    engine: str | None = None
    options: dict[str, str | int | bool] = Field(default_factory=dict)
    multipv: int = Field(default=2, ge=1, le=218)
    randomness: float = Field(default=0.0, ge=0.0)
    budget: int | None = Field(default=None, ge=1)
    increment: int | None = Field(default=None, ge=0)
    share: float | None = Field(default=None, gt=0.0, le=1.0)


class ClockedValue(Settings):
    """How v(h) is found: a first guess, playouts until the book is certain, fresh games to value it."""

    epsilon: float = Field(default=0.2, gt=0.0, lt=1.0)
    delta: float = Field(default=0.05, gt=0.0, lt=1.0)
    playouts: int = Field(default=1000, ge=0)
    games: int = Field(default=300, ge=2)
    slope: float = Field(default=0.003, gt=0.0)
    doubling: float = Field(default=0.3, ge=0.0)
    seed: int = 0


class ClockedMatchup(Rules):
    """Everything about a chess matchup with a clock."""

    kind: Literal["chess-clock"] = "chess-clock"
    resign: int | None = Field(default=400, ge=1)
    clock: Timing = Timing()
    white: ClockedPlayer = ClockedPlayer()
    black: ClockedPlayer = ClockedPlayer()
    prep: Player = Player(multipv=1)
    white_prep: Player | None = None
    black_prep: Player | None = None
    value: ClockedValue = ClockedValue()
    cost: float | None = Field(default=None, gt=0.0)
    white_cost: float | None = Field(default=None, gt=0.0)
    black_cost: float | None = Field(default=None, gt=0.0)


@contextmanager
def open_chess_clock(
    config: Mapping[str, Any],
    *,
    workers: int | None = None,
    store: Path | None = None,
    cluster: str | None = None,
) -> Iterator[Matchup[Any]]:
    """The matchup of a configuration with a clock; its engines run as long as the block."""
    settings = validate(ClockedMatchup, config, "chess-clock matchup")
    game, players = _game(settings), (settings.white, settings.black)
    preps = tuple(study(settings.prep, own) for own in (settings.white_prep, settings.black_prep))
    studies = [search_of(prep, PREP_NODES) for prep in preps]
    keep = kept_games(store)
    habits = habits_of(settings.white, 1, keep), habits_of(settings.black, 2, keep)
    value = settings.value
    with AnalysisStore(store or default_store()) as kept, open_pool(cluster, workers) as pool:
        analyst = Analyst(pool, kept)
        rules = tuple(_rule(settings.clock, player) for player in players)
        efforts = [_effort(settings, p, analyst, h) for p, h in zip(players, habits, strict=True)]
        base = (AtTheBoard(game, rules[0], efforts[0]), AtTheBoard(game, rules[1], efforts[1]))
        prep = (
            FromMemory(EnginePolicy(analyst, studies[0], preps[0].randomness)),
            FromMemory(EnginePolicy(analyst, studies[1], preps[1].randomness)),
        )
        specs = [*(effort.engine for effort in efforts), *(study.engine for study in studies)]
        engines = {spec: pool.identity(spec) for spec in specs}
        rollouts = AdaptiveRollouts(game, Streams(game, base, value.seed), value.delta, first=0)

        def replay(
            side: Side, book: Memory, stop: Stop, progress: Callable[[int], None] | None
        ) -> TimeShare:
            rule = rules[side - 1]
            return time_share(
                game, base, side, book, rule, value.games, value.seed, stop=stop, progress=progress
            )

        yield Matchup(
            name="chess-clock",
            game=game,
            base=base,
            prep=prep,
            value=Guess(analyst, search_of(settings.prep, PREP_NODES), value.slope, value.doubling),
            costs=(settings.white_cost or settings.cost, settings.black_cost or settings.cost),
            sides=("white", "black"),
            config=recorded(settings, [record_of(*row) for row in zip(habits, players, strict=True)])
            | {"engines": sorted(str(identity) for identity in set(engines.values()))},
            window=WINDOW,
            busy=AHEAD_OF_ENGINES * pool.workers,
            negligible=NEGLIGIBLE,
            clock=Clock(Deciding(rollouts, value.epsilon, value.playouts), replay),
            notation=Notation(game.write, game.start_fen, game.chess960),
            engines=Engines(
                searches=lambda: analyst.stats().searches,
                telling=lambda: f"{analyst.stats().searches:,} searches",
                scores=lambda side, lines: scores(
                    analyst, studies[side - 1], [walk(game, line).inner for line in lines]
                ),
            ),
            versions={f"engine {k}": i.name for k, i in enumerate(dict.fromkeys(engines.values()), 1)},
        )


def _game(settings: ClockedMatchup) -> ClockedChess:
    clock, players = settings.clock, (settings.white, settings.black)
    inner = settings.game()
    budget = tuple(clock.budget if p.budget is None else p.budget for p in players)
    increment = tuple(clock.increment if p.increment is None else p.increment for p in players)
    top = max(clock.least, *(b + i * settings.length for b, i in zip(budget, increment, strict=True)))
    return ClockedChess(
        inner,
        (budget[0], budget[1]),
        (increment[0], increment[1]),
        geometric_levels(clock.least, top, clock.grid),
        resigning=settings.resign is not None,
    )


def _rule(clock: Timing, player: ClockedPlayer) -> ShareOfTheRest:
    share = clock.share if player.share is None else player.share
    return ShareOfTheRest(share, clock.increment_share, clock.least, clock.most)


def _effort(
    settings: ClockedMatchup, player: ClockedPlayer, analyst: Analyst, habits: Habits | None
) -> EngineEffort:
    engine = EngineSpec.of(find_command(player.engine), player.options)
    unit = settings.clock.unit
    return EngineEffort(analyst, engine, unit, player.multipv, player.randomness, settings.resign, habits)
