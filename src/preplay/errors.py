"""Every error that preplay raises on purpose.

::

    PreplayError            a mistake or failure with a message for the user
    ├── InputError          a file, key, number or name is wrong (what, the value, what was expected)
    │   └── GameError       a game or policy broke its contract (probabilities, utilities, players)
    ├── EngineError         an outside engine cannot be started, died, or answered nonsense
    ├── StoreError          an analysis store or run directory cannot be used
    └── SolverError         a solver's own check failed: a bug in preplay, never hidden
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any


class PreplayError(Exception):
    """A failure whose message is one clear line for the user."""


class InputError(PreplayError):
    """What the user gave is wrong: the message shows the value and what was expected."""


class GameError(InputError):
    """A game, policy or evaluator broke its contract at a history."""


class EngineError(PreplayError):
    """An outside engine cannot be started, keeps dying, or answers nonsense."""


class StoreError(PreplayError):
    """A store or run directory is foreign, damaged, or belongs to another configuration."""


class SolverError(PreplayError):
    """A result did not survive its independent check."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint of an unknown-name error: the nearest known name, else the list of all."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return "expected one of: " + ", ".join(names)


_KINDS = {
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "string": "text",
    "finite": "a finite number",
    "list": "a list",
    "tuple": "a list",
    "dict": "a table",
}
_FAULTS = ("type", "parsing", "parsing_size", "from_float", "number")
_BOUNDS = {"ge": "of at least", "le": "of at most", "gt": "above", "lt": "below"}


def expected_of(problem: Mapping[str, Any]) -> str | None:
    """What pydantic expected of a number or a word, plainly said; None for its other problems."""
    for bound, word in _BOUNDS.items():
        if bound in problem.get("ctx", {}):
            return f"expected a number {word} {problem['ctx'][bound]:g}"
    if problem["type"] == "literal_error":
        return f"expected {problem['ctx']['expected']}"
    kind, _, fault = str(problem["type"]).partition("_")
    return f"expected {_KINDS[kind]}" if kind in _KINDS and fault in _FAULTS else None
