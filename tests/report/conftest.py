"""One browser and one set of pages for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browser as browsers
import pagematches
import pageruns
import pytest
from browser import Browser
from pageruns import CHESS, CLOCKED, LATE, MEASURED, SHUFFLED, SPECIAL, prepare

from preplay.report.page import write_report


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A headless Chromium; without one, what needs it is skipped."""
    if absent := browsers.missing():
        pytest.skip(absent)
    with browsers.chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind with their pages, NAME and NAME.html."""
    folder = tmp_path_factory.mktemp("pages")
    pageruns.save_preparation(folder / "chess", pageruns.chess_tree(40, seed=5))
    pageruns.save_preparation(folder / "black", pageruns.chess_tree(20, 2, seed=6), 2)
    special = pageruns.chess_tree(60, start=SPECIAL, seed=12, replies=3)
    pageruns.save_preparation(folder / "special", special, start=SPECIAL)
    shuffled = pageruns.chess_tree(50, start=SHUFFLED, seed=4, replies=3, chess960=True)
    matchup = CHESS | {"start": {"fen": SHUFFLED, "moves": []}, "chess960": True}
    pageruns.save_preparation(
        folder / "shuffled", shuffled, start=SHUFFLED, chess960=True, matchup=matchup
    )
    timed = pageruns.with_times(pageruns.chess_tree(30, seed=9), 1)
    pageruns.save_preparation(folder / "clocked", timed, matchup=CLOCKED, clock=MEASURED)
    late = CHESS | {"start": {"fen": "", "moves": ["e4", "e7e6", "d4"]}}
    pageruns.save_preparation(
        folder / "late", pageruns.chess_tree(20, 2, start=LATE, seed=7), 2, start=LATE, matchup=late
    )
    prepare(folder / "other", "synthetic", "--side", "1", "--cost", "0.0005")
    prepare(folder / "crosses", "tic-tac-toe", "--side", "1", "--cost", "0.003")
    prepare(folder / "empty", "synthetic", "--side", "2", "--cost", "0.9")
    pageruns.save_equilibrium(folder / "mixed", pageruns.chess_tree(60, seed=3, both=True), 3e-3)
    pageruns.save_run("equilibrium", folder / "several", "synthetic", "--cost", "0.01")
    pageruns.save_run("frontier", folder / "frontier", "tic-tac-toe", "--side", "1", "--cost", "0.003")
    pageruns.save_sweep(folder / "sweep", key="prep.nodes")
    pageruns.save_sweep(folder / "words", key="value.model", settings=("linear", "wdl"))
    pageruns.save_sweep(folder / "figure", "figure1")
    pagematches.save_match(folder / "match")
    pagematches.save_policy(folder / "policy")
    pageruns.save_preparation(folder / "chess-small", pageruns.chess_tree(40, seed=5), budget=12)
    pagematches.save_studied(folder / "studied")
    pagematches.save_proved(folder / "proved")
    pageruns.save_extension(folder / "extension")
    pageruns.long_runs(folder)
    write_report(folder / "chess", folder / "compare.html", folder / "chess-small")
    for run in [path for path in folder.iterdir() if path.is_dir()]:
        write_report(run, folder / f"{run.name}.html")
    return folder
