from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pytest
from chessbooks import BLACK_CASTLING, CASTLING, EN_PASSANT, PROMOTION, books, lines_book, make
from hypothesis import given, settings

from preplay.book import Alternative, Book, Decision, Entry, Hoped
from preplay.chess.books.lines import learning_order, reach_words, start_board
from preplay.chess.books.pgn import pgn_lines, pgn_tree, tag_text
from preplay.chess.books.reading import read_pgn_book
from preplay.errors import InputError
from preplay.policy import REST

History = tuple[str, ...]


def games(text: str) -> Iterator[chess.pgn.Game]:
    handle = io.StringIO(text)
    while (game := chess.pgn.read_game(handle)) is not None:
        assert game.errors == []
        yield game


def histories(node: chess.pgn.GameNode, board: chess.Board, before: History = ()) -> dict[History, str]:
    """{history: comment} of all nodes below, in UCI with castling as king takes rook."""
    found: dict[History, str] = {}
    for child in node.variations:
        here = (*before, board.uci(child.move, chess960=True))
        found[here] = child.comment
        board.push(child.move)
        found |= histories(child, board, here)
        board.pop()
    return found


def plain(book: Book, history: History) -> History:
    board = start_board(book)
    names = []
    for name in history:
        move = board.parse_uci(name)
        names.append(board.uci(move, chess960=True))
        board.push(move)
    return tuple(names)


def own_moves(book: Book) -> dict[History, tuple[Entry, float]]:
    """The histories after each own move of the book, with the entry and the move's probability."""
    found: dict[History, tuple[Entry, float]] = {}
    for entry in book.entries:
        for name, p in entry.moves.items():
            found[plain(book, (*entry.history, name))] = entry, p
    return found


@settings(max_examples=30, deadline=None)
@given(books())
def test_the_tree_reads_back_as_the_book(book: Book) -> None:
    (game,) = games(pgn_tree(book))
    assert game.board() == start_board(book)
    assert game.board().chess960 == book.chess960
    expected = own_moves(book)
    into = {plain(book, entry.history) for entry in book.entries if entry.history}
    found = histories(game, game.board())
    assert found.keys() == expected.keys() | into
    for history, (entry, p) in expected.items():
        assert reach_words(entry.reach) in found[history]
        assert f"value {entry.value:.3f}" in found[history]
        assert f"gain {entry.gain:+.2g}" in found[history]
        assert ("of the books" in found[history]) == (entry.probability < 1)
        assert ("played" in found[history]) == (p < 1)


@settings(max_examples=30, deadline=None)
@given(books())
def test_variations_come_by_probability(book: Book) -> None:
    (game,) = games(pgn_tree(book))
    moves = own_moves(book)
    reach = {plain(book, entry.history): entry.reach * entry.probability for entry in book.entries}

    def check(node: chess.pgn.GameNode, board: chess.Board, before: History) -> None:
        children = [(*before, board.uci(child.move, chess960=True)) for child in node.variations]
        weights = [moves[child][1] if child in moves else reach[child] for child in children]
        assert weights == sorted(weights, reverse=True)
        for child, history in zip(node.variations, children, strict=True):
            board.push(child.move)
            check(child, board, history)
            board.pop()

    check(game, game.board(), ())


@settings(max_examples=30, deadline=None)
@given(books())
def test_lines_to_learn_show_every_move_and_begin_with_the_next_in_order(book: Book) -> None:
    order = learning_order(book)
    shown: set[History] = set()
    expected = set(own_moves(book))
    entries = {plain(book, entry.history): k for k, entry in enumerate(book.entries)}
    for game in games(pgn_lines(book)):
        board, path, fresh = game.board(), [], []
        for node in game.mainline():
            assert len(node.parent.variations) == 1
            path.append(board.uci(node.move, chess960=True))
            if tuple(path) in expected:
                if node.comment.startswith("New: "):
                    fresh.append(tuple(path))
                shown.add(tuple(path))
            board.push(node.move)
        assert len(fresh) == 1
        before = shown - {tuple(path[:k]) for k in range(len(fresh[0]), len(path) + 1)}
        index = entries[fresh[0][:-1]]
        done = {k for h, k in entries.items() if all(m in before for m in expected if m[:-1] == h)}
        assert index == next(k for k in order if k not in done)
    assert shown == expected


