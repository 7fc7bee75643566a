"""Games that were really played, held against a book: where each side left the preparation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import chess

from preplay.book import Book
from preplay.chess.books.lines import numbered, position_key, walk_book
from preplay.chess.books.lookup import BookLookup, Hit, Played, whole_lookup
from preplay.chess.players.names import meant
from preplay.chess.players.readgames import ReadGame, read_file
from preplay.errors import InputError
from preplay.game import Side

Outcome = Literal["deviation", "gap", "ended", "completed", "elsewhere"]
OUTCOMES: tuple[Outcome, ...] = ("deviation", "gap", "ended", "completed", "elsewhere")
"""How a game leaves a book: the side played another move; the opponent played a move for which the book
has nothing though it has for others; the book ends there; the game was over first; or it never came to
the position where the book begins."""


@dataclass(frozen=True)
class Checked:
    """One game and where it left the preparation."""

    number: int
    """Which game of the file, from 1."""
    white: str
    black: str
    date: str
    result: str
    outcome: Outcome
    ply: int
    """How many moves of both sides were played by then; 0 elsewhere."""
    moves: int
    """How many moves the side played from the book."""
    known: int
    """How many it played that it knew before the book, where that extends what is known."""
    line: str
    """The moves from the game's start up to there in SAN; empty elsewhere."""
    played: str
    """The move that left the book in SAN; empty when none did."""
    expected: tuple[str, ...]
    """What the book had there instead: its own moves, those known before it, or the opponent's moves it
    has an answer to."""

    def points(self, side: Side) -> float | None:
        """What the side scored, or None if the game has no result."""
        white = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}.get(self.result)
        return white if white is None or side == 1 else 1.0 - white


@dataclass(frozen=True)
class Leaving:
    """A way to leave the book that occurred."""

    outcome: Outcome
    line: str
    played: str
    expected: tuple[str, ...]
    games: int


@dataclass(frozen=True)
class Summary:
    """All checked games together."""

    games: int
    skipped: int
    """Games in which the player did not have the book's side, or that were not chess."""
    broken: tuple[str, ...]
    """What was wrong with the games that could not be read."""
    outcomes: Mapping[Outcome, int]
    moves: float
    """How many moves the book carried on average, of the games that came to its start."""
    known: float
    """How many known moves were played on average in these games."""
    points: Mapping[Outcome, float]
    """Mean score of the games with a result, for the outcomes that have some."""
    leavings: tuple[Leaving, ...]
    """Own deviations and gaps, the most frequent first."""


@dataclass(frozen=True)
class Report:
    """What a check found."""

    side: Side
    rows: tuple[Checked, ...]
    summary: Summary


def check_file(book: Book, path: str | Path, *, player: str = "", by_position: bool = True) -> Report:
    """Where each game of a PGN file, packed or not, left the preparation.

    With `player`, only games count in which that name has the book's side. With `by_position` a line
    that transposes into the book is in the book. Moves that the book extends are followed by position,
    count as known, and another move in their place is a deviation. A game is held against the book from
    where it first reaches the book's start. Games with an illegal move are left out and told. Raises
    InputError if no game is left, or none reaches that start.
    """
    broken: list[str] = []
    return _check_games(book, read_file(path, broken), broken, str(path), player, by_position)


def _check_games(
    book: Book, played: Iterable[ReadGame], broken: list[str], name: str, player: str, by_position: bool
) -> Report:
    lookup = whole_lookup(book)
    ways = {place.path[:n] for place in walk_book(book) for n in range(len(place.path) + 1)}
    wanted = (player,) if player else ()
    rows: list[Checked] = []
    skipped = 0
    astray = ""
    for game in played:
        if not game.standard or not meant(wanted, game.player(book.side)):
            skipped += 1
            continue
        astray = astray or f"game {game.number} starts from '{game.start.fen()}'"
        rows.append(_check(lookup, ways, book.side, game, by_position))
    if not rows and not skipped:
        raise InputError(broken[0] if broken else f"{name}: no games; expected PGN")
    if not rows and player:
        colour = "White" if book.side == 1 else "Black"
        raise InputError(
            f"{name}: no game of chess in which '{player}' has {colour} ({skipped} without this)"
        )
    if rows and all(row.outcome == "elsewhere" for row in rows):
        there = book.start or "the usual one"
        raise InputError(f"{name}: {astray}; the book's start is {there}, which no game reaches")
    return Report(book.side, tuple(rows), _summary(rows, book.side, skipped, tuple(broken)))


