"""A book as an Anki deck: a card for each position, in the order worth learning.

An .apkg file is a zip archive with an SQLite database of Anki's schema 11, which every version of Anki
reads: a note type with its fields and template, a deck, notes and cards.
"""

from __future__ import annotations

import hashlib
import html
import io
import json
import sqlite3
import zipfile
from contextlib import closing

import chess

from preplay.book import Book
from preplay.chess.books.lines import (
    Place,
    learning_order,
    numbered,
    position_key,
    reach_words,
    start_board,
    walk_book,
)

FIELDS = ("Board", "Line", "Move", "Notes", "FEN")
FRONT = """{{Board}}<p class="line">{{Line}}</p><p>Your move?</p>"""
BACK = """{{Board}}<p class="line">{{Line}}</p><p class="move">{{Move}}</p><p>{{Notes}}</p>"""
STYLE = """
.card { font: 18px sans-serif; text-align: center; color: #1d2126; background: #f4f3ef; }
.nightMode.card, .night_mode .card { color: #e9e7e1; background: #14171a; }
table.board { margin: 0 auto; border-collapse: collapse; font-size: 9vmin; line-height: 1; color: #000; }
.board td { width: 11vmin; height: 11vmin; padding: 0; background: #efece2; }
.board tr:nth-child(odd) td:nth-child(even) { background: #9fb0a3; }
.board tr:nth-child(even) td:nth-child(odd) { background: #9fb0a3; }
@media (min-width: 480px) { table.board { font-size: 40px; } .board td { width: 52px; height: 52px; } }
.move { font-size: 28px; font-weight: bold; }
"""
TABLES = {
    "col": "id crt mod scm ver dty usn ls conf* models* decks* dconf* tags*",
    "notes": "id guid* mid mod usn tags* flds* sfld* csum flags data*",
    "cards": "id nid did ord mod usn type queue due ivl factor reps lapses left odue odid flags data*",
    "revlog": "id cid usn ease ivl lastIvl factor time type",
    "graves": "usn oid type",
}
"""The columns of Anki's tables; texts have a star, all else are whole numbers."""
INDEXES = (
    "notes usn",
    "cards usn",
    "revlog usn",
    "cards nid",
    "cards did,queue,due",
    "revlog cid",
    "notes csum",
)


def schema() -> str:
    """The statements that make Anki's tables."""
    made = []
    for table, columns in TABLES.items():
        parts = []
        for name in columns.split():
            kind = "text" if name.endswith("*") else "integer"
            parts.append(f"{name.rstrip('*')} {kind} {'primary key' if name == 'id' else 'not null'}")
        made.append(f"create table {table} ({', '.join(parts)});")
    for index in INDEXES:
        table, columns = index.split()
        made.append(f"create index ix_{table}_{columns.replace(',', '_')} on {table} ({columns});")
    return "\n".join(made)


def anki_bytes(book: Book, name: str, made: int) -> bytes:
    """The deck `name` as an .apkg file, `made` at a time in seconds; the same book, the same bytes."""
    deck, kind = _number("deck", name), _number("note type", "preplay position")
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(schema())
        database.execute(
            "insert into col values (1, ?, ?, ?, 11, 0, 0, 0, ?, ?, ?, ?, '{}')",
            (made, made * 1000, made * 1000, json.dumps(_configuration(kind)),
             json.dumps({str(kind): _note_type(kind, deck, made)}),
             json.dumps({"1": _deck(1, "Default", made), str(deck): _deck(deck, name, made)}),
             json.dumps({"1": _options()})),
        )  # fmt: skip
        for due, fields in enumerate(_notes(book), 1):
            guid = hashlib.sha256(f"{fields[-1]}{fields[2]}".encode()).hexdigest()[:20]
            note = _number("note", name, guid)
            database.execute(
                "insert into notes values (?, ?, ?, ?, -1, '', ?, ?, ?, 0, '')",
                (note, guid, kind, made, "\x1f".join(fields), fields[0], _checksum(fields[0])),
            )
            database.execute(
                "insert into cards values (?, ?, ?, 0, ?, -1, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, '')",
                (note, note, deck, made, due),
            )
        database.commit()
        content = database.serialize()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, data in (("collection.anki2", content), ("media", b"{}")):
            entry = zipfile.ZipInfo(file)  # dated 1980, whenever it is written
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target.getvalue()


