"""Chess matchups: engines on both sides, one for preparation, one for values."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from preplay.chess.books.lines import position_key
from preplay.chess.calibration import LIVELY, Calibrator, Table
from preplay.chess.engines.analysis import Identity
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.cluster import open_pool
from preplay.chess.engines.speculation import Speculation
from preplay.chess.engines.store import AnalysisStore
from preplay.chess.players.person import Level
from preplay.chess.players.play import EngineMenus, EnginePolicy, EngineValue, Search
from preplay.chess.players.repertoire import (
    KnownGame,
    Repertoire,
    RepertoirePlay,
    read_repertoire,
)
from preplay.chess.rules import ChessGame, ChessState, line_san
from preplay.errors import InputError
from preplay.game import Side, walk
from preplay.matchup.chess_settings import (
    AtBoard,
    Chess,
    Preparation,
    recorded,
    study,
)
from preplay.matchup.chess_values import (
    RESULTS,
    judge_of,
    judges_of,
    played_out,
    scale_of,
    valuer_of,
)
from preplay.matchup.model import Engines, Matchup, Notation, Sampling
from preplay.matchup.people import Seat, people_of, seat_of_engine, seat_of_games, seat_of_rivals
from preplay.matchup.searching import BASE_NODES, PREP_NODES, search_of
from preplay.matchup.settings import (
    validate,
)
from preplay.policy import Policy
from preplay.value import Evaluator

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
    config: Mapping[str, Any],
    *,
    workers: int | None = None,
    store: Path | None = None,
    cluster: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Matchup[Any]]:
    """The matchup of a chess configuration, with its engines running as long as the block."""
    settings = validate(Chess, config, "chess matchup")
    game = settings.game()
    white, black = search_of(settings.white, BASE_NODES), search_of(settings.black, BASE_NODES)
    preps = tuple(study(settings.prep, own) for own in (settings.white_prep, settings.black_prep))
    known = _Files.of(preps[0], 1, settings.chess960), _Files.of(preps[1], 2, settings.chess960)
    studies = studied(preps[0]), studied(preps[1])
    valuer = valuer_of(settings.value, settings.prep, settings.prep.scored)
    valuing = search_of(valuer, PREP_NODES)
    judges = judges_of(settings.judge, valuer, valuing)
    with AnalysisStore(store or default_store()) as kept, open_pool(cluster, workers) as pool:
        analyst = Analyst(pool, kept, speculation=Speculation(settings.history == "whole"))
        seats = (
            _seat(settings.white, 1, game, white, analyst, kept_games(store), progress),
            _seat(settings.black, 2, game, black, analyst, kept_games(store), progress),
        )
        base = seats[0].policy, seats[1].policy
        prep = (
            _prep(analyst, studies[0], preps[0], known[0]),
            _prep(analyst, studies[1], preps[1], known[1]),
        )
        asked = [*(s for seat in seats for s in seat.searches), *studies, valuing, *judges]
        engines = {s.engine: pool.identity(s.engine) for s in asked}
        widest = max(*(s.multipv for s in studies), *(seat.widest for seat in seats))
        plain = (
            EnginePolicy(analyst, studies[0], preps[0].randomness),
            EnginePolicy(analyst, studies[1], preps[1].randomness),
        )
        calibration = _calibration(settings, game, seats, plain, analyst, valuing, kept, engines.values())
        scale = scale_of(settings.value, (settings.white.rating, settings.black.rating), calibration)
        value: Evaluator[Any]
        sampling: Sampling[Any] | None
        if scale is None:
            value, sampling = played_out(settings.value, game, base, widest, settings.cost)
        else:
            value, sampling = EngineValue(analyst, valuing, scale), None
        yield Matchup(
            name="chess",
            game=known[1].around(known[0].around(game, 1), 2),
            base=base,
            prep=prep,
            value=value,
            menus=(_menus(prep[0], preps[0]), _menus(prep[1], preps[1])),
            deviations=(_deviations(preps[0]), _deviations(preps[1])),
            position=_key if settings.memory == "positions" else None,
            known=(known[0].moves, known[1].moves),
            judge=judge_of(analyst, settings.judge, judges, scale),
            calibration=calibration,
            scores="results" if settings.value.model in RESULTS else "model",
            sampling=sampling,
            costs=(settings.white_cost or settings.cost, settings.black_cost or settings.cost),
            sides=("white", "black"),
            config=recorded(settings, [seat.record for seat in seats], [one.digests for one in known])
            | {"engines": sorted(str(identity) for identity in set(engines.values()))},
            window=WINDOW,
            busy=AHEAD_OF_ENGINES * pool.workers if pool.workers > FEW else 0,
            negligible=NEGLIGIBLE,
            people=(people_of(seats[0]), people_of(seats[1])),
            notation=Notation(
                lambda history, move: line_san(game, history, move), game.start_fen, game.chess960
            ),
            engines=Engines(
                searches=lambda: analyst.stats().searches,
                telling=lambda: _telling(analyst),
                scores=lambda side, lines: prep[side - 1].scores([walk(game, h) for h in lines]),
            ),
            versions={f"engine {k}": i.name for k, i in enumerate(dict.fromkeys(engines.values()), 1)},
        )


WINDOW = 16
"""Searches under way or waiting: enough to keep many engines busy, few enough to waste little."""
FEW = 8
"""So many engines at most have enough to do with that."""
AHEAD_OF_ENGINES = 6
"""Searches for each engine, where there are so many engines that this is more. Answers are taken in the
order asked: while the slowest of hundreds of searches is waited for, the other engines need work."""


def kept_games(store: Path | None) -> Path:
    """Where games that were read are kept: beside the analysis store."""
    store = store or default_store()
    return store.with_name(f"{store.stem}-games")


def _seat(
    player: AtBoard,
    side: Side,
    game: ChessGame,
    search: Search,
    analyst: Analyst,
    keep: Path,
    progress: Callable[[str], None] | None = None,
) -> Seat:
    """Who sits at the board: an engine, a person of some games, or rivals that were fitted before."""
    if player.opponent:
        return seat_of_rivals(player.opponent, side, game, analyst)
    if player.games is None or player.games.weight is not None:
        return seat_of_engine(player, side, search, player.randomness, analyst, keep)
    level = Level(player.engine, player.options, player.nodes or BASE_NODES)
    return seat_of_games(player.games, side, [level], analyst, keep, progress)


def _key(state: ChessState) -> Hashable:
    """What is learned once, however it is reached."""
    return position_key(state.board)


FILES = {
    "repertoire": "lines to play",
    "avoid": "lines to avoid",
    "extend": "lines that are known",
}
"""The files of a preparation, and what each should hold."""


@dataclass(frozen=True)
class _Files:
    """The files of a side's preparation, read."""

    repertoire: Repertoire | None = None
    avoid: Repertoire | None = None
    extend: Repertoire | None = None

    @classmethod
    def of(cls, prep: Preparation, side: Side, chess960: bool) -> _Files:
        """What the files say; one that changed since its run is refused."""
        found = {}
        for name, meant in FILES.items():
            if path := getattr(prep, name):
                found[name] = read_repertoire(path, side, chess960, meant)
                before = prep.digests.get(name, "")
                if before not in ("", found[name].digest):
                    raise InputError(f"{path}: has changed since the run; its digest was {before}")
        for name in ("repertoire", "extend"):
            if name in found and "avoid" in found:
                found[name] = found[name].without(found["avoid"])
        return cls(**found)

    @property
    def digests(self) -> dict[str, str]:
        return {name: file.digest for name in FILES if (file := getattr(self, name)) is not None}

    @property
    def moves(self) -> dict[str, tuple[str, ...]] | None:
        """What is known already, by position."""
        return None if self.extend is None else self.extend.by_board

    def around(self, game: Any, side: Side) -> Any:
        """The game in which known positions are played by themselves."""
        return game if self.extend is None else KnownGame(game, side, self.extend)


