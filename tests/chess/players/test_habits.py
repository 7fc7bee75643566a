"""Opponents known by their games: counted, blended with an engine, prepared against."""

from __future__ import annotations

import io
import json
import random
import tempfile
from collections import Counter
from pathlib import Path

import chess
import chess.pgn
import pytest
from commandline import preplay
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.chess.players.habits import read_habits
from preplay.errors import InputError
from preplay.game import Side
from preplay.matchup import open_matchup

needs_stockfish = pytest.mark.usefixtures("stockfish")
PLAYERS = ("Rival, Anna", "Rivera, B.", "José")
PLAIN = ("value.model=linear", "judge=false")
SMALL = ("white.nodes=300", "black.nodes=300", "prep.nodes=1500", "black.randomness=10", *PLAIN)


def pgn(white: str, black: str, moves: str) -> str:
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "*"]\n\n{moves} *\n\n'


SICILIAN = pgn("Somebody", "Rival, Anna", "1. e4 c5 2. Nf3 d6 3. d4 cxd4")
OPEN = pgn("Somebody", "Rival, Anna", "1. e4 e5 2. Nf3 Nc6 (2... d6 3. d4) 3. Bb5 a6")
AS_WHITE = pgn("Rival, Anna", "Somebody", "1. d4 d5 2. c4 e6")


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    path = tmp_path / "rival.pgn"
    path.write_text(7 * SICILIAN + 3 * OPEN + 4 * AS_WHITE)
    return path


def random_games(seed: int, count: int) -> str:
    """Games by random moves among few, so that positions come again."""
    rng = random.Random(seed)
    text = ""
    for _ in range(count):
        board = chess.Board()
        for _ in range(rng.randrange(8)):
            board.push(rng.choice(sorted(board.legal_moves, key=str)[:3]))
        game = chess.pgn.Game.from_board(board)
        game.headers["White"], game.headers["Black"] = rng.sample(PLAYERS, 2)
        text += f"{game}\n\n"
    return text


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.sampled_from([1, 2]),
    st.sampled_from(["", "rival", "JOSÉ"]),
    st.floats(0.01, 100.0),
)
def test_habits_by_definition(seed: int, count: int, side: Side, player: str, weight: float) -> None:
    text = random_games(seed, count)
    played: dict[str, Counter[str]] = {}
    mine = 0
    source = io.StringIO(text)
    while (game := chess.pgn.read_game(source)) is not None:
        if player.lower() in game.headers["White" if side == 1 else "Black"].lower():
            mine += 1
            for node in game.mainline():
                before = node.parent.board()
                if before.turn == (side == 1):
                    played.setdefault(before.epd(), Counter())[node.uci()] += 1
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "games.pgn")
        path.write_text(text, encoding="utf-8")
        if not mine:
            with pytest.raises(InputError, match=f"no game of chess in which '{player}' has"):
                read_habits([path], side, [player] if player else [], weight)
            return
        habits = read_habits([path], side, [player] if player else [], weight)
    assert habits.games == mine
    assert habits.widest == max(map(len, played.values()), default=0)
    assert habits.own.positions == len(played)
    for epd, counts in played.items():
        board = chess.Board(epd + " 0 1")
        options = sorted(map(str, board.legal_moves))
        engine = {options[0]: 0.25, options[-1]: 0.75}
        n = sum(counts.values())
        mixed = habits.blend(board, engine)
        assert sum(mixed.values()) == pytest.approx(1.0)
        for move in options:
            expected = (counts[move] + weight * engine.get(move, 0.0)) / (n + weight)
            assert mixed.get(move, 0.0) == pytest.approx(expected)
    elsewhere = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    assert habits.blend(elsewhere, {"e2e4": 1.0}) == {"e2e4": 1.0}


