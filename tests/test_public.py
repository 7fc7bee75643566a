"""The front door: what `import preplay` offers, and that it is light."""

from __future__ import annotations

import subprocess
import sys

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
        _ = preplay.nonsense  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "code",
    [
        "import preplay",
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
