"""The data of a page against slow, independent answers, and the page file as a file."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import chess
import numpy as np
import pageruns
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from pageruns import (
    CHESS,
    CLOCKED,
    HOSTILE,
    MEASURED,
    SHUFFLED,
    SPECIAL,
    as_json,
    hostile_run,
    prepare,
)
from randomgames import games
from typer.testing import CliRunner

from preplay import book as books
from preplay import runs
from preplay.cli.report import report
from preplay.equilibria import payoff
from preplay.errors import PreplayError
from preplay.report import notation, words
from preplay.report.gather import gather
from preplay.report.notation import standard
from preplay.report.page import page, write_report
from preplay.tree import from_parents


class Page:
    """The columns of a page read back one by one, the slow way."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data, self.tree = data, data["tree"]
        self.parent = [-1]
        for k, n in enumerate(self.tree["kids"]):
            self.parent += [k] * n
        self.n = len(self.parent)
        self.children = [[c for c in range(self.n) if self.parent[c] == k] for k in range(self.n)]

    def own(self, k: int) -> bool:
        return bool(self.tree["player"][k] == str(self.data["side"]) and self.children[k])

    def p(self, k: int) -> float:
        return float(self.tree["p"][k - 1])

    def worth(self, k: int, book: frozenset[int]) -> float:
        """The value of k when the side knows `book`, by playing every line."""
        if not self.children[k] or (self.own(k) and k not in book):
            return float(self.tree["value"][k])
        return sum(self.p(c) * self.worth(c, book) for c in self.children[k])

    def history(self, k: int) -> tuple[str, ...]:
        if k == 0:
            return ()
        return (*self.history(self.parent[k]), self.tree["names"][self.tree["move"][k - 1]])

    def books(self) -> Iterator[frozenset[int]]:
        """Every prefix-closed set of own positions on the page."""
        mine = [k for k in range(self.n) if self.own(k)]
        for size in range(len(mine) + 1):
            for some in itertools.combinations(mine, size):
                chosen = frozenset(some)
                if all(above in chosen for k in some if (above := self.above(k)) >= 0):
                    yield chosen

    def above(self, k: int) -> int:
        k = self.parent[k]
        while k >= 0 and not self.own(k):
            k = self.parent[k]
        return k


@settings(max_examples=20, deadline=None)
@given(games(depth=5, own=9), st.sampled_from([1, 2]), st.sampled_from([0.003, 0.01, 0.03, 0.1]))
def test_values_order_and_steps_of_random_games(game: Any, side: int, cost: float) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "game.json")
        path.write_text(json.dumps(game))
        data = prepare(Path(place, "run"), path, "--side", str(side), "--cost", str(cost))
        book = books.load(Path(place, "run", "book.json"))
    shown = Page(data)
    rank = data["tree"]["rank"]
    order = sorted((k for k in range(shown.n) if rank[k] >= 0), key=lambda k: rank[k])
    # The page shows exactly the book, in an order whose every prefix is a book.
    assert {shown.history(k) for k in order} == {e.history for e in book.entries}
    for place_, k in enumerate(order):
        assert rank[k] == place_
        assert shown.above(k) < 0 or rank[shown.above(k)] < place_
    # Its columns are worth what the book says, and so are all smaller books on the way.
    assert shown.worth(0, frozenset(order)) == pytest.approx(book.value, abs=2e-5)
    assert shown.worth(0, frozenset()) == pytest.approx(data["worth"]["unprepared"], abs=2e-5)
    assert [row[0] for row in data["steps"]][-1:] == ([book.size] if book.size else [])
    every = [(len(some), shown.worth(0, some)) for some in shown.books()]
    for size, value, price in data["steps"]:
        assert shown.worth(0, frozenset(order[:size])) == pytest.approx(value, abs=2e-5)
        assert price > cost - 1e-9
        just_below = price * (1 - 1e-6)
        best = max(v - just_below * n for n, v in every)
        assert value - just_below * size == pytest.approx(best, abs=2e-5)


