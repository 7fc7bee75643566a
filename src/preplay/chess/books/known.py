"""What a book extends, in PGN: known moves are marked in plain words, and told by them when read."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, MutableMapping, Sequence

import chess
import chess.pgn

from preplay.book import Book
from preplay.chess.books.lines import known_moves, position_key
from preplay.game import Side

MARK = "known before the book"
"""What the comment of a known move says."""

KnownByPosition = Mapping[Hashable, tuple[chess.Move, ...]]
"""Known moves by `position_key`."""


def known_of(book: Book) -> KnownByPosition:
    """What a book extends, by position however reached."""
    return {position_key(board): moves for board, moves in known_moves(book)}


def is_known(node: chess.pgn.GameNode) -> bool:
    """Whether the move is marked as known."""
    return MARK in " ".join(node.comment.split())


def mark_line(game: chess.pgn.Game, known: KnownByPosition) -> None:
    """Mark the known moves of a game as it is."""
    for node, board in _nodes(game):
        moves = known.get(position_key(board), ())
        for child in node.variations:
            if child.move in moves:
                _mark(child)


def plant(game: chess.pgn.Game, side: Side, known: KnownByPosition, placed: set[Hashable]) -> None:
    """Add to a game what is known in its positions, and the replies that lead to what is known besides.

    `placed` are the positions that other games show already; those of this one are added.
    """
    placed.update(position_key(board) for _, board in _nodes(game))
    order = {key: k for k, key in enumerate(known)}
    for node, board in _nodes(game):
        if board.turn == (side == 1):
            moves = known.get(position_key(board), ())
            for move in moves:
                _mark(node.variation(move) if node.has_variation(move) else node.add_variation(move))
            if moves:
                rank = {move: k for k, move in enumerate(moves)}
                node.variations.sort(key=lambda child: rank.get(child.move, len(rank)))
        else:
            new = {key: reply for key, reply in _replies(board) if key in known and key not in placed}
            placed.update(new)
            for key in sorted(new, key=lambda key: order[key]):
                node.add_variation(new[key])


def gather_known(
    board: chess.Board, names: Sequence[str], found: MutableMapping[str, tuple[str, ...]]
) -> None:
    """Take in the marked moves of one place in a game; the place that shows most of a position leads."""
    before = found.get(board.epd(), ())
    longer, shorter = (names, before) if len(names) >= len(before) else (before, names)
    found[board.epd()] = tuple(dict.fromkeys((*longer, *shorter)))


def _mark(node: chess.pgn.GameNode) -> None:
    if not is_known(node):
        node.comment = f"{node.comment} {MARK}".strip()


def _replies(board: chess.Board) -> Iterator[tuple[Hashable, chess.Move]]:
    """The positions after each legal move, with the move."""
    for reply in list(board.legal_moves):
        board.push(reply)
        key = position_key(board)
        board.pop()
        yield key, reply


def _nodes(game: chess.pgn.Game) -> Iterator[tuple[chess.pgn.GameNode, chess.Board]]:
    """All positions of a game, the early ones first; those that are added meanwhile too."""
    waiting: deque[tuple[chess.pgn.GameNode, chess.Board]] = deque([(game, game.board())])
    while waiting:
        node, board = waiting.popleft()
        yield node, board
        for child in node.variations:
            after = board.copy(stack=False)
            after.push(child.move)
            waiting.append((child, after))
