"""Modules that a matchup names: loaded as their files are now, also when they changed meanwhile."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

LOADED = "__preplay_loaded__"
"""The attribute of a module that has the digest of the file from which it was loaded."""


def load_module(name: str, place: str) -> ModuleType:
    """The module `name`, looked for in `place` first and then where Python finds packages."""
    if place in sys.path:
        sys.path.remove(place)
    sys.path.insert(0, place)
    _forget_others(name, place)
    with _from_source(name):
        module = importlib.import_module(name)
    vars(module).setdefault(LOADED, _digest(module))
    return module


def loaded_digest(module: ModuleType) -> str:
    """The digest of the file from which a module was loaded."""
    digest: str = vars(module)[LOADED]
    return digest


def _forget_others(name: str, place: str) -> None:
    """Let a module be loaded from `place`: not that of another folder which has its name, nor what it was
    before somebody changed its file."""
    top = name.partition(".")[0]
    there, known = PathFinder.find_spec(top, [place]), sys.modules.get(top)
    if there is None or there.origin is None or known is None:
        return
    module = sys.modules.get(name)
    changed = module is not None and vars(module).get(LOADED, _digest(module)) != _digest(module)
    if known.__file__ != there.origin or changed:
        for one in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            del sys.modules[one]
        importlib.invalidate_caches()


class _Source(SourceFileLoader):
    """Loads what a file says now. Python's compiled copy of it would stand for every text of the same
    length that was written in the same second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


@dataclass(frozen=True)
class _Finder:
    """Finds a module, and what is in it if it is a package, to be loaded from source."""

    top: str

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self.top:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Source(spec.loader.name, spec.loader.path)
        return spec


@contextmanager
def _from_source(name: str) -> Iterator[None]:
    """Modules under the first name of `name` are loaded from source meanwhile."""
    finder = _Finder(name.partition(".")[0])
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _digest(module: ModuleType) -> str:
    """Of the module's file: a run goes on only with the code that began it."""
    file = getattr(module, "__file__", None)
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
