"""Lines of one's own: what may be played, what never, and what is known already."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import chess
import pytest
from commandline import preplay

from preplay.chess.books.lines import position_key
from preplay.chess.books.lookup import Played, open_book
from preplay.chess.engines.analysis import Analysis, EngineSpec, Limit, Line, SearchRequest
from preplay.chess.players.play import EngineMenus, EnginePolicy, Search
from preplay.chess.players.repertoire import (
    KnownGame,
    RepertoirePlay,
    check_playable,
    read_repertoire,
)
from preplay.chess.rules import ChessGame
from preplay.errors import InputError
from preplay.game import CHANCE, walk

ITALIAN = "1. e4 e5 (1... c5 2. c3) 2. Nf3 Nc6 3. Bc4 (3. d4) *\n"


@pytest.fixture
def italian(tmp_path: Path) -> Path:
    path = tmp_path / "mine.pgn"
    path.write_text(ITALIAN)
    return path


def test_every_line_is_read_variations_too(italian: Path) -> None:
    mine, game = read_repertoire(italian, 1), ChessGame()

    def key(*moves: str) -> object:
        return position_key(walk(game, moves).board)

    assert mine.played[key()] == ("e2e4",)
    assert mine.played[key("e2e4", "c7c5")] == ("c2c3",)
    assert mine.played[key("e2e4", "e7e5", "g1f3", "b8c6")] == ("f1c4", "d2d4")
    assert mine.ending[key("e2e4", "e7e5", "g1f3", "b8c6")] == ("f1c4", "d2d4")
    assert key() not in mine.ending
    theirs = read_repertoire(italian, 2)
    assert theirs.played[key("e2e4")] == ("e7e5", "c7c5")
    assert theirs.ending[key("e2e4")] == ("c7c5",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1. e4 e5 2. Ke3 *", "game 1: illegal san"),
        ("1. e4 *\n\n1. d4 -- 2. c4 *", "bad.pgn: game 2: a null move in"),
        ("1. e4 e5 2. Nf9 Nc6 *", "game 1: 'Nf9' is no move; expected moves"),
        ("1. e4 e5 {fine} 2. nonsense Nf3 *", "game 1: 'nonsense' is no move"),
        ('[Variant "Chess960"]\n\n1. e4 *', "game 1: Variant 'Chess960'; expected standard chess"),
        ('[Variant "Crazyhouse"]\n\n1. e4 *', "game 1: Variant 'Crazyhouse'; expected standard chess"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "game 1: starts from '8/8/8/8/8/8/8/8 w - - 0 1'"),
        ("", "no move of White in it; expected PGN with lines to play"),
        (
            "\x7fELF\x02\x01\0\0",
            r"bad.pgn: not PGN text \(control character 0x7f in line 1\); expected PGN",
        ),
        ("(1. e4) 1. d4 ))( *", "game 1: brackets that do not match; expected lines"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.pgn"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        read_repertoire(path, 1)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="cannot read"):
        read_repertoire(tmp_path / "none.pgn", 1)


def test_what_people_write_between_moves_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.pgn"
    path.write_text(
        '[Event "a {"]\n\n1.e4! e5?! {a note\n[%csl Ge4] N} (1...d5 2. e5 f5 3. exf6 e.p.) 2.Nf3 += ; D\n'
        "%escaped words\nNc6 3. Bc4 Bc5 4. O-O 1/2-1/2\n"
    )
    assert sum(map(len, read_repertoire(path, 1).played.values())) == 6


def test_lines_of_chess960(tmp_path: Path) -> None:
    path, castling = tmp_path / "mine.pgn", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    path.write_text(f'[FEN "{castling}"]\n\n1. O-O *\n')
    assert set(read_repertoire(path, 1).played.values()) == {("e1g1",)}
    assert set(read_repertoire(path, 1, chess960=True).played.values()) == {("e1h1",)}
    path.write_text(f'[Variant "Chess960"]\n[FEN "{castling}"]\n\n1. O-O *\n')
    assert set(read_repertoire(path, 1, chess960=True).by_board) == {"4k3/8/8/8/8/8/8/4K2R w K -"}


def test_a_repertoire_with_nothing_but_what_is_avoided(italian: Path) -> None:
    mine = read_repertoire(italian, 1)
    with pytest.raises(
        InputError, match=r"^after 1\. e4 e5 2\. Nf3 Nc6 every move of the repertoire \(Bc4, d4\) is also"
    ):
        check_playable(mine, mine)
    italian.write_text("1. e4 *\n")
    short = read_repertoire(italian, 1)
    with pytest.raises(InputError, match=r"^at the start every move of the repertoire \(e4\)"):
        check_playable(short, short)
    italian.write_text("1. e4 e5 2. Nf3 Nc6 3. d4 *\n")
    check_playable(mine, read_repertoire(italian, 1))


class Fixed:
    """An analyst that always likes d4, then e4, then c4, and remembers how many moves it was to score."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def prefetch(self, requests: list[SearchRequest]) -> None:
        self.asked += [request.multipv for request in requests]

    cancel = prefetch

    def analyse(self, requests: list[SearchRequest]) -> list[Analysis]:
        self.prefetch(requests)
        lines = tuple(Line(m, s, 9) for m, s in (("d2d4", 30), ("e2e4", 25), ("c2c4", 10)))
        return [Analysis(lines, "d2d4", 100) for _ in requests]


