"""The imports are those of the drawing in docs/architecture.md: a room knows only what lies below it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "preplay"
LAYERS = (
    ("commands", "cli"),
    ("page", "report"),
    ("runs", "runs"),
    ("figures", "figures"),
    ("experiments", "experiments"),
    ("both sides", "bounding equilibria hardening"),
    ("preparation", "matches preparation"),
    ("matchup", "matchup"),
    ("opinions", "bounds chess choice judging repairs sampling"),
    ("growth", "games growth response"),
    ("worth", "_kernels accounts logistic programs value"),
    ("play", "book policy tree"),
    ("tools", "compiled files game journal randomness scoring stopping text"),
    ("errors", "errors"),
)
"""From the top to the ground. A room may import from the layers below its own, never beside or above."""
HEIGHT = {room: -k for k, (_, rooms) in enumerate(LAYERS) for room in rooms.split()}
DOORS = {"__init__", "__main__"}
"""The front doors, which open to every room."""


def imports() -> Iterator[tuple[str, str, str]]:
    """The file, its room and the room of each import, those for types alone included."""
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE)
        room = place.parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "preplay":
                found = [f"preplay.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found = [node.module or ""]
            elif isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            else:
                continue
            for name in found:
                parts = name.split(".")
                if parts[0] == "preplay" and len(parts) > 1 and parts[1] != "__version__":
                    yield str(place), room, parts[1]


def test_every_room_is_in_the_drawing() -> None:
    rooms = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    assert rooms - DOORS - {"__pycache__"} == set(HEIGHT)


def test_rooms_know_only_what_lies_below_them() -> None:
    wrong = [
        f"{file} imports {there}"
        for file, here, there in imports()
        if here not in DOORS and here != there and HEIGHT[there] >= HEIGHT[here]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("layer", "rooms"), LAYERS)
def test_the_page_shows_the_same_drawing(layer: str, rooms: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    row = f"| {layer} | {', '.join(f'`{room}`' for room in rooms.split())} |"
    assert row in page, f"docs/architecture.md lacks the row\n{row} what it is for |"


def test_a_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_the_walk_names_what_there_is() -> None:
    """Every `file.py`: `function` of the page exists, so that a stranger can follow it."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)`:\s+`(\w+)`", page)
    assert len(named) >= 12
    for file, name in named:
        tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in functions, f"{file}: {name}"
