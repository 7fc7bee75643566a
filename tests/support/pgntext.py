"""Games written down for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def pgn(moves: str, white: str = "Me", black: str = "Joe", **tags: str) -> str:
    """A game with its tags."""
    given = {"White": white, "Black": black, "Result": "*"} | tags
    return "".join(f'[{name} "{value}"]\n' for name, value in given.items()) + f"\n{moves} *\n\n"


@contextmanager
def written(text: str, name: str) -> Iterator[Path]:
    """The text as a file of this very name, as long as the block lasts."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path(name).write_bytes(text.encode())
        yield Path(name)
