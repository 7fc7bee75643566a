"""Both sides prepare: W loses nothing, lazy growth ends where the whole game does, meaning adds up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import Raw, books, games, v, worth
from standing import Standing

from preplay.equilibria import payoff, solve
from preplay.equilibria.contest import calibration_error, contest, mixed_book
from preplay.game import FINAL
from preplay.games import tabular
from preplay.growth import Limits, grow_contested
from preplay.logistic import Curve
from preplay.matchup import Clock, Deciding, Matchup
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.samplers import Playouts
from preplay.sampling.timeshare import TimeShare
from preplay.stopping import Stop
from preplay.tree import check_arrays
from preplay.value import ValueFunction

COSTS = st.tuples(st.sampled_from([0.01, 0.05, 0.1]), st.sampled_from([0.01, 0.05, 0.1]))
BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")


def matchup_of(raw: Raw) -> Matchup[tabular.Node]:
    game = tabular.parse(raw)
    return Matchup("test", game, (BASE, BASE), (PREP, PREP), tabular.TabularValue(), enumerable=True)


@settings(max_examples=60, deadline=None)
@given(games(depth=5, own=30), COSTS)
def test_what_is_outside_w_does_not_matter(raw: Raw, costs: tuple[float, float]) -> None:
    game = tabular.parse(raw)
    parts = (game, (BASE, BASE), (PREP, PREP), tabular.TabularValue(), costs)
    some, every = grow_contested(*parts), grow_contested(*parts, everything=True)
    check_arrays(some.tree)
    assert some.tree.size <= every.tree.size
    here = solve(some.tree, costs, gap=1e-7, memorizable=some.memorizable)
    there = solve(every.tree, costs, gap=1e-7)
    assert here.value == pytest.approx(there.value, abs=2e-7)


@settings(max_examples=60, deadline=None)
@given(games(depth=5, own=30), COSTS)
def test_lazy_growth_finds_the_equilibrium_of_the_whole_game(
    raw: Raw, costs: tuple[float, float]
) -> None:
    every = contest(matchup_of(raw), costs, gap=1e-7).equilibrium
    lazy = contest(replace(matchup_of(raw), enumerable=False), costs, gap=1e-7)
    found = lazy.equilibrium
    assert found.lower - 1e-9 <= every.upper
    assert found.upper + 1e-9 >= every.lower
    assert found.gap <= 1e-6


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=30), COSTS, st.integers(1, 20), st.booleans())
def test_growth_cut_short_is_still_certified(
    raw: Raw, costs: tuple[float, float], histories: int, lazy: bool
) -> None:
    truth = contest(matchup_of(raw), costs, gap=1e-7).equilibrium
    part = contest(replace(matchup_of(raw), enumerable=not lazy), costs, limits=Limits(histories))
    assert part.equilibrium.lower <= truth.upper + 1e-9
    assert part.equilibrium.upper >= truth.lower - 1e-9


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=8), COSTS)
def test_what_it_means(raw: Raw, costs: tuple[float, float]) -> None:
    result = contest(matchup_of(raw), costs, gap=1e-7)
    assert result.baseline == pytest.approx(v(raw["root"]), abs=1e-9)
    for side in (1, 2):
        best = max(
            worth(raw["root"], side, b) - costs[side - 1] * len(b) for b in books(raw["root"], side)
        )
        alone = result.alone[side - 1]
        assert alone is not None
        mine = alone.value if side == 1 else 1.0 - alone.value
        assert mine == pytest.approx(best, abs=1e-9)
        book = mixed_book(matchup_of(raw), result, side)
        assert sum(e.probability for e in book.entries) == pytest.approx(
            result.equilibrium.expected_size[side - 1], abs=1e-6
        )
        assert all(0.0 <= e.reach <= 1.0 + 1e-12 for e in book.entries)
        gains = sum(e.gain * e.probability for e in book.entries)
        assert book.without + gains == pytest.approx(book.value, abs=1e-6)
        # Against the other's mixed book: every pure book earns what its gains say.
        known = {e.history: e.gain for e in book.entries}
        for pure in books(raw["root"], side):
            if pure <= known.keys():
                x: list[Any] = list(result.equilibrium.x)
                x[side - 1] = np.array(
                    [float(result.tree.history(k) in pure) for k in range(result.tree.size)]
                )
                earned = payoff(result.tree, (0.0, 0.0), (x[0], x[1]))
                mine = earned if side == 1 else 1.0 - earned
                assert mine == pytest.approx(book.without + sum(known[h] for h in pure), abs=1e-6)
    paid = costs[0] * result.equilibrium.expected_size[0] - costs[1] * result.equilibrium.expected_size[1]
    assert result.utility - paid == pytest.approx(result.equilibrium.payoff, abs=1e-9)
    assert result.equilibrium.payoff == pytest.approx(result.equilibrium.value, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=30), COSTS, st.floats(0, 1))
def test_a_first_guess_certifies_nothing(raw: Raw, costs: tuple[float, float], guess: float) -> None:
    """Growing and solving go by the guess; the bounds hold whatever the values are."""
    truth = contest(matchup_of(raw), costs, gap=1e-7).equilibrium
    known = matchup_of(raw)
    rollouts = AdaptiveRollouts(known.game, Playouts(known.game, known.base), 0.05)

    def replay(*_: Any) -> TimeShare:
        raise AssertionError("no book is played here")

    clock = Clock(Deciding(rollouts, 0.1), replay)
    guessing = replace(known, value=ValueFunction(lambda _: guess), clock=clock, enumerable=False)
    result = contest(guessing, costs, gap=1e-7)
    found = result.equilibrium
    assert found.lower <= truth.upper + 1e-9
    assert found.upper >= truth.lower - 1e-9
    assert found.lower - 1e-9 <= found.value <= found.upper + 1e-9
    assert found.gap >= found.upper - found.lower - 1e-12  # what the books lose is never clipped
    unfinished = result.tree.leaves & (result.tree.player != FINAL)
    assert np.all(result.tree.radius[unfinished] >= 0.5)
    check_arrays(result.tree)  # it can be kept
    error = mixed_book(guessing, result, 1).error
    assert 0.0 <= error <= max(guess, 1.0 - guess) + 1e-9
    if np.array_equal(unfinished, result.tree.leaves):
        assert found.gap >= 1.0 - 1e-9
        assert error == pytest.approx(max(guess, 1.0 - guess))


def test_theorem_2_follows_prep_beyond_what_matters() -> None:
    """Ten histories that no book can pay for, and prep wins in all of them: where it does is as random
    as chance makes it, and the floor of the theorem's argument is below that."""
    wins = {"base": 0, "prep": 1, "to": {"utility": 1}}
    second = {"player": 1, "actions": {"win": wins, "lose": {"base": 1, "prep": 0, "to": {"utility": 0}}}}
    lottery = {"player": "chance", "actions": {f"c{k}": {"prob": 0.1, "to": second} for k in range(10)}}
    root = {"player": 1, "actions": {"in": {"base": 1, "prep": 1, "to": lottery}}}
    result = contest(matchup_of({"format": "preplay-game/1", "root": root}), (0.2, 0.2), gap=1e-9)
    assert result.equilibrium.upper == pytest.approx(0.0, abs=1e-9)
    assert result.grown.matters[0] == 1  # the root alone; the others are met once in ten games
    two = result.entropy[1]
    assert two.reached == pytest.approx(1.0)
    assert two.applies
    assert two.found == pytest.approx(np.log(10.0))
    assert 0.0 < two.floor <= two.found


