"""One game played to its end at random: the cheapest estimate of how good a history is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar, runtime_checkable

from preplay.game import CHANCE, FINAL, Game, S, S_contra, check_length
from preplay.value import utility_of

T = TypeVar("T")


@runtime_checkable
class PlaysItself(Protocol[S_contra]):
    """A game that gets to its end faster than by the names of its actions."""

    def playout(self, state: S_contra, rng: random.Random) -> float:
        """Player 1's utility after uniformly random play from `state`."""
        ...


def playouts(game: Game[S]) -> Callable[[S, random.Random], float]:
    """A function that plays `game` to its end at random and gives player 1's utility.

    Both sides choose uniformly and chance by its probabilities. It is the game's own `playout` where
    there is one.
    """
    if isinstance(game, PlaysItself):
        return game.playout

    def play(state: S, rng: random.Random) -> float:
        moves, longest = 0, game.longest
        while (player := game.player(state)) != FINAL:
            moves += 1
            check_length(moves, longest)
            if player == CHANCE:
                action = sample(game.chance(state).items(), rng.random())
            else:
                actions = game.actions(state)
                action = actions[int(rng.random() * len(actions))]
            state = game.next(state, action)
        return utility_of(game, state)

    return play


def sample(outcomes: Iterable[tuple[T, float]], draw: float) -> T:
    """The outcome on which `draw`, uniform in [0, 1), falls when probabilities are laid end to end."""
    last: T | None = None
    for outcome, probability in outcomes:
        draw -= probability
        if probability > 0.0:
            last = outcome
            if draw < 0.0:
                break
    if last is None:
        raise ValueError("no outcome has a positive probability")
    return last
