"""A book as PGN: one tree of variations to look through, or its lines in the order worth learning."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

import chess
import chess.engine
import chess.pgn

from preplay.book import Book
from preplay.chess.books.known import MARK, known_of, mark_line, plant
from preplay.chess.books.lines import (
    Place,
    UciPath,
    full_order,
    known_moves,
    legal_move,
    position_key,
    reach_words,
    start_board,
    walk_book,
)
from preplay.chess.rules import UNPLAYED
from preplay.errors import InputError
from preplay.games.clocked import untimed

Evals = Mapping[UciPath, chess.engine.PovScore]
"""Scores of positions by the history that leads to them, as the book writes its moves."""

TAGS = {
    "event": "Event",
    "site": "Site",
    "date": "Date",
    "engine": "Engine",
    "prep": "Prep",
    "base": "Base",
}
"""Which tags tell what of a book's provenance; `player` and `opponent` become White and Black."""


def pgn_tree(
    book: Book, *, evals: Evals | None = None, headers: Mapping[str, object] | None = None
) -> str:
    """The whole book as one game with variations, the most probable ones first.

    Own moves carry how often the position is met, its value and the gain of knowing it; `evals` adds
    `[%eval]` where it has the position after a move. `headers` are further tags, or replace ours. What
    the book extends is in it too, and marked; what of that no game from the book's start comes to is in
    games of its own.
    """
    game = _game(book, headers or {})
    game.comment = _summary(book)
    nodes: dict[UciPath, chess.pgn.GameNode] = {(): game}
    places = list(_by_reach(book))
    own = {place.path for place in places}
    for place in places:
        node = _opponents_node(nodes, own, place, evals)
        if node is None:
            continue  # behind an own move that the book never plays
        for move, p in place.moves:
            child = node.add_variation(move, comment=_comment(place, move, p))
            nodes[_after(place, move)] = child
            _evaluate(child, (*place.entry.history, place.board.uci(move)), evals)
    return _text([game, *_known_games(book, headers or {}, game)])


def pgn_lines(
    book: Book,
    order: Sequence[int] | None = None,
    *,
    evals: Evals | None = None,
    headers: Mapping[str, object] | None = None,
) -> str:
    """The book as separate games, one a line to its end, in `order` (default: the order worth learning).

    Each game begins with the first position in `order` that no game before has shown, and goes on to
    the end of the line; a comment marks where what is new begins. What the book extends comes last.
    """
    places = {place.index: place for place in walk_book(book)}
    lines = list(_learning_lines(book, places, full_order(book, order)))
    if not lines:
        return pgn_tree(book, headers=headers)
    known = known_of(book)
    games: list[chess.pgn.Game] = []
    for number, (new, line) in enumerate(lines, 1):
        game = _game(book, {**(headers or {}), "Round": number})
        game.comment = f"Line {number} of {len(lines)}"
        node: chess.pgn.GameNode = game
        board = start_board(book)
        for place, move in line:
            for name in place.entry.history[len(board.move_stack) :]:
                node = node.add_variation(board.push_uci(name))
                _evaluate(node, place.entry.history[: len(board.move_stack)], evals)
            p = dict(place.moves)[move]
            comment = _comment(place, move, p)
            node = node.add_variation(move, comment=f"New: {comment}" if place.index == new else comment)
            _evaluate(node, (*place.entry.history, board.uci(move)), evals)
            board.push(move)
        if known:
            mark_line(game, known)
        games.append(game)
    return _text([*games, *_known_games(book, headers or {})])


def _known_games(
    book: Book, headers: Mapping[str, object], whole: chess.pgn.Game | None = None
) -> Iterator[chess.pgn.Game]:
    """What the book extends, as games: with what it can be reached from added to `whole`, if that is
    given, and the rest from where it begins."""
    known = known_of(book)
    if not known:
        return
    placed: set[Hashable] = set()
    if whole is not None:
        plant(whole, book.side, known, placed)
    starts = [book.start, *(board.fen() for board, _ in known_moves(book))]
    for start in starts if whole is None else starts[1:]:
        game = _game(replace(book, start=start), headers)
        if position_key(game.board()) in placed:
            continue
        game.comment = f"What was {MARK}"
        plant(game, book.side, known, placed)
        if game.variations:
            yield game


def _learning_lines(
    book: Book, places: Mapping[int, Place], order: Sequence[int]
) -> Iterator[tuple[int, list[tuple[Place, chess.Move]]]]:
    """(first new entry, the line through it to its end) until every own move was shown."""
    rank = {index: k for k, index in enumerate(order)}
    by_path = {place.path: place for place in places.values()}
    replies: dict[UciPath, list[int]] = {}  # entries by the own move before them, in `order`
    for index in order:
        path = places[index].path
        replies.setdefault(path[:-1] if path else path, []).append(index)
    shown: set[UciPath] = set()
    for index in order:
        for first, _ in places[index].moves:
            if _after(places[index], first) in shown:
                continue
            line = _way_to(places[index], by_path)
            if line is None:
                continue
            place, move = places[index], first
            while True:
                line.append((place, move))
                after = _after(place, move)
                shown.add(after)
                below = replies.get(after)
                if not below:
                    break
                place = places[min(below, key=lambda k: (_all_shown(places[k], shown), rank[k]))]
                fresh = [m for m, _ in place.moves if _after(place, m) not in shown]
                move = (fresh or [m for m, _ in place.moves])[0]
            yield index, line


