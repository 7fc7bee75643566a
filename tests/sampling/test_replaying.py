"""What a clocked book is worth and what of it is saved time, against the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from clockedgames import HALF, LEVELS, Blend, blend, half, one_line
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from randomgames import History, Raw, games

from preplay.game import Side, walk
from preplay.games import tabular
from preplay.games.clocked import AtTheBoard, Clocked, FromMemory, ShareOfTheRest
from preplay.games.tabular import Node, TabularPolicy
from preplay.runs.encoding import plain
from preplay.sampling.replaying import ByTheBook, mean_of, shares, time_share
from preplay.sampling.samplers import PlayoutRequest, at
from preplay.sampling.streams import Streams
from preplay.stopping import Stop
from preplay.value import Exact


def clocked_game(raw: Raw, budget: tuple[int, int]) -> tuple[Clocked[Node], Any]:
    clocked = Clocked(tabular.parse(raw), budget, levels=LEVELS)
    return clocked, AtTheBoard(clocked, HALF, Blend())


def worth_charged(
    node: Raw, side: int, book: set[History], left: tuple[int, int], charged: bool, moves: History = ()
) -> float:
    """Player 1's score when a book (of plain moves) is played; its moves take time if `charged`."""
    if "utility" in node:
        return float(node["utility"])
    if node["player"] == "chance":
        return sum(
            float(e["prob"]) * worth_charged(e["to"], side, book, left, charged, (*moves, n))
            for n, e in node["actions"].items()
        )
    k = node["player"] - 1
    time = half(left[k], 0, ())
    base = {n: e["base"] for n, e in node["actions"].items()}
    prep = {n: e["prep"] for n, e in node["actions"].items()}
    inside = node["player"] == side and moves in book
    if inside and not charged:
        time = 0
    if time > left[k]:
        return 0.0 if k == 0 else 1.0
    chances = prep if inside else blend(base, prep, time)
    now = (left[0] - time, left[1]) if k == 0 else (left[0], left[1] - time)
    return sum(
        float(p) * worth_charged(node["actions"][n]["to"], side, book, now, charged, (*moves, n))
        for n, p in chances.items()
        if p > 0
    )


def reachable_book(clocked: Clocked[Node], side: Side, at_board: Any, depth: int) -> list[History]:
    """All own histories of at most `depth` actions that preparation comes to."""
    found: list[History] = []
    stack: list[History] = [()]
    prep = FromMemory(TabularPolicy("prep"))
    while stack:
        history = stack.pop()
        state = walk(clocked, history)
        player = clocked.player(state)
        if player == -1 or len(history) > depth:
            continue
        if player == side:
            found.append(history)
        policy: Any = prep if player == side else at_board
        chances = clocked.chance(state) if player == 0 else policy.distributions([state])[0]
        stack.extend((*history, action) for action, p in chances.items() if p > 0)
    return found


@settings(max_examples=40, deadline=None)
@given(
    games(depth=4),
    st.sampled_from([1, 2]),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.integers(0, 3),
)
def test_all_three_kinds_of_games_are_as_defined(
    raw: Raw, side: Side, budget: tuple[int, int], depth: int
) -> None:
    clocked, at_board = clocked_game(raw, budget)
    histories = reachable_book(clocked, side, at_board, depth)
    assume(histories)
    prep = FromMemory(TabularPolicy("prep"))
    memory = {h: prep.distributions([walk(clocked, h)])[0] for h in histories}
    plain = {clocked.game.history(walk(clocked, h).inner) for h in histories}
    free = ByTheBook(clocked.history, memory, at_board)
    charged = ByTheBook(
        lambda state: state.inner.history,
        {clocked.game.history(walk(clocked, h).inner): m for h, m in memory.items()},
        at_board,
        lambda state: HALF(clocked, state),
    )
    for policy, book, takes_time in (
        (at_board, set(), True),
        (charged, plain, True),
        (free, plain, False),
    ):
        pair = (policy, at_board) if side == 1 else (at_board, policy)
        exact = Exact(clocked, pair).values([clocked.root()])[0].mean
        assert exact == pytest.approx(
            worth_charged(raw["root"], side, book, budget, takes_time), abs=1e-9
        )


def test_played_games_agree_with_the_exact_values() -> None:
    """The book's only move is what base would play: all of the gain is saved time."""
    raw = one_line()
    game = tabular.parse(raw)
    clocked = Clocked(game, (4, 4), levels=LEVELS)
    rule = ShareOfTheRest(0.5)
    at_board = AtTheBoard(clocked, rule, Blend())
    told: list[int] = []
    found = time_share(
        clocked, (at_board, at_board), 1, {(): {"a": 1.0}}, rule, 1200, seed=1, progress=told.append
    )
    assert (found.games, told[-1]) == (1200, 1200)
    for mean, exact in ((found.without, 0.625), (found.charged, 0.625), (found.value, 0.75)):
        assert mean.mean == pytest.approx(exact, abs=4 * mean.error)
    assert found.moves.mean == 0.0  # the same games, move by move
    assert found.gain == found.time
    assert found.share is not None
    assert found.share.mean == pytest.approx(1.0)
    assert found.gain.mean == pytest.approx(0.125, abs=4 * found.gain.error)
    data = plain(found)
    assert data["time"] == {"mean": found.time.mean, "error": found.time.error}
    assert data["side"] == 1
    assert "100%" in dict(found.lines())["from saved time"]


