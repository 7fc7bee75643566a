from __future__ import annotations

import logging
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import chess
import chess.engine
import pytest
from chessbooks import CASTLING, lines_book, make
from commandline import preplay
from dialogue import Talk, fake, program, run_program

from preplay.book import Entry, save
from preplay.chess.books.lookup import book_lookup, open_book
from preplay.chess.books.polyglot import polyglot_bytes
from preplay.chess.uci import base as uci_base
from preplay.chess.uci.server import install_hint
from preplay.errors import EngineError, InputError
from preplay.policy import softmax

BOOK = lines_book("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 e7e5 g1f3 g8f6 f3e5", "e2e4 c7c5 g1f3")
LOOKUP = book_lookup(BOOK, "test book")
INFO = re.compile(r"info depth \d+ .*score (cp|mate) -?\d+ .*time \d+ nodes \d+ nps \d+ pv( [a-h]\S+)+")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a fake engine needs its time to write down the last lines."""
    monkeypatch.setattr(uci_base, "FAREWELL", 15.0)


def told(log: Path) -> list[str]:
    return log.read_text().splitlines()


# The book


def test_uci_lists_own_options_and_those_of_the_base(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        talk.send("uci")
        lines = talk.until("uciok")
    assert lines[0] == "id name preplay with Fake 1"
    assert lines[1] == "id author nobody"
    options = [line.split(" type ")[0].removeprefix("option name ") for line in lines[2:-1]]
    assert options == [
        *(
            "OwnBook",
            "Book File",
            "Book By Position",
            "Base Engine",
            "Base Nodes",
            "Base Depth",
            "Base Time",
        ),
        *("Base Fresh Hash", "Randomness", "Random MultiPV", "Seed"),
        *("Hash", "Clear Hash", "UCI_Chess960", "MultiPV", "UCI_AnalyseMode"),
    ]
    assert "setoption name OwnBook value false" in told(log)  # of the base engine
    for line in lines[2:-1]:
        assert re.fullmatch(
            r"option name .+ type (check default (true|false)|button|"
            r"spin default \d+ min \d+ max \d+|string default \S.*)",
            line,
        )


def test_a_book_move_comes_at_once_with_its_info(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        lines = talk.ask("position startpos", "go wtime 1000 btime 1000")
        assert lines[0] == "info string book move e2e4, every game"
        assert INFO.fullmatch(lines[1])
        assert lines[1].endswith("pv e2e4 e7e5")
        assert lines[2:] == ["bestmove e2e4 ponder e7e5"]
        assert talk.best("position startpos moves e2e4 e7e5", "go movetime 50") == "g1f3"
        assert talk.ask("position startpos moves e2e4 e7e5 g1f3 g8f6", "go")[-1] == "bestmove f3e5"
    assert not any(line.startswith(("go", "position")) for line in told(log))


def test_the_score_is_the_engines_own_where_it_is_known(log: Path) -> None:
    entries = [
        Entry((), {"e2e4": 1.0}, 1.0, 0.1, 0.5, score=37),
        Entry(("e2e4", "e7e5"), {"g1f3": 1.0}, 0.5, 0.02, 0.6, score=31_995),
        Entry(("e2e4", "c7c5"), {"g1f3": 1.0}, 0.5, 0.02, 0.6),
    ]
    with Talk(book_lookup(make(entries)), fake(log)) as talk:
        first = talk.ask("position startpos", "go")[1]
        second = talk.ask("position startpos moves e2e4 e7e5", "go")[1]
        third = talk.ask("position startpos moves e2e4 c7c5", "go")[1]
    assert " score cp 37 " in first
    assert " score mate 3 " in second
    assert " score cp 0 " in third


def test_what_was_known_before_the_book_is_played_too(log: Path, tmp_path: Path) -> None:
    """Known moves come first, however their position is reached; then the book's, then the base's."""
    added = Entry(("e2e4", "c7c5"), {"g1f3": 1.0}, 0.5, 0.02, 0.6)
    open_games = chess.Board()
    for move in ("e2e4", "e7e5"):
        open_games.push_uci(move)
    known = {chess.Board().epd(): ("e2e4",), open_games.epd(): ("g1f3", "f1c4")}
    save(replace(make([added]), known=known), tmp_path / "book.json")
    with Talk(open_book(str(tmp_path / "book.json")), fake(log), by_position=False) as talk:
        first = talk.ask("position startpos", "go")
        assert first[0] == "info string known move e2e4"
        assert INFO.fullmatch(first[1])
        assert first[-1] == "bestmove e2e4 ponder c7c5"
        assert talk.best("position startpos moves e2e4 c7c5", "go") == "g1f3"
        games = ("position startpos moves e2e3 e7e6 e3e4 e6e5 g1f3 g8f6 f3g1 f6g8", "go")
        assert talk.best(*games) in {"g1f3", "f1c4"}
        assert not any(line.startswith("go") for line in told(log))
        talk.ask("position startpos moves d2d4 d7d5", "go depth 3")
    assert "go depth 3" in told(log)
    save(replace(make([added]), known={chess.Board().epd(): ("e2e5",)}), tmp_path / "book.json")
    with pytest.raises(InputError, match=r"known moves 'rnbq.* e2e5'; expected a position and"):
        open_book(str(tmp_path / "book.json"))


def test_out_of_book_the_base_plays_with_the_same_clock(log: Path) -> None:
    go = "go wtime 60000 btime 59000 winc 1000 binc 900 movestogo 40"
    with Talk(LOOKUP, fake(log)) as talk:
        lines = talk.ask("position startpos moves d2d4 d7d5", go)
        assert lines[0].startswith("info depth 5 multipv 1 score cp 30")
        assert lines[-1] == "bestmove e2e4 ponder a7a6"
        talk.ask("position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4", "go depth 3")
    assert told(log)[2:4] == ["position startpos moves d2d4 d7d5", go]
    assert told(log)[4:6] == ["position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 moves e2e4", "go depth 3"]


def test_membership_by_history_once_out_always_out(log: Path) -> None:
    book = book_lookup(lines_book("d2d4 g8f6 c2c4 e7e6 b1c3", "d2d4 e7e6 c2c4 d7d5"))
    transposed = "position startpos moves d2d4 e7e6 c2c4 g8f6"
    with Talk(book, fake(log)) as talk:
        assert talk.best(transposed, "go") == "b1c3"
        assert talk.best("setoption name Book By Position value false", transposed, "go") == "e2e4"
        assert talk.best("position startpos moves d2d4 g8f6 c2c4 e7e6", "go") == "b1c3"
        own_deviation = "position startpos moves c2c4 g8f6 d2d4 e7e6"
        assert talk.best(own_deviation, "go") == "e2e4"
        assert talk.best("setoption name Book By Position value true", own_deviation, "go") == "b1c3"


@pytest.mark.parametrize("by_position", [True, False])
def test_histories_count_from_where_the_game_passed_the_books_start(log: Path, by_position: bool) -> None:
    board = chess.Board()
    board.push_san("e4")
    entries = [
        Entry((), {"e7e5": 1.0}, 1.0, 0.01, 0.5),
        Entry(("e7e5", "g1f3"), {"b8c6": 1.0}, 0.5, 0.01, 0.5),
    ]
    book = make(entries, side=2, start=board.fen())
    with Talk(book_lookup(book, "e4.json"), fake(log), by_position=by_position) as talk:
        lines = talk.ask("position startpos", "go")
        assert lines[0] == "info string e4.json begins in another position than this game"
        lines = talk.ask("ucinewgame", "position startpos moves e2e4", "go")
        assert lines[-1] == "bestmove e7e5 ponder g1f3"
        assert talk.best("position startpos moves e2e4 e7e5 g1f3", "go") == "b8c6"
        there = f"position fen {board.fen()} moves e7e5 g1f3"
        assert talk.best(there, "go") == "b8c6"
        away = "position startpos moves g1f3 g8f6 f3g1 f6g8 e2e4"
        assert talk.best(f"{away} e7e5 g1f3", "go") == "b8c6"
        assert talk.best(away, "go") == "e7e5"
        # A detour after the start leads back to the position, not to the history.
        detour = "position startpos moves e2e4 e7e5 g1f3 g8f6 f3g1 f6g8 g1f3"
        lines = talk.ask(detour, "go")
        assert any("book move b8c6" in line for line in lines) == by_position


def test_own_book_off_and_analysis_leave_it_to_the_base(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        start = "position startpos moves e2e4 e7e5"
        assert talk.best(start, "setoption name OwnBook value false", "go depth 1") == "e2e4"
        assert talk.best("setoption name OwnBook value true", "go depth 2") == "g1f3"
        assert talk.best("setoption name UCI_AnalyseMode value true", "go depth 3") == "e2e4"
        assert talk.best("setoption name UCI_AnalyseMode value false", "go depth 4") == "g1f3"
        assert talk.best("go mate 3") == "e2e4"
    assert [line for line in told(log) if line.startswith("go")] == [
        "go depth 1",
        "go depth 3",
        "go mate 3",
    ]


@pytest.mark.parametrize("mode", ["plain", "eager", "lazy"])
def test_infinite_waits_for_stop(log: Path, mode: str) -> None:
    with Talk(LOOKUP, fake(log, mode)) as talk:
        talk.ready()
        talk.send("position startpos", "go infinite")
        talk.silence()
        talk.send("isready")
        assert "readyok" in talk.until("readyok")
        talk.silence(0.05)
        lines = talk.ask("stop")
        assert lines[-1] == "bestmove e2e4 ponder a7a6"
        talk.send("stop", "isready")  # nothing to stop
        assert talk.until("readyok") == ["readyok"]


def test_pondering_on_a_book_move_waits_for_the_hit(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        talk.send("position startpos moves e2e4 e7e5", "go ponder wtime 1000 btime 1000")
        assert talk.until("info")[0].startswith("info string book move g1f3")
        talk.silence()
        talk.ready()
        assert talk.ask("ponderhit") == ["bestmove g1f3 ponder b8c6"]
        talk.send("position startpos moves e2e4 e7e5", "go ponder")
        talk.silence()
        assert talk.ask("stop") == ["bestmove g1f3 ponder b8c6"]
    assert "ponderhit" not in told(log)


@pytest.mark.parametrize("mode", ["plain", "eager"])
def test_pondering_of_the_base(log: Path, mode: str) -> None:
    with Talk(LOOKUP, fake(log, mode)) as talk:
        talk.ready()
        talk.send("position startpos moves d2d4", "go ponder wtime 1000 btime 900")
        talk.silence()
        assert talk.ask("ponderhit")[-1] == "bestmove e2e4 ponder a7a6"
        talk.send("ponderhit", "go ponder wtime 1000 btime 900")
        talk.silence()
        assert talk.ask("stop")[-1] == "bestmove e2e4 ponder a7a6"
    assert "go ponder wtime 1000 btime 900" in told(log)


def test_searchmoves_bind_the_book_too(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        assert talk.best("position startpos", "go depth 1 searchmoves e2e4 d2d4") == "e2e4"
        lines = talk.ask("go depth 2 searchmoves d2d4 g1f3")
        assert not any("book" in line for line in lines)
    assert "go depth 2 searchmoves d2d4 g1f3" in told(log)
    assert "go depth 1 searchmoves e2e4 d2d4" not in told(log)
    two = make([Entry((), {"e2e4": 0.999, "d2d4": 0.001}, 1.0, 0.0, 0.5)])
    with Talk(book_lookup(two), fake(log)) as talk:
        assert talk.best("position startpos", "go searchmoves d2d4") == "d2d4"


def test_a_search_that_runs_is_not_disturbed(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "lazy")) as talk:
        talk.send("position startpos moves d2d4", "go infinite")
        talk.send("setoption name Hash value 8", "position startpos", "go wtime 1 btime 1", "isready")
        assert talk.until("readyok")[-1] == "readyok"
        talk.silence(0.05)
        assert "setoption name Hash value 8" not in told(log)
        assert talk.ask("stop")[-1] == "bestmove e2e4 ponder a7a6"  # the stop is for what came before it
        assert talk.until("bestmove")[-1] == "bestmove e2e4 ponder e7e5"
    assert "setoption name Hash value 8" in told(log)


def test_impatient_guis_get_every_answer_in_order(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "lazy")) as talk:
        talk.send("position startpos moves d2d4", "go infinite", "stop")
        talk.send("position startpos moves c2c4", "go infinite", "stop", "isready")
        assert talk.until("bestmove")
        assert talk.until("bestmove")
        talk.ready()
    gos = [line for line in told(log) if line.startswith(("go", "stop", "position"))]
    assert gos == [
        *("position startpos moves d2d4", "go infinite", "stop"),
        *("position startpos moves c2c4", "go infinite", "stop"),
    ]


def test_readyok_comes_before_what_was_asked_later(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        talk.send("isready", "position startpos", "go", "isready")
        lines = [*talk.until("readyok"), *talk.until("readyok")]
    assert [line.split()[0] for line in lines] == ["readyok", "info", "info", "bestmove", "readyok"]


# Options


def test_options_go_where_they_belong(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        talk.send(
            "setoption name Hash value 32",
            "setoption name Clear Hash",
            "setoption name Made Up value a  b",
        )
        talk.send(
            "setoption name Base Nodes value 77", "setoption name seed value 5", "debug on", "isready"
        )
        talk.until("readyok")
        talk.send(
            "setoption name Base Nodes value -3",
            "setoption name Randomness value much",
            "setoption oops",
            "isready",
        )
        lines = talk.until("readyok")
        talk.send("uci")
        declared = talk.until("uciok")
    given = told(log)
    assert "setoption name Hash value 32" in given
    assert "setoption name Clear Hash" in given
    assert "setoption name Made Up value a  b" in given
    assert "debug on" in given
    assert not any("Base" in line or "seed" in line.lower() for line in given)
    assert lines[:-1] == [
        "info string option Base Nodes is '-3'; expected a whole number from 0 to 2147483647",
        "info string option Randomness is 'much'; expected a number of at least 0",
        "info string 'setoption oops'; expected 'setoption name NAME value VALUE'",
    ]
    assert "option name Base Nodes type spin default 77 min 0 max 2147483647" in declared
    assert "option name Seed type spin default 5 min 0 max 2147483647" in declared


def test_fixed_limits_of_the_base(log: Path) -> None:
    with Talk(LOOKUP, fake(log), nodes=5000) as talk:
        talk.ask("position startpos moves d2d4", "go wtime 1000 btime 1000")
        talk.ask(
            "setoption name Base Nodes value 0", "setoption name Base Time value 20", "go wtime 1 btime 1"
        )
        talk.ask("setoption name Base Depth value 7", "go movetime 5 searchmoves e7e5")
        talk.send("go infinite")
        talk.ask("stop")
        talk.ask("setoption name Base Fresh Hash value true", "go nodes 1")
    gos = [line for line in told(log) if line.startswith(("go", "ucinewgame"))]
    assert gos == [
        "go nodes 5000",
        "go movetime 20",
        "go depth 7 movetime 20 searchmoves e7e5",
        "go infinite",
        "ucinewgame",
        "go depth 7 movetime 20",
    ]


def test_book_files_are_opened_and_bad_ones_reported(log: Path, tmp_path: Path) -> None:
    save(BOOK, tmp_path / "book.json")
    (tmp_path / "a book.bin").write_bytes(polyglot_bytes(lines_book("d2d4")))
    (tmp_path / "bad.bin").write_bytes(b"x" * 17)
    with Talk(None, fake(log)) as talk:
        assert "info string" not in talk.ask("position startpos", "go")[0]
        for name, move in (("book.json", "e2e4"), ("a book.bin", "d2d4")):
            lines = talk.ask(f"setoption name Book File value {tmp_path / name}", "go")
            assert lines[0].startswith(f"info string book move {move}")
        lines = talk.ask(f"setoption name Book File value {tmp_path / 'bad.bin'}", "go")
        assert lines[0].endswith("bad.bin: 17 bytes; a Polyglot book has a multiple of 16")
        assert lines[-1].startswith("bestmove d2d4")  # the old book goes on
        lines = talk.ask("setoption name Book File value <empty>", "go")
        assert not any("book" in line for line in lines)


def test_another_base_engine(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with Talk(LOOKUP, fake(log)) as talk:
        talk.send(
            "setoption name Hash value 32", f"setoption name Base Engine value {fake(other)}", "isready"
        )
        talk.until("readyok")
        talk.ask("position startpos moves d2d4", "go nodes 9")
        lines = talk.ask("setoption name Base Engine value /nowhere/engine", "go nodes 8")
        assert lines[0].startswith("info string engine '/nowhere/engine' not found; expected ")
    assert told(log)[-1] == "quit"
    assert "setoption name Hash value 32" in told(other)
    assert [line for line in told(other) if line.startswith("go")] == ["go nodes 9", "go nodes 8"]


# Randomness


def test_the_randomizing_opponent_is_a_softmax(log: Path) -> None:
    games = 300
    with Talk(None, fake(log), randomness=20.0, choices=3, seed=7) as talk:
        first = talk.ask("position startpos", "go nodes 10")
        assert first[0] == "info string seed 7"
        assert all("multipv 1" in line for line in first[1:-1])
        assert INFO.fullmatch(first[-2])
        counts: Counter[str] = Counter()
        for _ in range(games):
            talk.send("ucinewgame")
            lines = talk.ask("position startpos", "go nodes 10")
            move = lines[-1].split()[1]
            assert f"pv {move}" in lines[-2]
            assert lines[-1] == f"bestmove {move} ponder a7a6"
            counts[move] += 1
        again = [talk.best("go nodes 10") for _ in range(3)]
        assert len(set(again)) == 1  # the same game, the same moves: the same dice
    assert told(log).count("setoption name MultiPV value 3") == 1
    for move, p in zip(("e2e4", "d2d4", "g1f3"), softmax([30, 10, -10], 20.0), strict=True):
        assert counts[move] / games == pytest.approx(p, abs=4 * (p * (1 - p) / games) ** 0.5)


def test_the_same_seed_gives_the_same_games(tmp_path: Path) -> None:
    def moves(seed: int) -> list[str]:
        found = []
        with Talk(None, fake(tmp_path / "log"), randomness=50.0, choices=4, seed=seed) as talk:
            for _ in range(12):
                found.append(talk.best("ucinewgame", "position startpos", "go"))
        return found

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)


def test_randomness_is_for_play_only_and_keeps_the_guis_multipv(log: Path) -> None:
    with Talk(None, fake(log), randomness=1e9, choices=3) as talk:
        talk.send("setoption name MultiPV value 2", "position startpos", "go infinite")
        lines = talk.ask("stop")
        assert lines[-1] == "bestmove e2e4 ponder a7a6"
        shown = [line for line in talk.ask("go nodes 5") if "multipv" in line]
        assert [line.split("multipv ")[1][0] for line in shown] == ["1", "2", "1"]
    assert [line for line in told(log) if "MultiPV" in line] == [
        "setoption name MultiPV value 2",
        "setoption name MultiPV value 3",
    ]


def test_no_multipv_no_dice(log: Path) -> None:
    with Talk(None, fake(log, "single"), randomness=10.0) as talk:
        lines = talk.ask("position startpos", "go")
        assert lines[0] == "info string the base engine has no MultiPV, so Randomness has no effect"
        assert lines[-1] == "bestmove e2e4 ponder a7a6"
        assert "MultiPV" not in talk.ask("go")[0]


def test_a_mixed_book_draws_its_pure_book_at_each_game(log: Path) -> None:
    entries = [
        Entry((), {"e2e4": 0.7, "c2c4": 0.3}, 1.0, 0.1, 0.5, 0.8),
        Entry(("e2e4", "e7e5"), {"g1f3": 1.0}, 0.5, 0.1, 0.5, 0.3),
    ]
    games = 400
    inside: Counter[tuple[bool, bool]] = Counter()
    first: Counter[str] = Counter()
    with Talk(book_lookup(make(entries)), fake(log), seed=3) as talk:
        assert talk.ask("position startpos", "go")[0] == "info string seed 3"
        for _ in range(games):
            talk.send("ucinewgame")
            start = talk.ask("position startpos", "go")
            later = talk.ask("position startpos moves e2e4 e7e5", "go")
            here, there = ("book move" in lines[0] for lines in (start, later))
            inside[here, there] += 1
            if here:
                first[start[-1].split()[1]] += 1
    assert inside[False, True] == 0  # prefix-closed
    assert (inside[True, True] + inside[True, False]) / games == pytest.approx(0.8, abs=0.07)
    assert inside[True, True] / games == pytest.approx(0.3, abs=0.08)
    assert first["e2e4"] / sum(first.values()) == pytest.approx(0.7, abs=0.08)


# Faults


def test_a_dying_base_is_started_again_once(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "frail")) as talk:
        talk.send("setoption name Hash value 32")
        lines = talk.ask("position startpos moves d2d4", "go wtime 5000 btime 7000 movestogo 3")
        assert lines[0] == "info string the base engine died (exit code 3) and is started again"
        assert lines[-1] == "bestmove e2e4 ponder a7a6"
        assert talk.best("position startpos", "go") == "e2e4"
    lines = told(log)
    assert lines.count("setoption name Hash value 32") == 2
    first, second = (line for line in lines if line.startswith("go"))
    assert first == "go wtime 5000 btime 7000 movestogo 3"
    match = re.fullmatch(r"go wtime 5000 btime (\d+) movestogo 3", second)
    assert match is not None
    assert 0 < int(match[1]) < 7000  # the clock ran on


def test_a_base_that_dies_again_is_given_up(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "dying")) as talk:
        talk.send("position startpos moves d2d4", "go depth 1")
        assert talk.rest() == [
            "info string the base engine died (exit code 3) and is started again",
            f"info string the base engine '{fake(log, 'dying')}' died again (exit code 3)",
        ]
        assert talk.ended()
    assert isinstance(talk.error, EngineError)


def test_a_new_game_forgives(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "frail")) as talk:
        talk.ask("position startpos moves d2d4", "go depth 1")
        log.write_text("")  # frail once more
        lines = talk.ask("ucinewgame", "go depth 1")
        assert lines[0] == "info string the base engine died (exit code 3) and is started again"


def test_stop_and_isready_survive_a_death(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "frail")) as talk:
        talk.send("position startpos moves d2d4", "go infinite", "stop")
        assert talk.until("bestmove")[-1] == "bestmove e2e4 ponder a7a6"


@pytest.mark.parametrize(
    ("mode", "message"),
    [("gone", "ended at once (exit code 7)"), ("silent", "does not answer 'uci'")],
)
def test_what_is_no_engine(log: Path, mode: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uci_base, "HANDSHAKE", 1.0)
    with Talk(LOOKUP, fake(log, mode)) as talk:
        talk.send("uci")
        assert talk.rest() == [f"info string the base engine '{fake(log, mode)}' {message}"]
        assert talk.ended()
    assert isinstance(talk.error, EngineError)


def test_impossible_positions(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        lines = talk.ask("position startpos moves e2e4 e7e5 e4e5", "go")
        assert lines[0].startswith("info string move 'e4e5' is not legal in ")
        assert lines[-1] == "bestmove 0000"
        assert talk.best("position startpos moves e2e4 e7e5", "go") == "g1f3"
        for line, words in (
            ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "is no position that can be played on"),
            ("position fen nonsense w", "no FEN"),
            ("position", "expected 'position startpos' or 'position fen FEN'"),
        ):
            lines = talk.ask(line, "go")
            assert words in lines[0]
            assert lines[-1] == "bestmove 0000"
    assert not any(line.startswith("go") for line in told(log))


def test_a_null_move_is_not_legal(log: Path) -> None:
    with Talk(LOOKUP, fake(log)) as talk:
        lines = talk.ask("position startpos moves e2e4 0000", "go depth 1")
        assert lines[0].startswith("info string move '0000' is not legal in rnbqkbnr/pppppppp/8/8/4P3/")
        assert lines[-1] == "bestmove 0000"
        assert talk.best("position startpos moves e2e4 e7e5", "go") == "g1f3"
    assert not any(line.startswith("go") for line in told(log))


def test_a_book_for_another_start_is_mentioned_once(log: Path) -> None:
    book = make([Entry((), {"e2e4": 1.0}, 1.0, 0.1, 0.5)], start="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    with Talk(book_lookup(book, "endgame.json"), fake(log)) as talk:
        assert (
            talk.ask("position startpos", "go")[0]
            == "info string endgame.json begins in another position than this game"
        )
        assert "begins" not in talk.ask("position startpos moves e2e4 e7e5", "go")[0]
        assert talk.best("position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "go") == "e2e4"


def test_a_base_without_info_still_gets_a_score_line(log: Path) -> None:
    with Talk(LOOKUP, fake(log, "mute")) as talk:
        lines = talk.ask("position startpos moves d2d4", "go")
        assert INFO.fullmatch(lines[0])
        assert lines[1] == "bestmove e2e4 ponder a7a6"


def test_the_gui_may_leave_at_any_time(log: Path) -> None:
    for lines in (
        ["quit"],
        ["position startpos moves d2d4", "go infinite", "quit"],
        ["go ponder", "quit"],
        ["isready", "quit"],
    ):
        with Talk(LOOKUP, fake(log, "lazy")) as talk:
            talk.send(*lines)
            assert talk.ended()
        assert talk.error is None


# Chess960


def test_castling_is_written_as_the_gui_wants_it(log: Path) -> None:
    book = book_lookup(lines_book(CASTLING))
    before = "position startpos moves " + CASTLING.rsplit(maxsplit=1)[0]
    with Talk(book, fake(log)) as talk:
        assert talk.best(before, "go") == "e1g1"
        assert talk.best("setoption name UCI_Chess960 value true", before, "go") == "e1h1"
        assert talk.best(before, "go searchmoves e1h1") == "e1h1"
    assert "setoption name UCI_Chess960 value true" in told(log)


def test_chess960_book(log: Path) -> None:
    def castling(board: chess.Board) -> list[chess.Move]:
        return [move for move in board.legal_moves if board.is_castling(move)]

    board = next(b for n in range(960) if castling(b := chess.Board.from_chess960_pos(n)))
    fen, name = board.fen(), board.uci(castling(board)[0])
    book = make([Entry((), {name: 1.0}, 1.0, 0.0, 0.5)], start=fen, chess960=True)
    with Talk(book_lookup(book), fake(log)) as talk:
        talk.send("setoption name UCI_Chess960 value true")
        assert talk.best(f"position fen {fen}", "go") == name
        lines = talk.ask(f"position fen {fen} moves {name} a7a6", "go depth 1")
        assert not any("book" in line for line in lines)
    assert f"position fen {fen} moves {name} a7a6" in told(log)


# With Stockfish, and as a program


def test_stockfish_answers_through_it_as_it_does_alone(stockfish: str) -> None:
    engine = stockfish
    with Talk(LOOKUP, engine) as talk:
        talk.send("uci")
        options = talk.until("uciok")
        assert any("Skill Level" in line for line in options)
        position = "position startpos moves d2d4 d7d5 c2c4"
        lines = talk.ask(
            "setoption name Hash value 1",
            "setoption name UCI_ShowWDL value true",
            position,
            "go nodes 3000",
        )
        assert any(" wdl " in line for line in lines)
        with chess.engine.SimpleEngine.popen_uci(engine) as alone:
            alone.configure({"Hash": 1})
            board = chess.Board()
            for name in ("d2d4", "d7d5", "c2c4"):
                board.push_uci(name)
            assert talk.best("ucinewgame", position, "go nodes 3000") == str(
                alone.play(board, chess.engine.Limit(nodes=3000)).move
            )
        talk.send("go infinite")
        talk.until("info")
        talk.silence()
        talk.ready()
        assert len(talk.ask("stop")[-1].split()) in {2, 4}
        lines = talk.ask("position fen 7k/5Q2/8/6K1/8/8/8/8 b - - 0 1", "go depth 3")  # stalemate
        assert lines[-1] == "bestmove (none)"
        lines = talk.ask(
            "setoption name Randomness value 30",
            "setoption name Random MultiPV value 4",
            position,
            "go nodes 4000",
        )
        assert INFO.fullmatch(lines[-2])
        assert lines[-2].split(" pv ")[1].split()[0] == lines[-1].split()[1]
        lines = talk.ask("position fen 7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", "go nodes 500")  # mate in one
        assert " score mate 1 " in lines[-2]


def test_a_perft_ends_with_its_count(stockfish: str) -> None:
    engine = stockfish
    with Talk(LOOKUP, engine) as talk:
        for start, count in (("position startpos", 400), ("position startpos moves d2d4", 560)):
            talk.send(start, "go perft 2")
            lines = talk.until("Nodes")
            assert len([line for line in lines if re.fullmatch(r"[a-h]\d[a-h]\d: \d+", line)]) == 20
            assert lines[-1] == f"Nodes searched: {count}"
            talk.send("stop", "isready")
            assert talk.until("readyok")[-1] == "readyok"
        assert talk.best("position startpos", "go") == "e2e4"
        assert len(talk.best("position startpos moves d2d4", "go nodes 100")) == 4
        talk.send("go perft 1", "go infinite")  # the second waits for the first
        talk.until("Nodes")
        talk.until("info")
        assert talk.ask("stop")[-1].startswith("bestmove ")


def test_a_full_game_against_stockfish_under_python_chess(
    tmp_path: Path, stockfish: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "chess.engine")  # if it ever hangs, this shows who owes an answer
    engine = stockfish
    path = tmp_path / "book.json"
    save(
        lines_book("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 c7c5 g1f3", "e2e4 e7e6 d2d4", "e2e4 d7d5 e4d5"), path
    )
    limit = chess.engine.Limit(white_clock=4.0, black_clock=4.0, white_inc=0.01, black_inc=0.01)
    ours = chess.engine.SimpleEngine.popen_uci(
        program("--book", str(path), "--engine", engine, "--seed", "1")
    )
    with ours, chess.engine.SimpleEngine.popen_uci(engine) as theirs:
        ours.configure({"Hash": 1})
        theirs.configure({"Hash": 1, "Skill Level": 3})
        board = chess.Board()
        while not board.is_game_over(claim_draw=True) and len(board.move_stack) < 160:
            player = ours if board.turn == chess.WHITE else theirs
            play = player.play(
                board,
                limit if len(board.move_stack) < 6 else chess.engine.Limit(nodes=300),
                info=chess.engine.INFO_ALL,
                ponder=player is ours and len(board.move_stack) % 4 == 0,
            )
            assert play.move is not None
            if player is ours:
                assert "score" in play.info
                assert "pv" in play.info
            board.push(play.move)
        assert board.move_stack[0].uci() == "e2e4"
        assert len(board.move_stack) > 10
        analysis = ours.analyse(chess.Board(), chess.engine.Limit(nodes=2000), multipv=3)
        assert len(analysis) == 3
        with ours.analysis(chess.Board()) as running:
            assert running.next() is not None
            running.stop()
            assert running.wait().move is not None


@pytest.mark.slow
def test_a_match_against_stockfish_without_illegal_moves_time_losses_or_hangs(
    tmp_path: Path, stockfish: str
) -> None:
    engine = stockfish
    path = tmp_path / "book.json"
    save(lines_book("e2e4 e7e5 g1f3", "e2e4 c7c5 g1f3"), path)
    arguments = ["--book", str(path), "--engine", engine, "--randomness", "30", "--multipv", "3"]
    ours = chess.engine.SimpleEngine.popen_uci(program(*arguments), timeout=20)
    with ours, chess.engine.SimpleEngine.popen_uci(engine, timeout=20) as theirs:
        for player in (ours, theirs):
            player.configure({"Hash": 1, "Move Overhead": 300})  # for a busy machine
        for number in range(8):
            board = chess.Board()
            clocks = {chess.WHITE: 4.0, chess.BLACK: 4.0}
            while not board.is_game_over(claim_draw=True):
                player = ours if board.turn == (number % 2 == 0) else theirs
                limit = chess.engine.Limit(
                    white_clock=clocks[chess.WHITE],
                    black_clock=clocks[chess.BLACK],
                    white_inc=0.05,
                    black_inc=0.05,
                )
                begun = time.perf_counter()
                move = player.play(board, limit, game=number, ponder=number % 3 == 0).move
                clocks[board.turn] += 0.05 - (time.perf_counter() - begun)
                assert move is not None
                assert clocks[board.turn] > 0, "lost on time"
                board.push(move)


def test_book_moves_take_less_than_five_milliseconds(stockfish: str) -> None:
    engine = stockfish
    times = []
    with Talk(LOOKUP, engine) as talk:
        talk.ready()
        for _ in range(30):
            talk.send("position startpos moves e2e4 e7e5")
            begun = time.perf_counter()
            talk.ask("go wtime 1000 btime 1000")
            times.append(time.perf_counter() - begun)
    assert sorted(times)[len(times) // 3] < 0.005  # the machine may be busy now and then


def test_the_program_ends_with_one_clear_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.bin"
    bad.write_bytes(b"x" * 15)
    ended = run_program("uci\n", ["--engine", "no-such-engine"])
    assert ended.returncode == 1
    assert (
        ended.stderr
        == "engine 'no-such-engine' not found; expected an executable file or a program on the PATH\n"
    )
    assert ended.stdout == f"info string {ended.stderr}"
    ended = run_program("uci\n", ["--engine", fake(tmp_path / "log"), "--book", str(bad)])
    assert ended.returncode == 1
    assert ended.stderr == f"{bad}: 15 bytes; a Polyglot book has a multiple of 16\n"


def test_the_program_serves_a_script(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    save(BOOK, path)
    arguments = ["--engine", fake(tmp_path / "log"), "--book", str(path)]
    script = "uci\nisready\nposition startpos\ngo\nposition startpos moves d2d4\ngo depth 1\n"
    for last in ("quit\n", ""):
        ended = run_program(script + last, arguments)
        assert ended.returncode == 0
        assert ended.stderr == ""
        lines = ended.stdout.splitlines()
        assert {"uciok", "readyok", "bestmove e2e4 ponder e7e5", "bestmove e2e4 ponder a7a6"} <= set(
            lines
        )


def test_install_hint() -> None:
    hint = install_hint(["preplay", "uci", "--book", "my book.bin"])
    assert "Command:   preplay\n" in hint
    assert "Arguments: uci --book 'my book.bin'\n" in hint
    assert "cmd=preplay arg=uci arg=--book arg='my book.bin'" in hint
    (row,) = [row for row in hint.splitlines() if row.startswith("fastchess:")]
    assert shlex.split(row)[-1] == "args=uci --book 'my book.bin'"
    assert 'name: "my book.bin"' in hint
    assert 'interpreter_options: ["uci", "--book"]' in hint


def test_a_wrapper_is_one_executable(tmp_path: Path, stockfish: str) -> None:
    save(BOOK, tmp_path / "my book.json")
    script = tmp_path / "engine"
    command = [str(Path(sys.executable).with_name("preplay")), "uci", "--book", "my book.json"]
    more = ["--engine", stockfish, "--install-hint", "--script", str(script)]
    subprocess.run([*command, *more], cwd=tmp_path, check=True, capture_output=True)
    with chess.engine.SimpleEngine.popen_uci(str(script)) as engine:
        assert engine.id["name"].startswith("preplay with Stockfish")
        assert engine.play(chess.Board(), chess.engine.Limit(nodes=1)).move == chess.Move.from_uci("e2e4")


def test_a_bad_book_is_told_to_the_gui(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text("{")
    code, out, err = preplay(capsys, "uci", "--book", str(tmp_path / "bad.json"))
    assert code == 1
    assert out.startswith("info string ")
    assert "bad.json" in out
    assert "bad.json" in err


def test_what_is_started_by_its_module_is_installed_by_it(tmp_path: Path) -> None:
    save(BOOK, tmp_path / "book.json")
    command = [sys.executable, "-m", "preplay", "uci", "--book", "book.json", "--install-hint"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert f"Command:   {sys.executable}\nArguments: -m preplay uci --book " in done.stdout


@pytest.mark.parametrize("value", ["²", "9" * 5000, "-1", "", "1e3", "٣"])
def test_numbers_that_are_none_do_no_harm(log: Path, value: str) -> None:
    with Talk(book_lookup(BOOK), fake(log)) as talk:
        talk.send(f"setoption name MultiPV value {value}", f"setoption name Base Nodes value {value}")
        talk.ready()
        assert talk.best("position startpos", f"go movetime {value}") == "e2e4"


def test_the_hint_works_from_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my books").mkdir()
    (tmp_path / "bin").mkdir()
    save(BOOK, tmp_path / "my books" / "book.json")
    engine = tmp_path / "bin" / "base"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    (tmp_path / "net.bin").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    book = tmp_path / "my books" / "book.json"

    def arguments(*words: str) -> list[str]:
        code, out, err = preplay(capsys, "uci", *words, "--install-hint")
        assert (code, err) == (0, "")
        (line,) = (line for line in out.splitlines() if line.startswith("Arguments: "))
        return shlex.split(line.removeprefix("Arguments: "))

    for given in (["--book", "my books/book.json"], ["--book=my books/book.json"]):
        for base in ("bin/base", "./bin/base", "base", str(engine)):
            words = arguments(*given, "--engine", base, "--seed", "5", "--by-history")
            assert words == [
                *("uci", "--book", str(book), "--engine", str(engine)),
                *("--by-history", "--seed", "5"),
            ]
    words = arguments("--engine", "bin/base --eval net.bin", "--randomness=2.5", "--multipv", "3")
    assert words == [
        *("uci", "--engine", f"{engine} --eval {tmp_path / 'net.bin'}"),
        *("--randomness", "2.5", "--multipv", "3"),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--book", "missing.json"), "missing.json"),
        (("--book", "missing.bin"), "missing.bin"),
        (("--book", "bad.bin"), "bad.bin: 15 bytes; a Polyglot book has a multiple of 16"),
        (("--book", "bad.json"), "bad.json"),
        (("--engine", "no-such-engine"), "engine 'no-such-engine' not found"),
    ],
)
def test_no_hint_for_what_cannot_be_started(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "bad.bin").write_bytes(b"x" * 15)
    (tmp_path / "bad.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    code, out, err = preplay(capsys, "uci", *words, "--install-hint")
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


def test_open_book_by_name(tmp_path: Path) -> None:
    save(BOOK, tmp_path / "book.json")
    (tmp_path / "book.bin").write_bytes(polyglot_bytes(BOOK))
    assert open_book(str(tmp_path / "book.json")).name == "book.json"
    assert open_book(str(tmp_path / "book.bin")).name == "book.bin"
