"""Reading configuration: TOML files, `--set` overrides, strict schemas with one-line errors."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from preplay.arguments import shown
from preplay.errors import InputError, expected_of, nearest
from preplay.files import read_text
from preplay.frozen import thawed
from preplay.text import unprintable


class Settings(BaseModel):
    """A table of the configuration: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_bool_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("expected another kind of value than true or false")
        return value

    @field_validator("*", mode="before")
    @classmethod
    def _no_monsters(cls, value: Any) -> Any:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError("expected a number of at most 64 bits")
        if isinstance(value, str) and (odd := unprintable(value)):
            raise ValueError(f"the character {odd}; expected text")
        return value

    def idle(self) -> Iterable[str]:
        """The keys that have no effect beside the others."""
        return ()

    @model_validator(mode="after")
    def _nothing_in_vain(self) -> Self:
        """Refuse a key that changes nothing: a sweep over it would tell of an effect that is none."""
        for name in self.idle():
            field = type(self).model_fields[name]
            if (given := getattr(self, name)) != field.get_default(call_default_factory=True):
                shown = "" if isinstance(given, Settings) else f" = {json.dumps(given, default=str)}"
                raise ValueError(f"{name}{shown} has no effect here")
        return self


_SAMPLING = ("samples", "epsilon", "delta", "seed")
IDLE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "policy": {
        "uniform": ("depth", "rollouts", "simulations", "exploration", "randomness", "seed"),
        "search": ("simulations", "exploration"),
        "mcts": ("depth", "rollouts"),
    },
    "model": {
        "adaptive": ("samples",),
        **dict.fromkeys(("exact", "threshold", "linear", "logistic", "wdl"), _SAMPLING),
    },
}
"""By the key that chooses a kind, and the kind: the keys beside it that then have no effect."""
SEATED: Mapping[str, tuple[str, ...]] = {
    "opponent": ("engine", "options", "nodes", "depth", "milliseconds", "multipv", "randomness"),
    "games": ("depth", "milliseconds", "multipv", "randomness"),
}
"""By who sits at the board of a chess matchup instead of an engine: what then nobody looks at."""
PRICES = ("cost", "white_cost", "black_cost")
"""The settings of what a memorized history costs."""
OWN: Mapping[str, tuple[str, str]] = {"base": ("base1", "base2"), "prep": ("prep1", "prep2")}
"""By the table of both sides: those of each side that are taken instead of it."""
DEEPEST = 12
"""Levels of tables and lists in a configuration."""


class Offering(Settings):
    """A preparation that may offer moves besides its first choice, for a book to choose from."""

    choose: int = Field(default=1, ge=1, le=218)
    """At most so many moves a position, the first choice among them."""
    margin: float = Field(ge=0.0)
    """How far behind the best a move may be, in the units of the search."""
    deviations: int | None = Field(default=None, ge=0)
    """How many moves of a line may be others than the first choice; None: any number."""

    @property
    def offering(self) -> bool:
        """Whether a book may play anything but the first choice."""
        return self.choose > 1 and self.deviations != 0


def check_offers(*tables: Mapping[str, Offering | None]) -> None:
    """Raise ValueError for a margin or deviations where nobody says how many moves to choose among.

    Each mapping has the tables that complete each other, by name. `choose = 1` says it: a sweep over
    `choose` may begin there.
    """
    heard = {
        id(table)
        for together in tables
        if any(one is not None and "choose" in one.model_fields_set for one in together.values())
        for table in together.values()
    }
    for name, table in (pair for together in tables for pair in together.items()):
        for key in ("margin", "deviations"):
            if table is not None and id(table) not in heard and key in table.model_fields_set:
                raise ValueError(f"{name}.{key} = {getattr(table, key)} has no effect without choose")


def without_idle_menus(config: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The configuration without the keys of `Offering` where no book chooses: nothing hangs on them."""
    for name in type(settings).model_fields:
        table = getattr(settings, name)
        if isinstance(table, Offering) and not table.offering:
            for key in Offering.model_fields:
                del config[name][key]
    return config


LIMITS = ("nodes", "depth", "milliseconds")
LEAST_COST = 1e-7
"""The least price that is ever looked at: where none is given, sampled values hold for it, and the search
for the price of a budget's places ends there."""
M = TypeVar("M", bound=Settings)


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    text = read_text(path, "a matchup in TOML")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}; expected TOML") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; expected at most {DEEPEST} levels") from None
    except ValueError:
        raise InputError(f"{path}: a number of thousands of digits; expected a shorter one") from None
    if _deeper(tables, DEEPEST):
        raise InputError(f"{path}: nested too deeply; expected at most {DEEPEST} levels")
    return tables


