"""Using the page in a real headless Chromium: walking, learning, searching, the quiz."""

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
    browser.find(f".crumbs .move:nth-of-type({len(tree.history(deep))})").click()
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
        " (find(`.tree .move[data-node='${k}']`) ?? find('.crumbs .move')).click();"
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
    aside = browser.text("#top .aside")
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
    assert f"{100 * book.value:.1f}%" in browser.text(".tiles")
    assert f"{book.size} positions" in browser.text(".tiles")
    elo = round(400 * math.log10(book.value / (1 - book.value) * (1 - book.baseline) / book.baseline))
    assert f"about +{elo} Elo" in browser.text(".tiles")
    assert "Best possible" in browser.text(".tiles")
    assert data["players"][1] in browser.text(".subtitle")
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
    browser.find("#tab-learn").click()
    browser.wait("return document.querySelector('.learn .chart polyline')")
    at = len(steps) // 2
    spot = browser.js(
        "const c = document.querySelector('.learn .chart'); const b = c.getBoundingClientRect();"
        "const m = c.querySelectorAll('.series .marker')[arguments[0]].getBoundingClientRect();"
        "return [(m.x + m.width / 2 - b.x) / b.width, (m.y + m.height / 2 - b.y) / b.height]",
        at + 1,
    )
    browser.click_at(".learn .chart", *spot)
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
    browser.find("#tab-learn").click()
    browser.find("#book-size").send_keys(HOME)
    assert browser.text(".verdict-box").startswith("0 positions")
    assert "left out" in browser.text(".position")
    browser.find(".verdict-box button").click()
    assert browser.text(".verdict-box").startswith(f"{steps[-1][0]} positions")


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


def test_quiz_by_keyboard_and_board_and_misses_come_again(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html")

    def waiting() -> tuple[str, int]:
        """What the quiz waits for, and where."""
        phase = browser.wait(
            "const p = document.querySelector('.game').dataset.phase; return p !== 'moving' && p"
        )
        return phase, int(browser.js("return document.querySelector('.game').dataset.node"))

    def san(k: int) -> str:
        board = _board(tree, k)
        return board.san(chess.Move.from_uci(tree.names[tree.action[tree.first[k]]]))

    browser.press("q")
    assert browser.js("return document.activeElement.id") == "tab-quiz"
    browser.find(".quiz .intro .primary").send_keys(ENTER)
    assert waiting() == ("ask", 0)
    assert browser.all(".arrow") == []
    assert not browser.find(".position").is_displayed()
    browser.press("hello", ENTER)
    assert "Write a move" in browser.text(".feedback")
    browser.press("Na3" if san(0) != "Na3" else "Nc3", ENTER)
    assert "Not Na3" in browser.text(".feedback") or "Not Nc3" in browser.text(".feedback")
    assert "To come again\n1" in browser.text(".game")
    browser.press(san(0), ENTER)
    asked, missed_again, boards = [0], False, 0
    for _ in range(60):
        phase, k = waiting()
        if phase == "end":
            browser.find(".actions .primary").send_keys(ENTER)
            browser.wait(
                "return Number(document.querySelector('.game').dataset.node) !== arguments[0]", k
            )
            continue
        if k == 0 and len(asked) > 1 and "Once more" in browser.text(".question"):
            missed_again = True
            browser.press(san(0), ENTER)
            assert "To come again\n0" in browser.text(".game")
            break
        asked.append(k)
        if boards < 2 and k:
            boards += 1
            move = tree.names[tree.action[tree.first[k]]]
            browser.square(move[:2])
            browser.square(move[2:4])
        else:
            browser.js("document.querySelector('#answer').focus()")
            browser.press(san(k), ENTER)
        browser.wait("return Number(document.querySelector('.game').dataset.node) !== arguments[0]", k)
        assert "Not " not in browser.text(".feedback")
    assert missed_again
    assert boards
    known = set(asked) | {0}
    assert f"Known\n{len(known)} of " in browser.text(".game")
    browser.find("#tab-tree").click()
    assert browser.find(".position").is_displayed()
    assert browser.console() == []


def test_quiz_shows_the_answer_when_asked(browser: Browser, place: Path) -> None:
    browser.open(place / "chess.html")
    browser.find("#tab-quiz").click()
    browser.find(".quiz .intro .primary").click()
    browser.find(".actions .plain").click()
    assert "The book plays 1. " in browser.text(".feedback")
    assert len(browser.all(".arrow.mine")) == 1
    browser.press(ENTER)
    browser.wait(
        "const { phase, node } = document.querySelector('.game').dataset;"
        " return phase === 'ask' && node !== '0'"
    )
    assert "To come again\n1" in browser.text(".game")


def test_other_games_have_the_tree_and_a_quiz_without_a_board(browser: Browser, place: Path) -> None:
    browser.open(place / "other.html")
    assert browser.all(".board") == []
    browser.press(RIGHT)
    assert current(browser) > 0
    browser.find("#tab-quiz").click()
    browser.find(".quiz .intro .primary").click()
    tree = trees.load(place / "other" / "tree.npz")
    best = max(tree.children(0), key=lambda c: tree.prep[c])
    (button,) = [b for b in browser.all(".choice") if b.text == tree.names[tree.action[best]]]
    button.click()  # the page's answer may end the line at once, so it is the score that tells
    browser.wait("return /Right at once\\s*1 of 1/.test(document.querySelector('.game').innerText)")
    browser.open(place / "empty.html")
    assert "no position is worth its price" in browser.text(".tiles")
    browser.find(".reply").click()
    assert "The book ends here" in browser.text(".position")
    assert "a position must earn 90.0" in browser.text(".position")


def test_quiz_without_a_board_offers_only_moves_of_its_side(browser: Browser, place: Path) -> None:
    browser.open(place / "crosses.html")
    browser.find("#tab-quiz").click()
    browser.find(".quiz .intro .primary").click()
    phase = "const p = document.querySelector('.game').dataset.phase; return p !== 'moving' && p"
    asked = 0
    for _ in range(12):
        if browser.wait(phase) == "ask":
            asked += 1
            offered = [button.text for button in browser.all(".choice")]
            assert len(offered) == 5
            assert all(name.startswith("x(") for name in offered)
            browser.find(".actions .plain").click()  # show the answer
        node = browser.js("return document.querySelector('.game').dataset.node")
        browser.find(".actions .primary").click()
        browser.wait("return document.querySelector('.game').dataset.node !== arguments[0]", node)
    assert asked > 4
    assert browser.console() == []
