"""One engine process, with faults, and the real Stockfish."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import pytest

from preplay.chess.engines.analysis import (
    EngineSpec,
    Limit,
    SearchPosition,
    SearchRequest,
    mate_in,
    mate_score,
    search_position,
)
from preplay.chess.engines.discovery import find_engine, identify
from preplay.chess.engines.engine import Engine, check_request
from preplay.chess.rules import ChessGame
from preplay.errors import EngineError, InputError
from preplay.game import walk

FAKE = str(Path(__file__).parents[2] / "support" / "fake_engine.py")
START = SearchPosition("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")


def fake(fault: str, *more: str, options: dict[str, str | int | bool] | None = None) -> EngineSpec:
    return EngineSpec.of([sys.executable, FAKE, fault, *more], options)


def request(
    spec: EngineSpec, position: SearchPosition = START, multipv: int = 2, nodes: int = 100
) -> SearchRequest:
    return SearchRequest(spec, position, Limit(nodes=nodes), multipv)


def played(*moves: str, fen: str = chess.STARTING_FEN) -> chess.Board:
    board = chess.Board(fen)
    for move in moves:
        board.push_uci(move)
    return board


@pytest.fixture(scope="module")
def spec(stockfish: str) -> EngineSpec:
    return EngineSpec.of(stockfish)


@pytest.fixture(scope="module")
def engine(spec: EngineSpec) -> Iterator[Engine]:
    with Engine(spec) as engine:
        yield engine


# Positions that never reach an engine


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 0", "no legal moves"),
        ("8/8/8/8/8/8/8/K7 w - - 0", "no black king"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0", "opposite check"),
        ("banana w - - 0", "banana"),
    ],
)
def test_positions_that_could_kill_an_engine(fen: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_request(request(fake("none"), SearchPosition(fen)))
    with pytest.raises(InputError, match="K = 0"):
        request(fake("none"), multipv=0)
    with pytest.raises(InputError, match="illegal"):
        check_request(request(fake("none"), SearchPosition(START.start, ("e2e5",))))


# One process, with faults


def test_a_search_of_a_fake_engine() -> None:
    with Engine(fake("none")) as engine:
        assert engine.name == "Fake 1.0"
        found = engine.search(request(engine.spec, multipv=3))
        assert [line.score for line in found.lines] == [-10, -20, -30]
        assert found.depth == 2
        found = engine.search(
            request(engine.spec, SearchPosition("k7/8/8/8/8/8/r7/5K2 w - - 0"), multipv=500)
        )
        assert len(found.lines) == 2


def test_garbage_is_passed_over() -> None:
    with Engine(fake("garbage")) as engine:
        assert len(engine.search(request(engine.spec)).lines) == 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("crash", "died with status 3: out of luck"),
        ("hang", "did not answer within 0.3 s"),
        ("deaf", "did not answer within 0.3 s"),
        ("flood", "did not answer within 0.3 s"),
        ("nonsense", "banana"),
        ("illegal", "illegal move a1a8"),
        ("illegal-pv", "illegal move a1a8"),
        ("scoreless", "without a score"),
    ],
)
def test_faults_are_told(fault: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "preplay.chess.engines.engine.GRACE", 60 if fault == "hang" else 0.3
    )  # hang obeys `stop`
    with Engine(fake(fault), patience=0.3 if "0.3 s" in words else None) as engine:
        began = time.monotonic()
        with pytest.raises(EngineError, match=words) as caught:
            engine.search(request(engine.spec))
        assert time.monotonic() - began < 10
        assert "\n" not in str(caught.value)
        process = engine.pid
    assert process is not None
    assert not alive(process)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/no/such/engine"], "/no/such/engine' cannot be started: No such file"),
        ([FAKE + ".py"], "cannot be started"),
        ([sys.executable, FAKE, "stillborn"], "died with status 1: no such library"),
        ([sys.executable, FAKE, "mute"], "did not answer within 1 s"),
        (["/bin/cat"], "did not answer within 1 s"),
    ],
)
def test_engines_that_do_not_start(command: list[str], words: str) -> None:
    engine = Engine(EngineSpec.of(command), handshake=1.0 if "1 s" in words else 30.0)
    with pytest.raises(EngineError, match=words):
        engine.open()
    assert engine.pid is None or not alive(engine.pid)


def test_options_are_checked() -> None:
    with (
        pytest.raises(EngineError, match="no option 'Hush'; did you mean 'Hash'"),
        Engine(fake("", options={"Hush": 1})),
    ):
        pass
    with (
        pytest.raises(EngineError, match="value '65'; expected 1 to 64"),
        Engine(fake("", options={"Hash": 65})),
    ):
        pass
    with pytest.raises(EngineError, match=r"'Contempt'.*'Maybe'; expected one of: Off, On"):
        Engine(fake("", options={"Contempt": "Maybe"})).open()
    with Engine(fake("", options={"contempt": "On", "hash": 64})) as engine:
        assert engine.search(request(engine.spec)).complete
    with Engine(fake("simple")) as engine:
        assert engine.search(request(engine.spec, multipv=1)).complete
        with pytest.raises(EngineError, match="has no option MultiPV, which K = 2 needs"):
            engine.search(request(engine.spec))
        with pytest.raises(EngineError, match="does not play Chess960"):
            engine.search(request(engine.spec, SearchPosition(START.start, chess960=True), multipv=1))


def test_a_wrapper_script_ends_with_its_engine(tmp_path: Path) -> None:
    script = tmp_path / "wrapper"
    script.write_text(f"#!/bin/sh\n'{sys.executable}' '{FAKE}' deaf --log '{tmp_path}/log'\necho done\n")
    script.chmod(0o755)
    with Engine(EngineSpec.of(script), patience=60) as engine:
        engine.begin(request(engine.spec))
        while not (tmp_path / "log").exists() or not (tmp_path / "log").read_text().endswith("\n"):
            time.sleep(0.01)
        inner = int((tmp_path / "log").read_text().split()[0])
        assert inner != engine.pid
        assert alive(inner)
    deadline = time.monotonic() + 2
    while alive(inner) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(inner)


def alive(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


# Where engines are, and which they are


def test_finding_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(name: str) -> str:
        path = tmp_path / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    chosen, on_path, other = program("chosen"), program("stockfish"), program("other")
    monkeypatch.delenv("STOCKFISH_EXECUTABLE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("preplay.chess.engines.discovery.DEBIAN_GAMES", tmp_path / "none")
    assert find_engine() == find_engine("stockfish") == on_path
    assert find_engine("other") == find_engine(other) == other
    (tmp_path / "here").mkdir()
    local = program("here/other")
    monkeypatch.chdir(tmp_path / "here")
    assert find_engine("./other") == local  # not the one on the PATH
    assert find_engine("other") == other
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", chosen)
    assert find_engine() == chosen
    assert find_engine("other") == other
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/no/such/file")
    with pytest.raises(EngineError, match="STOCKFISH_EXECUTABLE is '/no/such/file'"):
        find_engine()
    monkeypatch.delenv("STOCKFISH_EXECUTABLE")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(EngineError, match="no Stockfish found; install it"):
        find_engine()
    with pytest.raises(EngineError, match="engine 'banana' not found"):
        find_engine("banana")
    monkeypatch.setattr("preplay.chess.engines.discovery.DEBIAN_GAMES", tmp_path)
    assert find_engine() == on_path


def test_an_upgraded_program_is_another_engine(tmp_path: Path) -> None:
    program, network = tmp_path / "engine", tmp_path / "net"
    program.write_text("one")
    program.chmod(0o755)
    network.write_text("small")
    spec = EngineSpec.of(program, {"EvalFile": str(network)})
    first = identify(spec, "Engine")
    assert identify(spec, "Engine") == first
    assert identify(spec, "Engine 2").digest == first.digest
    network.write_text("large")
    second = identify(spec, "Engine")
    program.write_text("two")
    os.utime(program, ns=(1, 1))
    assert len({first.digest, second.digest, identify(spec, "Engine").digest}) == 3
    here, there = EngineSpec.of([str(program), "--fast"]), EngineSpec.of([str(program), "--slow"])
    assert identify(here, "Engine") != identify(there, "Engine")


# The real one

POSITIONS = [
    chess.STARTING_FEN,
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
    "8/8/8/8/8/5k2/7p/7K w - - 0 1",
]


def independent(
    engine: chess.engine.SimpleEngine, board: chess.Board, nodes: int, k: int
) -> tuple[object, ...]:
    """The last complete iteration and bestmove by python-chess's client."""
    limit, block, whole = chess.engine.Limit(nodes=nodes), list[chess.engine.InfoDict](), None
    want = min(k, board.legal_moves.count())
    with engine.analysis(board, limit, multipv=k, game=object()) as analysis:
        for each in analysis:
            if "score" not in each or "pv" not in each:
                continue
            if each["multipv"] == 1:
                block = []
            block.append(each)
            exact = not any("upperbound" in one or "lowerbound" in one for one in block)
            if len(block) == want and exact and len({one["depth"] for one in block}) == 1:
                whole = block
        best = analysis.wait().move
    assert whole is not None
    assert best is not None
    lines = []
    for each in whole:
        score = each["score"].relative
        mate = score.mate()
        lines.append(
            (each["pv"][0].uci(), score.score() if mate is None else mate_score(mate), each["depth"])
        )
    return lines, best.uci()


