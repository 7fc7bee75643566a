"""Using the page in a real headless Chromium: walking, looking, searching, choosing how much to learn."""

from __future__ import annotations

import math
import re
from pathlib import Path

import chess
import pytest
from browser import DOWN, END, ENTER, HOME, LEFT, RIGHT, UP, Browser, current, go
from pageruns import LATE

from preplay import book as books
from preplay import tree as trees
from preplay.report.gather import gather


def test_walks_by_keys_clicks_and_on_the_board(browser: Browser, place: Path) -> None:
    browser.open(place / "chess.html")
    tree = trees.load(place / "chess" / "tree.npz")
    assert current(browser) == 0
    browser.press(RIGHT, RIGHT)
    reply = current(browser)
    assert tree.parent[tree.parent[reply]] == 0
    other = next(c for c in tree.children(int(tree.parent[reply])) if c != reply)
    browser.press(DOWN if tree.base[other] < tree.base[reply] else UP)
    assert current(browser) == other
    browser.press(LEFT)
    assert current(browser) == tree.parent[reply]
    browser.find(f".reply[data-node='{other}']").click()
    assert current(browser) == other
    browser.press(END)
    assert tree.leaves[current(browser)] or current(browser) == other
    browser.press(HOME)
    assert current(browser) == 0
    # On the board: one click is enough where only one move starts or ends there.
    move = tree.names[tree.action[1]]
    browser.square(move[:2])
    assert current(browser) == 1
    answer = tree.names[tree.action[other]]
    browser.square(answer[:2])
    if current(browser) == 1:  # both answers are by this piece: choose where it goes
        browser.square(answer[2:4])
    assert current(browser) == other
    browser.find(".controls [aria-label=Back]").click()
    assert current(browser) == 1
    # In the tree, and by a line that has to be opened first.
    deep = max(range(tree.size), key=lambda k: len(tree.history(k)))
    browser.press(HOME)
    go(browser, tree, deep)
    browser.press(LEFT)
    browser.wait("return location.hash === arguments[0]", "#/" + "/".join(tree.history(deep)[:-1]))
    browser.press(RIGHT)
    browser.find(f".way .move:nth-of-type({len(tree.history(deep))})").click()
    assert current(browser) == tree.parent[deep]
    assert browser.console() == []


@pytest.mark.parametrize("kind", ["chess", "special", "shuffled", "black", "clocked"])
def test_every_position_stands_as_python_chess_says(browser: Browser, place: Path, kind: str) -> None:
    browser.open(place / f"{kind}.html")
    tree = trees.load(place / kind / "tree.npz")
    book = books.load(place / kind / "book.json")
    told = browser.js(
        "const find = (what) => document.querySelector(what); const done = [];"
        " for (let closed; (closed = find('.toggle[aria-expanded=false]'));) closed.click();"
        " for (let k = 0; k < arguments[0]; k += 1) {"
        " (find(`.tree .move[data-node='${k}']`) ?? find('.way .move')).click();"
        " const uses = [...document.querySelectorAll('.pieces use')];"
        " done.push([document.querySelector('.fen input').value,"
        "  uses.map((u) => u.dataset.on + u.getAttribute('href')).sort().join(' '),"
        "  document.querySelectorAll('.marks .last').length]); } return done",
        tree.size,
    )
    assert tree.size > 50
    seen: set[str] = set()
    for k, (fen, men, marks) in enumerate(told):
        board = chess.Board(book.start or chess.STARTING_FEN, chess960=book.chess960)
        given_up = False
        for move in tree.history(k):
            given_up = move.startswith("resign")
            if given_up:
                continue
            played = board.parse_uci(move.partition("@")[0])
            seen |= {"castling"} if board.is_castling(played) else set()
            seen |= {"en passant"} if board.is_en_passant(played) else set()
            seen |= {"promotion"} if played.promotion else set()
            board.push(played)
        assert fen == board.fen(en_passant="xfen")
        pieces = [
            f"{chess.square_name(s)}#piece-{'w' if p.color else 'b'}{p.symbol().lower()}"
            for s, p in board.piece_map().items()
        ]
        assert men == " ".join(sorted(pieces))
        assert marks == (2 if k and not given_up else 0)
        seen |= {"resignation"} if given_up else set()
    assert kind != "special" or seen == {"castling", "en passant", "promotion"}
    assert kind != "shuffled" or "castling" in seen
    assert kind != "clocked" or "resignation" in seen


