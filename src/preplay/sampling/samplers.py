"""Who plays games out: base against base, many games at once, each with random numbers of its own."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count, islice
from typing import Generic, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from preplay.arguments import check_rules, check_seed, check_whole, shown
from preplay.errors import GameError, InputError
from preplay.game import CHANCE, FINAL, Distribution, Game, S, check_length
from preplay.games.playout import PlaysItself, playouts
from preplay.policy import REST, Policy, Uniform, check_distribution, check_pair, spread_rest
from preplay.randomness import PLAYOUTS, seed_of
from preplay.tree import Floats
from preplay.value import check_utility, utility_of

Words = npt.NDArray[np.uint64]
_STRIDE = 2**128
"""Between the seeds of two playouts of one start, which are below it."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_Moves = tuple[tuple[str, ...], tuple[float, ...]]


@dataclass(frozen=True)
class PlayoutStart(Generic[S]):
    """Where playouts begin: at one history, or at one drawn from several anew for each playout."""

    key: tuple[str, ...]
    """With `purpose` and its number, what the random numbers of a playout depend on."""
    states: tuple[S, ...]
    cumulative: tuple[float, ...] = ()
    """The probabilities of `states` but the last, summed up."""
    purpose: int = PLAYOUTS
    """One of the streams of `preplay.randomness`."""


def at(game: Game[S], state: S) -> PlayoutStart[S]:
    """Playouts from `state`."""
    return PlayoutStart(game.history(state), (state,))


def lottery(
    key: tuple[str, ...], states: Sequence[S], weights: Sequence[float], purpose: int
) -> PlayoutStart[S]:
    """Playouts from one of `states`, each with a probability in proportion to its weight."""
    total = math.fsum(weights)
    return PlayoutStart(key, tuple(states), _laid_end_to_end([w / total for w in weights]), purpose)


@dataclass(frozen=True)
class PlayoutRequest(Generic[S]):
    """`count` playouts of a start, numbered from `first`."""

    start: PlayoutStart[S]
    first: int
    count: int


class Outcomes(NamedTuple):
    """What playouts of one start gave."""

    utilities: Floats  # [count] player 1's
    certain: bool  # nothing was random on the way: every playout of this start ends the same


class Sampler(Protocol[S]):
    """Whatever can play games out; a playout depends on its start and number, not on its company."""

    def play(self, requests: Sequence[PlayoutRequest[S]]) -> Sequence[Outcomes]:
        """The outcomes of each request, in their order."""
        ...


def check_sampler(sampler: object) -> None:
    """Raise InputError unless somebody can play games out."""
    if not callable(getattr(sampler, "play", None)):
        raise InputError(f"sampler {shown(sampler)}; expected one with `play`, as Playouts")


@dataclass(frozen=True)
class Playouts(Generic[S]):
    """Plays base against base. Games run side by side, a ply of all of them for each policy call.

    Games at the same history share one question, and answers to recent questions are kept. Random
    numbers belong to the start and the number of a playout, so neither batches nor order matter.
    """

    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    seed: int = 0
    batch: int = 4096
    """How many games run side by side."""
    memory: int = 100_000
    """How many distributions are kept."""
    known: dict[tuple[str, ...], _Moves] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_rules(self.game)
        check_pair(self.base, "base")
        check_seed(self.seed)
        check_whole("batch", self.batch, 1)
        check_whole("memory", self.memory)

    def play(self, requests: Sequence[PlayoutRequest[S]]) -> list[Outcomes]:
        """The outcomes of each request, in their order."""
        total = sum(request.count for request in requests)
        utilities = np.empty(total)
        drawn = bytearray(total)
        keys = np.concatenate([np.zeros(0, np.uint64), *(self._keys(request) for request in requests)])
        starts = (request.start for request in requests for _ in range(request.count))
        for low in range(0, total, self.batch):
            part = slice(low, low + self.batch)
            drawn[part] = self._play(list(islice(starts, self.batch)), keys[part], utilities[part])
        answer: list[Outcomes] = []
        low = 0
        for request in requests:
            part = slice(low, low + request.count)
            answer.append(Outcomes(utilities[part], request.count > 0 and not any(drawn[part])))
            low += request.count
        return answer

    def _keys(self, request: PlayoutRequest[S]) -> Words:
        """[count] what the random numbers of each playout are made from."""
        start = request.start
        seed = seed_of(self.seed, start.key, stream=start.purpose) & (2**64 - 1)
        numbers = np.arange(request.first, request.first + request.count, dtype=np.uint64)
        return _mix(np.uint64(seed) + _GOLDEN * (numbers + np.uint64(1)))

    def _play(self, starts: Sequence[PlayoutStart[S]], keys: Words, utilities: Floats) -> bytearray:
        """Play one game for each start to its end; which of them met with chance or choice."""
        game = self.game
        drawn, longest = bytearray(len(starts)), game.longest
        # Histories only meet if they start together: later groups never need to be merged.
        begin: dict[tuple[str, ...], tuple[S, list[int]]] = {}
        draws = _uniforms(keys, 0)
        for k, start in enumerate(starts):
            state = start.states[0]
            if len(start.states) > 1:
                state = start.states[bisect_right(start.cumulative, draws[k])]
                drawn[k] = True
            begin.setdefault(game.history(state), (state, []))[1].append(k)
        running = [(history, state, games) for history, (state, games) in begin.items()]
        for ply in count(1):
            going: list[tuple[tuple[str, ...], S, list[int]]] = []
            for history, state, games in running:
                if game.player(state) == FINAL:
                    utilities[games] = utility_of(game, state)
                else:
                    going.append((history, state, games))
            if not going:
                break
            check_length(ply, longest)
            running = []
            draws = _uniforms(keys, ply)
            moves = self._moves([(history, state) for history, state, _ in going])
            for (history, state, games), (actions, cumulative) in zip(going, moves, strict=True):
                split: dict[str, list[int]] = {}
                if len(actions) == 1:
                    split[actions[0]] = games
                else:
                    for k in games:
                        split.setdefault(actions[bisect_right(cumulative, draws[k])], []).append(k)
                        drawn[k] = True
                for action, part in split.items():
                    running.append(((*history, action), game.next(state, action), part))
        return drawn

    def _moves(self, places: Sequence[tuple[tuple[str, ...], S]]) -> list[_Moves]:
        """What may be played at each place, asking each policy at most once."""
        found: dict[tuple[str, ...], _Moves] = {}
        asked: dict[int, list[tuple[tuple[str, ...], S]]] = {}
        for history, state in places:
            if history in self.known:
                found[history] = self.known[history]
            else:
                asked.setdefault(self.game.player(state), []).append((history, state))
        for player, unknown in asked.items():
            states = [state for _, state in unknown]
            distributions: Sequence[Distribution]
            if player == CHANCE:
                distributions = [self.game.chance(state) for state in states]
            else:
                distributions = self.base[player - 1].distributions(states)
            if len(distributions) != len(states):
                raise GameError(
                    f"base policy of player {player}: {len(distributions)} distributions "
                    f"for {len(states)} histories; expected one each"
                )
            for (history, state), distribution in zip(unknown, distributions, strict=True):
                check_distribution(distribution, f"history {list(history)}")
                if REST in distribution:
                    distribution = spread_rest(distribution, self.game.actions(state))  # noqa: PLW2901
                found[history] = self.known[history] = _laid_out(distribution)
        while len(self.known) > self.memory:
            del self.known[next(iter(self.known))]
        return [found[history] for history, _ in places]


