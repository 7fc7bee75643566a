"""Any suitable OpenSpiel game by its name: two players, perfect information, zero or constant sum.

OpenSpiel is an optional extra, so it is looked for only when a game is asked for.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any

from preplay.arguments import shown
from preplay.errors import GameError, InputError, nearest
from preplay.game import CHANCE, FINAL, Distribution
from preplay.games.playout import sample

SHOWN = frozenset({"breakthrough", "clobber", "connect_four", "hex", "nim", "othello", "tic_tac_toe"})
"""Games whose rules look at nothing but what their positions show; checked by the tests."""
INSTALL = "pip install 'preplay[openspiel]'"


@dataclass(
    slots=True, unsafe_hash=True
)  # nobody changes one; frozen, it would take three times as long to make
class OpenSpielState:
    """A history of an OpenSpiel game; two are equal when their actions are."""

    history: tuple[str, ...]
    spiel: Any = field(compare=False, repr=False)
    """The pyspiel.State after `history`; never changed, only cloned."""
    numbers: dict[str, int] | None = field(default=None, compare=False, repr=False)
    """OpenSpiel's number of each action by its name; looked up when first asked for."""


MOVERS = {0: 1, 1: 2, -1: CHANCE, -4: FINAL}
"""OpenSpiel's numbers of who moves, and preplay's."""


@dataclass(frozen=True)
class OpenSpielGame:
    """The rules of a pyspiel.Game; InputError when it is not a game of preplay's kind.

    Utilities are mapped linearly from OpenSpiel's range to [0, 1]. Actions have the names that
    OpenSpiel gives them, with `#number` added where two of them share a name.
    """

    spiel: Any
    """The pyspiel.Game."""

    def __post_init__(self) -> None:
        check_suitable(self.spiel)

    @property
    def longest(self) -> int:
        """The most actions a history can have, those of chance included."""
        return int(self.spiel.max_history_length())

    @property
    def widest(self) -> int:
        """OpenSpiel's number of different actions, or of chance outcomes if that is larger."""
        return max(int(self.spiel.num_distinct_actions()), int(self.spiel.max_chance_outcomes()))

    def root(self) -> OpenSpielState:
        """The empty history."""
        return OpenSpielState((), self.spiel.new_initial_state())

    def history(self, state: OpenSpielState) -> tuple[str, ...]:
        """The names of the actions so far."""
        return state.history

    def player(self, state: OpenSpielState) -> int:
        """1, 2, `CHANCE` or `FINAL`."""
        number = state.spiel.current_player()
        player = MOVERS.get(number)
        if player is None:
            raise GameError(f"history {state.history}: OpenSpiel's player is {number}; expected 0 or 1")
        return player

    def actions(self, state: OpenSpielState) -> Sequence[str]:
        """The names of the legal actions, or of the outcomes of chance, in OpenSpiel's order."""
        return list(self._numbers(state))

    def chance(self, state: OpenSpielState) -> Distribution:
        """The probability of each outcome at a chance history."""
        probability = dict(state.spiel.chance_outcomes())
        return {name: float(probability[number]) for name, number in self._numbers(state).items()}

    def next(self, state: OpenSpielState, action: str) -> OpenSpielState:
        """The history after `action`; `state` itself stays as it is."""
        numbers = state.numbers or self._numbers(state)
        number = numbers.get(action)
        if number is None:
            hint = nearest(action, numbers) if numbers else "the game is over"
            raise GameError(f"history {state.history}: no action '{action}'; {hint}")
        return OpenSpielState((*state.history, action), state.spiel.child(number))

    def utility(self, state: OpenSpielState) -> float:
        """Player 1's return, mapped to [0, 1]."""
        return self._scaled(state.spiel, state.history)

    def playout(self, state: OpenSpielState, rng: random.Random) -> float:
        """The utility after uniformly random play, found without naming any action."""
        spiel = state.spiel.clone()
        draw = rng.random
        while not spiel.is_terminal():
            if spiel.is_chance_node():
                spiel.apply_action(sample(spiel.chance_outcomes(), draw()))
            else:
                legal = spiel.legal_actions()
                spiel.apply_action(legal[int(draw() * len(legal))])
        return self._scaled(spiel, state.history)

    @property
    def merges(self) -> bool:
        """Whether a position tells all about the rest of the game (see `SHOWN`)."""
        return self.spiel.get_type().short_name in SHOWN

    def position(self, state: OpenSpielState) -> Hashable:
        """What OpenSpiel shows of the board, the mover and the number of moves: a key for transpositions.

        In most games histories with one position have one future; not where the rules look back
        further than the board shows, as repetition in chess or go does.
        """
        return len(state.history), int(state.spiel.current_player()), state.spiel.to_string()

    def _numbers(self, state: OpenSpielState) -> dict[str, int]:
        if state.numbers is None:
            spiel = state.spiel
            numbers = spiel.legal_actions()
            names = [spiel.action_to_string(number) for number in numbers]
            state.numbers = numbered(tuple(names), tuple(numbers))
        return state.numbers

    def _scaled(self, spiel: Any, history: tuple[str, ...]) -> float:
        one, two = spiel.returns()
        low, high, total = self.spiel.min_utility(), self.spiel.max_utility(), self.spiel.utility_sum()
        if not low <= one <= high or abs(one + two - total) > 1e-9 * max(1.0, high - low):
            raise GameError(
                f"history {history}: returns {one:g} and {two:g} of {self.spiel}; "
                f"expected numbers from {low:g} to {high:g} that sum to {total:g}"
            )
        return float((one - low) / (high - low))


