"""Hardening against brute force: all plans of the hider against all books of the preparer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from publictrees import matrix_value
from randomgames import History, Raw, books, games, v
from scipy.optimize import linprog
from standing import Standing

from preplay.errors import GameError, InputError, StoreError
from preplay.game import Side, other
from preplay.games import tabular
from preplay.growth import Limits
from preplay.hardening import against, harden, played_by
from preplay.hardening.hideout import HIDES, Hideout, Hiding
from preplay.hardening.program import given_away, least_plan
from preplay.judging import Judge
from preplay.logistic import Curve
from preplay.matchup import Matchup
from preplay.policy import Menu, Option
from preplay.preparation import prepare
from preplay.stopping import NEVER
from preplay.value import Value, ValueFunction

BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
SIDES = st.sampled_from([1, 2])
PRICES = st.sampled_from([0.01, 0.05, 0.1])


def matchup_of(raw: Raw) -> Matchup[tabular.Node]:
    menus = tabular.TabularMenus()
    value = tabular.TabularValue()
    game = tabular.parse(raw)
    return Matchup("test", game, (BASE, BASE), (PREP, PREP), value, menus=(menus, menus), enumerable=True)


def menus_of(root: Raw, side: int) -> dict[History, list[str]]:
    found: dict[History, list[str]] = {}

    def visit(node: Raw, history: History) -> None:
        if "utility" in node:
            return
        marked = [name for name, edge in node["actions"].items() if edge.get("menu")]
        if node["player"] == side and marked:
            found[history] = marked
        for name, edge in node["actions"].items():
            visit(edge["to"], (*history, name))

    visit(root, ())
    return found


def nets(root: Raw, side: int, book: frozenset[History], plan: dict[History, str], cost: float) -> float:
    """What a book of the preparer nets against a pure plan of the hider."""
    preparer = 3 - side

    def visit(node: Raw, history: History) -> float:
        if "utility" in node:
            return float(node["utility"])
        mover = node["player"]
        if mover == preparer and history not in book:
            return v(node)
        if history in plan:
            return visit(node["actions"][plan[history]]["to"], (*history, plan[history]))
        kind = {"chance": "prob", preparer: "prep"}.get(mover, "base")
        return sum(
            float(e[kind]) * visit(e["to"], (*history, name))
            for name, e in node["actions"].items()
            if e[kind] > 0.0
        )

    value = visit(root, ())
    return (value if preparer == 1 else 1.0 - value) - cost * len(book)


def enumerated(raw: Raw, side: int, cost: float) -> float:
    """The least that a mixed plan leaves the best book: a matrix game."""
    root = raw["root"]
    menus = menus_of(root, side)
    plans = [dict(zip(menus, choice, strict=True)) for choice in itertools.product(*menus.values())]
    every = list(books(root, 3 - side))
    assume(len(plans) * len(every) <= 4_000)
    game = np.array([[-nets(root, side, book, plan, cost) for book in every] for plan in plans])
    return -matrix_value(game)


@settings(max_examples=50, deadline=None)
@given(games(depth=4, own=7, estimates=True, menus=True), SIDES, PRICES)
def test_the_mix_leaves_least(raw: Raw, side: Side, cost: float) -> None:
    least = enumerated(raw, side, cost)
    found = harden(matchup_of(raw), side, cost, gap=1e-9)
    assert found.lower - 1e-7 <= least <= found.upper + 1e-7
    assert found.gap <= 1e-6
    # The best book against the mix, found by other code, nets what is said.
    meets = replace(played_by(matchup_of(raw), side, found.policy), menus=(None, None))
    best = prepare(meets, other(side), cost).response
    assert best.net == pytest.approx(found.value, abs=1e-7)
    assert found.books[2 - side].net == pytest.approx(found.value, abs=1e-9)
    gains = sum(e.gain for e in found.books[2 - side].entries)
    assert found.books[2 - side].without + gains == pytest.approx(found.books[2 - side].value, abs=1e-9)
    for moves in found.policy.values():
        assert sum(moves.values()) == pytest.approx(1.0)
    for softmax in found.softmax:
        assert softmax.value >= found.upper - 1e-6
    before = found.before()
    assert before is not None
    assert before.value == min(s.value for s in found.softmax)


def hideout(raw: Raw, side: Side) -> Hideout:
    """All of a game."""
    game = tabular.parse(raw)
    growth = Hiding(game, side, (BASE, BASE), PREP, tabular.TabularMenus(), tabular.TabularValue(), NEVER)
    while (now := growth.hideout()).open.any():
        growth.expand(np.flatnonzero(now.open).tolist())
    return growth.hideout()


@settings(max_examples=30, deadline=None)
@given(games(depth=5, own=15, estimates=True, menus=True), SIDES, PRICES)
def test_sweeps_and_the_program_agree(raw: Raw, side: Side, cost: float) -> None:
    at = hideout(raw, side)
    exact = least_plan(at, cost, None, 0.0, "lp")
    swept = least_plan(at, cost, None, 1e-4, "sweep", most=4_000)
    assert swept.lower <= exact.lower + 1e-9
    assert swept.lower >= exact.lower - 2e-3


def loss_of(root: Raw, side: int, plan: dict[History, str]) -> float:
    """What a pure plan gives away: at each menu that an opponent on base comes to, how far its action is
    behind the best one, by the opponent's values where they are next to move."""
    preparer = 3 - side

    def waits(node: Raw, history: History) -> float:
        if "utility" in node or node["player"] == preparer:
            value = float(node["utility"]) if "utility" in node else v(node)
            return value if preparer == 1 else 1.0 - value
        below = {name: waits(e["to"], (*history, name)) for name, e in node["actions"].items()}
        if history in plan:
            return min(below[name] for name, e in node["actions"].items() if e.get("menu"))
        kind = "prob" if node["player"] == "chance" else "base"
        return sum(float(node["actions"][name][kind]) * worth for name, worth in below.items())

    def visit(node: Raw, history: History) -> float:
        if "utility" in node:
            return 0.0
        if history in plan:
            move = plan[history]
            after, place = node["actions"][move]["to"], (*history, move)
            return waits(after, place) - waits(node, history) + visit(after, place)
        kind = "prob" if node["player"] == "chance" else "base"
        lines = {name: e for name, e in node["actions"].items() if "prob" in e or e["prep"] > 0.0}
        if node["player"] == side:
            lines = node["actions"]
        return sum(float(e[kind]) * visit(e["to"], (*history, name)) for name, e in lines.items())

    return visit(root, ())


