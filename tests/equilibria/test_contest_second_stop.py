"""Fact 10: with an estimate at every decision, the payoff is v(h) where the second side stops."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from publictrees import matrix_value
from randomgames import History, Raw, books, contested, games, own_histories, v

from preplay.equilibria import METHODS, certify, payoff
from preplay.equilibria.contest import Contest, contest, mixed_book
from preplay.errors import StoreError
from preplay.games import tabular
from preplay.growth import Limits, grow_contested
from preplay.matchup import Matchup, open_matchup
from preplay.preparation import prepare
from preplay.stopping import Stop

COSTS = st.tuples(st.sampled_from([0.01, 0.05, 0.1]), st.sampled_from([0.01, 0.03, 0.1]))
BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")


def matchup_of(raw: Raw) -> Matchup[tabular.Node]:
    game = tabular.parse(raw)
    return Matchup("test", game, (BASE, BASE), (PREP, PREP), tabular.TabularValue(), enumerable=True)


def enumerated(raw: Raw, costs: tuple[float, float]) -> float:
    """The value of the matrix game over all pairs of books."""
    root = raw["root"]
    rows, columns = list(books(root, 1)), list(books(root, 2))
    return matrix_value(
        np.array(
            [
                [contested(root, a, b) - costs[0] * len(a) + costs[1] * len(b) for b in columns]
                for a in rows
            ]
        )
    )


@settings(max_examples=25, deadline=None)
@given(games(depth=4, own=5, estimates="everywhere"), COSTS, st.sampled_from([*METHODS, "lp"]))
def test_value_and_gap_against_all_books(raw: Raw, costs: tuple[float, float], method: str) -> None:
    value = enumerated(raw, costs)
    found = contest(matchup_of(raw), costs, gap=1e-7, method=method, iterations=2_000).equilibrium
    assert found.lower - 1e-9 <= value <= found.upper + 1e-9
    assert found.gap <= 5e-3  # plain CFR is slow
    lazy = contest(replace(matchup_of(raw), enumerable=False), costs, gap=1e-6).equilibrium
    assert lazy.lower - 1e-9 <= value <= lazy.upper + 1e-9
    assert lazy.gap <= 1e-5


@settings(max_examples=25, deadline=None)
@given(games(depth=4, own=5, estimates="everywhere"), COSTS)
def test_mixed_books_earn_what_is_said(raw: Raw, costs: tuple[float, float]) -> None:
    """No pure book does better against the mixed ones than the bounds say; gains add up."""
    root = raw["root"]
    result = contest(matchup_of(raw), costs, gap=1e-7)
    found, tree = result.equilibrium, result.tree
    index = {tree.history(k): k for k in range(tree.size)}
    for side in (1, 2):
        mine = mixed_book(matchup_of(raw), result, side)
        known = {e.history: e.gain for e in mine.entries}
        assert mine.without + sum(e.gain * e.probability for e in mine.entries) == pytest.approx(
            mine.value, abs=1e-6
        )
        laws = list(law(root, 3 - side, index, found.x[2 - side]))
        for pure in books(root, side):
            earned = sum(
                p * (contested(root, pure, b) if side == 1 else 1.0 - contested(root, b, pure))
                for b, p in laws
            )
            paid = costs[side - 1] * len(pure) - costs[2 - side] * sum(p * len(b) for b, p in laws)
            most = found.upper if side == 1 else 1.0 - found.lower
            assert earned - paid <= most + 1e-9
            if pure <= known.keys():
                assert earned == pytest.approx(mine.without + sum(known[h] for h in pure), abs=1e-9)


def law(
    root: Raw, side: int, index: dict[History, int], x: np.ndarray
) -> Iterator[tuple[frozenset[History], float]]:
    """The pure books of a mixed one with their probabilities."""
    every = own_histories(root, side)
    for book in books(root, side):
        p = 1.0
        for h in every:
            above = [g for g in every if len(g) < len(h) and h[: len(g)] == g]
            if set(above) <= book:
                last = max(above, key=len, default=None)
                limit = 1.0 if last is None else float(x[index[last]]) if last in index else 0.0
                here = float(x[index[h]]) if h in index else 0.0
                stay = here / limit if limit > 0.0 else 0.0
                p *= stay if h in book else 1.0 - stay
        if p > 0.0:
            yield book, p


def noted(node: Raw) -> None:
    """Write the exact v(h) at every decision."""
    if "utility" not in node:
        if node["player"] != "chance":
            node["value"] = v(node)
        for edge in node["actions"].values():
            noted(edge["to"])


@settings(max_examples=25, deadline=None)
@given(games(depth=5, own=20), COSTS, st.booleans())
def test_estimates_without_noise_change_nothing(
    raw: Raw, costs: tuple[float, float], enumerable: bool
) -> None:
    exact = contest(matchup_of(raw), costs, gap=1e-8).equilibrium
    marked = copy.deepcopy(raw)
    noted(marked["root"])
    found = contest(replace(matchup_of(marked), enumerable=enumerable), costs, gap=1e-8).equilibrium
    assert found.value == pytest.approx(exact.value, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(games(depth=5, own=20, estimates="everywhere"), COSTS)
def test_what_is_outside_w_does_not_matter(raw: Raw, costs: tuple[float, float]) -> None:
    game = tabular.parse(raw)
    parts = (game, (BASE, BASE), (PREP, PREP), tabular.TabularValue(), costs)
    some, every = grow_contested(*parts), grow_contested(*parts, everything=True)
    small = contest(matchup_of(raw), costs, gap=1e-7)
    rows = np.zeros((2, every.tree.size))
    for k in range(some.tree.size):
        rows[:, every.tree.find(some.tree.history(k))] = [x[k] for x in small.equilibrium.x]
    whole = certify(every.tree, costs, *rows, memorizable=every.memorizable)
    assert whole.gap == pytest.approx(small.equilibrium.gap, abs=1e-9)
    assert whole.payoff == pytest.approx(small.equilibrium.payoff, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(games(depth=5, own=30, estimates="everywhere"), COSTS, st.integers(1, 25), st.booleans())
def test_growth_cut_short_is_still_certified(
    raw: Raw, costs: tuple[float, float], histories: int, lazy: bool
) -> None:
    truth = contest(matchup_of(raw), costs, gap=1e-7).equilibrium
    part = contest(replace(matchup_of(raw), enumerable=not lazy), costs, limits=Limits(histories))
    assert part.equilibrium.lower <= truth.upper + 1e-9
    assert part.equilibrium.upper >= truth.lower - 1e-9


@settings(max_examples=25, deadline=None)
@given(games(depth=4, own=12, estimates="everywhere"), COSTS)
def test_one_side_alone_is_what_prepare_says(raw: Raw, costs: tuple[float, float]) -> None:
    matchup = matchup_of(raw)
    result = contest(matchup, costs, gap=1e-5)
    for side, alone in enumerate(result.alone, 1):
        best = prepare(matchup, side, costs[side - 1]).response  # type: ignore[arg-type]
        assert alone is not None
        assert (alone.value if side == 1 else 1.0 - alone.value) == pytest.approx(best.net, abs=1e-12)
        assert result.baseline == pytest.approx(best.baseline if side == 1 else 1.0 - best.baseline)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 20), marks=pytest.mark.slow)])
def test_ten_gaps_on_synthetic_games_overlap(seeds: range) -> None:
    """Values with noise, lazy growth: no two certified intervals of one game are apart."""
    for seed in seeds:
        with open_matchup("synthetic", [f"seed={seed}", "length=5", "value=estimate"]) as matchup:
            large = replace(matchup, enumerable=False)
            gaps = [0.03 / 2.2**step for step in range(10)]
            runs = [contest(large, (0.004, 0.006), gap=gap, one_by_one=False) for gap in gaps]
        exact = runs[-1].equilibrium
        for run in runs:
            assert run.equilibrium.lower - 1e-9 <= exact.value <= run.equilibrium.upper + 1e-9
        for one, two in itertools.combinations([run.equilibrium for run in runs], 2):
            assert one.lower <= two.upper + 1e-9
            assert two.lower <= one.upper + 1e-9


class Impatient(Stop):
    """Asks to stop after some looks at it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    @property
    def asked(self) -> bool:
        self.looks -= 1
        return self.looks < 0

    @asked.setter
    def asked(self, value: bool) -> None:
        pass


