"""Matchups of one's own: games and policies written in Python, in a program or a module named in TOML."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from pydantic import Field

from preplay.errors import InputError, PreplayError, nearest
from preplay.game import Distribution, Game, S
from preplay.matchup.model import Matchup, Notation
from preplay.matchup.plain import PlainValue, valued
from preplay.matchup.settings import Settings, validate
from preplay.policy import Policy, PolicyFunction
from preplay.value import Evaluator

T = TypeVar("T")
Play = Policy[S] | Callable[[S], Distribution]
"""How somebody plays: a policy, or a function from a state to a distribution over its actions."""


def make_matchup(
    game: Game[S],
    base: Play[S] | tuple[Play[S], Play[S]],
    prep: Play[S] | tuple[Play[S], Play[S]],
    *,
    value: Evaluator[S] | Mapping[str, Any] | None = None,
    cost: float | tuple[float, float] | None = None,
    name: str = "own",
    sides: tuple[str, str] = ("1", "2"),
    write: Callable[[Sequence[str], str | None], str] | None = None,
    identity: Mapping[str, Any] | None = None,
) -> Matchup[S]:
    """A matchup of a game of one's own; every function of the library works on it.

    `base` and `prep` are one policy for both sides or one for each; plain functions of a state will do.
    `value` is v(h): None plays every line out, a table as in a matchup file (`{"model": "adaptive",
    "epsilon": 0.05}`) samples, an evaluator answers by itself. `cost` is the default price of a memorized
    history, `write` turns a history, or a move after it, into what people read. `identity` is what
    determines results (numbers, seeds, versions), as JSON data: a saved run goes on only with the same.
    """
    board, study = _pair(base, "base"), _pair(prep, "prep")
    sampling, enumerable = None, value is None
    if value is None or isinstance(value, Mapping):
        settings = validate(PlainValue, value or {}, f"matchup '{name}', value")
        enumerable = settings.model == "exact"
        value, sampling = valued(game, board, settings, None if isinstance(cost, tuple) else cost)
    elif not hasattr(value, "values"):
        raise InputError(f"matchup '{name}': value is {value!r}; expected an evaluator or a table")
    return Matchup(
        name=name,
        game=game,
        base=board,
        prep=study,
        value=value,
        sampling=sampling,
        costs=cost if isinstance(cost, tuple) else (cost, cost),
        sides=sides,
        config={"kind": "python", "name": name, "sides": list(sides), **(identity or {})},
        enumerable=enumerable,
        window=256,
        notation=None if write is None else Notation(write),
    )


def _pair(given: Play[S] | tuple[Play[S], Play[S]], what: str) -> tuple[Policy[S], Policy[S]]:
    """A policy for each side."""
    both = given if isinstance(given, tuple) else (given, given)
    if len(both) != 2:
        raise InputError(f"{what}: {len(both)} policies; expected one, or one for each side")
    return _policy(both[0], what), _policy(both[1], what)


def _policy(play: Play[S], what: str) -> Policy[S]:
    if hasattr(play, "distributions"):
        return play
    if callable(play):
        return PolicyFunction(play)
    raise InputError(
        f"{what} is {play!r}; expected a policy, or a function from a state to a distribution"
    )


class PythonMatchup(Settings):
    """A game written in Python: a function that builds its matchup, and what it is called with."""

    kind: Literal["python"]
    matchup: str
    """`module:function`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """The function's arguments."""
    path: str = ""
    """Where the module is looked for first; of a matchup file, its own folder."""
    cost: float | None = Field(default=None, gt=0.0)


@contextmanager
def open_python(config: Mapping[str, Any]) -> Iterator[Matchup[Any]]:
    """The matchup that a function builds; what it opened is closed at the end of the block.

    The function returns a `Matchup` or a context manager of one. Its name, its arguments and the digest
    of its file are the identity of a run.
    """
    given = validate(PythonMatchup, config, "python matchup")
    where = f"matchup = '{given.matchup}'"
    build, module = _builder(given, where)
    try:
        inspect.signature(build).bind(**given.settings)
    except TypeError as error:
        raise InputError(f"{where}: settings: {error}{_known(build, given.settings)}") from None
    built = _called(lambda: build(**given.settings), where)
    opened: Any = built if isinstance(built, AbstractContextManager) else _open(built)
    with opened as matchup:
        if not isinstance(matchup, Matchup):
            raise InputError(f"{where}: gives {type(matchup).__name__}; expected a preplay.Matchup")
        told = {"matchup": given.matchup, "settings": given.settings, "sha256": _digest(module)}
        costs = matchup.costs if given.cost is None else (given.cost, given.cost)
        config = {**matchup.config, "kind": "python", "sides": list(matchup.sides), **told}
        yield replace(matchup, costs=costs, config=config)


@contextmanager
def _open(built: Any) -> Iterator[Any]:
    yield built


def _builder(given: PythonMatchup, where: str) -> tuple[Callable[..., Any], ModuleType]:
    """The function that builds the matchup, and its module."""
    name, colon, function = given.matchup.partition(":")
    if not colon or not name or not function.isidentifier():
        raise InputError(f"{where}; expected module:function, as in my_package.my_game:build")
    place = str(Path(given.path or ".").absolute())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        module = _called(lambda: importlib.import_module(name), where)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{where}: no module named '{error.name}'; looked in {place} and where Python finds packages"
        ) from None
    build = getattr(module, function, None)
    if build is None:
        names = [key for key, item in vars(module).items() if callable(item) and key[0] != "_"]
        raise InputError(f"{where}: {name} has no '{function}'; {nearest(function, names)}")
    if not callable(build):
        raise InputError(f"{where}: is {type(build).__name__}; expected a function")
    return build, module


def _called(work: Callable[[], T], where: str) -> T:
    """What foreign code gives; what it raises is told in one line, with its place."""
    try:
        return work()
    except (PreplayError, ModuleNotFoundError):
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}, line {last.lineno}"
        if isinstance(error, SyntaxError):
            place = f"{Path(error.filename or '').name}, line {error.lineno}"
        raise InputError(f"{where}: {type(error).__name__}: {error} ({place})") from error


def _known(build: Callable[..., Any], settings: Mapping[str, Any]) -> str:
    """A hint where a setting is not an argument of the function."""
    names = list(inspect.signature(build).parameters)
    wrong = next((key for key in settings if key not in names), None)
    return "" if wrong is None or not names else f"; {nearest(wrong, names)}"


def _digest(module: ModuleType) -> str:
    """Of the module's file: a run goes on only with the code that began it."""
    file = getattr(module, "__file__", None)
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
