"""Which games are taken: by date, rating and speed."""

from __future__ import annotations

import pytest
from pgntext import pgn

from preplay.chess.players.archive import read_parts
from preplay.chess.players.filters import GameFilter, date_of, speed_of


def test_filters() -> None:
    def tags(**given: str) -> object:
        (part,) = read_parts(iter([pgn("1. e4", **given).encode()]), "text")
        return part.tags[0]

    old, new = tags(Date="2018.12.31"), tags(Date="2019.??.??", BlackElo="2100", TimeControl="600+5")
    assert (date_of(old), date_of(new)) == ("2018.12.31", "2019.00.00")  # type: ignore[arg-type]
    assert [GameFilter(since="2019").takes(t, 2) for t in (old, new)] == [False, True]  # type: ignore[arg-type]
    assert [GameFilter(rating=(2000, 2400)).takes(t, 2) for t in (old, new)] == [False, True]  # type: ignore[arg-type]
    assert [GameFilter(speeds=("rapid",)).takes(t, 2) for t in (old, new)] == [False, True]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("control", "event", "speed", "told"),
    [
        ("60+0", "", "bullet", True),
        ("180+2", "", "blitz", True),
        ("600+5", "", "rapid", True),
        ("40/7200:3600", "", "classical", True),
        ("-", "", "correspondence", True),
        ("1/259200", "", "correspondence", True),
        ("", "World Blitz 2019", "blitz", True),
        ("?", "Linares", "classical", False),
    ],
)
def test_speeds(control: str, event: str, speed: str, told: bool) -> None:
    (part,) = read_parts(iter([pgn("1. e4", TimeControl=control, Event=event).encode()]), "text")
    assert speed_of(part.tags[0]) == (speed, told)
