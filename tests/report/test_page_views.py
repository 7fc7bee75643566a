"""Every view of every kind of page: no accessibility findings, the board in view, ways in and out."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import pageruns
import pytest
from browser import END, HOME, LEFT, RIGHT, Browser, current, findings, go

from preplay import tree as trees
from preplay.report.gather import gather
from preplay.report.page import write_report

SIZES = [(1366, 768), (390, 844), (683, 384), (2560, 1440), (844, 390)]


@pytest.mark.parametrize(
    ("kind", "dark"),
    [
        ("chess", False),
        pytest.param("chess", True, marks=pytest.mark.slow),
        ("match", True),
        ("policy", False),
        ("compare", True),
        ("mixed", False),
        ("crosses", False),
        ("figure", True),
        ("frontier", False),
        pytest.param("frontier", True, marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing_in_any_view(browser: Browser, place: Path, kind: str, dark: bool) -> None:
    browser.open(place / f"{kind}.html", dark=dark)
    assert findings(browser) == []
    for tab in browser.all("[role=tab]"):
        browser.js("arguments[0].click()", tab)
        browser.js("for (const fold of document.querySelectorAll('details')) fold.open = true")
        assert findings(browser) == [], tab.text
    if kind != "chess":
        return
    browser.find("#tab-order").click()
    browser.find("#book-size").send_keys(HOME)  # most of the tree is beyond the chosen book
    browser.find("#tab-tree").click()
    assert browser.all(".tree .move.beyond")
    assert findings(browser) == []
    browser.find("#help").click()
    assert findings(browser) == []
    browser.js("document.querySelector('dialog').close()")
    browser.open(place / "chess.html", dark=dark)
    browser.find("#tab-learn").click()
    browser.find(".big-button").click()  # something new is shown
    browser.wait("return document.querySelector('.game').dataset.phase === 'teach'")
    assert findings(browser) == []
    browser.js("localStorage.setItem('preplay-learning', '{\"teach\": false}')")
    browser.driver.refresh()
    browser.find("#tab-learn").click()
    browser.find(".big-button").click()
    browser.wait("return document.querySelector('.game').dataset.phase === 'ask'")
    assert findings(browser) == []
    browser.find(".game .actions .plain").click()  # a miss
    assert findings(browser) == []
    browser.find(".game .actions .plain:last-child").click()  # the report
    assert findings(browser) == []


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("kind", ["chess", "mixed", "match", "crosses"])
def test_board_line_and_buttons_are_always_in_view(
    browser: Browser, place: Path, kind: str, width: int, height: int
) -> None:
    browser.open(place / f"{kind}.html", width=width, height=height)
    for tab in browser.all("[role=tab]"):
        browser.js("arguments[0].click()", tab)
        browser.js("for (const pane of document.querySelectorAll('.pane')) pane.scrollTop = 1e6")
        for part in (".board", ".controls", ".way"):
            left, top, right, bottom = browser.js(
                "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                " return [b.left, b.top, b.right, b.bottom]",
                part,
            )
            assert left >= 0, part
            assert top >= 0, part
            assert right <= width + 1, part
            assert bottom <= height + 1, part
        assert browser.js("return document.querySelector('#top').offsetHeight") <= 60
    box = browser.find(".board").rect
    if kind == "chess":
        assert min(box["width"], box["height"]) > 0.4 * min(width, height)
    browser.press(END)
    inside = browser.js(
        "const way = document.querySelector('.way').getBoundingClientRect();"
        " const move = document.querySelector('.way .move[aria-current]').getBoundingClientRect();"
        " return move.left >= way.left - 1 && move.right <= way.right + 1"
    )
    assert inside


def test_back_walks_back(browser: Browser, place: Path) -> None:
    browser.open(place / "chess.html")
    seen = [current(browser)]
    for _ in range(3):
        browser.press(RIGHT)
        seen.append(current(browser))
        browser.js("return new Promise((done) => setTimeout(done, 400))")  # no quick step
    for k in reversed(seen[:-1]):
        browser.driver.back()
        browser.wait(
            "return Number(document.querySelector('.tree .move[aria-current]')?.dataset.node ?? 0)"
            " === arguments[0]",
            k,
        )
    browser.driver.forward()
    browser.wait("return document.querySelectorAll('.way .move').length === 2")


def test_keys_can_be_turned_off(browser: Browser, place: Path) -> None:
    browser.open(place / "mixed.html")
    browser.press(RIGHT, RIGHT)
    assert browser.js("return document.querySelectorAll('.way .move').length") == 3
    browser.press(LEFT)
    assert browser.js("return document.querySelectorAll('.way .move').length") == 2
    browser.find("#help").click()
    browser.find("#use-keys").click()
    browser.find("dialog .primary").click()
    browser.press(RIGHT)
    assert browser.js("return document.querySelectorAll('.way .move').length") == 2
    browser.driver.refresh()
    browser.press(RIGHT)
    assert browser.js("return document.querySelectorAll('.way .move').length") == 2


def test_a_promotion_asks_for_the_piece(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "special" / "tree.npz")
    k = next(k for k in range(1, tree.size) if len(tree.names[tree.action[k]]) == 5)
    name, above = tree.names[tree.action[k]], int(tree.parent[k])
    browser.open(place / "special.html")
    if above:
        go(browser, tree, above)
    browser.drag(name[:2], name[2:4])
    assert len(browser.all(".promotion button")) == 4
    assert findings(browser) == []
    browser.find(f".promotion [data-promote={name[4]}]").click()
    assert browser.all(".promotion") == []
    assert current(browser) == k


def test_any_move_on_the_board_gets_an_answer(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "studied.html")
    book = tree.names[tree.action[1]]
    option = next(o for o in ("g1f3", "b1c3", "e2e4", "d2d4") if o != book)
    browser.drag("e2", "e6")
    assert "not a legal move" in browser.text("#toast")
    browser.drag("e7", "e5")
    assert "White is to move" in browser.text("#toast")
    browser.drag(option[:2], option[2:])
    said = browser.text(".said")
    assert "is a known alternative" in said
    assert "12.0 points per 100 games less" in said
    assert "The line: 1. " in said
    other = next(m for m in ("h2h3", "a2a3") if m != book)
    browser.drag(other[:2], other[2:])
    assert "not among the engine’s 2 best moves" in browser.text(".said")
    assert "Hope for" in browser.text(".alternatives")


def test_what_is_taken_along(browser: Browser, place: Path, tmp_path: Path) -> None:
    data = gather(place / "chess")
    browser.open(place / "chess.html")
    browser.find("#tab-take").click()
    browser.downloads(tmp_path)

    def press(text: str) -> None:
        browser.js(
            "[...document.querySelectorAll('.take button')].find((b) => b.textContent === arguments[0])"
            ".click()",
            text,
        )

    for text in ("Save PGN", "Save Polyglot book", "Save Anki deck"):
        press(text)
        browser.js("return new Promise((done) => setTimeout(done, 150))")
    for _ in range(100):
        files = {path.suffix: path for path in tmp_path.iterdir()}
        if {".pgn", ".bin", ".apkg"} <= set(files):
            break
        browser.js("return new Promise((done) => setTimeout(done, 50))")
    with files[".pgn"].open(encoding="utf-8") as file:
        game = chess.pgn.read_game(file)
        assert game is not None
        assert chess.pgn.read_game(file) is None
    assert not game.errors
    assert all(len(line) <= 80 for line in files[".pgn"].read_text().splitlines()[12:])
    own = {node.parent.board().epd() for node in walk(game) if node.parent.turn()}
    ranks = data["tree"]["rank"]
    assert own == {board_of(data, k) for k in range(len(ranks)) if ranks[k] >= 0}
    with chess.polyglot.open_reader(files[".bin"]) as reader:
        assert len(reader) == len(own)
    assert files[".apkg"].read_bytes()[:2] == b"PK"
    press("Copy PGN")
    browser.wait("return /Copied|does not let/.test(document.querySelector('#toast').textContent)")


def walk(game: chess.pgn.GameNode) -> Iterator[chess.pgn.ChildNode]:
    for node in game.variations:
        yield node
        yield from walk(node)


def board_of(data: dict[str, object], k: int) -> str:
    """The position of a history on a page, by python-chess."""
    tree = data["tree"]
    assert isinstance(tree, dict)
    parent = [-1]
    for j, n in enumerate(tree["kids"]):
        parent += [j] * n
    moves = []
    while k:
        moves.append(tree["names"][tree["move"][k - 1]])
        k = parent[k]
    board = chess.Board()
    for move in reversed(moves):
        board.push_uci(move)
    return board.epd()


def test_the_sheet_has_every_line(browser: Browser, place: Path) -> None:
    data = gather(place / "chess")
    browser.open(place / "chess.html")
    browser.js("dispatchEvent(new Event('beforeprint'))")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.find("#sheet").is_displayed()
        assert not browser.find("#main").is_displayed()
        text = browser.text("#sheet")
        assert f"White against {data['rival']}" in text
        lines = browser.all("#sheet li")
        assert len(lines) >= 5
        assert len(browser.all("#sheet .diagram")) == min(40, len(lines))
        shown = browser.js("return [...document.querySelectorAll('#sheet strong.new')].length")
        assert shown >= data["worth"]["size"] - 1  # every own move is new somewhere
        pdf = browser.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
        assert len(pdf["data"]) > 5000
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_two_books_side_by_side(browser: Browser, place: Path) -> None:
    browser.open(place / "compare.html")
    assert browser.text("h1") == "chess and chess-small"
    browser.find("#tab-first").click()
    rows = browser.all("#panel-first tbody tr")
    assert rows
    browser.find("#panel-first tbody .move").click()
    assert len(browser.all(".arrow.mine")) == 1
    assert browser.all(".arrow.theirs") == []
    browser.find("#tab-same").click()
    browser.find("#panel-same tbody .move").click()
    assert len(browser.all(".arrow")) == 2
    assert browser.console() == []


def test_a_match_and_a_policy_have_pages(browser: Browser, place: Path) -> None:
    data = gather(place / "match")
    browser.open(place / "match.html")
    assert f"{100 * data['match']['score'][0]:.1f}%" in browser.text(".figures")
    browser.find("#tab-games").click()
    assert len(browser.all("#panel-games tbody tr")) == data["match"]["games"]
    browser.find("#panel-games tbody .move").click()
    assert browser.js("return document.querySelectorAll('.way .move').length") > 2
    browser.find("#tab-trust").click()
    assert "Promised" in browser.text("#panel-trust")
    browser.open(place / "policy.html")
    assert "hard to prepare against" in browser.text("h1")
    assert "64.00% as it plays now" in " ".join(browser.text(".figures").split())
    browser.find("#tab-trust").click()
    told = browser.text("#panel-trust")
    for words in ("58.000% became 56.000%", "61.000% or more", "Choosing its moves", "at most 60.500%"):
        assert words in told
    browser.open(place / "policy.html")
    browser.press(RIGHT)
    assert len(browser.all(".reply")) == 2
    assert browser.console() == []


def test_a_match_kept_with_the_book_heads_its_page(browser: Browser, place: Path) -> None:
    browser.open(place / "proved.html")
    assert "in games played" in browser.text(".figures")
    browser.find("#tab-trust").click()
    rows = browser.js("return [...document.querySelectorAll('[data-row]')].map((r) => r.dataset.row)")
    assert rows == ["promised", "judged", "fresh", "played"]
    assert "Elo" in browser.text("#panel-trust")


def test_known_moves_that_lose_have_a_part_of_their_own(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "extension" / "tree.npz")
    repairs = gather(place / "extension")["repairs"]
    (node, line, move, *numbers), (nowhere, *_) = repairs["rows"]
    assert (repairs["count"], nowhere) == (2, None)
    assert numbers == [0.25, 0.6, 0.5, 0.025]
    board = chess.Board()
    said = [board.san_and_push(chess.Move.from_uci(name)) for name in tree.history(node)]
    assert line == f"1. {' '.join(said)}"
    assert move == f"2. {board.san(chess.Move.from_uci(tree.names[tree.action[tree.children(node)[0]]]))}"
    browser.open(place / "extension.html")
    assert "YOU KNOW ALREADY" in browser.text("#panel-tree").upper()
    browser.find("#tab-repair").click()
    told = browser.text(".repairs")
    assert "Known moves that lose: 2, the dearest first" in told
    assert f"{line} {move}\t1 in 4 games\t60.0%\t50.0%\t2.50" in told
    assert "1. a3 a6 2. b4\t1 in 2 games\t51.0%\t50.0%\t0.50" in told
    assert len(browser.all(".repairs .move")) == 1  # the other one's position is not on this page
    assert findings(browser) == []
    browser.find(".repairs .move").click()
    browser.find("#tab-tree").click()
    assert current(browser) == node
    browser.open(place / "chess.html")
    assert not browser.all("#tab-repair")


def test_1500_positions_unfolded_stay_quick(browser: Browser, tmp_path: Path) -> None:
    pageruns.save_preparation(tmp_path / "run", pageruns.chess_tree(1_550), cost=1e-12)
    write_report(tmp_path / "run", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.js("document.querySelector('.folding button').click()")
    assert len(browser.all(".tree .move")) > 3_000
    spent = browser.js(
        "const body = document.body; const spent = [];"
        " for (let k = 0; k < 30; k += 1) { const t = performance.now();"
        " const key = k % 3 === 1 ? 'ArrowDown' : 'ArrowRight';"
        " body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));"
        " document.querySelector('.tree').getBoundingClientRect(); spent.push(performance.now() - t); }"
        " return spent.sort((a, b) => a - b)"
    )
    assert spent[len(spent) // 2] < 100


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A web space on this computer."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(folder))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{server.server_port}/"
        finally:
            server.shutdown()


def test_a_folder_can_be_installed_and_opens_without_a_network(
    browser: Browser, place: Path, tmp_path: Path
) -> None:
    page = write_report(place / "chess", tmp_path / "app", folder=True)
    assert page.name == "index.html"
    manifest = json.loads((tmp_path / "app" / "manifest.webmanifest").read_text())
    assert manifest["display"] == "standalone"
    with served(tmp_path / "app") as address:
        browser.driver.get(address)
        assert browser.js("return document.documentElement.dataset.ready") == "true"
        browser.js("return navigator.serviceWorker.ready.then(() => true)")
        told = browser.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})
        wrong = [one["errorId"] for one in told["installabilityErrors"]]
        assert [one for one in wrong if one != "in-incognito"] == []
    browser.driver.refresh()  # the server is gone
    assert browser.js("return document.documentElement.dataset.ready") == "true"
    assert browser.js("return document.querySelectorAll('.pieces use').length") == 32
    browser.driver.get("about:blank")
    browser.console()
