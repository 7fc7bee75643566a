"""Matchups of one's own: games and policies written in Python, in a program or a module named in TOML."""

from __future__ import annotations

import inspect
import json
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from pydantic import Field

from preplay.arguments import shown
from preplay.errors import InputError, PreplayError, nearest
from preplay.game import Game, Merging, S
from preplay.judging import Judge
from preplay.matchup.held import PolicyLike, both_of, check_game, check_values, fingerprint
from preplay.matchup.loading import load_module, loaded_digest
from preplay.matchup.model import Matchup, Notation
from preplay.matchup.offers import Offer, Placed, choosing, menus_of
from preplay.matchup.plain import PlainValue, valued
from preplay.matchup.settings import Settings, validate
from preplay.policy import Policy
from preplay.response import check_cost
from preplay.value import Evaluator, Exact

T = TypeVar("T")


WRITTEN = frozenset({"choose", "margin", "deviations", "matchup", "settings", "sha256"})
"""What opening a matchup may write into its identity later."""


def make_matchup(  # noqa: PLR0913  # a part of the matchup each
    game: Game[S],
    base: PolicyLike[S] | tuple[PolicyLike[S], PolicyLike[S]],
    prep: PolicyLike[S] | tuple[PolicyLike[S], PolicyLike[S]],
    *,
    value: Evaluator[S] | Mapping[str, Any] | None = None,
    judge: Evaluator[S] | Judge[S] | Literal["exact"] | None = None,
    menus: Offer[S] | tuple[Offer[S] | None, Offer[S] | None] | None = None,
    choose: int | None = None,
    margin: float | None = None,
    deviations: int | None = None,
    position: Callable[[S], Hashable] | None = None,
    cost: float | tuple[float, float] | None = None,
    name: str = "own",
    sides: tuple[str, str] = ("1", "2"),
    write: Callable[[Sequence[str], str | None], str] | None = None,
    identity: Mapping[str, Any] | None = None,
) -> Matchup[S]:
    """A matchup of a game of one's own; every function of the library works on it.

    `base` and `prep` are one policy for both sides or one for each; plain functions of a state will do.
    `value` is v(h): None plays every line out, a table as in a matchup file (`{"model": "adaptive",
    "epsilon": 0.05}`) samples, an evaluator answers by itself. A `judge` gives second opinions about the
    values of an evaluator: another one, which also values the final choice, a `Judge`, or `"exact"`.

    `menus` lets books choose their moves: a function from a state to what is thought of the actions that
    a book may play (`{action: opinion}`, more is better for the mover; none: prep), or one for each side.
    `choose` is how many actions at most, `margin` how far behind the best, `deviations` how often a line
    another one than the first; a `SearchPolicy` or `MctsPolicy` as prep has menus by itself. `position`
    is a function from a state to something hashable: histories of one position are then paid for once.

    `cost` is the default price of a memorized history, `write` turns a history, or a move after it, into
    what people read. `identity` is what determines results (numbers, seeds, versions), as JSON data: a
    saved run goes on only with the same. Without one, runs are told apart by how the game is played and
    valued at its start and along some lines.
    """
    costs = cost if isinstance(cost, tuple) else (cost, cost)
    _check(name, costs, sides, identity)
    check_game(game)
    placed = None if position is None else Placed(game, _function(position, "position"))
    board, study = both_of(base, "base", game), both_of(prep, "prep", game, placed)
    offers = menus_of(menus, study, game)
    sampling, enumerable, told = None, value is None, isinstance(value, Mapping) or value is None
    config: dict[str, Any] = {"kind": "python", "name": name, "sides": list(sides)}
    if value is None or isinstance(value, Mapping):
        settings = validate(PlainValue, value or {}, f"matchup '{name}', value")
        enumerable = settings.model == "exact"
        config |= {"value": settings.model_dump()} if value else {}
        value, sampling = valued(game, board, settings, None if isinstance(cost, tuple) else cost)
    else:
        check_values(value, f"matchup '{name}': value", "an evaluator or a table")
    if judge is not None and told:
        raise InputError(f"matchup '{name}': a judge of exact or sampled values; expected an evaluator's")
    config |= {} if judge is None else {"judge": True}
    config |= {} if placed is None else {"memory": "positions"}
    for key in (config.keys() | WRITTEN) & (identity or {}).keys():
        raise InputError(
            f"matchup '{name}': identity has '{key}', which matchups have; expected another name"
        )
    second = _judge(judge, game, board)
    opinions = [value] if second is None else [value, second.value, second.fresh]
    asked = [] if told else [one for one in opinions if not isinstance(one, Exact)]
    matchup = Matchup(
        name=name,
        game=game,
        base=board,
        prep=study,
        value=value,
        judge=second,
        menus=offers,
        position=placed,
        sampling=sampling,
        costs=costs,
        sides=sides,
        config={**(identity or {}), **config},
        fingerprint=partial(fingerprint, game, board, study, offers, asked) if identity is None else None,
        enumerable=enumerable,
        window=256,
        notation=None if write is None else Notation(_function(write, "write", "a history")),
    )
    return choosing(matchup, choose, margin, deviations)


def _names(one: Any, two: Any) -> bool:
    """Whether the sides can be called so: a command says which it means, or `both`."""
    texts = all(isinstance(side, str) and side.strip() and side != "both" for side in (one, two))
    return texts and one not in (two, "2") and two != "1"