def plies_before(start: Hashable, game: ReadGame) -> int | None:
    """After how many moves the game first reaches the position with this key; None if it never does."""
    board = game.start.copy()
    for ply, move in enumerate(game.moves):
        if position_key(board) == start:
            return ply
        board.push(move)
    return len(game.moves) if position_key(board) == start else None


def _check(
    lookup: BookLookup, ways: Collection[tuple[str, ...]], side: Side, game: ReadGame, by_position: bool
) -> Checked:
    """Where a game left the book; own moves on one of the `ways` to it led there before it held them."""
    board = game.start.copy()
    path: list[str] = []
    sans: list[str] = []
    own = known = 0

    def find() -> Hit | None:
        return lookup.find(Played(lookup.start, tuple(path), board), by_position=by_position)

    def leave(outcome: Outcome, played: str = "", expected: tuple[str, ...] = ()) -> Checked:
        return Checked(
            number=game.number,
            white=game.tags.white or "?",
            black=game.tags.black or "?",
            date=game.tags.date or "?",
            result=game.tags.result or "*",
            outcome=outcome,
            ply=len(sans),
            moves=own,
            known=known,
            line=numbered(game.start, sans),
            played=played,
            expected=expected,
        )

    def left() -> Checked:
        """The opponent's last move, if any, led to a position the book does not have."""
        if not path:
            return leave("ended")
        played = sans.pop()
        del path[-1]
        board.pop()
        answered = _answered(find, board, path)
        return leave("gap" if answered else "ended", played, answered)

    before = plies_before(lookup.start, game)
    if before is None:
        return leave("elsewhere")
    for move in game.moves[:before]:
        sans.append(board.san(move))
        board.push(move)
    for move in game.moves[before:]:
        if board.turn == (side == 1):
            hit = find()
            if hit is not None and move not in hit.moves:
                return leave("deviation", board.san(move), tuple(board.san(m) for m in hit.moves))
            if hit is None and (*path, board.uci(move, chess960=True)) not in ways:
                return left()
            own += hit is not None and not hit.known
            known += hit is not None and hit.known
        sans.append(board.san(move))
        path.append(board.uci(move, chess960=True))
        board.push(move)
    waiting = board.turn == (side == 1) and not board.is_game_over()
    astray = waiting and find() is None and tuple(path) not in ways
    return left() if astray else leave("completed")


def _answered(find: Callable[[], Hit | None], board: chess.Board, path: list[str]) -> tuple[str, ...]:
    """The moves after which the book goes on, the likeliest first; `find` looks at board and path."""
    found: list[tuple[float, str]] = []
    for move in list(board.legal_moves):
        san = board.san(move)
        path.append(board.uci(move, chess960=True))
        board.push(move)
        hit = find()
        board.pop()
        del path[-1]
        if hit is not None:
            found.append((-(hit.reach or 0.0), san))
    return tuple(san for _, san in sorted(found))


def _summary(rows: Sequence[Checked], side: Side, skipped: int, broken: tuple[str, ...]) -> Summary:
    outcomes = Counter(row.outcome for row in rows)
    there = [row for row in rows if row.outcome != "elsewhere"]
    points: dict[Outcome, float] = {}
    for outcome in OUTCOMES:
        scores = [s for row in rows if row.outcome == outcome and (s := row.points(side)) is not None]
        if scores:
            points[outcome] = sum(scores) / len(scores)
    ways = Counter(
        (row.outcome, row.line, row.played, row.expected)
        for row in rows
        if row.outcome in {"deviation", "gap"}
    )
    return Summary(
        games=len(rows),
        skipped=skipped,
        broken=broken,
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES},
        moves=sum(row.moves for row in there) / max(1, len(there)),
        known=sum(row.known for row in there) / max(1, len(there)),
        points=points,
        leavings=tuple(Leaving(*way, games) for way, games in ways.most_common()),
    )