def play(only: Path | None, avoided: Path | None, most: int = 3) -> RepertoirePlay:
    search = Search(EngineSpec.of("engine"), Limit(nodes=100), 3)
    read = [None if path is None else read_repertoire(path, 1) for path in (only, avoided)]
    return RepertoirePlay(Fixed(), search, most, 40.0, *read)  # type: ignore[arg-type]


def test_the_repertoire_is_the_menu_where_it_has_moves(italian: Path) -> None:
    root, game = ChessGame().root(), ChessGame()
    policy = play(italian, None)
    assert policy.menus([root]) == [(("e2e4", 25.0),)]
    assert policy.distributions([root]) == [{"e2e4": 1.0}]
    two = walk(game, ("e2e4", "e7e5", "g1f3", "b8c6"))
    assert policy.menus([two]) == [(("d2d4", 30.0), ("f1c4", None))]  # one that the engine did not score
    beyond = walk(game, ("d2d4", "d7d5"))
    assert [o.action for o in policy.menus([beyond])[0]] == ["d2d4", "e2e4", "c2c4"]


def test_the_last_move_of_an_avoided_line_is_never_played(tmp_path: Path) -> None:
    lines = tmp_path / "never.pgn"
    lines.write_text("1. d4 d5 *\n\n1. e4 e5 2. Nf3 *\n")
    root = ChessGame().root()
    assert play(None, lines, 1).menus([root]) == [(("e2e4", 25.0),)]
    lines.write_text("1. d4 *\n\n1. e4 *\n\n1. c4 *\n")
    with pytest.raises(InputError, match="at the start every move is to be avoided"):
        play(None, lines).menus([root])


def test_searches_are_wider_only_where_a_move_is_avoided(tmp_path: Path) -> None:
    """Everywhere else, and for everybody who asks, the question is the one without lines to avoid."""
    lines = tmp_path / "never.pgn"
    lines.write_text("1. d4 *\n\n1. a3 *\n\n1. e4 e5 2. Nf3 *\n")
    states = [walk(ChessGame(), moves) for moves in ((), ("e2e4", "e7e5"), ("e2e4", "c7c5"))]
    analyst, policy = Fixed(), play(None, lines)
    policy = replace(policy, analyst=analyst)  # type: ignore[arg-type]
    for ask in (policy.prefetch, policy.cancel, policy.menus, policy.distributions, policy.scores):
        analyst.asked.clear()
        ask(states)
        assert analyst.asked == [5, 4, 3]


@pytest.mark.parametrize("randomness", [0.0, 20.0])
def test_where_nothing_is_avoided_the_engine_plays_as_ever(tmp_path: Path, randomness: float) -> None:
    lines = tmp_path / "never.pgn"
    lines.write_text("1. d4 *\n")
    policy = replace(play(None, lines), randomness=randomness)
    root, after = ChessGame().root(), walk(ChessGame(), ("e2e4", "c7c5"))
    plain = EnginePolicy(policy.analyst, policy.search, randomness)
    assert policy.distributions([after]) == plain.distributions([after])
    menus = EngineMenus(policy.analyst, policy.search, policy.most, policy.margin)
    assert policy.menus([after]) == menus.menus([after])
    (there,) = policy.distributions([root])
    assert list(there) == (["e2e4", "c2c4"] if randomness else ["e2e4"])
    assert sum(there.values()) == pytest.approx(1.0)