def mirrored(node: Raw) -> Raw:
    """The same game with the sides exchanged."""
    if "utility" in node:
        return {"utility": 1.0 - node["utility"]}
    actions = {name: e | {"to": mirrored(e["to"])} for name, e in node["actions"].items()}
    return {"player": 3 - node["player"], "actions": actions}


def test_the_second_side_is_valued_from_its_own_point_of_view() -> None:
    raw = one_line()
    rule = ShareOfTheRest(0.5)
    found = []
    for side, root in ((1, raw["root"]), (2, mirrored(raw["root"]))):
        clocked = Clocked(tabular.parse(raw | {"root": root}), (4, 4), levels=LEVELS)
        at_board = AtTheBoard(clocked, rule, Blend())
        pair = (at_board, at_board)
        found.append(
            time_share(clocked, pair, 1 if side == 1 else 2, {(): {"a": 1.0}}, rule, 300, seed=1)
        )
    first, second = found
    assert (first.without, first.charged, first.value) == (second.without, second.charged, second.value)
    assert (first.gain, first.time, first.share) == (second.gain, second.time, second.share)
    assert second.side == 2


def test_the_choice_of_the_book_has_not_seen_these_games() -> None:
    raw = one_line()
    clocked = Clocked(tabular.parse(raw), (4, 4), levels=LEVELS)
    at_board = AtTheBoard(clocked, HALF, Blend())
    found = time_share(clocked, (at_board, at_board), 1, {}, HALF, 300, seed=1)
    (other,) = Streams(clocked, (at_board, at_board), seed=1).play(
        [PlayoutRequest(at(clocked, clocked.root()), 0, 300)]
    )
    assert found.without.mean != pytest.approx(float(other.utilities.mean()), abs=1e-12)
    assert found.gain.mean == 0.0
    assert found.share is None


def test_shares_add_up_and_have_errors() -> None:
    rng = np.random.default_rng(0)
    without, charged, value = (rng.integers(0, 2, 4000).astype(np.float64) for _ in range(3))
    value = np.maximum(value, charged)
    found = shares(2, without, charged, value)
    assert found.moves.mean + found.time.mean == pytest.approx(found.gain.mean)
    assert found.share is not None
    # The error of the ratio, by playing the same experiment again and again.
    ratios = []
    for _ in range(400):
        pick = rng.integers(0, 4000, 4000)
        ratios.append((value - charged)[pick].mean() / (value - without)[pick].mean())
    assert found.share.error == pytest.approx(float(np.std(ratios)), rel=0.2)


@pytest.mark.parametrize("outcome", [0.0, 0.5, 1.0])
def test_games_that_all_end_alike_prove_little(outcome: float) -> None:
    """Agresti and Coull: add two wins and two losses."""
    mean, error = mean_of(np.full(100, outcome))
    assert mean == outcome
    padded = np.concatenate((np.full(100, outcome), np.zeros(2), np.ones(2)))
    assert error == pytest.approx(float(padded.std()) / 104**0.5)
    if outcome == 1.0:
        p = 102 / 104
        assert error == pytest.approx((p * (1 - p) / 104) ** 0.5)
        # A draw in 400 further games is no surprise.
        assert abs(399.5 / 400 - mean) < 2.0 * error


def test_the_least_error_does_not_touch_games_that_vary() -> None:
    rng = np.random.default_rng(3)
    for n in (50, 300, 1500):
        scores = rng.choice([0.0, 0.5, 1.0], n, p=[0.1, 0.2, 0.7])
        assert mean_of(scores).error == float(scores.std(ddof=1)) / n**0.5
    gains = mean_of(np.zeros(196), least=-1.0)
    assert gains.mean == 0.0
    assert gains.error == pytest.approx(2.0 / 200)
    assert mean_of(np.zeros(0)) == (0.5, 0.5)
    assert mean_of(np.ones(1), least=-1.0) == (1.0, 1.0)


def test_without_a_book_nothing_is_gained_for_certain() -> None:
    raw = one_line()
    clocked = Clocked(tabular.parse(raw), (4, 4), levels=LEVELS)
    at_board = AtTheBoard(clocked, HALF, Blend())
    found = time_share(clocked, (at_board, at_board), 1, {}, HALF, 50, seed=1)
    assert found.gain == found.moves == found.time == (0.0, 0.0)
    assert found.value == found.without
    assert found.without.error > 0.0


def test_stopping_early_keeps_whole_triples() -> None:
    raw = one_line()
    clocked = Clocked(tabular.parse(raw), (4, 4), levels=LEVELS)
    at_board = AtTheBoard(clocked, HALF, Blend())
    stop = Stop()

    def after_two_blocks(games: int) -> None:
        if games >= 200:
            stop.asked = True

    found = time_share(
        clocked, (at_board, at_board), 1, {}, HALF, 10_000, seed=1, stop=stop, progress=after_two_blocks
    )
    assert 200 <= found.games < 300
    assert found.wanted == 10_000