def tempted() -> Raw:
    """The second choice gives away a little, and leaves a preparer a little less."""
    last = {
        "player": 2,
        "actions": {"a0": {"base": 1.0, "prep": 1.0, "to": {"utility": 0.0}}},
        "value": 0.2,
    }
    edges = {
        "a1": {"base": 0.0, "prep": 0.0, "to": {"utility": 0.1}, "menu": True},
        "a2": {"base": 1.0, "prep": 1.0, "to": last, "menu": True},
    }
    return {"format": "preplay-game/1", "root": {"player": 1, "actions": edges}}


class Shy:
    """Offers the same as the file, with an opinion of the first `few` of each menu alone."""

    def __init__(self, few: int) -> None:
        self.few = few

    def menus(self, states: Sequence[tabular.Node]) -> list[Menu]:
        offered = tabular.TabularMenus().menus(states)
        return [
            tuple(Option(o.action, o.opinion if k < self.few else None) for k, o in enumerate(menu))
            for menu in offered
        ]


@pytest.mark.parametrize("few", [0, 1])
def test_a_softmax_draws_no_move_without_an_opinion(few: int) -> None:
    matchup = replace(matchup_of(tempted()), menus=(Shy(few), None))
    told, shy = harden(matchup_of(tempted()), 1, 0.05), harden(matchup, 1, 0.05)
    assert (shy.lower, shy.upper) == pytest.approx((told.lower, told.upper))
    (first,) = shy.softmax  # with nothing to weigh, no temperature differs from another
    assert first.value == pytest.approx(told.softmax[0].value)


