"""Matchups of one's own: games and policies written in Python, in a program or a module named in TOML."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from preplay.errors import GameError, InputError, PreplayError, nearest
from preplay.game import CHANCE, FINAL, Distribution, Game, S
from preplay.matchup.model import Matchup, Notation
from preplay.matchup.plain import PlainValue, valued
from preplay.matchup.settings import Settings, validate
from preplay.policy import REST, Policy, PolicyFunction
from preplay.response import check_cost
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
    Without one, runs are told apart by how the game begins and is played there.
    """
    costs = cost if isinstance(cost, tuple) else (cost, cost)
    _check(name, costs, sides, identity)
    board, study = _pair(base, "base", game), _pair(prep, "prep", game)
    sampling, enumerable = None, value is None
    config: dict[str, Any] = {"kind": "python", "name": name, "sides": list(sides)}
    if value is None or isinstance(value, Mapping):
        settings = validate(PlainValue, value or {}, f"matchup '{name}', value")
        enumerable = settings.model == "exact"
        config |= {"value": settings.model_dump()} if value else {}
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
        costs=costs,
        sides=sides,
        config={**(identity or {}), **config},
        fingerprint=partial(_fingerprint, game, board, study) if identity is None else None,
        enumerable=enumerable,
        window=256,
        notation=None if write is None else Notation(write),
    )


def _check(
    name: str,
    costs: tuple[float | None, ...],
    sides: tuple[str, ...],
    identity: Mapping[str, Any] | None,
) -> None:
    """Raise InputError for what no matchup can have."""
    if len(costs) != 2:
        raise InputError(f"matchup '{name}': {len(costs)} costs; expected one, or one for each side")
    for price in costs:
        if price is not None:
            check_cost(price)
    if not isinstance(sides, tuple) or len(set(sides)) != 2 or not all(isinstance(s, str) for s in sides):
        raise InputError(f"matchup '{name}': sides {sides!r}; expected two different names")
    try:
        json.dumps(identity, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"matchup '{name}': identity: {error}; expected JSON data") from None


def _pair(
    given: Play[S] | tuple[Play[S], Play[S]], what: str, game: Game[S]
) -> tuple[Policy[S], Policy[S]]:
    """A policy for each side."""
    both = given if isinstance(given, tuple) else (given, given)
    if len(both) != 2:
        raise InputError(f"{what}: {len(both)} policies; expected one, or one for each side")
    return _policy(both[0], what, game), _policy(both[1], what, game)


def _policy(play: Play[S], what: str, game: Game[S]) -> Policy[S]:
    if hasattr(play, "distributions"):
        return play
    if callable(play):
        return PolicyFunction(_Legal(play, game, what))
    raise InputError(
        f"{what} is {play!r}; expected a policy, or a function from a state to a distribution"
    )


@dataclass(frozen=True)
class _Legal(Generic[S]):
    """A function that plays, held to the actions that the game has."""

    play: Callable[[S], Distribution]
    game: Game[S]
    what: str

    def __call__(self, state: S) -> Distribution:
        moves = self.play(state)
        if not isinstance(moves, Mapping):
            raise GameError(
                f"history {list(self.game.history(state))}: {self.what} gives {type(moves).__name__}; "
                "expected a distribution, a dict from actions to probabilities"
            )
        known = self.game.actions(state)
        for action in moves:
            if action not in known and action != REST:
                raise GameError(
                    f"history {list(self.game.history(state))}: {self.what} plays {action!r}; "
                    f"expected one of {', '.join(map(str, known))}"
                )
        return moves


LOOKED = 100
"""Histories that a fingerprint is taken of."""