@pytest.mark.parametrize(("chess960", "name"), [(False, "e1g1"), (True, "e1h1")])
def test_castling_is_named_as_the_game_names_it(chess960: bool, name: str, tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(pgn("A", "B", "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O"))
    board = chess.Board(chess960=chess960)
    for san in ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5"]:
        board.push_san(san)
    assert read_habits([path], 1).blend(board, {name: 0.5, "d2d3": 0.5})[name] == pytest.approx(0.75)


def test_a_position_counts_however_it_was_reached(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(pgn("A", "B", "1. d4 d5 2. c4 e6") + pgn("A", "B", "1. c4 e6 2. d4 Nf6"))
    board = chess.Board()
    for san in ["c4", "d5", "d4"]:
        board.push_san(san)
    assert read_habits([path], 2, weight=1.0).blend(board, {"c7c6": 1.0}) == {"c7c6": 0.5, "e7e6": 0.5}


@needs_stockfish
def test_the_opponent_plays_as_the_games_tell(rival: Path, tmp_path: Path) -> None:
    config = (*SMALL, f"black.games.file={rival}", "black.games.player=rival", "black.games.weight=2")
    with open_matchup("chess", SMALL, store=tmp_path / "s") as plain:
        state = plain.game.next(plain.game.root(), "e2e4")
        (engine,) = plain.base[1].distributions([state])
    with open_matchup("chess", config, store=tmp_path / "s") as matchup:
        (mixed,) = matchup.base[1].distributions([state])
        assert matchup.searches() == 0  # the same search, blended afterwards
        counts = {"c7c5": 7, "e7e5": 3}
        for move in {*counts, *engine}:
            expected = (counts.get(move, 0) + 2 * engine.get(move, 0.0)) / 12
            assert mixed[move] == pytest.approx(expected)
        assert matchup.config["black"]["games"]["digest"]
        assert matchup.config["white"]["games"] is None


@needs_stockfish
def test_under_a_clock_too(rival: Path, tmp_path: Path) -> None:
    config = ("clock.budget=2000", "black.randomness=10", f"black.games.file={rival}")
    with open_matchup("chess-clock", config, store=tmp_path / "s") as matchup:
        state = matchup.game.next(matchup.game.root(), "e2e4")
        (mixed,) = matchup.base[1].distributions([state])
    moves = {name.partition("@")[0]: p for name, p in mixed.items()}
    assert 7 / 11 <= moves["c7c5"] <= 8 / 11
    assert all("@" in name for name in mixed)  # they still take their time


@needs_stockfish
def test_prepare_against_a_person_from_a_file(
    rival: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREPLAY_STORE", str(tmp_path / "s"))
    (tmp_path / "rival.toml").write_text(
        'kind = "chess"\n[start]\nmoves = ["e4"]\n[white]\nnodes = 300\n[black]\nnodes = 300\n'
        'games = {file = "rival.pgn", player = "Anna"}\n[prep]\nnodes = 1500\n'
    )
    words = ("prepare", tmp_path / "rival.toml", "--side", "white", "--cost", "0.01")
    code, out, err = preplay(capsys, *words, "--save", tmp_path / "run", "--json")
    assert (code, err) == (0, "")
    firsts = [entry for entry in json.loads(out)["book"] if len(entry["history"]) == 1]
    answers = {entry["history"][0]: entry["reach"] for entry in firsts}
    assert answers["c7c5"] == pytest.approx(0.65, abs=0.1)  # 7 of 10, and what others may think
    code, _, _ = preplay(capsys, "export", tmp_path / "run", "--pgn", tmp_path / "book.pgn")
    assert code == 0
    with (tmp_path / "book.pgn").open() as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    assert game.headers["Black"].startswith("Anna as in rival.pgn, else Stockfish")
    code, out, _ = preplay(capsys, "match", tmp_path / "run", "--games", 20, "--json")
    assert code == 0
    assert json.loads(out)["p_value"] > 1e-4  # fails with that probability if the promise is true
    # Other games are another opponent: the run says so, and so does a match of it.
    rival.write_text(rival.read_text() + OPEN)
    code, _, err = preplay(capsys, *words, "--save", tmp_path / "run", "--json")
    assert code == 1
    assert "matchup.black.games.digest was" in err
    code, _, err = preplay(capsys, "match", tmp_path / "run", "--games", 20)
    assert code == 1
    assert err.count("\n") == 1
    assert "rival.pgn: has changed since the run" in err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "black.games.player=Rivel",
            "no game of chess in which 'Rivel' has Black; expected one of: Rival, Anna",
        ),
        ("black.games.player=Rival, Ann4", "did you mean 'Rival, Anna'?"),
        ("black.games.weight=0", "black.games.weight = 0; expected a number above 0"),
        ("black.games.file=missing.pgn", "cannot read missing.pgn: No such file"),
        ("black.games.files=x", "unknown key 'black.games.files'; did you mean 'file'?"),
        ("prep.games=x", "unknown key 'prep.games'"),
        ("white.games.player=x", "key 'white.games.file' is missing"),
    ],
)
def test_mistakes_get_one_line(
    setting: str, message: str, rival: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("prepare", "chess", "--side", "white", "--cost", "0.01")
    code, out, err = preplay(capsys, *words, "--set", f"black.games.file={rival}", "--set", setting)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert message in err


def test_only_chess_counts_and_nobody_passes(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    house = '[Variant "Crazyhouse"]\n' + pgn("A", "B", "1. e4 d5 2. exd5 Qxd5 3. Nc3 P@e4")
    path.write_text(house + SICILIAN + pgn("A", "B", "1. e4 -- 2. d4 d5"))
    habits = read_habits([path], 2)
    assert habits.games == 2
    board = chess.Board()
    board.push_san("e4")
    assert habits.blend(board, {"c7c5": 1.0}) == {"c7c5": 1.0}
    path.write_text(house)
    with pytest.raises(
        InputError, match="no game of chess in which 'B' has Black; the games name nobody"
    ):
        read_habits([path], 2, ["B"])


def test_a_broken_game_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(SICILIAN + pgn("A", "B", "1. e4 e5 2. Ke3"))
    assert read_habits([path], 2).games == 1
    path.write_text(pgn("A", "B", "1. e4 e5 2. Ke3"))
    with pytest.raises(InputError, match="game 1: 'Ke3' in its line 5 is not legal; expected PGN"):
        read_habits([path], 2)
