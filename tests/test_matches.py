"""Which games of a match count: never those that happen to end first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from preplay import journal
from preplay import matches as match
from preplay.book import Book
from preplay.chess.scoresheet import PlayedGame, read_scoresheet
from preplay.games import tabular
from preplay.matches import Pairing, play_games, play_match
from preplay.matchup import Matchup
from preplay.stopping import Stop


def game(number: int, score: float = 1.0, *, prepared: bool = True) -> PlayedGame:
    return PlayedGame(number, 1, prepared, ("e2e4",), score, 1, "model")


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The order in which games end; those that are not in it never do."""
    order: list[int] = []

    def play_games(
        matchup: Any, pairings: Any, numbers: Sequence[int], *args: Any, **more: Any
    ) -> Iterator[PlayedGame]:
        yield from (game(n, score=float(n % 2)) for n in order if n in numbers)

    monkeypatch.setattr(match, "play_games", play_games)
    return order


def numbers(played: Sequence[PlayedGame]) -> list[int]:
    return [one.number for one in played]


def play(games: int, **more: Any) -> list[PlayedGame]:
    return play_match(None, [], games, "model", 0, stop=Stop(), **more)  # type: ignore[arg-type]


def test_a_match_that_is_stopped_counts_no_game_before_a_missing_one(
    ending: list[int], tmp_path: Path
) -> None:
    ending += [5, 1, 0, 3]  # 2 and 4 are still under way when it stops
    kept = tmp_path / "games.jsonl"
    assert numbers(play(6, kept=kept)) == [0, 1]
    assert sorted(numbers(read_scoresheet(kept))) == [0, 1, 3, 5]
    ending += [4, 2]
    assert numbers(play(6, kept=kept)) == [0, 1, 2, 3, 4, 5]


def test_the_end_is_decided_on_the_first_games_one_by_one(ending: list[int], tmp_path: Path) -> None:
    ending += [7, 6, 5, 4, 3, 2, 1, 0]
    kept = tmp_path / "games.jsonl"
    seen: list[list[int]] = []

    def enough(played: Sequence[PlayedGame]) -> bool:
        seen.append(numbers(played))
        return len(played) == 3

    assert numbers(play(8, kept=kept, tell=enough)) == [0, 1, 2]
    assert seen == [[0], [0, 1], [0, 1, 2]]
    ending.clear()  # taken up again it plays nothing more and says the same
    assert numbers(play(8, kept=kept, tell=enough)) == [0, 1, 2]


def test_control_games_and_games_beyond_the_match_do_not_count(ending: list[int], tmp_path: Path) -> None:
    kept = tmp_path / "games.jsonl"
    for one in (game(0, prepared=False), game(1, prepared=False), game(2), game(0, 0.25)):
        journal.append(kept, one)
    ending += [1]
    assert [(g.number, g.score) for g in play(2, kept=kept)] == [(0, 0.25), (1, 1.0)]
    assert numbers(play(2, kept=kept, control=True)) == [0, 1]


class _Pressed:
    """Plays side 1, until somebody presses Ctrl-C."""

    def __init__(self, moves: int, press: Callable[[], None]) -> None:
        self.left = moves
        self.press = press

    def distributions(self, states: Sequence[Any]) -> list[dict[str, float]]:
        self.left -= 1
        if self.left == 0:
            self.press()
        return [{"a": 1.0}]


@pytest.mark.parametrize("known", [True, False])
def test_a_ctrl_c_that_nobody_listens_for_ends_the_call(known: bool) -> None:
    """What the stop sign asked for is a match of fewer games; anything else is no result."""
    leaf = {"utility": 0.5}
    mover = {"player": 1, "actions": {"a": {"base": 1, "prep": 1, "to": leaf}}}
    game = tabular.parse({"format": "preplay-game/1", "root": mover})
    stop = Stop()

    def press() -> None:
        stop.asked = known
        raise KeyboardInterrupt

    player = _Pressed(5, press)
    value = tabular.TabularValue()
    matchup: Any = Matchup("test", game, (player, player), (player, player), value, enumerable=True)
    pairing = Pairing(Book(1, (), 0.5, 0.5, 0.1, 0.5))
    played: list[PlayedGame] = []

    def play_all() -> None:
        played.extend(play_games(matchup, [pairing], range(100), "rules", 0, stop=stop))

    if known:
        play_all()
    else:
        with pytest.raises(KeyboardInterrupt):
            play_all()
    assert len(played) < 100
