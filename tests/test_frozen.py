"""What is frozen stays as it is, down to its last part; copies may be changed."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from preplay.frozen import FrozenDict, freeze, frozen, thawed


class Pair(NamedTuple):
    """A tuple whose parts have names."""

    one: Any
    two: Any


def test_dicts_are_frozen_all_the_way_down() -> None:
    made = frozen({"a": {"b": 1}, "c": ({"d": 2},)})
    for part in (made, made["a"], made["c"][0]):
        assert isinstance(part, FrozenDict)
        with pytest.raises(TypeError, match="results are frozen; expected a change to a copy"):
            part["x"] = 1
        with pytest.raises(TypeError, match="results are frozen"):
            part |= {"x": 1}
    assert made == {"a": {"b": 1}, "c": ({"d": 2},)}


def test_lists_become_tuples_and_all_can_be_hashed() -> None:
    made = frozen({"a": [1, {"b": [2]}]})
    assert made == {"a": (1, {"b": (2,)})}
    assert hash(made) == hash(frozen({"a": (1, {"b": (2,)})}))


def test_numbers_are_pythons_own() -> None:
    made = frozen({"x": np.float64(0.5), "y": (np.int64(3),)})
    assert (type(made["x"]), type(made["y"][0])) == (float, int)


def test_a_tuple_with_names_keeps_them() -> None:
    made = frozen(Pair({"a": 1}, np.int32(2)))
    assert isinstance(made, Pair)
    assert isinstance(made.one, FrozenDict)
    assert type(made.two) is int


def test_copies_are_the_same_and_thawed_ones_may_be_changed() -> None:
    made = frozen({"a": {"b": (1, 2)}})
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert isinstance(again["a"], FrozenDict)
    changed = thawed(made)
    changed["a"]["b"].append(3)
    assert (changed, made) == ({"a": {"b": [1, 2, 3]}}, {"a": {"b": (1, 2)}})


def test_the_fields_of_a_result() -> None:
    @dataclass(frozen=True)
    class Result:
        moves: dict[str, float]

        def __post_init__(self) -> None:
            freeze(self)

    assert isinstance(Result({"a": 1.0}).moves, FrozenDict)


def test_equal_ones_have_one_hash() -> None:
    one, two = frozen({"a": 1, "b": {"c": (1, 2)}}), frozen({"b": {"c": (1, 2)}, "a": 1})
    assert one == two
    assert hash(one) == hash(two)
    assert {one: "found"}[two] == "found"
