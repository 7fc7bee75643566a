"""A player who samples: Monte Carlo tree search by upper confidence bounds (UCT)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from preplay.arguments import check_function, check_number, check_rules, check_seed, check_whole, is_share
from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, ONE, Distribution, Game, S, actions_of
from preplay.games.playout import playouts, sample
from preplay.policy import Menu, Option, menu_of, softmax
from preplay.randomness import TREE_SEARCH, seed_of
from preplay.value import utility_of


@dataclass(frozen=True)
class MctsPolicy(Generic[S]):
    """Plays what a tree search of `simulations` games, begun afresh at each history, visits most.

    The random numbers come from the seed and the history, so an answer does not depend on what else
    is asked, or when.
    """

    game: Game[S]
    simulations: int
    exploration: float = 1.0
    """How much rarely tried actions are favoured; UCB1 for values in [0, 1] has the root of 2."""
    temperature: float = 0.0
    """t of probability ~ visits^(1/t): 0 plays the most visited action, 1 by share of visits."""
    seed: int = 0
    evaluate: Callable[[S], float] | None = None
    """Player 1's value, in [0, 1], of a new leaf (neither final nor chance) instead of a random game."""

    def __post_init__(self) -> None:
        check_rules(self.game)
        check_whole("simulations", self.simulations, 1)
        check_number("exploration", self.exploration, finite=True)
        check_number("temperature", self.temperature, finite=True)
        check_seed(self.seed)
        check_function("evaluate", self.evaluate)

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """What the search visits at each state; actions of probability 0 are left out."""
        return [self._distribution(state) for state in states]

    def visits(self, state: S) -> dict[str, int]:
        """How many simulations began with each action at a decision."""
        rng = random.Random(seed_of(self.seed, self.game.history(state), stream=TREE_SEARCH))
        root = _node(self.game, state, rng)
        estimate = self._estimate(rng)
        for _ in range(self.simulations):
            _simulate(self.game, root, self.exploration, estimate, rng)
        return dict(zip(root.actions, root.visits, strict=True))

    def _distribution(self, state: S) -> Distribution:
        actions = actions_of(self.game, state)
        if len(actions) == 1:
            return {actions[0]: 1.0}
        tried = {action: n for action, n in self.visits(state).items() if n > 0}
        shares = softmax([math.log(n) for n in tried.values()], self.temperature)
        return {action: p for action, p in zip(tried, shares, strict=True) if p > 0.0}

    def _estimate(self, rng: random.Random) -> Callable[[S], float]:
        evaluate = self.evaluate
        if evaluate is None:
            play = playouts(self.game)
            return lambda state: play(state, rng)

        def checked(state: S) -> float:
            value = evaluate(state)
            if not is_share(value):
                where = self.game.history(state)
                raise GameError(f"history {where}: value {value}; expected a number in [0, 1]")
            return value

        return checked


@dataclass(frozen=True)
class MctsMenus(Generic[S]):
    """Offers the actions that a tree search visits most; the opinion is the share of visits."""

    policy: MctsPolicy[S]
    most: int
    margin: float = 1.0

    def menus(self, states: Sequence[S]) -> list[Menu]:
        """The most visited actions at each state within `margin` of the first; the earliest of equals."""
        return [self._menu(state) for state in states]

    def _menu(self, state: S) -> Menu:
        actions = self.policy.game.actions(state)
        if len(actions) == 1:
            return (Option(actions[0], 1.0),)
        visits = {a: n for a, n in self.policy.visits(state).items() if n > 0}
        options = [Option(a, n / self.policy.simulations) for a, n in visits.items()]
        return menu_of(options, self.most, self.margin)


@dataclass(slots=True)
class _Visited(Generic[S]):
    state: S
    player: int
    actions: Sequence[str] = ()
    untried: list[int] = field(default_factory=list)  # indices of actions, in random order
    children: dict[int, _Visited[S]] = field(default_factory=dict)  # by index of the action
    visits: list[int] = field(default_factory=list)  # by index of the action
    totals: list[float] = field(default_factory=list)  # the mover's values, summed over visits
    weights: list[float] = field(default_factory=list)  # chance: probability of each action
    utility: float = 0.0  # at the end of the game, player 1's


def _node(game: Game[S], state: S, rng: random.Random) -> _Visited[S]:
    player = game.player(state)
    if player == FINAL:
        return _Visited(state, player, utility=utility_of(game, state))
    if player == CHANCE:
        outcomes = game.chance(state)
        return _Visited(state, player, actions=list(outcomes), weights=list(outcomes.values()))
    actions = game.actions(state)
    n = len(actions)
    order = sorted(range(n), key=lambda _: rng.random())
    return _Visited(state, player, actions, untried=order, visits=[0] * n, totals=[0.0] * n)


def _simulate(
    game: Game[S],
    root: _Visited[S],
    exploration: float,
    estimate: Callable[[S], float],
    rng: random.Random,
) -> None:
    """Walk down by the bounds to a new leaf, estimate it, and credit every decision on the way."""
    node, path, new = root, [], False
    while node.player != FINAL:
        if node.player == CHANCE:
            k = sample(enumerate(node.weights), rng.random())
        elif new:
            break
        else:
            k = node.untried.pop() if node.untried else _most_promising(node, exploration)
            path.append((node, k))
        child = node.children.get(k)
        if child is None:
            child = node.children[k] = _node(game, game.next(node.state, node.actions[k]), rng)
            new = True
        node = child
    value = node.utility if node.player == FINAL else estimate(node.state)
    for decision, k in path:
        decision.visits[k] += 1
        decision.totals[k] += value if decision.player == ONE else 1.0 - value


def _most_promising(node: _Visited[S], exploration: float) -> int:
    """The action with the largest upper confidence bound; the first of equals."""
    width = exploration * math.sqrt(math.log(sum(node.visits)))
    bounds = [t / n + width / math.sqrt(n) for t, n in zip(node.totals, node.visits, strict=True)]
    return bounds.index(max(bounds))
