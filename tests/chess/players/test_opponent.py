"""Opponents fitted to games: the model by definition, the fit, the command, and playing it."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import pytest
from commandline import preplay
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.chess.engines.analysis import Analysis, Line
from preplay.chess.players.counts import NOTHING, count_moves
from preplay.chess.players.fit import FLOOR, MoveColumns, SeenMove, Weights, fit_weights
from preplay.chess.players.habits import Habits
from preplay.chess.players.opponents import Opponent, load_opponent, save_opponent
from preplay.chess.players.person import Level, Person, parse_level
from preplay.chess.players.rivals import RivalsPolicy, mixed
from preplay.chess.players.squares import board_key, move_code
from preplay.chess.players.standin import StandIn
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import InputError
from preplay.game import Distribution
from preplay.matchup import open_matchup
from preplay.policy import REST, spread_rest
from preplay.tree import load as load_tree

needs_stockfish = pytest.mark.usefixtures("stockfish")


def some_board(rng: random.Random) -> chess.Board:
    board = chess.Board()
    for _ in range(rng.randrange(30)):
        if board.is_game_over():
            break
        board.push(rng.choice(list(board.legal_moves)))
    return board if not board.is_game_over() else chess.Board()


def some_analysis(rng: random.Random, board: chess.Board) -> Analysis:
    moves = rng.sample([m.uci() for m in board.legal_moves], min(10, board.legal_moves.count()))
    scores = sorted((rng.randrange(-300, 300) for _ in moves), reverse=True)
    lines = tuple(Line(move, score, 5) for move, score in zip(moves, scores, strict=True))
    return Analysis(lines, rng.choice(moves), 100)


def some_counts(rng: random.Random, board: chess.Board) -> tuple[Any, dict[str, int]]:
    moves = rng.choices(list(board.legal_moves), k=rng.choice([0, 1, 5, 30]))
    if not moves:
        return NOTHING, {}
    keys = np.full(len(moves), board_key(board), dtype=np.uint64)
    counts = {move.uci(): moves.count(move) for move in moves}
    return count_moves(keys, np.array([move_code(move) for move in moves], dtype=np.uint16)), counts


def some_standin(rng: random.Random) -> StandIn:
    choice = 0.3 * rng.random()
    return StandIn(
        choice, 0.6 * rng.random(), 5 + 90 * rng.random(), 5 + 200 * rng.random(), rng.random() / 2
    )


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_model_by_its_definition(rng: random.Random) -> None:
    """Every legal move by the formula in words, the policy, and the columns of the fit: all the same."""
    board = some_board(rng)
    analysis, mix = some_analysis(rng, board), some_standin(rng)
    own, n = some_counts(rng, board)
    others, crowd = some_counts(rng, board)
    weights = Weights(0.1 + 9 * rng.random(), 0.1 + 9 * rng.random(), mix)
    legal = [move.uci() for move in board.legal_moves]
    lines = {line.move: line.score for line in analysis.lines}
    top = list(lines)[:2]
    rest = mix.rest if len(legal) > len(lines) else 0.0

    def share(move: str, among: list[str], r: float) -> float:
        return math.exp(lines[move] / r) / sum(math.exp(lines[m] / r) for m in among)

    def by_engine(move: str) -> float:
        if move not in lines:
            return rest / (len(legal) - len(lines))
        p = (1 - mix.choice - mix.narrow) * share(move, list(lines), mix.wide_randomness)
        p += mix.narrow * share(move, top, mix.narrow_randomness) if move in top else 0.0
        return (1 - rest) * (p + mix.choice * (move == analysis.best))

    def expected(move: str) -> float:
        prior = (crowd.get(move, 0) + weights.others * by_engine(move)) / (
            sum(crowd.values()) + weights.others
        )
        return (n.get(move, 0) + weights.own * prior) / (sum(n.values()) + weights.own)

    habits = Habits(own, 1, weights.own, "", others, weights.others)
    person = Person(habits, Level(), mix, least=0.0)
    played = spread_rest(person.distribution(board, analysis), legal)
    assert sum(played.values()) == pytest.approx(1.0)
    coded = {move_code(chess.Move.from_uci(move)): count for move, count in n.items()}
    coded_crowd = {move_code(chess.Move.from_uci(move)): count for move, count in crowd.items()}
    codes = tuple(move_code(chess.Move.from_uci(move)) for move in lines)
    best = move_code(chess.Move.from_uci(analysis.best))
    for move in legal:
        assert played.get(move, 0.0) == pytest.approx(expected(move), abs=1e-9)
        code = move_code(chess.Move.from_uci(move))
        seen = SeenMove(code, coded, coded_crowd, analysis, codes, best, len(legal))
        assert MoveColumns.of([seen]).likelihood(weights)[0] == pytest.approx(expected(move), abs=1e-9)
    lumped = Person(habits, Level(), mix, least=0.05).sources(board, analysis)
    assert sum(sum(parts) for parts in lumped.values()) == pytest.approx(1.0)
    named = [sum(parts) for move, parts in lumped.items() if move != REST]
    # What is named was likely before the rest had its share; unless nothing was, and all stays as it is.
    assert REST not in lumped or min(named) >= 0.05 * 0.95 - 1e-12 or max(named) < 0.05


def drawn(weights: Weights, count: int, seed: int) -> MoveColumns:
    """Moves drawn from the model itself."""
    rng = random.Random(seed)
    moves = []
    for _ in range(count):
        board = some_board(rng)
        analysis = some_analysis(rng, board)
        own, n = some_counts(rng, board)
        others, crowd = some_counts(rng, board)
        person = Person(
            Habits(own, 1, weights.own, "", others, weights.others), Level(), weights.engine, 0.0
        )
        shares = spread_rest(person.distribution(board, analysis), [m.uci() for m in board.legal_moves])
        move = rng.choices(list(shares), list(shares.values()))[0]
        codes = [move_code(chess.Move.from_uci(line.move)) for line in analysis.lines]
        mine, theirs = ({move_code(chess.Move.from_uci(m)): c for m, c in t.items()} for t in (n, crowd))
        best = move_code(chess.Move.from_uci(analysis.best))
        code = move_code(chess.Move.from_uci(move))
        legal = board.legal_moves.count()
        moves.append(SeenMove(code, mine, theirs, analysis, tuple(codes), best, legal))
    return MoveColumns.of(moves)


def log_loss(probabilities: npt.NDArray[np.float64]) -> float:
    """The mean surprise in nats, no move counting as less likely than the floor."""
    return float(-np.log(np.maximum(probabilities, FLOOR)).mean())


def test_the_fit_finds_what_made_the_moves() -> None:
    true = Weights(8.0, 0.6, StandIn(0.02, 0.2, 60.0, 40.0, 0.25))
    columns = drawn(true, 1000, 1)
    found = fit_weights(columns)
    fresh = drawn(true, 600, 2)
    best, mine, usual = (log_loss(fresh.likelihood(w)) for w in (true, found, Weights()))
    assert mine < usual - 0.02
    assert mine < best + 0.02
    assert found.engine.rest == pytest.approx(0.25, abs=0.06)
    assert found.own == pytest.approx(8.0, rel=0.6)


def test_few_moves_leave_the_defaults() -> None:
    assert fit_weights(MoveColumns.of([])) == Weights()
    three = drawn(Weights(8.0, 0.6, StandIn(0.02, 0.2, 60.0, 40.0, 0.25)), 3, 3)
    few = fit_weights(three)
    assert few == fit_weights(three)  # always the same
    assert few.own == pytest.approx(Weights().own, rel=1.0)
    assert few.engine.rest == pytest.approx(StandIn().rest, abs=0.15)


def test_saved_opponents(tmp_path: Path) -> None:
    board = chess.Board()
    own, _ = some_counts(random.Random(1), board)
    others, _ = some_counts(random.Random(2), board)
    habits = Habits(own, 7, 2.5, "abc", others, 0.5, others, np.unique(own.keys))
    person = Person(habits, Level(None, {"Skill Level": 3}, 700), StandIn(rest=0.2), 0.01)
    path = tmp_path / "rival.json"
    save_opponent(Opponent(1, ("Rival",), person, {"games": 7}), path)
    again, digest = load_opponent(path)
    assert (again.side, again.names, again.report, len(digest)) == (1, ("Rival",), {"games": 7}, 16)
    assert (again.person.level, again.person.standin, again.person.least) == (
        person.level,
        person.standin,
        person.least,
    )
    analysis = some_analysis(random.Random(3), board)
    assert again.person.distribution(board, analysis) == person.distribution(board, analysis)
    assert again.person.habits.has_met(board) == bool(len(own.keys))
    for text in (
        "{}",
        "no",
        '{"format": "preplay-opponent/1"}',
        path.read_text().replace('"rows"', '"r"'),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=r"rival\.json: (not an opponent|damaged opponent)"):
            load_opponent(path)


@pytest.mark.parametrize(
    ("text", "nodes", "options"),
    [
        ("nodes=2000", 2000, {}),
        ("UCI_Elo=1800", 5000, {"UCI_Elo": 1800, "UCI_LimitStrength": True}),
        ("Skill Level=5, nodes=100", 100, {"Skill Level": 5}),
    ],
)
def test_levels(text: str, nodes: int, options: dict[str, Any]) -> None:
    level = parse_level(text)
    assert (level.nodes, level.options) == (nodes, options)


@pytest.mark.parametrize("text", ["", "2000", "nodes=", "nodes=-1", "=3"])
def test_levels_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        parse_level(text)


class Fixed:
    """A policy by tables, for the mixture."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def distributions(self, states: list[ChessState]) -> list[Distribution]:
        answer: list[Distribution] = []
        for state in states:
            rng = random.Random(f"{self.seed} {state.board.fen()}")
            legal = sorted(m.uci() for m in state.board.legal_moves)
            moves = rng.sample(legal, min(3, len(legal)))
            names = [*moves, REST] if len(moves) < len(legal) else moves
            weights = [rng.random() for _ in names]
            answer.append({name: w / sum(weights) for name, w in zip(names, weights, strict=True)})
        return answer

    def prefetch(self, states: list[ChessState]) -> None: ...

    def cancel(self, states: list[ChessState]) -> None: ...


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_a_mixture_is_the_mean_of_whole_games(rng: random.Random, before: bool) -> None:
    """P(all of the opponent's moves) is the mean over rivals of the product: whoever comes stays."""
    shares, people = (0.5, 0.3, 0.2), (Fixed(1), Fixed(2), Fixed(3))
    game = ChessGame(before=("e4", "c5") if before else ())
    policy = RivalsPolicy(game, 2, people, shares)  # type: ignore[arg-type]
    whole, alone = 1.0, [1.0, 1.0, 1.0]
    if before:
        state = ChessGame().next(ChessGame().root(), "e2e4")
        alone = [spread(person, state)["c7c5"] for person in people]
        whole = sum(w * p for w, p in zip(shares, alone, strict=True))
    state = game.root()
    for _ in range(6):
        moves = sorted(game.actions(state))
        if state.board.turn:
            state = game.next(state, rng.choice(moves))
            continue
        (play,) = policy.distributions([state])
        assert sum(play.values()) == pytest.approx(1.0)
        names = [name for name in play if name != REST]
        move = rng.choice(names if rng.random() < 0.7 else moves)
        whole *= spread_rest(play, moves)[move]
        alone = [p * spread(person, state)[move] for p, person in zip(alone, people, strict=True)]
        assert whole == pytest.approx(sum(w * p for w, p in zip(shares, alone, strict=True)))
        state = game.next(state, move)


