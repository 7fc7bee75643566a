"""What the UCI engine says at the end of a search: the book's move, or a roll of the dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import chess

from preplay.chess.books.lines import reach_words
from preplay.chess.books.lookup import Lookup
from preplay.chess.engines.analysis import mate_in
from preplay.chess.engines.infolines import MOST_NODES, read_analysis, whole_number
from preplay.chess.uci.game import Tracker
from preplay.errors import EngineError
from preplay.policy import softmax
from preplay.randomness import BASE_MOVE, BOOK_MOVE, DRAW, dice_stream, generator

T = TypeVar("T")


@dataclass(frozen=True)
class Dice:
    """The randomness of one game: the same for the same seed, game and moves."""

    seed: int
    game: int
    """How many `ucinewgame` came before."""

    @property
    def draw(self) -> float:
        """In [0, 1): which pure book of a mixed one this game has."""
        return float(generator(self.seed, (), stream=dice_stream(DRAW, self.game)).random())

    def book_move(self, items: Sequence[T], weights: Sequence[float], history: Sequence[str]) -> T:
        """One of the book's moves."""
        return self._one_of(items, weights, history, BOOK_MOVE)

    def base_move(self, items: Sequence[T], weights: Sequence[float], history: Sequence[str]) -> T:
        """One of the base engine's moves."""
        return self._one_of(items, weights, history, BASE_MOVE)

    def _one_of(
        self, items: Sequence[T], weights: Sequence[float], history: Sequence[str], what: int
    ) -> T:
        if len(items) == 1:
            return items[0]
        rng = generator(self.seed, history, stream=dice_stream(what, self.game))
        mark = float(rng.random()) * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            mark -= weight
            if mark < 0:
                return item
        return items[-1]


def book_answer(
    book: Lookup, tracker: Tracker, dice: Dice, searchmoves: Sequence[str], by_position: bool
) -> tuple[str, ...] | None:
    """The lines about a book move, bestmove last, with `{time}` to fill in; None outside the book."""
    game = tracker.since(book.start)
    hit = book.find(game, draw=dice.draw if book.mixed else 0.0, by_position=by_position)
    if hit is None:
        return None
    moves = dict(hit.moves)
    if searchmoves:
        allowed = legal_among(game.board, searchmoves)
        moves = {move: p for move, p in moves.items() if move in allowed}
        if not moves:
            return None
    move = dice.book_move(list(moves), list(moves.values()), tracker.history)
    pv = [game.board.uci(move, chess960=tracker.chess960)]
    reply = book.reply(game, move)
    if reply is not None:
        board = game.board.copy(stack=False)
        board.push(move)
        pv.append(board.uci(reply, chess960=tracker.chess960))
    score = score_words(hit.score or 0)
    often = "" if hit.reach is None else f", {reach_words(min(1.0, hit.reach))}"
    return (
        f"info string {'known' if hit.known else 'book'} move {pv[0]}{often}",
        f"info depth 1 seldepth 1 score {score} time {{time}} nodes 0 nps 0 pv {' '.join(pv)}",
        "bestmove " + " ponder ".join(pv),
    )


def roll(
    output: Sequence[str],
    tracker: Tracker,
    dice: Dice,
    searchmoves: Sequence[str],
    k: int,
    randomness: float,
) -> tuple[str, ...] | None:
    """The base engine's last lines when its move is drawn: the paper's randomizing opponent.

    Softmax over the last complete iteration of its K best moves in `output`, which ends with bestmove;
    None when there is nothing to draw from.
    """
    board = tracker.board
    candidates = legal_among(board, searchmoves) if searchmoves else set(board.legal_moves)
    try:
        found = read_analysis("\n".join(output), min(k, len(candidates)), 0.0)
    except EngineError:
        return None
    chances = softmax([line.score for line in found.lines], randomness)
    line = dice.base_move(found.lines, chances, tracker.history)
    score = score_words(line.score)
    effort = f"time {{time}} nodes {found.nodes} nps {{nps}}"
    info = f"info depth {line.depth} multipv 1 score {score} {effort} pv {line.pv}"
    return info.replace("{nps}", _last(output, "nps")), "bestmove " + " ponder ".join(line.pv.split()[:2])


def score_words(score: int) -> str:
    """A score as UCI has it: centipawns, or moves to mate."""
    mate = mate_in(score)
    return f"cp {score}" if mate is None else f"mate {mate}"


def rank(line: str) -> int:
    """Which of the best moves an info line is about, from 1."""
    words = line.split(" pv ", maxsplit=1)[0].split()
    at = words.index("multipv") + 1 if "multipv" in words else 0
    number = whole_number(words[at], MOST_NODES) if at and at < len(words) else None
    return 1 if number is None else number


def legal_among(board: chess.Board, names: Sequence[str]) -> set[chess.Move]:
    """The legal moves among `names`."""
    moves: set[chess.Move] = set()
    for name in names:
        try:
            move = board.parse_uci(name)
        except ValueError:
            continue
        if move:
            moves.add(move)
    return moves


def _last(output: Sequence[str], word: str) -> str:
    """The last number that was printed after `word`; 0 if none was."""
    for line in reversed(output):
        words = line.split(" pv ")[0].split()
        if line.startswith("info") and word in words[:-1]:
            return words[words.index(word) + 1]
    return "0"
