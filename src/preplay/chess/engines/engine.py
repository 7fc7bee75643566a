"""One UCI engine in a process of its own, at the speed of a bare pipe.

A search costs one write and a few reads; nothing is parsed before the last line has come. Every search
starts from empty hash tables, so a node limit gives the same answer every time.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self

import chess

from preplay.chess.engines.analysis import OWN_OPTIONS, Analysis, EngineSpec, SearchRequest
from preplay.chess.engines.guard import Guard, free_pipe, kill_group
from preplay.chess.engines.infolines import check_moves, read_analysis, signed_number
from preplay.errors import EngineError, InputError, nearest
from preplay.text import harmless

HANDSHAKE = 30.0
"""Seconds an engine has to start: networks can be large."""
GRACE = 2.0
"""Seconds between `stop` and the end of a search that hangs."""
_PATROL = 100
"""Milliseconds between two looks at whether the process was ended."""
_WORDS = 500
"""Bytes kept of what an engine says on stderr."""
_ENOUGH = 1 << 20
"""Bytes of output kept of a search: only its last lines count."""


@dataclass(frozen=True, slots=True)
class EngineOption:
    """A UCI option as the engine declared it."""

    name: str
    kind: str
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: str) -> None:
        """Raise EngineError unless `value` fits."""
        if self.kind == "combo" and value not in self.choices:
            expected = "one of: " + ", ".join(self.choices)
            raise EngineError(f"option '{self.name}': value '{value}'; expected {expected}")
        if self.kind == "check" and value not in {"true", "false"}:
            raise EngineError(f"option '{self.name}': value '{value}'; expected true or false")
        if self.kind == "spin":
            low, high = self.low, self.high
            try:
                number = signed_number(value)
                fits = (low is None or low <= number) and (high is None or number <= high)
            except ValueError:
                fits = False
            if not fits:
                raise EngineError(f"option '{self.name}': value '{value}'; expected {low} to {high}")


class Complaints:
    """What an engine says on stderr: taken as fast as it comes, and only the end of it kept."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._end = b""
        self._reader = threading.Thread(target=self._listen, name="complaints", daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 1 << 16):
            self._end = (self._end + chunk)[-_WORDS:]

    def last(self) -> str:
        """The last words of an engine that has died."""
        self._reader.join(1.0)
        return harmless(self._end.decode("utf-8", errors="replace").strip())

    def close(self) -> None:
        """After the engine's death: free everything."""
        if self._reader.is_alive():
            free_pipe(self._pipe.fileno())
            self._reader.join(1.0)
        if not self._reader.is_alive():
            self._pipe.close()


