"""The conversation between a GUI and the base engine, with the book in between.

One loop takes the lines of the GUI and of the base engine from one queue. While a search runs, only what
UCI allows then is served; anything else waits for the bestmove, or for the count that ends a perft.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

import chess

from preplay.chess.books.lookup import Lookup
from preplay.chess.engines.analysis import OWN_OPTIONS
from preplay.chess.engines.infolines import whole_number
from preplay.chess.uci.answer import Dice, book_answer, rank, roll
from preplay.chess.uci.base import FAREWELL, Base, Inbox
from preplay.chess.uci.game import Go, Tracker, parse_go
from preplay.chess.uci.options import OWN, UciSettings, own_option, parse_setoption
from preplay.errors import EngineError, InputError

OpenBook = Callable[[str], Lookup]
"""Reads the book at a path."""

MOST_LINES = 500
"""Lines that a GUI may ask for; no position has more moves."""


@dataclass
class GuiSearch:
    """A `go` without its bestmove."""

    go: Go
    pondering: bool
    held: bool
    """Whether the bestmove must wait for `stop` or `ponderhit`."""
    started: float = field(default_factory=time.monotonic)
    playing: bool = True
    """Whether a move is wanted, not understanding."""
    base: bool = True
    """Whether the base engine searches; else the book has answered."""
    random: bool = False
    """Whether the dice choose among the base engine's moves."""
    stopped: bool = False
    output: list[str] = field(default_factory=list)
    """The base engine's info lines, if the dice need them."""
    scored: bool = False
    """Whether a score was shown."""
    answer: tuple[str, ...] = ()
    """The last lines, once they are known."""

    @property
    def milliseconds(self) -> int:
        """Since `go`."""
        return round(1000 * (time.monotonic() - self.started))


