"""The page's own logic under Node, against python-chess and the reference scheduler."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import chess
import pytest
from pageruns import SHUFFLED, SPECIAL

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "js"
node = pytest.mark.skipif(
    shutil.which("node") is None, reason="no Node: install the Debian package nodejs to test the script"
)


def run(*arguments: str, given: Any = None) -> Any:
    """What a script of ours says to data given as JSON."""
    text = json.dumps(given)
    done = subprocess.run(
        ["node", *arguments], input=text, capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout) if given is not None else done.stdout


@node
def test_the_scripts_own_tests_pass() -> None:
    run("--test", *sorted(str(path) for path in SCRIPTS.glob("*.test.js")))


@node
def test_memory_follows_the_reference_scheduler() -> None:
    """Random answers on random days: stability, difficulty and recall as py-fsrs has them."""
    fsrs = pytest.importorskip("fsrs", reason="no fsrs: install preplay[dev]")
    rng = random.Random(1)
    sequences = [
        [(rng.choice([0, 1, 2, 5, 30, 200]) if k else 0, rng.choice([1, 2, 3, 3, 4])) for k in range(8)]
        for _ in range(60)
    ]
    ours = run(str(SCRIPTS / "replay_fsrs.js"), given=sequences)
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    for answers, told in zip(sequences, ours, strict=True):
        card, now = fsrs.Card(), datetime(2026, 1, 1, tzinfo=UTC)
        for (days, rating), (stability, difficulty, recall) in zip(answers, told, strict=True):
            now += timedelta(days=days)
            card, _ = scheduler.review_card(card, fsrs.Rating(rating), now)
            assert stability == pytest.approx(card.stability, rel=1e-9)
            assert difficulty == pytest.approx(card.difficulty, rel=1e-9)
            week = scheduler.get_card_retrievability(card, now + timedelta(days=7))
            assert recall == pytest.approx(week, rel=1e-9)


def positions(count: int, start: str, chess960: bool, seed: int) -> list[chess.Board]:
    """Positions of random games."""
    rng = random.Random(seed)
    found: list[chess.Board] = []
    while len(found) < count:
        board = chess.Board(start, chess960=chess960)
        while not board.is_game_over(claim_draw=True) and board.ply() < 120:
            board.push(rng.choice(list(board.legal_moves)))
            if rng.random() < 0.15:
                found.append(board.copy(stack=False))
    return found[:count]


@node
@pytest.mark.parametrize(
    ("start", "chess960"), [(chess.STARTING_FEN, False), (SPECIAL, False), (SHUFFLED, True)]
)
def test_legal_moves_and_their_names_as_python_chess_has_them(start: str, chess960: bool) -> None:
    boards = [chess.Board(start, chess960=chess960), *positions(250, start, chess960, 3)]
    given = [{"fen": board.fen(), "chess960": chess960} for board in boards]
    for board, told in zip(boards, run(str(SCRIPTS / "replay_rules.js"), given=given), strict=True):
        assert told["moves"] == {board.uci(move): board.san(move) for move in board.legal_moves}, (
            board.fen()
        )


READ = {
    chess.STARTING_FEN: {
        "e4": "e2e4", "E4": "e2e4", "e2-e4": "e2e4", "e2e4": "e2e4", "1. e4!": "e2e4", "Nf3": "g1f3",
        "nf3": "g1f3", "NF3": "g1f3", "Ngf3": "g1f3", "ng1-f3": "g1f3", "e5": "illegal", "Nd4": "illegal",
        "O-O": "illegal", "hello": "unread", "": "unread", "Qh9": "unread",
    },
    "r3k2r/pppq1ppp/2n5/3p4/2PP4/2N5/PP3PPP/R3K2R w KQkq - 0 1": {
        "0-0": "e1g1", "o-o-o": "e1c1", "OO": "e1g1", "cxd5": "c4d5", "cd5": "c4d5", "cd": "unread",
        "Nxd5": "c3d5", "nd5": "c3d5", "e1g1": "e1g1", "c4:d5": "c4d5",
    },
    "6k1/1P6/8/8/8/2p5/1p6/B1B3K1 w - - 0 1": {
        "b8=Q": "b7b8q", "b8Q": "b7b8q", "b8=n": "b7b8n", "bxc3": "illegal", "Bxb2": "several",
        "Baxb2": "a1b2", "bcb2": "c1b2", "b8": "several",
    },
}  # fmt: skip


@node
@pytest.mark.parametrize("fen", READ)
def test_typed_moves_are_understood(fen: str) -> None:
    asked = READ[fen]
    (told,) = run(
        str(SCRIPTS / "replay_rules.js"), given=[{"fen": fen, "chess960": False, "read": list(asked)}]
    )
    got = [one.get("move") or next(iter(one)) for one in told["read"]]
    assert dict(zip(asked, got, strict=True)) == asked
