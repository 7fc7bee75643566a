"""Arguments of functions: a wrong one is an InputError with its name, its value, what was expected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf, isfinite, isnan
from numbers import Integral, Real
from os import fsencode
from pathlib import Path
from reprlib import repr as short
from typing import Any

from preplay.errors import InputError


def check_whole(name: str, given: Any, least: int = 0) -> None:
    """Raise InputError unless an argument is a whole number of at least `least`."""
    if not is_whole(given) or not int(given) >= least:
        raise InputError(f"{name} {shown(given)}; expected a whole number of at least {least}")


def check_seed(given: Any, name: str = "seed") -> None:
    """Raise InputError unless an argument is a whole number, of either sign."""
    if not is_whole(given):
        raise InputError(f"{name} {shown(given)}; expected a whole number")


def check_player(side: Any) -> None:
    """Raise InputError unless an argument is the number of one of the two sides."""
    if not is_whole(side) or side not in (1, 2):
        raise InputError(f"side {shown(side)}; expected 1 or 2")


def check_number(name: str, given: Any, *, above: bool = False, finite: bool = False) -> None:
    """Raise InputError unless an argument is a number (NaN is none) of at least 0, or `above` it."""
    if is_number(given) and (given > 0.0 if above else given >= 0.0) and not (finite and given == inf):
        return
    kind = "finite number" if finite else "number"
    raise InputError(f"{name} {shown(given)}; expected a {kind} {'above' if above else 'of at least'} 0")


def check_real(name: str, given: Any) -> None:
    """Raise InputError unless an argument is a finite number."""
    if not (is_number(given) and isfinite(given)):
        raise InputError(f"{name} {shown(given)}; expected a finite number")


def check_both(name: str, given: Any, which: str = "one for each side") -> None:
    """Raise InputError unless an argument has two numbers."""
    several = list(given) if isinstance(given, Iterable) else []
    if len(several) != 2 or not all(map(is_number, several)):
        raise InputError(f"{name} {shown(given)}; expected two numbers, {which}")


def check_listed(name: str, given: Any) -> None:
    """Raise InputError unless an argument holds several of something; a text is one thing."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{name} {shown(given)}; expected a list of them")


def check_made(name: str, given: Any, kind: type, how: str) -> None:
    """Raise InputError unless an argument is of one of preplay's classes; `how` says where it is from."""
    if not isinstance(given, kind):
        raise InputError(f"{name} {shown(given)}; expected a {kind.__name__}, {how}")


def check_function(name: str, given: Any, what: str = "a function, or None") -> None:
    """Raise InputError unless an argument can be called, or is None where `what` says so."""
    if not callable(given) and not (given is None and what.endswith("None")):
        raise InputError(f"{name} {shown(given)}; expected {what}")


def check_flag(name: str, given: Any) -> None:
    """Raise InputError unless an argument is true or false; what only counts as such is neither."""
    if not isinstance(given, bool):
        raise InputError(f"{name} {shown(given)}; expected True or False")


def check_share(name: str, given: Any) -> None:
    """Raise InputError unless an argument is a number from 0 to 1."""
    if not (is_number(given) and 0.0 <= given <= 1.0):
        raise InputError(f"{name} {shown(given)}; expected a number in [0, 1]")


RULES = ("longest", "widest", "root", "history", "player", "actions", "chance", "next", "utility")
"""What a game is asked."""


def check_rules(game: Any) -> None:
    """Raise InputError for what is no game: a class of games, or something that lacks some rules."""
    if isinstance(game, type):
        raise InputError(f"game is the class {game.__name__}; expected a game, as {game.__name__}(...)")
    lacking = next((name for name in RULES if not hasattr(game, name)), None)
    if lacking is not None:
        raise InputError(f"game {shown(game)} has no `{lacking}`; expected a game as preplay.Game says")


def as_path(name: str, given: Any) -> Path:
    """An argument that names a file or directory; InputError where it can name none."""
    try:
        path = Path(given)
        if b"\0" not in fsencode(path) and str(given).strip():
            return path
    except (TypeError, UnicodeEncodeError):  # of another type, or half of a character
        pass
    raise InputError(f"{name} {shown(given)}; expected a path, as text or Path")


def is_whole(given: Any) -> bool:
    """Whether an argument is a whole number of Python or NumPy; true and false are none."""
    return isinstance(given, Integral) and not isinstance(given, bool)


def is_number(given: Any) -> bool:
    """Whether an argument is a number of Python or NumPy; true and false are none."""
    return isinstance(given, Real) and not isinstance(given, bool)


def are_floats(numbers: Collection[float]) -> bool:
    """Whether all are floats of at least 0, as answers nearly always are: seen without a loop."""
    return set(map(type, numbers)) == {float} and min(numbers) >= 0.0 and not isnan(sum(numbers))


def is_share(given: Any, most: float = 1.0) -> bool:
    """Whether a game, policy or evaluator has answered with a number from 0 to 1, or to a bit more."""
    return isinstance(given, (float, Real)) and 0.0 <= float(given) <= most


def shown(given: Any) -> str:
    """A number as people write it, anything else as Python does, in one line of bearable length."""
    return str(given) if is_number(given) else " ".join(short(given).split())
