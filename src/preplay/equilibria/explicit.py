"""The paper's explicit game G' (Lemma 4), for small trees; `gambit` writes it for other people's solvers.

In G' a player does not choose moves but, at each own history, whether to go on with its book; then
chance plays from prep or base. Nobody sees the other's choice. A final history of G' pays
`u - λ_1 z_1 + λ_2 z_2`, where z_i adds up 1 / (probability of chance's moves so far) over the histories
at which i stayed: the weight that makes every memorized history cost λ_i once. Every pair of leaving
times is a different node, so G' grows by the square of the depth; ask `explicit_size` first. Where the
tree has values of its own at decisions, the game ends where the second player leaves (fact 10).

Lemma 4 takes for granted that a memorized history can occur whatever the opponent chose. Where prep
and base do not allow the same moves that is not so, and G' would charge too little. Then costs are
collected apart: a first lottery either plays the game (payoff 2 u), or *audits* one side, which
meets its own histories by chance moves that do not depend on the opponent's choices, and pays for
those it stays at. A player cannot tell which of these it is in, so the payoffs are the meta-game's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from preplay.compiled import jit
from preplay.equilibria.publicgame import Costs, allowed, check_costs, stops
from preplay.errors import InputError
from preplay.tree import Bools, Bytes, Floats, Ints, Tree

DIGITS = 15
"""Probabilities and payoffs are multiples of 10 ** -DIGITS, so that they add up exactly."""
UNIT = 10**DIGITS

TERMINAL, CHANCE = -1, 0

Units = npt.NDArray[np.int64]
"""[n] whole multiples of 10 ** -DIGITS."""


@dataclass(frozen=True)
class ExplicitNode:
    """One node of G'."""

    player: int
    """1, 2, `CHANCE` or `TERMINAL`."""
    history: int
    """The history of the tree that it stands for."""
    parent: int
    """Index of the node before; -1 at the root."""
    children: tuple[int, ...] = ()
    """Players: staying, leaving. Chance: one for each action of positive probability."""
    probabilities: tuple[int, ...] = ()
    """Chance: of the children, in units of 10 ** -DIGITS; they sum to exactly 1."""
    payoff: int = 0
    """Terminal: player 1's payoff in units of 10 ** -DIGITS; player 2 gets 1 minus that."""


@dataclass(frozen=True, eq=False)
class ExplicitGame:
    """G' with its nodes depth first; an information set is a history met in book."""

    nodes: tuple[ExplicitNode, ...]
    tree: Tree

    def infosets(self) -> dict[int, int]:
        """By history: the number of its information set, from 1 for each player."""
        numbers: dict[int, int] = {}
        count = {1: 0, 2: 0}
        for node in self.nodes:
            if node.player > 0 and node.history not in numbers:
                count[node.player] += 1
                numbers[node.history] = count[node.player]
        return numbers


def explicit_size(tree: Tree, *, memorizable: Bools | None = None) -> int:
    """The number of nodes that G' would have, in one pass over the tree."""
    mask = allowed(tree, memorizable)
    moves = _moves(tree)
    ends = moves.stop is not None
    size = int(_count(tree.first, tree.player, moves.base, moves.prep, mask, ends))
    if moves.audited:
        for side in (1, 2):
            own = np.int8(side)
            size += int(_count_audit(tree.first, tree.player, moves.prep, moves.either, mask, own))
        size += 1
    return size


def explicit_game(
    tree: Tree, costs: Costs, *, memorizable: Bools | None = None, limit: int = 1_000_000
) -> ExplicitGame:
    """G' of the meta-game on `tree`; raises InputError when it would have more than `limit` nodes."""
    costs, mask = check_costs(costs), allowed(tree, memorizable)
    size = explicit_size(tree, memorizable=memorizable)
    if size > limit:
        raise InputError(f"the explicit game would have {size:,} nodes; expected at most {limit:,}")
    moves = _moves(tree)
    nodes: list[ExplicitNode] = []
    children: list[list[int]] = []
    waiting: list[_Waiting] = []
    if moves.audited:
        quarter = UNIT // 4
        nodes.append(ExplicitNode(CHANCE, 0, -1, (), (2 * quarter, quarter, quarter)))
        children.append([])
        waiting += (_Waiting(0, 0, audit=audit, scale=scale) for audit, scale in ((2, 4.0), (1, 4.0)))
        waiting.append(_Waiting(0, 0, scale=2.0, charged=False))
    else:
        waiting.append(_Waiting(0, -1))
    while waiting:
        at = waiting.pop()
        index = len(nodes)
        if at.parent >= 0:
            children[at.parent].append(index)
        children.append([])
        node, further = _expand(tree, costs, mask, moves, at, index)
        nodes.append(node)
        waiting += reversed(further)
    linked = (replace(n, children=tuple(c)) for n, c in zip(nodes, children, strict=True))
    return ExplicitGame(nodes=tuple(linked), tree=tree)


@dataclass(frozen=True)
class _Moves:
    """[n] what chance plays in G', in whole units that sum to exactly 1 at every history."""

    base: Units
    prep: Units
    either: Units
    """Half base, half prep."""
    audited: bool
    """Whether base and prep somewhere allow different moves."""
    stop: Floats | None
    """v(h) where the second player leaves; None if play to the leaves says the same."""


