"""What the page knows beyond the book: alternatives, choices, a rival's games, names, boards, trust."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import pageruns
import pytest
from pagematches import CURVE, save_match, save_proved
from pageruns import CHESS
from typer.testing import CliRunner

from preplay.cli.app import application
from preplay.errors import InputError
from preplay.game import walk
from preplay.judging import Judged
from preplay.matchup import open_matchup
from preplay.policy import REST
from preplay.report import openings
from preplay.report.alternatives import alternatives, keep, kept
from preplay.report.drawings import drawn
from preplay.report.gather import gather
from preplay.report.notation import standard
from preplay.report.page import write_report
from preplay.report.prepared import _within_lines
from preplay.report.rivalgames import met
from preplay.report.trust import trust
from preplay.runs.directory import open_run
from preplay.runs.outcomes import MatchResult
from preplay.runs.prepared import PrepareResult
from preplay.runs.prepared import prepare as prepare_now
from preplay.tree import from_parents

RIVAL = Path(__file__).parents[2] / "examples" / "rival.pgn"
SMALL = ("black.randomness=10", "prep.nodes=300", "white.nodes=100", "black.nodes=100",
         "value.model=linear", "judge=false")  # fmt: skip


@pytest.mark.usefixtures("stockfish")
def test_alternatives_are_worth_what_one_answer_gives(tmp_path: Path) -> None:
    run, store = tmp_path / "run", tmp_path / "store.sqlite"
    sets = [word for change in SMALL for word in ("--set", change)]
    common = ["--store", str(store), "--quiet"]
    asked = ["prepare", "chess", "--side", "white", "--budget", "3", "--save", str(run), *sets, *common]
    done = CliRunner().invoke(application(), [*asked, "--histories", "60"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        application(),
        ["report", str(run), "-o", str(page), "--alternatives", "3", *common],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    book, found = open_run(run).book(), kept(open_run(run))
    assert set(found) == {entry.history for entry in book.entries}
    with open_matchup("chess", SMALL, store=store) as matchup:
        for entry in book.entries:
            options = found[entry.history]
            assert len(options) >= 3
            assert set(entry.moves) <= {option.move for option in options}
            for option in options[:2]:  # one question at a time, the slow way
                state = matchup.game.next(walk(matchup.game, entry.history), option.move)
                (answers,) = matchup.base[1].distributions([state])
                worth = 0.0
                for move, p in answers.items():
                    (value,) = matchup.value.values([matchup.game.next(state, move)])
                    worth += p * value.mean
                assert option.worth == pytest.approx(worth, abs=1e-12)
                assert option.line[0] == option.move
                board = state.board.copy()
                for move in option.line[1:]:
                    board.push_uci(move)  # the line is legal
        assert [tuple(o) for o in alternatives(matchup, book, 3)] == [
            found[e.history] for e in book.entries
        ]
    shown = gather(run)["tree"]["others"]
    assert len(shown) == book.size


@pytest.mark.usefixtures("stockfish")
def test_alternatives_within_a_repertoire(tmp_path: Path) -> None:
    """The engine that prepares is asked, whatever moves of its own a side allows."""
    lines, store = tmp_path / "mine.pgn", tmp_path / "store.sqlite"
    lines.write_text("1. d4 *\n")
    changes = (*SMALL, f"white_prep.repertoire={lines}")
    with open_matchup("chess", changes, store=store) as matchup:
        book = prepare_now(matchup, "white", budget=2, histories=60).book
        found = alternatives(matchup, book, 3)
    assert set(book.entries[0].moves) == {"d2d4"}
    assert [len(options) >= 3 for options in found] == [True] * book.size


def test_alternatives_need_a_chess_book(tmp_path: Path) -> None:
    pageruns.prepare(tmp_path / "run", "synthetic", "--side", "1", "--cost", "0.01")
    done = CliRunner().invoke(application(), ["report", str(tmp_path / "run"), "--alternatives", "2"])
    assert "--alternatives needs a chess book" in str(done.exception)
    pageruns.save_preparation(tmp_path / "chess", pageruns.chess_tree(5))
    (tmp_path / "chess" / "alternatives.json").write_text('{"format": "preplay-alternatives/1"}')
    with pytest.raises(InputError, match=r"alternatives\.json: damaged"):
        gather(tmp_path / "chess")


def test_kept_alternatives_come_back(tmp_path: Path) -> None:
    book = pageruns.save_preparation(tmp_path / "run", pageruns.chess_tree(5))
    run = open_run(tmp_path / "run")
    assert kept(run) == {}
    keep(run, book, [() for _ in book.entries], 1)
    assert kept(run) == {entry.history: () for entry in book.entries}


def test_a_choosing_book_tells_its_choices(tmp_path: Path) -> None:
    end = [{"utility": 1.0}, {"utility": 0.0}]

    def own(value: float) -> dict[str, object]:
        actions = {"good": {"base": value, "prep": 1.0, "to": end[0]},
                   "bad": {"base": 1 - value, "prep": 0.0, "to": end[1]}}  # fmt: skip
        return {"player": 1, "actions": actions}

    def theirs(value: float) -> dict[str, object]:
        return {"player": 2, "actions": {"only": {"base": 1.0, "prep": 1.0, "to": own(value)}}}

    root = {"player": 1, "actions": {
        "first": {"base": 1.0, "prep": 1.0, "menu": True, "to": {"utility": 0.5}},
        "second": {"base": 0.0, "prep": 0.0, "menu": True, "to": theirs(0.2)}}}  # fmt: skip
    path = tmp_path / "game.json"
    path.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    data = pageruns.prepare(tmp_path / "run", path, "--side", "1", "--cost", "0.05")
    choice = data["tree"]["choice"]["0"]
    assert [option[0] for option in choice["options"]] == ["first", "second"]
    assert choice["played"] == 1
    assert choice["options"][1][2] == pytest.approx(0.9)  # 1, less two histories to learn
    assert choice["hoped"][0] == "only"


def test_a_page_knows_whether_books_keep_to_lines_of_ones_own() -> None:
    assert not _within_lines({"prep": {"choose": 3}, "white_prep": None}, 1)
    assert _within_lines({"prep": {"choose": 3}, "white_prep": {"avoid": "x.pgn"}}, 1)
    assert not _within_lines({"prep": {}, "white_prep": {"repertoire": "x.pgn"}}, 2)
    assert _within_lines({"prep": {"repertoire": "x.pgn"}}, 2)


def test_a_rivals_games_are_counted_and_named() -> None:
    counted: Counter[tuple[str, str]] = Counter()
    with RIVAL.open(encoding="utf-8") as file:
        while game := chess.pgn.read_game(file):
            board = game.board()
            for move in game.mainline_moves():
                if not board.turn and board.ply() < 3:
                    counted[(board.epd(), board.san(move))] += 1
                board.push(move)
    tree = from_parents(
        [-1, 0, 0, 1, 2], [1, 2, 2, 1, 1], [1.0, 0.5, 0.5, 1.0, 1.0], [1.0] * 5, [0.5] * 5,
        action=[-1, 0, 1, 2, 2], names=("e2e4", "d2d4", "g8f6"),
    )  # fmt: skip
    matchup = CHESS | {"black": {"games": {"file": str(RIVAL), "player": ""}}}
    found = met(tree, ["", "e2e4", "d2d4", "g8f6", "g8f6"], "", matchup, 2)
    assert found
    for k, (games, moves, named) in found.items():
        board = chess.Board()
        board.push_uci(["", "e2e4", "d2d4"][k])
        slow = {san: n for (epd, san), n in counted.items() if epd == board.epd()}
        assert dict(map(tuple, moves)) == slow
        assert games == sum(slow.values())
        assert 1 <= len(named) <= 5
        assert all(" – " in name for name in named)
    gone = CHESS | {"black": {"games": {"file": "gone.pgn", "player": ""}}}
    assert met(tree, ["", "e2e4", "d2d4", "g8f6", "g8f6"], "", gone, 2) == {}


def test_the_rest_of_the_moves_is_told() -> None:
    tree = from_parents(
        [-1, 0, 1, 1], [1, 2, 1, 1], [1.0, 1.0, 0.9, 0.1], [1.0] * 4, [0.5] * 4,
        action=[-1, 0, 1, 2], names=("e2e4", "e7e5", REST),
    )  # fmt: skip
    written = standard(tree, "", False, {})
    assert written is not None
    assert written.labels == ["", "e4", "e5", "any other move"]


def test_openings_are_named_by_position() -> None:
    names = openings.table()
    assert len(names) > 250
    assert all(name == name.strip() and name for name in names.values())
    tree = from_parents(
        [-1, 0, 1, 2, 3], [1, 2, 1, 2, 1], [1.0] * 5, [1.0] * 5, [0.5] * 5,
        action=[-1, 0, 1, 2, 3], names=("c2c4", "g8f6", "d2d4", "e7e6"),
    )  # fmt: skip
    told = openings.named(tree, ["", "c2c4", "g8f6", "d2d4", "e7e6"], "", [])
    assert told[1] == "English Opening"
    assert told[3] == "Indian Defence"  # by transposition
    after = chess.Board()
    after.push_san("e4")
    late = from_parents([-1, 0], [2, 1], [1.0] * 2, [1.0] * 2, [0.5] * 2, action=[-1, 0], names=("c7c5",))
    assert openings.named(late, ["", "c7c5"], after.fen(), ["e2e4"]) == {
        0: "King's Pawn", 1: "Sicilian Defence",
    }  # fmt: skip
    assert (
        openings.named(late, ["", "a7a5"], chess.Board("8/8/8/4k3/8/8/8/4K3 w - - 0 1").fen(), []) == {}
    )


@pytest.mark.parametrize(
    ("game", "names", "cells"),
    [
        ("tic_tac_toe", ("x(1,1)", "o(0,2)"), [-1, 4, 2]),
        ("connect_four", ("x3", "o3"), [-1, 38, 31]),
        ("connect_four", ("x3", "other"), [-1, 38, -1]),
    ],
)
def test_moves_on_a_grid(game: str, names: tuple[str, ...], cells: list[int]) -> None:
    tree = from_parents(
        [-1, 0, 1], [1, 2, 1], [1.0] * 3, [1.0] * 3, [0.5] * 3, action=[-1, 0, 1], names=names
    )
    told = drawn(tree, {"kind": "openspiel", "game": game})
    assert told is not None
    assert told["cells"] == cells
    assert drawn(tree, {"kind": "openspiel", "game": "pig"}) is None


def test_what_heads_a_page(tmp_path: Path) -> None:
    pageruns.save_preparation(tmp_path / "run", pageruns.chess_tree(5))
    result = PrepareResult.found(open_run(tmp_path / "run"))
    plain = trust(result, CHESS, 0.5, None)
    assert plain["headline"]["label"] == "model score"
    assert [row["name"] for row in plain["rows"]] == ["promised"]
    judged = replace(result, judged=Judged(2, 9, 0.8, 0.7, 0.69, 0.01))
    told = trust(judged, CHESS, 0.5, None)
    assert (told["headline"]["row"], told["headline"]["label"]) == ("fresh", "model score")
    real = CHESS | {"value": {"model": "calibrated"}}
    told = trust(replace(judged, calibration=CURVE), real, 0.5, None)
    assert told["headline"] == {
        "row": "fresh", "label": "expected score", "score": 0.69, "without": 0.5, "error": 0.01,
    }  # fmt: skip
    assert trust(result, real, 0.5, None)["headline"]["label"] == "model score"  # nobody judged it
    save_match(tmp_path / "match")
    match = MatchResult.found(open_run(tmp_path / "match"))
    assert trust(judged, CHESS, 0.5, match)["headline"]["label"] == "in games played"
    scored = replace(match, adjudication="model")
    assert trust(judged, CHESS, 0.5, scored)["headline"]["label"] == "model score"
    assert trust(judged, CHESS, 0.5, replace(match, control=None))["headline"]["row"] == "fresh"


def test_a_kept_match_is_found(tmp_path: Path) -> None:
    save_proved(tmp_path / "run")
    rows = gather(tmp_path / "run")["trust"]["rows"]
    assert [row["name"] for row in rows] == ["promised", "judged", "fresh", "played"]


def test_only_like_books_are_compared(tmp_path: Path) -> None:
    pageruns.save_preparation(tmp_path / "white", pageruns.chess_tree(5))
    pageruns.save_preparation(tmp_path / "black", pageruns.chess_tree(5, 2), 2)
    with pytest.raises(InputError, match="Chess for white and Chess for black; expected the same"):
        write_report(tmp_path / "white", tmp_path / "page.html", tmp_path / "black")
    pageruns.save_sweep(tmp_path / "sweep")
    with pytest.raises(InputError, match="only books of `prepare` are compared"):
        write_report(tmp_path / "white", tmp_path / "page.html", tmp_path / "sweep")
    pageruns.prepare(tmp_path / "one", "synthetic", "--side", "1", "--cost", "0.01")
    pageruns.prepare(tmp_path / "two", "synthetic", "--side", "1", "--cost", "0.002")
    write_report(tmp_path / "one", tmp_path / "page.html", tmp_path / "two")
    assert "one and two side by side" in (tmp_path / "page.html").read_text(encoding="utf-8")
