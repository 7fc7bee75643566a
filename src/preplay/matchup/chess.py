"""Chess matchups: engines on both sides, one for preparation, one for values."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, model_validator

from preplay.chess.engines.analysis import EngineSpec, Limit
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.discovery import find_command
from preplay.chess.engines.pool import EnginePool
from preplay.chess.engines.store import AnalysisStore
from preplay.chess.players.habits import Habits, read_habits
from preplay.chess.players.play import EngineMenus, EnginePolicy, EngineValue, Search, scores
from preplay.chess.rules import ChessGame, line_san
from preplay.errors import InputError
from preplay.game import Side, walk
from preplay.judging import Judge
from preplay.matchup.model import Choosing, Engines, Matchup, Notation, Sampling
from preplay.matchup.settings import LEAST_COST, LIMITS, Offering, Settings, validate, without_idle_menus
from preplay.policy import Policy
from preplay.value import Evaluator

Positive = Field(default=None, gt=0)


class Searching(Settings):
    """An engine with its options, a limit (exactly one) and K, the number of moves it scores."""

    engine: str | None = None
    options: dict[str, str | int | bool] = Field(default_factory=dict)
    nodes: int | None = Positive
    depth: int | None = Positive
    milliseconds: int | None = Positive
    multipv: int = Field(default=2, ge=1, le=218)

    @model_validator(mode="after")
    def _one_limit(self) -> Searching:
        if sum(x is not None for x in (self.nodes, self.depth, self.milliseconds)) > 1:
            raise ValueError("expected exactly one of nodes, depth, milliseconds")
        return self


class Player(Searching):
    """A search and how randomly it plays."""

    randomness: float = Field(default=0.0, ge=0.0)


class Preparation(Player, Offering):
    """What a side would play after long study, and the moves among which its book may choose."""

    margin: float = Field(default=40.0, ge=0.0)
    deviations: int = Field(default=1, ge=0)

    @property
    def scored(self) -> int:
        """How many moves a search must score, so that it tells the menu too."""
        return max(self.multipv, self.choose) if self.offering else self.multipv


class Games(Settings):
    """Games of a player, who moves as they tell; the engine's opinion counts as `weight` games."""

    file: str | list[str]
    """PGN files, folders or patterns."""
    player: str | list[str] = ""
    """A name, or several spellings of it; empty: whoever has the side."""
    weight: float = Field(default=1.0, gt=0.0)
    digest: str = ""
    """Of the files, in runs: they must not have changed since."""

    @property
    def files(self) -> tuple[str, ...]:
        """All files."""
        return (self.file,) if isinstance(self.file, str) else tuple(self.file)

    @property
    def names(self) -> tuple[str, ...]:
        """All spellings of the name."""
        given = (self.player,) if isinstance(self.player, str) else tuple(self.player)
        return tuple(name for name in given if name.strip())


class AtBoard(Player):
    """A side at the board: an engine, or somebody whose games are known."""

    games: Games | None = None


class ChessValue(Searching):
    """What a position is worth. Settings left out are those of the preparation, so one search serves."""

    model: Literal["threshold", "linear", "wdl", "logistic", "rollouts"] = "linear"
    multipv: int | None = Field(default=None, ge=1, le=218)  # type: ignore[assignment]
    samples: int | None = Field(default=None, ge=1)
    epsilon: float = Field(default=0.1, gt=0.0, lt=1.0)
    delta: float = Field(default=0.05, gt=0.0, lt=1.0)
    seed: int = 0


class Judging(Searching):
    """Second opinions about positions that a choice rests on.

    What it leaves out is as in the value's search, with ten times its limit and one line.
    """

    multipv: int = Field(default=1, ge=1, le=218)
    fresh: Searching | None = None
    """Who values the final choice afresh; what it leaves out is as the judge's, with twice the limit."""


class Start(Settings):
    """Where the game begins."""

    fen: str = ""
    moves: list[str] = Field(default_factory=list)


class Rules(Settings):
    """The game that is played, and how much of it engines are told.

    `history`: the moves since the last capture or pawn's move, or the whole game.
    """

    start: Start = Start()
    chess960: bool = False
    length: int = Field(default=100, ge=1, le=1000)
    history: Literal["reversible", "whole"] = "reversible"

    def game(self) -> ChessGame:
        """The game itself."""
        moves, whole = tuple(self.start.moves), self.history == "whole"
        return ChessGame(self.start.fen, moves, self.length, self.chess960, whole)


