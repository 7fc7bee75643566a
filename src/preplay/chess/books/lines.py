"""A book on the board: its positions, the order worth learning, and tables of both."""

from __future__ import annotations

import csv
import heapq
import io
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import chess

from preplay.book import Book, Entry
from preplay.errors import InputError
from preplay.games.clocked import untimed

K = TypeVar("K", bound=Hashable)
UciPath = tuple[str, ...]
"""Moves in UCI with castling as king takes rook: one name per move in any chess."""

COLUMNS = (
    "number",
    "line",
    "move",
    "uci",
    "probability",
    "others",
    "reach",
    "gain",
    "value",
    "cumulative_value",
    "in_book",
    "fen",
)
"""The header of the table of lines."""


@dataclass(frozen=True)
class Place:
    """An entry of a book with the board it is about."""

    index: int
    """Which entry of the book."""
    entry: Entry
    board: chess.Board
    """The position; of the moves that led to it, it remembers the last."""
    path: UciPath
    """The history."""
    moves: tuple[tuple[chess.Move, float], ...]
    """What the book plays with its probabilities, the most probable first."""
    sans: tuple[str, ...] = ()
    """The history in SAN, where it was asked for."""


@dataclass(frozen=True)
class Spot:
    """All entries of a book that share a position, however it was reached."""

    places: tuple[Place, ...]

    @property
    def board(self) -> chess.Board:
        """The shared position."""
        return self.places[0].board

    @property
    def reach(self) -> float:
        """How often the game gets here by any of the ways."""
        return sum(place.entry.reach for place in self.places)

    def weights(self) -> dict[chess.Move, float]:
        """P(the book has this and plays the move | the position is reached), the largest first.

        Each way into the position counts by its reach; if none has any, they count the same.
        """
        total = self.reach
        answer: dict[chess.Move, float] = {}
        for place in self.places:
            share = place.entry.reach / total if total > 0 else 1 / len(self.places)
            for move, p in place.moves:
                answer[move] = answer.get(move, 0.0) + share * place.entry.probability * p
        return dict(sorted(answer.items(), key=lambda item: -item[1]))


def start_board(book: Book) -> chess.Board:
    """The position in which the book's histories begin."""
    try:
        board = chess.Board(book.start or chess.STARTING_FEN, chess960=book.chess960)
    except ValueError as error:
        raise InputError(f"the book's start position is no FEN: {error}") from None
    if not board.is_valid():
        raise InputError(f"the book's start position '{book.start}' is not a legal chess position")
    return board


def walk_book(book: Book, *, notate: bool = False) -> Iterator[Place]:
    """Every entry with its board, line by line, so that shared beginnings are played once.

    Times of a clocked book are left out: at the board they are never quite the same. Raises InputError
    at a move that is illegal or at a position where the other side is to move.
    """
    board = start_board(book)
    names: list[str] = []
    path: list[str] = []
    sans: list[str] = []
    for index in sorted(range(len(book.entries)), key=lambda k: book.entries[k].history):
        entry = _without_times(book.entries[index])
        common = common_length(names, entry.history)
        while len(names) > common:
            board.pop()
            del names[-1], path[-1], sans[-1]
        for name in entry.history[common:]:
            move = legal_move(board, name, names)
            path.append(board.uci(move, chess960=True))
            sans.append(board.san(move) if notate else "")
            names.append(name)
            board.push(move)
        if board.turn != (book.side == 1):
            mover = "Black" if book.side == 1 else "White"
            raise InputError(
                f"book entry '{' '.join(names)}': {mover} is to move; expected the book's side"
            )
        moves = [(legal_move(board, name, names), p) for name, p in entry.moves.items() if p > 0.0]
        if not moves:
            raise InputError(f"book entry '{' '.join(names)}': no move; expected at least one")
        moves.sort(key=lambda item: -item[1])
        played = tuple(sans) if notate else ()
        yield Place(index, entry, board.copy(stack=1), tuple(path), tuple(moves), played)


def _without_times(entry: Entry) -> Entry:
    if not any("@" in name for name in (*entry.history, *entry.moves)):
        return entry
    history = tuple(untimed(name)[0] for name in entry.history)
    return replace(entry, history=history, moves={untimed(m)[0]: p for m, p in entry.moves.items()})


def spots(book: Book, key: Callable[[chess.Board], K]) -> dict[K, Spot]:
    """The book's positions, one for each `key`, in the order of the book's entries."""
    found: dict[K, list[Place]] = {}
    for place in sorted(walk_book(book), key=lambda place: place.index):
        found.setdefault(key(place.board), []).append(place)
    return {key: Spot(tuple(places)) for key, places in found.items()}


def known_moves(book: Book) -> Iterator[tuple[chess.Board, tuple[chess.Move, ...]]]:
    """What a book extends, position by position; raises InputError where its moves are not legal."""
    for place, names in book.known.items():
        try:
            board = chess.Board(f"{place} 0 1", chess960=book.chess960)
            moves = tuple(board.parse_uci(name) for name in names)
        except ValueError:
            moves = ()
        if not moves or not all(moves) or not board.is_valid():
            told = f"{place}: {' '.join(names)}"[:200]
            raise InputError(f"book: known moves '{told}'; expected a position and legal moves")
        yield board, moves


