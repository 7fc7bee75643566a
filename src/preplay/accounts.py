"""What a book rests on where the opponent is a person: whose games foretell it, and against whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np

from preplay.book import Book
from preplay.game import CHANCE, Game, S
from preplay.policy import REST, probability
from preplay.tree import Tree


class Sources(NamedTuple):
    """Where the probability of a move, or a gain, comes from; the parts sum to it."""

    own: float = 0.0
    """The player's own games."""
    population: float = 0.0
    """How others play."""
    engine: float = 0.0
    """The engine that stands in."""
    tail: float = 0.0
    """The moves that nobody listed, or that are too unlikely to be listed."""


@dataclass(frozen=True)
class Worth:
    """What a book is worth against one of those who may come."""

    name: str
    share: float
    """How likely it is that this one comes."""
    value: float
    unprepared: float
    """The value with nothing memorized."""

    @property
    def gain(self) -> float:
        """What the book adds against this one."""
        return self.value - self.unprepared


@dataclass(frozen=True)
class Account:
    """What a book against people rests on. Values are those of the side that prepares."""

    gain: Sources
    """What the book gains, by the weakest source of the opponent's moves up to where it is gained."""
    met: int
    """How many of the memorized histories end in a position of the opponent's own games."""
    size: int
    """How many histories are memorized."""
    against: tuple[Worth, ...] = ()
    """What it is worth against each, where several may come."""


@dataclass(frozen=True, eq=False)
class People(Generic[S]):
    """What is known of the people who may sit on a side."""

    names: tuple[str, ...]
    shares: tuple[float, ...]
    sources: Callable[[Sequence[S]], Sequence[Mapping[str, Sources]]]
    """The probabilities of the moves at some states, by where they come from."""
    plays: Callable[[Sequence[S]], Sequence[Sequence[Mapping[str, float]]]]
    """For each state the play of each of them, as a distribution that may have a share for the rest."""
    met: Callable[[S], bool]
    """Whether a position occurred in the games of any of them."""


def account_of(game: Game[S], tree: Tree, book: Book, people: People[S]) -> Account:
    """Walk through all that a book meets and say what its gain rests on.

    A gain at a history (fact 1) is the sum over where play comes next of reach * (value there - value
    here). Each such term is owed to the opponent's moves up to there, and a line is only as well known as
    its least known move: the part that own games alone foretell is the product of their shares, what own
    games and population together foretell the product of theirs less that, and so on.
    """
    return _Walk(game, tree, book, people).account()


class _Walk(Generic[S]):
    def __init__(self, game: Game[S], tree: Tree, book: Book, people: People[S]) -> None:
        self.game, self.tree, self.book, self.people = game, tree, book, people
        self.entries = {entry.history: entry for entry in book.entries}
        self.gain = np.zeros(4)
        count = len(people.names)
        self.value, self.empty = np.zeros(count), np.zeros(count)
        self.met = 0

    def account(self) -> Account:
        # Of each place: index, state, history, reach, what is foretold, each one's reach, value left.
        start = (0, self.game.root(), (), 1.0, np.ones(3), np.ones(len(self.people.names)), None)
        stack: list[tuple[int, S, tuple[str, ...], float, Any, Any, float | None]] = [start]
        while stack:
            k, state, history, reach, known, each, left = stack.pop()
            rest = bool(history) and history[-1] == REST
            mine = self.tree.player[k] == self.book.side and not rest
            leaf = self.tree.first[k] == self.tree.first[k + 1]
            if not (mine or leaf):
                stack += self._opponent(k, state, history, reach, known, each, left)
                continue
            here = self._value(k)
            if left is None:
                self.empty += each * here
            else:
                self._gained(reach * (here - left), known, rest)
            entry = self.entries.get(history) if mine and not leaf else None
            if entry is None:
                self.value += each * here
                continue
            self.met += self.people.met(state)
            for child in self.tree.children(k):
                action = self.tree.names[self.tree.action[child]]
                p = entry.moves.get(action, 0.0)
                if p > 0.0:
                    after = (*history, action)
                    following = self.game.next(state, action)
                    stack.append((child, following, after, reach * p, known, each * p, here))
        worths = [
            Worth(name, share, float(value), float(empty))
            for name, share, value, empty in zip(
                self.people.names, self.people.shares, self.value, self.empty, strict=True
            )
        ]
        several = tuple(worths) if len(worths) > 1 else ()
        return Account(Sources(*map(float, self.gain)), self.met, len(self.entries), several)

    def _value(self, k: int) -> float:
        """The side's value of a history; where nobody asked it counts nothing, as in the book's value."""
        value = float(self.tree.value[k])
        if np.isnan(value):
            return 0.0
        return value if self.book.side == 1 else 1.0 - value

    def _gained(self, term: float, known: Any, rest: bool) -> None:
        own, crowd, engine = (0.0, 0.0, 0.0) if rest else known
        self.gain += term * np.array([own, crowd - own, engine - crowd, 1.0 - engine])

    def _opponent(
        self, k: int, state: S, history: tuple[str, ...], reach: float, known: Any, each: Any, left: Any
    ) -> list[Any]:
        """The opponent's moves from a history, with how well each is foretold."""
        chance = self.tree.player[k] == CHANCE
        (sources,) = [{}] if chance else self.people.sources([state])
        (plays,) = [[]] if chance else self.people.plays([state])
        children = [(c, self.tree.names[self.tree.action[c]]) for c in self.tree.children(k)]
        named = [action for _, action in children if action != REST]
        many = len(self.game.actions(state))
        found = []
        for child, action in children:
            p = float(self.tree.base[child])
            if p <= 0.0:
                continue
            parts = sources.get(action, Sources(tail=p))
            foretold = np.ones(3) if chance else np.cumsum(parts[:3]) / (sum(parts) or 1.0)
            chances = np.array([_chance(play, action, named, many) for play in plays]) if plays else p
            following = state if action == REST else self.game.next(state, action)
            row = (
                child,
                following,
                (*history, action),
                reach * p,
                known * foretold,
                each * chances,
                left,
            )
            found.append(row)
        return found


def _chance(play: Mapping[str, float], action: str, named: Sequence[str], many: int) -> float:
    """How likely a player makes a move of the tree; the rest is all that the tree does not name."""
    if action != REST:
        return probability(play, action, many)
    return max(0.0, 1.0 - sum(probability(play, name, many) for name in named))
