"""Games, policies and values of one's own, held to what they promise; and what tells them apart."""

from __future__ import annotations

import hashlib
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from preplay.arguments import check_rules, check_whole, shown
from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, actions_of, mover_at
from preplay.games.mcts import MctsPolicy
from preplay.games.search import SearchPolicy
from preplay.matchup.offers import Placed
from preplay.policy import (
    REST,
    Ahead,
    Menus,
    Policy,
    PolicyFunction,
    Uniform,
    ahead_of,
    by_position,
    is_policy,
)
from preplay.value import Evaluator, is_evaluator

PolicyLike = Policy[S] | Callable[[S], Distribution]
"""How somebody plays: a policy, or a function from a state to a distribution over its actions."""

OF_THE_GAME = (Uniform, SearchPolicy, MctsPolicy)
"""Policies that take their actions from the game itself."""


def check_game(game: Any) -> None:
    """Raise InputError unless a game has its rules, says how long and wide it is, and tells histories."""
    check_rules(game)
    check_whole("longest", game.longest)
    check_whole("widest", game.widest)
    state = game.root()
    _check_history(game, state, ())
    if game.player(state) in (1, 2, CHANCE):
        for action in list(actions_of(game, state))[:1]:
            _check_history(game, game.next(state, action), (action,))


def _check_history(game: Game[S], state: S, right: tuple[str, ...]) -> None:
    told: Any = game.history(state)
    if not isinstance(told, tuple) or told != right:
        raise GameError(
            f"`history` tells {shown(told)} after {list(right)}; expected the tuple of the actions so far"
        )


def both_of(
    given: PolicyLike[S] | tuple[PolicyLike[S], PolicyLike[S]],
    what: str,
    game: Game[S],
    placed: Placed[S] | None = None,
) -> tuple[Policy[S], Policy[S]]:
    """A policy for each side, as a user gives them."""
    both = given if isinstance(given, tuple) else (given, given)
    if len(both) != 2:
        raise InputError(f"{what}: {len(both)} policies; expected one, or one for each side")
    return _held(both[0], what, game, placed), _held(both[1], what, game, placed)


def _held(play: PolicyLike[S], what: str, game: Game[S], placed: Placed[S] | None) -> Policy[S]:
    policy: Any = play
    if not is_policy(play):
        if isinstance(play, type) or not callable(play):
            raise InputError(
                f"{what} is {play!r}; expected a policy, or a function from a state to a distribution"
            )
        policy = PolicyFunction(play)
    if isinstance(policy, OF_THE_GAME):
        return policy
    return Held(policy, game, what, game.widest, placed)


@dataclass(frozen=True)
class Held(Generic[S]):
    """A policy of somebody else's, held to the actions that the game has."""

    policy: Policy[S]
    game: Game[S]
    what: str
    widest: int
    placed: Placed[S] | None = None
    """Where memory is by position: the policy is to play the same at histories of one."""

    @property
    def by_position(self) -> bool:
        """As the policy inside."""
        return by_position(self.policy)

    def ahead(self) -> Ahead[S] | None:
        """As the policy inside."""
        return ahead_of(self.policy)

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """What the policy plays, if the game allows it."""
        answers = self.policy.distributions(states)
        if not isinstance(answers, Sequence) or len(answers) != len(states):
            raise GameError(
                f"{self.what} answers {shown(answers)} to {len(states)} states; "
                "expected a list with a distribution for each"
            )
        return [self._checked(state, moves) for state, moves in zip(states, answers, strict=True)]

    def _checked(self, state: S, moves: Distribution) -> Distribution:
        if not isinstance(moves, Mapping):
            raise GameError(
                f"{self._where(state)} gives {type(moves).__name__}; "
                "expected a distribution, a dict from actions to probabilities"
            )
        known = actions_of(self.game, state, self.widest)
        for action in moves:
            if action not in known and action != REST:
                legal = ", ".join(map(repr, known))
                raise GameError(f"{self._where(state)} plays {action!r}; expected one of {legal}")
        if self.placed is not None:
            self.placed.check_prep(state, moves)
        return moves

    def _where(self, state: S) -> str:
        return f"history {list(self.game.history(state))}: {self.what}"


def check_values(evaluator: Any, what: str, expected: str) -> None:
    """Raise InputError unless somebody who is to value histories can be asked."""
    if not is_evaluator(evaluator):
        raise InputError(f"{what} is {shown(evaluator)}; expected {expected}")


LOOKED, LINES, LONGEST = 100, 16, 200
"""A fingerprint is taken of so many histories from the start, and of so many lines of at most so many
moves."""


def fingerprint(
    game: Game[S],
    base: tuple[Policy[S], Policy[S]],
    prep: tuple[Policy[S], Policy[S]],
    menus: tuple[Menus[S] | None, Menus[S] | None],
    opinions: Sequence[Evaluator[S]],
) -> str:
    """Of how a game is played and valued at the start and along some lines, always the same ones.

    Another game, other players or values have another one, unless they differ only elsewhere: where that
    may be, an identity tells runs apart.
    """
    digest = hashlib.sha256(repr((game.longest, game.widest)).encode())
    for state in _looked(game):
        player = mover_at(game, state)
        told: Any
        if player == FINAL:
            told = game.utility(state)
        elif player == CHANCE:
            told = game.chance(state)
        else:
            told = [both[player - 1].distributions([state])[0] for both in (base, prep)]
            offered = menus[player - 1]
            told += [] if offered is None else offered.menus([state])
            told += [list(evaluator.values([state])) for evaluator in opinions]
        digest.update(repr((game.history(state), player, told)).encode())
    return digest.hexdigest()


def _looked(game: Game[S]) -> Iterator[S]:
    """The first histories of a game, then those of lines drawn at random, the same every time."""
    waiting = deque([game.root()])
    for _ in range(LOOKED):
        if not waiting:
            return
        state = waiting.popleft()
        yield state
        if game.player(state) != FINAL:
            waiting.extend(game.next(state, action) for action in game.actions(state))
    draw = random.Random(0).random
    for _ in range(LINES):
        state = game.root()
        for _ in range(LONGEST):
            if game.player(state) == FINAL:
                break
            actions = actions_of(game, state)
            state = game.next(state, actions[int(draw() * len(actions))])
            yield state
