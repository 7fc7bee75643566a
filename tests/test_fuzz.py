"""A short campaign of hostile input for every reader, and all that ever failed; long: `make fuzz`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz.campaign import ACCEPTED, Finding, campaign, corpus, tried
from fuzz.damage import damage, damaged, kept_files
from fuzz.targets import TARGETS, Target

from preplay.errors import InputError, PreplayError

SHORT = 40


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_gets_through(name: str) -> None:
    ways, found = campaign(TARGETS[name], SHORT, seed=1)
    assert ways.total() == SHORT + len(corpus(TARGETS[name]))
    assert not found, found[0].what
    assert ways[ACCEPTED] or len(ways) > 1, "every input was refused at the first check"


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(1), InputError("two\nlines")])
def test_a_campaign_sees_what_gets_through(error: BaseException, tmp_path: Path) -> None:
    def read(data: bytes, folder: Path) -> None:
        raise error

    finding = tried(Target("broken", read, lambda: [b"x"]), b"x", tmp_path)
    assert isinstance(finding, Finding)
    assert tried(Target("fine", lambda data, folder: None, lambda: [b"x"]), b"x", tmp_path) == ACCEPTED


def test_inputs_are_the_same_for_the_same_seed() -> None:
    for target in (TARGETS["tabular"], TARGETS["engine"], TARGETS["tree"]):
        one, two = (target.mutate(Random(5), target.seeds) for _ in range(2))
        assert one == two
        assert one != target.mutate(Random(6), target.seeds)


def test_damage_is_told_with_the_name_of_the_file() -> None:
    """A few bytes of every file that runs keep; all of them by `make fuzz`."""
    targets = {target.name: target for target in kept_files()}
    assert {name.rpartition("/")[2] for name in targets} >= {
        *("run.json", "result.json", "book.json", "book-2.json", "points.jsonl", "games.jsonl"),
        *("tree.npz", "checkpoint.npz"),
    }
    for target in targets.values():
        ways, found = damage(target, 7)
        assert ways.total() <= 7
        assert not found, found[0].what


def test_settings_under_a_damaged_name_are_missed(tmp_path: Path) -> None:
    targets = {target.name: target for target in kept_files()}
    for name, good, bad in (
        ("harden/run.json", b'"side"', b'"sidf"'),
        ("sweep/points.jsonl", b'"randomness"', b'"sandomness"'),
        ("prepare/run.json", b'"prepare"', b'"prepase"'),
    ):
        (data,) = targets[name].seeds
        assert good in data
        with pytest.raises(PreplayError, match=name.rpartition("/")[2]):
            targets[name].read(data.replace(good, bad), tmp_path)


def test_every_byte_is_damaged_once() -> None:
    assert [sum(a != b for a, b in zip(b"abcde", x, strict=True)) for x in damaged(b"abcde", 5)] == [
        1
    ] * 5
    assert len({*damaged(b"abcde", 5)}) == 5
    assert len([*damaged(bytes(100), 30)]) == 25


def test_damage_that_names_no_file_is_found() -> None:
    def read(data: bytes, folder: Path) -> None:
        if data != b"good":
            raise InputError("something is wrong")

    ways, found = damage(Target("run/file.json", read, lambda: [b"good"]), 10)
    assert len(found) == ways.total() == 4
    assert "file.json is not named" in found[0].what
