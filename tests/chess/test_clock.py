"""Chess under a clock with real Stockfish: time is spent by the rule, saved by the book, and used."""

from __future__ import annotations

import io
import json
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from commandline import preplay
from dialogue import Talk

from preplay.book import Book, Entry
from preplay.chess.books.lines import csv_text
from preplay.chess.books.lookup import book_lookup
from preplay.chess.clock import ClockedChess, EngineEffort, thinking_times
from preplay.chess.endings import Settling, played_out
from preplay.chess.scoresheet import Heading, PlayedGame, pgn_of
from preplay.errors import InputError
from preplay.game import FINAL, Distribution, walk
from preplay.games.clocked import RESIGN, AtTheBoard, timed, untimed
from preplay.matches import Pairing, play_match
from preplay.matchup import Matchup, open_matchup
from preplay.preparation import Prepared, book_of, prepare
from preplay.randomness import FRESH
from preplay.runs.encoding import as_data, plain
from preplay.runs.prepared import result_of
from preplay.sampling.streams import Playout
from preplay.stopping import Stop

pytestmark = pytest.mark.usefixtures("stockfish")

SMALL = (
    "clock.budget=2000",
    "clock.share=0.1",
    "clock.least=50",
    "length=20",
    "resign=80",
    "prep.nodes=2000",
    "white.randomness=20",
    "black.randomness=20",
    "value.playouts=64",
    "value.games=40",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clock") / "s.sqlite"


@pytest.fixture(scope="module")
def matchup(store: Path) -> Iterator[Matchup[Any]]:
    with open_matchup("chess-clock", SMALL, workers=2, store=store) as matchup:
        yield matchup


@pytest.fixture(scope="module")
def prepared(matchup: Matchup[Any]) -> Prepared:
    return prepare(matchup, 1, 0.003)


@pytest.fixture(scope="module")
def book(matchup: Matchup[Any], prepared: Prepared) -> Book:
    return book_of(matchup, prepared)


def test_base_spends_a_share_of_the_rest_and_the_book_nothing(matchup: Matchup[Any]) -> None:
    game = matchup.game
    root = game.root()
    (base,) = matchup.base[0].distributions([root])
    assert all(untimed(name)[1] == 190 for name in base)  # a tenth of 2000, rounded down: 50 * 1.25^6
    assert sum(base.values()) == pytest.approx(1.0)
    (prep,) = matchup.prep[0].distributions([root])
    assert all(untimed(name)[1] == 0 for name in prep)
    thought, memory = (game.next(root, max(d, key=lambda m: d[m])) for d in (base, prep))
    assert (thought.left, memory.left) == ((2000 - 190, 2000), (2000, 2000))


def test_a_lost_side_resigns_and_only_by_its_own_search(store: Path) -> None:
    a_queen_down = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
    with open_matchup(
        "chess-clock", [*SMALL, f"start.fen={a_queen_down}"], workers=1, store=store
    ) as lost:
        root = lost.game.root()
        (white,) = lost.base[0].distributions([root])
        assert white == {timed(RESIGN, 190): 1.0}
        end = lost.game.next(root, timed(RESIGN, 190))
        assert (lost.game.player(end), lost.game.utility(end)) == (FINAL, 0.0)
        (prep,) = lost.prep[0].distributions([root])
        assert RESIGN not in prep
    never = [*SMALL, f"start.fen={a_queen_down}", "resign=null"]
    with open_matchup("chess-clock", never, workers=1, store=store) as fighting:
        (white,) = fighting.base[0].distributions([fighting.game.root()])
        assert all(untimed(name)[0] != RESIGN for name in white)


def test_nearly_equal_clocks_share_a_search(matchup: Matchup[Any]) -> None:
    policy = matchup.base[1]
    assert isinstance(policy, AtTheBoard)
    assert isinstance(policy.effort, EngineEffort)
    game = matchup.game
    first, second = walk(game, ["e2e4@190", "e7e5@190"]), walk(game, ["e2e4@152", "e7e5@152"])
    assert first.left != second.left
    requests = [
        policy.effort.request(state, matchup.base[0].rule(game, state))  # type: ignore[attr-defined]
        for state in (first, second)
    ]
    assert requests[0] == requests[1]


def test_prepare_says_what_comes_from_moves_and_what_from_time(
    matchup: Matchup[Any], prepared: Prepared, book: Book
) -> None:
    played = prepared.played
    assert played is not None
    assert played.games == 40
    assert played.moves.mean + played.time.mean == pytest.approx(played.gain.mean)
    assert book.value == played.value.mean
    assert book.error == pytest.approx(1.96 * played.value.error)
    assert book.upper >= book.net
    assert book.size > 0
    data = json.loads(json.dumps(as_data(result_of(matchup, prepared)), allow_nan=False))
    assert data["clock"]["value"] == {"mean": book.value, "error": played.value.error}
    assert data["clock"]["games"] == 40
    assert data["net"] == pytest.approx(data["value"] - data["cost"] * data["size"])
    for row in data["book"]:
        state = walk(matchup.game, row["history"])
        assert matchup.game.player(state) == 1
        assert state.left[0] == 2000  # the book has saved it all
        assert all(untimed(move)[1] == 0 for move in row["moves"])


def test_the_same_again_without_a_search(store: Path, prepared: Prepared) -> None:
    with open_matchup("chess-clock", SMALL, workers=1, store=store) as again:
        repeated = prepare(again, 1, 0.003)
        assert again.searches() == 0
    assert repeated.played == prepared.played
    assert repeated.response.value == prepared.response.value
    assert list(repeated.response.nodes) == list(prepared.response.nodes)


def command(store: Path, *words: object, more: Sequence[str] = ()) -> tuple[object, ...]:
    """The words of a command on the small matchup."""
    settings = [word for change in (*SMALL, *more) for word in ("--set", change)]
    return (words[0], "chess-clock", *words[1:], *settings, "--store", store, "--workers", 2)


@pytest.mark.parametrize("fresh", [False, True])
def test_an_interrupted_command_says_so_and_is_taken_up(
    fresh: bool,
    store: Path,
    prepared: Prepared,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ctrl-C among the playouts, or in the fresh games."""
    words = command(store, "prepare", "--side", "white", "--cost", 0.003, "--json")
    move = Playout._move

    def interrupted(playout: Playout[Any], distribution: Distribution) -> None:
        if not fresh or (playout.start.purpose == FRESH and playout.number == 39):
            patch.undo()
            signal.raise_signal(signal.SIGINT)
        move(playout, distribution)

    with monkeypatch.context() as patch:
        patch.setattr(Playout, "_move", interrupted)
        code, out, _ = preplay(capsys, *words, "--save", tmp_path / "run")
    cut = json.loads(out)
    assert (code, cut["ending"]) == (130, "interrupted")
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == cut
    assert cut["error"] > 0.05
    if not fresh:
        assert "clock" not in cut
    else:
        assert 0 < cut["clock"]["games"] < cut["clock"]["wanted"] == 40
    code, out, _ = preplay(capsys, *words, "--save", tmp_path / "run")
    whole = json.loads(out)
    assert (code, whole["ending"]) == (0, "complete")
    assert prepared.played is not None
    assert whole["clock"] == json.loads(json.dumps(plain(prepared.played)))
    assert (whole["value"], whole["upper"]) == (prepared.response.value, prepared.response.upper)
    _, out, _ = preplay(capsys, *words)
    assert json.loads(out) == whole


def test_a_book_that_the_games_speak_against_is_not_sold(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twenty half-moves without resignation are drawn, whatever was memorized."""
    more = ["resign=null", "value.games=12", "value.playouts=1", "length=12"]
    words = command(store, "prepare", "--side", "white", "--cost", 0.01, more=more)
    code, out, _ = preplay(capsys, *words)
    assert code == 0
    assert "The best book is empty: one of " in out
    assert "fresh games did not bear it out: +0 ± " in " ".join(out.split())
    assert "  with the book        0.5 ± " in out
    _, out, _ = preplay(capsys, *words, "--json")
    data = json.loads(out)
    assert (data["size"], data["book"], data["value"], data["net"]) == (0, [], 0.5, 0.5)
    assert data["refused"]["size"] > 0
    assert data["clock"]["gain"] == {"mean": 0.0, "error": 0.0}
    assert data["clock"]["value"]["error"] > 0.0


def test_without_time_the_guess_is_told_as_a_guess(
    store: Path, capsys: pytest.CaptureFixture[str], prepared: Prepared
) -> None:
    words = command(store, "prepare", "--side", "white", "--cost", 0.003, "--seconds", 0)
    code, out, _ = preplay(capsys, *words)
    assert code == 0
    assert "stopped by    seconds" in out
    assert "no fresh games       the values are first guesses" in out


def test_other_commands_call_a_guess_a_guess(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = preplay(capsys, *command(store, "equilibrium", "--cost", 0.05, "--json"))
    data = json.loads(out)
    assert code == 0
    assert data["lower"] <= 0.0
    assert data["upper"] >= 1.0
    assert data["sampling_error"] > 0.9
    assert data["lower"] < data["value"] < data["upper"]
    _, out, _ = preplay(capsys, *command(store, "equilibrium", "--cost", 0.05))
    assert "first guesses, no games were played" in out
    _, out, _ = preplay(capsys, *command(store, "frontier", "--side", "white", "--cost", 0.05))
    said = " ".join(out.split())
    assert "All values are first guesses, no games were played; `preplay prepare` plays them." in said
    words = command(store, "frontier", "--side", "white", "--cost", 0.05, "--json")
    _, out, _ = preplay(capsys, *words)
    assert json.loads(out)["guess"] is True


@pytest.fixture(scope="module")
def games(matchup: Matchup[Any], book: Book) -> list[PlayedGame]:
    return play_match(matchup, [Pairing(book)], 24, "rules", 5, stop=Stop())


def test_a_match_plays_the_book_in_no_time(
    matchup: Matchup[Any], book: Book, games: list[PlayedGame]
) -> None:
    assert isinstance(matchup.game, ClockedChess)
    assert len(games) == 24
    entries = {entry.history for entry in book.entries}
    assert any(game.depth > 0 for game in games)
    rules: Any = played_out(matchup.game, Settling())  # the model's length does not end them
    assert any(len(game.moves) > matchup.game.longest for game in games)
    for game in games:
        end = walk(rules, game.moves)
        assert rules.player(end) == FINAL
        assert game.score == rules.utility(end)
        mine = range(0, len(game.moves), 2)
        inside = [k for k in mine if game.moves[:k] in entries]
        assert len(inside) == game.depth
        assert all((untimed(game.moves[k])[1] == 0) == (k in inside) for k in mine)
        spent, theirs = thinking_times(matchup.game, game.moves)
        assert end.left == (max(0, 2000 - sum(spent)), max(0, 2000 - sum(theirs)))
        if game.depth and len(spent):
            assert spent[0] == 190  # the first move after the book has the whole clock


def test_saved_time_is_spent_at_the_board(
    matchup: Matchup[Any], book: Book, games: list[PlayedGame]
) -> None:
    """A prepared side that has played d moves from the book thinks as long as others d moves earlier."""
    assert isinstance(matchup.game, ClockedChess)
    control = play_match(matchup, [Pairing(book)], 12, "rules", 5, control=True, stop=Stop())
    assert all(game.depth == 0 for game in control)
    usual = max((thinking_times(matchup.game, game.moves)[0] for game in control), key=len)
    assert usual[-1] < usual[0]
    for game in games:
        thoughts, _ = thinking_times(matchup.game, game.moves)
        assert thoughts[: len(usual)] == usual[: len(thoughts)]
        assert game.depth + len(thoughts) == (len(game.moves) + 1) // 2


def test_games_are_written_down_with_their_times(matchup: Matchup[Any], games: list[PlayedGame]) -> None:
    for game in games:
        text = pgn_of(game, Heading("a match"))
        read = chess.pgn.read_game(io.StringIO(text))
        assert read is not None
        assert not read.errors
        moves = [move.uci() for move in read.mainline_moves()]
        plain = [untimed(name)[0] for name in game.moves]
        finished = game.reason not in ("resignation", "time forfeit")
        assert moves == (plain if finished else plain[:-1])
        assert read.headers["Ending"] == game.reason
        on_time = game.reason == "time forfeit"
        assert read.headers["Termination"] == ("time forfeit" if on_time else "normal")
    with pytest.raises(InputError, match="expected rules"):
        play_match(matchup, [], 1, "model", 0, stop=Stop())


def test_a_clocked_book_is_exported_as_plain_moves(book: Book) -> None:
    text = csv_text(book)
    assert "@" not in text
    assert len(text.splitlines()) == book.size + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("clock.bugdet=1", "unknown key 'clock.bugdet'; did you mean 'budget'?"),
        ("clock.budget=0", "clock.budget = 0; expected a number of at least 1"),
        ("clock.unit=plies", "clock.unit"),
        ("white.share=2", "white.share = 2"),
        ("value.delta=0", "value.delta = 0"),
        ("white.nodes=10", "unknown key 'white.nodes'"),
        ("clock.grid=1", "clock.grid = 1"),
    ],
)
def test_mistakes_are_told(change: str, message: str, store: Path) -> None:
    with pytest.raises(InputError) as error, open_matchup("chess-clock", [change], store=store):
        pass
    assert message in str(error.value)


def test_milliseconds_and_increments(store: Path) -> None:
    changes = ["clock.unit=milliseconds", "clock.budget=1000", "clock.increment=20", "clock.least=1"]
    with open_matchup("chess-clock", [*changes, "black.budget=500"], workers=1, store=store) as matchup:
        root = matchup.game.root()
        (base,) = matchup.base[0].distributions([root])
        ((_, spent),) = {(None, untimed(name)[1]) for name in base}
        assert 50 <= spent <= 65  # 0.05 * 1000 + 0.75 * 20, rounded down
        state = matchup.game.next(root, next(iter(base)))
        assert state.left == (1000 - spent + 20, 500)


def test_the_uci_engine_saves_time_by_its_book_and_spends_it_later(stockfish: str) -> None:
    """Under a real clock a book move takes next to nothing, and the rest is there for the base engine."""
    lines = [
        ((), "e2e4"),
        (("e2e4", "e7e5@700"), "g1f3"),
        (("e2e4", "e7e5@700", "g1f3", "b8c6@665"), "f1b5"),
    ]
    entries = tuple(Entry(history, {move: 1.0}, 1.0, 0.01, 0.5) for history, move in lines)
    book = Book(1, entries, 0.5, 0.53, 0.01, 0.6)
    played: list[str] = []
    left, taken = 4000, []
    with Talk(book_lookup(book), stockfish) as talk:
        talk.send("uci", "isready")
        talk.until("readyok")
        for reply in ("e7e5", "b8c6", "a7a6", ""):
            talk.send(f"position startpos moves {' '.join(played)}" if played else "position startpos")
            before = time.monotonic()
            talk.send(f"go wtime {left} btime 4000 winc 0 binc 0")
            best = talk.until("bestmove")[-1].split()[1]
            taken.append(round(1000 * (time.monotonic() - before)))
            left -= taken[-1]
            played += [best, reply]
    assert played[:5:2] == ["e2e4", "g1f3", "f1b5"]
    chess.Board().variation_san([chess.Move.from_uci(m) for m in played[:6]])
    assert sum(taken[:3]) < taken[3]  # three book moves together took less than one of the engine's
    assert left + taken[3] > 3500
