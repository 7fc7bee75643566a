"""Anki decks, read by the SQLite and zip of the standard library and by Anki's own importer."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from pathlib import Path

import chess
import pageruns
import pytest

from preplay import response
from preplay.book import Book
from preplay.chess.books.anki import FIELDS, anki_bytes, board_html
from preplay.chess.books.lines import position_key, spots
from preplay.game import Side
from preplay.preparation import entry


def a_book(side: Side = 1) -> Book:
    tree = pageruns.chess_tree(30, side, seed=5)
    best = response.best_book(tree, side, 1e-9)
    rows = zip(best.nodes.tolist(), best.reach.tolist(), best.gain.tolist(), strict=True)
    entries = tuple(entry(tree, side, k, reach, gain) for k, reach, gain in rows)
    return Book(side, entries, best.baseline, best.value, 1e-9, best.upper)


@pytest.mark.parametrize("side", [1, 2])
def test_a_card_for_each_position_in_the_order_to_learn(side: Side, tmp_path: Path) -> None:
    book = a_book(side)
    data = anki_bytes(book, "Deck", 1_700_000_000)
    assert data == anki_bytes(book, "Deck", 1_700_000_000)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert json.loads(archive.read("media")) == {}
        (tmp_path / "c.anki2").write_bytes(archive.read("collection.anki2"))
    base = sqlite3.connect(tmp_path / "c.anki2")
    rows = base.execute(
        "select flds, due from notes join cards on nid = notes.id order by due"
    ).fetchall()
    assert [due for _, due in rows] == list(range(1, len(rows) + 1))
    assert base.execute("pragma integrity_check").fetchone() == ("ok",)
    fens = set()
    for text, _ in rows:
        fields = dict(zip(FIELDS, text.split("\x1f"), strict=True))
        board = chess.Board(fields["FEN"])
        fens.add(board.epd())
        assert board.turn == (side == 1)
        assert fields["Board"] == board_html(board, side == 2)
        board.parse_san(fields["Move"].split()[1])
        replayed = chess.Board()
        for word in fields["Line"].split() if fields["Line"] != "The start" else ():
            if not word.rstrip(".").isdigit():
                replayed.push_san(word)
        assert replayed.epd() == board.epd()
    assert fens == {spot.board.epd() for spot in spots(book, position_key).values()}
    base.close()


def test_anki_itself_imports_it(tmp_path: Path) -> None:
    collection = pytest.importorskip("anki.collection", reason="no anki: install preplay[dev]")
    book = a_book()
    path = tmp_path / "deck.apkg"
    path.write_bytes(anki_bytes(book, "White against Kasparov", 1_700_000_000))
    mine = collection.Collection(str(tmp_path / "mine.anki2"))
    try:
        for _ in range(2):  # a second time changes nothing
            options = collection.ImportAnkiPackageOptions(merge_notetypes=True)
            mine.import_anki_package(
                collection.ImportAnkiPackageRequest(package_path=str(path), options=options)
            )
            assert mine.card_count() == len(spots(book, position_key))
        assert mine.decks.by_name("White against Kasparov") is not None
        card = mine.get_card(mine.find_cards("deck:White*", order="c.due")[0])
        assert "Your move?" in card.question()
        assert "1. " in card.answer()
    finally:
        mine.close()


def test_an_empty_book_is_an_empty_deck() -> None:
    book = Book(1, (), 0.5, 0.5, 0.1, 0.5)
    with zipfile.ZipFile(io.BytesIO(anki_bytes(book, "Empty", 0))) as archive:
        assert archive.testzip() is None
