"""Books read back from what `export` writes: PGN with comments, EPD with best moves."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

import chess
import chess.pgn

from preplay.book import Book, Entry
from preplay.chess.books.known import gather_known, is_known
from preplay.chess.books.lines import position_key
from preplay.chess.engines.analysis import CEILING, mate_score
from preplay.errors import InputError
from preplay.files import read_text
from preplay.game import Side

_SHARE = re.compile(r"played (\d{1,3}(?:\.\d)?)%")
_HELD = re.compile(r"in (\d{1,3}(?:\.\d)?)% of the books")
_VALUE = re.compile(r"value (\d(?:\.\d{1,9})?)\b")
_GAIN = re.compile(r"gain ([+-]\d{1,3}(?:\.\d{1,9})?(?:e-?\d{1,3})?)")
_REACH = re.compile(r"(\d{1,2}) in (\d[\d,]{0,14}) games")


_BRACKETS = re.compile(r"^\[[^\n]*\]\s*$|\{[^}]*\}|;[^\n]*|[()]", re.MULTILINE)
DEEPEST = 400
"""Variations within variations: more than any book has, few enough to be read in no time."""


_TOKENS = re.compile(
    r"""
    ^\[[^\n]* | ^%[^\n]* | ;[^\n]* | \{[^}]*\}?    # tags, escaped lines and comments
    | \$\d+ | 1-0 | 0-1 | 1/2-1/2
    | (?: [NBKRQP]?[a-h]?[1-8]?[-x]?[a-h][1-8](?:=?[nbrqkNBRQK])?
        | [PNBRQK]?@[a-h][1-8] | Z0 | 0000 | [O0]-[O0](?:-[O0])? )(?!(?!e\.p)[A-Za-z0-9])
    | \d+\.* | e\.p\.?
    | (?P<junk>[A-Za-z0-9][^\s(){};$]*)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What movetext is made of; `junk` is what readers of PGN pass over, and with it the move that it was."""


class GameOfLines(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Gathers a game; mistakes are remembered in it, and not told on the terminal as well."""

    def handle_error(self, error: Exception) -> None:
        """Remember it."""
        self.game.errors.append(error)

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        """Take a move in; that nobody moves is a mistake."""
        if not move:
            self.handle_error(ValueError(f"a null move in {board.fen()}"))
        super().visit_move(board, move)


def games_of_lines(text: str, path: str | Path) -> Iterator[chess.pgn.Game]:
    """The games of a PGN text with their variations; a mistake is an InputError that names its game."""
    _check_nesting(text, path)
    handle, number = io.StringIO(text), 0
    while True:
        number += 1
        begin = handle.tell()
        try:
            game = chess.pgn.read_game(handle, Visitor=GameOfLines)
        except (IndexError, ValueError, RecursionError) as error:  # brackets that do not match
            said = error if isinstance(error, ValueError) else "brackets that do not match"
            raise InputError(f"{path}: game {number}: {said}; expected lines of legal moves") from None
        if game is None:
            return
        for found in _TOKENS.finditer(text, begin, handle.tell()):
            if junk := found["junk"]:
                raise InputError(
                    f"{path}: game {number}: '{junk[:40]}' is no move; expected moves, words in braces"
                )
        if game.errors:
            said = " ".join(str(game.errors[0]).split())[:300]
            raise InputError(f"{path}: game {number}: {said}; expected lines of legal moves")
        yield game


