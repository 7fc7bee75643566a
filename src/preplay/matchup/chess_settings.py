"""What a chess matchup is made of: the settings of players, preparation and rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from preplay.chess.rules import ChessGame
from preplay.matchup.chess_values import (
    ChessValue,
    Judging,
)
from preplay.matchup.people import Known
from preplay.matchup.searching import Searching, limited
from preplay.matchup.settings import (
    LIMITS,
    SEATED,
    Offering,
    Settings,
    check_offers,
)


class Player(Searching):
    """A search and how randomly it plays."""

    randomness: float = Field(default=0.0, ge=0.0)


class Preparation(Player, Offering):
    """What a side would play after long study, and the moves among which its book may choose."""

    margin: float = Field(default=40.0, ge=0.0)
    deviations: int | None = Field(default=1, ge=0)
    repertoire: str = ""
    """A PGN file: where it has moves, the book plays one of them."""
    avoid: str = ""
    """A PGN file: the last own move of its lines is never played."""
    extend: str = ""
    """A PGN file: what is known already, and costs nothing."""
    digests: dict[str, str] = Field(default_factory=dict)
    """Of these files, in runs: they must not have changed since."""

    @property
    def scored(self) -> int:
        """How many moves a search must score, so that it tells the menu too."""
        return max(self.multipv, self.choose) if self.offering else self.multipv


class AtBoard(Player, Known):
    """A side at the board: an engine, somebody whose games are known, or an opponent fitted before."""

    rating: float | None = None
    """For the logistic value model: what the rating difference is worth beside the score."""

    def idle(self) -> Iterable[str]:
        """Who scores one move has nothing to choose among; a fitted person has an engine of their own."""
        if self.opponent:  # of a run: as it was recorded
            return () if any(rival.digest for rival in self.opponent) else SEATED["opponent"]
        if self.games is not None and self.games.weight is None:
            return () if self.games.digest else SEATED["games"]
        return ("randomness",) if self.multipv == 1 else ()


class Start(Settings):
    """Where the game begins."""

    fen: str = ""
    moves: list[str] = Field(default_factory=list)

    @field_validator("moves", mode="before")
    @classmethod
    def _as_written(cls, value: Any) -> Any:
        """Moves as people write them: "e4", "1.e4 c5" or a list."""
        several = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in several):
            return value
        return [word for text in several for word in re.sub(r"\d+\s*\.+", " ", text).split()]


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
    memory: Literal["histories", "positions"] = "histories"
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
    def _margins_are_of_menus(self) -> Chess:
        check_offers(
            {"prep": self.prep, "white_prep": self.white_prep},
            {"prep": self.prep, "black_prep": self.black_prep},
        )
        return self

    @model_validator(mode="after")
    def _only_scores_are_judged(self) -> Chess:
        if self.judge is not None and self.value.model == "rollouts":
            raise ValueError("values by roll-outs carry their own error; expected judge = false")
        return self

    @property
    def choosing(self) -> bool:
        """Whether what is said of menus matters to a side; within a repertoire `deviations = 0` does."""
        sides = (study(self.prep, own) for own in (self.white_prep, self.black_prep))
        return any(prep.offering or (prep.choose > 1 and prep.repertoire) for prep in sides)


P = TypeVar("P", bound=Player)


def study(prep: P, own: P | None) -> P:
    """A side's preparation: what its own table leaves out is as in the common one."""
    if own is None:
        return prep
    given = {name: getattr(own, name) for name in own.model_fields_set}
    if limited(own):
        given |= {name: getattr(own, name) for name in LIMITS}
    return prep.model_copy(update=given)


MENUS = tuple(Offering.model_fields)
"""The settings that are about menus."""


def recorded(
    settings: Settings,
    persons: Sequence[Mapping[str, Any]],
    digests: Sequence[Mapping[str, str]] = ({}, {}),
) -> dict[str, Any]:
    """The settings that determine a result, with what must not change of the people and files in it."""
    config = settings.model_dump(exclude={"cost", "white_cost", "black_cost"}) | _studies(settings)
    if config.get("memory") == "histories":  # as it always was
        del config["memory"]
    if (judge := config.get("judge")) and not judge["doubt"]:  # as it always was
        del judge["doubt"]
    for name, own in zip(("white_prep", "black_prep"), digests, strict=True):
        if own:
            (config[name] or config["prep"])["digests"] = dict(own)
    for table in (config.get(name) for name in ("prep", "white_prep", "black_prep")):
        for key in ("repertoire", "avoid", "extend", "digests"):
            if table and not table.get(key):
                table.pop(key, None)
    for side, record in zip(("white", "black"), persons, strict=True):
        table = config[side]
        for name, known in record.items():
            table[name] = known if isinstance(known, list) else table[name] | known
        if not table["opponent"]:
            del table["opponent"]
    return config


def _studies(settings: Settings) -> dict[str, Any]:
    """The tables of the preparations: what a side's own leaves out is as in the common one."""
    names = ("prep", "white_prep", "black_prep")
    tables = {
        name: table and table.model_dump(exclude_unset=name != "prep")
        for name, table in ((name, getattr(settings, name)) for name in names)
    }
    idle = () if isinstance(settings, Chess) and settings.choosing else MENUS
    return {
        name: table and {key: value for key, value in table.items() if key not in idle}
        for name, table in tables.items()
    }