@dataclass(frozen=True)
class UniformPlayouts(Generic[S]):
    """Plays games in which both sides choose uniformly, as fast as the game itself can.

    Random numbers belong to the start and the number of a playout, so its company does not matter.
    """

    game: Game[S]
    seed: int = 0

    def play(self, requests: Sequence[PlayoutRequest[S]]) -> list[Outcomes]:
        """The outcomes of each request, in their order."""
        play = playouts(self.game)
        return [self._played(play, request) for request in requests]

    def _played(self, play: Callable[[S, random.Random], float], request: PlayoutRequest[S]) -> Outcomes:
        start, rng = request.start, random.Random()
        if request.count and len(start.states) == 1:
            end = self._forced(start.states[0])
            if end is not None:
                return Outcomes(np.full(request.count, end), True)
        seed = seed_of(self.seed, start.key, stream=start.purpose)
        utilities = np.empty(request.count)
        for k in range(request.count):
            rng.seed(seed + _STRIDE * (request.first + k))
            state = start.states[0]
            if len(start.states) > 1:
                state = start.states[bisect_right(start.cumulative, rng.random())]
            utilities[k] = utility = play(state, rng)
            check_utility(utility, start.key)
        return Outcomes(utilities, False)

    def _forced(self, state: S) -> float | None:
        """How the game ends if nobody has a choice; None where somebody has."""
        game = self.game
        while game.player(state) != FINAL:
            actions = game.actions(state)
            if len(actions) > 1:
                return None
            state = game.next(state, actions[0])
        return utility_of(game, state)


def sampler_of(game: Game[S], base: tuple[Policy[S], Policy[S]], seed: int = 0) -> Sampler[S]:
    """What plays base against base quickest: the game itself, if both choose uniformly and it can."""
    alike = all(isinstance(policy, Uniform) and policy.game is game for policy in base)
    if alike and isinstance(game, PlaysItself):
        return UniformPlayouts(game, seed)
    return Playouts(game, base, seed)


def _laid_out(distribution: Distribution) -> _Moves:
    """The actions that can happen, by name, so that the order of a mapping does not matter."""
    actions = tuple(sorted(a for a, p in distribution.items() if p > 0.0))
    return actions, _laid_end_to_end([distribution[a] for a in actions])


def _laid_end_to_end(shares: Sequence[float]) -> tuple[float, ...]:
    """Where one share ends and the next begins; the last takes what rounding leaves over."""
    return tuple(accumulate(shares[:-1]))


def _mix(x: Words) -> Words:
    """SplitMix64's scrambling of counters into well-spread words."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _uniforms(keys: Words, draw: int) -> list[float]:
    """The random number in [0, 1) of each playout for its `draw`-th choice."""
    words = _mix(keys + _GOLDEN * np.full(1, draw + 1, dtype=np.uint64))
    numbers: list[float] = ((words >> np.uint64(11)) * 2.0**-53).tolist()
    return numbers
