"""What a book says at the board: found by the moves played, or by the position they led to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import chess

from preplay.book import FILE, Book, load
from preplay.chess.books.known import known_of
from preplay.chess.books.lines import (
    Place,
    Spot,
    UciPath,
    position_key,
    start_board,
    walk_book,
)
from preplay.chess.books.polyglot import PolyglotBook, read_polyglot
from preplay.chess.books.reading import Answers, read_epd_book, read_pgn_book


@dataclass(frozen=True)
class Played:
    """A game so far."""

    start: Hashable
    """`position_key` of the position from which it is told."""
    path: UciPath
    """All moves since."""
    board: chess.Board
    """The position now."""


@dataclass(frozen=True)
class Hit:
    """What a book says about a position."""

    moves: Mapping[chess.Move, float]
    """What to play, by weights that need not sum to 1, the largest first."""
    value: float | None = None
    """The expected utility here for the side to move, if the book knows it."""
    reach: float | None = None
    """How often games come here, if the book knows it."""
    score: int | None = None
    """What the engine of the preparation says here, in centipawns for the side to move, if known."""
    known: bool = False
    """Whether it was known before the book, and is no part of what is memorized."""


class Lookup(Protocol):
    """A book that can be asked at the board."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    @property
    def mixed(self) -> bool:
        """Whether each game draws a pure book of its own."""
        ...

    @property
    def start(self) -> Hashable:
        """`position_key` of the position from which its histories count; None if it has none."""
        ...

    def find(self, game: Played, *, draw: float = 0.0, by_position: bool = True) -> Hit | None:
        """What to play now, or None outside the book.

        `draw` in [0, 1) stands for the game's pure book: it has the histories with x(h) > draw. As
        x never rises along a line that is prefix-closed, and each history is in it with P = x(h).
        """
        ...

    def reply(self, game: Played, move: chess.Move) -> chess.Move | None:
        """The answer to `move` that the book expects most, if it expects any."""
        ...

    def starts(self, game: Played) -> bool:
        """Whether the game is told from where the book begins."""
        ...


@dataclass(frozen=True, eq=False)
class BookLookup:
    """A book of histories. By position, all entries that transpose into it answer together."""

    name: str
    mixed: bool
    start: Hashable
    by_path: Mapping[UciPath, Place]
    by_position: Mapping[Hashable, Spot]
    values: Mapping[int, float]
    """What the book is worth at each entry."""
    replies: Mapping[UciPath, chess.Move]
    """The most frequent answer to the book's moves."""
    known: Mapping[Hashable, tuple[chess.Move, ...]] = field(default_factory=dict)
    """What is played besides, by position: what the book extends."""

    def find(self, game: Played, *, draw: float = 0.0, by_position: bool = True) -> Hit | None:
        """What is known, however reached; the entry of the game's moves; or, if asked to, those of its
        position."""
        if known := self.known.get(position_key(game.board)):
            return Hit(_castled(dict.fromkeys(known, 1.0 / len(known)), game.board), known=True)
        place = self.by_path.get(game.path) if self.starts(game) else None
        if place is not None and place.entry.probability > draw:
            entry = place.entry
            moves = _castled(dict(place.moves), game.board)
            return Hit(moves, self.values[place.index], entry.reach, entry.score)
        spot = self.by_position.get(position_key(game.board)) if by_position else None
        if spot is None:
            return None
        held = tuple(place for place in spot.places if place.entry.probability > draw)
        if not held:
            return None
        spot = Spot(held)
        value = sum(self.values[place.index] for place in held) / len(held)
        score = next((place.entry.score for place in held if place.entry.score is not None), None)
        return Hit(_castled(spot.weights(), game.board), value, spot.reach, score)

    def reply(self, game: Played, move: chess.Move) -> chess.Move | None:
        """The answer with the largest reach among the entries after `move`."""
        if not self.starts(game):
            return None
        return self.replies.get((*game.path, game.board.uci(move, chess960=True)))

    def starts(self, game: Played) -> bool:
        """Whether the game is told from the book's start position."""
        return game.start == self.start