def _way_to(place: Place, by_path: Mapping[UciPath, Place]) -> list[tuple[Place, chess.Move]] | None:
    """The own moves of the book before `place`; None when it never plays one that leads there. Where it
    has no entry on the way, the move was known before."""
    way: list[tuple[Place, chess.Move]] = []
    path = place.path
    while len(path) > 1:
        before = by_path.get(path[:-2])
        if before is not None:
            moves = [m for m, _ in before.moves if _after(before, m) == path[:-1]]
            if not moves:
                return None
            way.append((before, moves[0]))
        path = path[:-2]
    return way[::-1]


def _all_shown(place: Place, shown: set[UciPath]) -> bool:
    return all(_after(place, move) in shown for move, _ in place.moves)


def _by_reach(book: Book) -> list[Place]:
    """The entries with parents before children, and of siblings the most probable first."""
    return sorted(
        walk_book(book), key=lambda place: (len(place.path), -place.entry.reach * place.entry.probability)
    )


def _opponents_node(
    nodes: dict[UciPath, chess.pgn.GameNode], own: Collection[UciPath], place: Place, evals: Evals | None
) -> chess.pgn.GameNode | None:
    """The node of an entry's position, with the moves into it made that are new: the opponent's, and own
    ones that were known before. None behind a move that an entry of `own` does not play."""
    path = place.path
    made = next(n for n in range(len(path), -1, -1) if path[:n] in nodes)
    for n in range(made, len(path)):
        if path[:n] in own:
            return None
        before = nodes[path[:n]]
        last = n == len(path) - 1
        node = before.add_variation(place.board.peek() if last else before.board().parse_uci(path[n]))
        _evaluate(node, place.entry.history[: n + 1], evals)
        nodes[path[: n + 1]] = node
    return nodes[path]


def _after(place: Place, move: chess.Move) -> UciPath:
    return (*place.path, place.board.uci(move, chess960=True))


def _comment(place: Place, move: chess.Move, p: float) -> str:
    entry = place.entry
    parts = [reach_words(entry.reach), f"value {entry.value:.3f}", f"gain {entry.gain:+.2g}"]
    if entry.probability < 1.0:
        parts.append(f"in {entry.probability:.1%} of the books")
    if p < 1.0:
        parts.append(f"played {p:.1%}")
    return ", ".join(parts) + _instead(place, move)


def _instead(place: Place, move: chess.Move) -> str:
    """Where a move is not the first choice: what that would earn, and which reply the move hopes for."""
    decision, history = place.entry.decision, place.entry.history
    if decision is None or not decision.played:
        return ""
    first, chosen = decision.options[0], decision.options[decision.played]
    instead, played = (legal_move(place.board, untimed(o.move)[0], history) for o in (first, chosen))
    if played != move:
        return ""
    told = f"; not the first choice: {place.board.san(instead)} earns {first.earns} from here, "
    told += f"this {chosen.worth:.4f}"
    hoped = decision.hoped
    if hoped is None:
        return told
    after, reply = place.board.copy(stack=False), untimed(hoped.reply)[0]
    after.push(move)
    name = UNPLAYED.get(reply) or after.san(legal_move(after, reply, (*history, chosen.move)))
    return f"{told}; it hopes for {name} ({hoped.probability:.0%}), then {hoped.worth:.4f}"


def _summary(book: Book) -> str:
    return f"{book.memory}, value {book.value:.3f} with the book, {book.without:.3f} without"


def _evaluate(node: chess.pgn.GameNode, history: UciPath, evals: Evals | None) -> None:
    if evals is not None and history in evals:
        node.set_eval(evals[history])


def _game(book: Book, headers: Mapping[str, object]) -> chess.pgn.Game:
    side, other = ("White", "Black") if book.side == 1 else ("Black", "White")
    told = book.provenance
    tags: dict[str, object] = {"Event": f"Preparation for {side}", "Round": "-"}
    tags |= {side: told.get("player", "Preparation"), other: told.get("opponent", "?")}
    tags |= {"Result": "*", "Annotator": "preplay"}
    tags |= {tag: told[key] for key, tag in TAGS.items() if key in told}
    if "opponent" in told:
        tags["Opponent"] = told["opponent"]
    tags |= {"Cost": f"{book.cost:g}", "Histories" if book.positions is None else "Positions": book.size}
    tags |= {"Value": f"{book.value:.6g}", "Baseline": f"{book.without:.6g}"}
    game = chess.pgn.Game()
    for name, value in {**tags, **headers}.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_]*", name):
            raise InputError(f"PGN tag {name!r}; expected letters, digits and underscores")
        game.headers[name] = tag_text(value)
    board = start_board(book)
    game.setup(board)
    if book.chess960:  # readers of Chess960 expect the position even when it is the usual one
        game.headers["SetUp"], game.headers["FEN"] = "1", board.fen()
    return game


def tag_text(value: object) -> str:
    r"""A tag's value as PGN wants it: one line of at most 255 characters, `\` and `"` escaped."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    return plain[:255].replace("\\", "\\\\").replace('"', '\\"')


def _text(games: Sequence[chess.pgn.Game]) -> str:
    return "".join(game.accept(chess.pgn.StringExporter(columns=80)) + "\n\n" for game in games)
