"""Playouts that keep engines busy: every game goes on as soon as its own search is done.

`Playouts` moves all games a ply at a time, which suits policies that answer batches. Policies with
`prefetch` work in the background, and there waiting for the slowest search of every ply leaves engines
idle. Here many games are under way, each asks ahead, and the one that asked first is served first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Generic

import numpy as np

from preplay.errors import GameError
from preplay.game import CHANCE, FINAL, Distribution, Game, S
from preplay.policy import Policy, check_distribution
from preplay.randomness import generator
from preplay.rollouts import Outcomes, Request, Start

_PURPOSES = 8
"""More than there are purposes of a start."""


@dataclass(frozen=True)
class Streams(Generic[S]):
    """Plays base against base, many games side by side, each at its own pace.

    Random numbers belong to the start and the number of a playout, so its company does not matter.
    """

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    seed: int = 0
    at_once: int = 64
    """How many games are under way."""

    def play(self, requests: Sequence[Request[S]]) -> list[Outcomes]:
        """The outcomes of each request, in their order."""
        groups = [self.playouts(request) for request in requests]
        _finish([playout for group in groups for playout in group], self.at_once)
        return [_outcomes(group) for group in groups]

    def playouts(self, request: Request[S]) -> list[Playout[S]]:
        """The games of a request, not yet begun."""
        start, numbers = request.start, range(request.first, request.first + request.count)
        return [Playout(self.game, self.base, start, self.seed, number) for number in numbers]


def play_alike(samplers: Sequence[Streams[S]], request: Request[S]) -> list[Outcomes]:
    """The outcomes of the same request by each sampler, all of their games side by side."""
    groups = [sampler.playouts(request) for sampler in samplers]
    alternating = [playout for row in zip(*groups, strict=True) for playout in row]
    _finish(alternating, max(sampler.at_once for sampler in samplers))
    return [_outcomes(group) for group in groups]


def _outcomes(group: Sequence[Playout[S]]) -> Outcomes:
    certain = bool(group) and not any(playout.drawn for playout in group)
    return Outcomes(np.array([playout.utility for playout in group]), certain)


def _finish(playouts: Sequence[Playout[S]], at_once: int) -> None:
    """Play all to the end, so many under way at a time."""
    waiting = iter(playouts)
    running: deque[Playout[S]] = deque()
    while True:
        while len(running) < at_once and (new := next(waiting, None)) is not None:
            new.begin()
            if new.ask():
                running.append(new)
        if not running:
            return
        playout = running.popleft()
        playout.answer()
        if playout.ask():
            running.append(playout)


@dataclass(slots=True)
class Playout(Generic[S]):
    """One game under way."""

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    start: Start[S]
    seed: int
    number: int
    drawn: bool = False
    """Whether anything was random so far."""
    utility: float = 0.0
    """The outcome, once it is over."""
    state: S = field(init=False)
    rng: np.random.Generator = field(init=False)

    def begin(self) -> None:
        """Set up the game; its random numbers follow from the start and its number."""
        stream = self.start.purpose + _PURPOSES * self.number
        self.rng = generator(self.seed, self.start.key, stream=stream)
        states = self.start.states
        self.state = states[self._draw(self.start.cumulative)] if len(states) > 1 else states[0]

    def ask(self) -> bool:
        """Go on to the next decision of a side and let it think; False if the game is over first."""
        while (player := self.game.player(self.state)) == CHANCE:
            self._move(self.game.chance(self.state))
        if player == FINAL:
            self.utility = self.game.utility(self.state)
            if not 0.0 <= self.utility <= 1.0:
                raise GameError(f"{self._where}: utility {self.utility}; expected a number in [0, 1]")
            return False
        prefetch = getattr(self.base[player - 1], "prefetch", None)
        if prefetch is not None:
            prefetch([self.state])
        return True

    def answer(self) -> None:
        """Make the move that was asked for."""
        policy = self.base[self.game.player(self.state) - 1]
        (distribution,) = policy.distributions([self.state])
        self._move(distribution)

    def _move(self, distribution: Distribution) -> None:
        check_distribution(distribution, self._where)
        # By name, so that the order of a mapping does not matter.
        actions = sorted(action for action, p in distribution.items() if p > 0.0)
        choice = 0
        if len(actions) > 1:
            choice = self._draw(list(accumulate(distribution[action] for action in actions[:-1])))
        self.state = self.game.next(self.state, actions[choice])

    def _draw(self, cumulative: Sequence[float]) -> int:
        self.drawn = True
        return bisect_right(cumulative, self.rng.random())

    @property
    def _where(self) -> str:
        return f"history {list(self.game.history(self.state))}"