class Chess(Rules):
    """Everything about a chess matchup."""

    kind: Literal["chess"] = "chess"
    white: AtBoard = AtBoard()
    black: AtBoard = AtBoard()
    prep: Preparation = Preparation()
    white_prep: Preparation | None = None
    black_prep: Preparation | None = None
    value: ChessValue = ChessValue()
    judge: Judging | None = Judging()
    cost: float | None = Field(default=None, gt=0.0)
    white_cost: float | None = Field(default=None, gt=0.0)
    black_cost: float | None = Field(default=None, gt=0.0)

    @model_validator(mode="before")
    @classmethod
    def _judge_on_or_off(cls, tables: Any) -> Any:
        """`judge = false` is no judge; where values come from games there is nothing to judge."""
        if not isinstance(tables, dict) or isinstance(tables.get("judge", True), dict):
            return tables
        value = tables.get("value")
        sampled = isinstance(value, dict) and value.get("model") == "rollouts"
        judge = tables.get("judge", True)
        if judge is False or (judge is True and sampled):
            return tables | {"judge": None}
        return {k: x for k, x in tables.items() if k != "judge"} if judge is True else tables

    @model_validator(mode="after")
    def _only_scores_are_judged(self) -> Chess:
        if self.judge is not None and self.value.model == "rollouts":
            raise ValueError("values by roll-outs carry their own error; expected judge = false")
        return self


BASE_NODES, PREP_NODES = 5_000, 20_000
NEGLIGIBLE = 1e-9
"""Branches rarer than this are not searched; what they could change is in the certified bound."""


def default_store() -> Path:
    """Where analyses are kept when nothing else is said: shared by all runs of this user."""
    if named := os.environ.get("PREPLAY_STORE"):
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "preplay" / "analyses.sqlite"


@contextmanager
def open_chess(
    config: Mapping[str, Any], *, workers: int | None = None, store: Path | None = None
) -> Iterator[Matchup[Any]]:
    """The matchup of a chess configuration, with its engines running as long as the block."""
    settings = validate(Chess, config, "chess matchup")
    game = settings.game()
    white, black = search_of(settings.white, BASE_NODES), search_of(settings.black, BASE_NODES)
    keep = kept_games(store)
    habits = habits_of(settings.white.games, 1, keep), habits_of(settings.black.games, 2, keep)
    preps = tuple(study(settings.prep, own) for own in (settings.white_prep, settings.black_prep))
    studies = studied(preps[0]), studied(preps[1])
    valuer = _valuer(settings.value, settings.prep)
    valuing = search_of(valuer, PREP_NODES)
    judges = _judges(settings.judge, valuer, valuing)
    with AnalysisStore(store or default_store()) as kept, EnginePool(workers=workers) as pool:
        analyst = Analyst(pool, kept)
        base = (
            EnginePolicy(analyst, white, settings.white.randomness, habits[0]),
            EnginePolicy(analyst, black, settings.black.randomness, habits[1]),
        )
        prep = (
            EnginePolicy(analyst, studies[0], preps[0].randomness),
            EnginePolicy(analyst, studies[1], preps[1].randomness),
        )
        engines = {s.engine: pool.identity(s.engine) for s in (white, black, *studies, valuing, *judges)}
        widest = max(s.multipv for s in (white, black, *studies)) + max(
            h.widest if h else 0 for h in habits
        )
        value, sampling = _value(settings, game, base, analyst, valuing, widest)
        yield Matchup(
            name="chess",
            game=game,
            base=base,
            prep=prep,
            value=value,
            menus=(menus_of(analyst, preps[0]), menus_of(analyst, preps[1])),
            deviations=(preps[0].deviations, preps[1].deviations),
            judge=_judge(settings, analyst, judges),
            sampling=sampling,
            costs=(settings.white_cost or settings.cost, settings.black_cost or settings.cost),
            sides=("white", "black"),
            config=recorded(settings, habits)
            | {"engines": sorted(str(identity) for identity in set(engines.values()))},
            window=WINDOW,
            negligible=NEGLIGIBLE,
            notation=Notation(
                lambda history, move: line_san(game, history, move), game.start_fen, game.chess960
            ),
            engines=Engines(
                searches=lambda: analyst.stats().searches,
                telling=lambda: _telling(analyst),
                scores=lambda side, lines: scores(
                    analyst, studies[side - 1], [walk(game, h) for h in lines]
                ),
            ),
            versions={f"engine {k}": i.name for k, i in enumerate(dict.fromkeys(engines.values()), 1)},
        )


WINDOW = 16
"""Searches under way or waiting: enough to keep many engines busy, few enough to waste little."""


def kept_games(store: Path | None) -> Path:
    """Where games that were read are kept: beside the analysis store."""
    store = store or default_store()
    return store.with_name(f"{store.stem}-games")


