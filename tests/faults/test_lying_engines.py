"""Engines that lie, hang, die or leave children: a search ends in time, with an answer or one line.

The table says what an engine prints where an answer is expected. Each row ends in an analysis that makes
sense ("fine") or in an EngineError ("refused"), and never in anything else.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from preplay.chess.engines.analysis import MATE, EngineSpec, Limit, SearchPosition, SearchRequest
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.encoding import decode, encode
from preplay.chess.engines.pool import EnginePool
from preplay.errors import EngineError

FAKE = str(Path(__file__).parents[1] / "support" / "fake_engine.py")
START = SearchPosition("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0")
GOOD = """info depth 2 multipv 1 score cp 30 nodes 99 pv e2e4
info depth 2 multipv 2 score cp 20 nodes 99 pv d2d4"""
MULTIPV = b"option name MultiPV type spin default 1 min 1 max 500\nuciok\n"
LONG = "9" * 5000


def rows(text: str, best: str = "bestmove e2e4") -> bytes:
    return f"{text}\n{best}\n".encode("utf-8", "surrogateescape")


def first(score: str) -> str:
    """A line with this in place of its score, and a good second one."""
    return GOOD.replace("score cp 30", score)


SAID: dict[str, tuple[bytes, str]] = {
    "good": (rows(GOOD), "fine"),
    # numbers that are none
    "nodes superscript": (rows(GOOD.replace("nodes 99", "nodes ²")), "fine"),
    "nodes of 5,000 digits": (rows(GOOD.replace("nodes 99", f"nodes {LONG}")), "fine"),
    "nodes of 65 bits": (rows(GOOD.replace("nodes 99", "nodes 18446744073709551616")), "fine"),
    "nodes of 64 bits": (rows(GOOD.replace("nodes 99", "nodes 18446744073709551615")), "fine"),
    "nodes negative": (rows(GOOD.replace("nodes 99", "nodes -5")), "fine"),
    "nodes missing": (rows(GOOD.replace("nodes 99", "nodes")), "fine"),
    "nodes as a float": (rows(GOOD.replace("nodes 99", "nodes 1e9")), "fine"),
    "nodes in Arabic digits": (rows(GOOD.replace("nodes 99", "nodes ٣٤")), "fine"),
    "nodes with underscores": (rows(GOOD.replace("nodes 99", "nodes 1_000")), "fine"),
    "score superscript": (rows(first("score cp ²")), "fine"),
    "score of 5,000 digits": (rows(first(f"score cp {LONG}")), "fine"),
    "score of 4,000 digits": (rows(first(f"score cp -{LONG[:4000]}")), "fine"),
    "score huge": (rows(first("score cp 99999999999")), "fine"),
    "score missing": (rows(first("score cp")), "fine"),
    "score nan": (rows(first("score cp nan")), "fine"),
    "score of no kind": (rows(first("score banana 3")), "fine"),
    "mate 0": (rows(first("score mate 0")), "fine"),
    "mate far off": (rows(first("score mate 99999999999999")), "fine"),
    "mate against, far off": (rows(first("score mate -99999999999999")), "fine"),
    "mate superscript": (rows(first("score mate ³")), "fine"),
    "both bounds": (rows(first("score cp 5 lowerbound upperbound")), "fine"),
    "depth superscript": (rows(GOOD.replace("depth 2", "depth ²")), "refused"),
    "depth of 5,000 digits": (rows(GOOD.replace("depth 2", f"depth {LONG}")), "refused"),
    "depth huge": (rows(GOOD.replace("depth 2", "depth 999999999999")), "fine"),
    "depth negative": (rows(GOOD.replace("depth 2", "depth -2")), "fine"),
    "rank 0": (rows(GOOD.replace("multipv 1", "multipv 0")), "fine"),
    "rank huge": (rows(GOOD.replace("multipv 2", "multipv 99999999999")), "fine"),
    "rank superscript": (rows(GOOD.replace("multipv 2", "multipv ²")), "fine"),
    "wdl negative": (rows(first("score cp 30 wdl -5 5 1000")), "fine"),
    "wdl of 5,000 digits": (rows(first(f"score cp 30 wdl {LONG} 0 0")), "fine"),
    "wdl cut off": (rows(first("score cp 30 wdl 5")), "fine"),
    # moves that are none
    "null move": (rows(GOOD.replace("pv e2e4", "pv 0000"), "bestmove 0000"), "refused"),
    "best move none": (rows(GOOD, "bestmove (none)"), "refused"),
    "best move missing": (rows(GOOD, "bestmove"), "refused"),
    "best move of letters": (rows(GOOD, "bestmove banana"), "refused"),
    "best move in capitals": (rows(GOOD, "bestmove E2E4"), "refused"),
    "best move illegal": (rows(GOOD, "bestmove e2e5"), "refused"),
    "best move with an escape": (rows(GOOD, "bestmove \x1b[2Je2e4"), "refused"),
    "best move with a long tail": (rows(GOOD, "bestmove e2e4 ponder " + "x" * 200_000), "fine"),
    "best move twice": (rows(GOOD, "bestmove e2e4\nbestmove d2d4"), "fine"),
    "windows line ends": (rows(GOOD.replace("\n", "\r\n"), "bestmove e2e4\r"), "fine"),
    "one move twice": (rows(GOOD.replace("d2d4", "e2e4")), "fine"),
    "illegal line": (rows(GOOD.replace("pv d2d4", "pv d2d5")), "refused"),
    "no line at all": (rows(""), "refused"),
    "line without moves": (rows(GOOD.replace(" e2e4", "").replace(" d2d4", "")), "refused"),
    "a very long line": (rows("info string " + "x" * 3_000_000 + "\n" + GOOD), "fine"),
    "a very long variation": (rows(GOOD + " d7d5" * 5000), "fine"),
    "bytes that are no text": (b"\xff\xfe\x00\x80\n" + rows(GOOD), "fine"),
    "control characters": (rows("info string \x1b]0;owned\x07\n" + GOOD), "fine"),
    "a thousand blank lines": (b"\n" * 1000 + rows(GOOD), "fine"),
    "answers to what nobody asked": (rows("uciok\nreadyok\nid name x\n" + GOOD), "fine"),
}


def fake(fault: str, *more: object) -> EngineSpec:
    return EngineSpec.of([sys.executable, FAKE, fault, *map(str, more)])


def request(spec: EngineSpec) -> SearchRequest:
    return SearchRequest(spec, START, Limit(nodes=100), 2)


@pytest.mark.parametrize("case", SAID)
def test_what_engines_may_print(case: str, tmp_path: Path) -> None:
    said, ending = SAID[case]
    (tmp_path / "said").write_bytes(said)
    spec = fake("say", "--script", tmp_path / "said")
    with EnginePool(1, attempts=1, patience=5.0) as pool:
        if ending == "refused":
            with pytest.raises(EngineError) as caught:
                Analyst(pool).analyse([request(spec)])
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 2000
            return
        (found,) = Analyst(pool).analyse([request(spec)])
        assert all(abs(line.score) <= MATE for line in found.lines)
        kept = decode(encode(found))  # the store keeps depths to 65,535 and 255 moves of a variation
        assert [(line.move, line.score) for line in kept.lines] == [
            (x.move, x.score) for x in found.lines
        ]


GREETED: dict[str, bytes] = {
    "numbers that are none": "option name Hash type spin min ² max 99999999999999999999".encode(),
    "an option of 5,000 digits": f"option name Hash type spin default 1 min {LONG} max {LONG}".encode(),
    "a name of escapes": b"id name \x1b[31mred\x07",
    "no name": b"",
    "options that are none": b"option\noption name\noption name type\noption name X type",
    "ten thousand options": b"\n".join(
        b"option name O%d type check default false" % k for k in range(10_000)
    ),
}


@pytest.mark.parametrize("case", GREETED)
def test_what_engines_may_say_of_themselves(case: str, tmp_path: Path) -> None:
    (tmp_path / "said").write_bytes(GREETED[case] + b"\n" + MULTIPV)
    spec = fake("greet", "--script", tmp_path / "said")
    with EnginePool(1, attempts=1, patience=5.0, handshake=5.0) as pool:
        (found,) = Analyst(pool).analyse([request(spec)])
        assert len(found.lines) == 2


def test_no_failure_of_a_worker_leaves_a_question_unanswered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong where an answer is read, whoever waits for it hears of it."""

    def broken(*_: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("preplay.chess.engines.pool.read_answer", broken)
    with EnginePool(1, attempts=2, patience=5.0) as pool, pytest.raises(EngineError, match="surprise"):
        Analyst(pool).analyse([request(fake("none"))])
    monkeypatch.undo()
    monkeypatch.setattr("preplay.chess.engines.engine.Engine.finish", broken)
    with EnginePool(1, attempts=2, patience=5.0) as pool, pytest.raises(EngineError, match="surprise"):
        Analyst(pool).analyse([request(fake("none"))])


def alive(process: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(process: int, within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(process)


def test_a_child_that_holds_the_pipe(tmp_path: Path) -> None:
    """An engine's child in a session of its own neither makes us wait nor lives on."""
    began = time.monotonic()
    with (
        EnginePool(1, attempts=1, patience=0.5) as pool,
        pytest.raises(EngineError, match="did not answer"),
    ):
        Analyst(pool).analyse([request(fake("orphan", "--script", tmp_path / "child"))])
    assert time.monotonic() - began < 10
    assert gone(int((tmp_path / "child").read_text()))


DOING: dict[str, str] = {
    "hang": "did not answer",
    "deaf": "did not answer",
    "stall": "did not answer",
    "flood": "did not answer",
    "stream": "did not answer",
    "complain": "did not answer",
    "crash": "out of luck",
    "mute": "did not answer",
    "chatter": "did not answer",
    "stillborn": "no such library",
    "nonsense": "banana",
    "illegal": "illegal move",
    "illegal-pv": "illegal move",
    "scoreless": "without a score",
    "slow": "",
    "grumble": "",
    "garbage": "",
}
"""What an engine does, and what is said of it; nothing: it answers all the same."""


@pytest.mark.parametrize("fault", DOING)
def test_what_engines_may_do(fault: str) -> None:
    """In bounded time and memory, and nothing is left of them."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    handshake = 2.0 if fault in ("mute", "chatter") else 30.0
    with EnginePool(1, attempts=1, patience=1.0, handshake=handshake) as pool:
        if DOING[fault]:
            with pytest.raises(EngineError, match=DOING[fault]) as caught:
                Analyst(pool).analyse([request(fake(fault))])
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 2000
        else:
            Analyst(pool).analyse([request(fake(fault))])
    assert time.monotonic() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_there_are_sixty_faults() -> None:
    assert len(SAID) - 1 + len(GREETED) + len(DOING) + len(MASTERED) >= 60


MASTERED = ("deaf", "hang", "orphan")
"""What an engine does when its master is killed."""
MASTER = """
import sys
from preplay.chess.engines.analysis import EngineSpec, Limit, SearchPosition, SearchRequest
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.pool import EnginePool
spec = EngineSpec.of({command!r})
with EnginePool(1) as pool:
    Analyst(pool).analyse([SearchRequest(spec, SearchPosition({start!r}), Limit(nodes=100), 2)])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("fault", MASTERED)
def test_engines_end_with_their_master(fault: str, number: signal.Signals, tmp_path: Path) -> None:
    """Also one that does not read its input, when its master is killed."""
    log, child = tmp_path / "log", tmp_path / "child"
    command = [sys.executable, FAKE, fault, "--log", str(log), "--script", str(child)]
    script = MASTER.format(command=command, start=START.start)
    master = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not log.exists() or not log.read_text() or (fault == "orphan" and not child.exists()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    engine = int(log.read_text().split()[0])
    time.sleep(0.1)
    os.kill(master.pid, number)
    master.wait(timeout=10)
    assert gone(engine)
    if fault == "orphan" and number == signal.SIGINT:
        assert gone(int(child.read_text()))
    elif fault == "orphan":  # the child left its engine's group: nothing of ours is there to end it
        os.kill(int(child.read_text()), signal.SIGKILL)