@pytest.mark.parametrize("nodes", [500, 5000])
def test_agrees_with_python_chess(engine: Engine, nodes: int) -> None:
    theirs = chess.engine.SimpleEngine.popen_uci(find_engine())
    try:
        theirs.configure({"Threads": 1, "Hash": 2})
        for fen in POSITIONS:
            board = chess.Board(fen)
            for k in (1, 2, 4):
                found = engine.search(request(engine.spec, search_position(board), k, nodes))
                lines, best = independent(theirs, board, nodes, k)
                assert [(line.move, line.score, line.depth) for line in found.lines] == lines
                assert found.best == best
    finally:
        theirs.quit()


def test_a_node_limit_gives_the_same_answer_again(engine: Engine, spec: EngineSpec) -> None:
    requests = [request(spec, search_position(chess.Board(fen)), 2, 4000) for fen in POSITIONS]
    first = [engine.search(each) for each in requests]
    engine.search(request(spec, START, 5, 20_000))
    again = [engine.search(each) for each in reversed(requests)]
    assert first == again[::-1]
    for fen, analysis in zip(POSITIONS, first, strict=True):
        assert len(analysis.lines) == min(2, chess.Board(fen).legal_moves.count())
        assert analysis.complete
        assert analysis.lines[0].wdl is not None
        assert sum(analysis.lines[0].wdl) == 1000


