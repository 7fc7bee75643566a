"""One self-contained HTML file from a run: opens offline, asks no network, runs no foreign code.

Everything that comes from outside (names of engines, configurations, moves) travels as JSON in a data
block and reaches the page as text only. The content security policy allows the page's own script and
style by their digests and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from preplay.errors import StoreError
from preplay.files import write_text
from preplay.report.gather import gather

STYLES = ("theme.css", "layout.css", "parts.css")
LINKS = (
    '<link rel="manifest" href="manifest.webmanifest"><link rel="icon" href="icon.png">'
    '<link rel="apple-touch-icon" href="icon.png">\n'
)
"""What a folder's page says of the files beside it."""
ENTRY = "main.js"
"""The module that the page's script starts with; it imports the others."""


def write_report(
    run_directory: Path, output: Path, other: Path | None = None, *, folder: bool = False
) -> Path:
    """Write the page of a run to `output`, or of two runs side by side; the HTML file is the answer.

    As a `folder` it can be put on any web space, and a phone can install it as an app from there.
    """
    try:
        data = _gathered(run_directory, other)
        text, name = page(data, installable=folder), title(data)
    except (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
        # Settings and texts are shown as they were kept, so a file that was changed by hand fails here.
        runs = " or ".join(str(run) for run in (run_directory, other) if run is not None)
        what = " ".join(str(error).split())
        raise StoreError(f"{runs}: a damaged file ({what}); expected what --save wrote") from error
    if not folder:
        write_text(output, text)
        return output
    from preplay.report.folder import write_folder

    return write_folder(output, text, name)


def _gathered(run_directory: Path, other: Path | None) -> dict[str, Any]:
    if other is None:
        return gather(run_directory)
    from preplay.report.compare import compared

    return compared((run_directory, other))


def page(data: Mapping[str, Any], *, installable: bool = False) -> str:
    """The whole HTML file for data from `gather`; `installable` with the files of a folder beside it."""
    style = "".join(_asset(name) for name in STYLES)
    script = bundle(ENTRY)
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            *(("manifest-src 'self'", "worker-src 'self'", "img-src 'self'") if installable else ()),
            "base-uri 'none'",
            "form-action 'none'",
            # A folder's page names its worker by an address, for which this would need a policy of ours.
            *(() if installable else ("require-trusted-types-for 'script'", "trusted-types 'none'")),
        )
    )
    parts = {
        "policy": policy,
        "title": html.escape(title(data)),
        "links": LINKS if installable else "",
        "style": style,
        "pieces": pieces() if data.get("chess") else "",
        "data": data_block(data),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))


def bundle(entry: str) -> str:
    """A module and all that it imports as one plain script.

    The modules share one scope, so their names differ; imports only say what must come before.
    """
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        parts[name] = ""  # on the way: modules that import each other are put in some order
        text = _asset(name)
        for needed in _IMPORT.findall(text):
            add(needed)
        del parts[name]
        parts[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    add(entry)
    return "(() => {\n'use strict';\n" + "".join(parts.values()) + "})();\n"


_IMPORT = re.compile(r"^import \{[^}]*\} from '\./([\w.]+)';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function|async function)", re.MULTILINE)


def title(data: Mapping[str, Any]) -> str:
    """The page's title, as text."""
    name = data["matchup"]
    if data["kind"] == "book":
        return f"{data['sides'][data['side'] - 1]} against {data['rival']} · {name}"
    if data["kind"] == "compare":
        return f"{data['books'][0]['name']} and {data['books'][1]['name']} side by side"
    if data["kind"] == "match":
        return f"Match · {name}"
    if data["kind"] == "policy":
        return f"Hard to prepare against · {name}"
    if data["kind"] == "mixed":
        return f"Both sides prepare · {name}"
    return f"{'Figure 1' if data['command'] == 'figure1' else 'Sweep'} · {name}"


def data_block(data: Mapping[str, Any]) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def pieces() -> str:
    """Colin M.L. Burnett's chess pieces (GFDL, BSD, GPL) as symbols, from python-chess.

    Style attributes become presentation attributes, which the security policy lets through.
    """
    import chess.svg

    symbols = []
    for letter, original in chess.svg.PIECES.items():
        bare = re.sub(r' (?:id|class)="[^"]*"', "", original)
        drawing = re.sub(r' style="([^"]*)"', lambda found: _attributes(found[1]), bare)
        name = ("w" if letter.isupper() else "b") + letter.lower()
        symbols.append(f'<symbol id="piece-{name}" viewBox="0 0 45 45">{drawing}</symbol>')
    return "".join(symbols)


def _attributes(style: str) -> str:
    rules = (rule.partition(":") for rule in style.split(";") if rule.strip())
    return "".join(f' {name.strip()}="{value.strip()}"' for name, _, value in rules)


def _asset(name: str) -> str:
    return (files("preplay.report") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