@settings(max_examples=15, deadline=None)
@given(games(depth=5, own=9), st.sampled_from([1, 2]), st.sampled_from([None, 0.004, 0.05]))
def test_the_page_of_a_frontier_has_all_of_its_books(game: Any, side: int, cost: float | None) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "game.json")
        path.write_text(json.dumps(game))
        priced = () if cost is None else ("--cost", str(cost))
        pageruns.save_run("frontier", Path(place, "run"), path, "--side", str(side), *priced)
        data = as_json(gather(Path(place, "run")))
        result = runs.load_run(Path(place, "run"))
    assert data["kind"] == "book"
    assert data["worth"]["cost"] == result.least_cost == (cost or 0.0)
    assert [row[0] for row in data["steps"]] == [point.size for point in result.points]
    assert [row[1] for row in data["steps"]] == pytest.approx([p.value for p in result.points], abs=1e-7)
    assert result.book.size == (result.points[-1].size if result.points else 0)
    assert data["worth"]["net"] == pytest.approx(data["worth"]["upper"])
    shown, rank = Page(data), data["tree"]["rank"]
    order = sorted((k for k in range(shown.n) if rank[k] >= 0), key=lambda k: rank[k])
    assert {shown.history(k) for k in order} == {step.history for step in result.order}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2]), st.floats(1e-3, 0.1))
def test_equilibrium_columns_play_the_mixed_books(seed: int, side: int, cost: float) -> None:
    tree = pageruns.chess_tree(12, 1 if side == 1 else 2, seed=seed, both=True)
    with tempfile.TemporaryDirectory() as place:
        result = pageruns.save_equilibrium(Path(place, "run"), tree, cost)
        data = as_json(gather(Path(place, "run")))
    shown = Page(data | {"side": 0})
    x = [np.zeros(tree.size), np.zeros(tree.size)]
    for name in ("1", "2"):
        for row in result["sides"][name]["book"]:
            x[int(name) - 1][tree.find(tuple(row["history"]))] = row["probability"]
    # Expected utility of the mixed books: the meta-game's payoff with the memory given back.
    utility = payoff(tree, (cost, cost), (x[0], x[1])) + cost * x[0].sum() - cost * x[1].sum()
    assert data["tree"]["value"][0] == pytest.approx(utility, abs=2e-5)
    assert shown.worth(0, frozenset()) == pytest.approx(utility, abs=5e-5)
    for k in range(shown.n):
        if shown.children[k]:
            assert sum(shown.p(c) for c in shown.children[k]) == pytest.approx(1.0, abs=1e-4)
        at = tree.find(shown.history(k))
        assert data["tree"]["x"][k] == pytest.approx(x[0][at] + x[1][at], rel=1e-5, abs=1e-9)


def tabular(root: dict[str, Any], place: Path) -> Path:
    path = place / "game.json"
    path.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    return path


def decision(player: int, **actions: Any) -> dict[str, Any]:
    """A node: name = (base, prep, node)."""
    parts = {name: {"base": b, "prep": p, "to": to} for name, (b, p, to) in actions.items()}
    return {"player": player, "actions": parts}


def chance_to_learn(value: float) -> dict[str, Any]:
    """An own position worth `value` at the board and 1 when prepared."""
    good: Any = {"utility": 1.0}
    return decision(1, good=(value, 1.0, good), bad=(1.0 - value, 0.0, {"utility": 0.0}))


FIVE = {f"r{k}": (0.2, 0.2, chance_to_learn(0.5)) for k in range(5)}
ONE = {"one": (1.0, 1.0, chance_to_learn(0.5))}
RARE = {"often": (0.99, 0.99, chance_to_learn(0.5)), "seldom": (0.01, 0.01, chance_to_learn(0.5))}
WELL = {"well": (0.5, 0.5, chance_to_learn(0.98)), "badly": (0.5, 0.5, chance_to_learn(0.1))}
REASONS = {
    # The first answer is met in 99 of 100 games and worth learning; the second is too rare.
    "r": (decision(2, **RARE), "0.02"),
    # Half of the games stand so well that nothing is left to learn.
    "w": (decision(2, **WELL), "0.02"),
    # Five equal answers: each gains less than its price, one answer would have paid.
    "x": (decision(1, only=(1.0, 1.0, decision(2, **FIVE))), "0.11"),
    # The answer is certain, but two positions have to be learned for one gain.
    "n": (decision(1, only=(1.0, 1.0, decision(2, **ONE))), "0.3"),
}


