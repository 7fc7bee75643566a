"""Analyses kept on disk, shared by runs: nothing an engine computed is computed twice.

One SQLite file in write-ahead mode. Every analysis is its own transaction (some 40 µs), so a process that
is killed loses nothing it had stored, and several processes can work on one store at a time.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from preplay.chess.engines.analysis import Analysis, EngineSpec, Identity, Limit, SearchPosition
from preplay.chess.engines.encoding import decode, encode
from preplay.chess.engines.storefile import COLUMNS, connect, create, identify, prepare
from preplay.errors import StoreError

_TRUE: Final = (
    "(SELECT length(fen) - length(replace(fen, ' ', '')) = 5 FROM"
    " (SELECT substr(position, 1, instr(position || ' moves ', ' moves ') - 1) AS fen))"
)
"""Whether an analysis has a whole FEN for its position. Versions that told engines a clock of 0 while it
was below 20 kept five fields of it: such rows are never found any more, but shown and pruned."""


@dataclass(frozen=True, slots=True)
class Setting:
    """All of a search but its position: analyses are comparable within a setting."""

    engine: Identity
    options: str
    """`name=value` pairs, separated by `; `."""
    limit: Limit
    multipv: int
    chess960: bool = False

    @classmethod
    def of(
        cls, engine: Identity, spec: EngineSpec, limit: Limit, multipv: int, chess960: bool = False
    ) -> Setting:
        """The setting of searches by `engine`, which `spec` starts."""
        options = "; ".join(f"{name}={value}" for name, value in spec.options)
        return cls(engine, options, limit, multipv, chess960)

    def row(self) -> tuple[str, str, str, str, int, int, int]:
        """The columns of the setting table, without its id."""
        engine, limit = self.engine, self.limit
        return (
            engine.name,
            engine.digest,
            self.options,
            limit.kind,
            limit.amount,
            self.multipv,
            int(self.chess960),
        )

    @classmethod
    def of_row(cls, row: Sequence[object]) -> Setting:
        """The inverse of `row`."""
        engine, digest, options, kind, amount, multipv, chess960 = row
        limit = Limit(**{str(kind): amount})  # type: ignore[arg-type]
        return cls(
            Identity(str(engine), str(digest)), str(options), limit, int(str(multipv)), bool(chess960)
        )


@dataclass(frozen=True, slots=True)
class Holding:
    """What a store holds of one setting."""

    setting: Setting
    true_clock: bool
    """False for what older versions kept, which told engines a half-move clock of 0 below 20."""
    analyses: int
    bytes: int
    """Of the positions and encoded analyses."""
    first: int
    """When the oldest was made, in seconds since 1970."""
    last: int
    """When the newest was made."""


@dataclass(frozen=True, slots=True)
class Record:
    """One stored analysis."""

    setting: Setting
    position: SearchPosition
    made: int
    analysis: Analysis


class AnalysisStore:
    """A file of analyses; made if it does not exist. May be used from several threads."""

    def __init__(self, path: str | os.PathLike[str]):
        """Opens `path`; raises StoreError, and leaves the file as it is, if it is not a usable store."""
        self.path = Path(path)
        self._lock = threading.Lock()
        self._settings: dict[Setting, int] = {}
        if not self.path.exists():
            create(self.path)
        identify(self.path)
        with self._clear():
            self._connection = connect(self.path)
        try:
            with self._clear():
                prepare(self._connection, self.path)
        except StoreError:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock, self._clear():
            self._connection.close()

    def get(self, setting: Setting, position: SearchPosition) -> Analysis | None:
        """The analysis of one position, or None."""
        return self.get_many(setting, [position]).get(position)

    def get_many(
        self, setting: Setting, positions: Sequence[SearchPosition]
    ) -> dict[SearchPosition, Analysis]:
        """The analyses there are of `positions`."""
        by_text = {position.text: position for position in positions}
        texts = list(by_text)
        found: dict[SearchPosition, Analysis] = {}
        with self._lock, self._clear():
            number = self._number(setting)
            if number is None:
                return found
            for start in range(0, len(texts), 500):
                part = texts[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT position, data FROM analysis WHERE setting = ? AND position IN ({marks})",
                    (number, *part),
                )
                found.update((by_text[text], decode(data)) for text, data in rows)
        return found

    def put(self, setting: Setting, position: SearchPosition, analysis: Analysis) -> None:
        """Keep an analysis, unless the store has one already; it is safe when this returns."""
        with self._lock, self._clear():
            number = self._number(setting, make=True)
            self._connection.execute(
                "INSERT OR IGNORE INTO analysis VALUES (?, ?, ?, ?)",
                (number, position.text, int(time.time()), encode(analysis)),
            )

    def note(self, topic: str, name: str, data: str) -> None:
        """Keep something that follows from analyses, such as a game; it is safe when this returns."""
        with self._lock, self._clear():
            row = (topic, name, int(time.time()), data)
            self._connection.execute("INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?)", row)

    def notes(self, topic: str) -> dict[str, str]:
        """What is kept on a topic, by name."""
        with self._lock, self._clear():
            rows = self._connection.execute("SELECT name, data FROM note WHERE topic = ?", (topic,))
            return dict(rows.fetchall())

    def summary(self) -> list[Holding]:
        """What there is, by setting."""
        with self._lock, self._clear():
            rows = self._connection.execute(
                f"SELECT {COLUMNS}, {_TRUE} AS told, count(*), sum(length(position) + length(data)),"
                " min(made), max(made)"
                " FROM analysis JOIN setting ON setting.id = setting GROUP BY setting.id, told"
                f" ORDER BY {COLUMNS}, told"
            ).fetchall()
        return [Holding(Setting.of_row(row[:7]), bool(row[7]), *row[8:]) for row in rows]

    def prune(
        self,
        *,
        engine: str | None = None,
        limit: Limit | None = None,
        before: float | None = None,
        false_clock: bool = False,
    ) -> int:
        """Delete the analyses that fit all that is given, and say how many there were.

        `engine` is a part of the engine's name and digest; `before` is in seconds since 1970;
        `false_clock` takes those alone that older versions kept.
        """
        tests, values = ["1"], list[object]()
        if engine is not None:
            tests.append("instr(lower(engine || ' [' || digest || ']'), lower(?)) > 0")
            values.append(engine)
        if limit is not None:
            tests.append("kind = ? AND amount = ?")
            values += [limit.kind, limit.amount]
        chosen = f"setting IN (SELECT id FROM setting WHERE {' AND '.join(tests)})"
        if before is not None:
            chosen += " AND made < ?"
            values.append(before)
        if false_clock:
            chosen += f" AND NOT {_TRUE}"
        with self._lock, self._clear():
            gone = self._connection.execute(f"DELETE FROM analysis WHERE {chosen}", values).rowcount
            if gone:
                with contextlib.suppress(
                    sqlite3.OperationalError
                ):  # in use: the space is used again later
                    self._connection.execute("VACUUM")
        return gone

    def records(self) -> Iterator[Record]:
        """All analyses, by setting and position."""
        for setting in dict.fromkeys(holding.setting for holding in self.summary()):
            last = ""
            while rows := self._page(setting, last):
                for text, made, data in rows:
                    position = SearchPosition.of_text(text, setting.chess960)
                    yield Record(setting, position, made, decode(data))
                last = rows[-1][0]

    def _page(self, setting: Setting, after: str) -> list[tuple[str, int, bytes]]:
        with self._lock, self._clear():
            return self._connection.execute(
                "SELECT position, made, data FROM analysis WHERE setting = ? AND position > ?"
                " ORDER BY position LIMIT 1000",
                (self._number(setting), after),
            ).fetchall()

    def _number(self, setting: Setting, make: bool = False) -> int | None:
        number = self._settings.get(setting)
        if number is None:
            row = setting.row()
            if make:
                marks = ",".join("?" * len(row))
                self._connection.execute(
                    f"INSERT OR IGNORE INTO setting ({COLUMNS}) VALUES ({marks})", row
                )
            tests = " AND ".join(f"{name} = ?" for name in COLUMNS.split(", "))
            found = self._connection.execute(f"SELECT id FROM setting WHERE {tests}", row).fetchone()
            if found is None:
                return None
            number = self._settings[setting] = int(found[0])
        return number

    @contextlib.contextmanager
    def _clear(self) -> Iterator[None]:
        """Failures of SQLite in one clear line."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning) as error:
            reason = f"{error}"
            if isinstance(error, sqlite3.ProgrammingError) and "closed" in reason:
                reason = "closed database; expected its matchup to be used inside its `with`"
            raise StoreError(f"analysis store '{self.path}': {reason}") from error
