"""A tree knows what it was grown for, also when it was saved long ago."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from randomgames import Raw
from winlossgames import random_game

from preplay import response, theorems
from preplay.equilibria import solve
from preplay.errors import InputError
from preplay.game import Side
from preplay.games import tabular
from preplay.growth import Advantage, Goal, Lemma1, Limits, Pays, grow, grow_contested
from preplay.tree import Tree, check_arrays, from_parents, load, save


def grown(raw: Raw, side: Side, goal: Goal, limits: Limits | None = None) -> Tree:
    game = tabular.parse(raw)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    tree = grow(game, side, (base, base), prep, tabular.TabularValue(), goal, limits).tree
    check_arrays(tree)
    return tree


def test_a_tree_knows_what_it_is_for(tmp_path: Path) -> None:
    raw = random_game(np.random.default_rng(5), depth=5)
    tree = grown(raw, 1, Pays(0.01))
    assert tree.prices == (0.01, math.inf)
    again = grown(raw, 2, Lemma1(0.02))
    assert again.prices == (math.inf, 0.02)
    save(tree, tmp_path / "tree.npz")
    for known in (tree, load(tmp_path / "tree.npz")):
        assert known.prices == tree.prices
        assert response.best_book(known, 1, 0.05).net <= 1.0
        assert len(response.frontier(known, 1).cost) == len(response.frontier(known, 1, 0.01).cost)
        for wrong in (
            lambda known=known: response.best_book(known, 1, 0.009),
            lambda known=known: response.frontier(known, 1, 0.001),
        ):
            with pytest.raises(InputError, match=r"on a tree that was grown for a cost of 0\.01"):
                wrong()
        for other in (
            lambda known=known: response.best_book(known, 2, 0.05),
            lambda known=known: response.best_book(known, 2, 0.0, 3),
            lambda known=known: response.frontier(known, 2),
            lambda known=known: solve(known, (0.05, 0.05)),
        ):
            with pytest.raises(InputError, match="side 2 on a tree that was grown for books of side 1"):
                other()
    with pytest.raises(InputError, match="side 3; expected 1 or 2"):
        response.best_book(tree, 3, 0.05)  # type: ignore[arg-type]


def test_a_tree_for_an_advantage_chooses_no_book() -> None:
    tree = grown(random_game(np.random.default_rng(5), depth=5), 1, Advantage(0.6))
    with pytest.raises(InputError, match="grown for another goal, not for books"):
        response.best_book(tree, 1, 0.05)
    with pytest.raises(InputError, match="Theorem 1 for side 2 on a tree that was grown for the other"):
        theorems.theorem1(tree, 2, 0.6, 0.5, 5)
    with pytest.raises(InputError, match="on a tree that was grown for a cost of"):
        theorems.lemma1(
            grown(random_game(np.random.default_rng(5), depth=5), 1, Lemma1(0.02)), 1, 0.01, 5
        )


def test_a_tree_for_two_sides_has_both_prices() -> None:
    game = tabular.parse(random_game(np.random.default_rng(5), depth=5))
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    tree = grow_contested(game, (base, base), (prep, prep), tabular.TabularValue(), (0.02, 0.03)).tree
    assert tree.prices == (0.02, 0.03)
    solve(tree, (0.02, 0.03))
    with pytest.raises(InputError, match=r"cost 0\.02 on a tree that was grown for a cost of 0\.03"):
        solve(tree, (0.02, 0.02))
    with pytest.raises(InputError, match="a history of side 1 has no value in this tree"):
        response.best_book(tree, 1, 0.05)


def test_old_trees_can_be_read(tmp_path: Path) -> None:
    """Files of version 0.1.0 do not say what the tree was grown for."""
    tree = grown(random_game(np.random.default_rng(5), depth=5), 1, Pays(0.01))
    old = [f.name for f in fields(tree) if f.name not in ("prices", "choice", "position")]
    columns = {name: np.asarray(getattr(tree, name)) for name in old}
    np.savez_compressed(tmp_path / "tree.npz", **columns)  # type: ignore[arg-type]
    read = load(tmp_path / "tree.npz")
    assert read.prices == (0.0, 0.0)
    assert response.best_book(read, 1, 0.01).net == response.best_book(tree, 1, 0.01).net


def test_what_a_history_is_worth_to_one_side_the_other_lacks() -> None:
    tree = from_parents([-1, 0, 0], [1, -1, -1], [1, 0.5, 0.5], [1, 1, 0], [math.nan, 0.25, 1.0])
    assert tree.value_for(1).tolist()[1:] == [0.25, 1.0]
    assert tree.value_for(2).tolist()[1:] == [0.75, 0.0]
    assert np.isnan(tree.value_for(2)[0])
