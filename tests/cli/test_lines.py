"""Books as trees of lines: every entry once, under what it follows, within the terminal's width."""

from __future__ import annotations

import json
import os
import random
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import chess
import pytest
from chessbooks import lines_book
from commandline import preplay as command
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay import sweep
from preplay.book import Book, Entry
from preplay.chess.books.naming import writing
from preplay.chess.engines.analysis import (
    Analysis,
    EngineSpec,
    Identity,
    Limit,
    Line,
    SearchPosition,
)
from preplay.chess.engines.store import AnalysisStore, Setting
from preplay.chess.engines.survey import ClusterReport, MachineReport
from preplay.cli.app import VERBS
from preplay.cli.calibrate import print_calibration
from preplay.cli.cluster import _tell as tell_cluster
from preplay.cli.lines import line, tree
from preplay.cli.show import print_table, progress
from preplay.cli.sweep import tell
from preplay.cli.words import print_clock
from preplay.equilibria import METHODS
from preplay.experiments.measures import BOUNDS, EQUILIBRIUM, MEASURES
from preplay.logistic import Bin, Curve
from preplay.runs.calibrations import CalibrateResult
from preplay.sampling.timeshare import Mean, TimeShare

EXAMPLES = Path(__file__).parents[2] / "examples"


def entry(history: str, moves: dict[str, float], reach: float = 1.0) -> Entry:
    return Entry(tuple(history.split()), moves, reach, 0.1, 0.5)


def book(*entries: Entry) -> Book:
    return Book(1, entries, 0.5, 0.6, 0.01, 0.6)


def test_long_names_leave_room_for_what_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = " ".join(["step"] * 30)
    texts = [
        line(Entry((f"{long} {end}",), {"go on": 1.0}, 1.0, 0.1, 0.5), None, None)
        for end in ("here", "there")
    ]
    assert [text.rpartition(" step ")[2] for text in texts] == ["here: go on", "there: go on"]
    assert max(map(len, texts)) <= 52


def test_a_chess_book_reads_like_variations() -> None:
    known = book(
        entry("", {"e2e4": 1.0}),
        entry("e2e4 e7e5", {"g1f3": 1.0}, 0.4),
        entry("e2e4 c7c5", {"g1f3": 0.75, "b1c3": 0.25}, 0.6),
        entry("e2e4 c7c5 g1f3 d7d6", {"d2d4": 1.0}, 0.3),
    )
    assert [text for _, text in tree(known.entries, writing(known))] == [
        "1. e4",
        "  c5: Nf3 75% / Nc3 25%",
        "    2. Nf3 d6 3. d4",
        "  e5 2. Nf3",
    ]


def test_other_games_tell_what_happened_and_the_answer() -> None:
    known = book(
        entry("", {"jump": 1.0}),
        entry("jump falls walk", {"jump": 1.0}, 0.5),
        entry("jump lands walk", {"walk": 0.5, "jump": 0.5}, 0.5),
        entry("jump lands walk walk walk", {"jump": 1.0}, 0.2),
    )
    assert [text for _, text in tree(known.entries, None)] == [
        "jump",
        "  lands walk: walk 50% / jump 50%",
        "    walk walk: jump",
        "  falls walk: jump",
    ]
    evil = line(entry("a\x1b[2J", {"b\x07": 1.0}), None, None)
    assert evil.isprintable()


def random_lines(seed: int, side: int) -> Book:
    """A book of random games in which the side answers each position in one way."""
    rng, chosen, lines = random.Random(seed), dict[str, str](), []
    for _ in range(6):
        board = chess.Board()
        while len(board.move_stack) < 8 and not board.is_game_over():
            moves = [move.uci() for move in board.legal_moves]
            own = board.turn == (side == 1)
            line_ = " ".join(move.uci() for move in board.move_stack)
            move = chosen.setdefault(line_, rng.choice(moves)) if own else rng.choice(moves[:3])
            board.push_uci(move)
        lines.append(" ".join(move.uci() for move in board.move_stack))
    return lines_book(*lines, side=side)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