def test_a_stop_leaves_a_certified_result() -> None:
    stop = Stop()
    stop.asked = True
    raw = {
        "format": "preplay-game/1",
        "root": {"player": 1, "actions": {"a": {"base": 1, "prep": 1, "to": {"utility": 0.3}}}},
    }
    result = contest(matchup_of(raw), (0.1, 0.1), stop=stop)
    assert result.grown.ending == "interrupted"
    assert result.equilibrium.lower <= 0.3 <= result.equilibrium.upper
    assert np.isfinite(result.equilibrium.gap)


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=8, estimates=True), COSTS, st.floats(-0.9, 0.9))
def test_the_error_of_a_calibration_is_that_of_a_moved_curve(
    raw: Raw, costs: tuple[float, float], correlation: float
) -> None:
    """Values follow from a curve; what do the same books earn if its parameters are a little off?"""
    curve = Curve(0.2, 0.6, 0.1, 0.05, correlation, 50, 150)
    matchup = replace(matchup_of(raw), calibration=Standing(curve))
    result = contest(matchup, costs, gap=1e-6)
    tree, x, step = result.tree, result.equilibrium.x, 1e-6
    inner = (tree.player != FINAL) & (tree.value > 0.0) & (tree.value < 1.0)
    moved = []
    for by in ((step, 0.0), (0.0, step)):
        other = replace(curve, intercept=curve.intercept + by[0], slope=curve.slope + by[1])
        value = tree.value.copy()
        value[inner] = [other.score(curve.pawns(v)) for v in tree.value[inner]]
        change = payoff(replace(tree, value=value), (0.0, 0.0), x) - payoff(tree, (0.0, 0.0), x)
        moved.append(change / step)
    off = np.array([moved[0] * 0.1, moved[1] * 0.05])
    spread = float(off @ np.array([[1.0, correlation], [correlation, 1.0]]) @ off)
    assert calibration_error(matchup, result) == pytest.approx(1.96 * spread**0.5, rel=1e-3, abs=1e-6)
    assert mixed_book(matchup, result, 1).error >= calibration_error(matchup, result)