@settings(max_examples=40, deadline=None)
@example(tempted(), 1, 0.01, 0.0)
@given(games(depth=4, own=7, estimates=True, menus=True), SIDES, PRICES, st.floats(0.0, 0.2))
def test_the_mix_leaves_least_within_a_loss(raw: Raw, side: Side, cost: float, loss: float) -> None:
    """Against enumeration: all pure plans with what each gives away, all books, one linear program."""
    root = raw["root"]
    menus = menus_of(root, side)
    plans = [dict(zip(menus, choice, strict=True)) for choice in itertools.product(*menus.values())]
    every = list(books(root, 3 - side))
    assume(len(plans) * len(every) <= 4_000)
    rows = [[nets(root, side, book, plan, cost) for plan in plans] + [-1.0] for book in every]
    given_up = [loss_of(root, side, plan) for plan in plans]
    answer: Any = linprog(
        [0.0] * len(plans) + [1.0],
        A_ub=[*rows, [*given_up, 0.0]],
        b_ub=[0.0] * len(every) + [loss],
        A_eq=[[1.0] * len(plans) + [0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * len(plans) + [(None, None)],
    )
    found = harden(matchup_of(raw), side, cost, loss=loss, gap=1e-9)
    assert found.lower - 1e-6 <= answer.fun <= found.upper + 1e-6
    assert found.gap <= 1e-5
    assert found.loss <= loss + 1e-7
    for softmax in found.softmax:  # a mix that gives away no more is never worse
        assert softmax.mix is not None
        assert softmax.mix <= softmax.value + 1e-6


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=7, estimates=True, menus=True), SIDES, PRICES)
def test_the_judge_has_the_last_word(raw: Raw, side: Side, cost: float) -> None:
    """With noisy first values, what is promised of the best book is what it earns by the judge's."""
    truth = tabular.TabularValue()
    noisy = ValueFunction[tabular.Node](lambda state: len(repr(state.history)) * 7 % 11 / 10)
    judged = replace(matchup_of(raw), value=noisy, judge=Judge(truth, truth))
    found = harden(judged, side, cost, gap=1e-9)
    assert found.judged is not None
    assert found.judged.left == 0
    assert found.judged.after == pytest.approx(found.value, abs=1e-12)
    assert found.judged.fresh == pytest.approx(found.value, abs=1e-9)
    best = frozenset(entry.history for entry in found.books[2 - side].entries)
    assert earned(raw["root"], side, best, found.policy) - cost * len(best) == pytest.approx(found.value)
    # Asked about the mix, who knows the truth finds a book that is no worse.
    meets = replace(played_by(matchup_of(raw), side, found.policy), menus=(None, None))
    assert prepare(meets, other(side), cost).response.net >= found.value - 1e-9


def earned(root: Raw, side: int, book: frozenset[History], mix: Any) -> float:
    """What a book of the preparer earns against a mix, by the game's own values."""
    preparer = 3 - side

    def visit(node: Raw, history: History) -> float:
        if "utility" in node:
            return float(node["utility"])
        if node["player"] == preparer and history not in book:
            return v(node)
        kind = {"chance": "prob", preparer: "prep"}.get(node["player"], "base")
        shares = {name: float(e[kind]) for name, e in node["actions"].items()}
        if node["player"] == side:
            shares = mix.get(history, shares)
        below = node["actions"]
        return sum(p * visit(below[a]["to"], (*history, a)) for a, p in shares.items() if p > 0.0)

    value = visit(root, ())
    return value if preparer == 1 else 1.0 - value


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=7, estimates=True, menus=True), SIDES, PRICES, st.floats(0.0, 0.3))
def test_sampled_values_are_in_the_certificate(raw: Raw, side: Side, cost: float, radius: float) -> None:
    """Values that are off, by no more than they say: the truth is within the bounds."""
    truth = tabular.TabularValue()

    class Off:
        def values(self, states: Any) -> list[Value]:
            known = truth.values(states)
            shifts = [radius * (-1.0) ** len(repr(state.history)) for state in states]
            return [
                Value(min(1.0, max(0.0, value.mean + shift)), radius)
                for value, shift in zip(known, shifts, strict=True)
            ]

    found = harden(replace(matchup_of(raw), value=Off()), side, cost, gap=1e-9)
    assert found.lower - 1e-7 <= enumerated(raw, side, cost) <= found.upper + 1e-7
    best = frozenset(entry.history for entry in found.books[2 - side].entries)
    played = earned(raw["root"], side, best, found.policy) - cost * len(best)
    assert abs(played - found.value) <= found.error + 1e-9


