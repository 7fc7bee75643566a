"""What a store holds, told by setting; and its analyses as a table, one row for each scored move."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

from preplay.chess.engines.analysis import mate_in
from preplay.chess.engines.store import AnalysisStore, Holding, Record
from preplay.errors import InputError, StoreError
from preplay.text import cell

COLUMNS: Final[dict[str, type]] = {
    "engine": str,
    "digest": str,
    "options": str,
    "limit_kind": str,
    "limit": int,
    "multipv": int,
    "chess960": bool,
    "position": str,
    "moves": str,
    "rank": int,
    "move": str,
    "score": int,
    "mate": int,
    "wins": int,
    "draws": int,
    "losses": int,
    "depth": int,
    "complete": bool,
    "best": str,
    "nodes": int,
    "milliseconds": int,
    "made": str,
    "pv": str,
}
"""Names and types of the columns; `mate`, `wins`, `draws` and `losses` may be missing."""

Cells = tuple[Any, ...]


@dataclass(frozen=True)
class HoldingReport:
    """What a store holds of one setting, as people read it."""

    engine: str
    options: str
    limit: str
    multipv: int
    chess960: bool
    true_clock: bool
    """False for what older versions kept."""
    analyses: int
    bytes: int

    @classmethod
    def of(cls, held: Holding) -> Self:
        """The same in words."""
        setting = held.setting
        return cls(
            engine=str(setting.engine),
            options=setting.options,
            limit=str(setting.limit),
            multipv=setting.multipv,
            chess960=setting.chess960,
            true_clock=held.true_clock,
            analyses=held.analyses,
            bytes=held.bytes,
        )


@dataclass(frozen=True)
class StoreReport:
    """What a store holds, and what was done with it."""

    store: str
    """Its file."""
    holdings: tuple[HoldingReport, ...]
    removed: int | None
    """How many analyses were pruned, where that was asked for."""
    exported: int | None
    """How many were written to another file."""

    @classmethod
    def of(cls, store: AnalysisStore, *, removed: int | None, exported: int | None) -> Self:
        """The report of a store that is open."""
        return cls(str(store.path), tuple(map(HoldingReport.of, store.summary())), removed, exported)


def export_analyses(records: Iterable[Record], path: str | os.PathLike[str]) -> int:
    """Write `records` to a .csv or .parquet file and say how many analyses they were.

    The file appears whole or not at all. Parquet needs pyarrow.
    """
    target = Path(path)
    writers: dict[str, Callable[[Iterator[Cells], Path], None]] = {".csv": _csv, ".parquet": _parquet}
    write = writers.get(target.suffix.lower())
    if write is None:
        raise InputError(f"export to '{target}'; expected a name that ends in .csv or .parquet")
    count = 0

    def rows() -> Iterator[Cells]:
        nonlocal count
        for record in records:
            count += 1
            yield from _rows(record)

    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        write(rows(), draft)
        draft.replace(target)
    except OSError as error:
        raise StoreError(f"export to '{target}' failed: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return count


def _rows(record: Record) -> Iterator[Cells]:
    setting, position, analysis = record.setting, record.position, record.analysis
    made = datetime.fromtimestamp(record.made, UTC).isoformat()
    for rank, line in enumerate(analysis.lines, 1):
        yield (
            *setting.row()[:6],
            setting.chess960,
            position.start,
            " ".join(position.moves),
            rank,
            line.move,
            line.score,
            mate_in(line.score),
            *(line.wdl or (None, None, None)),
            line.depth,
            analysis.complete,
            analysis.best,
            analysis.nodes,
            analysis.milliseconds,
            made,
            line.pv,
        )


def _csv(rows: Iterator[Cells], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow(_plain(value) for value in row)


def _plain(value: str | int | bool) -> str | int:
    """A value as a table for spreadsheets has it."""
    if isinstance(value, str):
        return cell(value)
    return str(value).lower() if isinstance(value, bool) else value


def _parquet(rows: Iterator[Cells], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise StoreError("export to Parquet needs pyarrow: pip install 'preplay[parquet]'") from error
    types = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rows, 10_000)):
            columns = [
                pa.array(column, field.type)
                for column, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))
