"""The engine behind the book: a process whose lines arrive in a queue, so that nobody waits for them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import IO, NamedTuple

from preplay.chess.engines.discovery import find_command
from preplay.chess.engines.guard import Guard, free_pipe, kill_group
from preplay.chess.uci.options import option_default
from preplay.errors import EngineError

HANDSHAKE = 20.0
"""Seconds that a base engine may take to say what it is."""
HURRY = 5.0
"""The same when the GUI already wants to leave."""
FAREWELL = 1.0
"""Seconds that answers under way may take when the GUI leaves."""


class Event(NamedTuple):
    """Something arrived."""

    source: Base | None
    """Who sent it; None is the GUI."""
    line: str | None
    """Without white space around it; None: the sender closed its end."""


class Inbox:
    """What the GUI and the base engine say, in the order of its arrival."""

    def __init__(self, stdin: IO[str]) -> None:
        self._events: SimpleQueue[Event] = SimpleQueue()
        self.waiting: deque[str] = deque()
        """Lines of the GUI that were not served yet; the end of its input is a `quit`."""
        self.forward(stdin, None)

    def forward(self, stream: IO[bytes] | IO[str], source: Base | None) -> threading.Thread:
        """Take in the lines of `stream` from now on."""
        return forward(stream, lambda line: self._events.put(Event(source, line and line.strip())))

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event, or None if none came in `timeout` seconds. The GUI's lines go to `waiting`."""
        try:
            event = self._events.get(timeout=timeout)
        except Empty:
            return None
        if event.source is None:
            self.waiting.append("quit" if event.line is None else event.line)
        return event


class Base:
    """A running base engine that has said what it is. `close` ends it.

    `options` has its `option` lines by their lower-case names. `given` has the options it was given.
    """

    def __init__(self, command: str, inbox: Inbox, given: Mapping[str, str] | None = None) -> None:
        self.command = command
        try:
            self._process = subprocess.Popen(
                find_command(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                process_group=0,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise EngineError(f"cannot start the base engine '{command}': {reason}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._guard = Guard(self._process.pid)
        self._reader = inbox.forward(self._stdout, self)
        self.identity = {"name": command, "author": "?"}
        self.options: dict[str, str] = {}
        self.given: dict[str, str] = {}
        try:
            self._shake_hands(inbox)
        except BaseException:
            self.close()
            raise
        if "ownbook" in self.options:
            self.send("setoption name OwnBook value false")  # the book is ours
        for key, line in (given or {}).items():
            if key in self.options:
                self.give(key, line)

    def send(self, *lines: str) -> None:
        """Write lines at once. To a dead engine nothing is written: its end arrives as an event."""
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write("".join(f"{line}\n" for line in lines).encode())

    def give(self, key: str, line: str) -> None:
        """Send a `setoption` line, and remember it for an engine that takes this one's place."""
        self.given[key] = line
        self.send(line)

    def exit_code(self, patience: float = 1.0) -> int | None:
        """How the process ended; None while it runs."""
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Ask the engine to quit; end it if it does not."""
        self.send("quit")
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            kill_group(self._process)
        self._guard.release()
        self._process.wait()
        if self._reader.is_alive():
            with contextlib.suppress(OSError, ValueError):
                free_pipe(self._stdout.fileno())
        self._reader.join(FAREWELL)
        if not self._reader.is_alive():
            self._stdout.close()

    def _shake_hands(self, inbox: Inbox) -> None:
        """Ask what it is. The GUI waits meanwhile; when it wants to leave, not for long."""
        self.send("uci")
        deadline = time.monotonic() + HANDSHAKE
        while True:
            event = inbox.get(max(0.0, deadline - time.monotonic()))
            if event is None:
                raise EngineError(f"the base engine '{self.command}' does not answer 'uci'")
            if "quit" in inbox.waiting:
                deadline = min(deadline, time.monotonic() + HURRY)
            if event.source is self:
                if event.line is None:
                    code = self.exit_code()
                    raise EngineError(
                        f"the base engine '{self.command}' ended at once (exit code {code})"
                    )
                if event.line == "uciok":
                    return
                self._learn(event.line)

    def _learn(self, line: str) -> None:
        words = line.split(maxsplit=2)
        option = option_default(line)
        if option is not None:
            self.options[option[0].lower()] = line
        elif len(words) == 3 and words[0] == "id":
            self.identity[words[1]] = words[2]


def forward(stream: IO[bytes] | IO[str], put: Callable[[str | None], object]) -> threading.Thread:
    """Hand each line of `stream` to `put`, and None at its end, from a thread of its own."""

    def work() -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in _lines(stream):
                put(line)
        put(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _lines(stream: IO[bytes] | IO[str]) -> Iterator[str]:
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError):
        for line in stream:
            yield line.decode(errors="replace") if isinstance(line, bytes) else line
        return
    # Straight from the descriptor: a thread that waits inside a buffered reader holds its lock, and
    # Python cannot end while it does.
    rest = b""
    while chunk := os.read(descriptor, 1 << 16):
        *whole, rest = (rest + chunk).split(b"\n")
        for raw in whole:
            yield raw.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")