@pytest.mark.parametrize("code", sorted(REASONS))
def test_why_a_book_ends(code: str, tmp_path: Path) -> None:
    root, cost = REASONS[code]
    data = prepare(tmp_path / "run", tabular(root, tmp_path), "--side", "1", "--cost", cost)
    ends = data["tree"]["end"]
    assert code in ends
    k = ends.index(code)
    shown = Page(data)
    if code == "r":
        assert shown.history(k) == ("seldom",)
    if code == "w":
        assert shown.history(k) == ("well",)
    if code == "x":
        assert data["tree"]["beyond"][str(k)] == ["only", *([f"r{j}", 0.2] for j in range(5))]
    if code == "n":
        assert data["tree"]["beyond"][str(k)] == ["only", ["one", 1.0]]


def test_books_cut_short_without_room_and_over(tmp_path: Path) -> None:
    cut = prepare(tmp_path / "cut", "synthetic", "--side", "1", "--cost", "0.0005", "--histories", "60")
    assert "o" in cut["tree"]["end"]
    assert cut["worth"]["ending"] == "histories"
    small = prepare(tmp_path / "small", "synthetic", "--side", "1", "--budget", "4")
    assert small["worth"]["size"] == 4
    assert "b" in small["tree"]["end"]
    assert not set(small["tree"]["end"]) & set("xno")
    over = prepare(
        tmp_path / "over", tabular(chance_to_learn(0.2), tmp_path), "--side", "1", "--cost", "0.1"
    )
    assert over["tree"]["end"] == "-g"