class Engine:
    """A running engine. Use it as a context manager, or call `open` and `close`.

    One thread at a time may search; `kill` may be called from any thread. Any EngineError but a refused
    option means that the process is not to be trusted any more.
    """

    def __init__(self, spec: EngineSpec, *, patience: float | None = None, handshake: float = HANDSHAKE):
        """Nothing starts yet. `patience`: seconds until a search counts as hung (else by its limit)."""
        self.spec = spec
        self.name = ""
        self.options: dict[str, EngineOption] = {}
        self._patience = patience
        self._handshake = handshake
        self._process: subprocess.Popen[bytes] | None = None
        self._stdin: IO[bytes]
        self._stdout: IO[bytes]
        self._guard: Guard | None = None
        self._complaints: Complaints | None = None
        self._closed = threading.Event()
        self._deadline = float("inf")
        self._searching = False
        self._overdue = False
        self._multipv = 1
        self._chess960 = False
        self._began = 0.0
        self._given = 0.0

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process id, or None before `open`."""
        return self._process.pid if self._process else None

    def open(self) -> None:
        """Start the process, read its options and set ours; raises EngineError if that fails."""
        try:
            # In a process group of its own: Ctrl-C reaches us alone, and a wrapper script ends with its
            # engine. (A session of its own would do too, but is scheduled apart and slower under load.)
            self._process = subprocess.Popen(
                self.spec.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
            )
        except (OSError, ValueError) as error:
            self.close()
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise EngineError(f"engine '{self.spec}' cannot be started: {reason}") from error
        self._stdin, self._stdout = _pipe(self._process.stdin), _pipe(self._process.stdout)
        self._complaints = Complaints(_pipe(self._process.stderr))
        self._guard = Guard(self._process.pid)
        if self._closed.is_set():  # killed while it was being started
            self.kill()
        threading.Thread(target=self._watch, name=f"watch {self.spec}", daemon=True).start()
        try:
            self._shake_hands()
        except EngineError:
            self.close()
            raise

    def _shake_hands(self) -> None:
        self._expect_within(self._handshake)
        self._send("uci")
        for row in self._read_until("uciok").splitlines():
            if row.startswith("id name "):
                self.name = harmless(row.removeprefix("id name ").strip())
            elif option := _read_option(row):
                self.options[option.name.casefold()] = option
        for name, value in self.spec.options:
            option = self.options.get(name.casefold())
            if option is None and OWN_OPTIONS.get(name) == value:
                continue
            if option is None:
                known = [each.name for each in self.options.values()]
                raise EngineError(f"engine '{self.spec}' has no option '{name}'; {nearest(name, known)}")
            option.check(value)
            self._set(option.name, "" if option.kind == "button" else value)
        if "uci_showwdl" in self.options:
            self._set("UCI_ShowWDL", "true")
        self._send("ucinewgame\nisready")
        self._read_until("readyok")
        self._deadline = float("inf")

    def begin(self, request: SearchRequest) -> None:
        """Start a search and return at once; `finish` waits for its end."""
        if request.multipv != self._multipv:
            self._set_multipv(request.multipv)
        if request.position.chess960 != self._chess960:
            self._set_chess960(request.position.chess960)
        self._searching = True
        self._expect_within(request.limit.patience if self._patience is None else self._patience)
        self._began = time.perf_counter()
        self._send(f"{request.position.command}\n{request.limit.go}")

    def finish(self) -> tuple[str, float]:
        """The output of the search that was begun, and the seconds it took."""
        output = self._read_until("bestmove")
        seconds = time.perf_counter() - self._began
        self._searching = False
        self._deadline = float("inf")
        if self._overdue:
            raise EngineError(self._hung())
        # The engine clears its tables while we read what it found. Commands are served in order.
        with contextlib.suppress(EngineError):  # should it be dead, the next search will say so
            self._send("ucinewgame")
        return output, seconds

    def search(self, request: SearchRequest) -> Analysis:
        """A whole search on a position that has legal moves."""
        board, want = check_request(request)
        self.begin(request)
        return read_answer(*self.finish(), board, want)

    def kill(self) -> None:
        """End the process at once; a search in another thread then raises EngineError."""
        self._closed.set()
        if self._process is not None:
            kill_group(self._process)

    def close(self) -> None:
        """End the process and free everything; for the thread that searches."""
        self.kill()
        if self._process is not None:
            if self._guard is not None:
                self._guard.release()
            self._process.wait()
            with contextlib.suppress(OSError, ValueError):  # closed twice
                free_pipe(self._stdout.fileno())
            for pipe in (self._stdin, self._stdout):
                with contextlib.suppress(OSError):  # unsent commands
                    pipe.close()
            if self._complaints is not None:
                self._complaints.close()

    def _set_multipv(self, multipv: int) -> None:
        option = self.options.get("multipv")
        if option is None:
            raise EngineError(f"engine '{self.spec}' has no option MultiPV, which K = {multipv} needs")
        option.check(str(multipv))
        self._set(option.name, str(multipv))
        self._multipv = multipv

    def _set_chess960(self, chess960: bool) -> None:
        option = self.options.get("uci_chess960")
        if option is None:
            raise EngineError(
                f"engine '{self.spec}' has no option UCI_Chess960: it does not play Chess960"
            )
        self._set(option.name, "true" if chess960 else "false")
        self._chess960 = chess960

    def _set(self, name: str, value: str) -> None:
        self._send(f"setoption name {name} value {value}" if value else f"setoption name {name}")

    def _send(self, command: str) -> None:
        try:
            self._stdin.write(command.encode() + b"\n")
            self._stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineError(self._last_words()) from error

    def _read_until(self, word: str) -> str:
        """All output up to the end of the first line that begins with `word`."""
        descriptor = self._stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        mark = b"\n" + word.encode()
        output = bytearray(b"\n")
        searched = 0
        while True:
            while not poll.poll(_PATROL):
                if self._closed.is_set():  # dead, and yet its output is not at an end
                    raise EngineError(self._last_words())
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                raise EngineError(self._last_words())
            output += chunk
            at = output.find(mark, searched)
            if at >= 0 and output.find(b"\n", at + 1) >= 0:
                return output.decode("utf-8", errors="replace")
            searched = at if at >= 0 else max(0, len(output) - len(mark))
            if len(output) > _ENOUGH:
                del output[: output.rfind(b"\n", 0, len(output) // 2) + 1 or len(output) // 2]
                searched = 0

    def _expect_within(self, seconds: float) -> None:
        self._given = seconds
        self._overdue = False
        self._deadline = time.monotonic() + seconds

    def _watch(self) -> None:
        """Ends what takes too long: `stop` for a search, then the process."""
        while not self._closed.wait(0.1):
            late = time.monotonic() - self._deadline
            if late > 0 and self._searching and not self._overdue:
                self._overdue = True
                with contextlib.suppress(EngineError):
                    self._send("stop")
            elif late > (GRACE if self._searching else 0):
                self._overdue = True
                self.kill()

    def _hung(self) -> str:
        return f"engine '{self.spec}' did not answer within {self._given:g} s"

    def _last_words(self) -> str:
        """Why there is nothing more to read."""
        if self._overdue:
            return self._hung()
        if self._closed.is_set() or self._process is None:
            return f"engine '{self.spec}' was closed"
        try:
            status = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return f"engine '{self.spec}' closed its output"
        words = self._complaints.last().splitlines() if self._complaints is not None else []
        return f"engine '{self.spec}' died with status {status}" + (f": {words[-1]}" if words else "")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def check_request(request: SearchRequest) -> tuple[chess.Board, int]:
    """The board of a request and how many lines to expect; refuses what could kill an engine."""
    position = request.position
    try:
        board = position.board()
    except ValueError as error:
        raise InputError(f"position '{position.text}': {error}") from error
    # Positions that cannot arise in a game but harm no engine pass.
    status = board.status() & ~(chess.STATUS_IMPOSSIBLE_CHECK | chess.STATUS_TOO_MANY_CHECKERS)
    if status:
        faults = ", ".join(flag.name or "?" for flag in chess.Status if flag & status)
        raise InputError(f"position '{position.text}' is not legal: {faults.lower().replace('_', ' ')}")
    want = sum(1 for _, _ in zip(range(request.multipv), board.generate_legal_moves(), strict=False))
    if want == 0:
        raise InputError(f"position '{position.text}' has no legal moves: there is nothing to search")
    return board, want


def read_answer(output: str, seconds: float, board: chess.Board, want: int) -> Analysis:
    """The analysis in a search's output, with moves that are legal on `board`."""
    analysis = read_analysis(output, want, seconds)
    check_moves(analysis, board)
    return analysis


def _read_option(row: str) -> EngineOption | None:
    """`option name Hash type spin default 16 min 1 max 1024`, or None for other lines."""
    if not row.startswith("option name "):
        return None
    name, _, rest = row.removeprefix("option name ").partition(" type ")
    words = rest.split()
    if not name or not words:
        return None

    def number(key: str) -> int | None:
        with contextlib.suppress(ValueError, IndexError):
            return signed_number(words[words.index(key) + 1])
        return None

    choices = tuple(choice.strip() for choice in rest.split(" var ")[1:])
    return EngineOption(name.strip(), words[0], number("min"), number("max"), choices)