def _fingerprint(
    game: Game[S], base: tuple[Policy[S], Policy[S]], prep: tuple[Policy[S], Policy[S]]
) -> str:
    """Of how a game begins and is played there: another game, or other players, have another one."""
    digest = hashlib.sha256(repr((game.longest, game.widest)).encode())
    waiting = deque([game.root()])
    for _ in range(LOOKED):
        if not waiting:
            break
        state = waiting.popleft()
        player = game.player(state)
        told: Any
        if player == FINAL:
            told = game.utility(state)
        elif player == CHANCE:
            told = game.chance(state)
        else:
            told = [both[player - 1].distributions([state])[0] for both in (base, prep)]
        digest.update(repr((game.history(state), player, told)).encode())
        if player != FINAL:
            waiting.extend(game.next(state, action) for action in game.actions(state))
    return digest.hexdigest()


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
        told = {"matchup": given.matchup, "settings": given.settings, "sha256": vars(module)[LOADED]}
        costs = matchup.costs if given.cost is None else (given.cost, given.cost)
        config = {**matchup.config, "kind": "python", "sides": list(matchup.sides), **told}
        opened = replace(matchup, costs=costs, config=config, fingerprint=None)
        try:
            yield opened
        except PreplayError:
            raise
        except Exception as error:
            if _place(error, module) is None:
                raise
            raise _told(error, where, module) from error


@contextmanager
def _open(built: Any) -> Iterator[Any]:
    yield built


def _builder(given: PythonMatchup, where: str) -> tuple[Callable[..., Any], ModuleType]:
    """The function that builds the matchup, and its module."""
    name, colon, function = given.matchup.partition(":")
    if not colon or not name or not function.isidentifier():
        raise InputError(f"{where}; expected module:function, as in my_package.my_game:build")
    place = str(Path(given.path or ".").absolute())
    if place in sys.path:
        sys.path.remove(place)
    sys.path.insert(0, place)
    _forget_others(name, place)
    try:
        module = _called(lambda: importlib.import_module(name), where)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{where}: no module named '{error.name}'; looked in {place} and where Python finds packages"
        ) from None
    vars(module).setdefault(LOADED, _digest(module))
    build = getattr(module, function, None)
    if build is None:
        names = [key for key, item in vars(module).items() if callable(item) and key[0] != "_"]
        raise InputError(f"{where}: {name} has no '{function}'; {nearest(function, names)}")
    if not callable(build):
        raise InputError(f"{where}: is {type(build).__name__}; expected a function")
    return build, module


LOADED = "__preplay_loaded__"
"""The attribute of a module that has the digest of the file from which it was loaded."""


def _forget_others(name: str, place: str) -> None:
    """Let a module be loaded from `place`: not that of another folder which has its name, nor what it was
    before somebody changed its file."""
    top = name.partition(".")[0]
    there, known = PathFinder.find_spec(top, [place]), sys.modules.get(top)
    if there is None or there.origin is None or known is None:
        return
    module = sys.modules.get(name)
    changed = module is not None and vars(module).get(LOADED, _digest(module)) != _digest(module)
    if known.__file__ != there.origin or changed:
        for one in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            del sys.modules[one]
        importlib.invalidate_caches()


def _called(work: Callable[[], T], where: str) -> T:
    """What foreign code gives; what it raises is told in one line, with its place."""
    try:
        return work()
    except (PreplayError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise _told(error, where) from error


def _told(error: Exception, where: str, module: ModuleType | None = None) -> InputError:
    """What foreign code raised, in one line."""
    place = _place(error, module)
    if isinstance(error, SyntaxError):
        place = f"{Path(error.filename or '').name}, line {error.lineno}"
    return InputError(f"{where}: {type(error).__name__}: {error} ({place})")


def _place(error: Exception, module: ModuleType | None) -> str | None:
    """Where an error was raised: of a module, the last line of its file; None where it has no part."""
    lines = traceback.extract_tb(error.__traceback__)
    if module is not None:
        lines = [line for line in lines if line.filename == module.__file__]  # type: ignore[assignment]
    return f"{Path(lines[-1].filename).name}, line {lines[-1].lineno}" if lines else None


def _known(build: Callable[..., Any], settings: Mapping[str, Any]) -> str:
    """A hint where a setting is not an argument of the function."""
    names = list(inspect.signature(build).parameters)
    wrong = next((key for key in settings if key not in names), None)
    return "" if wrong is None or not names else f"; {nearest(wrong, names)}"


def _digest(module: ModuleType) -> str:
    """Of the module's file: a run goes on only with the code that began it."""
    file = getattr(module, "__file__", None)
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
