"""People in chess matchups: games that are fitted in passing, and opponents that were fitted before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from preplay.accounts import People
from preplay.book import Book
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players.counts import together
from preplay.chess.players.filters import SPEEDS, GameFilter
from preplay.chess.players.frequent import frequent_book, most_played
from preplay.chess.players.habits import Habits, read_habits
from preplay.chess.players.opponent import Asking, digest_of_all, fit_opponent
from preplay.chess.players.opponents import Opponent, load_opponent, opponent_data, opponent_of
from preplay.chess.players.person import Level, PersonPolicy, parse_level
from preplay.chess.players.play import EnginePolicy, Search
from preplay.chess.players.rivals import RivalsPolicy
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import InputError, nearest
from preplay.frozen import thawed
from preplay.game import Distribution, Side
from preplay.matchup.settings import Settings

IN_PASSING = 400
"""Moves that engines are asked about, at most, when a player is fitted in passing."""


class Games(Settings):
    """Games of a player, who moves as they tell.

    With `weight` they count over the side's engine, whose opinion counts as so many games. Without it the
    whole model is fitted: own games over those of others over an engine that stands in.
    """

    file: str | list[str]
    """PGN files, folders or patterns."""
    player: str | list[str] = ""
    """A name, or several spellings of it; empty: whoever has the side."""
    weight: float | None = Field(default=None, gt=0.0)
    population: str | list[str] = Field(default_factory=list)
    """More PGN: how others play, where the player has no games."""
    since: str | int = ""
    until: str | int = ""
    speed: str | list[str] = Field(default_factory=list)
    rating: str = ""
    level: str | list[str] = Field(default_factory=list)
    """Engines that may stand in, as in "nodes=2000" or "UCI_Elo=1800"."""
    digest: str = ""
    """Of the files, in runs: they must not have changed since."""
    fitted: dict[str, Any] | None = None
    """What was fitted, in runs: it is not fitted again."""

    @field_validator("since", "until")
    @classmethod
    def _a_date(cls, value: str | int) -> str:
        return parse_since(str(value))

    @property
    def files(self) -> tuple[str, ...]:
        """All files."""
        return _listed(self.file)

    @property
    def names(self) -> tuple[str, ...]:
        """All spellings of the name."""
        return _listed(self.player)

    @property
    def which(self) -> GameFilter:
        """Which games count."""
        speeds, rating = parse_speeds(self.speed), parse_rating(self.rating)
        return GameFilter(str(self.since), speeds, rating, str(self.until))


class Rival(Settings):
    """An opponent that was fitted before."""

    file: str
    share: float | None = Field(default=None, gt=0.0, le=1.0)
    """How likely it is that this is the one; those without share what is left."""
    digest: str = ""
    """Of the file, in runs: it must not have changed since."""


class Known(Settings):
    """The people in a side's table."""

    games: Games | None = None
    opponent: list[Rival] = Field(default_factory=list)
    """One rival, or several of whom one will come."""

    @field_validator("opponent", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        several = value if isinstance(value, list) else [value]
        return [{"file": one} if isinstance(one, str) else one for one in several if one is not None]

    @model_validator(mode="after")
    def _one_model(self) -> Known:
        if self.games is not None and self.opponent:
            raise ValueError("games and an opponent; expected one of the two")
        return self


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else tuple(value)
    return tuple(text for text in given if text.strip())


def parse_since(text: str) -> str:
    """A date from which games count: 2019, 2019.05, 2019-05-31."""
    parts = text.replace("-", ".").split(".") if text else []
    if not all(part.isascii() and part.isdigit() for part in parts) or len(parts) > 3:
        raise ValueError("expected a date as in 2019, 2019.05 or 2019.05.31")
    if parts and len(parts[0]) != 4:
        raise ValueError("expected a date that begins with a year of four digits, as in 2019")
    year, month, day = (int(part) for part in [*parts, "1", "1"][:3]) if parts else (1, 1, 1)
    try:
        date(year, month, day)
    except ValueError:
        raise ValueError("expected a date of the calendar, as in 2019, 2019.05 or 2019.05.31") from None
    return ".".join(part.rjust(2, "0") for part in parts)


def parse_speeds(given: str | Sequence[str]) -> tuple[str, ...]:
    """Speeds, separated by commas."""
    words = [word.strip().casefold() for text in _listed(given) for word in text.split(",")]
    for word in words:
        if word not in SPEEDS:
            raise InputError(f"speed '{word}'; {nearest(word, SPEEDS)}")
    return tuple(words)


def parse_rating(text: str) -> tuple[int, int] | None:
    """A range of ratings, as in 2000-2400, 2000- or -2400."""
    if not text.strip():
        return None
    low, dash, high = (part.strip() for part in text.partition("-"))
    if not dash or not all(part == "" or (part.isascii() and part.isdigit()) for part in (low, high)):
        raise InputError(f"rating '{text}'; expected a range as in 2000-2400, 2000- or -2400")
    span = int(low or 0), int(high or 9999)
    if span[0] > span[1]:
        raise InputError(f"rating '{text}' is reversed; expected the lower one first, as in 2000-2400")
    return span


@dataclass(frozen=True, eq=False)
class Seat:
    """Who sits at the board: the policy, and what a run must remember of it."""

    policy: EnginePolicy | PersonPolicy | RivalsPolicy
    searches: tuple[Search, ...]
    widest: int
    """The largest number of different moves in one position."""
    record: dict[str, Any] = field(default_factory=dict)
    opponents: tuple[Opponent, ...] = ()
    shares: tuple[float, ...] = ()
    """How likely each opponent is."""


def seat_of_engine(
    known: Known, side: Side, search: Search, randomness: float, analyst: Analyst, keep: Path
) -> Seat:
    """An engine, or one that stands in for games with a weight that is given."""
    habits = habits_of(known, side, keep)
    policy = EnginePolicy(analyst, search, randomness, habits)
    if habits is None:
        return Seat(policy, (search,), search.multipv)
    record = {"games": {"digest": habits.digest}}
    return Seat(policy, (search,), search.multipv + habits.widest, record)


def _seated(
    opponents: Sequence[Opponent],
    whole: PersonPolicy | RivalsPolicy,
    record: dict[str, Any],
    shares: tuple[float, ...],
) -> Seat:
    policies = whole.rivals if isinstance(whole, RivalsPolicy) else (whole,)
    widest = sum(p.search.multipv + p.person.habits.widest + 1 for p in policies)
    return Seat(whole, tuple(p.search for p in policies), widest, record, tuple(opponents), shares)


def seat_of_games(
    given: Games,
    side: Side,
    levels: Sequence[Level],
    analyst: Analyst,
    keep: Path,
    progress: Callable[[str], None] | None = None,
) -> Seat:
    """The player of some games, fitted unless a run remembers what was fitted."""
    digest = digest_of_all([*given.files, *_listed(given.population)])
    if given.digest not in ("", digest):
        files = ", ".join(given.files)
        raise InputError(f"{files}: has changed since the run; its digest was {given.digest}")
    wanted = tuple(parse_level(text) for text in _listed(given.level)) or tuple(levels)
    asking = Asking(given.which, _listed(given.population), wanted, IN_PASSING)
    if given.fitted is None:
        fit = fit_opponent(analyst, given.files, given.names, side, asking, keep=keep, progress=progress)
        opponent = fit.opponent
        whole = opponent_data(opponent)
        fitted = {
            name: whole[name] for name in ("level", "standin", "least", "own_weight", "others_weight")
        }
        fitted["logloss"] = None if fit.foresight is None else fit.foresight.logloss
    else:
        nothing = replace(asking, sample=0, levels=wanted[:1])
        fit = fit_opponent(analyst, given.files, given.names, side, nothing, keep=keep, progress=progress)
        opponent, fitted = fit.opponent, given.fitted
        try:
            opponent = opponent_of(opponent_data(opponent) | fitted)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"games.fitted: {error}; expected what a run recorded") from None
    policy = PersonPolicy(analyst, opponent.person, opponent.person.level.search())
    return _seated((opponent,), policy, {"games": {"digest": digest, "fitted": fitted}}, (1.0,))