@pytest.mark.parametrize(
    ("method", "looks"), [("auto", 10), ("auto", 30), ("sweep", 10), ("sweep", 30), ("sweep", 60)]
)
def test_an_interrupted_run_goes_on_where_it_was(method: str, looks: int, tmp_path: Path) -> None:
    costs, path = (0.002, 0.003), tmp_path / "checkpoint.npz"
    with open_matchup("synthetic", ["seed=3", "length=7"]) as matchup:
        large = replace(matchup, enumerable=False)
        whole = contest(large, costs, gap=1e-6, method=method)
        cut = contest(large, costs, gap=1e-6, method=method, stop=Impatient(looks), checkpoint=path)
        assert cut.grown.ending == "interrupted"
        assert cut.alone == (None, None)
        rest = contest(large, costs, gap=1e-6, method=method, checkpoint=path)
        assert rest.equilibrium.value == whole.equilibrium.value  # to the last bit
        assert rest.equilibrium.iterations == whole.equilibrium.iterations
        assert [x.tolist() for x in rest.equilibrium.x] == [x.tolist() for x in whole.equilibrium.x]
        assert questions(cut) < questions(rest) < questions(cut) + questions(whole)
        again = contest(large, costs, gap=1e-6, method=method, checkpoint=path)
        assert questions(again) == questions(rest)
        with pytest.raises(StoreError, match="not a checkpoint to go on from"):
            contest(large, (0.1, 0.1), checkpoint=path)
        path.write_bytes(b"torn")
        with pytest.raises(StoreError, match="remove it to start anew"):
            contest(large, costs, checkpoint=path)


def questions(result: Contest) -> int:
    return result.grown.questions


def test_payoff_of_a_game_by_hand() -> None:
    """Player 1 may stop first, then player 2's own history is where both have stopped."""
    leaf = {"utility": 1.0}
    second = {"player": 2, "value": 0.3, "actions": {"b": {"base": 1, "prep": 1, "to": leaf}}}
    raw = {
        "format": "preplay-game/1",
        "root": {"player": 1, "value": 0.9, "actions": {"a": {"base": 1, "prep": 1, "to": second}}},
    }
    tree = grow_contested(
        tabular.parse(raw), (BASE, BASE), (PREP, PREP), tabular.TabularValue(), (0.01, 0.01)
    ).tree
    nobody, one, two = np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    assert payoff(tree, (0.0, 0.0), (nobody, nobody)) == pytest.approx(0.3)
    assert payoff(tree, (0.0, 0.0), (nobody, two)) == pytest.approx(1.0)
    assert payoff(tree, (0.0, 0.0), (one, nobody)) == pytest.approx(1.0)
    assert payoff(tree, (0.25, 0.5), (one, two)) == pytest.approx(1.25)
