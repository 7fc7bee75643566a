"""Writing files so that a kill leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from preplay.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary neighbour of `path` to write to; it takes the place of `path` when all went well."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Put `text` in place of what `path` held."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` in place of what `path` held."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def check_writable(path: Path) -> None:
    """Raise InputError now rather than later if nothing can be written to `path`; it is left as it is."""
    if path.is_dir():
        raise InputError(f"{path}: cannot be written (is a directory)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        probe = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
