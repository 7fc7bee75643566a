"""Words of others, shown so that they do no harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preplay.text import cell, harmless, unprintable


@given(st.text())
def test_what_is_shown_holds_no_control_character(text: str) -> None:
    shown = harmless(text)
    assert all(character.isprintable() or character == "\n" for character in shown)
    if text.isprintable():
        assert shown == text


def test_escapes_are_written_out() -> None:
    assert harmless("a\x1b[31mb\x07") == "a\\x1b[31mb\\x07"
    assert unprintable("a\x00b") == "\\x00"
    assert unprintable("a\ud800b") == "\\ud800"
    assert unprintable("Ünïcode") is None


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-cmd", "@SUM(1)", "\t=1", "\r=1"])
def test_formulas_are_text(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["e4", "1.5", "-1.5", "+0.25", "-3", "2e-05", "-2e-05", "", "O-O"])
def test_numbers_and_moves_stay_as_they_are(text: str) -> None:
    assert cell(text) == text
