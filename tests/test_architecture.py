"""The drawing in docs/architecture.md: a room knows only what lies below it and has tests of its name."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import preplay

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
    ("worth", "_kernels accounts logistic programs scheduling value"),
    ("play", "book policy tree"),
    ("tools", "arguments compiled files frozen game journal machine randomness scoring stopping text"),
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


UNREAD = "?"
"""Stands for a module whose name is known only when it is imported."""
BY_NAME = {"matchup/loading.py": "modules of a user's own"}
"""Files that import what only a name tells: what they are for."""


def sources() -> Iterator[tuple[str, str]]:
    """The place of each file in the source, and its text."""
    for file in sorted(SOURCE.rglob("*.py")):
        yield file.relative_to(SOURCE).as_posix(), file.read_text(encoding="utf-8")


def imports(place: str, text: str) -> Iterator[tuple[int, str]]:
    """The line and the full name of all that a source imports, for types too, in whatever way.

    "preplay" alone is its front door, which leads everywhere.
    """
    package = ["preplay", *Path(place).parent.parts]
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
                if alias.asname is None:  # the name that is bound
                    yield node.lineno, alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from ((node.lineno, full_name(base, alias.name)) for alias in node.names)
    yield from called(tree)


def called(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The imports of a source that are calls of functions."""
    known, calls = {"import_module", "__import__"}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "importlib":
            known |= {alias.asname for alias in node.names if alias.asname and alias.name in known}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _named(node.func) in known:
            calls.add(node.func)
            yield node.lineno, by_name(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and _named(node) in known and node not in calls:
            yield node.lineno, UNREAD  # called by another name, later


def full_name(base: str, name: str) -> str:
    """What `from base import name` means; a name of preplay itself by the room where it lives."""
    if base != "preplay" or name == "__version__":
        return f"{base}.{name}"
    return base if name == "*" else preplay._HOME.get(name, f"preplay.{name}")


def _named(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def by_name(call: ast.Call) -> str:
    """What a call of import_module or __import__ imports, as far as it is written there."""
    given = [*call.args, *(word.value for word in call.keywords if word.arg in ("name", "package"))]
    name, *more = given or [ast.Constant(UNREAD)]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        if not name.value.startswith("."):
            return name.value
        package = more[0] if more else name
        if isinstance(package, ast.Constant) and name.value[:2] != "..":
            return str(package.value) + name.value
    if isinstance(name, ast.JoinedStr) and isinstance(name.values[0], ast.Constant):
        begins = str(name.values[0].value)
        if "." in begins.removeprefix("preplay."):  # the room is written, and which module is not
            return begins.rpartition(".")[0]
    return UNREAD


def faults(place: str, text: str) -> list[str]:
    """What a source at this place imports though it may not."""
    here, wrong = place.partition("/")[0].removesuffix(".py"), []
    for line, name in imports(place, text) if here not in DOORS else ():
        first, *rest = name.split(".")
        if name == UNREAD and place not in BY_NAME:
            wrong.append(f"{place}:{line} imports a module by a name that is not written there")
        if first != "preplay":
            continue
        if not rest:
            wrong.append(f"{place}:{line} imports preplay itself, which leads everywhere: name the room")
        elif rest[0] not in HEIGHT and rest != ["__version__"]:
            wrong.append(f"{place}:{line} imports {name}, but {rest[0]} is no room")
        elif rest[0] in HEIGHT and rest[0] != here and HEIGHT[rest[0]] >= HEIGHT[here]:
            wrong.append(f"{place}:{line} imports {name}, but {rest[0]} is not below {here}")
    return wrong


def test_every_room_is_in_the_drawing() -> None:
    rooms = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    assert rooms - DOORS - {"__pycache__"} == set(HEIGHT)


def test_rooms_know_only_what_lies_below_them() -> None:
    wrong = [fault for place, text in sources() for fault in faults(place, text)]
    assert not wrong, "\n".join(wrong)
    assert set(BY_NAME) <= {place for place, _ in sources()}


BY = "from importlib import import_module\n"
AROUND = [
    (
        "tree.py",
        "from preplay.runs.prepared import prepare",
        "preplay.runs.prepared.prepare, but runs is not",
    ),
    ("tree.py", "from .cli import app", "tree.py:1 imports preplay.cli.app, but cli is not below tree"),
    ("tree.py", "from . import runs", "imports preplay.runs, but"),
    ("growth/goals.py", "from ..runs import prepared", "imports preplay.runs.prepared, but"),
    ("chess/uci/game.py", "from ... import cli", "imports preplay.cli, but"),
    ("hardening/mixes.py", "from preplay.equilibria import solve", "equilibria is not below hardening"),
    (
        "tree.py",
        "from preplay import prepare",
        "imports preplay.runs.prepared, but runs is not below tree",
    ),
    ("tree.py", "from . import Matchup", "imports preplay.matchup, but"),
    ("tree.py", "from preplay import nonsense", "imports preplay.nonsense, but nonsense is no room"),
    ("tree.py", "from preplay import *", "imports preplay itself"),
    ("tree.py", "import preplay; preplay.prepare", "imports preplay itself"),
    ("tree.py", "def late():\n    import preplay as p", "tree.py:2 imports preplay itself"),
    ("tree.py", "import preplay.errors; preplay.prepare", "imports preplay itself"),
    ("tree.py", "import preplay.runs as r", "imports preplay.runs, but"),
    ("tree.py", "if TYPE_CHECKING:\n    from preplay.runs import Run", "tree.py:2 imports"),
    ("tree.py", BY + 'import_module("preplay.runs.prepared")', "imports preplay.runs.prepared, but"),
    ("tree.py", BY + 'import_module(name="preplay.runs")', "imports preplay.runs, but"),
    ("tree.py", BY + 'import_module(".runs", "preplay")', "imports preplay.runs, but"),
    ("tree.py", BY + 'import_module(f"preplay.runs.{name}")', "imports preplay.runs, but"),
    ("tree.py", BY + 'import_module(f"preplay.{name}")', "is not written there"),
    ("tree.py", BY + 'import_module("preplay." + name)', "is not written there"),
    ("tree.py", BY + "import_module(name)", "is not written there"),
    ("tree.py", BY + "load = import_module", "is not written there"),
    ("tree.py", 'import importlib as i; i.import_module("preplay.cli")', "imports preplay.cli, but"),
    ("tree.py", 'from importlib import import_module as i; i("preplay.cli")', "imports preplay.cli, but"),
    ("tree.py", '__import__("preplay.cli")', "imports preplay.cli, but"),
    ("tree.py", '__import__("preplay")', "imports preplay itself"),
]
"""Ways to know what lies above: where, how, and what is said of it."""


@pytest.mark.parametrize(("place", "text", "said"), AROUND, ids=[text for _, text, _ in AROUND])
def test_no_import_walks_around_the_drawing(place: str, text: str, said: str) -> None:
    assert said in " ".join(faults(place, text))


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("tree.py", "from .errors import InputError"),
        ("tree.py", "from preplay import PreplayError, __version__, errors"),
        ("tree.py", "import numpy; from os import path; import importlib.metadata"),
        ("tree.py", BY + 'import_module("numba")'),
        ("growth/goals.py", "from . import agenda; from .agenda import Agenda; from .. import tree"),
        ("growth/__init__.py", "from .agenda import Agenda; from ..tree import Tree"),
        ("runs/keeping.py", BY + 'import_module(f"preplay.runs.{module}")'),
        ("matchup/loading.py", BY + "import_module(name)"),
        ("cli/prepare.py", "from preplay import prepare"),
        ("__init__.py", BY + "import_module(home)"),
    ],
)
def test_what_lies_below_may_be_imported(place: str, text: str) -> None:
    assert faults(place, text) == []


