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
from collections.abc import Iterable


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
