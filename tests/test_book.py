"""Books: what is written comes back, what is damaged is refused in one line, what is drawn is a book."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from publictrees import books, compiling, complete, own, random_mixed, trees

from preplay.book import Book, Entry, draw, load, merge, save
from preplay.errors import InputError
from preplay.game import Side
from preplay.tree import Bools, Floats, Tree

BOOK = Book(
    side=2,
    entries=(
        Entry(("a",), {"x": 0.25, "y": 0.75}, 0.5, 0.1, 0.4, 0.8, 35),
        Entry(("a", "x", "b"), {"z": 1.0}, 0.2, 0.05, 0.6, 0.5),
    ),
    baseline=0.4,
    value=0.55,
    cost=0.01,
    upper=0.6,
    unprepared=0.445,
    provenance={"seed": 1},
)


def test_a_book_comes_back_as_it_was(tmp_path: Path) -> None:
    save(BOOK, tmp_path / "b.json")
    assert load(tmp_path / "b.json") == BOOK


def test_a_book_of_an_earlier_version_has_no_scores(tmp_path: Path) -> None:
    save(BOOK, tmp_path / "b.json")
    data = json.loads((tmp_path / "b.json").read_text())
    del data["unprepared"], data["entries"][0]["score"], data["entries"][1]["score"]
    (tmp_path / "b.json").write_text(json.dumps(data))
    book = load(tmp_path / "b.json")
    assert book.entries[0].score is None
    assert book.without == book.baseline


def change(*place: Any, to: Any) -> Callable[[Any], None]:
    def make(data: Any) -> None:
        for key in place[:-1]:
            data = data[key]
        data[place[-1]] = to

    return make


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (change("entries", 0, "moves", to=["x"]), "entries.0.moves: input should be"),
        (change("entries", 0, "moves", to={}), "entries.0.moves: empty"),
        (change("entries", 0, "moves", to={"x": 1.5}), "entries.0.moves.x = 1.5; expected a number in"),
        (change("entries", 0, "moves", "x", to="1"), "entries.0.moves.x: input should be"),
        (change("entries", 1, "reach", to=None), "entries.1.reach: input should be"),
        (change("entries", 1, "reach", to=-0.1), "entries.1.reach = -0.1"),
        (change("entries", 1, "gain", to="high"), "entries.1.gain: input should be"),
        (change("entries", 1, "gain", to=float("nan")), "entries.1.gain = nan; expected a number"),
        (change("entries", 1, "probability", to=2), "entries.1.probability = 2"),
        (
            change("entries", 0, "decision", to={"options": [], "played": 0}),
            "entries.0.decision.played = 0; expected one of the options",
        ),
        (change("known", to={"x": "e2e4"}), "known.x: input should be"),
        (change("entries", 0, "history", to=[1]), "entries.0.history.0: input should be"),
        (change("entries", to=5), "entries: input should be"),
        (change("side", to=3), "side: input should be 1 or 2"),
        (change("side", to="white"), "side: input should be 1 or 2"),
        (change("value", to=None), "value: input should be"),
        (change("start", to=7), "start: input should be"),
        (change("provenance", to=[]), "provenance: input should be"),
        (change("format", to="other/1"), "not a book; expected"),
    ],
)
def test_damaged_books(make: Callable[[Any], None], message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    save(BOOK, path)
    data = json.loads(path.read_text())
    make(data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        load(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "5", "{", '{"format": "preplay-book/1"}', "\x00"])
def test_other_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(InputError):
        load(tmp_path / "b.json")


def test_drawn_books_earn_on_average_what_the_mixed_one_earns() -> None:
    rng = np.random.default_rng(3)
    values = [draw(BOOK, rng).value for _ in range(4000)]
    assert set(np.round(values, 9)) == {0.445, 0.545, 0.595}
    # By Hoeffding's inequality off by more with probability 2 exp(-2 * 4000 * (0.006 / 0.15)^2) < 1e-5.
    assert np.mean(values) == pytest.approx(BOOK.value, abs=0.006)


def test_a_size_is_told_in_what_is_paid_for() -> None:
    assert BOOK.memory == "2 histories"
    assert replace(BOOK, entries=BOOK.entries[:1]).memory == "1 history"
    assert replace(BOOK, positions=1).memory == "1 position"


SEEDS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def drawn(tree: Tree, side: Side, x: Floats, rng: np.random.Generator) -> Bools:
    """[n] the histories of a book that is drawn from the mixed one with these probabilities."""
    held = {tree.history(k): k for k in np.flatnonzero(x).tolist()}
    entries = (Entry(history, {"a": 1.0}, 1.0, 0.0, 0.5, float(x[k])) for history, k in held.items())
    found = draw(Book(side, tuple(entries), 0.5, 0.5, 0.01, 1.0), rng)
    assert all(entry.probability == 1.0 for entry in found.entries)
    book = np.zeros(tree.size, dtype=np.bool_)
    book[[held[entry.history] for entry in found.entries]] = True
    return book


@compiling
@given(trees(), SEEDS, st.sampled_from([1, 2]))
def test_a_drawn_book_is_a_book(tree: Any, rng: Any, side: Any) -> None:
    x = random_mixed(tree, side, rng)
    book = drawn(tree, side, x, rng)
    assert frozenset(np.flatnonzero(book)) in books(tree, side)
    assert np.all(book[x == 0.0] == False)  # noqa: E712
    sure = [k for k in own(tree, side) if x[k] == 1.0]
    assert book[sure].all()


def test_drawn_books_have_the_right_law() -> None:
    tree = complete(5, 2, 1)
    rng = np.random.default_rng(7)
    x = random_mixed(tree, 1, rng)
    books_drawn = 4_000
    mean = np.mean([drawn(tree, 1, x, rng) for _ in range(books_drawn)], axis=0)
    assert np.abs(mean - x).max() < 5 * 0.5 / math.sqrt(books_drawn)
    one, two = (drawn(tree, 1, x, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def entry(history: tuple[str, ...], gain: float, move: str = "x") -> Entry:
    return Entry(history, {move: 1.0}, 0.5, gain, 0.4)


def pure(*entries: Entry, unprepared: float = 0.4, upper: float = 0.9) -> Book:
    value = unprepared + sum(e.gain for e in entries)
    return Book(1, entries, 0.4, value, 0.01, upper, unprepared=unprepared)


def test_a_merged_book_earns_what_all_its_entries_add() -> None:
    one, two = pure(entry((), 0.1), entry(("a",), 0.05)), pure(entry((), 0.1), entry(("b",), 0.07))
    merged = merge([one, two])
    assert merged.value == pytest.approx(0.62)
    assert merged.error == 0.0
    assert merged.value > max(one.value, two.value)
    assert merged.unprepared == 0.4
    assert merged.upper == 1.0  # what each certified was for itself


@pytest.mark.parametrize(
    "other",
    [
        pure(entry((), 0.1, "y")),
        pure(entry((), 0.2)),
        pure(entry((), 0.1), unprepared=0.5),
        replace(pure(entry((), 0.1)), against="book"),
    ],
)
def test_what_does_not_add_up_promises_nothing(other: Book) -> None:
    merged = merge([pure(entry((), 0.1), entry(("a",), 0.05)), other])
    assert (merged.value, merged.error) == (0.5, 0.5)
    assert merged.entries[0].moves == other.entries[0].moves  # later books win


def test_whom_a_book_is_against_is_kept(tmp_path: Path) -> None:
    save(BOOK, tmp_path / "b.json")
    assert "against" not in json.loads((tmp_path / "b.json").read_text())
    save(replace(BOOK, provenance={"command": "equilibrium"}), tmp_path / "b.json")
    assert load(tmp_path / "b.json").against == "book"  # as those of version 0.1.0, which do not say it
    save(replace(BOOK, against="mix"), tmp_path / "b.json")
    assert load(tmp_path / "b.json").against == "mix"
