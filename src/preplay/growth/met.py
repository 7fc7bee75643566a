"""The histories met so far, with the states of those from which growth goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Generic

from preplay.arguments import are_floats
from preplay.errors import GameError
from preplay.game import FINAL, MOVERS, Distribution, Game, S, check_known, check_length, check_mover
from preplay.growth.builder import Builder
from preplay.policy import REST, check_distribution
from preplay.value import Value, value_of

KEPT = 150_000
"""So many states of histories that wait are kept; of others that of the history before, if any."""


class Met(Generic[S]):
    """A tree under construction and the game it is of; what game and players say is checked here."""

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self.built = Builder()
        self.states: dict[int, S] = {}
        """Of histories that wait, as far as they are kept."""
        self._longest = game.longest

    def root(self) -> tuple[S, int]:
        """The state before the first move, and who makes it."""
        state = self.game.root()
        (player,) = self.movers(0, [""], [state])
        if player == FINAL:
            raise GameError("the game is over before it begins; expected at least one move")
        return state, player

    # --- states -----------------------------------------------------------------------------------

    def state(self, k: int) -> S:
        """The state of `k`, by the moves since the nearest state that is kept."""
        states = self.states
        if k in states:
            return states[k]
        path, parent = [], self.built.parent
        while k not in states and k > 0:
            path.append(k)
            k = parent[k]
        return self._replayed(states[k] if k in states else self.game.root(), path)

    def replay(self) -> Callable[[int], S]:
        """The states of many histories: one that makes each move once, and remembers."""
        known, parent = {0: self.game.root()}, self.built.parent

        def state(k: int) -> S:
            path = []
            while k not in known:
                path.append(k)
                k = parent[k]
            return self._replayed(known[k], path, known)

        return state

    def _replayed(self, state: S, path: list[int], known: dict[int, S] | None = None) -> S:
        """After the moves to the histories of `path`, the last one first; `known` learns of each."""
        built, names = self.built, self.built.spelled
        for k in reversed(path):
            if k not in built.rests:
                state = self.game.next(state, names[built.action[k]])
            if known is not None:
                known[k] = state
        return state

    def after(self, k: int, state: S, actions: Sequence[str]) -> list[S]:
        """The states after each action from `state`, which is that of `k`.

        The rest of the opponent's moves has the state in which they are made: it is valued there, as if
        the opponent played their best move (fact 12).
        """
        check_length(self.built.depth[k] + 1, self._longest)
        after = self.game.next
        try:
            if REST in actions:
                return [state if action == REST else after(state, action) for action in actions]
            return [after(state, action) for action in actions]
        except Exception:
            known = self.game.actions(state)
            for action in actions:
                if action != REST:
                    check_known(action, known, self.where(k))
            raise

    def movers(self, k: int, actions: Sequence[str], states: Sequence[S]) -> list[int]:
        """Who moves in the states after these actions from `k`, if the game's answers make sense."""
        players = list(map(self.game.player, states))
        try:
            possible = MOVERS.issuperset(players)
        except TypeError:  # unhashable, and so none
            possible = False
        if not possible:
            for action, player in zip(actions, players, strict=True):
                check_mover(player, (*self.built.history(k), action) if action else ())
        return players

    def thin(self, k: int, state: S, children: Iterable[int]) -> None:
        """Where too many states are kept: keep that of `k` instead of those of its children."""
        if len(self.states) > KEPT:
            for c in children:
                self.states.pop(c, None)
            self.states[k] = state

    # --- what was said ----------------------------------------------------------------------------

    def values(
        self, histories: Sequence[int], values: Sequence[Value]
    ) -> tuple[Sequence[float], Sequence[float]]:
        """Means and radii of an evaluator's answers, if they make sense."""
        if set(map(type, values)) == {Value}:
            means, radii = zip(*values, strict=True)
            if are_floats(means) and are_floats(radii) and max(means) <= 1.0:
                return means, radii
        pairs = [self.value(k, value) for k, value in zip(histories, values, strict=True)]
        return [mean for mean, _ in pairs], [radius for _, radius in pairs]

    def value(self, k: int, value: Value) -> Value:
        """Mean and radius of an evaluator's answer, if they make sense."""
        return value_of(value, partial(self.where, k))

    def distribution(self, k: int, distribution: Distribution) -> Distribution:
        """A policy's or chance's answer, if it makes sense."""
        try:
            check_distribution(distribution, "distribution")
        except GameError as error:
            raise GameError(f"{self.where(k)}: {error}") from None
        return distribution

    def where(self, k: int) -> str:
        """What to call `k` in a message."""
        return f"history {list(self.built.history(k))}"