@settings(max_examples=20, deadline=None)
@given(games(depth=5, own=15, menus=True), SIDES, PRICES, st.integers(1, 30), st.booleans())
def test_an_interrupted_run_goes_on_where_it_was(
    raw: Raw, side: Side, cost: float, cut: int, judged: bool
) -> None:
    """With a judge a run that was limited has asked it about other histories than one that was not: then
    each is best by the values that it knows."""
    noisy = ValueFunction[tabular.Node](lambda state: len(repr(state.history)) * 7 % 11 / 10)
    judge = Judge(tabular.TabularValue(), tabular.TabularValue()) if judged else None
    matchup = replace(matchup_of(raw), value=noisy, judge=judge)
    whole = harden(matchup, side, cost, gap=1e-7)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.npz"
        part = harden(matchup, side, cost, gap=1e-7, limits=Limits(cut), checkpoint=path)
        rest = harden(matchup, side, cost, gap=1e-7, checkpoint=path)
        again = harden(matchup, side, cost, gap=1e-7, checkpoint=path)
        if not judged:
            assert part.lower - 1e-7 <= rest.upper
            assert rest.lower - 1e-7 <= part.upper
            assert rest.value == pytest.approx(whole.value, abs=1e-6)
        assert rest.lower <= rest.value <= rest.upper <= rest.lower + 1e-6
        assert (again.questions, again.policy) == (rest.questions, rest.policy)
        with pytest.raises(StoreError, match="not a checkpoint to go on from"):
            harden(matchup, side, 0.02, checkpoint=path)
        path.write_bytes(b"torn")
        with pytest.raises(StoreError, match="remove it to start anew"):
            harden(matchup, side, cost, checkpoint=path)


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=9, menus=True), SIDES, PRICES, st.floats(0.0, 0.3))
def test_a_limit_of_the_loss_is_kept(raw: Raw, side: Side, cost: float, loss: float) -> None:
    free = harden(matchup_of(raw), side, cost, gap=1e-9)
    tight = harden(matchup_of(raw), side, cost, loss=loss, gap=1e-9)
    assert tight.loss <= loss + 1e-7
    assert tight.value >= free.value - 1e-7
    if free.loss <= loss:
        assert tight.value == pytest.approx(free.value, abs=1e-6)
    at = hideout(raw, side)
    for y in (least_plan(at, cost, 0.0, 0.0).y, least_plan(at, cost, None, 0.0).y):
        assert given_away(at, y) >= -1e-12
    before = tight.before(loss)
    if before is not None:
        assert tight.upper <= before.value + 1e-6


@settings(max_examples=20, deadline=None)
@given(games(depth=4, own=9, menus=True), SIDES, PRICES)
def test_a_preparer_who_chooses_gets_no_less(raw: Raw, side: Side, cost: float) -> None:
    matchup = matchup_of(raw)
    found = harden(matchup, side, cost, gap=1e-7)
    chosen = against(matchup, side, found.policy, cost)
    assert chosen is not None
    choosing = chosen.response.net, chosen.response.upper
    assert choosing[1] >= choosing[0] - 1e-12
    root = raw["root"]
    pure = all(
        max(e["prep"] for e in _at(root, h)["actions"].values()) == 1.0 for h in menus_of(root, 3 - side)
    )
    if pure and all(
        _at(root, h)["actions"][m[0]]["prep"] == 1.0
        or any(_at(root, h)["actions"][a]["prep"] == 1.0 for a in m)
        for h, m in menus_of(root, 3 - side).items()
    ):  # what prep plays is on every menu
        assert choosing[0] >= found.value - 1e-7


def _at(node: Raw, history: History) -> Raw:
    for name in history:
        node = node["actions"][name]["to"]
    return node


def test_hiding_by_hand() -> None:
    """Two equal answers: the preparer wins against each once it is learned; the mix halves that."""
    learn = {
        "player": 1,
        "actions": {
            "right": {"base": 0.5, "prep": 1, "to": {"utility": 1}},
            "wrong": {"base": 0.5, "prep": 0, "to": {"utility": 0}},
        },
    }
    answers = {
        name: {"base": base, "prep": base, "menu": True, "to": learn}
        for name, base in (("x", 1), ("y", 0))
    }
    raw = {"format": "preplay-game/1", "root": {"player": 2, "actions": answers}}
    matchup: Any = matchup_of(raw)
    # Against "x" alone: learn one history, net 1 - 0.3. Against half and half: each is worth 0.25 < 0.3.
    assert prepare(replace(matchup, menus=(None, None)), 1, 0.3).response.net == pytest.approx(0.7)
    found = harden(matchup, 2, 0.3, gap=1e-9)
    assert found.value == pytest.approx(0.5, abs=1e-9)
    (mix,) = found.policy.values()
    assert 0.4 - 1e-9 <= mix["x"] <= 0.6 + 1e-9  # one share of at most 0.6 is not worth learning
    assert found.loss == pytest.approx(0.0)
    assert hideout(raw, 2).kind.tolist().count(HIDES) == 1


def test_what_cannot_be_hardened_is_refused() -> None:
    leaf = {"utility": 0.5}
    raw = {
        "format": "preplay-game/1",
        "root": {"player": 1, "actions": {"a": {"base": 1, "prep": 1, "to": leaf}}},
    }
    matchup: Any = matchup_of(raw)
    with pytest.raises(InputError, match="no moves to choose among"):
        harden(replace(matchup, menus=(None, None)), 1, 0.1)
    with pytest.raises(InputError, match="deviations 0 leave side 1 no moves to choose among; expected"):
        harden(replace(matchup, menus=(None, None), deviations=(0, 0)), 1, 0.1)
    with pytest.raises(InputError, match="loss -1"):
        harden(matchup, 1, 0.1, loss=-1.0)
    with pytest.raises(InputError, match="cost 0"):
        harden(matchup, 1, 0.0)
    with pytest.raises(InputError, match="expected lp, or sweep"):
        harden(matchup, 2, 0.1, method="magic")
    assert harden(matchup, 2, 0.1, limits=Limits(1)).histories >= 1


