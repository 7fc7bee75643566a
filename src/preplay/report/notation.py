"""Chess moves of a tree as people write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess

from preplay.chess.books.lines import numbered
from preplay.chess.rules import UNPLAYED
from preplay.games.clocked import untimed
from preplay.report import words
from preplay.report.cut import Continuation
from preplay.tree import Tree


@dataclass(frozen=True)
class Written:
    """The moves of a chess tree for a board and for people."""

    moves: list[str]
    """[n] UCI without times; one of `UNPLAYED` where no piece moves; empty at the root."""
    labels: list[str]
    """[n] SAN, with the time where only that tells two moves apart."""
    beyond: dict[int, Continuation]
    """What lies beyond leaves, in SAN."""


def standard(
    tree: Tree, start: str, chess960: bool, beyond: Mapping[int, Continuation]
) -> Written | None:
    """The moves into all histories and `beyond` leaves; None if it is not chess.

    One board walks the tree depth first, so every move is played once.
    """
    moves, labels = [""] * tree.size, [""] * tree.size
    written: dict[int, Continuation] = {}
    stack = [(0, False)]
    try:
        board = chess.Board(start or chess.STARTING_FEN, chess960=chess960)
        while stack:
            k, leaving = stack.pop()
            if leaving:
                board.pop()
                continue
            if moves[k] in UNPLAYED:
                labels[k] = UNPLAYED[moves[k]]
            elif k:
                labels[k] = board.san_and_push(board.parse_uci(moves[k])) + labels[k]
                stack.append((k, True))
            if k in beyond:
                written[k] = _written(board, beyond[k])
            children = {c: untimed(tree.names[tree.action[c]]) for c in tree.children(k)}
            alike = Counter(move for move, _ in children.values())
            for c, (move, time) in children.items():
                moves[c] = move
                labels[c] = f" ({time:,})" if alike[move] > 1 and time else ""
                stack.append((c, False))
    except ValueError:
        return None
    return Written(moves, labels, written)


def continued(history: Sequence[str], moves: Sequence[str], start: str, chess960: bool) -> list[str]:
    """Moves after a history in SAN."""
    board = chess.Board(start or chess.STARTING_FEN, chess960=chess960)
    for move in history:
        board.push_uci(untimed(move)[0])
    return [board.san_and_push(board.parse_uci(move)) for move in moves]


def before(matchup: Mapping[str, Any]) -> dict[str, Any]:
    """The moves played before the start, `before` in SAN, `played` in UCI, `beforeLine` with numbers.

    All are empty where there are none, or where they cannot be read.
    """
    start = words.table(matchup, "start")
    moves, san, uci, line = start.get("moves"), [], [], ""
    if words.is_chess(matchup) and isinstance(moves, list):
        try:
            fen = str(start.get("fen") or chess.STARTING_FEN)
            board = chess.Board(fen, chess960=bool(matchup.get("chess960")))
            for text in moves:
                move = _read(board, str(text))
                uci.append(board.uci(move))
                san.append(board.san_and_push(move))
            line = numbered(board.root(), san)
        except ValueError:
            san, uci = [], []
    return {"before": san, "played": uci, "beforeLine": line if san else ""}


def _read(board: chess.Board, text: str) -> chess.Move:
    try:
        return board.parse_uci(text)
    except ValueError:
        return board.parse_san(text)


def _written(board: chess.Board, line: Continuation) -> Continuation:
    san = board.san_and_push(board.parse_uci(untimed(line.move)[0]))
    replies = tuple((_reply(board, reply), p) for reply, p in line.replies)
    board.pop()
    return Continuation(san, replies)


def _reply(board: chess.Board, name: str) -> str:
    move = untimed(name)[0]
    return UNPLAYED.get(move) or board.san(board.parse_uci(move))