def studied(prep: Preparation) -> Search:
    """The search of a preparation; it scores as many moves as the menu may hold."""
    return replace(search_of(prep, PREP_NODES), multipv=prep.scored)


def _prep(
    analyst: Analyst, search: Search, prep: Preparation, known: _Files
) -> EnginePolicy | RepertoirePlay:
    """What a side would play after long study, within its repertoire if it has one."""
    if known.repertoire is None and known.avoid is None:
        return EnginePolicy(analyst, search, prep.randomness)
    most = prep.choose if prep.offering else 1
    files = known.repertoire, known.avoid
    return RepertoirePlay(analyst, search, most, prep.margin, *files, prep.randomness)


def _menus(
    policy: EnginePolicy | RepertoirePlay, prep: Preparation
) -> EngineMenus | RepertoirePlay | None:
    """The moves among which a side's book may choose, if it may."""
    if isinstance(policy, RepertoirePlay):
        return policy if prep.offering or policy.only is not None else None
    if not prep.offering:
        return None
    return EngineMenus(policy.analyst, policy.search, prep.choose, prep.margin)


def _deviations(prep: Preparation) -> int | None:
    """How many moves of a line may be others than the first; within a repertoire alone, any number."""
    return None if prep.repertoire and prep.choose == 1 else prep.deviations