@dataclass(frozen=True, eq=False)
class PolyglotLookup:
    """A Polyglot book: it knows positions only."""

    name: str
    book: PolyglotBook
    mixed: bool = False
    start: Hashable = None

    def find(self, game: Played, *, draw: float = 0.0, by_position: bool = True) -> Hit | None:
        """The moves of the position; a Polyglot book has no other way to look."""
        moves = self.book.find(game.board)
        return Hit(dict(moves)) if moves else None

    def reply(self, game: Played, move: chess.Move) -> chess.Move | None:
        """The book's own first choice for the opponent."""
        board = game.board.copy(stack=False)
        board.push(move)
        return next(iter(self.book.find(board)), None)

    def starts(self, game: Played) -> bool:
        """A Polyglot book begins anywhere."""
        return True


@dataclass(frozen=True, eq=False)
class EpdLookup:
    """Positions with their best moves, all alike."""

    name: str
    answers: Answers
    mixed: bool = False
    start: Hashable = None

    def find(self, game: Played, *, draw: float = 0.0, by_position: bool = True) -> Hit | None:
        """The moves of the position; a list of positions has no other way to look."""
        moves = self.answers.get(position_key(game.board), ())
        return Hit(_castled(dict.fromkeys(moves, 1.0), game.board)) if moves else None

    def reply(self, game: Played, move: chess.Move) -> chess.Move | None:
        """It knows no answers of the opponent."""
        return None

    def starts(self, game: Played) -> bool:
        """It begins anywhere."""
        return True


def book_lookup(book: Book, name: str = "book") -> BookLookup:
    """The book, ready to be asked; raises InputError where its moves are not legal."""
    places = sorted(walk_book(book), key=lambda place: place.index)
    found: dict[Hashable, list[Place]] = {}
    best: dict[UciPath, tuple[float, chess.Move]] = {}
    for place in places:
        found.setdefault(position_key(place.board), []).append(place)
        if place.path:
            before, candidate = place.path[:-1], (place.entry.reach, place.board.peek())
            if before not in best or candidate[0] > best[before][0]:
                best[before] = candidate
    return BookLookup(
        name=name,
        mixed=book.mixed,
        start=position_key(start_board(book)),
        by_path={place.path: place for place in places},
        by_position={key: Spot(tuple(group)) for key, group in found.items()},
        values=_values(places),
        replies={path: move for path, (_, move) in best.items()},
    )


def whole_lookup(book: Book, name: str = "book") -> BookLookup:
    """The book with what it extends, ready to be asked."""
    return replace(book_lookup(book, name), known=known_of(book))


def _castled(moves: Mapping[chess.Move, float], board: chess.Board) -> dict[chess.Move, float]:
    """The same moves with castling written as `board` writes it, which Chess960 does its own way."""
    return {chess.Move.from_uci(board.uci(move)): p for move, p in moves.items()}


def _values(places: list[Place]) -> dict[int, float]:
    """v(h) and, on top of it, the gains of the entry and of all below it, once it is reached in book."""
    gains: dict[UciPath, float] = {}
    for place in sorted(places, key=lambda place: -len(place.path)):
        path = place.path
        gains[path] = gains.get(path, 0.0) + place.entry.gain * place.entry.probability
        if len(path) > 1:
            gains[path[:-2]] = gains.get(path[:-2], 0.0) + gains[path]
    answer: dict[int, float] = {}
    for place in places:
        entry = place.entry
        often = entry.reach * entry.probability
        more = gains[place.path] / often if often > 0 else 0.0
        answer[place.index] = min(1.0, max(0.0, entry.value + more))
    return answer


def open_book(path: str) -> Lookup:
    """The book in a file: Polyglot (`.bin`), PGN, EPD, else `preplay-book/1`, also in a run."""
    file = Path(path)
    if file.is_dir():
        file /= FILE
    if file.suffix == ".bin":
        return PolyglotLookup(file.name, read_polyglot(file))
    if file.suffix == ".epd":
        return EpdLookup(file.name, read_epd_book(file))
    if file.suffix == ".pgn":
        return whole_lookup(read_pgn_book(file), file.name)
    return whole_lookup(load(file), file.name)
