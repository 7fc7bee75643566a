"""Configuration that cannot be meant: one line, at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from preplay.errors import InputError
from preplay.matchup import open_matchup

MONSTERS = {
    "brackets 60,000 deep": "black.randomness=" + "[" * 60_000,
    "brackets 900 deep": "black.randomness=" + "[" * 900 + "]" * 900,
    "a key of 100,000 parts": ".".join(["a"] * 100_000) + "=1",
    "a number of 5,000 digits": "seed=" + "9" * 5000,
    "a number of 66 bits": "seed=99999999999999999999",
    "a negative number of 66 bits": "seed=-99999999999999999999",
    "a width of 10^11": "width=99999999999",
    "a length of 10^11": "length=99999999999",
    "a name with a NUL": 'value="a\\u0000b"',
    "a name with half a character": 'value="\\ud800"',
    "no key": "=1",
    "no value": "width",
    "infinity": "noise=Infinity",
    "not a number": "noise=NaN",
}


@pytest.mark.parametrize("case", MONSTERS)
def test_changes_that_cannot_be_meant(case: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError) as caught, open_matchup("synthetic", [MONSTERS[case]]):
        pass
    assert time.process_time() - began < 5.0
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(
    "text",
    [
        "kind = 'synthetic'\nseed = " + "9" * 5000,
        "kind = 'synthetic'\nseed = 99999999999999999999",
        "kind = 'synthetic'\nseed = " + "[" * 60_000,
        "kind = 'synthetic'\n" + ".".join(["a"] * 5_000) + " = 1",
        "kind = 'synthetic'\n[" + ".".join(["a"] * 5_000) + "]\nb = 1",
        "kind = 'synthetic'\nvalue = 'a\\u0000b'",
    ],
)
def test_files_that_cannot_be_meant(text: str, tmp_path: Path) -> None:
    path = tmp_path / "matchup.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught, open_matchup(str(path)):
        pass
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
