"""What the documents show can be typed: every command and every option of it exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
import typer.main

from preplay.cli.app import application

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def commands(page: Path) -> list[str]:
    """The lines of a page's code blocks that call preplay, continued ones joined."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    called = [line for line in lines if re.match(r"(\$ )?preplay [a-z0-9]+( |$)", line)]
    return [line for line in called if "…" not in line]  # what is left out may be anything


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_that_are_shown_can_be_typed(page: Path) -> None:
    group = typer.main.get_command(application())
    for line in commands(page):
        words = shlex.split(re.split(r" [|>#] ?", line.removeprefix("$ "))[0], comments=True)[1:]
        with typer.Context(group) as context:
            named = group.get_command(context, words[0])  # type: ignore[attr-defined]
            assert named is not None, line
            named.make_context(words[0], words[1:])


def test_the_readme_shows_commands() -> None:
    assert len(commands(PAGES[0])) > 15
