"""Preparing with real Stockfish: the same answer every time, and nothing computed twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from preplay.errors import EngineError, InputError
from preplay.growth import Limits
from preplay.matchup import open_matchup
from preplay.preparation import book_of, prepare

pytestmark = pytest.mark.usefixtures("stockfish")

SMALL = (
    "white.nodes=300",
    "black.nodes=300",
    "prep.nodes=1500",
    "black.randomness=5",
    "white.randomness=5",
    "value.model=linear",
)


def command(store: Path, *more: str) -> list[str]:
    sets = [part for change in (*SMALL, "judge.nodes=3000") for part in ("--set", change)]
    return [sys.executable, "-c", "from preplay.cli import main; main()", "prepare", "chess", *sets,
            "--side", "white", "--cost", "0.008", "--store", str(store), "--json", *more]  # fmt: skip


def run(store: Path, *more: str) -> dict[str, object]:
    done = subprocess.run(command(store, *more), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def saved_by_one(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], Path]:
    """What one worker finds, and the run that keeps it."""
    place = tmp_path_factory.mktemp("one")
    return run(place / "s.sqlite", "--workers", "1", "--save", str(place / "run")), place / "run"


@pytest.fixture(scope="module")
def one_worker(saved_by_one: tuple[dict[str, object], Path]) -> dict[str, object]:
    return saved_by_one[0]


def test_a_book_that_gains(one_worker: dict[str, Any]) -> None:
    assert one_worker["side"] == "white"
    assert one_worker["value"] > one_worker["baseline"]
    assert one_worker["net"] == pytest.approx(one_worker["upper"], abs=1e-6)
    book = one_worker["book"]
    assert isinstance(book, list)
    assert len(book) == one_worker["size"] > 3
    assert book[0]["history"] == []
    assert all(len(entry["moves"]) == 1 for entry in book)
    judged = one_worker["judged"]
    assert isinstance(judged, dict)
    assert judged["rounds"] >= 1
    assert judged["searches"] > len(book)
    assert judged["after"] == one_worker["value"]
    assert 0.0 < judged["fresh"] < 1.0
    assert abs(judged["after"] - judged["fresh"]) <= judged["error"] == one_worker["error"]


def test_doubt_holds_against_the_judges_values_everywhere(
    one_worker: dict[str, Any], tmp_path: Path
) -> None:
    """Doubted by half a point, the rounds find the best book by the judge's values: by all of them."""
    store, judging = tmp_path / "s.sqlite", ("judge.nodes=5000", "judge.multipv=1")
    with open_matchup("chess", (*SMALL, *judging, "judge.doubt=0.5"), store=store) as matchup:
        assert matchup.config["judge"]["doubt"] == 0.5
        doubted = prepare(matchup, 1, 0.004)
        assert matchup.judge is not None
        everywhere = replace(matchup, value=matchup.judge.value, judge=None)
        best = prepare(everywhere, 1, 0.004)
    assert doubted.response.net == pytest.approx(best.response.net, abs=1e-9)
    assert doubted.response.net >= one_worker["net"] - 1e-9
    with open_matchup("chess", (*SMALL, *judging), store=store) as matchup:
        assert "doubt" not in matchup.config["judge"]  # runs made before there was any go on


def test_two_workers_give_the_same_book_byte_for_byte(
    saved_by_one: tuple[dict[str, object], Path], one_worker: dict[str, object], tmp_path: Path
) -> None:
    """And whether it is kept makes no difference."""
    time.sleep(1.0)  # the other is made in another second
    two = run(tmp_path / "s.sqlite", "--workers", "2", "--save", str(tmp_path / "run"))
    assert json.dumps(two) == json.dumps(one_worker)
    for name in ("book.json", "result.json", "tree.npz"):
        assert (tmp_path / "run" / name).read_bytes() == (saved_by_one[1] / name).read_bytes()
    assert json.dumps(run(tmp_path / "s.sqlite")) == json.dumps(one_worker)  # from what is stored


