"""Books that choose their moves, from the command line: flags, JSON, what is printed and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import preplay

from preplay import book as books
from preplay import tree as trees

PREPARE = ("prepare", "--side", "1", "--cost", "0.01")


def edge(base: float, prep: float, to: dict[str, Any], menu: bool = False) -> dict[str, Any]:
    return {"base": base, "prep": prep, "to": to} | ({"menu": True} if menu else {})


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """The first choice keeps 0.6; the second one wins if the likely reply comes."""
    sound = {"player": 2, "actions": {"any": edge(1, 1, {"utility": 0.6})}}
    replies = {"natural": edge(0.7, 0, {"utility": 1}), "best": edge(0.3, 1, {"utility": 0.5})}
    tricky = {"player": 2, "actions": replies}
    root = {"player": 1, "actions": {"a": edge(1, 1, sound, True), "b": edge(0, 0, tricky, True)}}
    path = tmp_path / "trap.json"
    path.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    return path


def test_the_trap_in_json_and_kept(
    capsys: pytest.CaptureFixture[str], trap: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    _, out, _ = preplay(capsys, *PREPARE, trap, "--save", folder, "--json")
    data = json.loads(out)
    assert (data["net"], data["upper"]) == (pytest.approx(0.84), pytest.approx(0.84))
    assert data["fixed"] == {"value": 0.6, "net": 0.6, "size": 0, "ending": "complete", "played": False}
    (entry,) = data["book"]
    decision = entry["decision"]
    assert [option["move"] for option in decision["options"]] == ["a", "b"]
    assert decision["played"] == 1
    assert decision["hoped"] == {"reply": "natural", "probability": 0.7, "worth": pytest.approx(1.0)}
    kept = books.load(folder / "book.json")
    assert kept.entries[0].deviates
    assert trees.load(folder / "tree.npz").choice is None  # the moves are fixed
    assert preplay(capsys, "export", folder, "--json", tmp_path / "book.json", "--quiet")[0] == 0
    assert preplay(capsys, "report", folder, "-o", tmp_path / "page.html")[0] == 0
    assert "A book of first choices alone: value 0.6, net 0.6" in (tmp_path / "page.html").read_text()


def test_what_is_printed(capsys: pytest.CaptureFixture[str], trap: Path) -> None:
    _, told, _ = preplay(capsys, *PREPARE, trap)
    assert "(start): b is worth 0.8400 from here, a 0.5900" in told
    assert "it hopes for natural (70%), then 1.0000" in told
    assert "first choices alone  value 0.6, net 0.6, nothing memorized" in told
    assert "a 0.5900: +0.25000 a game" in " ".join(told.split())
    _, told, _ = preplay(capsys, *PREPARE, trap, "--lines", "0")
    assert "... and 1 more (--lines N or --json for all)" in told.partition("Other moves")[2]
    _, told, _ = preplay(capsys, "frontier", "--side", "1", "--cost", "0.01", trap)
    assert "(start): b is worth 0.8400 from here, a 0.5900" in told
    assert "1  (start): b" in told  # the move beside the line to learn
    _, told, _ = preplay(capsys, "frontier", "--side", "1", "--cost", "0.01", "--deviations", "0", trap)
    assert "Nothing is worth learning" in told


def test_what_was_cut_short_is_told_as_what_it_was(
    capsys: pytest.CaptureFixture[str], trap: Path
) -> None:
    """No games are played for exact values, whatever the tree with its moves fixed looks like."""
    seen = set()
    for most in range(1, 8):
        _, told, _ = preplay(capsys, *PREPARE, trap, "--histories", str(most))
        assert "games stopped by" not in told
        seen.add("growth stopped by" in told)
    assert seen == {True, False}


def test_deviations_0_is_the_book_that_plays_prep(
    capsys: pytest.CaptureFixture[str], trap: Path, tmp_path: Path
) -> None:
    plain = json.loads(trap.read_text())
    for action in plain["root"]["actions"].values():
        del action["menu"]
    fixed = tmp_path / "fixed.json"
    fixed.write_text(json.dumps(plain))
    one = preplay(capsys, *PREPARE, trap, "--deviations", "0", "--json")
    assert one == preplay(capsys, *PREPARE, fixed, "--json")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--choose", "3"), "a tabular game has its menus in its file"),
        (("--deviations", "-1"), "--deviations -1; expected a number of at least 0"),
        (("--set", "deviations=x"), "deviations"),
        (
            ("--deviations", "1", "--set", "deviations=2"),
            "--deviations 1 and --set deviations=2; expected one of the two",
        ),
    ],
)
def test_mistakes(
    capsys: pytest.CaptureFixture[str], trap: Path, flags: tuple[str, ...], told: str
) -> None:
    code, _, err = preplay(capsys, *PREPARE, trap, *flags)
    assert code in (1, 2)
    assert told in err


def test_a_matchup_file_of_a_tabular_game_takes_the_same_options(
    capsys: pytest.CaptureFixture[str], trap: Path
) -> None:
    file = trap.with_suffix(".toml")
    file.write_text(f'kind = "tabular"\nfile = "{trap.name}"\n')
    found = preplay(capsys, *PREPARE, file, "--deviations", "0", "--json")
    assert found[0] == 0
    assert found == preplay(capsys, *PREPARE, trap, "--deviations", "0", "--json")
    assert "has its menus in its file" in preplay(capsys, *PREPARE, file, "--choose", "2")[2]


def test_options_of_other_games_are_named_as_they_were_given(capsys: pytest.CaptureFixture[str]) -> None:
    for flags, told in (
        (("--choose", "2"), "--choose 2: synthetic games have no menus; expected another kind"),
        (("--rival", "a.json"), "--rival a.json: plays chess; expected a chess matchup, not 'synthetic'"),
    ):
        assert preplay(capsys, *PREPARE, "synthetic", *flags) == (1, "", f"preplay: {told}\n")


def test_openspiel_offers_the_best_actions_of_its_search(capsys: pytest.CaptureFixture[str]) -> None:
    common = (*PREPARE, "tic-tac-toe", "--cost", "0.03", "--json", "--quiet")
    fixed = json.loads(preplay(capsys, *common)[1])
    freer = json.loads(preplay(capsys, *common, "--choose", "3", "--deviations", "1")[1])
    assert freer["net"] >= fixed["net"] - 1e-12
    assert freer["ending"] == "complete"
    assert freer["upper"] == pytest.approx(freer["net"], abs=1e-9)


def test_every_file_of_a_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("tic-tac-toe", "--side", 1, "--choose", 2, "--margin", 0.5, "--set", "prep.depth=2")
    pytest.importorskip("pyspiel")
    for name, price in (("priced", ("--cost", 0.2)), ("counted", ("--budget", 1))):
        run = tmp_path / name
        code, out, _ = preplay(capsys, "prepare", *words, *price, "--deviations", 2, "--save", run)
        assert code == 0
        named = out.partition("Kept in ")[2].replace(",", " ").split()[1:]
        assert sorted(named) == sorted(path.name for path in run.iterdir())
        assert any(file.startswith("deviations-1") for file in named)
