"""Journals: nothing is glued together, nothing damaged is believed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from preplay import journal
from preplay.errors import StoreError


@dataclass(frozen=True)
class Row:
    number: int
    moves: tuple[str, ...] = ()
    score: float = 0.5


def test_rows_come_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert journal.records(path, Row) == []
    rows = [Row(1, ("e2e4",)), Row(2), Row(3, score=1.0)]
    for row in rows:
        journal.append(path, row)
    assert journal.records(path, Row) == rows


@pytest.mark.parametrize("cut", range(1, 45))
def test_a_kill_costs_the_last_line_and_no_other(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows.jsonl"
    journal.append(path, Row(1))
    whole = path.stat().st_size
    journal.append(path, Row(2))
    data = path.read_bytes()
    path.write_bytes(data[: max(whole, len(data) - cut)])
    left = journal.records(path, Row)
    journal.append(path, Row(3))
    assert journal.records(path, Row) == [*left, Row(3)]
    assert left[0] == Row(1)


@pytest.mark.parametrize(
    "line",
    [b'{"number": "one"}', b"[]", b'{"number": 1.5}', b'{"number": true}', b"\xff{}", b'{"score": 1}'],
)
def test_damage_is_told_with_its_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    journal.append(path, Row(1))
    with path.open("ab") as file:
        file.write(line + b"\n")
    journal.append(path, Row(2))
    with pytest.raises(StoreError, match=r"rows\.jsonl: line 2 is damaged") as caught:
        journal.records(path, Row)
    assert "\n" not in str(caught.value)
