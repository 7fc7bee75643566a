"""What is worth memorizing before a game: best books, certified bounds, equilibria of preparation.

The names below are the library's front door: `open_matchup` or `make_matchup` says who meets whom;
`prepare`, `frontier`, `bounds`, `equilibrium`, `harden`, `sweep` and `match` answer with typed, frozen
results; `load_run` finds a saved one again. All are imported when first used: `import preplay` is light.
"""

from __future__ import annotations

__version__ = "0.1.0"

_HOMES = {
    "preplay.book": ("Book", "Entry", "draw", "load_book", "merge", "save_book"),
    "preplay.equilibria": ("Equilibrium", "solve"),
    "preplay.errors": (
        "EngineError",
        "GameError",
        "InputError",
        "PreplayError",
        "SolverError",
        "StoreError",
    ),
    "preplay.game": ("CHANCE", "FINAL", "Distribution", "Game", "Side"),
    "preplay.games.clocked": ("Clocked",),
    "preplay.games.mcts": ("MctsPolicy",),
    "preplay.games.openspiel": ("openspiel",),
    "preplay.games.search": ("SearchPolicy",),
    "preplay.growth": ("Advantage", "Grown", "Limits", "Pays", "grow", "grow_contested"),
    "preplay.judging": ("Judge",),
    "preplay.matchup": ("Matchup", "open_matchup"),
    "preplay.matchup.own": ("make_matchup",),
    "preplay.policy": ("REST", "Menus", "Option", "Policy", "PolicyFunction", "Uniform", "softmax"),
    "preplay.response": ("BestBook", "Frontier", "best_book", "evaluate"),
    "preplay.runs": ("Run", "as_data", "load_run"),
    "preplay.runs.bounded": ("BoundsResult", "bounds"),
    "preplay.runs.equilibria": ("EquilibriumResult", "equilibrium"),
    "preplay.runs.frontiers": ("FrontierResult", "frontier"),
    "preplay.runs.hardened": ("HardenResult", "harden"),
    "preplay.runs.matches": ("match",),
    "preplay.runs.outcomes": ("MatchResult",),
    "preplay.runs.prepared": ("PrepareResult", "prepare"),
    "preplay.runs.sweeps": ("figure1", "sweep"),
    "preplay.runs.swept": ("SweepResult",),
    "preplay.sampling.adaptive": ("AdaptiveRollouts",),
    "preplay.sampling.rollouts": ("Rollouts",),
    "preplay.sampling.samplers": ("Playouts",),
    "preplay.stopping": ("Stop",),
    "preplay.theorems": ("entropy_floor", "theorem1", "theorem2"),
    "preplay.tree": ("Tree", "load_tree", "save_tree"),
    "preplay.value": ("Evaluator", "Exact", "Value", "ValueFunction"),
}
_THERE = {"load_book": "load", "save_book": "save", "load_tree": "load", "save_tree": "save"}
"""What a name is called at home, where that is something else."""
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["__version__", *_HOME]  # noqa: PLE0604 (all of them are names)

TYPE_CHECKING = False  # as typing's, without the time of its import
if TYPE_CHECKING:
    import typing

    from preplay import book as _book
    from preplay import tree as _tree
    from preplay.book import Book as Book
    from preplay.book import Entry as Entry
    from preplay.book import draw as draw
    from preplay.book import merge as merge
    from preplay.equilibria import Equilibrium as Equilibrium
    from preplay.equilibria import solve as solve
    from preplay.errors import EngineError as EngineError
    from preplay.errors import GameError as GameError
    from preplay.errors import InputError as InputError
    from preplay.errors import PreplayError as PreplayError
    from preplay.errors import SolverError as SolverError
    from preplay.errors import StoreError as StoreError
    from preplay.game import CHANCE as CHANCE
    from preplay.game import FINAL as FINAL
    from preplay.game import Distribution as Distribution
    from preplay.game import Game as Game
    from preplay.game import Side as Side
    from preplay.games.clocked import Clocked as Clocked
    from preplay.games.mcts import MctsPolicy as MctsPolicy
    from preplay.games.openspiel import openspiel as openspiel
    from preplay.games.search import SearchPolicy as SearchPolicy
    from preplay.growth import Advantage as Advantage
    from preplay.growth import Grown as Grown
    from preplay.growth import Limits as Limits
    from preplay.growth import Pays as Pays
    from preplay.growth import grow as grow
    from preplay.growth import grow_contested as grow_contested
    from preplay.judging import Judge as Judge
    from preplay.matchup import Matchup as Matchup
    from preplay.matchup import open_matchup as open_matchup
    from preplay.matchup.own import make_matchup as make_matchup
    from preplay.policy import REST as REST
    from preplay.policy import Menus as Menus
    from preplay.policy import Option as Option
    from preplay.policy import Policy as Policy
    from preplay.policy import PolicyFunction as PolicyFunction
    from preplay.policy import Uniform as Uniform
    from preplay.policy import softmax as softmax
    from preplay.response import BestBook as BestBook
    from preplay.response import Frontier as Frontier
    from preplay.response import best_book as best_book
    from preplay.response import evaluate as evaluate
    from preplay.runs import Run as Run
    from preplay.runs import as_data as as_data
    from preplay.runs import load_run as load_run
    from preplay.runs.bounded import BoundsResult as BoundsResult
    from preplay.runs.bounded import bounds as bounds
    from preplay.runs.equilibria import EquilibriumResult as EquilibriumResult
    from preplay.runs.equilibria import equilibrium as equilibrium
    from preplay.runs.frontiers import FrontierResult as FrontierResult
    from preplay.runs.frontiers import frontier as frontier
    from preplay.runs.hardened import HardenResult as HardenResult
    from preplay.runs.hardened import harden as harden
    from preplay.runs.matches import match as match
    from preplay.runs.outcomes import MatchResult as MatchResult
    from preplay.runs.prepared import PrepareResult as PrepareResult
    from preplay.runs.prepared import prepare as prepare
    from preplay.runs.sweeps import figure1 as figure1
    from preplay.runs.sweeps import sweep as sweep
    from preplay.runs.swept import SweepResult as SweepResult
    from preplay.sampling.adaptive import AdaptiveRollouts as AdaptiveRollouts
    from preplay.sampling.rollouts import Rollouts as Rollouts
    from preplay.sampling.samplers import Playouts as Playouts
    from preplay.stopping import Stop as Stop
    from preplay.theorems import entropy_floor as entropy_floor
    from preplay.theorems import theorem1 as theorem1
    from preplay.theorems import theorem2 as theorem2
    from preplay.tree import Tree as Tree
    from preplay.value import Evaluator as Evaluator
    from preplay.value import Exact as Exact
    from preplay.value import Value as Value
    from preplay.value import ValueFunction as ValueFunction

    load_book, save_book = _book.load, _book.save
    load_tree, save_tree = _tree.load, _tree.save


def __getattr__(name: str) -> typing.Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'preplay' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(home), _THERE.get(name, name))


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])