def test_a_damaged_checkpoint_costs_explanations_alone(tmp_path: Path) -> None:
    whole = prepare(tmp_path / "run", "synthetic", "--side", "1", "--cost", "0.001")
    checkpoint = tmp_path / "run" / "checkpoint.npz"
    data = bytearray(checkpoint.read_bytes())
    data[len(data) // 3] ^= 4
    checkpoint.write_bytes(data)
    with pytest.raises(BadZipFile), np.load(checkpoint) as file:
        dict(file)
    assert gather(tmp_path / "run")["worth"] == whole["worth"]


def test_an_empty_book(tmp_path: Path) -> None:
    data = prepare(tmp_path / "run", "synthetic", "--side", "2", "--cost", "0.9")
    assert data["worth"]["size"] == 0
    assert data["steps"] == []
    assert page(data)


@pytest.mark.parametrize(
    ("fen", "moves", "chess960", "expected"),
    [
        ("", [], False, []),
        ("", ["e4", "c7c5", "Nf3"], False, ["e4", "c5", "Nf3"]),
        (SPECIAL, ["e5d6", "O-O"], False, ["exd6", "O-O"]),
        (SHUFFLED, ["e1g1"], True, ["O-O"]),
        ("", ["e4", "e4"], False, []),
        ("no FEN", ["e4"], False, []),
    ],
)
def test_moves_before_the_start(fen: str, moves: list[str], chess960: bool, expected: list[str]) -> None:
    matchup = CHESS | {"start": {"fen": fen, "moves": moves}, "chess960": chess960}
    told = notation.before(matchup)
    assert told["before"] == expected
    if expected:
        board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
        assert [board.san_and_push(board.parse_uci(move)) for move in told["played"]] == expected
    assert notation.before({"kind": "synthetic", "start": {"moves": ["e4"]}})["before"] == []


@pytest.mark.parametrize("kind", ["prepare", "equilibrium"])
def test_a_page_knows_the_moves_before_its_start(kind: str, tmp_path: Path) -> None:
    matchup = CHESS | {"start": {"fen": "", "moves": ["Nf3", "g8f6"]}}
    if kind == "prepare":
        pageruns.save_preparation(tmp_path / "run", pageruns.chess_tree(4), matchup=matchup)
    else:
        tree = pageruns.chess_tree(4, both=True)
        pageruns.save_equilibrium(tmp_path / "run", tree, matchup=matchup)
    data = gather(tmp_path / "run")
    assert (data["before"], data["played"]) == (["Nf3", "Nf6"], ["g1f3", "g8f6"])


@pytest.mark.parametrize(("start", "seed"), [("", 1), (SPECIAL, 2), (SPECIAL, 3)])
def test_moves_are_written_as_chess_players_write_them(start: str, seed: int, tmp_path: Path) -> None:
    tree = pageruns.chess_tree(60, start=start, seed=seed, replies=3)
    pageruns.save_preparation(tmp_path / "run", tree, start=start)
    data = as_json(gather(tmp_path / "run"))
    assert data["chess"]
    shown = Page(data)
    for k in range(1, shown.n):
        board = chess.Board(start or chess.STARTING_FEN)
        *before, last = shown.history(k)
        for move in before:
            board.push_uci(move)
        assert data["tree"]["labels"][data["tree"]["say"][k - 1]] == board.san(board.parse_uci(last))


def test_a_clocked_tree_has_plain_moves_and_the_time_left(tmp_path: Path) -> None:
    tree = pageruns.with_times(pageruns.chess_tree(20, seed=3), 1)
    pageruns.save_preparation(tmp_path / "run", tree, matchup=CLOCKED, clock=MEASURED)
    data = as_json(gather(tmp_path / "run"))
    shown = Page(data)
    assert data["chess"]
    assert data["sides"] == ["White", "Black"]
    assert data["players"][0] == "Testfish 1, 7,000 nodes for the game + 10 a move"
    assert data["players"][1].startswith("Testfish 1, 5,000 nodes for the game, chooses")
    assert data["worth"]["unprepared"] == books.load(tmp_path / "run" / "book.json").baseline
    assert shown.n == tree.size
    for k in range(tree.size):
        plain = tuple(name.partition("@")[0] for name in tree.history(k))
        times = [int(name.partition("@")[2] or 0) for name in tree.history(k)]
        assert shown.history(k) == plain
        white, black = times[::2], times[1::2]
        assert data["clock"]["left"][k] == [7000 - sum(white) + 10 * len(white), 5000 - sum(black)]
    assert "resigns" in data["tree"]["labels"]


def test_moves_that_differ_in_time_only_are_told_apart() -> None:
    tree = from_parents(
        [-1, 0, 0, 0], [1, 2, 2, 2], [1.0, 0.7, math.nan, 0.3], [1.0, math.nan, 1.0, math.nan], [0.5] * 4,
        action=[-1, 0, 1, 2], names=("e2e4@1455", "e2e4", "d2d4@1455"),
    )  # fmt: skip
    written = standard(tree, "", False, {})
    assert written is not None
    assert written.moves == ["", "e2e4", "e2e4", "d2d4"]
    assert written.labels == ["", "e4 (1,455)", "e4", "d4"]


def test_a_tree_that_is_not_chess_after_all_goes_without_a_board(tmp_path: Path) -> None:
    tree = pageruns.chess_tree(5)
    renamed = type(tree)(**{**vars(tree), "names": tuple(f"{name}@3s" for name in tree.names)})
    pageruns.save_preparation(tmp_path / "run", renamed)
    data = gather(tmp_path / "run")
    assert not data["chess"]
    assert "labels" not in data["tree"]


class Reader(HTMLParser):
    """What a browser sees of a page: scripts, styles, policy, title and the kinds of elements."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.inside = ""
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self.kinds: list[str | None] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        have = dict(attrs)
        assert not any(name.startswith("on") or name == "style" for name in have)
        assert "src" not in have
        assert not (have.get("href") or "#").startswith(("http", "/", "data", "javascript"))
        if have.get("http-equiv") == "Content-Security-Policy":
            self.policy = have["content"] or ""
        if tag in self.texts:
            self.inside = tag
            self.texts[tag].append("")
            if tag == "script":
                self.kinds.append(have.get("type"))

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    data = gather(hostile_run(tmp_path / "run"))
    read = Reader(page(data))
    assert read.kinds == ["application/json", None]
    assert json.loads(read.texts["script"][0]) == as_json(data)
    assert "img" not in read.tags
    assert read.tags.count("script") == 2
    assert HOSTILE in read.texts["title"][0]


def test_the_policy_allows_this_script_and_style_and_nothing_else(tmp_path: Path) -> None:
    pageruns.save_sweep(tmp_path / "run")
    write_report(tmp_path / "run", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    read = Reader(text)

    def digest(part: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() + "'"

    rules = dict(rule.strip().partition(" ")[::2] for rule in read.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(read.texts["script"][1])
    assert rules["style-src"] == digest(read.texts["style"][0])
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action",
                          "require-trusted-types-for", "trusted-types"}  # fmt: skip
    for word in ("innerHTML", "eval(", "document.write", "http:", "https:", "@import", "url("):
        assert word not in text.replace("http://www.w3.org/2000/svg", ""), word
    write_report(tmp_path / "run", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_pieces_are_there_for_chess_and_attributed(tmp_path: Path) -> None:
    pageruns.save_preparation(tmp_path / "chess", pageruns.chess_tree(5))
    text = page(gather(tmp_path / "chess"))
    assert text.count("<symbol id=") == 12
    assert "Colin M.L. Burnett" in text
    prepare(tmp_path / "other", "synthetic", "--side", "1")
    assert "<symbol" not in page(gather(tmp_path / "other"))


def test_sweep_points_come_out_in_order(tmp_path: Path) -> None:
    pageruns.save_sweep(tmp_path / "words", key="value.model", settings=("linear", "wdl"))
    words = gather(tmp_path / "words")
    assert (words["plain"], words["log"], words["settings"]) == (False, False, ["linear", "wdl"])
    points = pageruns.save_sweep(tmp_path / "numbers", settings=(100.0, 0.1, 1.0))
    data = gather(tmp_path / "numbers")
    assert (data["plain"], data["log"], data["settings"]) == (True, True, [0.1, 1.0, 100.0])
    for line in data["series"]:
        told = {data["settings"][row["at"]]: row["value"] for row in line["points"]}
        assert told == {p.setting: pytest.approx(p.value) for p in points if p.side == line["side"]}


def test_runs_that_cannot_be_shown_say_so(tmp_path: Path) -> None:
    runs.start(tmp_path / "curve", "calibrate", "chess", {"matchup": {}}, {})
    runs.start(tmp_path / "match", "match", "chess", {"matchup": {}}, {})
    runs.start(tmp_path / "early", "prepare", "chess", {"matchup": {}}, {})
    runs.start(tmp_path / "empty", "sweep", "chess", {"matchup": {}}, {})
    said = {
        "curve": "a run of `preplay calibrate`; expected one of prepare, frontier, equilibrium",
        "match": "has no result.json yet",
        "early": "has no result.json yet",
        "empty": "has no points yet",
        "none": "no such run",
    }
    for name, message in said.items():
        with pytest.raises(PreplayError, match=message):
            gather(tmp_path / name)
    pageruns.save_preparation(tmp_path / "torn", pageruns.chess_tree(5))
    book = json.loads((tmp_path / "torn" / "book.json").read_text())
    book["entries"][0]["history"] = ["a2a4", "a7a5"]
    (tmp_path / "torn" / "book.json").write_text(json.dumps(book))
    with pytest.raises(PreplayError, match=r"book\.json holds 'a2a4 a7a5', which tree\.npz does not"):
        gather(tmp_path / "torn")


@pytest.mark.parametrize(
    "matchup",
    [
        {}, {"kind": "new", "clock": 60}, {"kind": "synthetic"}, {"kind": "openspiel", "game": "pig"},
        {"kind": "openspiel", "base": {"policy": "mcts", "simulations": 3, "randomness": 0.5}},
        {"kind": "chess"}, {"kind": "chess", "black": {"pgn": "rival.pgn", "depth": 3}, "value": None},
    ],
)  # fmt: skip
def test_any_configuration_has_words(matchup: dict[str, Any]) -> None:
    told = words.facts(matchup, "name") + list(
        zip(words.sides(matchup), words.players(matchup), strict=True)
    )
    assert all(isinstance(text, str) and text and "None" not in text for row in told for text in row)
    if "black" in matchup:
        assert words.players(matchup)[1] == "Stockfish, depth 3, pgn rival.pgn"


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    pageruns.save_sweep(tmp_path / "run")
    verbs = typer.Typer()
    verbs.command()(report)
    output = tmp_path / "new" / "page.html"
    done = CliRunner().invoke(verbs, [str(tmp_path / "run"), "-o", str(output)])
    assert done.exit_code == 0
    assert str(output) in done.stdout
    assert output.read_text(encoding="utf-8").startswith("<!doctype html>")
