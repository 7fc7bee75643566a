from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import pytest
from chessbooks import books, lines_book, make
from commandline import preplay
from hypothesis import given, settings
from hypothesis import strategies as st
from pgntext import written

from preplay.book import Book, Entry, save
from preplay.chess.books.lines import start_board
from preplay.chess.books.pgn import pgn_tree
from preplay.chess.check import OUTCOMES, Report, check_file
from preplay.errors import InputError


def check_text(
    book: Book, text: str, *, name: str = "PGN", player: str = "", by_position: bool = True
) -> Report:
    """Where the games of a text left the preparation."""
    with written(text, name) as path:
        return check_file(book, path, player=player, by_position=by_position)


BOOK = lines_book("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 c7c5 g1f3")


def pgn(moves: str, white: str = "Me", black: str = "Joe", result: str = "1-0", tags: str = "") -> str:
    names = f'[White "{white}"]\n[Black "{black}"]\n'
    return f'{names}[Date "2025.01.02"]\n[Result "{result}"]\n{tags}\n{moves} {result}\n\n'


@pytest.mark.parametrize(
    ("moves", "outcome", "line", "played", "expected", "own"),
    [
        ("1. d4 d5", "deviation", "", "d4", ("e4",), 0),
        ("1. e4 e5 2. Bc4 Nc6", "deviation", "1. e4 e5", "Bc4", ("Nf3",), 1),
        ("1. e4 e6 2. d4", "gap", "1. e4", "e6", ("c5", "e5"), 1),
        ("1. e4 e5 2. Nf3 d6 3. d4", "gap", "1. e4 e5 2. Nf3", "d6", ("Nc6",), 2),
        ("1. e4 e5 2. Nf3 d6", "gap", "1. e4 e5 2. Nf3", "d6", ("Nc6",), 2),
        ("1. e4 c5 2. Nf3 d6 3. d4", "ended", "1. e4 c5 2. Nf3", "d6", (), 2),
        ("1. e4 c5 2. Nf3", "completed", "1. e4 c5 2. Nf3", "", (), 2),
        ("1. e4 e5", "completed", "1. e4 e5", "", (), 1),
        ("", "completed", "", "", (), 0),
    ],
)
def test_where_a_game_leaves(
    moves: str, outcome: str, line: str, played: str, expected: tuple[str, ...], own: int
) -> None:
    report = check_text(BOOK, pgn(moves))
    (row,) = report.rows
    assert (row.outcome, row.line, row.played, row.moves) == (outcome, line, played, own)
    assert sorted(row.expected) == sorted(expected)
    assert (row.number, row.white, row.black, row.date, row.result) == (
        1,
        "Me",
        "Joe",
        "2025.01.02",
        "1-0",
    )
    assert row.ply == len(line.replace(".", ". ").split()) - line.count(".")


@pytest.mark.parametrize(
    ("moves", "outcome", "own"),
    [
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4", "ended", 1),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4", "deviation", 0),
        ("1. e4 e5", "completed", 0),
        ("1. e4 c5 2. Nf3", "ended", 0),
        ("1. d4 d5", "ended", 0),
    ],
)
def test_what_was_known_before_leads_to_what_was_added(moves: str, outcome: str, own: int) -> None:
    """A book that extends a repertoire begins behind moves that it does not hold."""
    whole = lines_book("e2e4 e7e5 g1f3 b8c6 f1b5")
    added = replace(whole, entries=tuple(e for e in whole.entries if len(e.history) == 4))
    (row,) = check_text(added, pgn(moves)).rows
    assert (row.outcome, row.moves) == (outcome, own)


ITALIAN = {
    (): ("e4",),
    ("e4", "e5"): ("Nf3", "Nc3"),
    ("e4", "e5", "Nf3", "Nc6"): ("Bc4",),
}


def extension() -> Book:
    """What is added to the Italian game: an answer to 1... c5, and one behind 3. Bc4."""
    lines = {"e2e4 c7c5": "g1f3", "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5": "c2c3"}
    entries = [Entry(tuple(line.split()), {move: 1.0}, 0.4, 0.01, 0.5) for line, move in lines.items()]
    known = {}
    for sans, own in ITALIAN.items():
        board = chess.Board(after(*sans))
        known[board.epd()] = tuple(board.parse_san(san).uci() for san in own)
    return replace(make(entries), known=known)


