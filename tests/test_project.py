"""The project's papers: the version is said once, and what they name is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import preplay

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_said_once() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    assert f"## {preplay.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_dependency_is_imported_somewhere() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    for requirement in PROJECT["dependencies"]:
        name = re.split(r"[<>=\[ ]", requirement)[0].replace("-", "_")
        assert re.search(rf"^\s*(import|from) {name}\b", source, re.MULTILINE), name


def test_papers_name_only_what_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "docs/architecture.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"^make ([\w-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{name}: make {target}"
        for path in re.findall(r"\]\(([^)#]+)", text):
            if "://" not in path:
                assert ((ROOT / name).parent / path).exists(), f"{name}: {path}"
