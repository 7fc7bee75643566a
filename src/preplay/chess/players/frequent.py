"""The naive book: a player's most frequent lines, each answered by the move most often played there."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import chess

from preplay.book import Book, Entry
from preplay.chess.players.counts import MoveCounts
from preplay.chess.players.squares import board_key, coded_move
from preplay.game import Side


def frequent_book(
    own: MoveCounts,
    answer: Callable[[chess.Board], chess.Move | None],
    side: Side,
    size: int,
    start: str = "",
    chess960: bool = False,
) -> Book:
    """The `size` likeliest histories of `side` against a player, by what was played alone.

    `own` has the player's moves. How often a line comes up is the product of the player's frequencies;
    the book's own move is `answer`'s, such as the most frequent one (`most_played`).
    """
    board = chess.Board(start or chess.STARTING_FEN, chess960=chess960)
    entries: list[Entry] = []
    heap: list[tuple[float, int, tuple[str, ...], chess.Board]] = []
    count = 0

    def meet(reach: float, history: tuple[str, ...], board: chess.Board) -> None:
        """The side's own histories from here on."""
        nonlocal count
        if board.turn == (side == 1):
            count += 1
            heapq.heappush(heap, (-reach, count, history, board))
            return
        moves = _legal(own, board)
        total = sum(moves.values())
        for move, n in moves.items():
            after = board.copy(stack=False)
            after.push(move)
            meet(reach * n / total, (*history, board.uci(move)), after)

    meet(1.0, (), board)
    while heap and len(entries) < size:
        less, _, history, here = heapq.heappop(heap)
        best = answer(here)
        if best is None:
            continue
        name = here.uci(best)
        entries.append(Entry(history, {name: 1.0}, -less, 0.0, 0.5))
        after = here.copy(stack=False)
        after.push(best)
        meet(-less, (*history, name), after)
    ordered = tuple(sorted(entries, key=lambda entry: (len(entry.history), entry.history)))
    return Book(side, ordered, 0.5, 0.5, 0.0, 1.0, start=start, chess960=chess960)


def most_played(replies: MoveCounts) -> Callable[[chess.Board], chess.Move | None]:
    """Answers by the move that was played most often."""

    def answer(board: chess.Board) -> chess.Move | None:
        moves = _legal(replies, board)
        return max(moves, key=lambda move: (moves[move], move.uci())) if moves else None

    return answer


def _legal(table: MoveCounts, board: chess.Board) -> dict[chess.Move, int]:
    names = {
        board.uci(coded_move(code)): count for code, count in sorted(table.at(board_key(board)).items())
    }
    moves = {chess.Move.from_uci(name): count for name, count in names.items()}
    return {move: count for move, count in moves.items() if board.is_legal(move)}