def test_killed_half_way_and_resumed_it_is_the_same_book(
    one_worker: dict[str, object], tmp_path: Path
) -> None:
    store, save = tmp_path / "s.sqlite", tmp_path / "run"
    process = subprocess.Popen(
        command(store, "--save", str(save), "--workers", "1"),
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    end = time.monotonic() + 200
    while not store.exists() or store.stat().st_size + _wal(store) < 40_000:
        assert time.monotonic() < end
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    again = run(store, "--save", str(save), "--workers", "2")
    assert again["book"] == one_worker["book"]
    assert again["net"] == one_worker["net"]
    assert run(store, "--save", str(save))["book"] == one_worker["book"]


def _wal(store: Path) -> int:
    wal = store.with_name(store.name + "-wal")
    return wal.stat().st_size if wal.exists() else 0


def test_what_is_stored_is_not_searched_again(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with open_matchup("chess", SMALL, store=store) as matchup:
        first = prepare(matchup, 1, 0.02)
        assert matchup.searches() > 10
        assert len(book_of(matchup, first).entries) == first.response.size
    with open_matchup("chess", SMALL, store=store) as matchup:
        again = prepare(matchup, 1, 0.02)
        assert matchup.searches() == 0
        assert again.response.net == first.response.net
    changed = (*SMALL, "value.model=logistic")
    with open_matchup("chess", changed, store=store) as matchup:
        prepare(matchup, 1, 0.05)  # another value model: only positions not met before are searched
        assert matchup.searches() < 30


def test_prep_and_value_share_one_search_and_opponents_are_not_valued(tmp_path: Path) -> None:
    with open_matchup("chess", (*SMALL, "judge=false"), store=tmp_path / "s.sqlite") as matchup:
        done = prepare(matchup, 1, 0.02)
        tree = done.tree
        own = int((tree.player == 1).sum())
        asked_about_black = done.grown.questions - done.grown.values
        assert matchup.searches() <= done.grown.values + asked_about_black
        assert own <= done.grown.values
        assert bool((tree.value[(tree.player == 2)] != tree.value[(tree.player == 2)]).all())  # NaN


def test_a_budget_alone_finds_its_price(tmp_path: Path) -> None:
    with open_matchup("chess", SMALL, store=tmp_path / "s.sqlite") as matchup:
        best = prepare(matchup, 1, None, 4, Limits()).response
        assert 0 < best.size <= 4
        assert best.value <= best.upper <= best.value + 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("black.randomnes=10",), "did you mean 'randomness'"),
        (("white.engine=no-such-engine",), "no-such-engine"),
        (("prep.nodes=0",), "prep.nodes = 0"),
        (("start.fen=nonsense",), "expected a FEN"),
        (("value.model=guess",), "value.model"),
        (("black.randomness=-1",), "black.randomness = -1"),
        (("white.options.Skil=3",), "Skil"),
        (("colour=1",), "unknown key 'colour'"),
        (("judge.nods=5",), "did you mean 'nodes'"),
        (("judge.nodes=0",), "judge.nodes = 0"),
        (("judge.doubt=0.6",), "judge.doubt = 0.6"),
        (("value.model=rollouts", "judge.nodes=5"), "expected judge = false"),
    ],
)
def test_mistakes_get_one_clear_line(changes: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with (
        pytest.raises((InputError, EngineError), match=message) as error,
        open_matchup("chess", changes, store=tmp_path / "s.sqlite") as matchup,
    ):
        prepare(matchup, 1, 0.1)
    assert "\n" not in str(error.value)


def test_judges_look_further_than_the_values_search(tmp_path: Path) -> None:
    def limits(*changes: str) -> list[str]:
        with open_matchup("chess", (*SMALL, *changes), workers=1, store=tmp_path / "s.sqlite") as matchup:
            if matchup.judge is None:
                return []
            return [str(e.search.limit) for e in (matchup.judge.value, matchup.judge.fresh)]  # type: ignore[attr-defined]

    assert limits() == ["15000 nodes", "30000 nodes"]
    assert limits("judge.nodes=700") == ["700 nodes", "1400 nodes"]
    assert limits("judge.milliseconds=9", "judge.fresh.depth=5") == ["9 ms", "5 depth"]
    assert limits("value.depth=6") == ["10 depth", "11 depth"]
    assert limits("judge=false") == limits("value.model=rollouts") == []
    assert limits("judge=false", "judge.nodes=5") == ["5 nodes", "10 nodes"]


def test_the_papers_experiment_is_the_papers(tmp_path: Path) -> None:
    """Neither a judge nor calibration, unless asked for; plain chess has both."""
    store = tmp_path / "s.sqlite"
    with open_matchup("chess-paper", workers=1, store=store) as paper:
        assert (paper.judge, paper.calibration, paper.scores) == (None, None, "model")
    with open_matchup("chess-paper", ("judge.milliseconds=100",), workers=1, store=store) as asked:
        assert asked.judge is not None
    with open_matchup("chess", workers=1, store=store) as plain:
        assert plain.judge is not None
        assert plain.calibration is not None
        assert plain.scores == "results"
    with open_matchup("chess", ("judge=false", "value.model=linear"), workers=1, store=store) as before:
        assert (before.judge, before.calibration, before.scores) == (None, None, "model")


def test_other_starts_and_chess960(tmp_path: Path) -> None:
    changes = (*SMALL, 'start.moves=["e4", "c5"]')
    with open_matchup("chess", changes, store=tmp_path / "s.sqlite") as matchup:
        book = book_of(matchup, prepare(matchup, 1, 0.05))
        assert book.start.startswith("rnbqkbnr/pp1ppppp/8/2p5/4P3")
        assert matchup.write_line(("g1f3",)) == "2. Nf3"
    fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    free = (*SMALL, f"start.fen={fen}", "chess960=true")
    with open_matchup("chess", free, store=tmp_path / "s.sqlite") as matchup:
        assert prepare(matchup, 2, 0.05).response.upper > 0.0


CHOOSING = (*SMALL, "prep.choose=3", "prep.margin=40", "prep.deviations=1", "prep.nodes=400")


def choosing(store: Path, avoid: Path | None, *more: str) -> dict[str, Any]:
    """What a book that chooses its moves is, byte for byte, but for what it was asked."""
    sets = [part for change in (*CHOOSING, "judge.nodes=3000") for part in ("--set", change)]
    never = () if avoid is None else ("--avoid", str(avoid))
    run_in = store.with_suffix(".run")
    done = subprocess.run(
        [sys.executable, "-c", "from preplay.cli import main; main()", "prepare", "chess", *sets, *never,
         "--side", "white", "--cost", "0.02", "--store", str(store), "--save", str(run_in), *more],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    book = json.loads((run_in / "book.json").read_text())
    del book["provenance"]
    files = {name: (run_in / name).read_bytes() for name in ("result.json", "tree.npz")}
    return {**files, "book": book}


@pytest.fixture(scope="module")
def nothing_avoided(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return choosing(tmp_path_factory.mktemp("avoid") / "s.sqlite", None)


def test_an_avoided_line_that_is_never_met_changes_nothing(
    nothing_avoided: dict[str, Any], tmp_path: Path
) -> None:
    rare = tmp_path / "rare.pgn"
    rare.write_text("1. Nh3 h6 2. Ng1 h5 3. a3 (3. d4) (3. e4) *\n")
    assert nothing_avoided["book"]["entries"]
    assert choosing(tmp_path / "s.sqlite", rare) == nothing_avoided


def test_an_avoided_move_that_is_met_is_not_played(
    nothing_avoided: dict[str, Any], tmp_path: Path
) -> None:
    """With any number of workers the same."""
    (first,) = nothing_avoided["book"]["entries"][0]["moves"]
    never = tmp_path / "never.pgn"
    never.write_text(f"1. {chess.Board().san(chess.Move.from_uci(first))} *\n")
    one = choosing(tmp_path / "1.sqlite", never, "--workers", "1")
    two = choosing(tmp_path / "2.sqlite", never, "--workers", "2")
    assert one == two
    moves = [move for entry in one["book"]["entries"] if not entry["history"] for move in entry["moves"]]
    assert moves
    assert first not in moves
    assert all(first not in entry["history"][:1] for entry in one["book"]["entries"])


def test_what_is_cut_short_is_the_same_for_any_number_of_engines(tmp_path: Path) -> None:
    """Nine engines need more questions under way than one; where a limit cuts, they do without."""
    changes = (*SMALL, "judge=false", "prep.choose=2", "prep.deviations=1", "prep.nodes=300", "cost=0.01")

    def cut(workers: int, limits: Limits) -> tuple[Any, ...]:
        store = tmp_path / f"{workers}.sqlite"
        with open_matchup("chess", changes, workers=workers, store=store) as matchup:
            assert (matchup.limits().window > matchup.window) == (workers > 8)
            found = prepare(matchup, 1, limits=limits)
        tree, best = found.tree, found.response
        return (
            found.grown.ending,
            found.grown.questions,
            [tree.history(k) for k in range(tree.size)],
            (best.nodes.tolist(), best.value, best.upper),
        )

    for limits in (Limits(histories=120), Limits(gap=0.2)):
        one, nine = cut(1, limits), cut(9, limits)
        assert one == nine
        assert one[0] != "complete"
