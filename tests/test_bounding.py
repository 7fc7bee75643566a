"""The paper's bounds for a matchup: Lemma 1's count by walking, Theorem 1 never above what is true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from preplay import open_matchup
from preplay.bounding import RARE, bound, check_asked, rare
from preplay.errors import InputError
from preplay.game import Side
from preplay.growth import Limits
from preplay.preparation import prepare

GAME = Path(__file__).parents[1] / "examples" / "game.json"


def reaches(node: dict[str, Any], side: Side, reach: float = 1.0) -> Iterator[float]:
    """How often each history is met with the side on prep."""
    yield reach
    for edge in node.get("actions", {}).values():
        p = edge.get("prob", edge.get("prep" if node.get("player") == side else "base"))
        yield from reaches(edge["to"], side, reach * p)


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("p", [0.05, 0.12, 0.3])
def test_lemma_1_counts_what_is_met_often_enough(side: Side, p: float) -> None:
    root = json.loads(GAME.read_text())["root"]
    with open_matchup(GAME) as matchup:
        found = bound(matchup, side, p=p)
    assert found.lemma1.count == sum(reach >= p for reach in reaches(root, side))
    assert (found.lemma1.p, found.counting, found.ending) == (p, "complete", "complete")
    assert found.lemma1.count <= found.lemma1.bound


@pytest.mark.parametrize("side", [1, 2])
def test_theorem_1_promises_no_more_than_the_best_book_earns(side: Side) -> None:
    with open_matchup(GAME) as matchup:
        best = prepare(matchup, side, 1e-6).response.value
        for advantage, epsilon in ((0.5, 0.5), (0.6, 0.1)):
            said = bound(matchup, side, advantage, epsilon).theorem1
            assert said is not None
            assert (said.advantage, said.epsilon) == (advantage, epsilon)
            assert said.guarantee <= said.value <= best + 1e-12
        scanned = bound(matchup, side, p=1e-3).theorem1
        assert scanned is None or scanned.guarantee <= scanned.value <= best + 1e-12


def test_a_growth_cut_short_says_so() -> None:
    with open_matchup("synthetic") as matchup:
        found = bound(matchup, 1, p=1e-4, limits=Limits(histories=20))
    assert (found.counting, found.ending) == ("histories", "histories")


def test_p_is_the_price_of_the_side_unless_it_is_given() -> None:
    with open_matchup(GAME) as free:
        priced = replace(free, costs=(0.03, None))
        assert (rare(free, 1, None), rare(priced, 1, None), rare(priced, 1, 0.2)) == (RARE, 0.03, 0.2)
        with pytest.raises(InputError, match="expected"):
            rare(free, 1, -1.0)


def test_an_advantage_needs_an_epsilon() -> None:
    check_asked(None, None)
    check_asked(0.6, 0.5)
    with pytest.raises(InputError, match="only one of advantage and epsilon is given"):
        check_asked(0.6, None)
    with pytest.raises(InputError, match="only one of advantage and epsilon is given"):
        check_asked(None, 0.5)