def test_every_position_can_be_read_off_the_tree(seed: int, side: int) -> None:
    """Going down the indentation and playing the SAN leads to each entry's own position."""
    known = random_lines(seed, side)
    rows = tree(known.entries, writing(known))
    assert {e.history for e, _ in rows} == {e.history for e in known.entries}
    boards: dict[int, chess.Board] = {}
    for e, text in rows:
        depth = (len(text) - len(text.lstrip())) // 2
        board = boards.get(depth - 1, chess.Board(known.start or chess.STARTING_FEN)).copy()
        words = [w for w in text.split() if not w.rstrip(".").isdigit()]
        for word in words[:-1]:
            board.push_san(word)
        expected = chess.Board(known.start or chess.STARTING_FEN)
        for move in e.history:
            expected.push_uci(move)
        assert board.fen() == expected.fen()
        board.push_san(words[-1])
        boards[depth] = board


def hidden(*answers: dict[str, Any]) -> dict[str, Any]:
    """A history of side 2, who hides, with a move before each history of the preparer."""
    moves = [{"base": 1 - n, "prep": 1 - n, "menu": True, "to": to} for n, to in enumerate(answers)]
    return {"player": 2, "actions": {f"the {n}th way": move for n, move in enumerate(moves)}}


def answer(base: float, right: dict[str, Any]) -> dict[str, Any]:
    wrong = {"base": 1 - base, "prep": 0, "to": {"utility": 0.1}}
    return {"player": 1, "actions": {"right": {"base": base, "prep": 1, "to": right}, "wrong": wrong}}


@pytest.fixture
def hide(tmp_path: Path) -> Path:
    """Side 2 has two ways, and two more after the first; mixed, nothing is worth learning."""
    won = {"utility": 1}
    root = hidden(answer(0.5, hidden(answer(0.5, won), answer(0.4, won))), answer(0.3, won))
    path = tmp_path / "hide.json"
    path.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    return path


def store_of(folder: Path) -> Path:
    """Analyses of two engines with long names and options."""
    with AnalysisStore(folder / "store.sqlite") as store:
        for name in ("Stockfish 15.1 of the Debian packages by their maintainers, 64 bit", "Lc0 0.30"):
            options: dict[str, str | int | bool] = {
                "Hash": 16,
                "SyzygyPath": "/usr/share/games/syzygy/of/seven/men",
                "Threads": 1,
            }
            spec, engine = EngineSpec.of("stockfish", options), Identity(name, "0123456789abcdef")
            for nodes in (1000, 200_000):
                setting = Setting.of(engine, spec, Limit(nodes=nodes), 2)
                lines = (Line("e2e4", 30, 6, None, "e2e4"),)
                found = Analysis(lines, "e2e4", nodes, True, 12)
                store.put(setting, SearchPosition(chess.STARTING_FEN), found)
    return folder / "store.sqlite"


