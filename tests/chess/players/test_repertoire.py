"""Lines of one's own: what may be played, what never, and what is known already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import preplay

from preplay.chess.books.lines import position_key
from preplay.chess.engines.analysis import Analysis, EngineSpec, Limit, Line, SearchRequest
from preplay.chess.players.play import Search
from preplay.chess.players.repertoire import KnownGame, RepertoirePlay, read_repertoire
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
        ("", "no move of White"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.pgn"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_repertoire(path, 1)
    with pytest.raises(InputError, match="cannot read"):
        read_repertoire(tmp_path / "none.pgn", 1)


class Fixed:
    """An analyst that always likes d4, then e4, then c4."""

    def analyse(self, requests: list[SearchRequest]) -> list[Analysis]:
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
    assert policy.menus([two]) == [(("d2d4", 30.0), ("f1c4", 9.0))]  # one that the engine did not score
    beyond = walk(game, ("d2d4", "d7d5"))
    assert [o.action for o in policy.menus([beyond])[0]] == ["d2d4", "e2e4", "c2c4"]


def test_the_last_move_of_an_avoided_line_is_never_played(tmp_path: Path) -> None:
    lines = tmp_path / "never.pgn"
    lines.write_text("1. d4 d5 *\n\n1. e4 e5 2. Nf3 *\n")
    root = ChessGame().root()
    assert play(None, lines, 1).menus([root]) == [(("e2e4", 25.0),)]
    lines.write_text("1. d4 *\n\n1. e4 *\n\n1. c4 *\n")
    with pytest.raises(InputError, match="every move is avoided"):
        play(None, lines).menus([root])


def test_known_positions_play_themselves(italian: Path) -> None:
    known = KnownGame(ChessGame(), 1, read_repertoire(italian, 1))
    root = known.root()
    assert known.player(root) == CHANCE
    assert known.chance(root) == {"e2e4": 1.0}
    after = walk(ChessGame(), ("e2e4", "e7e5", "g1f3", "b8c6"))
    assert known.chance(after) == {"f1c4": 0.5, "d2d4": 0.5}
    assert known.player(known.next(root, "e2e4")) == 2
    assert known.player(walk(ChessGame(), ("d2d4", "d7d5"))) == 1


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
    losses = [r["reach"] * (r["value"] - r["worth"]) for r in data["repairs"]]
    assert losses == sorted(losses, reverse=True)
    for flag in ("--repertoire", "--avoid"):
        code, out, err = preplay(capsys, *common, flag, italian)
        assert code == 0, err
        first = [entry["moves"] for entry in json.loads(out)["book"] if not entry["history"]]
        assert first in ([], [{"f2f3": 1.0}]) if flag == "--repertoire" else first != [{"f2f3": 1.0}]
    italian.write_text("1. e4 *\n")
    code, _, err = preplay(capsys, *common, "--extend", italian, "--save", tmp_path / "run")
    assert code == 1
    assert "another" in err or "changed" in err
    code, _, err = preplay(capsys, "prepare", "synthetic", "--side", "1", "--avoid", italian)
    assert (code, "expected a chess matchup" in err) == (1, True)