def test_the_order_can_be_given() -> None:
    book = lines_book("e2e4 e7e5 g1f3", "e2e4 c7c5 b1c3")
    lines = [[node.san() for node in game.mainline()] for game in games(pgn_lines(book, [0, 2, 1]))]
    assert lines == [["e4", "e5", "Nf3"], ["e4", "c5", "Nc3"]]
    rounds = [game.headers["Round"] for game in games(pgn_lines(book, [0, 1, 2]))]
    assert rounds == ["1", "2"]


def test_comments_and_evals_of_a_small_book() -> None:
    entries = [
        Entry((), {"e2e4": 1.0}, 1.0, 0.012, 0.5),
        Entry(("e2e4", "e7e5"), {"g1f3": 1.0}, 1 / 12, 0.001, 0.53),
    ]
    cp, mate = chess.engine.Cp, chess.engine.Mate
    evals = {
        ("e2e4",): chess.engine.PovScore(cp(35), chess.WHITE),
        ("e2e4", "e7e5"): chess.engine.PovScore(cp(-20), chess.BLACK),
        ("e2e4", "e7e5", "g1f3"): chess.engine.PovScore(mate(-3), chess.BLACK),
    }
    (game,) = games(pgn_tree(make(entries), evals=evals))
    first, second, third = game.mainline()
    assert first.comment == "every game, value 0.500, gain +0.012 [%eval 0.35]"
    assert second.comment == "[%eval 0.20]"
    assert third.comment == "1 in 12 games, value 0.530, gain +0.001 [%eval #3]"
    (line,) = games(pgn_lines(make(entries), evals=evals))
    assert [node.eval() for node in line.mainline()] == [node.eval() for node in game.mainline()]


def test_deviations_are_told(tmp_path: Path) -> None:
    """The first choice, what it would earn, the reply hoped for; and it reads back as the same book."""
    options = Alternative("g1f3", 0.55, 0.6, 30.0), Alternative("f1c4", 0.61, 0.61, None)
    lines = ("e2e4", "e7e5"), ("e2e4", "c7c5"), ("e2e4", "e7e6")
    hoped = (Hoped("b8c6", 0.98, 0.7), Hoped(REST, 0.5, 0.7), None)
    entries = [Entry((), {"e2e4": 1.0}, 1.0, 0.012, 0.5)]
    for history, hope in zip(lines, hoped, strict=True):
        entries.append(
            Entry(history, {"f1c4": 1.0}, 1 / 3, 0.01, 0.53, decision=Decision(options, 1, hope))
        )
    book = make(entries)
    (game,) = games(pgn_tree(book))
    told = histories(game, start_board(book))
    start = "1 in 3 games, value 0.530, gain +0.01; not the first choice: Nf3 earns at most 0.6000"
    for line, said in zip(lines, ("Nc6 (98%)", "any other move (50%)", ""), strict=True):
        end = f"; it hopes for {said}, then 0.7000" if said else ""
        assert told[(*line, "f1c4")] == f"{start} from here, this 0.6100{end}"
    assert "first choice" not in told[("e2e4",)]
    for number, text in enumerate((pgn_tree(book), pgn_lines(book))):
        assert max(map(len, text.splitlines())) <= 255  # the longest line that PGN allows
        path = tmp_path / f"{number}.pgn"
        path.write_text(text)
        back = {entry.history: entry for entry in read_pgn_book(path).entries}
        for entry in entries:
            again = back[entry.history]
            assert (again.moves, again.value, again.gain) == (entry.moves, entry.value, entry.gain)
            assert again.reach == pytest.approx(entry.reach)


