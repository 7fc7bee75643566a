"""Matches of any game: what is played agrees with what was promised."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import dice_race

from preplay import (
    Matchup,
    draw,
    equilibrium,
    frontier,
    harden,
    load_run,
    make_matchup,
    match,
    open_matchup,
    prepare,
)
from preplay.chess.endings import Settling
from preplay.errors import InputError
from preplay.matches import Adjudication


@pytest.mark.parametrize("adjudication", ["rules", "model"])
@pytest.mark.parametrize(
    ("spec", "changes"), [("synthetic", ("luck=0.2", "cost=0.003")), ("tic-tac-toe", ("cost=0.01",))]
)
def test_other_games_than_chess_are_played_too(
    spec: str, changes: tuple[str, ...], adjudication: Adjudication
) -> None:
    """Chance included: what is played agrees with what is promised, which is exact here."""
    with open_matchup(spec, changes) as matchup:
        for side in (1, 2):
            book = prepare(matchup, side)
            result = match(matchup, book, 600, adjudication=adjudication, control=True, seed=side)
            assert abs(result.score.mean - book.value) < 4 * (result.score.high - result.score.low) / 3.92
            assert result.promised_book_moves is not None
            assert result.book_moves == pytest.approx(result.promised_book_moves, abs=0.15)
            assert result.control is not None
            without = result.control.score
            expected = book.unprepared if adjudication == "model" else book.baseline
            assert abs(without.mean - expected) < 4 * (without.high - without.low) / 3.92
            assert result.pgn == ""


def test_an_equilibrium_of_another_game_is_played(tmp_path: Path) -> None:
    with open_matchup("synthetic", ("cost=0.003",)) as matchup:
        both = equilibrium(matchup)
        result = match(matchup, both, 800, save=tmp_path / "match")
        assert result.opponent == "prepared"
        assert (
            abs(result.score.mean - result.promised) < 4 * (result.score.high - result.score.low) / 3.92
        )
        again = match(matchup, both, 800, save=tmp_path / "match")
    assert again.played == result.played
    assert not (tmp_path / "match" / "games.pgn").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"games": 0}, "games 0; expected a whole number of at least 1"),
        ({"games": -5}, "games -5; expected a whole number of at least 1"),
        ({"adjudication": "rulez"}, "adjudication 'rulez'; expected model or rules"),
        ({"prepared": "runs/white"}, "prepared is of type str; expected a result of prepare"),
        ({"settling": Settling(longest=9)}, "is not chess; resign, draw and longest"),
        ({"settling": 3}, "settling 3; expected a Settling"),
        ({"control": "x"}, "control 'x'; expected True or False"),
        ({"control": 1}, "control 1; expected True or False"),
        ({"side": 0}, "side '0'; expected 1 or 2"),
        ({"side": ""}, "side ''; expected 1 or 2"),
        ({"side": False}, "side 'False'; expected 1 or 2"),
        ({"cost": -1}, "cost -1; expected a finite number above 0"),
    ],
)
def test_matches_that_cannot_be_played(given: dict[str, Any], message: str) -> None:
    with open_matchup("synthetic", ("cost=0.01",)) as matchup, pytest.raises(InputError, match=message):
        match(matchup, **({"side": 1} | given))


def test_a_book_has_its_cost() -> None:
    with open_matchup("synthetic", ("length=3",)) as matchup:
        for prepared in (best := prepare(matchup, 1, 0.01), best.book, equilibrium(matchup, 0.01)):
            with pytest.raises(InputError, match=r"cost 0\.3 with a book, which has its cost"):
                match(matchup, prepared, 4, cost=0.3)
        assert match(matchup, games=4, cost=0.3).games == 4


def race(goal: int = 6, courage: float = 0.4, **more: Any) -> Matchup[Any]:
    """The example's matchup, with something else about it."""
    game = dice_race.Race(goal)
    base = partial(dice_race.at_the_board, courage)
    return make_matchup(game, base, dice_race.after_study(game), cost=0.005, name="race", **more)


@pytest.mark.parametrize("saved", [False, True])
def test_a_book_of_another_game_is_refused(tmp_path: Path, saved: bool) -> None:
    save = tmp_path / "run" if saved else None
    found = prepare(dice_race.build(), 1, save=save)
    place = str(save) if saved else "the book"
    with pytest.raises(InputError, match=r"of another game \(goal was 6, now 9\); expected") as caught:
        match(dice_race.build(goal=9), found, 4)
    assert str(caught.value).startswith(f"{place}: ")
    for prepared in (found.book, equilibrium(dice_race.build()), frontier(dice_race.build(), 1)):
        with pytest.raises(InputError, match="goal was 6, now 9"):
            match(dice_race.build(goal=9), prepared, 4)
    assert match(dice_race.build(), found, 4).promised == found.value
    with pytest.raises(InputError, match=r"courage was 0\.4, now 0\.9"):
        match(dice_race.build(courage=0.9), found, 4)


def test_a_game_that_tells_nothing_is_told_by_how_it_is_played(tmp_path: Path) -> None:
    found = prepare(race(), 1, save=tmp_path / "run")
    assert match(race(), found, 4).games == 4
    assert match(race(), load_run(tmp_path / "run"), 4).games == 4
    with pytest.raises(InputError, match=r"of another game \(fingerprint was"):
        match(race(goal=4), found, 4)


def test_books_whose_game_is_the_same_are_played(tmp_path: Path) -> None:
    """However a game was opened, and whatever else of the matchup was changed on purpose."""
    file = Path(dice_race.__file__).with_suffix(".toml")
    with open_matchup(file) as opened:
        found = prepare(opened, 1, save=tmp_path / "run")
        assert match(opened, load_run(tmp_path / "run"), 4).games == 4
        assert match(opened, prepare(dice_race.build(), 1), 4).games == 4
    assert match(dice_race.build(), found, 4).games == 4
    with open_matchup(file, ["settings.goal=9"]) as other, pytest.raises(InputError, match="of another"):
        match(other, found, 4)
    with open_matchup("synthetic") as one, open_matchup("synthetic", ["randomness=0.5"]) as bolder:
        found = prepare(one, 1, 0.01)
        assert match(bolder, found, 4).games == 4
        with (
            open_matchup("synthetic", ["seed=3"]) as three,
            pytest.raises(InputError, match="seed was 0, now 3"),
        ):
            match(three, found, 4)
        assert match(one, replace(found.book, provenance={"by": "hand"}), 4).games == 4


def test_a_book_against_a_prepared_opponent_is_not_played_against_another(tmp_path: Path) -> None:
    """Its value would be promised for games in which nobody earns it."""
    with open_matchup("synthetic", ("cost=0.003",)) as matchup:
        both = equilibrium(matchup)
        for book in (both.books[0], draw(both.books[1], np.random.default_rng(0))):
            with pytest.raises(InputError, match="its value is against an opponent with a book"):
                match(matchup, book, 10)
    with open_matchup("tic-tac-toe", ("prep.choose=2",)) as matchup:
        hidden = harden(matchup, 2, 0.05)
        with pytest.raises(InputError, match="its value is against an opponent who mixes their moves"):
            match(matchup, hidden.best, 10)
