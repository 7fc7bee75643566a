"""The file of an analysis store: its tables, how it is made in one piece, and known for what it is."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from preplay.errors import StoreError

APPLICATION: Final = 0x50524550
"""SQLite's application_id of an analysis store: "PREP"."""
VERSION: Final = 1
"""SQLite's user_version: the format of the tables and of the encoded analyses."""
BUSY_SECONDS: Final = 60.0
"""How long to wait for another process that is writing."""
_MAGIC: Final = b"SQLite format 3\0"
_SCHEMA: Final = """
CREATE TABLE setting (
    id INTEGER PRIMARY KEY,
    engine TEXT NOT NULL,
    digest TEXT NOT NULL,
    options TEXT NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    multipv INTEGER NOT NULL,
    chess960 INTEGER NOT NULL,
    UNIQUE (engine, digest, options, kind, amount, multipv, chess960)
);
CREATE TABLE analysis (
    setting INTEGER NOT NULL REFERENCES setting (id),
    position TEXT NOT NULL,
    made INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (setting, position)
) WITHOUT ROWID;
"""
_NOTES: Final = """
CREATE TABLE IF NOT EXISTS note (
    topic TEXT NOT NULL,
    name TEXT NOT NULL,
    made INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (topic, name)
) WITHOUT ROWID;
"""
COLUMNS: Final = "engine, digest, options, kind, amount, multipv, chess960"
"""Those of a setting."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection that commits every statement and never makes a file."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def create(path: Path) -> None:
    """Make an empty store, whole or not at all, and not over one that another process just made."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{time.monotonic_ns()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.touch()
        with contextlib.closing(connect(draft)) as connection:
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
                f" {_SCHEMA} COMMIT;"
            )
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                draft.rename(path)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"analysis store '{path}' cannot be made: {reason}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def identify(path: Path) -> None:
    """Raise StoreError unless the file's own header says it is a store; nothing is touched."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise StoreError(f"analysis store '{path}' cannot be read: {error.strerror}") from error
    if len(header) < 100 and (not header or _MAGIC.startswith(header[:16])):
        raise StoreError(
            f"analysis store '{path}' is truncated to {len(header)} bytes; it is left as it is"
        )
    application = int.from_bytes(header[68:72], "big")
    if not header.startswith(_MAGIC) or application != APPLICATION:
        raise StoreError(
            f"'{path}' is not an analysis store; expected one made by preplay, or a new name"
        )
    version = int.from_bytes(header[60:64], "big")
    if version != VERSION:
        raise StoreError(_other_version(path, version))
    page = int.from_bytes(header[16:18], "big")
    whole = int.from_bytes(header[28:32], "big") * (page if page > 1 else 65536)
    log = path.with_name(path.name + "-wal")  # what it holds may not be in the file yet
    size = path.stat().st_size
    if size < whole and not (log.exists() and log.stat().st_size):
        raise StoreError(
            f"analysis store '{path}' is truncated: {size} bytes of {whole}; it is left as it is"
        )


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make a connection ready to use; raises StoreError, or an error of SQLite, for other tables."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        raise StoreError(_other_version(path, version))
    for table in (f"id, {COLUMNS} FROM setting", "setting, position, made, data FROM analysis"):
        connection.execute(f"SELECT {table} LIMIT 1").fetchone()
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(_NOTES)  # stores of earlier versions have none
    connection.execute("PRAGMA synchronous = NORMAL")


def _other_version(path: Path, version: int) -> str:
    return f"analysis store '{path}' has format {version}; this version of preplay reads format {VERSION}"