def test_clocks_and_what_they_are_worth(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "clocked" / "tree.npz")
    browser.open(place / "clocked.html")
    aside = browser.text(".clock-split")
    assert "+25.0 ± 1.20 points" in aside
    assert "better moves bring +20.0 ± 1.20 and saved time +5.00 ± 1.20" in aside
    assert "7,000 : 5,000 nodes" in browser.text(".position-body")
    browser.press(RIGHT, RIGHT)
    taken = int(tree.names[tree.action[current(browser)]].partition("@")[2])
    assert f"7,010 : {5000 - taken:,} nodes" in browser.text(".position-body")
    assert "@" not in browser.text("#main")
    assert browser.console() == []


def test_arrows_orientation_and_coordinates(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "black" / "tree.npz")
    browser.open(place / "black.html")

    def corner() -> str:
        """The square at the lower left."""
        return str(browser.js(
            "return [...document.querySelectorAll('[data-square]')].sort((a, b) =>"
            " a.getBoundingClientRect().x - b.getBoundingClientRect().x ||"
            " b.getBoundingClientRect().y - a.getBoundingClientRect().y)[0].dataset.square"
        ))  # fmt: skip

    assert corner() == "h8"
    browser.press("f")
    assert corner() == "a1"
    letters = "return [...document.querySelectorAll('.coordinates text')].map((t) => t.textContent)"
    assert sorted(browser.js(letters)) == sorted("12345678abcdefgh")
    # White moves first: its replies, the likelier the wider.
    wide = browser.js(
        "return [...document.querySelectorAll('.arrow.theirs')].map((a) => { const p = a.points;"
        " return Math.hypot(p[0].x - p[6].x, p[0].y - p[6].y); })"
    )
    shares = sorted(float(tree.base[c]) for c in tree.children(0))
    assert len(wide) == len(shares)
    for width, share in zip(sorted(wide), shares, strict=True):
        assert width == pytest.approx(2.5 + 8.5 * math.sqrt(share), abs=0.3)
    browser.press(RIGHT)
    assert len(browser.all(".arrow.mine")) == 1
    assert not browser.all(".arrow.theirs")


