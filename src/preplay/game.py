"""What a game is: the rules, and nothing about how anybody plays.

A state stands for a whole *history*, the sequence of actions from the root, in whatever form suits
the game. Policies and evaluators see states, so they may depend on everything that was played.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

from preplay.errors import GameError, InputError

S = TypeVar("S")
"""The type of a game's states."""
S_contra = TypeVar("S_contra", contravariant=True)

Side = Literal[1, 2]
"""One of the two players."""

FINAL: Final = -1
"""`Game.player` of a history at which the game is over."""
CHANCE: Final = 0
"""`Game.player` of a history at which chance moves."""
ONE: Final = 1
TWO: Final = 2

Distribution = Mapping[str, float]
"""Probabilities by action name; actions left out have probability 0."""


class Game(Protocol[S]):
    """The rules of a two-player zero-sum game with perfect information."""

    @property
    def longest(self) -> int:
        """L of the paper: no history has more actions than this."""
        ...

    @property
    def widest(self) -> int:
        """A of the paper: no history has more actions to choose from than this."""
        ...

    def root(self) -> S:
        """The empty history."""
        ...

    def history(self, state: S) -> tuple[str, ...]:
        """The actions that lead from the root to `state`."""
        ...

    def player(self, state: S) -> int:
        """Who moves: 1, 2, `CHANCE`, or `FINAL` when the game is over."""
        ...

    def actions(self, state: S) -> Sequence[str]:
        """The names of the actions at a history that is not final."""
        ...

    def chance(self, state: S) -> Distribution:
        """The probabilities of the actions at a chance history."""
        ...

    def next(self, state: S, action: str) -> S:
        """The history after `action`."""
        ...

    def utility(self, state: S) -> float:
        """Player 1's utility in [0, 1] at a final history; player 2 gets the rest."""
        ...


@runtime_checkable
class Merging(Protocol[S_contra]):
    """A game in which different histories may come to the same position."""

    @property
    def merges(self) -> bool:
        """Whether histories with one position have one future: the rules look no further back."""
        ...

    def position(self, state: S_contra) -> Hashable:
        """The position that a history has come to, with its mover."""
        ...


def check_side(side: int) -> None:
    """Raise InputError unless `side` is one of the two players."""
    if isinstance(side, bool) or side not in (ONE, TWO):
        raise InputError(f"side {side!r}; expected 1 or 2")


def check_length(length: int, longest: int) -> None:
    """Raise GameError if a history has more actions than the game says that any can have."""
    if length > longest:
        raise GameError(
            f"a history of {length:,} actions; expected at most {longest:,}, the game's `longest`"
        )


MOVERS: Final = frozenset((ONE, TWO, CHANCE, FINAL))
"""All that `Game.player` may answer."""


def check_mover(player: object, history: Sequence[str]) -> None:
    """Raise GameError for what is no answer to who moves."""
    if player not in (ONE, TWO, CHANCE, FINAL):
        raise GameError(
            f"history {list(history)}: player {player!r}; expected 1, 2, 0 (chance) or -1 (over)"
        )


def history_of(game: Game[S], state: S) -> tuple[str, ...]:
    """The actions so far, if the game tells them."""
    history: Any = game.history(state)
    if type(history) is not tuple and not isinstance(history, tuple):
        raise GameError(f"a history told as {history!r}; expected the tuple of the actions so far")
    return history


def mover_at(game: Game[S], state: S) -> int:
    """Who moves, if the game's answer makes sense."""
    player = game.player(state)
    if player not in (ONE, TWO, CHANCE, FINAL):
        check_mover(player, game.history(state))
    return player


def check_known(action: str, actions: Sequence[str], where: str) -> None:
    """Raise GameError for an action that is none of those that the game has there."""
    if action not in actions:
        raise GameError(f"{where}: action '{action}'; expected one of {', '.join(actions)}")


def actions_of(game: Game[S], state: S, widest: int | None = None) -> Sequence[str]:
    """The actions at a history that is not final; GameError unless they are some, each once, and no more
    than `widest`, which is the game's unless it was asked for before."""
    actions = game.actions(state)
    most = game.widest if widest is None else widest
    listed = isinstance(actions, Sequence) and not isinstance(actions, str)
    try:
        if listed and 0 < len(actions) <= most and len(set(actions)) == len(actions):
            return actions
    except TypeError:  # what cannot be hashed is no name
        listed = False
    where = f"history {list(game.history(state))}"
    if not listed:
        raise GameError(f"{where}: actions are {actions!r}; expected a list of names")
    if not actions:
        raise GameError(f"{where}: no actions where the game is not over; expected at least one")
    if len(set(actions)) < len(actions):
        double = next(action for k, action in enumerate(actions) if action in actions[:k])
        raise GameError(f"{where}: the action {double!r} twice; expected each action once")
    raise GameError(f"{where}: {len(actions):,} actions; expected at most {most:,}, the game's `widest`")


def other(side: Side) -> Side:
    """The opponent of `side`."""
    return 2 if side == 1 else 1


def walk(game: Game[S], actions: Sequence[str]) -> S:
    """The state after `actions` from the root."""
    state = game.root()
    for action in actions:
        state = game.next(state, action)
    return state
