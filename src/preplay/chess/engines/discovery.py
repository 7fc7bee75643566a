"""Where engines are, and which they are."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
from pathlib import Path

from preplay.chess.engines.analysis import EngineSpec, Identity
from preplay.errors import EngineError

DEBIAN_GAMES = Path("/usr/games")


def find_engine(command: str | None = None) -> str:
    """The path of an engine: `command`, else STOCKFISH_EXECUTABLE, PATH, and where Debian puts games."""
    name = command or "stockfish"
    if name == "stockfish" and (chosen := os.environ.get("STOCKFISH_EXECUTABLE")):
        if found := shutil.which(_place(chosen)):
            return str(Path(found).absolute())
        raise EngineError(f"STOCKFISH_EXECUTABLE is '{chosen}'; expected the path of an executable file")
    found = shutil.which(_place(name)) or shutil.which(name, path=str(DEBIAN_GAMES))
    if found:
        return str(Path(found).absolute())
    if command and command != "stockfish":
        raise EngineError(
            f"engine '{command}' not found; expected an executable file or a program on the PATH"
        )
    raise EngineError(
        "no Stockfish found; install it (Debian: apt install stockfish, macOS: brew install stockfish), "
        "or set STOCKFISH_EXECUTABLE to its path"
    )


def find_command(command: str | None = None) -> tuple[str, ...]:
    """An engine's command line: a program's path, perhaps with spaces, or a program and its arguments."""
    if not command or (os.sep in command and Path(command).expanduser().is_file()):
        return (find_engine(command),)
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        raise EngineError(f"engine '{command}'; expected a program and its arguments") from None
    return (find_engine(program), *arguments)


def absolute_command(command: str) -> str:
    """The same command line with absolute paths, so that it can be started anywhere."""
    program, *arguments = find_command(command)
    if not arguments:
        return program
    files = [str(Path(word).absolute()) if Path(word).is_file() else word for word in arguments]
    return shlex.join([program, *files])


def _place(name: str) -> str:
    """A name to look up on the PATH, or the absolute path that a name with a slash in it means."""
    return str(Path(name).expanduser().absolute()) if os.sep in name else name


def identify(spec: EngineSpec, name: str) -> Identity:
    """Which engine `spec` starts: by the name it gives itself and the contents of its files."""
    program, *arguments = spec.command
    digest = hashlib.sha256(_content(shutil.which(program) or program))
    for argument in arguments:
        digest.update(b"\0" + (_content(argument) or argument.encode()))
    for _, value in spec.options:
        digest.update(b"\0" + _content(value))
    return Identity(name or str(spec), digest.hexdigest()[:16])


def _content(name: str) -> bytes:
    """A digest of the file with this name; empty if there is none."""
    try:
        path = Path(name).resolve()
        stat = path.stat()
        return _file_digest(str(path), stat.st_size, stat.st_mtime_ns) if path.is_file() else b""
    except (OSError, ValueError):
        return b""


@functools.lru_cache(maxsize=64)
def _file_digest(path: str, size: int, changed: int) -> bytes:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
