"""Memory by position against the enumeration of all closed sets of histories and choices from menus."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from publictrees import weights
from randomgames import History, Raw, count_plans, plans

from preplay import response
from preplay.choice import choose, shared
from preplay.game import Side
from preplay.games import tabular
from preplay.growth import Limits, Pays, grow
from preplay.policy import Choices
from preplay.tree import Tree, check_arrays, load, save

SIDES = st.sampled_from([1, 2])
COSTS = st.sampled_from([0.003, 0.01, 0.03, 0.1])
DEVIATIONS = st.sampled_from([0, 1, 2, 3, None])
MOST = 3000


@st.composite
def boards(draw: st.DrawFn, depth: int = 4, menus: bool = True) -> tuple[Raw, dict[History, str]]:
    """A game of a few positions a layer, as the tree of its histories, and each history's position.

    A position may come again on a line.
    """
    below: list[tuple[str, Raw]] = [
        (f"end{k}", {"utility": draw(st.integers(0, 10)) / 10}) for k in range(3)
    ]
    places: dict[str, list[str]] = {}
    met: dict[str, tuple[Any, ...]] = {}
    shown: dict[str, str] = {}
    for layer in range(depth):
        now: list[tuple[str, Raw]] = []
        for k in range(1 if layer == depth - 1 else draw(st.integers(1, 3))):
            name = f"{layer}.{k}"
            again = draw(st.sampled_from([None, None, *met]))
            if again is None:  # else a position that comes again, with another future
                n = draw(st.integers(1, 3))
                player = draw(st.sampled_from([1, 2, 1, 2, "chance"]))
                offered = [draw(st.booleans()) and menus and player != "chance" for _ in range(n)]
                met[name] = player, draw(weights(n)), draw(weights(n)), offered
            shown[name] = name if again is None else again
            player, base, prep, offered = met[shown[name]]
            actions: Raw = {}
            places[name] = []
            for a in range(len(base)):
                to = draw(st.sampled_from(below))
                kind = {"prob": base[a]} if player == "chance" else {"base": base[a], "prep": prep[a]}
                actions[f"a{a}"] = kind | ({"menu": True} if offered[a] else {}) | {"to": to[1]}
                places[name].append(to[0])
            now.append((name, {"player": player, "actions": actions}))
        below = now
    name, root = below[0]
    position: dict[History, str] = {}
    stack: list[tuple[History, str, Raw]] = [((), name, root)]
    while stack:
        history, here, node = stack.pop()
        position[history] = shown.get(here, here)
        for (action, edge), there in zip(
            node.get("actions", {}).items(), places.get(here, ()), strict=True
        ):
            stack.append(((*history, action), there, edge["to"]))
    return {"format": tabular.FORMAT, "root": root}, position


def grown(
    game: tuple[Raw, dict[History, str]], side: Side, cost: float, most: int | None, **more: Any
) -> Tree:
    raw, position = game
    rules, base, prep = tabular.parse(raw), tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    choices = Choices(tabular.TabularMenus(), most) if rules.offers[side - 1] else None
    goal = Pays(cost, position=lambda node: position[node.history])
    value = tabular.TabularValue()
    tree = grow(rules, side, (base, base), prep, value, goal, choices=choices, **more).tree
    check_arrays(tree)
    return tree


def nets(
    game: tuple[Raw, dict[History, str]], side: int, cost: float, most: int | None
) -> list[tuple[float, int]]:
    """What every book nets that plays one move a position, and how many positions it has."""
    raw, position = game
    found = []
    for value, plan in plans(raw["root"], side, most):
        moves: dict[str, set[Any]] = {}
        for history, move in plan.items():
            moves.setdefault(position[history], set()).add(move or played(raw, history))
        if all(len(several) == 1 for several in moves.values()):
            found.append((value - cost * len(moves), len(moves)))
    return found


def played(raw: Raw, history: History) -> Any:
    """What prep plays at a history: an action, or a mixture."""
    node = raw["root"]
    for action in history:
        node = node["actions"][action]["to"]
    sure = [name for name, edge in node["actions"].items() if edge["prep"] > 0.0]
    return sure[0] if len(sure) == 1 else "a mixture"


@settings(max_examples=80, deadline=None)
@given(boards(), SIDES, COSTS, DEVIATIONS)
def test_the_best_of_all_books_by_position(
    game: tuple[Raw, dict[History, str]], side: Side, cost: float, most: int | None
) -> None:
    assume(count_plans(game[0]["root"], side, most) <= MOST)
    best = shared.choose(grown(game, side, cost, most), side, cost).best
    assert best.net == pytest.approx(max(net for net, _ in nets(game, side, cost, most)), abs=1e-8)
    assert best.upper == pytest.approx(best.net, abs=1e-8)
    assert best.unprepared + best.gain.sum() == pytest.approx(best.value, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(boards(), SIDES, COSTS, DEVIATIONS, st.integers(0, 3), st.integers(1, 40), st.integers(1, 8))
def test_budgets_and_stopping_at_any_moment(
    game: tuple[Raw, dict[History, str]],
    side: Side,
    cost: float,
    most: int | None,
    budget: int,
    histories: int,
    window: int,
) -> None:
    assume(count_plans(game[0]["root"], side, most) <= MOST)
    every = nets(game, side, cost, most)
    few = shared.choose(grown(game, side, cost, most), side, cost, budget).best
    assert few.size <= budget
    assert few.net == pytest.approx(max(net for net, size in every if size <= budget), abs=1e-8)
    limits = Limits(histories=histories, window=window)
    part = shared.choose(grown(game, side, cost, most, limits=limits), side, cost).best
    truth = max(net for net, _ in every)
    assert part.net - 1e-8 <= truth <= part.upper + 1e-8


@pytest.mark.parametrize("histories", range(1, 12))
def test_a_history_that_waits_may_play_the_move_of_its_position(histories: int) -> None:
    place: Raw = {
        "player": 1,
        "actions": {
            "trap": {"base": 0.0, "prep": 0.0, "menu": True, "to": {"utility": 0.6}},
            "sound": {"base": 1.0, "prep": 1.0, "to": {"utility": 0.0}},
        },
    }
    replies = {name: {"base": 0.5, "prep": 0.5, "to": place} for name in ("left", "right")}
    raw: Raw = {"format": tabular.FORMAT, "root": {"player": 2, "actions": replies}}
    position = {(): "start", ("left",): "met", ("right",): "met"}
    game = raw, position | {(side, move): move for side in replies for move in ("trap", "sound")}
    tree = grown(game, 1, 0.01, 1, limits=Limits(histories=histories, window=1))
    assert shared.choose(tree, 1, 0.01).best.upper >= max(nets(game, 1, 0.01, 1))[0] - 1e-9


@settings(max_examples=40, deadline=None)
@given(boards(menus=False), SIDES, COSTS, st.integers(1, 30))
def test_paying_once_is_never_worse_and_growth_goes_on(
    tmp_path_factory: pytest.TempPathFactory,
    game: tuple[Raw, dict[History, str]],
    side: Side,
    cost: float,
    histories: int,
) -> None:
    whole = shared.choose(grown(game, side, cost, None), side, cost).best
    folder = tmp_path_factory.mktemp("growth")
    limits = Limits(histories=histories, window=2)
    grown(game, side, cost, None, limits=limits, checkpoint=folder / "growth.npz")
    tree = grown(game, side, cost, None, checkpoint=folder / "growth.npz")
    assert shared.choose(tree, side, cost).best.net == pytest.approx(whole.net, abs=1e-8)
    save(tree, folder / "tree.npz")
    assert shared.choose(load(folder / "tree.npz"), side, cost).best.net == pytest.approx(whole.net)
    raw = game[0]
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    plain = grow(tabular.parse(raw), side, (base, base), prep, tabular.TabularValue(), Pays(cost)).tree
    assert whole.net >= response.best_book(plain, side, cost).net - 1e-8
    assert choose(plain, side, cost).best.net == response.best_book(plain, side, cost).net


@settings(max_examples=30, deadline=None)
@given(boards(menus=False), SIDES)
def test_the_best_books_for_all_costs(game: tuple[Raw, dict[History, str]], side: Side) -> None:
    assume(count_plans(game[0]["root"], side, 0) <= MOST)
    least = 0.003
    tree = grown(game, side, least, 0)
    books = shared.best_books(tree, side, least)
    every = [(net, size) for net, size in nets(game, side, 0.0, 0)]
    for cost in (0.003, 0.01, 0.02, 0.05, 0.1, 0.3):
        truth = max(value - cost * size for value, size in every)
        empty = response.evaluate(tree, side, books[0].nodes[:0]) if books else truth
        known = max([empty, *(book.value - cost * book.size for book in books)])
        assert known == pytest.approx(truth, abs=1e-8)
    front = shared.frontier(tree, side)
    assert front.size.tolist() == [book.size for book in books]
    assert (front.cost[:-1] > front.cost[1:]).all()
    places = dict(enumerate([] if tree.position is None else tree.position.tolist()))
    for j, (size, value) in enumerate(zip(front.size, front.value, strict=True)):
        nodes = front.book(j)  # a book, nested in the next one
        assert response.evaluate(tree, side, nodes) == pytest.approx(value, abs=1e-9)
        assert len({places[k] for k in nodes.tolist()}) == size
        told = front.unprepared + front.gain[: len(nodes)].sum()
        assert told == pytest.approx(value, abs=1e-9)


def test_a_position_pays_that_no_history_of_it_does() -> None:
    """Two move orders of reach 1/2 each gain 0.05; learning costs 0.06: only together they pay."""
    better = {"base": 0, "prep": 1, "to": {"utility": 0.6}}
    worse = {"base": 1, "prep": 0, "to": {"utility": 0.5}}
    own = {"player": 1, "actions": {"good": better, "bad": worse}}
    root = {"player": "chance", "actions": {n: {"prob": 0.5, "to": own} for n in ("x", "y")}}
    game = {"format": tabular.FORMAT, "root": root}, {(): "start", ("x",): "same", ("y",): "same"}
    best = shared.choose(grown(game, 1, 0.06, None), 1, 0.06).best
    assert (len(best.nodes), best.size) == (2, 1)
    assert best.net == pytest.approx(0.54)


@settings(max_examples=40, deadline=None)
@given(boards(), SIDES, COSTS, DEVIATIONS)
def test_what_a_deviation_buys(
    game: tuple[Raw, dict[History, str]], side: Side, cost: float, most: int | None
) -> None:
    """Each option's worth against all books that play it in that position, and those without it."""
    assume(count_plans(game[0]["root"], side, most) <= MOST)
    raw, position = game
    made = shared.choose(grown(game, side, cost, most), side, cost)
    explained = shared.decisions(made)
    tree, best = made.tree, made.best
    pi = response.reach(tree, side)
    value = tree.value if side == 1 else 1.0 - tree.value
    for k, decision in explained.items():
        assert decision.played > 0
        here = position[tree.history(k)]
        meet = [j for j in best.nodes.tolist() if position[tree.history(j)] == here and j in explained]
        lines = [tree.history(j) for j in meet]
        meet = [
            j
            for j, h in zip(meet, lines, strict=True)
            if not any(h[: len(g)] == g for g in lines if g != h)
        ]
        stop, mass = float((pi[meet] * value[meet]).sum()), float(pi[meet].sum())
        learned = {tree.history(j) for j in best.nodes.tolist()}
        ways = [(h[:n], h[n]) for j in meet for h in [tree.history(j)] for n in range(len(h))]
        way = [(before, move) for before, move in ways if before in learned]
        for option in decision.options:
            inside, outside = [], []
            for worth, plan in plans(raw["root"], side, most):
                if not all(h in plan and plan[h] in (None, move) for h, move in way):
                    continue
                moves: dict[str, set[Any]] = {}
                for history, move in plan.items():
                    moves.setdefault(position[history], set()).add(move or played(raw, history))
                if any(len(several) > 1 for several in moves.values()):
                    continue
                net = worth - cost * len(moves)
                if here not in moves:
                    outside.append(net)
                elif option.move in moves[here]:
                    inside.append(net)
            extra = max(inside) - max(outside)
            assert option.worth == pytest.approx((stop + extra) / mass, abs=1e-6)
        assert decision.options[decision.played].worth == pytest.approx(
            max(option.worth for option in decision.options), abs=1e-6
        )


