"""The options of the UCI engine: which are its own, what they mean, and how `setoption` changes them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from preplay.chess.engines.infolines import whole_number
from preplay.errors import InputError

_SETOPTION = re.compile(
    r"setoption\s+name\s+(?P<name>.*?)(?:\s+value(?:\s+(?P<value>.*))?)?", re.IGNORECASE
)
_OPTION = re.compile(r"option\s+name\s+(?P<name>.*?)\s+type\s+(?P<type>\w+)(?P<rest>.*)", re.IGNORECASE)


@dataclass(frozen=True)
class UciSettings:
    """The values of the engine's own options."""

    own_book: bool = True
    book_file: str = ""
    by_position: bool = True
    """Whether a position that other moves led to counts as being in the book."""
    base_engine: str = "stockfish"
    nodes: int = 0
    """The base engine's limit per move whatever the clock says; 0 leaves it to the clock."""
    depth: int = 0
    milliseconds: int = 0
    fresh: bool = False
    """Whether the base engine is asked as the model's base: it forgets its hash before each move, has the
    model's `OWN_OPTIONS` where the GUI sets no others, and scores K moves."""
    randomness: float = 0.0
    """The softmax r of the base's moves in centipawns; 0 plays its best."""
    choices: int = 2
    """K: how many of its best moves the base scores where it randomizes, or is asked as modelled."""
    seed: int = 0
    """0: another one each time the engine starts."""

    @property
    def limit(self) -> list[str]:
        """The fixed limit of the base engine in words of `go`; empty when the clock decides."""
        words: list[str] = []
        for word, amount in (
            ("nodes", self.nodes),
            ("depth", self.depth),
            ("movetime", self.milliseconds),
        ):
            if amount:
                words += [word, str(amount)]
        return words


@dataclass(frozen=True)
class Own:
    """An option that is the engine's own."""

    name: str
    field: str
    """Of `UciSettings`."""
    type: Literal["check", "spin", "string"]
    low: int = 0
    high: int = 0

    def declare(self, settings: UciSettings) -> str:
        """The line that answers `uci`, with the value now as the default."""
        value = getattr(settings, self.field)
        if self.type == "check":
            return f"option name {self.name} type check default {str(value).lower()}"
        if self.type == "spin":
            return f"option name {self.name} type spin default {value} min {self.low} max {self.high}"
        text = f"{value:g}" if isinstance(value, float) else value
        return f"option name {self.name} type string default {text or '<empty>'}"

    def change(self, settings: UciSettings, text: str) -> UciSettings:
        """The settings after the GUI sets this option to `text`."""
        value: object = "" if text == "<empty>" else text
        if self.type == "check":
            if text.lower() not in {"true", "false"}:
                raise InputError(f"option {self.name} is '{text}'; expected true or false")
            value = text.lower() == "true"
        elif self.type == "spin":
            value = whole_number(text, self.high)
            if value is None or value < self.low:
                span = f"{self.low} to {self.high}"
                raise InputError(
                    f"option {self.name} is '{text[:40]}'; expected a whole number from {span}"
                )
        elif self.field == "randomness":
            value = parse_randomness(text)
        return replace(settings, **{self.field: value})  # type: ignore[arg-type]


OWN: Sequence[Own] = (
    Own("OwnBook", "own_book", "check"),
    Own("Book File", "book_file", "string"),
    Own("Book By Position", "by_position", "check"),
    Own("Base Engine", "base_engine", "string"),
    Own("Base Nodes", "nodes", "spin", 0, 2**31 - 1),
    Own("Base Depth", "depth", "spin", 0, 245),
    Own("Base Time", "milliseconds", "spin", 0, 2**31 - 1),
    Own("Base Fresh Hash", "fresh", "check"),
    Own("Randomness", "randomness", "string"),
    Own("Random MultiPV", "choices", "spin", 1, 500),
    Own("Seed", "seed", "spin", 0, 2**31 - 1),
)


def own_option(name: str) -> Own | None:
    """The own option of that name, in any case."""
    return next((own for own in OWN if own.name.lower() == name.lower()), None)


def parse_setoption(line: str) -> tuple[str, str | None]:
    """(name, value) of a `setoption` line; a button has no value."""
    match = _SETOPTION.fullmatch(line.strip())
    if match is None or not match["name"]:
        raise InputError(f"'{line.strip()}'; expected 'setoption name NAME value VALUE'")
    value = match["value"]
    return match["name"], value.strip() if value is not None else None


def option_default(line: str) -> tuple[str, str] | None:
    """(name, default) of an engine's `option` line; None for other lines."""
    match = _OPTION.fullmatch(line.strip())
    if match is None:
        return None
    _, _, default = match["rest"].partition(" default ")
    return match["name"], re.split(r"\s+(?:min|max|var)\s", default)[0].strip()


def parse_randomness(text: str) -> float:
    """The r of a softmax: a finite number of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise InputError(f"option Randomness is '{text}'; expected a number of at least 0")
    return value