@pytest.mark.parametrize(
    "limit", [Limit(nodes=1), Limit(depth=1), Limit(depth=8), Limit(milliseconds=20)]
)
def test_every_kind_of_limit(engine: Engine, limit: Limit) -> None:
    found = engine.search(SearchRequest(engine.spec, START, limit, 3))
    assert len(found.lines) == 3
    assert found.depth >= 1
    if limit.depth:
        assert found.depth == limit.depth
    if limit.milliseconds:
        assert 15 <= found.milliseconds < 5000


def test_mates_of_the_real_engine(engine: Engine) -> None:
    found = engine.search(request(engine.spec, search_position(chess.Board(POSITIONS[4])), 2, 2000))
    assert found.lines[0].move == "d1d8"
    assert mate_in(found.lines[0].score) == 1
    assert found.best == "d1d8"
    lost = chess.Board("8/8/8/8/8/6k1/r7/7K w - - 0 1")
    found = engine.search(request(engine.spec, search_position(lost), 2, 2000))
    assert mate_in(found.lines[0].score) == -1


def test_chess960_castles_king_takes_rook(engine: Engine) -> None:
    fen = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1"
    board = chess.Board(fen, chess960=True)
    position = search_position(board)
    assert position.start.split()[2] == "GBgb"
    assert position.board().fen(shredder=True) == board.fen(shredder=True)
    found = engine.search(request(engine.spec, position, 40, 2000))
    assert len(found.lines) == board.legal_moves.count()
    assert {line.move for line in found.lines} == {move.uci() for move in board.legal_moves}
    assert {"e1g1", "e1b1"} <= {line.move for line in found.lines}
    after = engine.search(request(engine.spec, START, 2, 500))  # and back to the usual rules
    assert after.complete


def test_history_without_repetition_makes_no_difference_to_stockfish(engine: Engine) -> None:
    """Why a game may forget it: the same search with all moves as with those since the last pawn's."""
    choice, lengths = random.Random(3), list[int]()
    for _ in range(12):
        board = chess.Board()
        for _ in range(choice.randint(8, 40)):
            moves = list(board.legal_moves)
            quiet = [move for move in moves if not board.is_irreversible(move)]
            board.push(choice.choice(quiet if quiet and choice.random() < 0.8 else moves))
            if board.is_game_over():
                board.pop()
                break
        whole = SearchPosition(START.start, tuple(move.uci() for move in board.move_stack))
        sent = search_position(walk(ChessGame(), whole.moves).board)
        lengths.append(len(whole.moves) - len(sent.moves))
        one, two = (engine.search(request(engine.spec, each, 2, 2000)) for each in (whole, sent))
        assert one == two
    assert sum(length > 0 for length in lengths) >= 6


def test_stockfish_sees_the_repetition_it_is_told(engine: Engine) -> None:
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    board = played(*shuffle, *shuffle[:3])
    found = engine.search(request(engine.spec, search_position(board), 40, 4000))
    assert {line.move: line.score for line in found.lines}["f6g8"] == 0
    alone = chess.Board(board.fen())
    found = engine.search(request(engine.spec, search_position(alone), 40, 4000))
    assert {line.move: line.score for line in found.lines}["f6g8"] != 0
