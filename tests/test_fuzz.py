"""A short campaign of hostile input for every reader, and all that ever failed; long: `make fuzz`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz.campaign import ACCEPTED, Finding, campaign, corpus, tried
from fuzz.targets import TARGETS, Target

from preplay.errors import InputError

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