def seat_of_rivals(given: Sequence[Rival], side: Side, game: ChessGame, analyst: Analyst) -> Seat:
    """One opponent that was fitted before, or several of whom one will come."""
    found: list[Opponent] = []
    rows = []
    for rival in given:
        opponent, digest = _loaded(rival, side)
        found.append(opponent)
        rows.append(rival.model_dump() | {"digest": digest})
    shares = shares_of(given)
    policies = tuple(PersonPolicy(analyst, o.person, o.person.level.search()) for o in found)
    whole = policies[0] if len(policies) == 1 else RivalsPolicy(game, side, policies, shares)
    return _seated(found, whole, {"opponent": rows}, shares)


def _loaded(rival: Rival, side: Side) -> tuple[Opponent, str]:
    opponent, digest = load_opponent(rival.file)
    if rival.digest not in ("", digest):
        raise InputError(f"{rival.file}: has changed since the run; its digest was {rival.digest}")
    if opponent.side != side:
        has, needs = ("White", "Black") if opponent.side == 1 else ("Black", "White")
        raise InputError(f"{rival.file}: {opponent.title} as {has}; expected an opponent who has {needs}")
    return opponent, digest


def people_of(seat: Seat) -> People[ChessState] | None:
    """What a result can tell of the people on a seat; None for an engine."""
    policy = seat.policy
    policies = policy.rivals if isinstance(policy, RivalsPolicy) else (policy,)
    habits = [p.habits if isinstance(p, EnginePolicy) else p.person.habits for p in policies]
    if None in habits:
        return None

    def plays(states: Sequence[ChessState]) -> list[list[Distribution]]:
        return [list(row) for row in zip(*(p.distributions(states) for p in policies), strict=True)]

    return People(
        names=tuple(opponent.title for opponent in seat.opponents) or ("the player",),
        shares=seat.shares or (1.0,),
        sources=policy.sources,
        plays=plays,
        met=lambda state: any(h is not None and h.has_met(state.board) for h in habits),
    )


