"""The file of the explicit game G': exact, and what other programs make of it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from publictrees import COSTS, before, compiling, complete, random_mixed, reachable, trees

from preplay.equilibria import certify, solve
from preplay.equilibria.explicit import explicit_game
from preplay.equilibria.gambit import efg_text

SEEDS = st.integers(0, 2**32 - 1).map(np.random.default_rng)

NUMBER = r"-?\d+(?:\.\d+)?"


@compiling
@given(trees(most=20), COSTS)
def test_the_file_is_exact(tree: Any, costs: Any) -> None:
    """As Gambit reads it: rational numbers, a full preorder, consistent information sets."""
    text = efg_text(explicit_game(tree, costs), 'with "quotes"')
    header, *lines = text.splitlines()
    assert header == """EFG 2 R "with 'quotes'" { "Player 1" "Player 2" }"""
    need = 1
    labels: dict[tuple[str, str], str] = {}
    for line in lines:
        need -= 1
        if line[0] == "t":
            match = re.search(r"\{ (.*) \}", line)
            assert match is not None
            pays = [Fraction(x) for x in match[1].split(", ")]
            assert sum(pays) == 0
        elif line[0] == "c":
            moves = re.findall(rf'"[^"]*" ({NUMBER})', line.split("{")[1])
            assert sum(Fraction(x) for x in moves) == 1
            assert all(Fraction(x) > 0 for x in moves)
            need += len(moves)
        else:
            match = re.match(r'p "" (\d) (\d+) ("[^"]*") \{ "stay" "leave" \} 0', line)
            assert match is not None
            player, number, label = match.groups()
            assert labels.setdefault((player, number), label) == label
            need += 2
    assert need == 0
    for player in "12":
        numbers = sorted(int(number) for who, number in labels if who == player)
        assert numbers == list(range(1, len(numbers) + 1))


def solved_by_openspiel(game: pyspiel.Game, gap: float) -> tuple[float, float]:
    """Player 1's value by OpenSpiel's CFR+, and how far it can be from the game's value."""
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(20):
        for _ in range(50):
            solver.evaluate_and_update_policy()
        policy = solver.average_policy()
        distance = pyspiel.nash_conv(game, policy, False)
        if distance <= gap:
            break
    values = pyspiel.expected_returns(game.new_initial_state(), policy, -1, False)
    assert sum(values) == pytest.approx(0.0)
    return (1.0 + values[0]) / 2.0, distance / 2.0


@settings(deadline=None, max_examples=15)
@given(trees(most=16), COSTS)
def test_openspiel_finds_the_same_value(tree: Any, costs: Any) -> None:
    game = pyspiel.load_efg_game(efg_text(explicit_game(tree, costs)))
    value, distance = solved_by_openspiel(game, 1e-3)
    exact = solve(tree, costs, method="lp")
    assert abs(value - exact.value) <= distance + exact.gap + 1e-9


def test_openspiel_reads_the_file(tmp_path: Any) -> None:
    tree, costs = complete(6, 2, 6), (0.01, 0.02)
    path = tmp_path / "game.efg"
    path.write_text(efg_text(explicit_game(tree, costs)))
    game = pyspiel.load_game(f"efg_game(filename={path})")
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    value, distance = solved_by_openspiel(game, 1e-5)
    assert distance <= 1e-5
    assert value == pytest.approx(solve(tree, costs, gap=1e-10).value, abs=2e-5)


@pytest.mark.parametrize("seed", [6, 7])
def test_the_linear_program_of_openspiel_finds_the_same_value(seed: int) -> None:
    from open_spiel.python.algorithms import sequence_form_lp

    tree, costs = complete(4, 2, seed), (0.01, 0.02)
    game = pyspiel.load_efg_game(efg_text(explicit_game(tree, costs)))
    value, other, _, _ = sequence_form_lp.solve_zero_sum_game(game)
    assert value == pytest.approx(-other, abs=1e-6)
    assert (1.0 + value) / 2.0 == pytest.approx(solve(tree, costs, gap=1e-10).value, abs=1e-6)


@compiling
@given(trees(most=16), COSTS, SEEDS)
def test_openspiel_agrees_on_best_responses(tree: Any, costs: Any, rng: Any) -> None:
    """Our mixed books as a policy in G': the gap there is the gap we certify."""
    x = random_mixed(tree, 1, rng), random_mixed(tree, 2, rng)
    explicit = explicit_game(tree, costs)
    game = pyspiel.load_efg_game(efg_text(explicit))
    policy: dict[str, list[tuple[int, float]]] = {}

    def walk(state: pyspiel.State, index: int) -> None:
        node = explicit.nodes[index]
        if node.player > 0:
            mine, k = x[node.player - 1], node.history
            above = before(tree, k, node.player)
            limit = 1.0 if above is None else mine[above]
            stay = mine[k] / limit if limit > 0.0 else 0.0
            actions = state.legal_actions()
            policy[state.information_state_string()] = list(zip(actions, [stay, 1 - stay], strict=True))
        for action, child in zip(state.legal_actions(), node.children, strict=True):
            walk(state.child(action), child)

    walk(game.new_initial_state(), 0)
    found = pyspiel.nash_conv(game, pyspiel.TabularPolicy(policy), False) / 2.0  # of payoffs in [-1, 1]
    # Histories that prep cannot reach cost something in the model, and nothing in G'.
    free = sum(
        costs[side - 1] * x[side - 1][k]
        for side in (1, 2)
        for k in np.flatnonzero(x[side - 1])
        if not reachable(tree, int(k), side)
    )
    assert found == pytest.approx(certify(tree, costs, *x).gap - free, abs=1e-9)