@pytest.mark.parametrize("by_position", [True, False])
@pytest.mark.parametrize(
    ("moves", "outcome", "played", "expected", "known", "own"),
    [
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3", "ended", "Nf6", (), 3, 1),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. d3", "gap", "Nf6", ("Bc5",), 3, 0),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6", "deviation", "Bb5", ("Bc4",), 2, 0),
        ("1. e4 e5 2. Nf3 d6 3. d4", "gap", "d6", ("Nc6",), 2, 0),
        ("1. e4 e5 2. Nc3 Nf6 3. f4", "ended", "Nf6", (), 2, 0),
        ("1. e4 e5 2. d4", "deviation", "d4", ("Nf3", "Nc3"), 1, 0),
        ("1. e4 e6 2. d4", "gap", "e6", ("c5", "e5"), 1, 0),
        ("1. e4 c5 2. Nf3", "completed", "", (), 1, 1),
        ("1. d4 d5", "deviation", "d4", ("e4",), 0, 0),
        ("1. e4 e5", "completed", "", (), 1, 0),
    ],
)
def test_what_is_known_is_followed(
    moves: str, outcome: str, played: str, expected: tuple[str, ...], known: int, own: int,
    by_position: bool,
) -> None:  # fmt: skip
    report = check_text(extension(), pgn(moves), by_position=by_position)
    (row,) = report.rows
    assert (row.outcome, row.played, row.expected) == (outcome, played, expected)
    assert (row.known, row.moves) == (known, own)
    assert (report.summary.known, report.summary.moves) == (known, own)


def test_known_positions_are_known_however_reached() -> None:
    (row,) = check_text(extension(), pgn("1. e4 Nc6 2. Nf3 e5 3. Bb5")).rows
    assert (row.outcome, row.played) == ("gap", "Nc6")  # 2. Nf3 is nowhere
    book = extension()
    book = replace(book, known={**book.known, chess.Board(after("e4", "Nc6")).epd(): ("g1f3",)})
    (row,) = check_text(book, pgn("1. e4 Nc6 2. Nf3 e5 3. Bb5")).rows
    assert (row.outcome, row.played, row.expected, row.known) == ("deviation", "Bb5", ("Bc4",), 2)


def test_the_command_tells_of_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(pgn("1. e4 e5 2. Nf3 Nc6 3. Bb5"))
    save(extension(), tmp_path / "book.json")
    (tmp_path / "book.pgn").write_text(pgn_tree(extension()))
    for name in ("book.json", "book.pgn"):
        code, out, err = preplay(capsys, "check", tmp_path / name, games)
        assert (code, err) == (0, "")
        assert "1x deviation after 1. e4 e5 2. Nf3 Nc6: Bb5 instead of Bc4\n" in out


def test_a_game_that_ends_by_mate_completes() -> None:
    book = lines_book("e2e4 e7e5 d1h5 b8c6 f1c4")
    (row,) = check_text(book, pgn("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#")).rows
    assert row.outcome == "ended"
    mated = lines_book("f2f3 e7e5 g2g4")
    (row,) = check_text(mated, pgn("1. f3 e5 2. g4 Qh4#", result="0-1")).rows
    assert row.outcome == "completed"
    assert row.moves == 2


def test_transpositions_count_unless_told_otherwise() -> None:
    book = lines_book("d2d4 g8f6 c2c4 e7e6 b1c3", "d2d4 e7e6 c2c4 d7d5")
    text = pgn("1. d4 e6 2. c4 Nf6 3. Nc3 Bb4")
    (row,) = check_text(book, text).rows
    assert (row.outcome, row.moves) == ("ended", 3)
    (row,) = check_text(book, text, by_position=False).rows
    assert (row.outcome, row.moves, row.played) == ("ended", 2, "Nf6")


def test_blacks_book_and_the_first_move() -> None:
    book = lines_book("e2e4 c7c5 g1f3 d7d6", side=2)
    (row,) = check_text(book, pgn("1. d4 d5")).rows
    assert (row.outcome, row.played, row.expected, row.ply) == ("gap", "d4", ("e4",), 0)
    (row,) = check_text(book, pgn("1. e4 e5")).rows
    assert (row.outcome, row.line, row.played, row.expected) == ("deviation", "1. e4", "e5", ("c5",))
    assert row.points(2) == 0.0
    assert row.points(1) == 1.0


def test_an_empty_book_ends_at_once() -> None:
    (row,) = check_text(make([]), pgn("1. e4 e5")).rows
    assert (row.outcome, row.ply) == ("ended", 0)