def shares_of(given: Sequence[Rival]) -> tuple[float, ...]:
    """How likely each rival is; those without a share have what is left in equal parts."""
    told = sum(rival.share or 0.0 for rival in given)
    silent = sum(rival.share is None for rival in given)
    if told > 1.0 + 1e-9 or (silent and told > 1.0 - 1e-9):
        raise InputError(f"shares of rivals sum to {told:g}; expected less than 1 for those given")
    if not silent:
        return tuple((rival.share or 0.0) / told for rival in given)
    return tuple((1.0 - told) / silent if rival.share is None else rival.share for rival in given)


def habits_of(known: Known, side: Side, keep: Path | None = None) -> Habits | None:
    """What games tell of a side's player, where another engine than the fitted one stands in."""
    games, rivals = known.games, known.opponent
    if rivals:
        if len(rivals) > 1:
            raise InputError("several rivals under a clock; expected one")
        opponent, digest = _loaded(rivals[0], side)
        return replace(opponent.person.habits, digest=digest)
    if games is None:
        return None
    habits = read_habits(games.files, side, games.names, games.weight or 1.0, games.which, keep=keep)
    if games.digest not in ("", habits.digest):
        files = ", ".join(games.files)
        raise InputError(f"{files}: has changed since the run; its digest was {games.digest}")
    return habits


def record_of(habits: Habits | None, known: Known) -> dict[str, Any]:
    """What a run must remember of habits."""
    if habits is None:
        return {}
    if known.opponent:
        return {"opponent": [rival.model_dump() | {"digest": habits.digest} for rival in known.opponent]}
    return {"games": {"digest": habits.digest}}


def frequent_of(book: Book) -> Book | None:
    """The naive book of the same size: the most frequent lines of the opponent that the run knows."""
    config = thawed(book.provenance.get("identity", {}).get("matchup", {}))
    table = config.get("black" if book.side == 1 else "white", {})
    known = Known(games=table.get("games"), opponent=table.get("opponent") or [])
    side: Side = 2 if book.side == 1 else 1
    habits = [_loaded(rival, side)[0].person.habits for rival in known.opponent]
    if known.games is not None:
        games = known.games
        habits = [read_habits(games.files, side, games.names, which=games.which)]
    if not habits:
        return None
    own, replies = together(h.own for h in habits), together(h.replies for h in habits)
    return frequent_book(own, most_played(replies), book.side, book.size, book.start, book.chess960)