class Session:
    """A running engine: what it was told, and what it is doing."""

    def __init__(
        self, inbox: Inbox, stdout: IO[str], book: Lookup | None, read: OpenBook, settings: UciSettings
    ) -> None:
        self._inbox = inbox
        self._stdout = stdout
        self._book = book
        self._read = read
        self._settings = settings
        self._base = Base(settings.base_engine, inbox)
        self._tracker = Tracker()
        self._problem = ""  # why the position cannot be searched
        self._search: GuiSearch | None = None
        self._analyse = False
        self._multipv = 1  # as the GUI wants it
        self._asked = 0  # isready without readyok
        self._restarts = 0
        self._told: set[str] = set()  # what need not be said again
        self._dice = Dice(settings.seed or secrets.randbits(31), 0)
        self._commands: dict[str, Callable[[str], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "ucinewgame": self._newgame,
            "setoption": self._setoption,
            "position": self._position,
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
        }

    def run(self) -> None:
        """Serve until the GUI leaves; raises EngineError when the base engine is lost for good."""
        while (line := self._next()) != "quit":
            word = line.split()[0] if line else ""
            try:
                if word in self._commands:
                    self._commands[word](line)
                elif word == "debug":
                    self._base.send(line)
                elif word:  # the base engine may know it
                    self._base.send(self._tracker.command, line)
            except InputError as error:
                self._put(f"info string {error}")
        self._leave()

    def close(self) -> None:
        """End the base engine."""
        self._base.close()

    def _next(self) -> str:
        """The next line of the GUI to serve; what the base engine says is served meanwhile."""
        waiting = self._inbox.waiting
        while True:
            if self._search is None and not self._asked:
                at = 0 if waiting else None
            else:
                at = next((k for k, line in enumerate(waiting) if self._urgent(line)), None)
            if at is not None:
                line = waiting[at]
                del waiting[at]
                return line
            event = self._inbox.get(FAREWELL if "quit" in waiting else None)
            if event is None:
                return "quit"
            if event.source is self._base:
                self._from_base(event.line)

    def _urgent(self, line: str) -> bool:
        """Whether a line is for the search that runs, and need not wait for its end."""
        search = self._search
        if search is None:
            return False  # but readyok is due
        if line in {"stop", "ponderhit"}:
            return search.pondering if line == "ponderhit" else not search.stopped
        return line in {"quit", "isready", "uci", ""}

    def _leave(self) -> None:
        """Finish what is under way, as far as that is quick."""
        self._stop()
        deadline = time.monotonic() + FAREWELL
        while self._asked or self._search is not None:
            event = self._inbox.get(max(0.0, deadline - time.monotonic()))
            if event is None or (event.source is self._base and event.line is None):
                return
            if event.source is self._base:
                self._from_base(event.line)

    # What the GUI asks

    def _uci(self, _: str) -> None:
        own = {option.name.lower() for option in OWN}
        passed = [line for name, line in self._base.options.items() if name not in own]
        if "uci_analysemode" not in self._base.options:
            passed.append("option name UCI_AnalyseMode type check default false")
        identity = self._base.identity
        self._put(f"id name preplay with {identity['name']}", f"id author {identity['author']}")
        self._put(*(option.declare(self._settings) for option in OWN), *passed, "uciok")

    def _isready(self, _: str) -> None:
        if self._search is None:
            self._asked += 1
            self._base.send("isready")
        else:
            self._put("readyok")

    def _newgame(self, _: str) -> None:
        self._dice = Dice(self._dice.seed, self._dice.game + 1)
        self._restarts = 0
        self._told.discard("start")
        self._base.send("ucinewgame")

    def _setoption(self, line: str) -> None:
        name, value = parse_setoption(line)
        own = own_option(name)
        if own is None:
            self._pass_on(name.lower(), value, line)
            return
        settings = own.change(self._settings, value or "")
        if own.field == "book_file":
            self._book = self._read(settings.book_file) if settings.book_file else None
        elif own.field == "base_engine":
            self._replace_base(settings.base_engine)
        elif own.field == "seed":
            self._dice = Dice(settings.seed or secrets.randbits(31), self._dice.game)
            self._told.discard("seed")
        self._settings = settings

    def _pass_on(self, key: str, value: str | None, line: str) -> None:
        """An option of the base engine, some of which concern us too."""
        if key == "multipv":
            self._multipv = whole_number(value or "", MOST_LINES) or 1
            return  # the base engine is told when a search begins
        if key == "uci_analysemode":
            self._analyse = (value or "").lower() == "true"
            if key not in self._base.options:
                return
        elif key == "uci_chess960":
            self._tracker.switch((value or "").lower() == "true")
        if value is None:
            self._base.send(line)  # a button
        else:
            self._base.give(key, line)

    def _position(self, line: str) -> None:
        try:
            self._tracker.follow(line)
            self._problem = ""
        except InputError as error:
            self._problem = str(error)

    def _go(self, line: str) -> None:
        if self._problem:
            nothing = "info depth 0 score cp 0 time 0 nodes 0 nps 0"
            self._put(f"info string {self._problem}", nothing, "bestmove 0000")
            return
        go, settings = parse_go(line), self._settings
        search = self._search = GuiSearch(go, go.ponder, go.ponder or go.infinite)
        playing = search.playing = not (self._analyse or go.analysis)
        if playing and settings.own_book and self._book is not None:
            if self._book.mixed:
                self._tell("seed", f"seed {self._dice.seed}")
            answer = book_answer(
                self._book, self._tracker, self._dice, go.searchmoves, settings.by_position
            )
            if answer is not None:
                search.base = False
                self._answer(search, answer)
                return
            if not self._book.starts(self._tracker.since(self._book.start)):
                self._tell("start", f"{self._book.name} begins in another position than this game")
        search.random = playing and settings.randomness > 0 and settings.choices > 1
        if search.random and "multipv" not in self._base.options:
            search.random = False
            self._tell("multipv", "the base engine has no MultiPV, so Randomness has no effect")
        if search.random:
            self._tell("seed", f"seed {self._dice.seed}")
        self._start_base(search)

    def _stop(self, _: str = "") -> None:
        search = self._search
        if search is None or search.stopped:
            return
        search.stopped, search.held = True, False
        if search.answer:
            self._finish(search)
        else:
            self._base.send("stop")

    def _ponderhit(self, _: str) -> None:
        search = self._search
        if search is None or not search.pondering:
            return
        search.pondering, search.held = False, search.go.infinite
        if search.answer and not search.held:
            self._finish(search)
        elif search.base:
            self._base.send("ponderhit")

    # The base engine

    def _start_base(self, search: GuiSearch, spent: int = 0) -> None:
        """Let the base engine search; `spent` milliseconds of its time are gone."""
        settings = self._settings
        scored = search.playing and (search.random or settings.fresh)
        wanted = max(self._multipv, settings.choices) if scored else self._multipv
        multipv = f"setoption name MultiPV value {wanted}"
        known = self._base.given.get("multipv", "setoption name MultiPV value 1")
        if "multipv" in self._base.options and known != multipv:
            self._base.give("multipv", multipv)
        mover = "w" if self._tracker.board.turn == chess.WHITE else "b"
        go = search.go.line(ponder=search.pondering, limit=settings.limit, mover=mover, spent=spent)
        if settings.fresh:
            self._as_modelled()
        self._base.send(*(["ucinewgame"] if settings.fresh else []), self._tracker.command, go)

    def _as_modelled(self) -> None:
        """Give the base engine what the model gives it, but for what the GUI has set."""
        for name, value in OWN_OPTIONS.items():
            key = name.lower()
            if key in self._base.options and key not in self._base.given:
                self._base.give(key, f"setoption name {name} value {value}")

    def _from_base(self, line: str | None) -> None:
        search = self._search if self._search is not None and self._search.base else None
        word = line.split()[0] if line else ""
        if line is None:
            self._revive()
        elif word == "readyok":
            if self._asked:
                self._asked -= 1
                self._put(line)
        elif word == "bestmove":
            if search is not None and not search.answer:
                self._answer(search, self._base_answer(search, line))
        elif word == "info" and search is not None:
            search.scored = search.scored or " score " in line
            if search.random:
                search.output.append(line)
            if not search.playing or rank(line) <= self._multipv:
                self._put(line)
        else:
            self._put(line)
            if search is not None and search.go.perft and line.lower().startswith("nodes searched"):
                self._search = None

    def _base_answer(self, search: GuiSearch, line: str) -> tuple[str, ...]:
        """The base engine's last lines: its own, or what the dice make of them."""
        if search.random:
            k, r = self._settings.choices, self._settings.randomness
            output = [*search.output, line]
            rolled = roll(output, self._tracker, self._dice, search.go.searchmoves, k, r)
            if rolled is not None:
                return rolled
        move = [*line.split(), "(none)"][1]
        if search.scored or move in {"(none)", "0000"}:
            return (line,)
        return f"info depth 0 score cp 0 time {{time}} nodes 0 nps 0 pv {move}", line

    def _revive(self) -> None:
        """Start a base engine that died anew, once a game, and its search with it."""
        code = self._base.exit_code()
        if self._restarts:
            raise EngineError(f"the base engine '{self._base.command}' died again (exit code {code})")
        self._restarts += 1
        self._put(f"info string the base engine died (exit code {code}) and is started again")
        self._base.close()
        self._base = Base(self._base.command, self._inbox, self._base.given)
        self._base.send(*["isready"] * self._asked)
        search = self._search
        if search is not None and search.base and not search.answer:
            search.output.clear()
            self._start_base(search, search.milliseconds)
            if search.stopped:
                self._base.send("stop")

    def _replace_base(self, command: str) -> None:
        """Another base engine, if it works; else the old one goes on."""
        try:
            base = Base(command, self._inbox, self._base.given)
        except EngineError as error:
            raise InputError(str(error)) from None
        self._base.close()
        self._base = base

    # What the GUI is told

    def _answer(self, search: GuiSearch, lines: tuple[str, ...]) -> None:
        """Show what is known, and the bestmove as soon as that is allowed."""
        *infos, best = (line.replace("{time}", str(search.milliseconds)) for line in lines)
        self._put(*infos)
        search.answer = (best,)
        if not search.held:
            self._finish(search)

    def _finish(self, search: GuiSearch) -> None:
        self._search = None
        self._put(*search.answer)

    def _tell(self, what: str, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._put(f"info string {text}")

    def _put(self, *lines: str) -> None:
        self._stdout.write("".join(f"{line}\n" for line in lines))
        self._stdout.flush()