@dataclass(frozen=True)
class _Waiting:
    """A node of G' that is still to be written, with what its path decides."""

    history: int
    parent: int
    inside: tuple[bool, bool] = (True, True)
    chance: float = 1.0
    """Probability of chance's moves on the path, the first lottery aside."""
    price: float = 0.0
    """λ_1 z_1 - λ_2 z_2 so far."""
    plays: Units | None = None
    """Set when the mover has chosen: the distribution that chance now plays from."""
    audit: int = 0
    """The side that is audited, 0 in play."""
    scale: float = 1.0
    """1 / probability of the first lottery."""
    charged: bool = True
    """Whether staying costs something here."""
    over: bool = False


def _expand(
    tree: Tree, costs: Costs, mask: Bools, moves: _Moves, at: _Waiting, index: int
) -> tuple[ExplicitNode, list[_Waiting]]:
    """The node for `at`, and what comes after it."""
    k = at.history
    mover = int(tree.player[k])
    if at.over or tree.first[k] == tree.first[k + 1]:
        worth = 0.0 if at.audit else float((tree.value if moves.stop is None else moves.stop)[k])
        return ExplicitNode(
            TERMINAL, k, at.parent, payoff=round(at.scale * (worth - at.price) * UNIT)
        ), []
    concerned = mover > 0 and (at.audit in (0, mover))
    if at.plays is None and concerned and at.inside[mover - 1]:
        left = (False, at.inside[1]) if mover == 1 else (at.inside[0], False)
        over = at.audit > 0 or (moves.stop is not None and not any(left))
        leaving = replace(at, parent=index, inside=left, plays=moves.base, over=over)
        if not mask[k]:
            return _expand(tree, costs, mask, moves, replace(leaving, parent=at.parent), index)
        due = costs[mover - 1] / at.chance if at.charged else 0.0
        price = at.price + (due if mover == 1 else -due)
        staying = replace(at, parent=index, price=price, plays=moves.prep)
        return ExplicitNode(mover, k, at.parent), [staying, leaving]
    plays = at.plays
    if plays is None:
        plays = moves.either if at.audit and mover > 0 else moves.base
    taken = [c for c in tree.children(k) if plays[c] > 0]
    after = [
        replace(at, history=c, parent=index, chance=at.chance * (int(plays[c]) / UNIT), plays=None)
        for c in taken
    ]
    return ExplicitNode(CHANCE, k, at.parent, probabilities=tuple(int(plays[c]) for c in taken)), after


def _moves(tree: Tree) -> _Moves:
    base, prep = _whole(tree.first, tree.base), _whole(tree.first, tree.prep)
    either = (base + prep) // 2
    either[base + prep == 1] = 1
    _balance(tree.first, either, UNIT)
    exact = bool(np.all(np.isnan(tree.value[~tree.leaves])))
    stop = None if exact else stops(tree, tree.value)
    return _Moves(base, prep, either, bool(np.any((base > 0) != (prep > 0))), stop)


def _whole(first: Ints, probability: Floats) -> Units:
    units: Units = np.rint(probability * UNIT).astype(np.int64)
    _balance(first, units, UNIT)
    return units


@jit
def _balance(first: Ints, units: Units, whole: int) -> None:
    """Let the largest among each history's children take what is missing to the whole."""
    for k in range(len(first) - 1):
        if first[k] == first[k + 1]:
            continue
        total, largest = 0, first[k]
        for c in range(first[k], first[k + 1]):
            total += units[c]
            if units[c] > units[largest]:
                largest = c
        units[largest] += whole - total


@jit
def _count(first: Ints, player: Bytes, base: Units, prep: Units, mask: Bools, ends: bool) -> int:
    """Copies of each history by (1 in book, 2 in book), and the nodes that they make in play.

    Whether the game `ends` when both have left: then no copy is made with nobody in book.
    """
    n = len(player)
    copies = np.zeros((n, 2, 2), dtype=np.int64)
    copies[0, 1, 1] = 1
    nodes = 0
    for k in range(n):
        mover = player[k]
        nodes += copies[k].sum()
        if first[k] == first[k + 1]:
            continue
        if mask[k]:  # a choice, and chance's moves after each of the two answers
            nodes += 2 * (copies[k, 1, :].sum() if mover == 1 else copies[k, :, 1].sum())
        for c in range(first[k], first[k + 1]):
            for one in range(2):
                for two in range(2):
                    here = copies[k, one, two]
                    if mover == 0:
                        copies[c, one, two] += here if base[c] > 0 else 0
                        continue
                    if (one if mover == 1 else two) == 1 and mask[k] and prep[c] > 0:
                        copies[c, one, two] += here
                    a, b = 0 if mover == 1 else one, 0 if mover == 2 else two
                    if base[c] > 0 and (a + b > 0 or not ends):
                        copies[c, a, b] += here
    return nodes


@jit
def _count_audit(
    first: Ints, player: Bytes, prep: Units, either: Units, mask: Bools, side: np.int8
) -> int:
    """The nodes of the audit of one side."""
    n = len(player)
    alive = np.zeros(n, dtype=np.bool_)
    alive[0] = True
    nodes = 0
    for k in range(n):
        if not alive[k]:
            continue
        own = player[k] == side
        inner = first[k] < first[k + 1]
        nodes += 3 if inner and own and mask[k] else 1
        if own and not mask[k]:
            continue
        for c in range(first[k], first[k + 1]):
            alive[c] = prep[c] > 0 if own else either[c] > 0
    return nodes