def _notes(book: Book) -> list[tuple[str, ...]]:
    """The fields of each position once, however it is reached, in the order worth learning."""
    places = {place.index: place for place in walk_book(book, notate=True)}
    start = start_board(book)
    notes: dict[object, tuple[str, ...]] = {}
    for index in learning_order(book):
        place = places[index]
        key = (position_key(place.board), place.moves[0][0])
        if key not in notes:
            notes[key] = _fields(book, place, start)
    return list(notes.values())


def _fields(book: Book, place: Place, start: chess.Board) -> tuple[str, ...]:
    board, entry = place.board, place.entry
    line = numbered(start, place.sans) or "The start"
    number = f"{board.fullmove_number}{'.' if board.turn else '…'} "
    best = [(move, p) for move, p in place.moves if p >= 0.25 * place.moves[0][1]]
    move = " or ".join(number + board.san(move) for move, _ in best)
    gain = f"{100 * entry.gain:+.2g} points per 100 games"
    told = f"Met in {reach_words(entry.reach)}. Knowing it adds {gain}."
    return (board_html(board, book.side == 2), *map(html.escape, (line, move, told, board.fen())))


def board_html(board: chess.Board, flipped: bool) -> str:
    """A board as a table of chess characters, which shows on any device."""
    ranks = range(8) if flipped else range(7, -1, -1)
    rows = []
    for rank in ranks:
        files = range(7, -1, -1) if flipped else range(8)
        men = (board.piece_at(chess.square(file, rank)) for file in files)
        rows.append("<tr>" + "".join(f"<td>{man.unicode_symbol() if man else ''}" for man in men))
    return f'<table class="board">{"".join(rows)}</table>'


def _number(*words: str) -> int:
    """A number that stays the same for the same words, as Anki wants them: below 2^53."""
    return int.from_bytes(hashlib.sha256("\x1f".join(words).encode()).digest()[:6], "big")


def _checksum(text: str) -> int:
    return int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:8], 16)


def _note_type(kind: int, deck: int, made: int) -> dict[str, object]:
    template = {
        "name": "Position",
        "ord": 0,
        "qfmt": FRONT,
        "afmt": BACK,
        "did": None,
        "bqfmt": "",
        "bafmt": "",
    }
    look = {"sticky": False, "rtl": False, "font": "Arial", "size": 20, "media": []}
    fields = [{"name": name, "ord": k, **look} for k, name in enumerate(FIELDS)]
    return {
        "id": kind, "name": "preplay position", "type": 0, "mod": made, "usn": -1, "sortf": 1,
        "did": deck,
        "tmpls": [template], "flds": fields, "css": STYLE, "latexPre": "", "latexPost": "",
        "req": [[0, "any", [0]]], "tags": [], "vers": [],
    }  # fmt: skip


def _deck(number: int, name: str, made: int) -> dict[str, object]:
    today = {key: [0, 0] for key in ("newToday", "revToday", "lrnToday", "timeToday")}
    return {
        "id": number, "name": name, "desc": "", "mod": made, "usn": -1, "collapsed": False, "dyn": 0,
        "browserCollapsed": False, "extendNew": 10, "extendRev": 50, "conf": 1, **today,
    }  # fmt: skip


def _options() -> dict[str, object]:
    return {
        "id": 1, "name": "Default", "mod": 0, "usn": 0, "maxTaken": 60, "autoplay": True, "timer": 0,
        "replayq": True, "dyn": False,
        "new": {"bury": False, "delays": [1, 10], "initialFactor": 2500, "ints": [1, 4, 7], "order": 1,
                "perDay": 50, "separate": True},
        "lapse": {"delays": [10], "leechAction": 0, "leechFails": 8, "minInt": 1, "mult": 0},
        "rev": {"bury": False, "ease4": 1.3, "fuzz": 0.05, "ivlFct": 1, "maxIvl": 36500, "minSpace": 1,
                "perDay": 200},
    }  # fmt: skip


def _configuration(kind: int) -> dict[str, object]:
    return {
        "activeDecks": [1], "addToCur": True, "collapseTime": 1200, "curDeck": 1, "curModel": str(kind),
        "dueCounts": True, "estTimes": True, "newBury": True, "newSpread": 0, "nextPos": 1,
        "sortBackwards": False, "sortType": "noteFld", "timeLim": 0,
    }  # fmt: skip