def _judge(
    judge: Evaluator[S] | Judge[S] | Literal["exact"] | None,
    game: Game[S],
    base: tuple[Policy[S], Policy[S]],
) -> Judge[S] | None:
    """Who gives second opinions, as a user says it."""
    if judge is None or isinstance(judge, Judge):
        return judge
    evaluator = Exact(game, base) if judge == "exact" else judge
    check_values(evaluator, "judge", "an evaluator, a Judge, or 'exact'")
    return Judge(evaluator, evaluator)


def _function(given: T, what: str, of: str = "a state") -> T:
    if not callable(given):
        raise InputError(f"{what} is {given!r}; expected a function of {of}")
    return given


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
    if not isinstance(name, str):
        raise InputError(f"name {shown(name)}; expected text")
    if not isinstance(sides, tuple) or len(sides) != 2 or not _names(*sides):
        raise InputError(
            f"matchup '{name}': sides {sides!r}; expected two different names, neither 'both' nor the "
            "number of the other side"
        )
    if not isinstance(identity, Mapping | None):
        raise InputError(f"matchup '{name}': identity {shown(identity)}; expected a dict of JSON data")
    try:
        json.dumps(identity, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"matchup '{name}': identity: {error}; expected JSON data") from None


class PythonMatchup(Settings):
    """A game written in Python: a function that builds its matchup, and what it is called with."""

    kind: Literal["python"]
    matchup: str
    """`module:function`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """The function's arguments."""
    path: str = ""
    """Where the module is looked for first; of a matchup file, its own folder."""
    choose: int | None = Field(default=None, ge=1)
    margin: float | None = Field(default=None, ge=0.0)
    deviations: int | None = Field(default=None, ge=0)
    memory: Literal["histories", "positions"] | None = None
    cost: float | None = Field(default=None, gt=0.0)


OPENING = ("kind", "matchup", "settings", "choose", "margin", "deviations", "memory")
"""The keys of what a run records that open its matchup again."""


@contextmanager
def open_python(config: Mapping[str, Any]) -> Iterator[Matchup[Any]]:
    """The matchup that a function builds; what it opened is closed at the end of the block.

    The function returns a `Matchup` or a context manager of one. Its name, its arguments and the digest
    of its file are the identity of a run.
    """
    given = validate(PythonMatchup, config, "python matchup")
    where = f"matchup = '{given.matchup}'"
    build, module = _builder(given, where)
    check_arguments(build, given.settings, f"{where}: settings")
    built = _called(lambda: build(**given.settings), where)
    opened: Any = built if isinstance(built, AbstractContextManager) else _open(built)
    with opened as matchup:
        if not isinstance(matchup, Matchup):
            raise InputError(f"{where}: gives {type(matchup).__name__}; expected a preplay.Matchup")
        remembered = _remembering(matchup, given.memory, where)
        chosen = choosing(remembered, given.choose, given.margin, given.deviations)
        told = {"matchup": given.matchup, "settings": given.settings, "sha256": loaded_digest(module)}
        costs = matchup.costs if given.cost is None else (given.cost, given.cost)
        config = {**chosen.config, "kind": "python", "sides": list(matchup.sides), **told}
        opened = replace(chosen, costs=costs, config=config, fingerprint=None)
        try:
            yield opened
        except PreplayError:
            raise
        except Exception as error:
            if _place(error, module) is None:
                raise
            raise _told(error, where, module) from error


def _remembering(matchup: Matchup[S], memory: str | None, where: str) -> Matchup[S]:
    """The matchup with memory by history, or by the position that its game tells."""
    if memory is None or (memory == "positions" and matchup.position is not None):
        return matchup
    config = {key: told for key, told in matchup.config.items() if key != "memory"}
    if memory == "histories":
        return replace(matchup, position=None, config=config)
    if not isinstance(matchup.game, Merging):
        raise InputError(
            f"{where}: memory = 'positions', but its game has no `position` and `merges`; expected both"
        )
    placed = Placed(matchup.game, matchup.game.position)
    return replace(matchup, position=placed, config=config | {"memory": memory})


@contextmanager
def _open(built: Any) -> Iterator[Any]:
    yield built


def _builder(given: PythonMatchup, where: str) -> tuple[Callable[..., Any], ModuleType]:
    """The function that builds the matchup, and its module."""
    name, colon, function = given.matchup.partition(":")
    if not colon or not name or not function.isidentifier():
        raise InputError(f"{where}; expected module:function, as in my_package.my_game:build")
    place = str(Path(given.path or ".").absolute())
    try:
        module = _called(lambda: load_module(name, place), where)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{where}: no module named '{error.name}'; looked in {place} and where Python finds packages "
            "(`path` names another folder)"
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


def check_arguments(build: Callable[..., Any], given: Mapping[str, Any], where: str) -> None:
    """Raise InputError for arguments that a function does not take, or for those that it lacks."""
    signature = inspect.signature(build)
    try:
        signature.bind(**given)
    except TypeError as error:
        names = list(signature.parameters)
        wrong = next((key for key in given if key not in names), None)
        hint = "" if wrong is None or not names else f"; {nearest(wrong, names)}"
        raise InputError(f"{where}: {error}{hint}") from None