def habits_of(given: Games | None, side: Side, keep: Path | None = None) -> Habits | None:
    """What the games of a side's player tell; a file that changed since its run is refused."""
    if given is None:
        return None
    habits = read_habits(given.files, side, given.names, given.weight, keep=keep)
    if given.digest not in ("", habits.digest):
        files = ", ".join(given.files)
        raise InputError(f"{files}: has changed since the run; its digest was {given.digest}")
    return habits


def recorded(settings: Settings, habits: tuple[Habits | None, Habits | None]) -> dict[str, Any]:
    """The settings that determine a result, with the digests of the games they name."""
    config = settings.model_dump(exclude={"cost", "white_cost", "black_cost"})
    config = without_idle_menus(config, settings)
    for side, known in zip(("white", "black"), habits, strict=True):
        if known is not None:
            config[side]["games"]["digest"] = known.digest
    return config


def search_of(player: Searching, nodes: int) -> Search:
    """What a player searches; `nodes` where it has no limit of its own."""
    limit = Limit(player.nodes, player.depth, player.milliseconds) if _limited(player) else Limit(nodes)
    return Search(EngineSpec.of(find_command(player.engine), player.options), limit, player.multipv)


def studied(prep: Preparation) -> Search:
    """The search of a preparation; it scores as many moves as the menu may hold."""
    return replace(search_of(prep, PREP_NODES), multipv=prep.scored)


def menus_of(analyst: Analyst, prep: Preparation) -> EngineMenus | None:
    """The moves among which a side's book may choose, if it may."""
    return EngineMenus(analyst, studied(prep), prep.choose, prep.margin) if prep.offering else None


P = TypeVar("P", bound=Player)


def study(prep: P, own: P | None) -> P:
    """A side's preparation: what its own table leaves out is as in the common one."""
    if own is None:
        return prep
    given = {name: getattr(own, name) for name in own.model_fields_set}
    if _limited(own):
        given |= {name: getattr(own, name) for name in LIMITS}
    return prep.model_copy(update=given)


def _valuer(value: ChessValue, prep: Preparation) -> Searching:
    """Who gives values: what its table leaves out is as in the preparation."""
    own = {k: getattr(value, k) for k in ("engine", "options", "multipv") if getattr(value, k)}
    source = value if _limited(value) else prep
    own |= {k: getattr(source, k) for k in LIMITS}
    return prep.model_copy(update={"multipv": prep.scored} | own)


HASH = 16
"""Megabytes of hash for a judge: its searches are too long for the small hash of the others."""
TIMES, AFRESH = 10, 2
"""How much further a judge looks than the value's search, and a fresh search than the judge."""


def _judges(judge: Judging | None, valuer: Searching, valuing: Search) -> list[Search]:
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
    if _limited(own):
        return search_of(given, PREP_NODES)
    further = (
        limit.amount + round(math.log(times, 1.7)) if limit.kind == "depth" else times * limit.amount
    )
    return search_of(given.model_copy(update={limit.kind: further}), PREP_NODES)


def _judge(settings: Chess, analyst: Analyst, judges: Sequence[Search]) -> Judge[Any] | None:
    """Second opinions by the same value model."""
    model = settings.value.model
    if not judges or model == "rollouts":
        return None
    first, fresh = judges
    return Judge(EngineValue(analyst, first, model), EngineValue(analyst, fresh, model))


def _limited(player: Searching) -> bool:
    return any(getattr(player, limit) is not None for limit in LIMITS)


def _value(
    settings: Chess,
    game: ChessGame,
    base: tuple[Policy[Any], Policy[Any]],
    analyst: Analyst,
    valuing: Search,
    widest: int,
) -> tuple[Evaluator[Any], Sampling[Any] | None]:
    value = settings.value
    if value.model != "rollouts":
        return EngineValue(analyst, valuing, value.model), None
    from preplay.sampling.adaptive import AdaptiveRollouts
    from preplay.sampling.rollouts import Playouts, Rollouts, enough_samples, theorem3_histories

    sampler = Playouts(game, base, seed=value.seed)

    def fixed(price: float) -> Evaluator[Any]:
        size = price, game.longest, widest
        if value.samples is None:
            return Rollouts(game, sampler, *enough_samples(value.epsilon, value.delta, *size))
        return Rollouts(game, sampler, value.samples, value.delta / theorem3_histories(*size))

    if value.samples is not None:
        return fixed(settings.cost or LEAST_COST), Sampling(fixed)
    adaptive = AdaptiveRollouts(game, sampler, value.delta)
    return adaptive, Sampling(fixed, Choosing(adaptive, value.epsilon))


def _telling(analyst: Analyst) -> str:
    now = analyst.stats()
    return f"{now.searches:,} searches  {now.remembered + now.stored:,} known"
