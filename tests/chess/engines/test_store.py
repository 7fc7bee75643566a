"""Analyses on disk: whole after kill -9, shared by processes, and never over another file."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preplay.chess.engines.analysis import (
    MATE,
    Analysis,
    EngineSpec,
    Identity,
    Limit,
    Line,
    SearchPosition,
)
from preplay.chess.engines.encoding import decode, encode
from preplay.chess.engines.store import AnalysisStore, Setting
from preplay.chess.engines.storefile import create
from preplay.chess.engines.tables import COLUMNS, HoldingReport, StoreReport, export_analyses
from preplay.errors import InputError, StoreError

ENGINE = Identity("Stockfish 15.1", "0123456789abcdef")
SETTING = Setting.of(ENGINE, EngineSpec.of("stockfish", {"Hash": 4}), Limit(nodes=5000), 2)
LINES = (Line("e2e4", 30, 6, (40, 955, 5), "e2e4 e7e5"), Line("e7e8q", MATE - 3, 6, None, "e7e8q"))
ANALYSIS = Analysis(LINES, "g1f3", 5001, True, 12)


def position(number: int) -> SearchPosition:
    return SearchPosition(f"4k3/8/8/8/8/8/R7/4K3 w - - {number} 40")


def filled(path: Path, count: int = 300) -> Path:
    with AnalysisStore(path) as store:
        for number in range(count):
            store.put(SETTING, position(number), replace(ANALYSIS, nodes=number))
    return path


# Bytes

squares = st.sampled_from([f"{file}{rank}" for file in "abcdefgh" for rank in "12345678"])
moves = st.builds("".join, st.tuples(squares, squares, st.sampled_from(["", "n", "b", "r", "q"])))


@st.composite
def lines(draw: st.DrawFn) -> Line:
    pv = draw(st.lists(moves, min_size=1, max_size=40))
    wins, draws = draw(st.integers(0, 500)), draw(st.integers(0, 500))
    wdl = draw(st.sampled_from([None, (wins, draws, 1000 - wins - draws)]))
    return Line(pv[0], draw(st.integers(-MATE, MATE)), draw(st.integers(0, 200)), wdl, " ".join(pv))


@given(
    st.builds(
        Analysis,
        st.lists(lines(), min_size=1, max_size=20).map(tuple),
        moves,
        st.integers(0, 2**63),
        st.booleans(),
        st.integers(0, 2**32 - 1),
    )
)
def test_an_analysis_comes_back_as_it_was(analysis: Analysis) -> None:
    back = decode(encode(analysis))
    assert back == analysis
    assert back.milliseconds == analysis.milliseconds


def test_analyses_are_small_and_damage_is_told() -> None:
    assert len(encode(ANALYSIS)) < 50
    for size in range(len(encode(ANALYSIS))):
        with pytest.raises(StoreError, match="damaged"):
            decode(encode(ANALYSIS)[:size])
    with pytest.raises(StoreError, match="damaged"):
        decode(b"\xff" * 60)


# Keeping


def test_what_was_put_is_there_later(tmp_path: Path) -> None:
    path = filled(tmp_path / "folder" / "a.store")
    with AnalysisStore(path) as store:
        assert store.get(SETTING, position(7)) == replace(ANALYSIS, nodes=7)
        assert store.get(SETTING, position(1000)) is None
        found = store.get_many(SETTING, [position(number) for number in range(-1000, 1000)])
        assert found == {position(number): replace(ANALYSIS, nodes=number) for number in range(300)}
        store.put(SETTING, position(7), ANALYSIS)  # the first stays
        assert store.get(SETTING, position(7)) == replace(ANALYSIS, nodes=7)


@pytest.mark.parametrize(
    "other",
    [
        replace(SETTING, engine=Identity("Stockfish 16", ENGINE.digest)),
        replace(SETTING, engine=Identity(ENGINE.name, "fedcba9876543210")),
        replace(SETTING, options="Hash=5"),
        replace(SETTING, limit=Limit(milliseconds=5000)),
        replace(SETTING, limit=Limit(depth=5000)),
        replace(SETTING, limit=Limit(nodes=5001)),
        replace(SETTING, multipv=3),
        replace(SETTING, chess960=True),
    ],
)
def test_everything_a_search_depends_on_keeps_apart(other: Setting, tmp_path: Path) -> None:
    with AnalysisStore(tmp_path / "a.store") as store:
        store.put(SETTING, position(1), ANALYSIS)
        assert store.get(other, position(1)) is None
        store.put(other, position(1), replace(ANALYSIS, nodes=9))
        assert store.get(SETTING, position(1)) == ANALYSIS
        assert {holding.setting for holding in store.summary()} == {SETTING, other}


def test_history_that_matters_keeps_apart(tmp_path: Path) -> None:
    with AnalysisStore(tmp_path / "a.store") as store:
        store.put(SETTING, position(1), ANALYSIS)
        assert store.get(SETTING, replace(position(1), moves=("a2a3", "e8e7"))) is None


def test_summary_and_pruning(tmp_path: Path) -> None:
    timed = replace(SETTING, limit=Limit(milliseconds=10), engine=Identity("Other", "ffff"))
    now = time.time()
    with AnalysisStore(tmp_path / "a.store") as store:
        assert store.summary() == []
        for number in range(5):
            store.put(SETTING, position(number), ANALYSIS)
        store.put(timed, position(0), ANALYSIS)
        summary = {holding.setting: holding for holding in store.summary()}
        assert summary[SETTING].analyses == 5
        assert summary[timed].analyses == 1
        assert now - 1 <= summary[SETTING].first <= summary[SETTING].last <= time.time()
        assert 5 * 40 < summary[SETTING].bytes < 5 * 120
        assert store.prune(before=now - 1000) == 0
        assert store.prune(engine="stockfish", limit=Limit(milliseconds=10)) == 0
        assert store.prune(engine="stockfish", limit=Limit(nodes=5000)) == 5
        assert store.get(SETTING, position(0)) is None
        assert [holding.setting for holding in store.summary()] == [timed]
        store.put(SETTING, position(0), ANALYSIS)
        assert store.get(SETTING, position(0)) == ANALYSIS
        assert store.prune(before=now + 1000) == 2


def test_analyses_with_a_false_clock_are_told_apart(tmp_path: Path) -> None:
    """Older versions kept five fields, the clock 0 below 20: never found, but listed and pruned."""
    old = [
        SearchPosition("4k3/8/8/8/8/8/R7/4K3 w - - 0"),
        SearchPosition("4k3/8/8/8/8/8/R7/4K3 w - - 25"),
    ]
    old.append(replace(old[0], moves=("a2a3", "e8e7", "a3a2", "e7e8")))
    new = [position(0), replace(position(0), moves=("a2a3", "e8e7"))]
    with AnalysisStore(tmp_path / "a.store") as store:
        for each in (*old, *new):
            store.put(SETTING, each, ANALYSIS)
        assert [(h.true_clock, h.analyses) for h in store.summary()] == [(False, 3), (True, 2)]
        assert len(list(store.records())) == 5
        assert store.prune(false_clock=True) == 3
        assert [(h.true_clock, h.analyses) for h in store.summary()] == [(True, 2)]
        assert store.get(SETTING, new[1]) == ANALYSIS


def test_threads_share_a_store(tmp_path: Path) -> None:
    with AnalysisStore(tmp_path / "a.store") as store:

        def work(start: int) -> None:
            for number in range(start, start + 200):
                store.put(SETTING, position(number), ANALYSIS)
                assert store.get(SETTING, position(number)) == ANALYSIS

        threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100, 300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.summary()[0].analyses == 500


# Files that are no stores


def refused(path: Path, words: str) -> None:
    """Opening fails with one line that names the file, and changes nothing."""
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words) as caught:
        AnalysisStore(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.001, 0.01, 0.3, 0.6, 0.9, 0.999])
def test_truncated_files_are_refused(share: float, tmp_path: Path) -> None:
    path = filled(tmp_path / "a.store", 2000)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    refused(path, "truncated|malformed|not a database|disk image")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("1. e4 e5 " * 100)
    refused(path, "not an analysis store")
    path.write_text("short")
    refused(path, "not an analysis store")
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE analysis (setting, position, made, data)")
    connection.close()
    refused(path, "not an analysis store")


def test_newer_and_changed_stores_are_refused(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.store", 3)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    refused(path, "has format 2; this version of preplay reads format 1")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 1")
        connection.execute("ALTER TABLE analysis RENAME COLUMN made TO born")
    connection.close()
    refused(path, "no such column")


def test_places_where_no_store_can_be(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Is a directory"):
        AnalysisStore(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be made"):
        AnalysisStore(tmp_path / "file" / "a.store")


def test_damage_inside_is_told(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.store", 2000)
    whole = bytearray(path.read_bytes())
    whole[4096 * 3 :] = os.urandom(len(whole) - 4096 * 3)
    path.write_bytes(whole)
    with pytest.raises(StoreError, match=r"a\.store"), AnalysisStore(path) as store:
        store.get_many(SETTING, [position(number) for number in range(2000)])


# Several processes

HERE = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")]
WRITER = """
import sys
sys.path[:0] = {here!r}
from test_store import *
with AnalysisStore({path!r}) as store:
    for number in range({start}, {stop}):
        store.put(SETTING, position(number), replace(ANALYSIS, nodes=number))
        print(number, flush=True)
