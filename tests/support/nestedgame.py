"""A tiny game for these tests: a tree of nested branches, written without the library's own games."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from preplay.game import FINAL, Distribution


class Branch(NamedTuple):
    player: int
    children: tuple[Branch | float, ...]
    weights: tuple[float, ...] = ()


class State(NamedTuple):
    history: tuple[str, ...]
    node: Branch | float


class NestedGame(NamedTuple):
    start: Branch | float
    longest: int = 20
    widest: int = 9

    def root(self) -> State:
        return State((), self.start)

    def history(self, state: State) -> tuple[str, ...]:
        return state.history

    def player(self, state: State) -> int:
        return state.node.player if isinstance(state.node, Branch) else FINAL

    def actions(self, state: State) -> Sequence[str]:
        assert isinstance(state.node, Branch)
        return [f"a{k}" for k in range(len(state.node.children))]

    def chance(self, state: State) -> Distribution:
        assert isinstance(state.node, Branch)
        return dict(zip(self.actions(state), state.node.weights, strict=True))

    def next(self, state: State, action: str) -> State:
        assert isinstance(state.node, Branch)
        return State((*state.history, action), state.node.children[int(action[1:])])

    def utility(self, state: State) -> float:
        assert not isinstance(state.node, Branch)
        return state.node


def chance(children: Sequence[Branch | float], parts: Sequence[int]) -> Branch:
    total = sum(parts)
    return Branch(0, tuple(children), tuple(part / total for part in parts))


def _branches(inner: st.SearchStrategy[Branch | float]) -> st.SearchStrategy[Branch]:
    some = st.lists(inner, min_size=1, max_size=3)
    decision = st.builds(lambda p, c: Branch(p, tuple(c)), st.sampled_from([1, 2]), some)
    # One part in chance's weights may be 0, never all.
    lottery = some.flatmap(
        lambda c: (
            st.lists(st.integers(0, 3), min_size=len(c), max_size=len(c))
            .filter(any)
            .map(lambda parts: chance(c, parts))
        )
    )
    return st.one_of(decision, decision, lottery)


utilities: st.SearchStrategy[float] = st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0])
nodes: st.SearchStrategy[Branch | float] = st.recursive(utilities, _branches, max_leaves=25)
decisions: st.SearchStrategy[Branch] = st.builds(
    lambda p, c: Branch(p, tuple(c)), st.sampled_from([1, 2]), st.lists(nodes, min_size=1, max_size=4)
)
"""Trees that begin with a decision; players need not alternate, depths are unequal."""


def lattice(rng: random.Random, layers: int, width: int = 6) -> Branch:
    """A game of `layers` layers of positions, each reached in many ways, with many different values."""
    below: list[Branch | float] = [rng.random() for _ in range(width)]
    for _ in range(layers):
        below = [_position(rng, rng.sample(below, 3)) for _ in range(width)]
    return Branch(rng.choice([1, 2]), tuple(below))


def _position(rng: random.Random, children: list[Branch | float]) -> Branch:
    player = rng.choice([0, 1, 1, 1, 2, 2, 2])
    return Branch(player, tuple(children)) if player else chance(children, [1, 2, 3])
