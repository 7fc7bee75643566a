"""The examples run, and say what is true."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from preplay.games import tabular
from preplay.growth import Pays, grow
from preplay.response import best_book
from randomgames import books, worth

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_a_game_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "own_game.py"), run_name="__main__")
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("without a book 0.5")
    values = [float(line.split()[-1]) for line in rest]
    assert values == sorted(values)
    assert values[-1] == 1.0  # eight stones are won by who knows how: perfect preparation always wins


def test_the_tabular_example() -> None:
    raw = json.loads((EXAMPLES / "game.json").read_text())
    game = tabular.load(EXAMPLES / "game.json")
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    for side in (1, 2):
        tree = grow(game, side, (base, base), prep, tabular.TabularValue(), Pays(0.01)).tree
        best = best_book(tree, side, 0.01)
        every = [worth(raw["root"], side, book) - 0.01 * len(book) for book in books(raw["root"], side)]
        assert best.net == pytest.approx(max(every), abs=1e-12)
        assert best.size > 0