def test_a_position_tells_reach_values_and_gain(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    book = books.load(place / "chess" / "book.json")
    data = gather(place / "chess")
    browser.open(place / "chess.html")
    assert f"{100 * book.value:.1f}% model score" in browser.text(".figures")
    assert f"{book.size} positions" in browser.text(".figures")
    assert browser.text("h1") == f"White against {data['rival']}"
    assert "Best within this model" in browser.text("#panel-trust")
    assert "Elo" not in browser.js("return document.body.innerText")  # the values are not calibrated
    for entry in book.entries[:12]:
        go(browser, tree, tree.find(entry.history))
        facts = browser.text(".position .facts")
        gain = 100 * entry.gain
        shown = re.search(r"([+−][\d.]+) per 100 games", facts)
        assert shown is not None
        assert float(shown[1].replace("−", "-")) == pytest.approx(gain, rel=0.06, abs=1e-5)
        assert f"{100 * entry.value:.1f}%" in facts
        if entry.reach < 0.1:
            assert f"1 in {round(1 / entry.reach)} games" in facts
        (move,) = entry.moves
        board = chess.Board()
        for played in entry.history:
            board.push_uci(played)
        assert browser.text(".play").endswith(board.san(chess.Move.from_uci(move)))
    leaf = next(k for k in range(tree.size) if tree.leaves[k] and tree.player[k] == 1)
    go(browser, tree, leaf)
    assert "The book ends here" in browser.text(".position")


def test_choosing_a_smaller_book_on_the_chart(browser: Browser, place: Path) -> None:
    data = gather(place / "chess")
    steps = data["steps"]
    browser.open(place / "chess.html")
    assert browser.all(".tree .move.beyond") == []
    browser.find("#tab-order").click()
    browser.wait("return document.querySelector('.order .chart polyline')")
    at = len(steps) // 2
    spot = browser.js(
        "const c = document.querySelector('.order .chart'); const b = c.getBoundingClientRect();"
        "const m = c.querySelectorAll('.series .marker')[arguments[0]].getBoundingClientRect();"
        "return [(m.x + m.width / 2 - b.x) / b.width, (m.y + m.height / 2 - b.y) / b.height]",
        at + 1,
    )
    browser.click_at(".order .chart", *spot)
    size, value, _ = steps[at]
    verdict = browser.text(".verdict-box")
    assert verdict.startswith(f"{size} positions for {100 * value:.1f}%")
    lost = 100 * (steps[-1][1] - value)
    told = re.search(r"give up ([\d.]+) points", verdict)
    assert told is not None
    assert float(told[1]) == pytest.approx(lost, rel=0.02)
    assert f"{100 * value:.1f}%" in browser.text(".position .facts")  # at the start: the whole value
    beyond = len(browser.all(".steps li.beyond"))
    assert beyond == len(steps) - at - 1
    browser.find("#tab-tree").click()
    assert browser.all(".tree .move.beyond")
    # The slider does the same by keyboard.
    browser.find("#tab-order").click()
    browser.find("#book-size").send_keys(HOME)
    assert browser.text(".verdict-box").startswith("0 positions")
    assert "left out" in browser.text(".position")
    browser.find(".verdict-box button").click()
    assert browser.text(".verdict-box").startswith(f"{steps[-1][0]} positions")


def test_a_frontier_opens_at_its_curves(browser: Browser, place: Path) -> None:
    data = gather(place / "frontier")
    size, value, _ = data["steps"][-1]
    browser.open(place / "frontier.html")
    assert browser.find("#tab-order").get_attribute("aria-selected") == "true"
    browser.wait("return document.querySelectorAll('.order .chart polyline').length === 2")
    net = f"net {100 * (value - 0.003 * size):.1f}%"
    assert browser.text(".verdict-box").startswith(f"{size} positions for {100 * value:.1f}%, {net}")
    assert len(browser.all(".steps li")) == len(data["steps"])


def _search(browser: Browser, text: str) -> str:
    """Search from the start; what the page says about it."""
    browser.press(HOME, "/")
    field = browser.find("#find")
    assert browser.js("return document.activeElement.id") == "find"
    field.clear()
    field.send_keys(text, ENTER)
    browser.js("document.activeElement.blur()")
    return browser.text(".finder [role=status]")


def test_finds_lines_told_with_the_moves_before_the_start(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "late" / "tree.npz")
    browser.open(place / "late.html")
    k = next(k for k in range(tree.size) if len(tree.history(k)) == 3)
    board = chess.Board()
    opening = [board.push_san(san) for san in ("e4", "e6", "d4")]
    assert board.fen() == LATE
    moves = [*opening, *map(chess.Move.from_uci, tree.history(k))]
    assert _search(browser, chess.Board().variation_san(moves)) == "Found."
    assert current(browser) == k
    assert _search(browser, " ".join(move.uci() for move in moves)) == "Found."
    assert current(browser) == k
    assert _search(browser, board.variation_san(moves[3:])) == "Found."
    assert current(browser) == k
    assert _search(browser, "1. e4 e6 2. d4") == "Found."
    assert current(browser) == 0
    assert _search(browser, "1. e4") == "The book starts after e4 e6 d4."
    assert current(browser) == 0
    known = board.variation_san(moves[3:]).replace("...", "… ")
    told = f"The book knows this up to {known}, not Qh9."
    assert _search(browser, chess.Board().variation_san(moves) + " Qh9") == told
    assert current(browser) == k
    assert _search(browser, "e4 e6 d4 Qh9") == "The book knows this up to its start, not Qh9."
    assert current(browser) == 0
    assert "Nothing found" in _search(browser, "1. e4 c5 2. d4")
    for move in moves[3:]:
        board.push(move)
    assert "in the book" in _search(browser, board.fen())


def test_finds_positions(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html")
    k = max(range(tree.size), key=lambda j: len(tree.history(j)))
    board = chess.Board()
    moves = [chess.Move.from_uci(m) for m in tree.history(k)]
    line = board.variation_san(moves)
    for move in moves:
        board.push(move)

    def search(text: str) -> str:
        return _search(browser, text)

    same = {j for j in range(tree.size) if _board(tree, j).board_fen() == board.board_fen()}
    assert "in the book" in search(board.fen())
    assert current(browser) in same
    board.turn = not board.turn
    assert "not in the book" in search(board.fen())
    assert "not in the book" in search("8/8/8/4k3/8/8/8/4K3 w - - 0 1")
    assert search(line) == "Found."
    assert current(browser) == k
    assert search(" ".join(tree.history(k)[:3])) == "Found."
    assert search(line + " Qh9") != "Found."
    assert current(browser) == k
    assert "Nothing found" in search("<img src=x onerror=alert(1)>")
    last = browser.js(
        "return document.querySelector(`.move[data-node='${arguments[0]}']`).lastChild.textContent", k
    )
    assert re.match(r"\d+ places? with|Found", search(last))


def _board(tree: trees.Tree, k: int) -> chess.Board:
    board = chess.Board()
    for move in tree.history(k):
        board.push_uci(move)
    return board
