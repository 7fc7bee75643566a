"""Errors: every one is preplay's own, and an unknown name gets a hint."""

from __future__ import annotations

import pytest

from preplay import errors
from preplay.errors import nearest


def test_who_catches_one_catches_all_of_its_kind() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in kinds if kind.__module__ == "preplay.errors"]
    assert len(kinds) >= 6
    assert all(issubclass(kind, errors.PreplayError) for kind in kinds)
    assert issubclass(errors.GameError, errors.InputError)
    assert not issubclass(errors.EngineError, errors.InputError)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("chss", "did you mean 'chess'?"),
        ("synthetik", "did you mean 'synthetic'?"),
        ("poker", "expected one of: chess, synthetic, tabular"),
        ("", "expected one of: chess, synthetic, tabular"),
    ],
)
def test_an_unknown_name_gets_the_nearest_or_all(name: str, hint: str) -> None:
    assert nearest(name, {"tabular", "chess", "synthetic"}) == hint
