"""What is worth memorizing before a game: best books, certified bounds, equilibria of preparation.

The names below are the library's front door; they are imported when first used, so that `import preplay`
is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "preplay.book": ("Book", "Entry"),
    "preplay.bounds": ("entropy_floor", "theorem1", "theorem2"),
    "preplay.equilibria": ("Equilibrium", "solve"),
    "preplay.errors": (
        "EngineError",
        "GameError",
        "InputError",
        "PreplayError",
        "SolverError",
        "StoreError",
    ),
    "preplay.game": ("Game", "Side"),
    "preplay.games.clocked": ("Clocked",),
    "preplay.growth": ("Advantage", "Grown", "Limits", "Pays", "grow", "grow_contested"),
    "preplay.matchup": ("Matchup", "open_matchup"),
    "preplay.policy": ("Policy", "PolicyFunction", "Uniform", "softmax"),
    "preplay.response": ("Frontier", "BestBook", "best_book", "evaluate", "frontier"),
    "preplay.tree": ("Tree",),
    "preplay.value": ("Evaluator", "Exact", "Value", "ValueFunction"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["__version__", *_HOME]  # noqa: PLE0604 (all of them are names)

if TYPE_CHECKING:
    from preplay.book import Book as Book
    from preplay.book import Entry as Entry
    from preplay.bounds import entropy_floor as entropy_floor
    from preplay.bounds import theorem1 as theorem1
    from preplay.bounds import theorem2 as theorem2
    from preplay.equilibria import Equilibrium as Equilibrium
    from preplay.equilibria import solve as solve
    from preplay.errors import EngineError as EngineError
    from preplay.errors import GameError as GameError
    from preplay.errors import InputError as InputError
    from preplay.errors import PreplayError as PreplayError
    from preplay.errors import SolverError as SolverError
    from preplay.errors import StoreError as StoreError
    from preplay.game import Game as Game
    from preplay.game import Side as Side
    from preplay.games.clocked import Clocked as Clocked
    from preplay.growth import Advantage as Advantage
    from preplay.growth import Grown as Grown
    from preplay.growth import Limits as Limits
    from preplay.growth import Pays as Pays
    from preplay.growth import grow as grow
    from preplay.growth import grow_contested as grow_contested
    from preplay.matchup import Matchup as Matchup
    from preplay.matchup import open_matchup as open_matchup
    from preplay.policy import Policy as Policy
    from preplay.policy import PolicyFunction as PolicyFunction
    from preplay.policy import Uniform as Uniform
    from preplay.policy import softmax as softmax
    from preplay.response import BestBook as BestBook
    from preplay.response import Frontier as Frontier
    from preplay.response import best_book as best_book
    from preplay.response import evaluate as evaluate
    from preplay.response import frontier as frontier
    from preplay.tree import Tree as Tree
    from preplay.value import Evaluator as Evaluator
    from preplay.value import Exact as Exact
    from preplay.value import Value as Value
    from preplay.value import ValueFunction as ValueFunction


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'preplay' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