PAIRING = ("start", "chess960", "history", "white", "black", "prep", "white_prep", "black_prep")
"""The settings that say how calibration games are played."""


BOOKS_OWN = ("choose", "margin", "deviations", "repertoire", "avoid", "extend", "digests")
"""The settings of a preparation that are about its books alone."""


def _calibration(
    settings: Chess,
    game: ChessGame,
    seats: tuple[Seat, Seat],
    prep: tuple[EnginePolicy, EnginePolicy],
    analyst: Analyst,
    valuing: Search,
    store: AnalysisStore,
    engines: Iterable[Identity],
) -> Calibrator | None:
    """Games of this pairing that say what a score is worth to it, where the value model asks for them."""
    if settings.value.model != "calibrated":
        return None
    whole = replace(game, length=ENDLESS)
    base = seats[0].policy, seats[1].policy
    lively = _lively(base[0]), _lively(base[1])
    table = Table(whole, base, lively, prep, analyst, valuing, settings.value.seed)
    config = recorded(settings, [seat.record for seat in seats])
    config = {key: value for key, value in config.items() if key in PAIRING}
    for name in ("prep", "white_prep", "black_prep"):  # what a book may choose changes no game of these
        config[name] = {k: v for k, v in (config[name] or {}).items() if k not in BOOKS_OWN} or None
    scoring = [valuing.engine.options, str(valuing.limit), valuing.multipv, settings.value.seed]
    what = json.dumps(["calibration/1", config, scoring, sorted(map(str, set(engines)))], sort_keys=True)
    topic = f"calibration {hashlib.sha256(what.encode()).hexdigest()}"
    alike = base[0] == base[1]
    return Calibrator(table, store, topic, settings.value.games, alike)


def _lively(policy: Policy[ChessState]) -> Policy[ChessState]:
    """The same, playing at random enough that games differ; people do."""
    if isinstance(policy, EnginePolicy):
        return replace(policy, randomness=max(policy.randomness, LIVELY))
    return policy


ENDLESS = 100_000
"""Half-moves that no game has: the rules end it before."""


def _telling(analyst: Analyst) -> str:
    now = analyst.stats()
    told = f"{now.searches:,} searches  {now.remembered + now.stored:,} known"
    return f"{told}  {now.asked_ahead:,} asked ahead, {now.used:,} used" if now.asked_ahead else told
