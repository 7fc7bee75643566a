"""Learning with the page: sittings, misses, progress, the plan, on the desk and on a phone."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import chess
import pytest
from browser import ENTER, Browser

from preplay import tree as trees
from preplay.report.gather import gather

PHASE = "return document.querySelector('.game').dataset.phase"


def waiting(browser: Browser) -> tuple[str, int]:
    """What the trainer waits for ("over" when the sitting is), and where."""
    phase = browser.wait(
        "const g = document.querySelector('.game'); return g.hidden ? 'over' :"
        " g.dataset.phase !== 'moving' && g.dataset.phase"
    )
    node = browser.js("return document.querySelector('.game').dataset.node")
    return str(phase), int(node or 0)


def move_at(tree: trees.Tree, k: int) -> str:
    best = max(tree.children(k), key=lambda c: float(tree.prep[c]))
    return tree.names[int(tree.action[best])]


def board_at(tree: trees.Tree, k: int) -> chess.Board:
    board = chess.Board()
    for move in tree.history(k):
        board.push_uci(move)
    return board


def start(browser: Browser, button: str = ".big-button", **settings: object) -> None:
    """Begin a sitting with these settings."""
    browser.js(
        "localStorage.setItem('preplay-learning', arguments[0])",
        json.dumps({"minutes": 0, "by": "line", "teach": False} | settings),
    )
    browser.driver.refresh()
    browser.find("#tab-learn").click()
    browser.find(button).click()


def choose(browser: Browser, selector: str, value: str) -> None:
    """Give a field a value as a user would."""
    browser.js(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        " field.dispatchEvent(new Event('change'))",
        selector,
        value,
    )


def press_button(browser: Browser, text: str) -> None:
    browser.js(
        "[...document.querySelectorAll('button')].find((b) => b.textContent === arguments[0]).click()",
        text,
    )


def answer(browser: Browser, text: str) -> None:
    """Type a move, and wait until the trainer has gone on."""
    state = (
        "document.querySelector('.game').dataset.node + document.querySelector('.question').textContent"
    )
    at = browser.js(f"return {state}")
    field = browser.find("#answer")
    field.clear()
    field.send_keys(text, ENTER)
    browser.wait(f"return document.querySelector('.game').hidden || {state} !== arguments[0]", at)


@pytest.mark.parametrize("by", ["line", pytest.param("position", marks=pytest.mark.slow)])
def test_the_whole_book_is_asked_once_and_misses_again(browser: Browser, place: Path, by: str) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    size = gather(place / "chess")["worth"]["size"]
    browser.open(place / "chess.html")
    start(browser, by=by)
    asked: list[int] = []
    missed: list[int] = []
    while True:
        phase, k = waiting(browser)
        if phase == "over":
            break
        assert phase == "ask"
        assert browser.all(".arrow") == []
        asked.append(k)
        board, right = board_at(tree, k), chess.Move.from_uci(move_at(tree, k))
        if len(asked) in (2, 9):  # a legal move that is wrong
            missed.append(k)
            wrong = next(m for m in board.legal_moves if m != right)
            field = browser.find("#answer")
            field.clear()
            field.send_keys(board.san(wrong), ENTER)
            assert browser.js(PHASE) == "missed"
            feedback = browser.text(".feedback")
            assert f"Not {board.san(wrong)}" in feedback
            assert board.san(right) in feedback
            assert "answers" in feedback  # what comes then
            assert len(browser.all(".arrow.mine")) == 1
        answer(browser, board.san(right))
    assert len(asked) <= size + 2
    assert set(asked[asked.index(missed[0]) + 1 :]) >= set(missed) - {asked[-1]}
    repeats = [k for k in missed if asked.count(k) == 2]
    assert repeats == missed
    assert "right" in browser.text(".report")
    assert browser.console() == []
    # Progress is kept over a reload, and what was learned is not due.
    browser.driver.refresh()
    browser.find("#tab-learn").click()
    known = browser.text(".standing")
    assert known.startswith("0 due, 0 new") or "due, 0 new" in known


def test_what_is_new_is_shown_first_and_then_asked(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html")
    start(browser, teach=True)
    phase, k = waiting(browser)
    assert (phase, k) == ("teach", 0)
    board = board_at(tree, 0)
    san = board.san(chess.Move.from_uci(move_at(tree, 0)))
    assert browser.text(".question") == f"New: play 1. {san}"
    assert len(browser.all(".arrow.mine")) == 1
    seen = {"teach": [0], "ask": []}
    answer(browser, san)
    while len(seen["ask"]) < 3:
        phase, k = waiting(browser)
        seen[phase].append(k)
        board = board_at(tree, k)
        answer(browser, board.san(chess.Move.from_uci(move_at(tree, k))))
    assert all(k in seen["teach"] for k in seen["ask"])
    browser.find(".game .actions .plain:last-child").click()
    assert "shown for the first time" in browser.text(".report")


def test_moves_as_people_type_them_and_no_miss_for_illegal_ones(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html")
    start(browser)
    waiting(browser)
    for text, said in (
        ("hello", "Write a move"),
        ("Qh5", "not a legal move"),
        ("e2e5", "not a legal move"),
    ):
        field = browser.find("#answer")
        field.clear()
        field.send_keys(text, ENTER)
        assert said in browser.text(".feedback")
        assert browser.js(PHASE) == "ask"
    assert "0 of 0 right" in browser.text(".session-bar")
    move = move_at(tree, 0)
    answer(browser, f"{move[:2].upper()}-{move[2:]}")
    assert "1 of 1 right" in browser.text(".session-bar")
    # On the board: an illegal drag says so and costs nothing, a legal one answers.
    _, k = waiting(browser)
    move = move_at(tree, k)
    board = board_at(tree, k)
    empty = next(
        s
        for s in range(64)
        if not any(
            m.to_square == s for m in board.legal_moves if m.from_square == chess.parse_square(move[:2])
        )
        and not board.piece_at(s)
    )
    browser.drag(move[:2], chess.square_name(empty))
    assert "not a legal move" in browser.text("#toast")
    assert browser.js(PHASE) == "ask"
    browser.drag(move[:2], move[2:4])
    browser.wait("return Number(document.querySelector('.game').dataset.node) !== arguments[0]", k)
    assert "2 of 2 right" in browser.text(".session-bar")
    assert browser.console() == []


def test_giving_up_counts_as_a_miss(browser: Browser, place: Path) -> None:
    browser.open(place / "chess.html")
    start(browser)
    waiting(browser)
    browser.find(".game .actions .plain").click()
    assert "The book plays 1. " in browser.text(".feedback")
    assert "0 of 1 right" in browser.text(".session-bar")
    browser.find(".game .actions .primary").click()
    browser.wait(
        "const { phase, node } = document.querySelector('.game').dataset;"
        " return phase === 'ask' && node !== '0'"
    )


def test_only_from_the_position_on_the_board(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html")
    browser.find("#tab-learn").click()
    all_of_it = browser.text(".standing")
    below = next(
        k
        for k in range(1, tree.size)
        if tree.player[k] == 1 and tree.children(k) and tree.children(tree.children(k)[0])
    )
    browser.js("location.hash = arguments[0]", "#/" + "/".join(tree.history(below)))
    browser.wait(
        "return document.querySelectorAll('.way .move').length === arguments[0]",
        1 + len(tree.history(below)),
    )
    browser.find("#from-here").click()
    assert browser.text(".standing") != all_of_it
    choose(browser, "#learn-new", "false")
    browser.find(".big-button").click()
    for _ in range(3):
        phase, k = waiting(browser)
        if phase == "over":
            break
        assert tree.history(k)[: len(tree.history(below))] == tree.history(below)
        answer(browser, move_at(tree, k))


def test_progress_is_saved_loaded_and_forgotten(browser: Browser, place: Path, tmp_path: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html")
    start(browser)
    for _ in range(4):
        _, k = waiting(browser)
        answer(browser, move_at(tree, k))
    browser.find(".game .actions .plain:last-child").click()
    before = browser.text(".standing")
    assert "4 known" in before
    browser.downloads(tmp_path)
    press_button(browser, "Save progress")
    saved = tmp_path / "preplay-progress.json"
    browser.wait("return !document.querySelector('#toast').hidden")
    assert "Saved as preplay-progress.json" in browser.text("#toast")
    for _ in range(100):
        if saved.exists():
            break
        browser.js("return new Promise((done) => setTimeout(done, 50))")
    kept = json.loads(saved.read_text())
    assert kept["format"] == "preplay-progress/1"
    assert len(kept["cards"]) == 4
    browser.open(place / "chess.html")  # a fresh browser
    browser.find("#tab-learn").click()
    assert "0 known" in browser.text(".standing")
    browser.find("#progress-file").send_keys(str(saved))
    browser.wait("return document.querySelector('.standing').textContent.includes('4 known')")
    (tmp_path / "broken.json").write_text("{")
    browser.find("#progress-file").send_keys(str(tmp_path / "broken.json"))
    browser.wait("return document.querySelector('#toast').textContent.includes('no JSON file')")
    assert "4 known" in browser.text(".standing")
    browser.js("window.confirm = () => true")
    press_button(browser, "Forget")
    assert "0 known" in browser.text(".standing")


def test_the_plan_reaches_the_day_of_the_game(browser: Browser, place: Path) -> None:
    browser.open(place / "chess.html")
    browser.find("#tab-learn").click()
    day = date.today() + timedelta(days=4)
    choose(browser, "#game-day", day.isoformat())
    told = browser.text(".plan")
    assert "on the day of the game" in told
    rows = browser.all(".plan tbody tr")
    assert 2 <= len(rows) <= 4
    browser.driver.refresh()
    browser.find("#tab-learn").click()
    assert browser.js("return document.querySelector('#game-day').value") == day.isoformat()


def test_on_a_phone_by_finger(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "chess" / "tree.npz")
    browser.open(place / "chess.html", width=390, height=844, touch=True)
    # Exploring: a drag plays the move and the page does not scroll.
    move = move_at(tree, 0)
    browser.swipe(move[:2], move[2:4])
    browser.wait("return document.querySelectorAll('.way .move').length === 2")
    assert browser.js("return scrollY + document.scrollingElement.scrollTop") == 0
    start(browser)
    for _ in range(3):
        phase, k = waiting(browser)
        assert phase == "ask"
        move = move_at(tree, k)
        browser.swipe(move[:2], move[2:4])
        browser.wait("return Number(document.querySelector('.game').dataset.node) !== arguments[0]", k)
    assert "3 of 3 right" in browser.text(".session-bar")
    assert browser.js("return document.scrollingElement.scrollTop") == 0
    browser.open(place / "chess.html", width=390, height=844, touch=True, forget=False)
    browser.find("#tab-learn").click()
    assert "3 known" in browser.text(".standing")
    assert browser.console() == []


def test_other_games_are_learned_by_choosing(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "other" / "tree.npz")
    browser.open(place / "other.html")
    assert browser.all(".board") == []
    start(browser)
    waiting(browser)
    (button,) = [b for b in browser.all(".choice") if b.text == move_at(tree, 0)]
    button.click()
    browser.wait("return /1 of 1 right/.test(document.querySelector('.session-bar').textContent)")
    browser.open(place / "empty.html")
    assert "Nothing is worth its price" in browser.text(".figures")
    browser.find(".reply").click()
    assert "The book ends here" in browser.text(".position")
    assert "a position must earn 90.0" in browser.text(".position")
    browser.find("#tab-learn").click()
    assert "Nothing to learn" in browser.text(".standing")
    assert browser.console() == []


def test_tic_tac_toe_has_a_board(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "crosses" / "tree.npz")
    browser.open(place / "crosses.html")

    def cell(name: str) -> None:
        row, column = (int(x) for x in name[2:-1].split(","))
        browser.find(f"[data-cell='{3 * row + column}']").click()

    assert len(browser.all(".grid-board .cell")) == 9
    assert len(browser.all(".target.mine")) == 1
    cell(move_at(tree, 0))
    assert len(browser.all(".grid-board .stroke.first")) == 1
    start(browser)
    asked = 0
    while asked < 5:
        phase, k = waiting(browser)
        if phase == "over":
            break
        asked += 1
        offered = [button.text for button in browser.all(".choice")]
        assert all(name.startswith("x(") for name in offered)
        cell(move_at(tree, k))
        browser.wait(
            "const g = document.querySelector('.game');"
            " return g.hidden || Number(g.dataset.node) !== arguments[0]",
            k,
        )
    assert asked >= 3
    assert browser.console() == []