def test_headers() -> None:
    book = lines_book(
        "e2e4", opponent='Joe "Rook" \\ Doe\n]', engine="Stockfish 15.1, 5000 nodes", date="2025.01.02"
    )
    (game,) = games(pgn_tree(book, headers={"Event": "Club", "Prep": "50 ms"}))
    headers = dict(game.headers)
    assert headers["Black"] == headers["Opponent"] == 'Joe \\"Rook\\" \\\\ Doe ]'
    assert headers["White"] == "Preparation"
    assert headers["Event"] == "Club"
    assert headers["Prep"] == "50 ms"
    assert headers["Engine"] == "Stockfish 15.1, 5000 nodes"
    assert headers["Date"] == "2025.01.02"
    assert headers["Cost"] == "0.001"
    assert headers["Result"] == "*"
    assert "FEN" not in headers
    assert "Variant" not in headers
    with pytest.raises(InputError, match="PGN tag 'no good'"):
        pgn_tree(book, headers={"no good": 1})


def test_other_starts_have_a_fen_and_chess960_its_name() -> None:
    fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"
    (game,) = games(pgn_tree(make([Entry((), {"a7a8q": 1.0}, 1.0, 0.1, 0.9)], start=fen)))
    assert (game.headers["FEN"], game.headers["SetUp"]) == (fen, "1")
    assert game.next() is not None
    assert "Variant" not in game.headers
    book = make([Entry((), {"e2e4": 1.0}, 1.0, 0.1, 0.9)], chess960=True)
    (game,) = games(pgn_tree(book))
    assert game.headers["Variant"] == "Chess960"
    assert game.headers["FEN"] == chess.STARTING_FEN


@pytest.mark.parametrize(
    ("line", "side", "last"),
    [(CASTLING, 1, "O-O"), (EN_PASSANT, 1, "exd6"), (PROMOTION, 1, "bxa8=Q"), (BLACK_CASTLING, 2, "O-O")],
)
def test_special_moves_in_san(line: str, side: int, last: str) -> None:
    (game,) = games(pgn_tree(lines_book(line, side=side)))
    end = game.end()
    assert isinstance(end, chess.pgn.ChildNode)
    assert end.san() == last
    assert f" {last} " in pgn_tree(lines_book(line, side=side)).replace("\n", " ")


def test_entries_behind_moves_the_book_never_plays_are_left_out() -> None:
    entries = [
        Entry((), {"e2e4": 1.0}, 1.0, 0.0, 0.5),
        Entry(("d2d4", "d7d5"), {"c2c4": 1.0}, 0.0, 0.0, 0.5),
    ]
    (tree,) = games(pgn_tree(make(entries)))
    (line,) = games(pgn_lines(make(entries)))
    assert [node.san() for node in tree.mainline()] == [node.san() for node in line.mainline()] == ["e4"]


def test_lines_are_short_enough_for_any_reader() -> None:
    text = pgn_tree(lines_book(CASTLING, EN_PASSANT, PROMOTION, opponent="x" * 1000))
    assert max(len(line) for line in text.splitlines() if not line.startswith("[")) <= 120
    assert all(len(line) <= 280 for line in text.splitlines())


def test_an_empty_book_is_an_empty_game() -> None:
    for text in (pgn_tree(make([])), pgn_lines(make([]))):
        (game,) = games(text)
        assert game.next() is None


def test_tag_text() -> None:
    assert tag_text('a"b\\c\td\u0000e') == 'a\\"b\\\\c d e'


def test_a_book_behind_moves_that_were_known_before() -> None:
    """Additions to a repertoire: the known moves lead to them, and what comes first is learned first."""
    whole = lines_book("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4", "e2e4 c7c5 g1f3 d7d6 d2d4")
    added = replace(whole, entries=tuple(e for e in whole.entries if len(e.history) in (2, 6)))
    (game,) = games(pgn_tree(added))
    told = histories(game, start_board(added))
    for entry in added.entries:
        for move in entry.moves:
            assert "value" in told[plain(added, (*entry.history, move))]
    assert told[("e2e4",)] == ""
    place = {added.entries[k].history: n for n, k in enumerate(learning_order(added))}
    assert place[("e2e4", "e7e5")] < place[("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6")]
