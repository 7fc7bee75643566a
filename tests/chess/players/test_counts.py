"""Tables of moves against plain counting."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from preplay.chess.players.counts import MoveCounts, count_moves, together


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20), max_size=5))
def test_tables_added_up_are_counts(lists: list[list[tuple[int, int]]]) -> None:
    tables = []
    for rows in lists:
        keys = np.array([key for key, _ in rows], dtype=np.uint64)
        tables.append(count_moves(keys, np.array([code for _, code in rows], dtype=np.uint16)))
    whole = together(tables)
    expected = Counter(row for rows in lists for row in rows)
    found = {
        (int(k), int(c)): int(n) for k, c, n in zip(whole.keys, whole.codes, whole.counts, strict=True)
    }
    assert found == expected
    assert list(found) == sorted(found)
    assert whole.positions == len({key for key, _ in expected})
    assert whole.widest == max(Counter(key for key, _ in expected).values(), default=0)
    assert whole.knows(np.arange(8, dtype=np.uint64)).tolist() == [bool(whole.at(k)) for k in range(8)]
    again = MoveCounts.of_data(json.loads(json.dumps(whole.as_data())))
    assert again.keys.tolist() == whole.keys.tolist()
    assert again.counts.tolist() == whole.counts.tolist()
