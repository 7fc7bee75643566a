"""The drawing in docs/architecture.md: a room knows only what lies below it and has tests of its name."""

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
    ("opinions", "chess choice judging repairs sampling theorems"),
    ("growth", "games growth response"),
    ("worth", "_kernels accounts logistic programs value"),
    ("play", "book policy tree"),
    ("tools", "arguments compiled files frozen game journal randomness scoring stopping text"),
    ("errors", "errors"),
)
"""From the top to the ground. A room may import from the layers below its own, never beside or above."""
HEIGHT = {room: -k for k, (_, rooms) in enumerate(LAYERS) for room in rooms.split()}
OF_NO_ROOM = {
    "test_architecture.py": "the rooms together",
    "test_docs.py": "the documents",
    "test_examples.py": "the examples",
    "test_fuzz.py": "hostile inputs for all readers",
    "test_project.py": "the project's papers",
    "test_public.py": "the front door, preplay/__init__.py",
    "cli/test_launcher.py": "scripts/preplay, which starts the commands",
    "faults/test_interrupts.py": "Ctrl-C at any moment of any command",
    "faults/test_kills.py": "kills at any moment of any command",
    "faults/test_lying_engines.py": "engines that lie, from end to end",
    "faults/test_memory.py": "small files that unpack to gigabytes, in all readers",
}
"""Tests of what has no module of its own: what they are about instead."""
BY_OTHERS = {"_kernels": "loops of `response` and `choice`, whose tests hold them to enumeration"}
"""Modules at the top whose tests are those of who calls them: why."""
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


def test_every_room_has_tests_of_its_name() -> None:
    """A package has a folder of its path with tests in it, a module at the top has a file."""
    packages = [file.parent.relative_to(SOURCE) for file in SOURCE.rglob("__init__.py")]
    tests = ROOT / "tests"
    without = [str(room) for room in packages if not list((tests / room).glob("test_*.py"))]
    modules = {file.stem for file in SOURCE.glob("*.py")} - DOORS - set(BY_OTHERS)
    without += [name for name in sorted(modules) if not (tests / f"test_{name}.py").exists()]
    assert not without, f"no tests of {', '.join(without)}"
    assert set(BY_OTHERS) <= {file.stem for file in SOURCE.glob("*.py")}


def test_every_test_file_names_what_it_is_about() -> None:
    """`test_NAME.py`, or `test_NAME_more.py`, is about a module NAME beside it in src, or the package."""
    tests, strange = ROOT / "tests", []
    for file in sorted(tests.rglob("test_*.py")):
        place = file.relative_to(tests)
        room = SOURCE / place.parent
        names = {module.stem.removeprefix("_") for module in room.glob("*.py")} | {room.name}
        about = file.stem.removeprefix("test_")
        if not any(about == name or about.startswith(f"{name}_") for name in names):
            strange.append(place.as_posix())
    assert sorted(strange) == sorted(OF_NO_ROOM)