def openspiel(text: str) -> OpenSpielGame:
    """The game that OpenSpiel knows as `text`, such as "connect_four(rows=4,columns=4)"."""
    if not isinstance(text, str):
        raise InputError(f"game {shown(text)}; expected a name of OpenSpiel's, as text")
    library = _library()
    text = text.strip()
    name = text.partition("(")[0]
    if name.startswith("python_"):
        import open_spiel.python.games  # noqa: F401  registers the games written in Python
    if name not in library.registered_names():
        raise InputError(f"unknown OpenSpiel game '{name}'; {nearest(name, suitable())}")
    try:
        with _quiet():
            game = library.load_game(text)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(f"OpenSpiel game '{text}' cannot be loaded: {reason}") from error
    return OpenSpielGame(game)


def suitable() -> list[str]:
    """The names of OpenSpiel's games that preplay can play with their default parameters."""
    return sorted(
        kind.short_name
        for kind in _library().registered_games()
        if kind.default_loadable
        and kind.min_num_players <= 2 <= kind.max_num_players
        and not _misfit(kind)
    )


def check_suitable(game: Any) -> None:
    """Raise InputError unless a pyspiel.Game is of preplay's kind, with bounds that can be used."""
    misfit = _misfit(game.get_type()) or _misfit_bounds(game)
    if misfit:
        raise InputError(f"OpenSpiel game '{game}' {misfit}")


def _misfit(kind: Any) -> str:
    """What keeps a pyspiel.GameType from being of preplay's kind; empty when nothing does."""
    if kind.dynamics.name != "SEQUENTIAL":
        return f"is {kind.dynamics.name.lower().replace('_', '-')}; expected players who move in turn"
    if kind.information.name != "PERFECT_INFORMATION":
        return "has imperfect information; expected perfect information"
    if kind.chance_mode.name == "SAMPLED_STOCHASTIC":
        return "samples its chance events; expected chance nodes with explicit probabilities"
    if kind.utility.name not in ("ZERO_SUM", "CONSTANT_SUM"):
        return "is general-sum; expected zero or constant sum"
    return ""


def _misfit_bounds(game: Any) -> str:
    """The same for the numbers of a pyspiel.Game that has the right type."""
    players, longest = game.num_players(), game.max_history_length()
    if players != 2:
        return f"has {players} player{'' if players == 1 else 's'}; expected 2"
    if longest < 1:
        return f"has no moves (longest history {longest}); expected at least one"
    low, high = game.min_utility(), game.max_utility()
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return f"has utilities from {low:g} to {high:g}; expected a finite range of two or more values"
    return ""


@lru_cache(maxsize=4096)
def numbered(names: tuple[str, ...], numbers: tuple[int, ...]) -> dict[str, int]:
    """OpenSpiel's numbers by names on one line each; those that occur twice have the number added.

    Positions with the same legal actions share one of these, which nobody changes.
    """
    plain = [" ".join(name.split()) for name in names]
    if len(set(plain)) < len(plain):
        if len(set(numbers)) < len(numbers):
            raise GameError(
                f"actions {plain} have OpenSpiel's numbers {list(numbers)}; expected different ones"
            )
        some = [f"{a}#{k}" if plain.count(a) > 1 else a for a, k in zip(plain, numbers, strict=True)]
        every = [f"{a}#{k}" for a, k in zip(plain, numbers, strict=True)]
        plain = some if len(set(some)) == len(some) else every
    return dict(zip(plain, numbers, strict=True))


def _library() -> ModuleType:
    try:
        import pyspiel
    except ImportError as error:
        raise InputError(f"OpenSpiel is not installed; expected the extra: {INSTALL}") from error
    library: ModuleType = pyspiel
    return library


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep OpenSpiel from writing its exceptions to stderr; its C++ code knows only the descriptor."""
    try:
        saved = os.dup(2)
    except OSError:  # stderr is closed: nothing to keep quiet
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