def spread(person: Fixed, state: ChessState) -> Distribution:
    return spread_rest(person.distributions([state])[0], [m.uci() for m in state.board.legal_moves])


def test_a_mixture_names_what_anybody_names() -> None:
    plays: list[Distribution] = [{"a": 0.5, REST: 0.5}, {"b": 0.6, "c": 0.4}]
    found = mixed(plays, (0.5, 0.5), 11)
    assert found == pytest.approx({"a": 0.25, "b": 0.325, "c": 0.225, REST: 0.2})


def some_pgn(rng: random.Random, count: int, black: str, lines: list[str]) -> str:
    text = ""
    for k in range(count):
        moves = rng.choice(lines)
        date = f"{2000 + k // 12}.{k % 12 + 1:02}.01"
        tags = f'[White "Somebody {k}"]\n[Black "{black}"]\n[Date "{date}"]\n[Result "*"]\n'
        text += f"{tags}\n{moves} *\n\n"
    return text


SICILIAN = [
    "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6",
    "1. e4 c5 2. Nf3 Nc6 3. d4 cxd4 4. Nxd4 g6",
    "1. e4 c5 2. Nc3 Nc6 3. g3 g6",
]
OPEN = ["1. e4 e5 2. Nf3 Nc6 3. Bb5 a6", "1. e4 e5 2. Nf3 Nf6 3. Nxe5 d6", "1. e4 e6 2. d4 d5"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREPLAY_STORE", str(tmp_path / "s"))
    rng = random.Random(7)
    (tmp_path / "anna.pgn").write_text(some_pgn(rng, 40, "Rival, Anna", SICILIAN))
    (tmp_path / "bert.pgn").write_text(some_pgn(rng, 40, "Bert", OPEN))
    return tmp_path


@needs_stockfish
def test_games_without_dates_have_none(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    undated = re.sub(r'\[Date "[^"]*"\]', '[Date "????.??.??"]', (files / "anna.pgn").read_text())
    (files / "undated.pgn").write_text(undated)
    who = ("--player", "rival", "--side", "black", "--level", "nodes=300", "--sample", 10)
    code, out, _ = preplay(capsys, "opponent", files / "undated.pgn", *who, "--json")
    data = json.loads(out)
    assert (code, data["dates"], data["split"]["since"]) == (0, None, None)
    code, out, _ = preplay(capsys, "opponent", files / "undated.pgn", *who)
    assert code == 0
    assert "games drawn at random" in out
    assert "0000" not in out
    assert "games held out" in out
    assert "newest games" not in out


@needs_stockfish
def test_the_command_and_its_use(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "opponent",
        files / "anna.pgn",
        "--player",
        "rival",
        "--side",
        "black",
        "--level",
        "nodes=300",
    )
    more = ("--sample", 40, "--population", files / "bert.pgn")
    code, out, err = preplay(capsys, *words, *more, "--save", files / "anna.json", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert (data["games"], data["names"]) == (40, {"Rival, Anna": 40})
    assert data["split"] == {"train": 32, "test": 8, "since": "2002.09.01"}
    assert data["dates"] == ["2000.01.01", "2003.04.01"]
    assert data["known"] == 1.0
    simple = data["baselines"]
    assert 0.0 < data["logloss"] < min(simple["engine mix"], simple["engine, best 2, r = 10"])
    assert data["population"]["moves"] > 0
    assert data["fitted"]["engine"] == "300 nodes"
    again = preplay(capsys, *words, *more, "--json")[1]
    assert json.loads(again) == data  # deterministic, and from the store
    code, out, _ = preplay(capsys, *words, *more)
    assert code == 0
    assert "this model" in out
    # The opponent that was saved is played against.
    setting = ("--set", f"black.opponent={files / 'anna.json'}", "--set", 'start.moves=["e4"]')
    small = ("--set", "prep.nodes=500", "--set", "white.nodes=300", "--set", "judge=false")
    run = ("prepare", "chess", "--side", "white", "--cost", "0.004", *setting, *small)
    code, out, err = preplay(capsys, *run, "--save", files / "run", "--json")
    assert (code, err) == (0, "")
    tree = load_tree(files / "run" / "tree.npz")
    answer = tree.get(("c7c5",))
    assert answer is not None
    assert tree.base[answer] > 0.9
    assert tree.get((REST,)) is not None
    code, out, _ = preplay(capsys, "match", files / "run", "--games", 30, "--json")
    assert code == 0
    assert json.loads(out)["p_value"] > 1e-4
    (files / "anna.json").write_text((files / "anna.json").read_text() + " ")
    code, _, err = preplay(capsys, "match", files / "run", "--games", 3)
    assert code == 1
    assert "anna.json: has changed since the run" in err
    wrong = ("--set", f"white.opponent={files / 'anna.json'}")
    code, _, err = preplay(capsys, *run[:2], "--side", "black", *wrong)
    assert code == 1
    assert "rival as Black; expected an opponent who has White" in err


@needs_stockfish
def test_fitted_in_passing_and_remembered(files: Path) -> None:
    setting = (f"black.games.file={files / 'anna.pgn'}", "black.games.player=Rival", "black.nodes=300")
    with open_matchup("chess", setting) as matchup:
        state = matchup.game.next(matchup.game.root(), "e2e4")
        (play,) = matchup.base[1].distributions([state])
        record = matchup.config["black"]["games"]
        assert matchup.searches() > 0
    assert play["c7c5"] > 0.9
    assert record["fitted"]["level"]["nodes"] == 300
    assert record["digest"]
    kept = (
        *setting,
        f"black.games.fitted={json.dumps(record['fitted'])}",
        f"black.games.digest={record['digest']}",
    )
    with open_matchup("chess", kept) as matchup:
        assert matchup.base[1].distributions([state]) == [play]
        assert matchup.searches() == 0
        assert matchup.config["black"]["games"] == record


@needs_stockfish
def test_several_rivals(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("anna", "bert"):
        words = (
            "opponent",
            files / f"{name}.pgn",
            "--side",
            "black",
            "--level",
            "nodes=200",
            "--sample",
            20,
        )
        code, _, err = preplay(capsys, *words, "--save", files / f"{name}.json", "--json")
        assert (code, err) == (0, "")
    rivals = [{"file": str(files / "anna.json")}, {"file": str(files / "bert.json"), "share": 0.3}]
    with open_matchup("chess", [f"black.opponent={json.dumps(rivals)}"]) as matchup:
        game, policy = matchup.game, matchup.base[1]
        first = game.next(game.root(), "e2e4")
        (play,) = policy.distributions([first])
        assert play["c7c5"] == pytest.approx(0.7, abs=0.06)
        later = game.next(game.next(first, "e7e5"), "g1f3")
        assert policy.posterior(later)[1] > 0.9  # type: ignore[attr-defined]
        assert [row["share"] for row in matchup.config["black"]["opponent"]] == [None, 0.3]


def test_people_need_one_description(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ("--set", f"black.games.file={files / 'anna.pgn'}", "--set", "black.opponent=x.json")
    code, _, err = preplay(capsys, "prepare", "chess", "--side", "white", "--cost", 0.1, *both)
    assert code == 1
    assert "games and an opponent; expected one of the two" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--since", "19"), "--since 19; expected a date that begins with a year"),
        (("--speed", "blitzz"), "speed 'blitzz'; did you mean 'blitz'?"),
        (("--rating", "2000"), "rating '2000'; expected a range as in 2000-2400"),
        (("--level", "2000"), "level '2000'; expected NAME=VALUE"),
        (("--since", "2030"), "among those of --since"),
        (("--until", "1990"), "among those of --since, --until, --speed and --rating"),
        (("--since", "2020-13"), "--since 2020-13; expected a date of the calendar"),
        (("--until", "2019.02.30"), "--until 2019.02.30; expected a date of the calendar"),
        (("--since", "2020", "--until", "2019"), "since 2020 and until 2019 leave no day; expected the"),
        (("--since", "2020.05", "--until", "2020"), "since 2020.05 and until 2020 leave no day"),
        (("--rating", "2400-2000"), "rating '2400-2000' is reversed; expected the lower one first"),
        (("--player", "Nobody"), "no game of chess in which 'Nobody' has Black"),
        (("--save", "."), "cannot be written (is a directory)"),
    ],
)
def test_mistakes_get_one_line(
    words: tuple[str, ...], message: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = preplay(capsys, "opponent", files / "anna.pgn", "--side", "black", *words)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert message in err


@needs_stockfish
def test_what_a_book_is_worth_against_each(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("anna", "bert"):
        words = ("opponent", files / f"{name}.pgn", "--side", "black", "--level", "nodes=200")
        assert preplay(capsys, *words, "--sample", 20, "--save", files / f"{name}.json", "--json")[0] == 0
    rivals = ("--rival", files / "anna.json", "--rival", f"{files / 'bert.json'}:0.3")
    small = ("--set", "prep.nodes=300", "--set", "white.nodes=200", "--set", "judge=false")
    run = ("prepare", "chess", "--side", "white", "--cost", 0.004, "--set", "start.moves=e4", *small)
    code, out, err = preplay(capsys, *run, *rivals, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    each = data["opponent"]["against"]
    assert [(w["name"], w["share"]) for w in each] == [("Rival, Anna", 0.7), ("Bert", 0.3)]
    # Whoever comes stays the same all game: the mixture is the mean over the two.
    assert sum(w["share"] * w["value"] for w in each) == pytest.approx(data["value"], abs=1e-9)
    gain = sum(data["opponent"]["gain"].values())
    assert gain == pytest.approx(sum(entry["gain"] for entry in data["book"]), abs=1e-9)
    code, out, _ = preplay(capsys, *run, *rivals)
    assert "points per 100 games" in out
    assert "Bert" in out
    code, _, err = preplay(capsys, *run, "--rival", f"{files / 'bert.json'}:1.5")
    assert (code, "share 1.5; expected a number above 0" in err) == (1, True)
    code, _, err = preplay(capsys, *run, "--set", f"white.games.file={files / 'anna.pgn'}", "--json")
    assert "white prepares, and the games are of white's player" in err


@pytest.mark.parametrize("text", ["e4", "1.e4 c5", '["e4", "c5"]', "1. e4 c5 2. Nf3", "e2e4"])
def test_start_moves_as_people_write_them(text: str, tmp_path: Path) -> None:
    with open_matchup("chess", [f"start.moves={text}"], store=tmp_path / "s") as matchup:
        assert matchup.game.root().board.piece_at(chess.E4)