def test_modules_do_not_import_each_other() -> None:
    """Not even for types: one of two that need each other has what belongs in the other."""
    modules = {".".join(["preplay", *Path(place).with_suffix("").parts]): place for place, _ in sources()}
    modules = {name.removesuffix(".__init__"): place for name, place in modules.items()}
    graph: dict[str, set[str]] = {}
    for module, place in modules.items():
        if place.endswith("__init__.py"):  # which only opens what is behind it
            continue
        for _, name in imports(place, (SOURCE / place).read_text(encoding="utf-8")):
            meant = name if name in modules else name.rpartition(".")[0]
            if meant in modules and meant != module:
                graph.setdefault(module, set()).add(meant)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_module_is_hidden_by_a_name_of_its_package() -> None:
    """After `import preplay.ROOM.NAME as x`, x is the module: no package exports something else so."""
    packages = [Path(place).parent.parts for place, _ in sources() if place.endswith("__init__.py")]
    hidden = []
    for package in (import_module(".".join(["preplay", *parts])) for parts in packages):
        for module in pkgutil.iter_modules(package.__path__):
            there = vars(package).get(module.name)
            exported = module.name in getattr(package, "__all__", ())
            if exported or (there is not None and not isinstance(there, ModuleType)):
                hidden.append(f"{package.__name__}.{module.name}")
    assert not hidden


@pytest.mark.parametrize(("layer", "rooms"), LAYERS)
def test_the_page_shows_the_same_drawing(layer: str, rooms: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    row = f"| {layer} | {', '.join(f'`{room}`' for room in rooms.split())} |"
    assert row in page, f"docs/architecture.md lacks the row\n{row} what it is for |"


def types_of(text: str) -> Iterator[tuple[str, str]]:
    """The names of a source's classes, and of its public aliases of types with what they stand for.

    Options of commands, which are annotated for their parser, are no types of their own.
    """
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, ""
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call | ast.Constant):
            meaning = ast.unparse(node.value)
            for name in (target.id for target in node.targets if isinstance(target, ast.Name)):
                capital = name[0].isupper() and not name.isupper()
                if capital and not meaning.startswith("Annotated["):
                    yield name, meaning


def namesakes(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """By name, the places of types that have it and are not the same."""
    homes: dict[str, list[tuple[str, str]]] = {}
    for place, text in sources:
        for name, meaning in types_of(text):
            homes.setdefault(name, []).append((place, meaning))
    several = {name: found for name, found in homes.items() if len(found) > 1}
    return {
        name: [place for place, _ in found]
        for name, found in several.items()
        if len({meaning for _, meaning in found}) > 1 or not found[0][1]
    }


def test_a_type_has_a_name_of_its_own() -> None:
    assert namesakes(sources()) == {}


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ("class A: pass", "class A: pass", False),
        ("class A: pass", "Ab = tuple[int]\nA = Ab", True),  # constants have capitals alone
        ("class Play: pass", "Play = Policy | Function", False),
        ("Held = tuple[bool, bool]", "Held = dict[str, str]", False),
        ("Held = tuple[bool, bool]", "Held = tuple[bool, bool]", True),
        ("class Repertoire: pass", "Repertoire = Annotated[str, option]", True),
        ("class Play: pass", "Play = play()", True),
    ],
)
def test_one_name_of_two_types_is_found(one: str, two: str, apart: bool) -> None:
    assert (namesakes([("one.py", one), ("two.py", two)]) == {}) == apart


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