def test_known_positions_play_themselves(italian: Path) -> None:
    known = KnownGame(ChessGame(), 1, read_repertoire(italian, 1))
    root = known.root()
    assert known.player(root) == CHANCE
    assert known.chance(root) == {"e2e4": 1.0}
    after = walk(ChessGame(), ("e2e4", "e7e5", "g1f3", "b8c6"))
    assert known.chance(after) == {"f1c4": 0.5, "d2d4": 0.5}
    assert known.player(known.next(root, "e2e4")) == 2
    assert known.player(walk(ChessGame(), ("d2d4", "d7d5"))) == 1
    both = KnownGame(KnownGame(ChessGame(), 2, read_repertoire(italian, 2)), 1, known.known)
    assert both.rules == known.rules == ChessGame()
    assert both.chance(root) == {"e2e4": 1.0}
    open_game = both.next(root, "e2e4")
    assert both.player(open_game) == CHANCE
    assert set(both.chance(open_game)) == set(
        read_repertoire(italian, 2).played[position_key(open_game.board)]
    )


def test_known_moves_that_are_avoided_are_not_played(italian: Path, tmp_path: Path) -> None:
    avoid = tmp_path / "avoid.pgn"
    avoid.write_text("1. e4 e5 2. Nf3 Nc6 3. d4 *\n")
    left = read_repertoire(italian, 1).without(read_repertoire(avoid, 1))
    after = walk(ChessGame(), ("e2e4", "e7e5", "g1f3", "b8c6"))
    assert left.played[position_key(after.board)] == ("f1c4",)
    avoid.write_text("1. e4 *\n")
    with pytest.raises(InputError, match=r"at the start every move of the repertoire \(e4\)"):
        read_repertoire(italian, 1).without(read_repertoire(avoid, 1))


def test_commands_with_lines_of_ones_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, italian: Path
) -> None:
    settings = ["white.nodes=200", "black.nodes=200", "black.randomness=40", "prep.nodes=500"]
    settings += ["value.model=linear", "judge=false"]
    common = ["prepare", "chess", "--side", "white", "--cost", "0.03", "--json", "--quiet"]
    common += ["--store", str(tmp_path / "store.sqlite")]
    for setting in settings:
        common += ["--set", setting]
    italian.write_text("1. f3 e5 2. g4 *\n")  # lines to repair
    code, out, err = preplay(capsys, *common, "--extend", italian, "--save", tmp_path / "run")
    assert code == 0, err
    data = json.loads(out)
    assert all(entry["history"][0] == "f2f3" for entry in data["book"])
    assert data["repairs"][0]["moves"] in (["f2f3"], ["g2g4"])
    board = open_book(str(tmp_path / "run"))  # what is known is played too, and needs the file no more
    hit = board.find(Played(board.start, (), chess.Board()))
    assert hit is not None
    assert hit.known
    assert [move.uci() for move in hit.moves] == ["f2f3"]
    losses = [r["reach"] * (r["value"] - r["worth"]) for r in data["repairs"]]
    assert losses == sorted(losses, reverse=True)
    for flag in ("--repertoire", "--avoid"):
        code, out, err = preplay(capsys, *common, flag, italian)
        assert code == 0, err
        assert ("fixed" in json.loads(out)) == (flag == "--repertoire")  # what is left has no choice
        first = [entry["moves"] for entry in json.loads(out)["book"] if not entry["history"]]
        assert first in ([], [{"f2f3": 1.0}]) if flag == "--repertoire" else first != [{"f2f3": 1.0}]
    italian.write_text("1. e4 *\n")
    code, _, err = preplay(capsys, *common, "--extend", italian, "--save", tmp_path / "run")
    assert code == 1
    assert "another" in err or "changed" in err
    code, _, err = preplay(capsys, "prepare", "synthetic", "--side", "1", "--avoid", italian)
    assert (code, "expected a chess matchup" in err) == (1, True)
