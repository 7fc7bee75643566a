"""Opponents in files: all that is needed to play, without the games that they came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from preplay.chess.players.counts import MoveCounts, packed, unpacked
from preplay.chess.players.habits import Habits
from preplay.chess.players.person import Level, Person
from preplay.chess.players.standin import StandIn
from preplay.errors import InputError
from preplay.files import write_text
from preplay.game import Side

FORMAT = "preplay-opponent/1"


@dataclass(frozen=True, eq=False)
class Opponent:
    """A fitted player of one side, with how good the fit is."""

    side: Side
    names: tuple[str, ...]
    person: Person
    report: Mapping[str, Any] = field(default_factory=dict)
    """What `preplay opponent` printed of a model that was kept, as JSON data."""

    @property
    def title(self) -> str:
        """What to call the player."""
        return self.names[0] if self.names else "a player"


def save_opponent(opponent: Opponent, path: Path) -> None:
    """Write a `preplay-opponent/1` file: all that is needed to play, without the games it came from."""
    write_text(path, json.dumps(opponent_data(opponent)) + "\n")


def opponent_data(opponent: Opponent) -> dict[str, Any]:
    """An opponent as JSON data."""
    person = opponent.person
    habits = person.habits
    return {
        "format": FORMAT,
        "side": opponent.side,
        "names": list(opponent.names),
        "report": dict(opponent.report),
        "level": asdict(person.level) | {"options": dict(person.level.options)},
        "standin": person.standin.as_data(),
        "least": person.least,
        "own_weight": habits.weight,
        "others_weight": habits.others_weight,
        "games": habits.games,
        "digest": habits.digest,
        "own": habits.own.as_data(),
        "others": habits.others.as_data(),
        "replies": habits.replies.as_data(),
        "met": packed(habits.met),
    }


def load_opponent(path: str | Path) -> tuple[Opponent, str]:
    """An opponent that was saved, and the digest of the file."""
    try:
        raw = Path(path).read_bytes()
        data = json.loads(raw)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; expected a {FORMAT} file") from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path}: not an opponent; expected a file made by `preplay opponent --save`")
    try:
        return opponent_of(data), hashlib.sha256(raw).hexdigest()[:16]
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, InputError) as error:
        said = " ".join(str(error).split())[:300]
        raise InputError(f"{path}: damaged opponent ({said})") from None


def opponent_of(data: Mapping[str, Any]) -> Opponent:
    """The inverse of `opponent_data`."""
    habits = Habits(
        own=MoveCounts.of_data(data["own"]),
        games=int(data["games"]),
        weight=float(data["own_weight"]),
        digest=str(data["digest"]),
        others=MoveCounts.of_data(data["others"]),
        others_weight=float(data["others_weight"]),
        replies=MoveCounts.of_data(data["replies"]),
        met=unpacked(str(data["met"]), np.uint64),
    )
    person = Person(
        habits, Level(**data["level"]), StandIn.of_data(data["standin"]), float(data["least"])
    )
    side: Side = 1 if int(data["side"]) == 1 else 2
    _check(habits, person)
    return Opponent(side, tuple(map(str, data["names"])), person, dict(data["report"]))


def _check(habits: Habits, person: Person) -> None:
    """Raise ValueError for what no fit gives."""
    level = person.level
    numbers = {"own_weight": habits.weight, "others_weight": habits.others_weight}
    numbers |= {"least": person.least} | person.standin.as_data()
    for name, number in numbers.items():
        if not 0.0 <= number < 1e12:
            raise ValueError(f"{name} = {number}; expected a number that is not negative")
    if not (habits.weight > 0.0 and habits.others_weight > 0.0 and person.least < 1.0):
        raise ValueError("a weight of 0, or a least share of 1")
    for table in (habits.own, habits.others, habits.replies):
        if len(table.keys) and (np.any(table.keys[1:] < table.keys[:-1]) or not np.all(table.counts)):
            raise ValueError("moves that are not sorted, or never played")
    if not (level.engine is None or isinstance(level.engine, str)):
        raise ValueError(f"level.engine = {level.engine!r}; expected a command")
    for name, whole in {"nodes": level.nodes, "multipv": level.multipv}.items():
        if not (type(whole) is int and 0 < whole < 1 << 63):
            raise ValueError(f"level.{name} = {whole!r}; expected a whole number of at least 1")
    for name, value in level.options.items():
        if not isinstance(value, str | int | bool):
            raise ValueError(f"level.options.{name} = {value!r}; expected a word or a number")