def _check_nesting(text: str, path: str | Path) -> None:
    depth = 0
    for found in _BRACKETS.finditer(text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth > DEEPEST:
            raise InputError(f"{path}: variations nested more than {DEEPEST:,} deep; expected fewer")
        if depth < 0 or found[0].startswith("["):  # a new game
            depth = 0


def read_pgn_book(path: Path) -> Book:
    """The book in a PGN file that `export` wrote, perhaps with lines added or removed since.

    Shares, reaches, values and gains are those of the comments, as exactly as these say them; a move
    without a comment is played as often as the others of its position. Moves that are marked as known
    are no entries, but what the book extends; games of nothing else may start anywhere.
    """
    found: dict[tuple[str, ...], dict[str, chess.pgn.ChildNode]] = {}
    known: dict[str, tuple[str, ...]] = {}
    first: chess.pgn.Game | None = None
    for number, game in enumerate(games_of_lines(read_text(path, "an exported PGN book"), path), 1):
        first = first or game
        same = _start(first, path) == _start(game, path)
        own: dict[tuple[str, ...], dict[str, chess.pgn.ChildNode]] = found if same else {}
        _gather(game, _side(game, path), own, known)
        if _side(first, path) != _side(game, path) or not (same or (game.variations and not own)):
            raise InputError(f"{path}: game {number} has another side or start than the first one")
    if first is None:
        raise InputError(f"{path}: no game in it; expected a book that `preplay export --pgn` wrote")
    entries = tuple(_entry(found[history], history) for history in sorted(found, key=_shortest))
    baseline, value, cost = (_tag(first, tag) for tag in ("Baseline", "Value", "Cost"))
    board = _start(first, path)
    start = "" if board == chess.Board() and not board.chess960 else board.fen()
    return Book(
        _side(first, path),
        entries,
        baseline,
        value,
        cost,
        value,
        unprepared=baseline,
        start=start,
        chess960=board.chess960,
        known=known,
    )


def _shortest(history: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return len(history), history


def _side(game: chess.pgn.Game, path: Path) -> Side:
    """Whose book it is, by its event or by the player who is a preparation."""
    told = game.headers
    for side, colour in ((1, "White"), (2, "Black")):
        if told.get("Event") == f"Preparation for {colour}":
            return 1 if side == 1 else 2
    for side, colour in ((1, "White"), (2, "Black")):
        if told.get(colour, "").startswith("Preparation"):
            return 1 if side == 1 else 2
    expected = "the tag Event 'Preparation for White' or 'Preparation for Black'"
    raise InputError(f"{path}: no book of `preplay export --pgn`; expected {expected}")


def _start(game: chess.pgn.Game, path: Path) -> chess.Board:
    try:
        board = game.board()
    except ValueError as error:
        raise InputError(f"{path}: {error}; expected a chess position") from None
    if type(board) is not chess.Board or not board.is_valid():
        raise InputError(f"{path}: starts from '{board.fen()}'; expected a legal position of chess")
    return board


def _gather(
    game: chess.pgn.Game,
    side: Side,
    found: dict[tuple[str, ...], dict[str, chess.pgn.ChildNode]],
    known: dict[str, tuple[str, ...]],
) -> None:
    """Each own history with the moves that the game has there; what is marked as known by position."""
    stack: list[tuple[chess.pgn.GameNode, chess.Board, tuple[str, ...]]] = [(game, game.board(), ())]
    while stack:
        node, board, history = stack.pop()
        own = board.turn == (side == 1)
        marked = [board.uci(child.move) for child in node.variations if own and is_known(child)]
        if marked:
            gather_known(board, marked, known)
        below = []
        for child in node.variations:
            name = board.uci(child.move)
            if own and name not in marked:
                found.setdefault(history, {}).setdefault(name, child)
            after = board.copy(stack=False)
            after.push(child.move)
            below.append((child, after, (*history, name)))
        stack += reversed(below)


def _entry(moves: Mapping[str, chess.pgn.ChildNode], history: tuple[str, ...]) -> Entry:
    comments = {name: node.comment for name, node in moves.items()}
    told = next(iter(comments.values()))
    even = 1.0 / len(moves)
    shares = {name: _percent(_SHARE, comment, even) for name, comment in comments.items()}
    total = sum(shares.values())
    gain = _GAIN.search(told)
    value = _VALUE.search(told)
    return Entry(
        history,
        {name: share / total if total > 0.0 else even for name, share in shares.items()},
        reach=_reach(told),
        gain=float(gain[1]) if gain else 0.0,
        value=min(1.0, float(value[1])) if value else 0.5,
        probability=_percent(_HELD, told, 1.0),
        score=_score(next(iter(moves.values())).parent),
    )


def _percent(pattern: re.Pattern[str], comment: str, otherwise: float) -> float:
    said = pattern.search(comment)
    return min(1.0, float(said[1]) / 100.0) if said else otherwise


def _reach(comment: str) -> float:
    """How often, from what `reach_words` says; 0 where the comment says nothing."""
    said = _REACH.search(comment)
    if said:
        return min(1.0, int(said[1]) / max(1, int(said[2].replace(",", ""))))
    return 1.0 if "every game" in comment else 0.0


def _score(node: chess.pgn.GameNode) -> int | None:
    """The engine's score before the move, if the file has it."""
    if not isinstance(node, chess.pgn.ChildNode) or (said := node.eval()) is None:
        return None
    score = said.pov(node.turn())
    if (mate := score.mate()) is not None:
        return mate_score(mate)
    return max(-CEILING, min(CEILING, score.score() or 0))


def _tag(game: chess.pgn.Game, name: str) -> float:
    try:
        number = float(game.headers.get(name, "0")[:40])
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


Answers = Mapping[Hashable, Sequence[chess.Move]]
"""The moves of a position, by `position_key`."""


def read_epd_book(path: Path) -> Answers:
    """The best moves (`bm`) of each position in an EPD file, all alike."""
    found: dict[Hashable, list[chess.Move]] = {}
    for number, row in enumerate(read_text(path, "EPD with best moves").splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        try:
            board, told = chess.Board.from_epd(row)
            moves = told.get("bm")
            if not board.is_valid() or not isinstance(moves, list) or not moves:
                raise ValueError("no legal position with a best move")
            if not all(board.is_legal(move) for move in moves):
                raise ValueError("a best move is not legal")
        except (ValueError, IndexError) as error:
            said = " ".join(str(error).split())[:200]
            raise InputError(f"{path}: line {number}: {said}; expected a position and bm") from None
        known = found.setdefault(position_key(board), [])
        known += [move for move in moves if move not in known]
    return found
