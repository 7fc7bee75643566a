"""A book held against an opponent's new games: how far they follow it, expected and seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import chess

from preplay.book import Book
from preplay.chess.books.lines import position_key
from preplay.chess.books.lookup import BookLookup, Played, book_lookup, whole_lookup
from preplay.chess.check import plies_before
from preplay.chess.players.filters import date_of
from preplay.chess.players.names import meant
from preplay.chess.players.readgames import ReadGame, read_file
from preplay.chess.players.sources import find_files
from preplay.errors import InputError
from preplay.game import Side, other


@dataclass(frozen=True)
class Followed:
    """How the games of an opponent follow one book.

    A game is followed by the opponent's moves alone: on its own turns the book's side plays the book,
    whatever was played. Where the game itself came to a position that the book leads to, the opponent's
    answer there is a fair test of what was expected.
    """

    size: int
    """Memorized histories, or positions where memory is by position."""
    expected: float
    """Book moves in a game, as the book's own reaches have it."""
    seen: float
    """Book moves in a game, followed by the opponent's moves alone."""
    error: float
    """The standard error of `seen`."""
    answers: int
    """How often the games had a position that the book leads to, the opponent to move."""
    answered_expected: float | None
    """How often the book should have had an answer to what came then."""
    answered_seen: float | None
    """How often it had."""
    answered_error: float | None


@dataclass(frozen=True)
class HeldOut:
    """An opponent's new games against a book, and beside it against a naive one of the same size."""

    games: int
    skipped: int
    """Games of others, of the other colour, older ones, or that never came to the book's start."""
    broken: tuple[str, ...]
    book: Followed
    frequent: Followed | None = None
    """The opponent's most frequent lines, from the games the model was made of."""


def held_out(
    book: Book,
    sources: Sequence[str | Path],
    names: Sequence[str],
    frequent: Book | None = None,
    *,
    since: str = "",
) -> HeldOut:
    """Follow the games in which one of `names` has the side opposite to the book's."""
    broken: list[str] = []
    lookup = book_lookup(book)
    games, skipped = [], 0
    for path in find_files(sources):
        for game in read_file(path, broken):
            before = plies_before(lookup.start, game) if game.standard else None
            if (
                before is None
                or date_of(game.tags) < since
                or not meant(names, game.player(other(book.side)))
            ):
                skipped += 1
            else:
                games.append((game, before))
    if not games:
        where = ", ".join(map(str, sources))
        colour = "White" if book.side == 2 else "Black"
        who = " or ".join(names) or "anybody"
        raise InputError(
            f"{where}: no game in which {who} has {colour} and that comes to the book's start"
        )
    beside = None if frequent is None else _followed(frequent, games)
    return HeldOut(len(games), skipped, tuple(broken), _followed(book, games), beside)


def _followed(book: Book, games: Iterable[tuple[ReadGame, int]]) -> Followed:
    lookup = whole_lookup(book)
    leads = _leads(lookup)
    carried: list[int] = []
    given: list[float] = []
    came: list[bool] = []
    for game, before in games:
        carried.append(follow(lookup, book.side, game, before)[0])
        board = game.start.copy()
        for ply, move in enumerate(game.moves):
            key = position_key(board)
            board.push(move)
            if ply >= before and key in leads:
                given.append(leads[key][0])
                came.append(position_key(board) in leads[key][1])
    seen = sum(carried) / len(carried)
    spread = sum((n - seen) ** 2 for n in carried) / len(carried)
    share = sum(came) / len(came) if came else None
    return Followed(
        size=book.size,
        expected=sum(entry.reach * entry.probability for entry in book.entries),
        seen=seen,
        error=sqrt(spread / len(carried)),
        answers=len(came),
        answered_expected=sum(given) / len(given) if given else None,
        answered_seen=share,
        answered_error=None if share is None else sqrt(share * (1.0 - share) / len(came)),
    )


def follow(lookup: BookLookup, side: Side, game: ReadGame, before: int) -> tuple[int, chess.Board]:
    """Play a book against the opponent's moves of a game: how many moves it plays, and where it ends.

    Moves that the book extends are played and not counted.
    """
    board = game.start.copy()
    for move in game.moves[:before]:
        board.push(move)
    first = board.turn == (side == 1)  # whether the book's side moves first
    theirs = list(game.moves[before + first :: 2])
    path: list[str] = []
    count = 0
    while True:
        if board.turn == (side == 1):
            hit = lookup.find(Played(lookup.start, tuple(path), board))
            if hit is None:
                return count, board
            count += not hit.known
            move = next(iter(hit.moves))
        else:
            if not theirs or not board.is_legal(theirs[0]):
                return count, board
            move = theirs.pop(0)
        path.append(board.uci(move, chess960=True))
        board.push(move)


def _leads(lookup: BookLookup) -> dict[object, tuple[float, set[object]]]:
    """Where the book leads, the opponent to move: how likely an answered move is, and where it leads."""
    found: dict[object, tuple[float, set[object]]] = {}
    answered = {key: spot.reach for key, spot in lookup.by_position.items()}
    for spot in lookup.by_position.values():
        for move in spot.weights():
            board = spot.board.copy(stack=False)
            board.push(move)
            key, expected, there = position_key(board), 0.0, set[object]()
            for reply in list(board.legal_moves):
                board.push(reply)
                after = position_key(board)
                board.pop()
                if after in answered:
                    expected += answered[after]
                    there.add(after)
            share = min(1.0, expected / spot.reach) if spot.reach > 0.0 else 0.0
            found[key] = (share, there)
    return found