"""


def writer(path: Path, start: int, stop: int) -> subprocess.Popen[str]:
    script = WRITER.format(here=HERE, path=str(path), start=start, stop=stop)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def test_nothing_stored_is_lost_by_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "a.store"
    last = -1
    for round_ in range(3):
        process = writer(path, last + 1, 10**9)
        assert process.stdout is not None
        for row in process.stdout:
            last = int(row)
            if last >= 200 * (round_ + 1):
                process.send_signal(signal.SIGKILL)
                break
        last = max([last, *(int(row) for row in process.stdout.read().split("\n")[:-1])])
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
        with AnalysisStore(path) as store:
            found = store.get_many(SETTING, [position(number) for number in range(last + 1)])
        assert found == {position(number): replace(ANALYSIS, nodes=number) for number in range(last + 1)}
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_store_made_meanwhile_by_another_process_stays(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.store", 3)
    create(path)
    with AnalysisStore(path) as store:
        assert store.summary()[0].analyses == 3


def test_two_processes_make_and_fill_one_store(tmp_path: Path) -> None:
    path = tmp_path / "a.store"
    processes = [writer(path, start, start + 600) for start in (0, 300, 500)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with AnalysisStore(path) as store:
        (holding,) = store.summary()
        assert holding.analyses == 1100
        assert store.get(SETTING, position(1099)) == replace(ANALYSIS, nodes=1099)
    assert [each.name for each in tmp_path.iterdir()] == ["a.store"]


def test_one_process_sees_what_another_stores(tmp_path: Path) -> None:
    with AnalysisStore(tmp_path / "a.store") as one, AnalysisStore(tmp_path / "a.store") as two:
        assert two.get(SETTING, position(0)) is None
        one.put(SETTING, position(0), ANALYSIS)
        assert two.get(SETTING, position(0)) == ANALYSIS
        two.put(SETTING, position(1), ANALYSIS)
        assert one.prune(engine="Stockfish") == 2
        assert two.get(SETTING, position(1)) is None
        two.put(SETTING, position(1), ANALYSIS)
        assert one.get(SETTING, position(1)) == ANALYSIS


# Tables


def test_export_to_csv(tmp_path: Path) -> None:
    with AnalysisStore(filled(tmp_path / "a.store", 1500)) as store:
        store.put(SETTING, replace(position(0), moves=("a2a3", "e8e7")), ANALYSIS)
        assert export_analyses(store.records(), tmp_path / "a.csv") == 1501
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3002
    assert list(rows[0]) == list(COLUMNS)
    assert {row["moves"] for row in rows} == {"", "a2a3 e8e7"}
    row = next(row for row in rows if row["nodes"] == "1499" and row["rank"] == "2")
    assert row["position"] == position(1499).start
    assert (row["engine"], row["digest"], row["options"]) == (
        ENGINE.name,
        ENGINE.digest,
        "Hash=4; Threads=1",
    )
    assert (row["limit_kind"], row["limit"], row["multipv"], row["chess960"]) == (
        "nodes",
        "5000",
        "2",
        "false",
    )
    assert (row["move"], row["score"], row["mate"], row["wins"]) == ("e7e8q", str(MATE - 3), "2", "")
    assert (row["complete"], row["best"], row["milliseconds"], row["depth"]) == (
        "true",
        "g1f3",
        "12",
        "6",
    )
    assert row["made"].startswith("20")


def test_export_to_parquet_agrees_with_csv(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    with AnalysisStore(filled(tmp_path / "a.store", 20)) as store:
        assert export_analyses(store.records(), tmp_path / "a.parquet") == 20
        export_analyses(store.records(), tmp_path / "a.csv")
    table = pq.read_table(tmp_path / "a.parquet").to_pylist()
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))

    def shown(cell: object) -> str:
        return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)

    assert [{name: shown(cell) for name, cell in row.items()} for row in table] == rows


def test_exports_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with AnalysisStore(filled(tmp_path / "a.store", 2)) as store:
        with pytest.raises(InputError, match=r"\.csv or \.parquet"):
            export_analyses(store.records(), tmp_path / "a.xlsx")
        with pytest.raises(StoreError, match="No such file"):
            export_analyses(store.records(), tmp_path / "nowhere" / "a.csv")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(StoreError, match="needs pyarrow"):
            export_analyses(store.records(), tmp_path / "a.parquet")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.store"]


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    with AnalysisStore(tmp_path / "a.store") as store:
        pass
    with pytest.raises(StoreError, match=r"a\.store': closed database; expected its matchup to be"):
        store.get(SETTING, position(7))


def test_the_report_tells_what_there_is_by_setting(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.sqlite", 3)
    with AnalysisStore(path) as store:
        (held,) = store.summary()
        report = StoreReport.of(store, removed=None, exported=3)
    row = HoldingReport(str(ENGINE), "Hash=4; Threads=1", "5000 nodes", 2, False, True, 3, held.bytes)
    assert report == StoreReport(str(path), (row,), None, 3)
