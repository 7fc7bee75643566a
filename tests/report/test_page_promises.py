"""What the page promises besides: no network, no injection, any screen, any reader, any kind of run."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import numpy as np
import pageruns
import pytest
from browser import END, ENTER, HOME, RIGHT, Browser, current
from pageruns import HOSTILE, hostile_run

from preplay import tree as trees
from preplay.report.gather import gather
from preplay.report.page import write_report

KINDS = (
    "chess", "black", "special", "shuffled", "late", "clocked", "other", "empty", "mixed", "several",
    "sweep", "words", "figure",
)  # fmt: skip
LONG = ("long", "long-mixed", "long-sweep", "long-moves")


@pytest.mark.parametrize("kind", KINDS)
def test_opens_from_disk_without_errors_or_requests(browser: Browser, place: Path, kind: str) -> None:
    browser.console(), browser.requests()
    browser.open(place / f"{kind}.html")
    for tab in browser.all("[role=tab]"):
        tab.click()
    assert browser.console() == []
    asked = [url for url in browser.requests() if not url.startswith(("about:", "chrome:", "data:"))]
    assert asked == [(place / f"{kind}.html").as_uri()]
    # Loading anything at all would be stopped by the page's own policy.
    blocked = browser.js(
        "return new Promise((done) => { const i = new Image(); i.onload = () => done('loaded');"
        " i.onerror = () => done('stopped'); i.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='; })"
    )
    assert blocked == "stopped"
    assert any("Content Security Policy" in line for line in browser.console())


def test_light_and_dark(browser: Browser, place: Path) -> None:
    def background() -> list[int]:
        return [
            int(x)
            for x in re.findall(
                r"\d+", browser.js("return getComputedStyle(document.body).backgroundColor")
            )
        ]

    browser.open(place / "chess.html", dark=True)
    assert max(background()) < 60
    browser.find(".theme").click()
    assert min(background()) > 200
    browser.driver.refresh()
    assert min(background()) > 200  # the choice is kept
    browser.find(".theme").click()
    assert max(background()) < 60
    browser.js("localStorage.clear()")
    browser.open(place / "chess.html")
    assert min(background()) > 200


def fits(browser: Browser) -> None:
    """Nothing reaches beyond the side of the screen, on any tab, in the quiz, and folded out."""
    browser.js("document.querySelector('.made').open = true")
    for tab in [None, *browser.all("[role=tab]")]:
        if tab is not None:
            browser.js("arguments[0].click(); document.querySelector('.big-button')?.click()", tab)
        wide = browser.js(
            "const page = document.documentElement; const w = page.clientWidth;"
            "const out = [...document.querySelectorAll('header *, main *, footer *')].filter((e) =>"
            " e.getClientRects().length"
            " && !e.closest('.scroll, svg, pre, .unseen, .way, .tabs, .switch input')"
            " && e.getBoundingClientRect().right > w + 1);"
            "return [page.scrollWidth - w, out.map((e) => e.className).join()]"
        )
        assert wide == [0, ""]


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("width", [800, 1440])
def test_long_names_are_wrapped(browser: Browser, place: Path, kind: str, width: int) -> None:
    browser.open(place / f"{kind}.html", width=width)
    fits(browser)


@pytest.mark.parametrize("kind", [*KINDS, *LONG])
def test_nothing_is_cut_off_on_a_phone(browser: Browser, place: Path, kind: str) -> None:
    browser.open(place / f"{kind}.html", width=360, height=740)
    fits(browser)
    if kind == "chess":
        board = browser.find(".board").size
        assert 330 <= board["width"] <= 360
        browser.js("document.querySelector('#tab-tree').click()")
        browser.js("document.querySelectorAll('.tree .move')[3].click()")
        assert current(browser) > 0


NAMED = {
    "button", "textbox", "searchbox", "tab", "slider", "combobox", "checkbox", "radio", "image",
    "navigation", "region", "link",
}  # fmt: skip


def test_everything_has_a_name_and_can_be_reached(browser: Browser, place: Path) -> None:
    for kind in ("chess", "mixed", "sweep", "figure", "other"):
        browser.open(place / f"{kind}.html")
        for tab in [None, *browser.all("[role=tab]")]:
            if tab is not None:
                tab.click()
            nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            for node in nodes:
                role = node.get("role", {}).get("value")
                if not node.get("ignored") and role in NAMED:
                    assert node.get("name", {}).get("value"), (kind, role, node)
        if kind == "chess":
            regions = {n["name"]["value"] for n in nodes if n.get("role", {}).get("value") == "region"}
            assert {"Board"} <= regions
        assert len(browser.all("h1")) == 1
        ids = browser.js("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids))
    browser.open(place / "chess.html")
    spoken = browser.find(".board").get_attribute("aria-label")
    assert spoken.startswith("White to move. White: king e1, queen d1, rooks a1 h1")
    browser.press(RIGHT)
    assert "Answers:" in browser.text("#live")
    # Walking with the keyboard alone: the focus stays in the card, and is seen.
    browser.press(HOME)
    browser.find(".play").send_keys(ENTER)
    assert browser.js("return document.activeElement.classList.contains('reply')")
    assert browser.js("return getComputedStyle(document.activeElement).outlineWidth") == "3px"
    browser.press(ENTER)
    assert current(browser) > 1


def test_equilibrium_page(browser: Browser, place: Path) -> None:
    data = gather(place / "mixed")
    browser.open(place / "mixed.html")
    assert browser.text("h1").startswith("Both")
    x = data["tree"]["x"]
    held = [
        sum(1 for k, p in enumerate(data["tree"]["player"]) if p == side and x[k] > 1e-6) for side in "12"
    ]
    browser.find("#tab-book").click()
    assert browser.text("caption").startswith(f"White’s book: {held[0]} position")
    browser.js("document.querySelector('.switch input[value=\"2\"]').click()")
    assert browser.text("caption").startswith(f"Black’s book: {held[1]} position")
    assert browser.js("return document.querySelector('[data-square=h8]').getAttribute('x')") == "0"
    browser.find("#tab-tree").click()
    browser.find(".controls [aria-label=Next]").click()
    assert current(browser) > 0
    browser.find("#tab-gap").click()
    browser.wait("return document.querySelector('#panel-gap .chart polyline')")
    browser.find("#panel-gap .chart").send_keys(END)
    rows = [row for row in data["trace"] if row[2] > 0]
    assert f"{rows[-1][0]:,} iteration" in browser.text("#panel-gap .tip")
    assert browser.console() == []


def test_a_mixed_book_tells_all_its_moves(browser: Browser, place: Path) -> None:
    tree = trees.load(place / "several" / "tree.npz")
    moves = sorted(tree.children(0), key=lambda c: -tree.prep[c])
    assert len(moves) == 3
    named = [tree.names[tree.action[c]] for c in moves]
    shares = [f"{100 * tree.prep[c]:.{0 if tree.prep[c] >= 0.1 else 1}f}%" for c in moves]
    first, second, third = (f"{name}\u00a0({share})" for name, share in zip(named, shares, strict=True))
    browser.open(place / "several.html")
    told = f"In Player 1’s book 100% of the time, to play {first}, {second} or {third}."
    assert browser.text(".held") == told
    assert [pill.text for pill in browser.all(".reply .pill")] == [f"book {share}" for share in shares]
    browser.find("#tab-book").click()
    assert browser.text("td.plays") == f"{first}, {second}, {third}"
    assert browser.console() == []


def test_a_mixed_book_with_one_move_tells_it_alone(browser: Browser, tmp_path: Path) -> None:
    tree = pageruns.chess_tree(20, seed=3, both=True)
    for k in np.flatnonzero(~tree.leaves):
        at = tree.children(int(k))
        tree.prep[at] = np.arange(len(at)) == np.argmax(tree.prep[at])
    result = pageruns.save_equilibrium(tmp_path / "run", tree, 1e-3)
    assert [] in [row["history"] for row in result["sides"]["1"]["book"]]
    write_report(tmp_path / "run", tmp_path / "page.html")
    (best,) = (c for c in tree.children(0) if tree.prep[c] == 1.0)
    san = chess.Board().san(chess.Move.from_uci(tree.names[tree.action[best]]))
    browser.open(tmp_path / "page.html")
    assert browser.text(".held").endswith(f"% of the time, to play 1. {san}.")
    assert [pill.text for pill in browser.all(".reply .pill")] == ["book"]
    browser.find("#tab-book").click()
    assert san in [cell.text for cell in browser.all("td.plays")]


def test_curves_tell_their_values(browser: Browser, place: Path) -> None:
    data = gather(place / "figure")
    browser.open(place / "figure.html")
    browser.wait("return document.querySelectorAll('.chart polyline').length === 4")
    browser.click_at(".chart", 0.5, 0.5)
    row = data["series"][0]["points"]
    tip = browser.text(".tip")
    assert any(f"utility {r['value']:.4f}" in tip and f"{r['size']:.0f} positions" in tip for r in row)
    browser.find(".chart").send_keys(HOME)
    assert "r = 0.1" in browser.text(".tip")
    assert len(browser.all("tbody tr")) == sum(len(line["points"]) for line in data["series"])
    browser.open(place / "sweep.html")
    assert len(browser.all(".chart")) == 2
    browser.all(".check input")[2].click()
    assert len(browser.all(".chart")) == 3
    browser.find(".chart").send_keys(END)
    assert "White: 0.66" in browser.text(".tip")
    browser.open(place / "words.html")
    browser.find(".chart").send_keys(END)
    assert "wdl" in browser.text(".tip")


def test_hostile_names_are_only_shown(browser: Browser, tmp_path: Path) -> None:
    write_report(hostile_run(tmp_path / "run"), tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.find("#tab-trust").click()
    browser.find(".made summary").click()
    assert browser.js("return window.hacked") is None
    assert browser.all("img") == []
    assert HOSTILE.partition(" [")[0] in browser.js("return document.querySelector('h1').textContent")
    assert HOSTILE in browser.js("return document.querySelector('.made').textContent")
    assert browser.driver.title.endswith(HOSTILE)
    pageruns.save_sweep(
        tmp_path / "sweep", key=HOSTILE, settings=(HOSTILE, "b"), sides=(HOSTILE,), name=HOSTILE
    )
    write_report(tmp_path / "sweep", tmp_path / "sweep.html")
    browser.open(tmp_path / "sweep.html")
    assert browser.js("return window.hacked") is None
    assert browser.console() == []


@pytest.mark.slow
def test_a_book_of_5000_positions_opens_at_once(browser: Browser, tmp_path: Path) -> None:
    tree = pageruns.chess_tree(5_100)
    book = pageruns.save_preparation(tmp_path / "run", tree, cost=1e-12)
    assert book.size >= 5_000
    write_report(tmp_path / "run", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
    spent = []
    for _ in range(2):
        browser.open(tmp_path / "page.html")
        spent.append(browser.js("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert min(spent) < 2_000
    step = browser.js(
        "const t = performance.now(); for (let k = 0; k < 20; k += 1)"
        " document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));"
        " return (performance.now() - t) / 20"
    )
    assert step < 200
    assert len(browser.all(".tree .move")) < 3_000  # closed branches are not there yet


CONTRAST = """
const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; }
  return [255, 255, 255]; };
const weak = [];
for (const e of document.querySelectorAll('header *, main *, footer *')) {
  if (!e.getClientRects().length || e.closest('svg, .unseen, dialog')) continue;
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  const style = getComputedStyle(e); const [a, b] = [light(parse(style.color)), light(behind(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const what = `${e.className || e.tagName} ${e.textContent.slice(0, 20)}`;
  if (ratio < 4.5) weak.push(`${what} ${ratio.toFixed(2)}`);
}
return weak;
"""


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_stands_out(browser: Browser, place: Path, dark: bool) -> None:
    """WCAG's contrast of 4.5 for text, on every tab."""
    for kind in ("chess", "mixed", "figure"):
        browser.open(place / f"{kind}.html", dark=dark)
        browser.js("document.querySelector('.made').open = true")
        for tab in [None, *browser.all("[role=tab]")]:
            if tab is not None:
                tab.click()
            assert browser.js(CONTRAST) == []