def test_summary() -> None:
    text = (
        pgn("1. e4 e6 2. d4", result="1-0")
        + pgn("1. e4 e6 2. d3", result="0-1")
        + pgn("1. d4 d5", result="1/2-1/2")
        + pgn("1. e4 c5 2. Nf3", result="*")
        + pgn("1. e4 e5", white="Joe", black="Me")
    )
    report = check_text(BOOK, text, player="me")
    summary = report.summary
    assert (summary.games, summary.skipped) == (4, 1)
    assert summary.outcomes == {"deviation": 1, "gap": 2, "ended": 0, "completed": 1, "elsewhere": 0}
    assert summary.points == {"deviation": 0.5, "gap": 0.5}
    assert summary.moves == pytest.approx((1 + 1 + 0 + 2) / 4)
    first, second = summary.leavings
    assert (first.outcome, first.line, first.played, first.games) == ("gap", "1. e4", "e6", 2)
    assert (second.outcome, second.played, second.games) == ("deviation", "d4", 1)
    assert [row.number for row in report.rows] == [1, 2, 3, 4]


def after(*sans: str) -> str:
    """The FEN after these moves."""
    board = chess.Board()
    for san in sans:
        board.push_san(san)
    return board.fen()


E4 = make(
    [
        Entry(("e7e5",), {"g1f3": 1.0}, 0.5, 0.01, 0.5),
        Entry(("c7c5",), {"g1f3": 1.0}, 0.4, 0.01, 0.5),
        Entry(("e7e5", "g1f3", "b8c6"), {"f1b5": 1.0}, 0.3, 0.01, 0.5),
    ],
    start=after("e4"),
)
INDIAN = make([Entry((), {"e7e6": 1.0}, 1.0, 0.01, 0.5)], side=2, start=after("d4", "Nf6", "c4"))


@pytest.mark.parametrize("by_position", [True, False])
@pytest.mark.parametrize(
    ("book", "moves", "outcome", "line", "played", "expected", "own", "ply"),
    [
        (E4, "1. e4 e5 2. Nf3 d6 3. d4", "gap", "1. e4 e5 2. Nf3", "d6", ("Nc6",), 1, 3),
        (E4, "1. e4 e5 2. Nf3 Nc6 3. Bc4", "deviation", "1. e4 e5 2. Nf3 Nc6", "Bc4", ("Bb5",), 1, 4),
        (E4, "1. e4 e6 2. d4", "gap", "1. e4", "e6", ("e5", "c5"), 0, 1),
        (E4, "1. e4 c5 2. Nf3 d6 3. d4", "ended", "1. e4 c5 2. Nf3", "d6", (), 1, 3),
        (E4, "1. e4", "completed", "1. e4", "", (), 0, 1),
        (E4, "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 e6 4. d4", "gap", "1. Nf3 Nf6 2. Ng1 Ng8 3. e4", "e6",
         ("e5", "c5"), 0, 5),
        (INDIAN, "1. c4 Nf6 2. d4 g6", "deviation", "1. c4 Nf6 2. d4", "g6", ("e6",), 0, 3),
        (INDIAN, "1. d4 Nf6 2. c4 e6 3. Nc3 d5", "ended", "1. d4 Nf6 2. c4 e6", "Nc3", (), 1, 4),
        (make([], side=2, start=after("e4")), "1. e4 e5", "ended", "1. e4", "", (), 0, 1),
    ],
)  # fmt: skip
def test_a_book_from_a_later_start_is_met_on_the_way(
    book: Book, moves: str, outcome: str, line: str, played: str, expected: tuple[str, ...], own: int,
    ply: int, by_position: bool,
) -> None:  # fmt: skip
    (row,) = check_text(book, pgn(moves), by_position=by_position).rows
    assert (row.outcome, row.line, row.played, row.expected) == (outcome, line, played, expected)
    assert (row.moves, row.ply) == (own, ply)


def test_a_game_told_from_the_books_start() -> None:
    tags = f'[SetUp "1"]\n[FEN "{after("e4")}"]\n'
    (row,) = check_text(E4, pgn("1... e5 2. Nf3 Nc6 3. Bb5 a6", tags=tags)).rows
    assert (row.outcome, row.line, row.moves) == ("ended", "1... e5 2. Nf3 Nc6 3. Bb5", 2)


