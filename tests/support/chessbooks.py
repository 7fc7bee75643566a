"""Books for the tests of what happens at the board."""

from __future__ import annotations

import random

import chess
from hypothesis import strategies as st

from preplay.book import Book, Entry

CASTLING = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1"
LONG_CASTLING = "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1"
EN_PASSANT = "e2e4 a7a6 e4e5 d7d5 e5d6"
PROMOTION = "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8q"
UNDERPROMOTION = "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8a6 b7a8n"
BLACK_CASTLING = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 d2d3 e8g8"
BLACK_EN_PASSANT = "a2a3 d7d5 a3a4 d5d4 e2e4 d4e3"


def make(
    entries: list[Entry], *, side: int = 1, start: str = "", chess960: bool = False, **more: object
) -> Book:
    """A book of these entries, shortest first, with a value that fits them."""
    ordered = tuple(sorted(entries, key=lambda entry: (len(entry.history), entry.history)))
    value = 0.5 + sum(entry.gain * entry.probability for entry in ordered)
    return Book(
        side=1 if side == 1 else 2,
        entries=ordered,
        baseline=0.5,
        value=value,
        cost=0.001,
        upper=1.0,
        start=start,
        chess960=chess960,
        provenance={str(key): more[key] for key in more},
    )


def lines_book(*lines: str, side: int = 1, **more: object) -> Book:
    """A pure book whose own moves are those of the lines, each line as likely as the others."""
    moves: dict[tuple[str, ...], set[str]] = {}
    count: dict[tuple[str, ...], int] = {}
    for line in lines:
        names = tuple(line.split())
        for k in range(side - 1, len(names), 2):
            moves.setdefault(names[:k], set()).add(names[k])
            count[names[:k]] = count.get(names[:k], 0) + 1
    entries = [
        Entry(h, dict.fromkeys(sorted(own), 1 / len(own)), count[h] / len(lines), 0.001 * len(h), 0.5)
        for h, own in moves.items()
    ]
    return make(entries, side=side, **more)  # type: ignore[arg-type]


def interesting(board: chess.Board, rng: random.Random) -> chess.Move:
    """A random legal move; castling, en passant and promotions come often, and pawns run to make them."""
    legal = list(board.legal_moves)
    rare = [m for m in legal if m.promotion or board.is_castling(m) or board.is_en_passant(m)]
    pawns = [m for m in legal if board.piece_type_at(m.from_square) == chess.PAWN]
    if rare and rng.random() < 0.6:
        return rng.choice(rare)
    return rng.choice(pawns if pawns and rng.random() < 0.5 else legal)


def random_board(rng: random.Random, plies: int, *, chess960: bool = False) -> chess.Board:
    """A position that random play reaches, not over yet."""
    board = chess.Board.from_chess960_pos(rng.randrange(960)) if chess960 else chess.Board()
    for _ in range(plies):
        move = interesting(board, rng)
        board.push(move)
        if board.is_game_over():
            board.pop()
            break
    return board.root() if not board.move_stack else chess.Board(board.fen(), chess960=chess960)


def random_book(
    seed: int,
    *,
    plies: int = 0,
    depth: int = 3,
    mixed: bool = False,
    single: bool = False,
    chess960: bool = False,
) -> Book:
    """A prefix-closed book `depth` own moves deep from a position `plies` random moves into a game."""
    rng = random.Random(seed)
    board = random_board(rng, plies, chess960=chess960)
    start = "" if board.fen() == chess.STARTING_FEN and not chess960 else board.fen()
    side = rng.choice((1, 2))
    entries: list[Entry] = []

    def grow(reach: float, held: float, left: int) -> None:
        if board.is_game_over() or not left:
            return
        if board.turn != (side == 1):
            replies = sorted({interesting(board, rng).uci() for _ in range(rng.choice((1, 2, 2)))})
            for name in replies:
                board.push_uci(name)
                grow(reach * rng.random(), held, left)
                board.pop()
            return
        held *= rng.choice((1.0, rng.random())) if mixed else 1.0
        names = sorted(
            {board.uci(interesting(board, rng)) for _ in range(1 if single else rng.choice((1, 1, 2, 3)))}
        )
        weights = [rng.random() + 0.01 for _ in names]
        moves = {name: w / sum(weights) for name, w in zip(names, weights, strict=True)}
        history = tuple(move.uci() for move in board.move_stack)
        entries.append(Entry(history, moves, reach, rng.uniform(-0.01, 0.05), rng.random(), held))
        for name in names:
            board.push_uci(name)
            grow(reach * moves[name], held, left - 1)
            board.pop()

    grow(1.0, 1.0, depth)
    return make(entries, side=side, start=start, chess960=chess960)


def books(**fixed: bool | int) -> st.SearchStrategy[Book]:
    """Random books from random positions; `fixed` are arguments of `random_book`."""
    free: dict[str, st.SearchStrategy[object]] = {
        "plies": st.integers(0, 80),
        "depth": st.integers(1, 4),
        "mixed": st.booleans(),
        "chess960": st.booleans(),
    }
    chosen = {name: strategy for name, strategy in free.items() if name not in fixed}
    seeds = st.integers(0, 2**32)
    return st.builds(
        lambda seed, more: random_book(seed, **{**fixed, **more}), seeds, st.fixed_dictionaries(chosen)
    )
