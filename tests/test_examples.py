"""The examples run, and say what is true."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import chess
import nbformat
import pytest
from nbclient import NotebookClient
from randomgames import books, worth

from preplay.chess.players.habits import read_habits
from preplay.games import tabular
from preplay.growth import Pays, grow
from preplay.response import best_book

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_a_game_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "own_game.py"), run_name="__main__")
    first, *rest, theorem, by_history, by_position = capsys.readouterr().out.splitlines()
    assert first == "without a book 0.500, with 14 histories 0.945"
    rows = [(float(line.split()[4][:-1]), int(line.split()[5]), float(line.split()[-1])) for line in rest]
    assert [size for _, size, _ in rows] == [5, 7, 10, 14]
    assert rows[-1][2] == 0.945
    for (cost, size, value), (_, less, low) in zip(rows, [(0, 0, 0.5), *rows], strict=False):
        assert (value - low) / (size - less) == pytest.approx(cost, abs=4e-4)  # the price of the step
    # Sixteen stones are won by who knows how: all that Theorem 1's proof memorizes is enough.
    assert theorem == "Theorem 1: 448 histories surely earn 0.350, the 23 of its proof 1.000"
    # Fifteen stones are lost against best play: the book sets traps, and by position it needs less.
    assert by_history == "choosing: 13 histories, 2 traps, value 0.974"
    assert by_position == "choosing: 8 positions, 2 traps, value 0.988"


def test_the_guide_shows_a_game_that_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a comment says that is printed is printed."""
    monkeypatch.syspath_prepend(EXAMPLES)
    text = (EXAMPLES.parent / "docs" / "guide.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        exec(compile(block, "guide.md", "exec"), {})
        assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", block, re.M)


def test_a_game_with_chance(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "dice_race.py"), run_name="__main__")
    first, second, *swept = capsys.readouterr().out.splitlines()
    assert first == "without a book 0.529, with 9 histories 0.635"
    assert second.startswith("when both prepare 0.550, certified within ")
    assert [line.split()[2] for line in swept] == ["3", "8", "7"]


def test_the_notebook_says_what_it_shows() -> None:
    """Executed from top to bottom, it gives again what is printed in it."""
    text = (EXAMPLES / "own_game.ipynb").read_text(encoding="utf-8")
    read: Any = nbformat.reads
    kept, again = read(text, as_version=4), read(text, as_version=4)
    NotebookClient(
        again, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    assert [shown(cell) for cell in again.cells] == [shown(cell) for cell in kept.cells]
    assert sum(len(shown(cell)) for cell in kept.cells) > 1000


def shown(cell: Any) -> str:
    """What a cell of a notebook prints, as text."""
    outputs = cell.get("outputs", ())
    return "".join(out.get("text") or out["data"]["text/plain"] for out in outputs)


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
        assert best.value > best.baseline + 0.04


def test_the_games_of_a_rival() -> None:
    habits = read_habits([EXAMPLES / "rival.pgn"], 2, ["Rival"])
    board = chess.Board()
    board.push_san("e4")
    assert habits.games == 19
    assert habits.blend(board, {"e7e6": 1.0}) == {"c7c5": 12 / 16, "e7e5": 3 / 16, "e7e6": 1 / 16}
