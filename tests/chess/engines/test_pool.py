"""Engines side by side, with faults, and the analyst in front of them."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess
import pytest

from preplay.chess.engines.analysis import (
    EngineSpec,
    Limit,
    SearchPosition,
    SearchRequest,
    search_position,
)
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.pool import AHEAD, WANTED, EnginePool
from preplay.chess.engines.store import AnalysisStore
from preplay.errors import EngineError, InputError

FAKE = str(Path(__file__).parents[2] / "support" / "fake_engine.py")


def fake(fault: str, *more: str | Path) -> EngineSpec:
    return EngineSpec.of([sys.executable, FAKE, fault, *map(str, more)])


def openings() -> list[SearchPosition]:
    """The twenty positions after White's first move."""
    board, positions = chess.Board(), list[SearchPosition]()
    for move in list(board.legal_moves):
        board.push(move)
        positions.append(search_position(board.copy(stack=False)))
        board.pop()
    return positions


def requests(spec: EngineSpec, count: int, nodes: int = 100, multipv: int = 2) -> list[SearchRequest]:
    return [
        SearchRequest(spec, each, Limit(nodes=nodes), multipv)
        for each in itertools.islice(openings(), count)
    ]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children() -> set[str]:
    """Processes of this one, zombies included."""
    found: set[str] = set()
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.update((thread / "children").read_text().split())
    return found


# The pool