@settings(max_examples=30, deadline=None)
@given(games(depth=4, own=7, estimates=True, menus=True), SIDES, PRICES)
def test_the_error_of_a_calibration_is_that_of_prepare_against_the_mix(
    raw: Raw, side: Side, cost: float
) -> None:
    """The best book against the mix, found by other code, carries the same error."""
    curve = Curve(0.2, 0.6, 0.1, 0.05, -0.3, 50, 150)
    matchup = replace(matchup_of(raw), calibration=Standing(curve))
    found = harden(matchup, side, cost, gap=1e-9)
    meets = replace(played_by(matchup, side, found.policy), menus=(None, None))
    best = prepare(meets, other(side), cost)
    theirs = found.books[2 - side]
    assert theirs.error == found.error
    assume({e.history for e in theirs.entries} == {best.tree.history(int(k)) for k in best.book})
    assert found.error == pytest.approx(best.response.error, abs=1e-9)


class _Broken(tabular.TabularGame):
    """The game of `_guess`, some of whose answers make no sense."""

    told: Mapping[str, Any] = {}

    def player(self, state: tabular.Node) -> Any:
        return self._told("player", state, super().player(state))

    def chance(self, state: tabular.Node) -> Any:
        return self._told("chance", state, super().chance(state))

    def utility(self, state: tabular.Node) -> Any:
        return self._told("utility", state, super().utility(state))

    def _told(self, name: str, state: tabular.Node, right: Any) -> Any:
        return self.told.get(name, right) if len(self.history(state)) > 1 else right


def _guess() -> Raw:
    """Chance speaks after two equal answers, and then the preparer guesses."""
    ends = {
        name: {"base": 0.5, "prep": float(name == "right"), "to": {"utility": float(name == "right")}}
        for name in ("right", "wrong")
    }
    asked = {"player": 1, "actions": ends}
    said = {
        "player": "chance",
        "actions": {"loud": {"prob": 0.5, "to": asked}, "low": {"prob": 0.5, "to": {"utility": 0.5}}},
    }
    spoken = {"player": "chance", "actions": {"now": {"prob": 1.0, "to": said}}}
    answers = {name: {"base": 0.5, "prep": 0.5, "menu": True, "to": spoken} for name in ("x", "y")}
    return {"format": "preplay-game/1", "root": {"player": 2, "actions": answers}}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"utility": 7.0}, r"utility 7\.0; expected a number in \[0, 1\]"),
        ({"utility": None}, "utility None; expected a number"),
        ({"chance": {"loud": 0.5}}, r"probabilities sum to 0\.5; expected 1"),
        ({"chance": {"loud": 0.5, "none": 0.5}}, "action 'none'; expected one of loud, low"),
        ({"player": 5}, r"player 5; expected 1, 2, 0 \(chance\) or -1 \(over\)"),
        ({"longest": 2}, "a history of 3 actions; expected at most 2"),
    ],
)
def test_what_a_game_answers_must_make_sense(told: dict[str, Any], said: str) -> None:
    raw = _guess()
    matchup: Any = matchup_of(raw)
    plain = matchup.game
    game = _Broken(**{field.name: getattr(plain, field.name) for field in fields(plain)})
    object.__setattr__(game, "told", told)
    if "longest" in told:
        object.__setattr__(game, "longest", told["longest"])
    assert harden(matchup, 2, 0.1).ending == "complete"
    with pytest.raises(GameError, match=said):
        harden(replace(matchup, game=game), 2, 0.1)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "0 answers to 2 questions; expected one each"),
        (None, "None is no list of answers"),
        ([Value(7.0), Value(0.5)], r"value 7\.0 ± 0\.0; expected a mean in \[0, 1\]"),
        ([0.5, 0.5], r"value 0\.5; expected a Value of mean and radius"),
    ],
)
def test_what_an_evaluator_answers_must_make_sense(answers: Any, said: str) -> None:
    matchup: Any = matchup_of(_guess())
    with pytest.raises(GameError, match=said):
        harden(replace(matchup, value=SimpleNamespace(values=lambda states: answers)), 2, 0.1)