def made() -> None:
    """Print what takes long to make: results of games and sweeps, and a cluster."""
    build = runpy.run_path(str(EXAMPLES / "dice_race.py"))["build"]
    measures = ("value", "size", *BOUNDS, *EQUILIBRIUM)
    theorem: dict[str, Any] = {"advantage": 0.55, "epsilon": 0.5}
    swept = sweep(build, "goal", [2, 3], side=1, measures=measures, histories=40, **theorem)
    tell(swept, csv=None, plot=None, as_json=False)
    curve = Curve(0.0814, 0.2401, 0.4085, 0.2113, 0.1, 1019, 3056)
    part = Bin(-12.33, -10.86, 1007, 0.374, 0.286, 0.155)
    print_calibration(
        CalibrateResult(
            matchup="chess",
            wanted=2000,
            ending="seconds",
            score=0.5,
            calibration=curve,
            reliability=(part, part),
        )
    )
    score = Mean(-0.1429, 0.2369)
    print_clock(TimeShare(1, 7, score, score, score, score, score, score, score, wanted=3000))
    engine = {"stockfish": "Stockfish 15.1 of the Debian packages, 64 bit [0123456789abcdef]"}
    node = MachineReport("a-machine-in-the-cellar", "192.0.2.1", 16, engine)
    missing = {"lc0": "engine 'lc0' not found; expected an executable file or a program"}
    tell_cluster(ClusterReport("auto", 16, (node,), missing, 1234.5, 20_000))


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_what_is_printed_fits_the_terminal(
    columns: int,
    hide: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(tmp_path)
    race, rival = EXAMPLES / "dice_race.toml", EXAMPLES / "rival.pgn"
    told = {}
    for words in (
        ("prepare", race, "--side", 1, "--cost", 0.001, "--lines", 50),
        ("equilibrium", race, "--save", "run"),
        ("frontier", race, "--side", 1),
        ("harden", hide, "--side", 2, "--cost", 0.2),
        ("bounds", "synthetic", "--side", 1, "--histories", 20),
        ("opponent", rival, "--side", "black", "--sample", 0, "--store", "games.sqlite"),
        ("store", store_of(tmp_path).name, "--export", "all.csv"),
        ("matchups",),
    ):
        code, out, _ = command(capsys, *words)
        assert code == 0
        assert max(map(len, out.splitlines())) <= columns, words
        told[words[0]] = out
    assert ("…" in told["frontier"]) == (columns < 100)
    assert ("…" in told["store"]) == (columns < 100)
    made()
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    assert all(name in out for name in (*BOUNDS, *EQUILIBRIUM))


def test_a_mix_is_a_tree_of_lines(
    hide: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = command(capsys, "harden", hide, "--side", 2, "--cost", 0.2)
    rows = out[out.index("The mix: what side 2 plays") :].splitlines()
    assert rows[1].split() == ["line", "met"]
    assert re.fullmatch(r"the 0th way \d+% / the 1th way \d+% +always", rows[3])
    assert re.fullmatch(r"  the 0th way right: the 0th way \d+% / the 1th way \d+% +1 in [\d.]+", rows[4])
    assert rows[5:] == []


def test_columns_without_a_place_follow_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table(("side", "key", "a" * 20, "b" * 20), [("1", "x", "2", "3")], right=(2, 3), keys=2)
    assert capsys.readouterr().out.splitlines() == [
        "side  key  " + "a" * 20,
        "----  ---  " + "-" * 20,
        "1     x    " + "2".rjust(20),
        "",
        "side  key  " + "b" * 20,
        "----  ---  " + "-" * 20,
        "1     x    " + "3".rjust(20),
    ]


def test_what_was_written_is_told_in_one_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    game = EXAMPLES / "game.json"
    for words in (
        ("frontier", game, "--side", 1, "--plot", "x.svg", "--save", "f"),
        ("prepare", game, "--side", 1, "--cost", 0.01, "--report", "x.svg", "--save", "p"),
        ("equilibrium", game, "--cost", 0.01, "--plot", "x.svg", "--save", "e"),
        ("bounds", game, "--side", 1, "--save", "b"),
        ("match", "p", "--games", 4, "--set", f"file={game}", "--save", "m"),
    ):
        _, out, _ = command(capsys, *words)
        drawn = "Written: x.svg\n" if "x.svg" in words else ""
        _, told, kept = out.partition(f"\n\n{drawn}Kept in {words[-1]}:")
        assert told, words
        names = {path.name for path in (tmp_path / str(words[-1])).iterdir()}
        assert sorted(kept.replace(",", " ").split()) == sorted(names), words
        assert kept.split()[0] == "run.json,", words


def test_a_live_line_that_is_cut_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((20, 24)))
    live = progress(quiet=False)
    assert live is not None
    live("net 0.5, upper 0.75, 1,000 histories")
    assert capsys.readouterr().err == "\rnet 0.5, upper …".ljust(20)


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_and_speaks_no_python(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    code, out, _ = command(capsys, verb, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 60
    assert not re.search(r"[{}]|<\w|\[\[", out)
    told = " ".join(out.split())
    if verb in ("prepare", "frontier", "bounds", "equilibrium", "harden", "sweep", "match"):
        assert "module:function" in told
    if verb == "sweep":
        assert all(name in re.split(r"[ ,;:.]+", told) for name in MEASURES)
    if verb == "equilibrium":
        assert all(name in re.split(r"[ ,:.(]+", told) for name in ("auto", "lp", *METHODS))


def test_the_list_of_commands_tells_them_in_whole_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = command(capsys, "--help")
    rows = [line.split(maxsplit=1) for line in out.partition("Commands:")[2].splitlines() if line]
    assert [verb for verb, _ in rows] == list(VERBS)
    assert [verb for verb, told in rows if told.endswith("...") and verb != "figure1"] == []