def position_key(board: chess.Board) -> Hashable:
    """Equal for positions in which the same moves are possible with the same pieces: a transposition."""
    men = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    passing = board.ep_square if board.has_legal_en_passant() else None
    return (*men, board.occupied_co[chess.WHITE], board.turn, board.clean_castling_rights(), passing)


def learning_order(book: Book) -> tuple[int, ...]:
    """The entries in the order worth learning: at any moment what was learned bought the most.

    Among the orders that learn a history only after its own beginnings, this one has the largest
    sum of cumulative gains. Horn's algorithm for trees: a history whose block of continuations gains
    more per entry than the history itself is learned in one go with them.
    """
    where = {entry.history: k for k, entry in enumerate(book.entries)}
    below: dict[int, list[tuple[float, float, int, tuple[int, ...]]]] = {}  # heaps of blocks by parent
    for k in sorted(range(len(book.entries)), key=lambda k: -len(book.entries[k].history)):
        entry = book.entries[k]
        blocks = below.pop(k, [])
        gain, size, members = entry.gain * entry.probability, 1, [k]
        while blocks and -blocks[0][0] > gain / size:
            density, _, _, more = heapq.heappop(blocks)
            gain, size = gain - density * len(more), size + len(more)
            members.extend(more)
        heapq.heappush(blocks, (-gain / size, -entry.reach, k, tuple(members)))
        before = (entry.history[:n] for n in range(len(entry.history) - 1, -1, -1))
        parent = next((where[line] for line in before if line in where), -1)
        above = below.setdefault(parent, [])
        if len(above) < len(blocks):
            above, blocks = blocks, above
        for block in blocks:
            heapq.heappush(above, block)
        below[parent] = above
    roots = below.get(-1, [])
    return tuple(k for block in sorted(roots) for k in block[3])


def reach_words(reach: float) -> str:
    """How often, as a player says it: "1 in 12 games"."""
    if not reach > 0.0:
        return "never"
    if reach >= 0.995:
        return "every game"
    if reach < 0.1:
        return f"1 in {round(1 / reach):,} games"
    ratio = Fraction(reach).limit_denominator(10)
    if ratio == 1:
        return "almost every game"
    return f"{ratio.numerator} in {ratio.denominator} games"


def numbered(start: chess.Board, sans: Sequence[str]) -> str:
    """A line with its move numbers: "1. e4 e5 2. Nf3"."""
    words: list[str] = []
    number, white = start.fullmove_number, start.turn == chess.WHITE
    for san in sans:
        if white:
            words.append(f"{number}.")
        elif not words:
            words.append(f"{number}...")
        words.append(san)
        number, white = number + (not white), not white
    return " ".join(words)


def csv_text(book: Book, order: Sequence[int] | None = None) -> str:
    """A table with a row per entry, in `order` (default: the order worth learning).

    `cumulative_value` is what the book is worth to one who has learned down to this row; in a mixed
    book each gain counts as often as the book holds the entry.
    """
    places = {place.index: place for place in walk_book(book, notate=True)}
    start = start_board(book)
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    value = book.value - sum(entry.gain * entry.probability for entry in book.entries)
    for number, index in enumerate(full_order(book, order), 1):
        place = places[index]
        entry, board = place.entry, place.board
        value += entry.gain * entry.probability
        (best, p), *others = place.moves
        rest = " ".join(f"{board.san(move)} {_number(q)}" for move, q in others)
        row = [number, numbered(start, place.sans), board.san(best), board.uci(best), _number(p), rest]
        numbers = (entry.reach, entry.gain, entry.value, value, entry.probability)
        writer.writerow([*row, *map(_number, numbers), board.fen()])
    return target.getvalue()


def epd_text(book: Book) -> str:
    """A line per position, however reached: `bm` the book's moves, `id` a number, `c0` how often met."""
    lines: list[str] = []
    for number, spot in enumerate(spots(book, position_key).values(), 1):
        words = reach_words(min(1.0, spot.reach))
        lines.append(spot.board.epd(bm=list(spot.weights()), id=f"preplay {number}", c0=words))
    return "".join(line + "\n" for line in lines)


def full_order(book: Book, order: Sequence[int] | None) -> Sequence[int]:
    """`order`, or the order worth learning; raises InputError unless it names each entry once."""
    if order is None:
        return learning_order(book)
    if sorted(order) != list(range(len(book.entries))):
        raise InputError(
            f"an order of {len(order)} entries; expected each of 0 to {len(book.entries) - 1} once"
        )
    return order


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """How many actions two histories have in common from the start."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def legal_move(board: chess.Board, name: str, before: Sequence[str]) -> chess.Move:
    """The legal move of a book by its name, after the moves `before`; InputError where it is none."""
    line = f"after '{' '.join(before)}'" if before else "at the start"
    try:
        move = board.parse_uci(name)
    except chess.InvalidMoveError:
        raise InputError(
            f"book: '{name}' {line} is no move of chess; expected a chess book, moves in UCI"
        ) from None
    except ValueError:
        move = chess.Move.null()
    if not move:
        raise InputError(f"book: move '{name}' {line} is not legal; expected a legal UCI move")
    return move


def _number(x: float) -> str:
    return f"{x:.10g}"