@settings(max_examples=40, deadline=None)
@given(boards(), SIDES, COSTS, DEVIATIONS)
def test_where_no_positions_meet_it_says_what_menus_do(
    game: tuple[Raw, dict[History, str]], side: Side, cost: float, most: int | None
) -> None:
    assume(count_plans(game[0]["root"], side, most) <= MOST)
    apart = game[0], {history: str(history) for history in game[1]}
    explained = shared.decisions(shared.choose(grown(apart, side, cost, most), side, cost))
    plain = choose(grown(apart, side, cost, most), side, cost)
    alone = {plain.tree.history(k): d for k, d in plain.decisions.items() if d.played}
    made = shared.choose(grown(apart, side, cost, most), side, cost)
    for k, decision in explained.items():
        other = alone.get(made.tree.history(k))
        if other is None or other.played != decision.played:  # another book that is as good
            continue
        for one, two in zip(decision.options, other.options, strict=True):
            assert one.worth >= two.worth - 1e-6
        assert decision.options[decision.played].worth == pytest.approx(
            other.options[other.played].worth, abs=1e-6
        )
        if other.hoped is not None and decision.hoped is not None:
            assert decision.hoped.worth == pytest.approx(other.hoped.worth, abs=1e-6) or (
                decision.hoped.reply != other.hoped.reply
            )


@pytest.mark.parametrize("budget", [None, 1])
@pytest.mark.parametrize("gain", [4e-8, -4e-8])
def test_what_is_hardly_worth_anything_is_weighed_exactly(gain: float, budget: int | None) -> None:
    """Where a budget is met by trying prices they become so low, and HiGHS takes 1e-6 for nothing."""
    actions = {
        "stay": {"base": 1.0, "prep": 0.0, "to": {"utility": 0.5}},
        "go": {"base": 0.0, "prep": 1.0, "to": {"utility": 0.5 + gain}},
    }
    game: Raw = {"format": tabular.FORMAT, "root": {"player": 1, "actions": actions}}
    cost = 1e-8
    best = shared.choose(grown((game, {(): "start"}), 1, cost, 0), 1, cost, budget).best
    assert best.size == (gain > cost)
    assert best.net == pytest.approx(0.5 + max(0.0, gain - cost), abs=1e-12)
