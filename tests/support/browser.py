"""A headless Chromium for the page tests: what it shows, what it complains about, what it asks for."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from preplay.tree import Tree

LEFT, RIGHT, UP, DOWN, ENTER, HOME, END = "\ue012\ue014\ue013\ue015\ue007\ue011\ue010"
"""Keys by the names of the WebDriver standard."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1440,1000",
)


def missing() -> str:
    """Why no browser can be had, or nothing."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "no selenium: install preplay[dev] to test the page in a browser"
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        return "no Chromium: install the Debian packages chromium and chromium-driver to test the page"
    return ""


class Browser:
    """One browser; `open` starts a page afresh."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(
        self,
        path: Path,
        *,
        width: int = 1440,
        height: int = 1000,
        dark: bool = False,
        touch: bool = False,
        forget: bool = True,
    ) -> None:
        """Load a file with a screen size and colour scheme, motion reduced; it must be ready then.

        With `forget` nothing is left of what pages kept before.
        """
        self.size(width, height)
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")
        if forget:
            self.driver.execute_cdp_cmd(
                "Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "local_storage"}
            )
        self.driver.get(path.as_uri())
        assert self.js("return document.documentElement.dataset.ready") == "true"
        # A moment later a page with a board draws its position anew, with the other ways into it.
        self.wait("return document.documentElement.dataset.settled || !document.querySelector('.board')")

    def size(self, width: int, height: int) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        return str(self.js("return document.querySelector(arguments[0]).innerText", selector))

    def press(self, *keys: str) -> None:
        """Keys to whatever has the focus."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def click_at(self, selector: str, x: float, y: float) -> None:
        """Click a point of an element, given as fractions of its width and height."""
        from selenium.webdriver import ActionChains

        element = self.find(selector)
        self.js("arguments[0].scrollIntoView({block: 'center'})", element)
        box = element.rect
        dx, dy = (x - 0.5) * box["width"], (y - 0.5) * box["height"]
        ActionChains(self.driver).move_to_element_with_offset(
            element, round(dx), round(dy)
        ).click().perform()

    def square(self, name: str) -> None:
        """Click a square of the board."""
        from selenium.webdriver import ActionChains

        self.js("document.querySelector('.board').scrollIntoView({block: 'center'})")
        box = self.js(
            'const r = document.querySelector(`[data-square="${arguments[0]}"]`).getBoundingClientRect();'
            "const b = document.querySelector('.board').getBoundingClientRect();"
            "return [r.x + r.width / 2 - b.x - b.width / 2, r.y + r.height / 2 - b.y - b.height / 2]",
            name,
        )
        board = self.find(".board")
        ActionChains(self.driver).move_to_element_with_offset(
            board, round(box[0]), round(box[1])
        ).click().perform()

    def middle(self, square: str) -> tuple[float, float]:
        """Where a square's middle is on the screen."""
        x, y = self.js(
            'const r = document.querySelector(`[data-square="${arguments[0]}"]`).getBoundingClientRect();'
            "return [r.x + r.width / 2, r.y + r.height / 2]",
            square,
        )
        return x, y

    def drag(self, start: str, end: str) -> None:
        """Drag a piece with the mouse."""
        from selenium.webdriver import ActionChains

        (x1, y1), (x2, y2) = self.middle(start), self.middle(end)
        chain = ActionChains(self.driver, duration=20)
        pointer: Any = chain.w3c_actions.pointer_action
        pointer.move_to_location(round(x1), round(y1))
        pointer.pointer_down()
        pointer.move_to_location(round((x1 + x2) / 2), round((y1 + y2) / 2))
        pointer.move_to_location(round(x2), round(y2))
        pointer.pointer_up()
        chain.perform()

    def swipe(self, start: str, end: str) -> None:
        """Drag a piece with a finger."""
        (x1, y1), (x2, y2) = self.middle(start), self.middle(end)

        def send(kind: str, *points: tuple[float, float]) -> None:
            touches = [{"x": x, "y": y} for x, y in points]
            self.driver.execute_cdp_cmd(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches}
            )

        send("touchStart", (x1, y1))
        for k in range(1, 6):
            send("touchMove", (x1 + (x2 - x1) * k / 5, y1 + (y2 - y1) * k / 5))
        send("touchEnd")

    def wait(self, script: str, *arguments: Any) -> Any:
        """Until a script gives something true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 10, 0.02).until(lambda _: self.js(script, *arguments))

    def downloads(self, folder: Path) -> None:
        """Have files that pages save put into a folder."""
        self.driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
        )

    def console(self) -> list[str]:
        """What the page complained about since the last call."""
        return [row["message"] for row in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the last call."""
        rows = [json.loads(row["message"])["message"] for row in self.driver.get_log("performance")]
        sent = [row for row in rows if row["method"] == "Network.requestWillBeSent"]
        return [row["params"]["request"]["url"] for row in sent]

    def screenshot(self, path: Path) -> None:
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {})
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A new browser with an empty profile."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


def axe() -> str:
    """The accessibility checker's script: the npm package's if it is there, else the one from pip."""
    newest = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
    if newest.exists():
        return newest.read_text(encoding="utf-8")
    from importlib.resources import files

    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def findings(browser: Browser) -> list[str]:
    """What axe-core finds wrong with the page as it stands, in a few words each."""
    if not browser.js("return Boolean(window.axe)"):
        browser.js(axe())
    told = browser.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map((v) =>"
        " `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`)))"
    )
    return list(told)


def current(browser: Browser) -> int:
    """The history that the tree marks; the start has no move to mark."""
    node = browser.js("return document.querySelector('.tree .move[aria-current]')?.dataset.node")
    return int(node or 0)


def go(browser: Browser, tree: Tree, k: int) -> None:
    """By the address, as a link to a position would."""
    browser.js(
        "location.hash = arguments[0]; dispatchEvent(new HashChangeEvent('hashchange'))",
        "#/" + "/".join(tree.history(k)),
    )
    assert current(browser) == k
