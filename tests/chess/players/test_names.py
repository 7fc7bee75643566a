"""A player's name, spelled as people spell it."""

from __future__ import annotations

import pytest

from preplay.chess.players.names import same_name


@pytest.mark.parametrize(
    ("wanted", "found", "same"),
    [
        ("Nimzowitsch", "Nimzowitsch, Aron", True),
        ("nimzowitsch", "A. NIMZOWITSCH", True),
        ("Nimzowitsch", "Nimzowitschka", False),
        ("So", "Sokolov", False),
        ("Carlsen, Magnus", "Carlsen,M", True),
        ("Carlsen, Magnus", "Magnus Carlsen", True),
        ("Carlsen, Magnus", "Carlsen, Henrik", False),
        ("Carlsen, Magnus", "Carlsen", True),
        ("Magnus Carlsen", "Magnus", False),
        ("Muller", "Müller", True),
        ("Łukasz", "lukasz", True),
        ("A", "Aron", False),
        ("A", "a", True),
        ("", "Anybody", False),
    ],
)
def test_names(wanted: str, found: str, same: bool) -> None:
    assert same_name(wanted, found) == same
