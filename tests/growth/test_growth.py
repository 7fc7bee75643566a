"""Growth: what it asks and what it leaves alone, when it stops, and that it can go on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import Raw, games, own_histories, v, worth

from preplay import response
from preplay.errors import GameError, StoreError
from preplay.game import FINAL, Side
from preplay.games import tabular
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticValue
from preplay.growth import (
    Advantage,
    ContestedGrowth,
    Goal,
    Grown,
    GrowthProgress,
    Lemma1,
    Limits,
    Pays,
    grow,
)
from preplay.growth.asking import Questions
from preplay.policy import Uniform
from preplay.stopping import Stop
from preplay.tree import Tree, check_arrays
from preplay.value import Value

SIDES = st.sampled_from([1, 2])
COSTS = st.sampled_from([0.00317, 0.01113, 0.03171, 0.10913])
"""Prices that no sum of gains of `randomgames` meets: the best book is unique."""


@dataclass
class Recorder:
    """An oracle that passes questions on and remembers them."""

    answer: Callable[[Sequence[Any]], Sequence[Any]]
    batches: list[list[Any]] = field(default_factory=list)

    def distributions(self, states: Sequence[Any]) -> Sequence[Any]:
        self.batches.append(list(states))
        return self.answer(states)

    values = distributions

    @property
    def states(self) -> list[Any]:
        return [state for batch in self.batches for state in batch]


@dataclass
class Ahead(Recorder):
    """An oracle that works ahead: told of questions early, asked one by one, told of lost interest."""

    told: list[Any] = field(default_factory=list)
    cancelled: list[Any] = field(default_factory=list)

    def prefetch(self, states: Sequence[Any]) -> None:
        self.told += states

    def cancel(self, states: Sequence[Any]) -> None:
        self.cancelled += states


class Threads:
    """An oracle that really works in the background and takes its time."""

    def __init__(
        self, answer: Callable[[Sequence[Any]], Sequence[Any]], pool: ThreadPoolExecutor
    ) -> None:
        self.answer, self.pool, self.pause = answer, pool, random.Random(1)
        self.futures: dict[Any, Future[Any]] = {}

    def prefetch(self, states: Sequence[Any]) -> None:
        for state in states:
            self.futures[state] = self.pool.submit(self.work, state, self.pause.random() / 2000)

    def work(self, state: Any, pause: float) -> Any:
        time.sleep(pause)
        return self.answer([state])[0]

    def distributions(self, states: Sequence[Any]) -> Sequence[Any]:
        return [self.futures[state].result() for state in states]

    values = distributions


def forbidden(states: Sequence[Any]) -> Sequence[Any]:
    raise AssertionError("nobody needs to know this")


@dataclass
class Setup:
    """A tabular game with oracles that remember what they were asked."""

    raw: Raw
    side: Side
    kind: type[Recorder] = Recorder

    def __post_init__(self) -> None:
        self.game = tabular.parse(self.raw)
        self.prep = self.kind(tabular.TabularPolicy("prep").distributions)
        self.base = self.kind(tabular.TabularPolicy("base").distributions)
        self.value = self.kind(tabular.TabularValue().values)

    def grow(self, goal: Goal, limits: Limits | None = None, **more: Any) -> Grown:
        own = Recorder(forbidden)
        both = (own, self.base) if self.side == 1 else (self.base, own)
        grown = grow(self.game, self.side, both, self.prep, self.value, goal, limits, **more)
        check_arrays(grown.tree)
        return grown


def chosen(tree: Tree, side: Side, cost: float) -> tuple[frozenset[tuple[str, ...]], float, float]:
    best = response.best_book(tree, side, cost)
    return frozenset(tree.history(int(k)) for k in best.nodes), best.net, best.upper


def same(one: Tree, two: Tree) -> bool:
    columns = ("parent", "player", "base", "prep", "value", "radius", "open", "action")
    return one.names == two.names and all(
        np.array_equal(getattr(one, c), getattr(two, c), equal_nan=c in ("base", "prep", "value"))
        for c in columns
    )


# --- what is asked ------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.integers(1, 80), st.booleans())
def test_only_what_matters_is_asked(raw: Raw, side: Side, cost: float, window: int, plain: bool) -> None:
    setup = Setup(raw, side)
    grown = setup.grow(Lemma1(cost) if plain else Pays(cost), Limits(window=window))
    root = setup.game.root()
    for oracle, player in ((setup.value, side), (setup.prep, side), (setup.base, 3 - side)):
        asked = oracle.states
        assert len(set(asked)) == len(asked)  # nobody is asked twice
        assert all(state.player == player for state in asked if state is not root)
        assert all(reach(state, side) > 0.0 for state in asked)
        assert all(len(batch) <= window for batch in oracle.batches)
    assert root in setup.value.states  # the baseline
    assert grown.values == len(setup.value.states)
    assert grown.questions == sum(len(o.states) for o in (setup.value, setup.prep, setup.base))
    unasked = (grown.tree.player != side) & ~grown.tree.leaves
    unasked[0] = False
    assert np.isnan(grown.tree.value[unasked]).all()


def reach(state: tabular.Node, side: Side) -> float:
    product = 1.0
    while state.parent is not None:
        above = state.parent
        product *= (above.prep if above.player == side else above.base)[state.action]
        state = above
    return product


def test_batches_are_batches() -> None:
    game = SyntheticGame(12, 3)
    policies = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.2)
    base, prep = Recorder(policies[0].distributions), Recorder(policies[1].distributions)
    value = Recorder(SyntheticValue().values)
    grow(game, 1, (base, base), prep, value, Pays(1e-4), Limits(window=64))
    for oracle in (base, prep, value):
        sizes = [len(batch) for batch in oracle.batches]
        assert max(sizes) <= 64
        assert np.mean(sizes) > 8


def test_pruned_growth_asks_far_less_than_lemma_1() -> None:
    game = SyntheticGame(60, 3)
    base, prep = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.2)
    cost = 0.001
    plain = grow(game, 1, (base, base), prep, SyntheticValue(), Lemma1(cost))
    pruned = grow(game, 1, (base, base), prep, SyntheticValue(), Pays(cost))
    assert 5 * pruned.values < plain.values
    ours, theirs = chosen(pruned.tree, 1, cost), chosen(plain.tree, 1, cost)
    assert ours[0] == theirs[0]
    assert ours[1:] == pytest.approx(theirs[1:], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=60), SIDES, st.sampled_from([0.0, 0.3, 0.55, 0.8, 1.0]))
def test_an_advantage_is_looked_for_until_it_is_there(raw: Raw, side: Side, least: float) -> None:
    tree = Setup(raw, side).grow(Advantage(least)).tree
    value = tree.value if side == 1 else 1.0 - tree.value
    own = tree.player == side
    assert tree.complete
    assert np.all(value[own & tree.leaves] >= least)
    assert np.all(value[own & ~tree.leaves] < least)


# --- working ahead ------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.integers(1, 20), st.integers(1, 60) | st.none())
def test_oracles_that_work_ahead_are_told_and_cancelled(
    raw: Raw, side: Side, cost: float, window: int, histories: int | None
) -> None:
    limits = Limits(histories=histories, window=window)
    plain, ahead = Setup(raw, side), Setup(raw, side, Ahead)
    expected, grown = plain.grow(Pays(cost), limits), ahead.grow(Pays(cost), limits)
    assert same(grown.tree, expected.tree)
    assert grown.ending == expected.ending
    for oracle in (ahead.value, ahead.prep, ahead.base):
        assert isinstance(oracle, Ahead)
        assert all(len(batch) == 1 for batch in oracle.batches)
        asked = [
            state for state in oracle.states if state is not ahead.game.root() or state in oracle.told
        ]
        assert not set(asked) & set(oracle.cancelled)
        assert set(oracle.told) == set(asked) | set(oracle.cancelled)
        assert len(oracle.told) == len(set(oracle.told))


def test_results_do_not_depend_on_the_speed_of_answers() -> None:
    game = SyntheticGame(20, 3, luck=0.1)
    base, prep = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.2)
    limits = Limits(histories=700, window=24)
    expected = grow(game, 2, (base, base), prep, SyntheticValue(), Pays(0.001), limits)
    with ThreadPoolExecutor(4) as pool:
        slow = Threads(base.distributions, pool), Threads(prep.distributions, pool)
        value = Threads(SyntheticValue().values, pool)
        value.prefetch([game.root()])
        grown = grow(game, 2, (slow[0], slow[0]), slow[1], value, Pays(0.001), limits)
    assert same(grown.tree, expected.tree)


def test_a_forgotten_question_is_not_asked() -> None:
    asked: list[int] = []

    def answer(questions: Sequence[int]) -> list[int]:
        asked.extend(questions)
        return [-q for q in questions]

    questions: Questions[int, int] = Questions(answer)
    questions.submit({0: 10, 1: 11})
    questions.submit({2: 12, 3: 13})
    questions.forget(2)
    questions.wait(1)
    assert questions.answers.pop(1) == -11
    assert asked == [10, 11, 13]
    assert questions.answers.pop(3) == -13
    questions.forget(0)
    assert 0 not in questions.answers
    assert questions.asked == 3


# --- stopping -----------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(
    games(depth=5, own=60, estimates=True), SIDES, COSTS, *[st.integers(1, 100)] * 2, st.integers(0, 99)
)
def test_a_complete_growth_does_not_depend_on_the_window(
    raw: Raw, side: Side, cost: float, one: int, two: int, refill: int
) -> None:
    narrow = Setup(raw, side).grow(Pays(cost), Limits(window=one))
    wide = Setup(raw, side).grow(Pays(cost), Limits(window=two, refill=refill))
    assert narrow.ending == wide.ending == "complete"
    assert narrow.tree.complete
    first, second = chosen(narrow.tree, side, cost), chosen(wide.tree, side, cost)
    assert first[0] == second[0]
    assert first[1:] == pytest.approx(second[1:], abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.integers(1, 60), st.integers(1, 20))
def test_a_limit_on_histories(raw: Raw, side: Side, cost: float, histories: int, window: int) -> None:
    setup = Setup(raw, side)
    grown = setup.grow(Pays(cost), Limits(histories=histories, window=window))
    assert grown.histories < histories + setup.game.widest
    assert grown.tree.size <= grown.histories
    assert grown.ending == ("complete" if grown.tree.complete else "histories")
    assert grown.histories >= histories or grown.tree.complete
    whole = response.best_book(Setup(raw, side).grow(Pays(cost)).tree, side, cost)
    best = response.best_book(grown.tree, side, cost)
    # What nobody asked about counts as lost: the book surely earns its value, and no book earns more
    # than the bound.
    assert best.net <= whole.net + 1e-9
    assert best.upper >= whole.net - 1e-9
    truth = worth(raw["root"], side, frozenset(grown.tree.history(int(k)) for k in best.nodes))
    assert best.value - 1e-9 <= truth <= best.value + best.error + 1e-9


@settings(max_examples=50, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.floats(0.001, 0.5))
def test_a_limit_on_the_gap_is_kept(raw: Raw, side: Side, cost: float, gap: float) -> None:
    grown = Setup(raw, side).grow(Pays(cost), Limits(gap=gap, window=1))
    best = response.best_book(grown.tree, side, cost)
    assert best.upper - best.net <= gap + 1e-12
    whole = response.best_book(Setup(raw, side).grow(Pays(cost)).tree, side, cost)
    assert best.net - 1e-9 <= whole.net <= best.upper + 1e-9


def large() -> tuple[Any, ...]:
    game = SyntheticGame(60, 3)
    base, prep = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.02)
    return game, 1, (base, base), prep, SyntheticValue(), Pays(1e-4)


def test_more_time_is_never_worse_and_little_time_goes_far() -> None:
    nets, uppers = [], []
    game, side, base, prep, value, goal = large()
    for histories in (100, 1000, 3000, None):
        tree = grow(game, side, base, prep, value, goal, Limits(histories=histories)).tree
        best = response.best_book(tree, 1, 1e-4)
        nets.append(best.net)
        uppers.append(best.upper)
    assert nets == sorted(nets)
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] == pytest.approx(nets[-1], abs=1e-12)
    gained = (np.array(nets) - 0.5) / (nets[-1] - 0.5)
    assert gained[1] > 0.6
    assert gained[2] > 0.85


def test_a_limit_on_seconds() -> None:
    def slowly(states: Sequence[Any]) -> list[Value]:
        time.sleep(0.01)
        return SyntheticValue().values(states)

    game, side, base, prep, _, goal = large()
    start = time.monotonic()
    grown = grow(game, side, base, prep, Recorder(slowly), goal, Limits(seconds=0.2, window=4))
    assert grown.ending == "seconds"
    assert time.monotonic() - start < 5.0
    assert grown.seconds >= 0.2
    check_arrays(grown.tree)


def test_progress_is_told_and_ends_with_the_end() -> None:
    told: list[GrowthProgress] = []
    game, side, base, prep, value, goal = large()
    grown = grow(game, side, base, prep, value, goal, Limits(histories=5000), progress=told.append)
    assert told
    assert told[-1].histories == grown.histories
    assert told[-1].questions == grown.questions
    assert all(now.low <= now.up for now in told)
    best = response.best_book(grown.tree, 1, 1e-4)
    assert told[-1].low <= best.net + 1e-9
    assert told[-1].up >= best.upper - 1e-9


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.integers(1, 30), st.booleans())
def test_a_request_to_stop_loses_nothing(
    raw: Raw, side: Side, cost: float, calls: int, at_once: bool
) -> None:
    stop = Stop()
    setup = Setup(raw, side)
    table = tabular.TabularValue()

    def values(states: Sequence[Any]) -> list[Value]:
        if len(setup.value.batches) > calls:
            if at_once:
                stop.request()  # as a signal does: growth waits, so it is cut off here
                raise AssertionError("not interrupted")
            stop.asked = True
        return table.values(states)

    setup.value.answer = values
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "growth.npz"
        grown = setup.grow(Pays(cost), Limits(window=3), stop=stop, checkpoint=checkpoint)
        assert grown.ending == ("interrupted" if stop.asked else "complete")
        _, net, upper = chosen(grown.tree, side, cost)
        resumed = Setup(raw, side).grow(Pays(cost), checkpoint=checkpoint)
    assert resumed.ending == "complete"
    whole = chosen(Setup(raw, side).grow(Pays(cost)).tree, side, cost)
    assert net <= whole[1] + 1e-9 <= upper + 2e-9
    assert chosen(resumed.tree, side, cost)[0] == whole[0]
    assert chosen(resumed.tree, side, cost)[1:] == pytest.approx(whole[1:], abs=1e-12)


def test_a_stop_cannot_come_between_two_steps() -> None:
    stop = Stop()
    stop.request()  # nobody waits: nothing is raised
    assert stop.asked
    game, side, base, prep, value, goal = large()
    grown = grow(game, side, base, prep, value, goal, stop=stop)
    assert (grown.ending, grown.histories) == ("interrupted", 1)
    assert response.best_book(grown.tree, side, 1e-4).upper == pytest.approx(1.0, abs=1e-3)


def test_an_interrupt_that_nobody_arranged_for_is_passed_on() -> None:
    def interrupted(states: Sequence[Any]) -> list[Value]:
        if len(states[0].path) > 3:
            raise KeyboardInterrupt
        return SyntheticValue().values(states)

    game, side, base, prep, _, goal = large()
    with pytest.raises(KeyboardInterrupt):
        grow(game, side, base, prep, Recorder(interrupted), goal)


def test_ctrl_c_prints_the_best_book_so_far_and_the_run_goes_on(tmp_path: Path) -> None:
    """A real process and a real signal: the run that was interrupted ends like one that was not."""
    arguments = ["prepare", "synthetic-large", "--side", "2", "--cost", "0.00003", "--json"]

    def command(run: str) -> list[str]:
        return [
            sys.executable,
            "-c",
            "from preplay.cli import main; main()",
            *arguments,
            "--save",
            str(tmp_path / run),
        ]

    with subprocess.Popen(
        command("cut"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        patience = time.monotonic() + 60
        while not (tmp_path / "cut" / "run.json").exists() and time.monotonic() < patience:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err == ""
    part = json.loads(out)
    assert part["ending"] == "interrupted"
    assert part["net"] <= part["upper"] <= 1.0
    assert part["net"] == pytest.approx(part["value"] - part["cost"] * part["size"])
    assert json.loads((tmp_path / "cut" / "result.json").read_text()) == part

    from preplay.matchup import open_matchup
    from preplay.preparation import prepare

    done = subprocess.run(command("cut"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    resumed = json.loads(done.stdout)
    assert resumed["ending"] == "complete"
    assert resumed["histories"] > part["histories"]
    assert resumed["questions"] > part["questions"]
    with open_matchup("synthetic-large") as matchup:
        whole = prepare(matchup, 2, 0.00003)
    assert part["net"] <= whole.response.net <= part["upper"]
    assert (resumed["net"], resumed["upper"], resumed["size"]) == pytest.approx(
        (whole.response.net, whole.response.upper, whole.response.size), abs=1e-12
    )
    book = {tuple(row["history"]) for row in resumed["book"]}
    assert book == {whole.tree.history(int(k)) for k in whole.response.nodes}


# --- checkpoints --------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(
    games(depth=5, own=60, estimates=True),
    SIDES,
    COSTS,
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
    st.integers(1, 12),
)
def test_growth_in_parts_ends_like_growth_in_one_go(
    raw: Raw, side: Side, cost: float, cuts: list[int], window: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "growth.npz"
        for cut in [*sorted(cuts), None]:
            setup = Setup(raw, side)
            grown = setup.grow(Pays(cost), Limits(histories=cut, window=window), checkpoint=checkpoint)
    whole = Setup(raw, side).grow(Pays(cost), Limits(window=window))
    assert grown.ending == "complete"
    first, second = chosen(grown.tree, side, cost), chosen(whole.tree, side, cost)
    assert first[0] == second[0]
    assert first[1:] == pytest.approx(second[1:], abs=1e-12)
    assert (grown.questions, grown.histories) == (whole.questions, whole.histories)
    assert same(grown.tree, whole.tree)
    assert grown.tree.names == whole.tree.names


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.integers(1, 40))
def test_a_checkpoint_restores_the_very_same_bounds(raw: Raw, side: Side, cost: float, cut: int) -> None:
    told: list[GrowthProgress] = []
    limits = Limits(histories=cut, window=1)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "growth.npz"
        first = Setup(raw, side).grow(Pays(cost), limits, checkpoint=checkpoint, progress=told.append)
        again = Setup(raw, side).grow(Pays(cost), limits, checkpoint=checkpoint, progress=told.append)
    assert again.histories == first.histories
    if first.ending == "histories":
        assert same(first.tree, again.tree)
        # Bounds above may lag behind a little while growing, never the other way.
        assert told[-1].up <= told[0].up + 1e-12
        assert told[-1].low >= told[0].low - 1e-12


def test_a_crash_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    game, side, base, prep, value, _ = large()
    goal = Pays(0.001)
    calls = 0

    def crashing(states: Sequence[Any]) -> list[Value]:
        nonlocal calls
        calls += 1
        if calls > 20:
            raise RuntimeError("the engine room is on fire")
        return SyntheticValue().values(states)

    path = tmp_path / "growth.npz"
    limits = Limits(window=4)
    with pytest.raises(RuntimeError, match="on fire"):
        grow(game, side, base, prep, Recorder(crashing), goal, limits, checkpoint=path, every=0.0)
    assert list(tmp_path.iterdir()) == [path]  # and no half-written neighbour
    recorder = Recorder(value.values)
    resumed = grow(game, side, base, prep, recorder, goal, limits, checkpoint=path)
    whole = grow(game, side, base, prep, value, goal, limits)
    assert chosen(resumed.tree, side, 0.001) == chosen(whole.tree, side, 0.001)
    assert game.root() not in recorder.states


def test_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    game, side, base, prep, value, goal = large()
    path = tmp_path / "growth.npz"
    grow(game, side, base, prep, value, goal, Limits(histories=50), checkpoint=path)
    others: list[tuple[Side, Goal]] = [(2, goal), (1, Pays(0.1)), (1, Lemma1(1e-4))]
    for other_side, other_goal in others:
        with pytest.raises(
            StoreError, match=r"growth\.npz: not a checkpoint to go on from \(it is for side 1, Pays"
        ):
            grow(game, other_side, base, prep, value, other_goal, checkpoint=path)
    path.write_bytes(b"PK not really")
    with pytest.raises(StoreError, match="remove it to start anew"):
        grow(game, side, base, prep, value, goal, checkpoint=path)
    np.savez(path, purpose="side 1, Pays(cost=0.0001, certain=True)")
    with pytest.raises(StoreError, match="remove it to start anew"):
        grow(game, side, base, prep, value, goal, checkpoint=path)


@pytest.mark.parametrize("sides", ["one", "both"])
@pytest.mark.parametrize(
    ("column", "at", "damage"), [("parent", 2, 9), ("first", 0, 3), ("count", 1, -1), ("stage", 1, 7)]
)
def test_a_checkpoint_that_is_no_tree_is_refused(
    tmp_path: Path, sides: str, column: str, at: int, damage: int
) -> None:
    game, side, base, prep, value, goal = large()
    path = tmp_path / "growth.npz"

    def go_on() -> None:
        if sides == "one":
            grow(game, side, base, prep, value, goal, Limits(histories=50), checkpoint=path)
        else:
            both = game, base, (prep, prep), value, (1e-3, 1e-3), Limits(histories=50)
            ContestedGrowth(*both, checkpoint=path).save()

    go_on()
    with np.load(path) as file:
        columns = dict(file)
    columns[column][at] = damage
    np.savez(path, **columns)
    with pytest.raises(StoreError, match=r"growth\.npz: not a checkpoint to go on from \(.*remove it"):
        go_on()


# --- broken contracts ---------------------------------------------------------------------------


class Broken:
    """Two moves each, a1 and a2; what is wrong with it is put in from outside."""

    longest, widest = 4, 2

    def __init__(self, **wrong: Any) -> None:
        self.wrong = wrong

    def root(self) -> tuple[str, ...]:
        return ()

    def history(self, state: tuple[str, ...]) -> tuple[str, ...]:
        return state

    def player(self, state: tuple[str, ...]) -> int:
        if state == ("a1", "a2"):
            return int(self.wrong.get("player", 1))
        return FINAL if len(state) == 4 else 1 + len(state) % 2

    def actions(self, state: tuple[str, ...]) -> list[str]:
        return ["a1", "a2"]

    def chance(self, state: tuple[str, ...]) -> dict[str, float]:
        return dict(self.wrong["chance"])

    def next(self, state: tuple[str, ...], action: str) -> tuple[str, ...]:
        if action not in ("a1", "a2") or self.wrong.get("bug"):
            raise KeyError(action)
        return (*state, action)

    def utility(self, state: tuple[str, ...]) -> float:
        return float(self.wrong.get("utility", 0.5))


NAN = float("nan")
PLACE = ("a1", "a2")


def bad_policy(answer: Any) -> dict[str, Any]:
    return {
        "prep": Recorder(
            lambda states: [answer if s == PLACE else {"a1": 0.5, "a2": 0.5} for s in states]
        )
    }


def bad_value(answer: Value) -> dict[str, Any]:
    return {"value": Recorder(lambda states: [answer if s == PLACE else Value(0.5) for s in states])}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            bad_policy({"a1": 0.5, "a2": 0.4}),
            "history ['a1', 'a2']: distribution: probabilities sum to 0.9; expected 1",
        ),
        (
            bad_policy({"a1": 1.5, "a2": -0.5}),
            "history ['a1', 'a2']: distribution: probability of 'a1' is 1.5",
        ),
        (
            bad_policy({"a1": -0.5, "a2": 1.5}),
            "history ['a1', 'a2']: distribution: probability of 'a1' is -0.5",
        ),
        (
            bad_policy({"a1": NAN, "a2": 1.0}),
            "history ['a1', 'a2']: distribution: probability of 'a1' is nan",
        ),
        (bad_policy({}), "history ['a1', 'a2']: distribution: no actions"),
        (bad_policy({"e4": 1.0}), "history ['a1', 'a2']: action 'e4'; expected one of a1, a2"),
        (bad_value(Value(1.25)), "history ['a1', 'a2']: value 1.25 ± 0.0; expected a mean in [0, 1]"),
        (bad_value(Value(-0.01)), "history ['a1', 'a2']: value -0.01 ± 0.0; expected a mean in [0, 1]"),
        (bad_value(Value(NAN)), "history ['a1', 'a2']: value nan ± 0.0; expected a mean in [0, 1]"),
        (
            bad_value(Value(0.5, -1)),
            "history ['a1', 'a2']: value 0.5 ± -1; expected a mean in [0, 1] and a radius",
        ),
        (bad_value(Value(0.5, NAN)), "history ['a1', 'a2']: value 0.5 ± nan; expected"),
        ({"game": Broken(utility=2)}, "utility 2.0; expected a number in [0, 1]"),
        ({"game": Broken(utility=NAN)}, "utility nan; expected a number in [0, 1]"),
        (
            {"game": Broken(player=3)},
            "history ['a1', 'a2']: player 3; expected 1, 2, 0 (chance) or -1 (over)",
        ),
        (
            {"game": Broken(player=-2)},
            "history ['a1', 'a2']: player -2; expected 1, 2, 0 (chance) or -1 (over)",
        ),
        (
            {"game": Broken(player=0, chance={"a1": 0.2})},
            "history ['a1', 'a2']: distribution: probabilities sum to 0.2; expected 1",
        ),
        ({"prep": Recorder(lambda states: [])}, "0 answers to 1 questions; expected one each"),
    ],
)
def test_a_broken_contract_is_told_with_its_history(parts: dict[str, Any], message: str) -> None:
    game = parts.get("game", Broken())
    uniform = Uniform(game)
    value = parts.get("value", Recorder(lambda states: [Value(0.5)] * len(states)))
    with pytest.raises(GameError) as error:
        grow(game, 1, (uniform, uniform), parts.get("prep", uniform), value, Lemma1(0.001))
    assert message in str(error.value)


def test_a_bug_in_a_game_is_not_hidden() -> None:
    game = Broken(bug=True)
    value = Recorder(lambda states: [Value(0.5)] * len(states))
    with pytest.raises(KeyError, match="a1"):
        grow(game, 1, (Uniform(game), Uniform(game)), Uniform(game), value, Lemma1(0.001))


def test_a_game_must_begin() -> None:
    game = tabular.TabularGame(tabular.Node(None, ""), 0, 0, 1)
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    with pytest.raises(GameError, match="over before it begins"):
        grow(game, 1, (base, base), prep, tabular.TabularValue(), Pays(0.1))


@settings(max_examples=40, deadline=None)
@given(games(depth=5, own=60), SIDES, COSTS, st.sampled_from([0.01, 0.1]))
def test_uncertain_values_keep_the_certificate(raw: Raw, side: Side, cost: float, radius: float) -> None:
    """Values that are off by at most their radius: the truth stays between net - error and upper."""
    setup = Setup(raw, side)
    off = random.Random(len(own_histories(raw["root"], side)))

    def values(states: Sequence[Any]) -> list[Value]:
        return [
            Value(min(1.0, max(0.0, value.mean + off.uniform(-radius, radius))), radius)
            for value in tabular.TabularValue().values(states)
        ]

    setup.value.answer = values
    tree = setup.grow(Pays(cost)).tree
    best = response.best_book(tree, side, cost)
    whole = response.best_book(Setup(raw, side).grow(Pays(cost)).tree, side, cost)
    truth = worth(raw["root"], side, frozenset(tree.history(int(k)) for k in best.nodes))
    assert abs(truth - best.value) <= best.error + 1e-9
    assert whole.net <= best.upper + 1e-9
    assert whole.net >= best.net - best.error - 1e-9
    root = v(raw["root"])
    assert abs(best.baseline - (root if side == 1 else 1.0 - root)) <= radius + 1e-12