def test_one_worker_and_two_give_the_same(stockfish: str) -> None:
    wanted = requests(EngineSpec.of(stockfish), 20, nodes=1000)
    answers = []
    for workers in (1, 2):
        with EnginePool(workers) as pool:
            answers.append([future.result() for future in [pool.submit(each) for each in wanted]])
            stats = pool.stats()
        assert stats.searches == 20
        assert stats.failures == 0
        assert len(stats.busy) == workers
        assert 0 <= stats.all_busy <= stats.wall
        assert stats.all_busy <= min(stats.busy) + 1e-3
        assert stats.all_busy == pytest.approx(stats.busy[0], rel=0.1) or workers > 1
        assert 0 < stats.busy_share <= 1
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "fault", ["crash", "hang", "deaf", "nonsense", "illegal", "illegal-pv", "scoreless"]
)
def test_a_failed_search_is_tried_again(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preplay.chess.engines.engine.GRACE", 0.2)
    good = requests(fake("none"), 8)
    bad = requests(fake(fault, "--times", "2", "--log", tmp_path / "log"), 8)
    with EnginePool(2, patience=1.0 if fault in {"hang", "deaf"} else None) as pool:
        expected = [future.result() for future in [pool.submit(each) for each in good]]
        assert [future.result() for future in [pool.submit(each) for each in bad]] == expected
        assert pool.stats().failures >= 1
    assert len((tmp_path / "log").read_text().splitlines()) >= 9


@pytest.mark.parametrize(
    ("fault", "words"), [("crash", "died with status 3: out of luck"), ("illegal", "illegal move a1a8")]
)
def test_an_engine_that_keeps_failing(fault: str, words: str) -> None:
    (wanted,) = requests(fake(fault), 1)
    with EnginePool(2) as pool:
        with pytest.raises(EngineError, match=words) as caught:
            pool.submit(wanted).result()
        assert pool.stats().failures == 3
        assert "3 times" in str(caught.value)
        assert wanted.position.text in str(caught.value)
        assert f"{FAKE} {fault}" in str(caught.value)
        (good,) = requests(fake("none"), 1)
        assert pool.submit(good).result().complete  # the pool itself goes on


def test_an_engine_that_cannot_start_fails_at_once() -> None:
    spec = fake("mute")
    with EnginePool(2, handshake=1.0) as pool:
        began = time.monotonic()
        futures = [pool.submit(each) for each in requests(spec, 20)]
        for future in futures:
            with pytest.raises(EngineError, match=r"mute' did not answer within 1 s"):
                future.result()
        assert time.monotonic() - began < 9  # not a second for each
        with pytest.raises(EngineError, match="did not answer"):
            pool.identity(spec)
        with pytest.raises(EngineError, match="cannot be started"):
            pool.identity(EngineSpec.of("/no/such/engine"))


def test_positions_are_refused_before_any_engine_starts() -> None:
    with EnginePool(1) as pool, pytest.raises(InputError, match="no legal moves"):
        pool.submit(
            SearchRequest(fake("none"), SearchPosition("7k/8/8/8/8/8/5q2/7K w - - 0"), Limit(nodes=1))
        )
    with pytest.raises(InputError, match="workers: 0"):
        EnginePool(0)
    with pytest.raises(EngineError, match="closed"):
        pool.submit(requests(fake("none"), 1)[0])


def test_order_priority_and_cancelling(tmp_path: Path) -> None:
    wanted = requests(fake("slow", "--log", tmp_path / "log"), 6)
    with EnginePool(1) as pool:
        first = pool.submit(wanted[0])
        while not first.running():
            time.sleep(0.01)
        futures = [pool.submit(each, AHEAD) for each in wanted[1:4]]
        futures.append(pool.submit(wanted[4], WANTED))
        assert futures[1].cancel()
        assert not first.cancel()
        for future in (first, futures[0], futures[2], futures[3]):
            future.result()
    boards = [row.split(" ", 1)[1].split()[0] for row in (tmp_path / "log").read_text().splitlines()]
    assert boards == [wanted[k].position.start.split()[0] for k in (0, 4, 1, 3)]


def test_several_engines_at_a_time(tmp_path: Path) -> None:
    specs = [fake("none", "--log", tmp_path / f"log{k}") for k in range(3)]
    with EnginePool(2) as pool:
        futures = [
            pool.submit(each)
            for group in zip(*(requests(s, 10) for s in specs), strict=True)
            for each in group
        ]
        assert {future.result().nodes for future in futures} == {2}
    for k in range(3):
        processes = {row.split()[0] for row in (tmp_path / f"log{k}").read_text().splitlines()}
        assert 1 <= len(processes) <= 2


@pytest.mark.parametrize("fault", ["deaf", "slow", "mute", "flood"])
def test_closing_is_prompt_and_leaves_nothing(fault: str) -> None:
    before = children()
    pool = EnginePool(2)
    futures = [pool.submit(each) for each in requests(fake(fault), 20)]
    while len(children() - before) < 2:
        time.sleep(0.01)
    time.sleep(0.1)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 1
    assert children() == before
    for future in futures:
        assert future.done()
        assert future.cancelled() or future.exception() is not None or fault == "slow"


HERE = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")]
INTERRUPTED = """
import sys
from pathlib import Path
sys.path[:0] = {here!r}
from test_pool import fake, requests
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.pool import EnginePool
try:
    with EnginePool(2) as pool:
        Analyst(pool).analyse(requests(fake("deaf", "--log", {log!r}), 20))
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = INTERRUPTED.format(here=HERE, log=str(log))
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    deadline = time.monotonic() + 20
    while not log.exists() or len(log.read_text().splitlines()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    engines = [int(row.split()[0]) for row in log.read_text().splitlines()]
    assert all(map(alive, engines))
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert not any(map(alive, engines))


def test_engines_end_when_their_master_is_killed(tmp_path: Path) -> None:
    script = INTERRUPTED.format(here=HERE, log=str(tmp_path / "log"))
    process = subprocess.Popen([sys.executable, "-c", script.replace('"deaf"', '"hang"')])
    deadline = time.monotonic() + 20
    while not (tmp_path / "log").exists() or len((tmp_path / "log").read_text().splitlines()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    engines = [int(row.split()[0]) for row in (tmp_path / "log").read_text().splitlines()]
    process.kill()
    process.wait()
    while any(map(alive, engines)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


# The analyst


def count(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_every_search_is_made_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    wanted = requests(fake("none", "--log", log), 10)
    with EnginePool(2) as pool:
        analyst = Analyst(pool)
        analyst.prefetch(wanted[:5])
        first = analyst.analyse(wanted + wanted)
        assert first[:10] == first[10:]
        analyst.prefetch(wanted)
        assert analyst.analyse(wanted[::-1]) == first[9::-1]
        stats = analyst.stats()
    assert count(log) == stats.searches == 10
    assert stats.asked == 20
    assert stats.remembered == 15
    assert stats.stored == 0


def test_another_limit_or_number_of_lines_is_another_search(tmp_path: Path) -> None:
    spec = fake("none", "--log", tmp_path / "log")
    (position,) = {each.position for each in requests(spec, 1)}
    different = [
        SearchRequest(spec, position, limit, multipv)
        for limit in (Limit(nodes=20), Limit(depth=20), Limit(milliseconds=20))
        for multipv in (1, 2)
    ]
    with EnginePool(1) as pool, AnalysisStore(tmp_path / "a.store") as store:
        analyst = Analyst(pool, store)
        assert [len(each.lines) for each in analyst.analyse(different)] == [1, 2, 1, 2, 1, 2]
        assert len(store.summary()) == 6
    assert count(tmp_path / "log") == 6


def test_a_second_run_searches_nothing(tmp_path: Path, stockfish: str) -> None:
    wanted = requests(EngineSpec.of(stockfish), 8, nodes=500)
    answers = []
    for part, searches in ((3, 3), (8, 5), (8, 0)):
        with AnalysisStore(tmp_path / "a.store") as store, EnginePool(2) as pool:
            analyst = Analyst(pool, store)
            answers.append(analyst.analyse(wanted[:part]))
            assert analyst.stats().searches == pool.stats().searches == searches
            assert analyst.stats().stored == part - searches
    assert answers[0] == answers[1][:3]
    assert answers[1] == answers[2]


def test_what_nobody_waited_for_is_stored_too(tmp_path: Path) -> None:
    wanted = requests(fake("none"), 6)
    with AnalysisStore(tmp_path / "a.store") as store:
        with EnginePool(2) as pool:
            Analyst(pool, store).prefetch(wanted)
            while pool.stats().searches < 6:
                time.sleep(0.01)
        assert sum(holding.analyses for holding in store.summary()) == 6


def test_wanted_searches_overtake_those_ahead_and_others_are_cancelled(tmp_path: Path) -> None:
    log = tmp_path / "log"
    wanted = requests(fake("slow", "--log", log), 8)
    with EnginePool(1) as pool:
        analyst = Analyst(pool)
        analyst.prefetch(wanted)
        while count(log) < 1:
            time.sleep(0.01)
        analyst.analyse([wanted[7]])
        assert count(log) <= 3  # the one that ran, the wanted one, perhaps the next
        assert analyst.cancel(wanted) >= 5
        time.sleep(0.5)
        assert count(log) <= 3
        analyst.analyse([wanted[5]])  # a cancelled one can be asked for again
    assert str(wanted[5].position.start.split()[0]) in log.read_text()


def test_failures_reach_who_asks() -> None:
    bad, good = requests(fake("crash"), 1), requests(fake("none"), 3)
    with EnginePool(2) as pool:
        analyst = Analyst(pool)
        with pytest.raises(EngineError, match="out of luck"):
            analyst.analyse([*good, *bad])
        assert len(analyst.analyse(good)) == 3
        with pytest.raises(EngineError, match="out of luck"):
            analyst.analyse(bad)


def test_a_store_that_fails_is_told(tmp_path: Path) -> None:
    wanted = requests(fake("none"), 2)
    with EnginePool(1) as pool:
        store = AnalysisStore(tmp_path / "a.store")
        analyst = Analyst(pool, store)
        analyst.analyse(wanted[:1])
        store.close()
        with pytest.raises(Exception, match="closed database"):
            analyst.analyse(wanted)


def test_memory_is_bounded() -> None:
    wanted = requests(fake("none"), 12)
    with EnginePool(1) as pool:
        analyst = Analyst(pool, memory=4)
        assert analyst.analyse(wanted) == analyst.analyse(wanted)
        assert analyst.stats().searches == 12 + 8  # the last four were still there
