"""The front door: what `import preplay` offers, and that it is light."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import preplay

HEAVY = ("numpy", "numba", "scipy", "matplotlib", "chess", "pydantic", "rich", "pyspiel")


def test_every_public_name_is_there() -> None:
    names = [name for name in dir(preplay) if not name.startswith("_")]
    assert {
        *(
            "open_matchup",
            "make_matchup",
            "prepare",
            "frontier",
            "bounds",
            "equilibrium",
            "harden",
            "sweep",
            "match",
            "load_run",
        ),
        *("CHANCE", "FINAL", "Rollouts", "AdaptiveRollouts", "SearchPolicy", "MctsPolicy", "openspiel"),
        *(
            "Book",
            "save_book",
            "load_book",
            "Tree",
            "save_tree",
            "load_tree",
            "best_book",
            "grow",
            "solve",
        ),
    } <= set(names)
    constants = {"CHANCE", "FINAL", "REST", "Side", "Distribution"}
    for name in names:
        item = getattr(preplay, name)
        assert name in constants or item.__module__.startswith("preplay"), name
        assert name in constants or (item.__doc__ and "\n" in item.__doc__ + "\n"), name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = preplay.nonsense


def test_every_public_name_is_documented() -> None:
    """It has a docstring of its own (a constant has one below it), and the guide says what it is for."""
    root = Path(preplay.__file__).parents[2]
    guide = (root / "docs" / "guide.md").read_text(encoding="utf-8")
    spans = re.findall(r"^```.*?^```|`[^`\n]+`", guide, re.DOTALL | re.MULTILINE)
    said = set(re.findall(r"\w+", " ".join(spans)))
    assert [name for name in preplay.__all__ if name not in said] == []
    homes = {name: home for home, names in preplay._HOMES.items() for name in names}
    for name, home in homes.items():
        item = getattr(preplay, name)
        if inspect.isroutine(item) or inspect.isclass(item):
            told = item.__doc__
            assert told, name
            assert not told.startswith(f"{name}("), f"{name}: what a dataclass gets by itself"
        else:
            source = inspect.getsource(import_module(home))
            assert re.search(rf'^{name}\b.* = .*\n"""', source, re.MULTILINE), name


def test_what_type_checkers_see_is_what_there_is() -> None:
    """The table of homes and the imports for type checkers say the same."""
    source = ast.parse(Path(preplay.__file__).read_text())
    (block,) = [node for node in source.body if isinstance(node, ast.If)]
    seen = {
        (node.module, alias.name, alias.asname)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "preplay"
        for alias in node.names
    }
    renamed = "".join(ast.unparse(node) for node in block.body if isinstance(node, ast.Assign))
    homes = {name: home for home, names in preplay._HOMES.items() for name in names}
    there = {name: preplay._THERE.get(name, name) for name in homes}
    assert seen == {(home, name, name) for name, home in homes.items() if there[name] == name}
    assert all(name in renamed for name in homes if there[name] != name)
    assert set(preplay.__all__) == {*homes, "__version__"} == set(dir(preplay))
    for name, home in homes.items():
        assert getattr(preplay, name) is getattr(import_module(home), there[name])


def test_no_public_name_hides_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(preplay.__path__)}
    assert not modules & set(preplay.__all__)
    for module in ("preparation", "book", "response", "bounding", "theorems"):
        assert import_module(f"preplay.{module}") is getattr(preplay, module)


def test_functions_are_functions_whatever_was_imported_before() -> None:
    """Importing a module puts its name into its package: none may hide what the front door offers."""
    code = """
import pkgutil, types
import preplay
from importlib import import_module
for module in pkgutil.walk_packages(preplay.__path__, "preplay."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
for name in "prepare frontier bounds equilibrium harden sweep match load_run make_matchup".split():
    assert isinstance(getattr(preplay, name), types.FunctionType), name
assert callable(preplay.open_matchup)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "preplay", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"preplay {preplay.__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("prepare", "--side", "1"),
        ("frontier", "--side", "1"),
        ("equilibrium",),
        ("sweep", "--side", "1", "--key", "cost", "--values", "0.02,0.01"),
    ],
)
def test_a_command_on_a_small_game_imports_nothing_that_it_does_not_use(words: tuple[str, ...]) -> None:
    command, *rest = words
    price = [] if command == "sweep" else ["--cost", "0.01"]
    script = f"""
import sys
sys.argv = {["preplay", command, "examples/game.json", *rest, *price, "--json"]!r}
from preplay.cli import main
try:
    main()
except SystemExit:
    pass
unused = ("numba", "scipy", "matplotlib", "pandas", "chess.engine", "ray", "pyspiel")
print([m for m in unused if m in sys.modules])
"""
    here = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=here
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "import preplay",
        "from preplay import InputError, PreplayError; from preplay.cli.app import application",
        "import sys; sys.argv = ['preplay', '--help']\nfrom preplay.cli import main; main()",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    check = f"""
import sys
try:
    exec({code!r})
except SystemExit:
    pass
print([m for m in {HEAVY!r} if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
