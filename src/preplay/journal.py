"""Journals: files to which one record after another is appended; a kill costs at most the last line."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from preplay.errors import StoreError

T = TypeVar("T")


def append(path: Path, record: Any) -> None:
    """Add a dataclass as a line of JSON; after a line that a kill cut off, on a line of its own."""
    assert is_dataclass(record)
    line = json.dumps(asdict(record)).encode() + b"\n"  # type: ignore[arg-type]
    with path.open("ab+") as file:
        if file.tell() and not _whole(path):
            line = b"\n" + line
        file.write(line)


def records(path: Path, kind: type[T]) -> list[T]:
    """All records, checked. A line that a kill cut off is passed over; other damage is a StoreError."""
    from pydantic import TypeAdapter, ValidationError

    if not path.exists():
        return []
    adapter, found = TypeAdapter(kind), []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(adapter.validate_json(line, strict=True))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            if problem["type"] == "json_invalid" and not line.rstrip().endswith(b"}"):
                continue  # cut off by a kill
            place = ".".join(map(str, problem["loc"])) or "line"
            said = " ".join(problem["msg"].lower().split())
            raise StoreError(f"{path}: line {number} is damaged ({place}: {said})") from None
    return found


def _whole(path: Path) -> bool:
    """Whether the last line has its end."""
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
