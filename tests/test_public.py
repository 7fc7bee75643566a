"""The front door: what `import preplay` offers, and that it is light."""

from __future__ import annotations

import ast
import pkgutil
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
        "best_book",
        "frontier",
        "grow",
        "Tree",
        "Book",
        "open_matchup",
        "PreplayError",
        "solve",
    } <= set(names)
    for name in names:
        assert getattr(preplay, name).__module__.startswith("preplay") or name == "Side", name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = preplay.nonsense


def test_what_type_checkers_see_is_what_there_is() -> None:
    """The table of homes and the imports for type checkers say the same."""
    source = ast.parse(Path(preplay.__file__).read_text())
    (block,) = [node for node in source.body if isinstance(node, ast.If)]
    seen = {
        (node.module, alias.name, alias.asname)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: home for home, names in preplay._HOMES.items() for name in names}
    assert seen == {(home, name, name) for name, home in homes.items()}
    assert set(preplay.__all__) == {*homes, "__version__"} == set(dir(preplay))
    for name, home in homes.items():
        assert getattr(preplay, name) is getattr(import_module(home), name)


def test_no_public_name_hides_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(preplay.__path__)}
    assert not modules & set(preplay.__all__)
    for module in ("preparation", "book", "response", "bounds"):
        assert import_module(f"preplay.{module}") is getattr(preplay, module)


@pytest.mark.parametrize(
    "code",
    [
        "import preplay",
        "from preplay import InputError, PreplayError; from preplay.cli.app import app",
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
