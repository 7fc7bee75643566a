"""A check of played games as a result: its JSON is what the command prints."""

from __future__ import annotations

from pathlib import Path

from chessbooks import lines_book

from preplay.runs import as_data
from preplay.runs.checks import check

GAMES = """[White "Ann"]
[Black "Ben"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[White "Cy"]
[Black "Ben"]
[Result "*"]

1. e4 c5 *
"""


def test_a_check_tells_whose_book_and_which_games(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES)
    found = check(lines_book("e2e4 e7e5 g1f3"), file, player="Ann")
    assert (found.side, [game.white for game in found.games], found.summary.skipped) == (
        "white",
        ["Ann"],
        1,
    )
    data = as_data(found)
    assert list(data) == ["side", "games", "summary"]
    assert data["games"][0]["expected"] == list(found.games[0].expected)
    black = check(lines_book("e2e4 e7e5", side=2), file)
    assert (black.side, len(black.games)) == ("black", 2)
