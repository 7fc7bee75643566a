"""Chess moves of a tree as people write them."""

from __future__ import annotations

from collections.abc import Mapping

import chess

from preplay.report.cut import Continuation
from preplay.tree import Tree


def standard(
    tree: Tree, start: str, chess960: bool, beyond: Mapping[int, Continuation]
) -> tuple[list[str], dict[int, Continuation]] | None:
    """SAN of the move into each history and of what lies `beyond` leaves; None if it is not chess.

    One board walks the tree depth first, so every move is played once.
    """
    try:
        board = chess.Board(start or chess.STARTING_FEN, chess960=chess960)
        labels = [""] * tree.size
        written: dict[int, Continuation] = {}
        stack = [(0, False)]
        while stack:
            k, leaving = stack.pop()
            if leaving:
                board.pop()
                continue
            if k:
                move = board.parse_uci(tree.names[tree.action[k]])
                labels[k] = board.san_and_push(move)
                stack.append((k, True))
            if k in beyond:
                written[k] = _written(board, beyond[k])
            stack.extend((c, False) for c in tree.children(k))
    except ValueError:
        return None
    return labels, written


def _written(board: chess.Board, line: Continuation) -> Continuation:
    move = board.parse_uci(line.move)
    san = board.san_and_push(move)
    replies = tuple((board.san(board.parse_uci(reply)), p) for reply, p in line.replies)
    board.pop()
    return Continuation(san, replies)