def override(config: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """The configuration with `key.key=value` changes applied; values are JSON or else plain text."""
    result: dict[str, Any] = thawed(config)
    said: set[tuple[str, ...]] = set()
    for change in changes:
        key, equals, text = change.partition("=")
        parts = key.strip().split(".")
        shown = change if len(change) <= 80 else f"{change[:77]}..."
        if not equals or not all(parts):
            raise InputError(f"change {shown}; expected KEY=VALUE, as in black.randomness=10")
        value = _plain(text, shown)
        if len(parts) > DEEPEST or _deeper(value, DEEPEST):
            raise InputError(f"change {shown}: nested too deeply; expected at most {DEEPEST} levels")
        table = result
        for part in parts[:-1]:
            if table.get(part) is False:  # what was switched off gets settings of its own
                table[part] = {}
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise InputError(f"change {shown}: '{part}' is not a table")
        for idle in IDLE.get(parts[-1], {}).get(str(value), ()):  # it belongs to what was there before
            table.pop(idle, None)
        _without_common(result, parts[0])
        if parts[-1] in LIMITS:  # one limit takes the place of another that was there before
            place = tuple(parts[:-1])
            for limit in (limit for limit in LIMITS if not {place, (*place, limit)} & said):
                table.pop(limit, None)
        table[parts[-1]] = value
        said.add(tuple(parts))
    return result


def _without_common(config: dict[str, Any], changed: str) -> None:
    """Leave out a table that nobody uses now, as both sides have their own."""
    for common, both in OWN.items():
        if changed in both and all(own in config for own in both):
            config.pop(common, None)


def saying(key: str, changes: Iterable[str]) -> str | None:
    """The first change that says something of a key: its value, a part of it, or a table that has it."""
    for change in changes:
        table: Any = override({}, [change])
        parts = key.split(".")
        while parts and isinstance(table, dict) and parts[0] in table:
            table = table[parts.pop(0)]
        if not parts:
            return change
    return None


def check_price(cost: object, changes: Sequence[str]) -> None:
    """Raise InputError for a price that is given and set as well: the one given counts alone."""
    for key in PRICES:
        if cost is not None and (change := saying(key, changes)):
            raise InputError(f"cost {shown(cost)} and change {change}; expected one of the two")


def _plain(text: str, change: str) -> Any:
    """The value of a change: JSON, or else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text.strip()
    except RecursionError:
        raise InputError(
            f"change {change}: nested too deeply; expected at most {DEEPEST} levels"
        ) from None
    except ValueError:
        raise InputError(f"change {change}: a number of thousands of digits; expected less") from None


def _deeper(data: Any, levels: int) -> bool:
    """Whether tables and lists are nested in more than so many levels."""
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return bool(inner) and (levels == 0 or any(_deeper(each, levels - 1) for each in inner))


def validate(schema: type[M], config: Mapping[str, Any], where: str) -> M:
    """The checked settings, or an InputError that names the key, its value and what was expected."""
    try:
        return schema.model_validate(dict(config))
    except ValidationError as error:
        raise InputError(f"{where}: {_first_problem(schema, error)}") from None


def _first_problem(schema: type[Settings], error: ValidationError) -> str:
    problems = error.errors()
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    place = [str(part) for part in problem["loc"]]
    name = ".".join(place)
    if problem["type"] == "extra_forbidden":
        return f"unknown key '{name}'; {nearest(place[-1], _known_keys(schema, place[:-1]))}"
    if problem["type"] == "missing":
        return f"key '{name}' is missing"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    message = message[0].lower() + message[1:]
    given = problem["input"]
    if problem["type"] == "model_type":
        message = f"expected a table with keys among {', '.join(_known_keys(schema, place))}"
    else:
        message = expected_of(problem) or message
    if not name or isinstance(given, dict):
        return f"{name}: {message}" if name else message
    shown = json.dumps(given, default=str)
    return f"{name} = {shown if len(shown) <= 80 else shown[:77] + '...'}; {message}"


def _known_keys(schema: type[BaseModel], place: list[str]) -> list[str]:
    for part in place:
        field = schema.model_fields.get(part)
        inner = field.annotation if field is not None else None
        options = [inner, *getattr(inner, "__args__", ())]
        found = [o for o in options if isinstance(o, type) and issubclass(o, BaseModel)]
        if not found:
            break
        schema = found[0]
    return list(schema.model_fields)
