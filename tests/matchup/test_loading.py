"""Modules that a matchup names are loaded as their files are now."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from preplay.matchup.loading import load_module, loaded_digest


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing stays of what was loaded. Python keeps compiled copies here, as it does for users."""
    path, modules, finders = list(sys.path), set(sys.modules), list(sys.meta_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield
    assert sys.meta_path == finders
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def written(file: Path, text: str) -> Path:
    """A file of a certain second, as if it were changed within it."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    os.utime(file, (1_700_000_000, 1_700_000_000))
    return file


@pytest.mark.parametrize(("name", "file"), [("lone", "lone.py"), ("pack.inner", "pack/inner.py")])
def test_a_file_changed_within_the_second_at_the_same_length(
    tmp_path: Path, name: str, file: str
) -> None:
    place = str(tmp_path)
    if "/" in file:
        written(tmp_path / "pack" / "__init__.py", "")
    written(tmp_path / file, "number = 1\n")
    first = load_module(name, place)
    assert first.number == 1
    assert load_module(name, place) is first  # what did not change is not loaded again
    changed = written(tmp_path / file, "number = 2\n")
    again = load_module(name, place)
    assert again.number == 2
    assert (
        loaded_digest(again) == hashlib.sha256(changed.read_bytes()).hexdigest() != loaded_digest(first)
    )
    assert not list(tmp_path.rglob("*.pyc"))


def test_other_modules_are_loaded_as_ever(tmp_path: Path) -> None:
    written(tmp_path / "beside_it.py", "number = 3\n")
    written(tmp_path / "lone.py", "from beside_it import number\n")
    assert load_module("lone", str(tmp_path)).number == 3
    assert [file.name.partition(".")[0] for file in tmp_path.rglob("*.pyc")] == ["beside_it"]
