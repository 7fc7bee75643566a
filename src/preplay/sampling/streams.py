"""Playouts that keep engines busy: every game goes on as soon as its own search is done.

`Playouts` moves all games a ply at a time, which suits policies that answer batches. Policies that are
`Prefetching` work in the background, and there waiting for the slowest search of every ply leaves engines
idle. Here many games are under way, each asks ahead, and the one that asked first is served first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from time import monotonic
from typing import Generic

import numpy as np

from preplay.game import CHANCE, FINAL, Distribution, Game, S, check_length
from preplay.machine import cores
from preplay.policy import Ahead, Policy, ahead_of, check_distribution
from preplay.randomness import generator, playout_stream
from preplay.sampling.samplers import Outcomes, PlayoutRequest, PlayoutStart, Sampler
from preplay.scheduling import Question, Turns, in_turns
from preplay.stopping import NEVER, Stop
from preplay.value import utility_of

PIECE = 32
"""Playouts between the first two looks at the clock of samplers that cannot stop by themselves."""
QUICK = 0.1
"""Where so many playouts take fewer seconds than this, twice as many follow."""


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

    def play(self, requests: Sequence[PlayoutRequest[S]]) -> list[Outcomes]:
        """The outcomes of each request, in their order."""
        groups = [self.playouts(request) for request in requests]
        for _ in in_turns((playout.turns() for group in groups for playout in group), self.at_once):
            pass
        return [_outcomes(group) for group in groups]

    def play_unless(self, requests: Sequence[PlayoutRequest[S]], stop: Stop) -> list[Outcomes] | None:
        """The same, looking out for a stop after every move; None where it was asked for first."""
        groups = [self.playouts(request) for request in requests]
        playouts = [playout for group in groups for playout in group]
        for _ in in_turns((playout.turns() for playout in playouts), self.at_once, stop):
            pass
        return [_outcomes(group) for group in groups] if all(p.over for p in playouts) else None

    def playouts(self, request: PlayoutRequest[S]) -> list[Playout[S]]:
        """The games of a request, not yet begun."""
        start, numbers = request.start, range(request.first, request.first + request.count)
        ahead = ahead_of(self.base[0]), ahead_of(self.base[1])
        return [Playout(self.game, self.base, ahead, start, self.seed, number) for number in numbers]


def play_unless(
    sampler: Sampler[S], requests: Sequence[PlayoutRequest[S]], stop: Stop
) -> Sequence[Outcomes] | None:
    """What a sampler's playouts give, or None if time is up (or a stop asked for) before they end.

    A sampler that cannot look at the clock plays a few games at a time, where there is a clock to look
    at; a playout does not depend on its company.
    """
    if isinstance(sampler, Streams):
        return sampler.play_unless(requests, stop)
    if not stop.timed:
        return sampler.play(requests)
    parts = [
        (k, replace(request, first=request.first + done, count=min(PIECE, request.count - done)))
        for k, request in enumerate(requests)
        for done in range(0, request.count, PIECE)
    ]
    played: list[list[Outcomes]] = [[] for _ in requests]
    done, width = 0, 1
    while done < len(parts):
        if stop.asked:
            return None
        began, now = monotonic(), parts[done : done + width]
        for (k, _), outcome in zip(now, sampler.play([part for _, part in now]), strict=True):
            played[k].append(outcome)
        done += width
        if monotonic() - began < QUICK:
            width *= 2
    return [_joined(outcomes) for outcomes in played]


def _joined(parts: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of one request that was played in parts."""
    utilities = np.concatenate([np.zeros(0), *(part.utilities for part in parts)])
    return Outcomes(utilities, bool(parts) and all(part.certain for part in parts))


def play_alike(
    samplers: Sequence[Streams[S]],
    request: PlayoutRequest[S],
    *,
    stop: Stop = NEVER,
    progress: Callable[[int], None] | None = None,
) -> list[Outcomes]:
    """The outcomes of the same request by each sampler, all of their games side by side.

    Stopped early, those of the first games, up to one that some sampler has not finished: which games
    count must not depend on how soon they end. `progress` hears how many these are.
    """
    groups = [sampler.playouts(request) for sampler in samplers]
    rows = list(zip(*groups, strict=True))
    alternating = (playout.turns() for row in rows for playout in row)
    finished = 0
    at_once = max(sampler.at_once for sampler in samplers)
    if stop.timed:  # enough for the engines, and few that are unfinished when time is up
        at_once = min(at_once, max(16, 2 * cores()))
    for _ in in_turns(alternating, at_once, stop):
        before, finished = finished, _finished(rows, finished)
        if progress is not None and finished > before:
            progress(finished)
    return [_outcomes(group[:finished]) for group in groups]


def _finished(rows: Sequence[tuple[Playout[S], ...]], known: int) -> int:
    """How many rows from the first one on are over, `known` of them for certain."""
    while known < len(rows) and all(playout.over for playout in rows[known]):
        known += 1
    return known


def _outcomes(group: Sequence[Playout[S]]) -> Outcomes:
    certain = bool(group) and not any(playout.drawn for playout in group)
    return Outcomes(np.array([playout.utility for playout in group]), certain)


@dataclass(slots=True)
class Playout(Generic[S]):
    """One game under way."""

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    ahead: tuple[Ahead[S] | None, Ahead[S] | None]
    """How each of them works ahead, if it does."""
    start: PlayoutStart[S]
    seed: int
    number: int
    drawn: bool = False
    """Whether anything was random so far."""
    moves: int = 0
    over: bool = False
    utility: float = 0.0
    """The outcome, once it is over."""
    state: S = field(init=False)
    rng: np.random.Generator = field(init=False)

    def turns(self) -> Turns[None]:
        """Play it to its end; its random numbers follow from the start and its number."""
        stream = playout_stream(self.start.purpose, self.number)
        self.rng = generator(self.seed, self.start.key, stream=stream)
        states = self.start.states
        self.state = states[self._draw(self.start.cumulative)] if len(states) > 1 else states[0]
        while (player := self.game.player(self.state)) != FINAL:
            if player == CHANCE:
                self._move(self.game.chance(self.state))
                continue
            policy, ahead = self.base[player - 1], self.ahead[player - 1]
            self._move((yield Question(policy.distributions, self.state, ahead)))
        self.utility = utility_of(self.game, self.state)
        self.over = True

    def _move(self, distribution: Distribution) -> None:
        check_distribution(distribution, self._where)
        # By name, so that the order of a mapping does not matter.
        actions = sorted(action for action, p in distribution.items() if p > 0.0)
        choice = 0
        if len(actions) > 1:
            choice = self._draw(list(accumulate(distribution[action] for action in actions[:-1])))
        self.moves += 1
        check_length(self.moves, self.game.longest)
        self.state = self.game.next(self.state, actions[choice])

    def _draw(self, cumulative: Sequence[float]) -> int:
        self.drawn = True
        return bisect_right(cumulative, self.rng.random())

    @property
    def _where(self) -> str:
        return f"history {list(self.game.history(self.state))}"
