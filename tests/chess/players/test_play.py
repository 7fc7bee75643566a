"""Policies and values from analyses, and what they do not ask."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import pytest

from preplay.chess.engines.analysis import Analysis, EngineSpec, Limit, Line, SearchRequest, mate_score
from preplay.chess.players.play import (
    EngineMenus,
    EnginePolicy,
    EngineValue,
    Search,
    move_distribution,
    move_menu,
    utility_of,
)
from preplay.chess.rules import ChessGame
from preplay.errors import EngineError


def analysis(*scores: int, wdl: tuple[int, int, int] | None = None) -> Analysis:
    moves = ("e2e4", "d2d4", "c2c4")
    lines = tuple(
        Line(m, s, 10, wdl if k == 0 else None)
        for k, (m, s) in enumerate(zip(moves, scores, strict=False))
    )
    return Analysis(lines, "e2e4", 1000)


def test_softmax_of_centipawns() -> None:
    shares = move_distribution(analysis(30, 20), 10.0)
    assert shares["e2e4"] / shares["d2d4"] == pytest.approx(math.e)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert move_distribution(analysis(30, 30), 0.0) == {"e2e4": 1.0}
    assert move_distribution(analysis(30, 20), 1e-6) == {"e2e4": 1.0}  # no branch without probability
    even = move_distribution(analysis(30, -300), 1e9)
    assert even["d2d4"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("model", "score", "value"),
    [
        ("threshold", 399, 0.5),
        ("threshold", 400, 1.0),
        ("threshold", -400, 0.0),
        ("linear", 0, 0.5),
        ("linear", 200, 0.75),
        ("linear", -1000, 0.0),
        ("linear", mate_score(3), 1.0),
        ("logistic", 0, 0.5),
        ("logistic", 100, 0.5 + 0.5 * (2 / (1 + math.exp(-0.368208)) - 1)),
        ("logistic", mate_score(-2), 0.0),
    ],
)
def test_value_models(model: str, score: int, value: float) -> None:
    assert utility_of(analysis(score), model) == pytest.approx(value, abs=1e-9)  # type: ignore[arg-type]


def test_wdl_is_the_engines_own() -> None:
    assert utility_of(analysis(50, wdl=(300, 600, 100)), "wdl") == pytest.approx(0.6)
    with pytest.raises(EngineError, match="UCI_ShowWDL"):
        utility_of(analysis(50), "wdl")


@dataclass
class FakeAnalyst:
    asked: list[SearchRequest] = field(default_factory=list)

    def analyse(self, requests: list[SearchRequest]) -> list[Analysis]:
        self.asked += requests
        return [analysis(100, 50) for _ in requests]


def test_values_are_whites_and_searches_are_shared() -> None:
    analyst = FakeAnalyst()
    search = Search(EngineSpec.of("engine"), Limit(nodes=100), 2)
    policy = EnginePolicy(analyst, search, 10.0)  # type: ignore[arg-type]
    value = EngineValue(analyst, search, "linear")  # type: ignore[arg-type]
    game = ChessGame()
    white, black = game.root(), game.next(game.root(), "e2e4")
    assert [v.mean for v in value.values([white, black])] == pytest.approx([0.625, 0.375])
    policy.distributions([white])
    assert analyst.asked[0] == analyst.asked[2]  # one search serves value and policy
    (menu,) = EngineMenus(analyst, search, 2, 40.0).menus([white])  # type: ignore[arg-type]
    assert analyst.asked[3] == analyst.asked[0]  # and the menu
    assert menu == (("e2e4", 100.0),)


def test_a_menu_is_the_engines_move_and_what_is_near() -> None:
    found = analysis(30, 10, -20)
    assert move_menu(found, 3, 40.0) == (("e2e4", 30.0), ("d2d4", 10.0))
    assert move_menu(found, 3, 50.0) == (("e2e4", 30.0), ("d2d4", 10.0), ("c2c4", -20.0))
    assert move_menu(found, 1, 50.0) == (("e2e4", 30.0),)
    late = replace(found, best="d2d4")  # the last, unfinished iteration changed its mind
    assert move_menu(late, 2, 40.0) == (("d2d4", 10.0), ("e2e4", 30.0))
    stray = replace(found, best="g1f3")
    assert move_menu(stray, 2, 10.0) == (("g1f3", 30.0), ("e2e4", 30.0))