def test_games_elsewhere() -> None:
    text = (
        pgn("1. d4 d5", result="1/2-1/2")
        + pgn("1. e4 e5 2. Nf3 Nc6 3. Bb5")
        + pgn("1. e4 e5 2. Bc4")
        + pgn("", tags='[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n', result="*")
    )
    report = check_text(E4, text)
    assert [row.outcome for row in report.rows] == ["elsewhere", "completed", "deviation", "elsewhere"]
    row = report.rows[0]
    assert (row.ply, row.moves, row.line, row.played, row.expected) == (0, 0, "", "", ())
    summary = report.summary
    assert (summary.games, summary.moves) == (4, 1.0)  # 2 and 0; elsewhere no book could carry
    assert summary.outcomes["elsewhere"] == 2
    assert summary.points["elsewhere"] == 0.5
    assert [leaving.outcome for leaving in summary.leavings] == ["deviation"]


def test_the_command_explains_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(E4, tmp_path / "book.json")
    save(BOOK, tmp_path / "usual.json")
    games = tmp_path / "games.pgn"
    games.write_text(pgn("1. d4 d5", result="0-1") + pgn("1. e4 e5 2. Nf3 Nc6 3. Bb5"))
    code, out, err = preplay(capsys, "check", tmp_path / "book.json", games)
    assert (code, err) == (0, "")
    assert "2 games, 2.0 book moves on average in the 1 that reached the book's start\n" in out
    assert "  elsewhere: 1, score 0.000 (never reached the book's start)\n" in out
    code, out, err = preplay(capsys, "check", tmp_path / "usual.json", games)
    assert (code, err) == (0, "")
    assert "elsewhere" not in out
    assert "2 games, 1.5 book moves on average\n" in out


def test_a_mixed_book_allows_all_its_moves() -> None:
    book = make([Entry((), {"e2e4": 0.5, "d2d4": 0.5}, 1.0, 0.0, 0.5, 0.3)])
    outcomes = [
        row.outcome for row in check_text(book, pgn("1. e4 e5") + pgn("1. d4") + pgn("1. c4")).rows
    ]
    assert outcomes == ["ended", "completed", "deviation"]


def test_variations_and_comments_are_not_played() -> None:
    (row,) = check_text(
        BOOK, pgn("1. e4 {best} (1. d4 d5 (1... Nf6)) 1... c5 $1 2. Nf3 (2. Nc3 Zz9) d6")
    ).rows
    assert (row.outcome, row.line) == ("ended", "1. e4 c5 2. Nf3")


@settings(max_examples=40, deadline=None)
@given(books(), st.randoms(use_true_random=False))
def test_random_games_against_a_slow_check(book: Book, rng: random.Random) -> None:
    """Play by the book as long as it goes, then leave: the report must say the same."""
    board = start_board(book)
    entries = {entry.history: entry for entry in book.entries}
    history: tuple[str, ...] = ()
    own = 0
    outcome = ""
    while not board.is_game_over() and len(history) < 12:
        mine = board.turn == (book.side == 1)
        name = board.uci(rng.choice(list(board.legal_moves)))
        if mine:
            entry = entries.get(history)
            if entry is None:
                before = history[:-1]
                known = [h for h in entries if h[:-1] == before and len(h) == len(history)]
                outcome = "gap" if known and history else "ended"
                break
            if rng.random() < 0.8:
                name = rng.choice(sorted(entry.moves))
            if name not in entry.moves:
                board.push_uci(name)
                outcome = "deviation"
                break
            own += 1
        elif rng.random() < 0.8:
            name = rng.choice([h[-1] for h in entries if h[:-1] == history] or [name])
        board.push_uci(name)
        history = (*history, name)
    else:
        outcome = "completed"
        if not board.is_game_over() and board.turn == (book.side == 1) and history not in entries:
            known = [h for h in entries if h[:-1] == history[:-1] and len(h) == len(history)]
            outcome = "gap" if known else "ended"
    game = chess.pgn.Game.from_board(board)
    text = str(game) + "\n\n"
    (row,) = check_text(book, text, by_position=False).rows
    assert (row.outcome, row.moves) == (outcome, own)
    assert row.outcome in OUTCOMES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (pgn("1. e4 e5 2. Qxe5"), r"games: game 1: 'Qxe5' in its line 6 is not legal; expected PGN"),
        (
            pgn("1. e4", tags='[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n'),
            "games: game 1 starts from '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1'; the book's start is the usual "
            "one, which no game reaches",
        ),
        (pgn("1. e4", tags='[FEN "nonsense"]\n'), "games: game 1: .*nonsense"),
        ("", "games: no games; expected PGN"),
        ("what is this\n", "games: game 1: 'what' in its line 1 is not legal; expected PGN"),
        ("-- * --\n", "games: game 1 has neither tags nor moves; expected PGN"),
        (
            "\nE\x00v\x00 *",
            r"games: not PGN text \(control character 0x00 in line 2\); expected PGN in UTF-8",
        ),
        (pgn("1. e4 \x1b"), r"games: not PGN text \(control character 0x1b in line 6\)"),
    ],
)
def test_bad_files_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check_text(BOOK, text, name="games")
    assert "\n" not in str(caught.value)


