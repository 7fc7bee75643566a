"""Scripted conversations with the UCI engine, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Self

from preplay.chess.books.lookup import Lookup
from preplay.chess.uci.base import forward
from preplay.chess.uci.options import UciSettings
from preplay.chess.uci.server import run_uci

PATIENCE = 30.0
FAKE = Path(__file__).with_name("fake_base.py")


def fake(log: Path, mode: str = "plain") -> str:
    """The command of a fake base engine."""
    return f"'{sys.executable}' -S '{FAKE}' '{log}' {mode}"


class Dialogue:
    """What a GUI does: send lines, and wait for some."""

    def __init__(self, write: IO[str], read: IO[str], end: Callable[[], None]) -> None:
        self._write = write
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._end = end
        forward(read, self._lines.put)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def send(self, *lines: str) -> None:
        """Say lines."""
        self._write.write("".join(f"{line}\n" for line in lines))
        self._write.flush()

    def line(self, timeout: float = PATIENCE) -> str | None:
        """The next line; None at the end. Fails when none comes."""
        try:
            return self._lines.get(timeout=timeout)
        except Empty:
            raise AssertionError("no line came") from None

    def until(self, word: str, timeout: float = PATIENCE) -> list[str]:
        """The lines up to the first that begins with `word`."""
        lines: list[str] = []
        deadline = time.monotonic() + timeout
        while not lines or lines[-1].split()[:1] != [word]:
            line = self.line(max(0.01, deadline - time.monotonic()))
            assert line is not None, f"the engine ended before '{word}': {lines}"
            lines.append(line)
        return lines

    def ask(self, *lines: str) -> list[str]:
        """Say lines that end in a search; the answer up to its bestmove."""
        self.send(*lines)
        return self.until("bestmove")

    def best(self, *lines: str) -> str:
        """The move that answers `lines`."""
        return self.ask(*lines)[-1].split()[1]

    def ready(self) -> None:
        """Wait until all that was said before is served."""
        self.send("isready")
        self.until("readyok")

    def silence(self, seconds: float = 0.15) -> list[str]:
        """What is said for a while, which must be no bestmove."""
        lines: list[str] = []
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except Empty:
                break
            assert line is not None
            assert not line.startswith("bestmove"), line
            lines.append(line)
        return lines

    def rest(self) -> list[str]:
        """All lines up to the end."""
        lines = []
        while (line := self.line()) is not None:
            lines.append(line)
        return lines


class InThread(Dialogue):
    """A dialogue with an engine that serves in a thread; `error` is what it raised, if anything."""

    def __init__(self, engine: Callable[[IO[str], IO[str]], None]) -> None:
        from_gui, to_engine = os.pipe()
        from_engine, to_gui = os.pipe()
        self.error: Exception | None = None

        def serve() -> None:
            # The input stays open: the engine's reader may wait on it, and its number must not be reused.
            with os.fdopen(from_gui, closefd=False) as stdin, os.fdopen(to_gui, "w") as stdout:
                try:
                    engine(stdin, stdout)
                except Exception as error:
                    self.error = error

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        write = os.fdopen(to_engine, "w")

        def end() -> None:
            try:
                write.write("quit\n")
                write.close()
            except OSError:
                pass
            self._thread.join(PATIENCE)
            assert not self._thread.is_alive()

        super().__init__(write, os.fdopen(from_engine), end)

    def ended(self) -> bool:
        """Whether it ends by itself."""
        self._thread.join(PATIENCE)
        return not self._thread.is_alive()


class Talk(InThread):
    """A dialogue with `run_uci`."""

    def __init__(self, book: Lookup | None, engine: str, **settings: object) -> None:
        chosen = UciSettings(base_engine=engine, **settings)  # type: ignore[arg-type]
        super().__init__(lambda stdin, stdout: run_uci(book, stdin, stdout, settings=chosen))


def program(*arguments: str) -> list[str]:
    """The engine's command line."""
    return [sys.executable, "-m", "preplay.chess.uci.server", *arguments]


def run_program(text: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the engine with `text` as its input."""
    return subprocess.run(
        program(*arguments), input=text, capture_output=True, text=True, timeout=60, check=False
    )
