"""Books drawn from equilibria as results: the seed decides, and JSON has histories and moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import preplay
from preplay.errors import InputError
from preplay.runs import as_data, open_run
from preplay.runs.drawn import draw

GAME = Path(__file__).parents[2] / "examples" / "game.json"


def test_the_seed_decides_which_book_is_drawn(tmp_path: Path) -> None:
    with preplay.open_matchup(GAME) as matchup:
        preplay.equilibrium(matchup, 0.05, save=tmp_path / "eq")
        preplay.prepare(matchup, 1, 0.05, save=tmp_path / "one")
    run = open_run(tmp_path / "eq")
    for seed in range(5):
        found = draw(run, "1", seed)
        book = preplay.draw(run.book("1"), np.random.default_rng(seed), seed)
        assert found == draw(run, "1", seed)
        assert found.book == book
        assert as_data(found) == {
            "side": 1,
            "seed": seed,
            "size": book.size,
            "book": [{"history": list(e.history), "moves": dict(e.moves)} for e in book.entries],
        }
    with pytest.raises(InputError, match="made by `preplay prepare`; expected an equilibrium run"):
        draw(open_run(tmp_path / "one"), "1")
