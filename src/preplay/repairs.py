"""Which of the moves that a player knows already lose most, by the tree that a book was chosen on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from preplay import response
from preplay.game import CHANCE, Game, S, Side, walk
from preplay.response import BestBook
from preplay.tree import Floats, Tree
from preplay.value import Evaluator

LEAST = 1e-9
"""Smaller losses are rounding errors."""


@dataclass(frozen=True)
class Repair:
    """A known history whose move earns less than stopping to know it would."""

    history: tuple[str, ...]
    moves: tuple[str, ...]
    """What is known to be played there."""
    reach: float
    """How often the game gets there."""
    value: float
    """v(h): what the side has there when it plays by itself."""
    worth: float
    """What it has there with the known moves and all that is memorized after them, net of its price."""

    @property
    def loss(self) -> float:
        """What the known moves cost a game, before anything else is learned there."""
        return self.reach * (self.value - self.worth)


def repairs(game: Game[S], value: Evaluator[S], tree: Tree, best: BestBook) -> tuple[Repair, ...]:
    """The known histories of a tree (lotteries of the game) that lose, the dearest first."""
    side: Side = best.side
    known = np.flatnonzero((tree.player == CHANCE) & ~tree.leaves)
    if not len(known):
        return ()
    pi = response.reach(tree, side)
    mass = _mass(tree, best, pi)
    histories = [tree.history(int(k)) for k in known]
    answers = value.values([walk(game, history) for history in histories])
    found = []
    for k, history, answer in zip(known.tolist(), histories, answers, strict=True):
        mine = answer.for_player(side).mean
        for c in tree.children(k):
            move = tree.names[tree.action[c]]
            found.append(Repair(history, (move,), float(pi[c]), mine, float(mass[c] / pi[c])))
    losing = [repair for repair in found if repair.loss > LEAST]
    return tuple(sorted(losing, key=lambda repair: (-repair.loss, repair.history, repair.moves)))


def _mass(tree: Tree, best: BestBook, pi: Floats) -> Floats:
    """[n] value mass from each history on with the book, net of the price of what it memorizes there."""
    chosen = np.zeros(tree.size, dtype=np.bool_)
    chosen[best.nodes] = True
    value = tree.value_for(best.side)
    stops = tree.leaves | ((tree.player == best.side) & ~chosen)
    mass = np.where(stops, pi * value, np.where(chosen, -best.cost, 0.0))
    for k in range(tree.size - 1, 0, -1):
        parent = tree.parent[k]
        if not stops[parent]:
            mass[parent] += mass[k]
    return mass