def test_no_game_comes_to_the_books_start() -> None:
    text = pgn("1. e4 e5", white="Joe") + pgn("1. d4") + pgn("1. c4")
    with pytest.raises(InputError) as caught:
        check_text(E4, text, name="games", player="Me")
    assert str(caught.value) == (
        f"games: game 2 starts from '{chess.STARTING_FEN}'; the book's start is {E4.start}, "
        "which no game reaches"
    )
    with pytest.raises(InputError, match=r"in which 'Nobody' has White \(3 without this\)"):
        check_text(E4, text, player="Nobody")


@pytest.mark.parametrize("seed", range(20))
def test_rubbish_is_no_game(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "c.pgn"
    rng = random.Random(seed)
    path.write_bytes(rng.randbytes(3000))
    with pytest.raises(InputError, match=r"c.pgn: not PGN text \(control character 0x.. in line \d+\)"):
        check_file(BOOK, path)


def test_a_broken_game_is_left_out_and_told() -> None:
    text = pgn("1. e4 e5") + pgn("1. e4 e5 2. Qxe5") + pgn("1. e4 c5 2. Nf3") + "1-0\n"
    report = check_text(BOOK, text, name="games")
    assert [row.number for row in report.rows] == [1, 3]
    assert report.summary.broken == (
        "games: game 2: 'Qxe5' in its line 6 is not legal",
        "games: game 4 has neither tags nor moves",
    )


def test_old_files_and_bare_tags_are_games(tmp_path: Path) -> None:
    path = tmp_path / "old.pgn"
    path.write_bytes(
        pgn("1. e4 {\x93best\x94}\tc5\f2. Nf3", white="Müller").encode("latin-1") + b"\r\n\x1a"
    )
    (row,) = check_file(BOOK, path).rows
    assert (row.white, row.outcome, row.moves) == ("Müller", "completed", 2)
    (row,) = check_text(BOOK, '[White "Me"]\n\n').rows
    assert (row.white, row.result, row.outcome) == ("Me", "*", "completed")
    (row,) = check_text(BOOK, "1. e4 c5 1-0\n").rows
    assert (row.result, row.outcome) == ("1-0", "completed")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes("\ufeff".encode() + pgn("1. e4 c5 2. Nf3", white="Müller").encode())
    assert check_file(BOOK, path).rows[0].white == "Müller"
    path.write_bytes(pgn("1. e4 c5 2. Nf3", white="Müller").encode("latin-1"))
    assert check_file(BOOK, path).rows[0].white == "Müller"
    with pytest.raises(InputError, match="cannot read"):
        check_file(BOOK, tmp_path / "nowhere.pgn")


def test_chess960_castling_is_the_same_move_in_any_notation() -> None:
    line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1"
    book = lines_book(line, chess960=True)
    (row,) = check_text(book, pgn("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6")).rows
    assert (row.outcome, row.moves) == ("ended", 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--since", "garbage"), "--since garbage: expected together with --opponent NAME"),
        (("--opponent", "Me", "--since", "2020-13"), "--since 2020-13; expected a date of the calendar"),
        (
            ("--player", "Me", "--opponent", "Joe"),
            "--player Me and --opponent Joe; expected one of the two",
        ),
        (("--player", "Nobody"), "no game of chess in which 'Nobody' has White (1 without this)"),
    ],
)
def test_options_that_say_nothing_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(BOOK, tmp_path / "book.json")
    (tmp_path / "games.pgn").write_text(pgn("1. e4 c5 2. Nf3"))
    code, out, err = preplay(capsys, "check", tmp_path / "book.json", tmp_path / "games.pgn", *words)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert message in err
