"""`preplay uci --as-opponent`: an engine that plays as the opponent of a run was modelled."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.engine
import pytest
from commandline import preplay
from dialogue import InThread

from preplay.book import Book, Entry
from preplay.chess.rules import ChessGame, ChessState
from preplay.chess.uci.modelled import Modelled, run_modelled
from preplay.errors import EngineError
from preplay.game import Distribution, walk
from preplay.matchup import open_matchup
from preplay.policy import REST, PolicyFunction

PLAIN = ("value.model=linear", "judge=false")
SMALL = ("white.nodes=300", "black.nodes=300", "prep.nodes=600", "black.randomness=30", *PLAIN)


class Served(InThread):
    """A dialogue with `run_modelled`."""

    def __init__(self, player: Modelled, seed: int = 1) -> None:
        super().__init__(lambda stdin, stdout: run_modelled(player, stdin, stdout, seed=seed))


def shares(said: Sequence[str]) -> dict[str, float]:
    """The distribution that the engine shows."""
    row = next(line for line in said if line.startswith("info string modelled "))
    pairs = row.removeprefix("info string modelled ").partition(";")[0].split(", ")
    return {move: float(p) for move, p in (pair.split() for pair in pairs)}


def mixed(state: ChessState) -> Distribution:
    return {"e7e5": 0.5, "c7c5": 0.3, REST: 0.2} if len(state.moves) == 1 else {REST: 1.0}


def player(**more: object) -> Modelled:
    return Modelled("preplay test", 2, ChessGame(length=3), PolicyFunction(mixed), **more)  # type: ignore[arg-type]


def test_moves_are_drawn_with_the_modelled_probabilities() -> None:
    seen: Counter[str] = Counter()
    with Served(player()) as gui:
        for _ in range(400):
            said = gui.ask("ucinewgame", "position startpos moves e2e4", "go movetime 1")
            seen[said[-1].split()[1]] += 1
        shown = shares(said)
    assert (shown["e7e5"], shown["c7c5"], len(shown)) == (0.5, 0.3, 20)
    assert sum(shown.values()) == pytest.approx(1.0)
    assert abs(seen["e7e5"] / 400 - 0.5) < 0.1  # four standard errors
    assert abs(seen["c7c5"] / 400 - 0.3) < 0.1
    assert 0.1 < 1 - (seen["e7e5"] + seen["c7c5"]) / 400 < 0.3


def test_the_same_seed_gives_the_same_games() -> None:
    def moves(seed: int) -> list[str]:
        with Served(player(), seed) as gui:
            asked = ("ucinewgame", "position startpos moves e2e4", "go nodes 1")
            first = [gui.best(*asked) for _ in range(20)]
            gui.send(f"setoption name Seed value {seed}")
            assert [gui.best(*asked) for _ in range(20)] == first
            return first

    assert moves(3) == moves(3)
    assert moves(3) != moves(4)


def test_a_game_that_began_elsewhere_counts_from_the_models_start() -> None:
    asked: list[ChessState] = []

    def ask(state: ChessState) -> Distribution:
        asked.append(state)
        return {"e1g1": 1.0}

    game = ChessGame(before=("e4", "e5", "Nf3", "Nc6"))
    with Served(Modelled("x", 1, game, PolicyFunction(ask))) as gui:
        moves = "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6"
        assert gui.best(f"position startpos moves {moves}", "go") == "e1g1"
        assert asked[-1].moves == ("f1b5", "g8f6")
        assert asked[-1].board.halfmove_clock == 4
        gui.best("position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 5 40 moves a1b1 a8b8", "go")
        assert asked[-1].moves == ("a1b1", "a8b8")
        assert asked[-1].board.halfmove_clock == 7


def test_a_prepared_opponent_plays_its_mixed_book() -> None:
    root, later = ("e2e4",), ("e2e4", "d7d6", "d2d4")
    entries = (
        Entry(root, {"d7d6": 1.0}, 1.0, 0.0, 0.5, probability=0.5),
        Entry(later, {"g8f6": 1.0}, 1.0, 0.0, 0.5, probability=0.5),
    )
    book = Book(2, entries, 0.5, 0.5, 0.01, 0.5)
    seen: Counter[str] = Counter()
    with Served(player(book=book)) as gui:
        for _ in range(200):
            move = gui.best("ucinewgame", "position startpos moves e2e4", "go")
            seen[move] += 1
            if move == "d7d6":
                assert gui.best("position startpos moves e2e4 d7d6 d2d4", "go") in {"g8f6", "b8c6"}
    assert 60 < seen["d7d6"] < 150


def test_pondering_infinite_searches_and_mistakes() -> None:
    with Served(player()) as gui:
        gui.send("uci")
        assert "id name preplay test" in gui.until("uciok")
        gui.send("position startpos moves e2e4", "go infinite")
        gui.silence()
        gui.send("isready", "position startpos moves e2e4", "go searchmoves a7a6", "stop")
        assert gui.until("readyok")
        gui.until("bestmove")
        assert gui.until("bestmove")[-1] == "bestmove a7a6"
        gui.send("go ponder")
        gui.silence()
        gui.send("ponderhit")
        gui.until("bestmove")
        said = gui.ask("position startpos moves e2e4 c7c5", "go")
        assert "info string Black was modelled, who is not to move here" in said
        assert gui.best("position startpos moves e2e5", "go") == "0000"
        assert gui.best("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go") == "0000"
        assert gui.best("position fen 7k/8/6K1/8/8/8/8/8 w - - 0 1", "go") == "0000"  # bare kings
        gui.send("setoption name Seed value ²", "setoption name Seed value", "nonsense")
        gui.ready()


def test_the_last_answer_comes_before_the_end() -> None:
    """`printf 'position …\ngo\n' | preplay uci …` is answered."""
    said = io.StringIO()
    run_modelled(player(), io.StringIO("position startpos moves e2e4\ngo infinite\n"), said, seed=1)
    assert "bestmove" in said.getvalue()


def test_an_engine_that_fails_is_told() -> None:
    def fail(state: ChessState) -> Distribution:
        raise EngineError("the engine is gone\nfor good")

    with Served(Modelled("x", 1, ChessGame(), PolicyFunction(fail))) as gui:
        said = gui.ask("position startpos", "go")
        assert said[0] == "info string the engine is gone for good"
        assert said[-1] == "bestmove 0000"


@pytest.mark.usefixtures("stockfish")
def test_python_chess_meets_the_opponent_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, run = tmp_path / "s.sqlite", tmp_path / "run"
    sets = [word for change in SMALL for word in ("--set", change)]
    words = ("--cost", 0.02, "--save", run, "--store", store, "--histories", 40)
    assert preplay(capsys, "prepare", "chess", "--side", "white", *sets, *words)[0] == 0
    command = [sys.executable, "-c", "from preplay.cli import main; main()", "uci"]
    command += ["--as-opponent", str(run), "--store", str(tmp_path / "t.sqlite"), "--seed", "7"]
    lines = [(), ("b8c6", "f1b5"), ("e7e5", "g1f3", "b8c6", "f1b5", "g8f6", "e1g1")]
    with (
        open_matchup("chess", SMALL, store=store) as matchup,
        chess.engine.SimpleEngine.popen_uci(command, timeout=60) as engine,
    ):
        assert engine.id["name"].startswith("preplay opponent: Stockfish")
        for line in lines:
            history = ("e2e4", *line)
            modelled = matchup.base[1].distributions([walk(matchup.game, history)])[0]
            board = chess.Board()
            for move in history:
                board.push_uci(move)
            drawn: Counter[str] = Counter()
            for _ in range(60):
                answer = engine.play(
                    board, chess.engine.Limit(time=0.1), game=object(), info=chess.engine.INFO_ALL
                )
                drawn[str(answer.move)] += 1
                assert shares([f"info string {answer.info['string']}"]) == modelled
            assert set(drawn) <= set(modelled)
            top = max(modelled, key=lambda move: modelled[move])
            assert abs(drawn[top] / 60 - modelled[top]) < 0.26  # four standard errors
    for wrong, told in (
        (("--book", run), "expected one of them"),
        (("--side", "black"), "holds a book for white"),
        (("--side", "black", "--install-hint"), "holds a book for white"),
        (("--nodes", 5), f"--nodes 5 with --as-opponent {run}: the run says how its opponent plays"),
        (("--by-history", "--install-hint"), f"--by-history with --as-opponent {run}: the run says"),
    ):
        code, _, err = preplay(capsys, "uci", "--as-opponent", run, *wrong)
        assert (code, told in err) == (1, True)
    code, out, _ = preplay(capsys, "uci", "--as-opponent", run, "--install-hint")
    assert f"--as-opponent {run}" in out
    code, _, err = preplay(capsys, "uci", "--as-opponent", tmp_path / "none", "--install-hint")
    assert (code, err.count("\n"), "none" in err) == (1, 1, True)
