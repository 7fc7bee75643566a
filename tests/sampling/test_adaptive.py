"""Adaptive roll-outs: the radius at all times, the regret against brute force, the guarantee itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from randomgames import Raw, books, games, own_histories, v, worth
from scipy import stats
from winlossgames import random_game

from preplay import response
from preplay.errors import InputError
from preplay.game import Side, walk
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy
from preplay.games.tabular import Node, TabularGame, TabularPolicy, TabularValue, parse
from preplay.growth import Lemma1, Limits, Pays, grow
from preplay.sampling import _regret
from preplay.sampling.adaptive import RATES, AdaptiveRollouts, Estimate
from preplay.sampling.rollouts import hoeffding_samples
from preplay.sampling.samplers import Outcomes, PlayoutRequest, Playouts
from preplay.sampling.sharpen import Sharpened, Sharpening, _Doubt, sharpen
from preplay.stopping import Stop
from preplay.tree import Tree
from preplay.value import Exact, ValueFunction

BASE = (TabularPolicy("base"), TabularPolicy("base"))
PREP = TabularPolicy("prep")
CLIPPED = ValueFunction[Node](lambda node: min(1.0, node.value))


def rollouts(game: TabularGame, delta: float = 0.1, seed: int = 0, **options: Any) -> Any:
    return AdaptiveRollouts(game, Playouts(game, BASE, seed), delta, **options)


def best_net(raw: Raw, side: int, cost: float) -> float:
    """The most any book nets: at each own history stop, or pay and go on."""

    def visit(node: Raw, reach: float) -> float:
        if "utility" in node or reach == 0.0:
            return reach * (v(node) if side == 1 else 1.0 - v(node))
        own = node["player"] == side
        kind = "prob" if node["player"] == "chance" else "prep" if own else "base"
        below = sum(visit(edge["to"], reach * edge[kind]) for edge in node["actions"].values())
        stop = reach * (v(node) if side == 1 else 1.0 - v(node))
        return max(stop, below - cost) if own else below

    return visit(raw["root"], 1.0)


def true_net(raw: Raw, sharpened: Sharpened) -> float:
    book = frozenset(sharpened.tree.history(k) for k in sharpened.book.tolist())
    return worth(raw["root"], sharpened.side, book) - sharpened.cost * len(book)


# --- one estimate -----------------------------------------------------------------------------------


def test_the_inequality_behind_the_radius() -> None:
    x = np.linspace(-1.0, 1.0, 2001)
    for t in (*RATES, 0.99):
        psi = -math.log1p(-t) - t
        assert np.all(np.exp(t * x - x**2 * psi) <= 1.0 + t * x + 1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(0, 40))
def test_an_estimate_in_parts(outcomes: list[float], cut: int) -> None:
    x = np.array(outcomes)
    whole = Estimate().after(Outcomes(x, False))
    parts = Estimate().after(Outcomes(x[:cut], False)).after(Outcomes(x[cut:], False))
    assert parts.samples == whole.samples == len(x)
    assert parts.mean == pytest.approx(x.mean(), abs=1e-12)
    spread = sum((x[i] - (0.5 + x[:i].sum()) / (i + 1)) ** 2 for i in range(len(x)))
    assert parts.spread == pytest.approx(spread, abs=1e-9)
    assert whole.spread == pytest.approx(spread, abs=1e-9)
    assert 0.0 < whole.radius(0.1) <= max(whole.mean, 1.0 - whole.mean)


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.5, 1.0), (0.45, 0.55), (0.0, 0.0, 0.0, 0.0, 1.0)])
def test_the_radius_covers_at_all_times(values: tuple[float, ...]) -> None:
    # 300 runs at δ = 0.1: more failures than this happen once in a million.
    rng = np.random.default_rng(1)
    misses = 0
    for _ in range(300):
        estimate, failed = Estimate(), False
        for size in [1] * 20 + [5] * 10 + [40] * 10 + [500] * 5:
            estimate = estimate.after(Outcomes(rng.choice(values, size), False))
            failed |= abs(estimate.mean - sum(values) / len(values)) > estimate.radius(0.1) + 1e-12
        misses += failed
    assert misses <= stats.binom.ppf(1 - 1e-6, 300, 0.1)


def test_the_radius_is_about_as_small_as_hoeffding_s_and_smaller_where_little_varies() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 10_000).astype(float)
    hoeffding = math.sqrt(math.log(2 / 1e-5) / 2e4)
    assert Estimate().after(Outcomes(x, False)).radius(1e-5) < 1.25 * hoeffding
    assert Estimate().after(Outcomes(0.4 + 0.1 * x, False)).radius(1e-5) < 0.2 * hoeffding


def test_what_is_not_random_is_certain() -> None:
    estimate = Estimate().after(Outcomes(np.array([0.3, 0.3]), True))
    assert (estimate.mean, estimate.radius(0.1)) == (0.3, 0.0)
    assert estimate.after(Outcomes(np.array([0.9]), False)) == estimate


# --- the evaluator ----------------------------------------------------------------------------------


def test_shares_and_means_and_refinement() -> None:
    raw = random_game(np.random.default_rng(3))
    game = parse(raw)
    states = [node for node in _nodes(game.root()) if node.player in (1, 2)][:12]
    ahead, back = rollouts(game), rollouts(game)
    values = ahead.values(states)
    assert values == ahead.values(states)
    assert [x.mean for x in values] == [x.mean for x in reversed(back.values(states[::-1]))]
    late = rollouts(game, asked=1000).values(states)
    assert all(a.radius >= b.radius for a, b in zip(late, values, strict=True))
    assert ahead.samples == sum(e.samples for e in ahead.estimates.values()) <= 8 * 12
    state = max(states, key=lambda s: ahead.value(s).radius)
    before = ahead.value(state)
    ahead.more([state], [5000])
    after = ahead.value(state)
    assert ahead.estimates[state.history].samples == 5008
    assert after.radius < 0.2 < before.radius
    assert abs(after.mean - state.value) <= after.radius
    assert rollouts(game, first=0).values(states[:2]) == [(0.5, 0.5)] * 2


def test_all_shares_sum_to_at_most_one() -> None:
    from preplay.sampling.adaptive import _share

    shares = [_share(k) for k in range(1, 100_000)]
    assert min(shares) > 0
    assert 0.9 < sum(shares) < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"delta": 0.0}, "delta 0.0; expected"), ({"first": -1}, "first -1; expected")],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rollouts(parse(random_game(np.random.default_rng(0))), **options)


def _nodes(root: Node) -> list[Node]:
    return [root, *(node for child in root.children.values() for node in _nodes(child))]


# --- the regret against brute force -----------------------------------------------------------------


def doubtful(seed: int) -> tuple[TabularGame, Side, float, Tree]:
    """A game, a side, a cost, and a tree of it with intervals, cut short in places."""
    rng = np.random.default_rng(seed)
    side: Side = 1 if rng.random() < 0.5 else 2
    while len(own_histories((raw := random_game(rng, 4))["root"], side)) > 8:
        pass
    game = parse(raw)
    limit = Limits(histories=int(rng.choice([2, 5, 10, 15, 1000])), window=1)
    tree = grow(game, side, BASE, PREP, CLIPPED, Lemma1(1e-9), limit).tree
    radius = rng.random(tree.size) * rng.choice([0.0, 0.05, 0.3, 1.0])
    radius[(tree.player == -1) | (rng.random(tree.size) < 0.1)] = 0.0
    value = np.where(tree.player == -1, tree.value, rng.integers(0, 11, tree.size) / 10)
    value[np.isnan(tree.value)] = np.nan
    closed = rng.random(tree.size) < rng.choice([0.0, 0.5, 1.0])
    cost = float(rng.choice([0.001, 0.01, 0.05, 0.2]))
    return game, side, cost, replace(tree, value=value, radius=radius, open=tree.open & ~closed)


def enumerated(tree: Tree, side: Side) -> list[frozenset[int]]:
    """All prefix-closed sets of what the side may memorize, open histories among it."""
    own = [k for k in range(tree.size) if tree.open[k] or (tree.player[k] == side and not tree.leaves[k])]
    above: dict[int, set[int]] = {}
    for k in own:
        j, above[k] = int(tree.parent[k]), set()
        while j >= 0:
            above[k] |= {j} & set(own)
            j = int(tree.parent[j])
    subsets = itertools.chain.from_iterable(itertools.combinations(own, r) for r in range(len(own) + 1))
    return [frozenset(chosen) for chosen in subsets if all(above[k] <= set(chosen) for k in chosen)]


def left_at(tree: Tree, side: Side, book: frozenset[int]) -> set[int]:
    """Where play leaves a book, open histories that it holds included."""
    exits, stack = set(), [0]
    while stack:
        k = stack.pop()
        if tree.leaves[k] or (tree.player[k] == side and k not in book):
            exits.add(k)
        else:
            stack.extend(tree.children(k))
    return exits


@pytest.mark.parametrize("block", range(10))
def test_bounds_are_the_extremes_over_all_books_and_values(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        check_extremes(*doubtful(seed))


def check_extremes(game: TabularGame, side: Side, cost: float, tree: Tree) -> None:
    pi = response.reach(tree, side)
    mean = tree.value if side == 1 else 1.0 - tree.value
    low, high = np.maximum(0.0, mean - tree.radius), np.minimum(1.0, mean + tree.radius)
    every = enumerated(tree, side)

    def extreme(book: frozenset[int], value: Any, minus: frozenset[int] | None = None) -> float:
        """The net of a book with these values, or its greatest lead over the book `minus`."""
        exits = left_at(tree, side, book)
        if minus is None:
            net = sum(pi[k] * (1.0 if k in book else value[k]) for k in exits)
            return float(net - cost * len(book))
        others = left_at(tree, side, minus)
        lead = sum(pi[k] * (1.0 if k in book else high[k]) for k in exits - others)
        lead += sum(pi[k] * (1.0 - low[k]) for k in exits & others & book)
        return float(lead - sum(pi[k] * low[k] for k in others - exits) - cost * (len(book) - len(minus)))

    doubt = _Doubt(game, tree, side, cost, rollouts(game), trusted=False)
    bounds = doubt.bounds()
    closed = [book for book in every if not any(tree.open[k] for k in book)]
    chosen = max((b for b in closed if all(bounds.chosen[k] for k in b)), key=len)
    assert bounds.net == pytest.approx(extreme(chosen, mean), abs=1e-9)
    assert bounds.net == pytest.approx(max(extreme(book, mean) for book in closed), abs=1e-9)
    assert bounds.lower == pytest.approx(extreme(chosen, low), abs=1e-9)
    assert bounds.upper == pytest.approx(max(extreme(book, high) for book in every), abs=1e-9)
    assert bounds.regret == pytest.approx(max(extreme(b, high, chosen) for b in every), abs=1e-9)
    # The regret is made of the intervals that are marked, and of what open histories may hold.
    marked = _regret.witnesses(tree.parent, doubt.kind, bounds.chosen, bounds.eager, bounds.torn)
    if not tree.open.any():
        assert bounds.regret <= (doubt.high - doubt.low)[marked].sum() + 1e-9
    doubt.low = np.where(marked, doubt.low, doubt.mean)
    doubt.high = np.where(marked, doubt.high, doubt.mean)
    assert doubt.bounds().regret == pytest.approx(bounds.regret, abs=1e-9)


@settings(deadline=None, max_examples=30, derandomize=True, suppress_health_check=list(HealthCheck))
@given(games(depth=4, own=7), st.sampled_from([1, 2]), st.sampled_from([0.003, 0.03]))
def test_exact_values_leave_nothing_in_doubt(raw: Raw, side: Side, cost: float) -> None:
    game = parse(raw)
    tree = grow(game, side, BASE, PREP, TabularValue(), Pays(cost)).tree
    result = sharpen(game, tree, side, cost, rollouts(game), 0.1)
    best = max(worth(raw["root"], side, b) - cost * len(b) for b in books(raw["root"], side))
    assert result.samples == 0
    assert result.regret <= 1e-12
    assert result.net == pytest.approx(best, abs=1e-9)
    assert result.lower == pytest.approx(best, abs=1e-9)
    assert result.upper == pytest.approx(best, abs=1e-9)


# --- the guarantee ----------------------------------------------------------------------------------


def certified(seed: int, side: Side, cost: float, epsilon: float, delta: float) -> tuple[Raw, Sharpened]:
    raw = random_game(np.random.default_rng(seed))
    game = parse(raw)
    values = rollouts(game, delta, seed)
    tree = grow(game, side, BASE, PREP, values, Pays(cost)).tree
    return raw, sharpen(game, tree, side, cost, values, epsilon)


def failures(runs: int, epsilon: float, delta: float) -> tuple[int, int]:
    """How often a book is worse than promised, and how often anything certified is false."""
    worse = false = 0
    for seed in range(runs):
        side: Side = 1 if seed % 2 else 2
        cost = (0.003, 0.01, 0.03)[seed % 3]
        raw, result = certified(seed, side, cost, epsilon, delta)
        assert result.ending == "certified"
        assert result.regret <= epsilon
        best, net = best_net(raw, side, cost), true_net(raw, result)
        worse += net < best - epsilon
        false += not (result.lower <= net + 1e-9 and best <= result.upper + 1e-9)
        false += best - net > result.regret + 1e-9
    return worse, false


def test_theorem3_adaptive() -> None:
    # 100 games at δ = 0.1: more failures than this happen once in a million runs.
    allowed = stats.binom.ppf(1 - 1e-6, 100, 0.1)
    worse, false = failures(100, 0.05, 0.1)
    assert worse <= allowed
    assert false <= allowed


def test_radii_that_are_too_small_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Estimate.radius
    monkeypatch.setattr(Estimate, "radius", lambda self, delta: 0.1 * honest(self, delta))
    _, false = failures(60, 0.05, 0.1)
    assert false > stats.binom.ppf(1 - 1e-6, 60, 0.1)


@pytest.mark.parametrize("seed", range(4))
def test_in_the_limit_the_best_book(seed: int) -> None:
    side: Side = 1 + seed % 2  # type: ignore[assignment]
    raw, result = certified(seed, side, 0.02, 0.004, 0.01)
    assert best_net(raw, side, 0.02) - true_net(raw, result) <= 0.004
    assert result.net == pytest.approx(true_net(raw, result), abs=0.02)
    assert result.upper - result.lower <= 2 * 0.004 + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_the_sharper_tree_has_the_chosen_book_as_its_best(seed: int) -> None:
    side: Side = 1 + seed % 2  # type: ignore[assignment]
    raw, result = certified(seed, side, 0.01, 0.03, 0.1)
    best = response.best_book(result.tree, side, 0.01)
    assert best.nodes.tolist() == result.book.tolist()
    assert best.net == pytest.approx(result.net, abs=1e-9)
    game = parse(raw)
    for k in range(result.tree.size):
        if not np.isnan(result.tree.value[k]):
            true = walk(game, result.tree.history(k)).value
            assert abs(result.tree.value[k] - true) <= result.tree.radius[k] + 1e-9


def test_far_fewer_playouts() -> None:
    game = SyntheticGame(longest=8, widest=3, spread=2.0, seed=4)
    base = SyntheticPolicy(game, "base", randomness=1.0)
    prep = SyntheticPolicy(game, "prep", randomness=0.02)
    values = AdaptiveRollouts(game, Playouts(game, (base, base), 1), 0.05)
    tree = grow(game, 1, (base, base), prep, values, Pays(0.003)).tree
    told: list[Sharpening] = []
    result = sharpen(game, tree, 1, 0.003, values, 0.03, progress=told.append)
    assert result.ending == "certified"
    assert len(result.book) > 3
    evaluated = int(np.count_nonzero((tree.player == 1) | (tree.leaves & (tree.player == 2))))
    assert result.samples < result.fixed / 300
    assert result.samples < evaluated * hoeffding_samples(0.03, 0.05, evaluated) / 20
    assert [line.samples for line in told] == sorted(line.samples for line in told)
    exact = Exact(game, (base, base))
    tree = grow(game, 1, (base, base), prep, exact, Pays(0.003)).tree
    assert response.best_book(tree, 1, 0.003).net <= result.upper
    assert result.lower <= response.best_book(tree, 1, 0.003).net


# --- odds and ends ----------------------------------------------------------------------------------


def mirrored(node: Raw) -> Raw:
    if "utility" in node:
        return {"utility": 1.0 - node["utility"]}
    actions = {name: {**edge, "to": mirrored(edge["to"])} for name, edge in node["actions"].items()}
    return {"player": {1: 2, 2: 1}.get(node["player"], "chance"), "actions": actions}


def test_player_two_is_player_one_in_the_mirror() -> None:
    for seed in range(3):
        raw = random_game(np.random.default_rng(seed))
        results = []
        for root, side in ((raw["root"], 1), (mirrored(raw["root"]), 2)):
            game = parse({**raw, "root": root})
            values = rollouts(game)
            tree = grow(game, side, BASE, PREP, values, Pays(0.01)).tree  # type: ignore[arg-type]
            results.append(sharpen(game, tree, side, 0.01, values, 0.05))  # type: ignore[arg-type]
        one, two = results
        assert one.book.tolist() == two.book.tolist()
        assert one.samples == two.samples
        assert (one.net, one.lower, one.upper) == pytest.approx((two.net, two.lower, two.upper))


def test_batches_do_not_matter() -> None:
    game = parse(random_game(np.random.default_rng(1)))
    results = []
    cases: list[dict[str, Any]] = [{}, {"batch": 7}, {"memory": 3}]
    for options in cases:
        values = AdaptiveRollouts(game, Playouts(game, BASE, 5, **options), 0.1)
        tree = grow(game, 1, BASE, PREP, values, Pays(0.01)).tree
        results.append(sharpen(game, tree, 1, 0.01, values, 0.05))
    for other in results[1:]:
        assert np.array_equal(other.tree.value, results[0].tree.value, equal_nan=True)
        assert (other.lower, other.upper) == (results[0].lower, results[0].upper)


def limited(limit: int) -> tuple[Raw, TabularGame, Any, Tree]:
    raw = random_game(np.random.default_rng(12), depth=6)
    assert len(own_histories(raw["root"], 1)) > 20
    game = parse(raw)
    values = rollouts(game)
    goal = Limits(histories=limit, window=1)
    return raw, game, values, grow(game, 1, BASE, PREP, values, Pays(0.001), goal).tree


def test_a_tree_cut_short_says_so() -> None:
    raw, game, values, tree = limited(8)
    assert not tree.complete
    result = sharpen(game, tree, 1, 0.001, values, 0.02)
    best, net = best_net(raw, 1, 0.001), true_net(raw, result)
    assert result.ending == "open"
    assert result.regret > 0.02
    assert result.lower <= net <= best <= result.upper
    assert best - net <= result.regret


def test_limits_and_interruptions_keep_the_bounds_honest() -> None:
    raw, game, values, tree = limited(10_000)
    best = best_net(raw, 1, 0.001)
    before = values.samples
    few = sharpen(game, tree, 1, 0.001, values, 0.01, most=before + 500)
    assert few.ending == "samples"
    assert few.samples == before + 500
    stop = Stop()
    stop.asked = True
    stopped = sharpen(game, tree, 1, 0.001, values, 0.001, stop=stop)
    assert stopped.ending == "interrupted"
    assert stopped.samples == values.samples
    for result in (few, stopped):
        assert result.regret > 0.01
        assert best - true_net(raw, result) <= result.regret
        assert best <= result.upper


@pytest.mark.parametrize("more", [0, 1, 31, 33, 100, 1000])
def test_there_are_at_most_as_many_playouts_as_said(more: int) -> None:
    raw, game, values, tree = limited(10_000)
    most, played = values.samples + more, 0

    class Counting:
        def play(self, requests: Sequence[PlayoutRequest[Node]]) -> Sequence[Outcomes]:
            nonlocal played
            assert all(request.count > 0 for request in requests)
            played += sum(request.count for request in requests)
            answer: Sequence[Outcomes] = values.sampler.play(requests)
            return answer

    result = sharpen(game, tree, 1, 0.001, replace(values, sampler=Counting()), 0.01, most=most)
    assert (result.ending, result.samples, played) == ("samples", most, more)
    assert best_net(raw, 1, 0.001) <= result.upper


def test_a_book_is_played_as_a_whole_within_the_limits_too() -> None:
    """At such a price no decision is in doubt; what the (empty) book nets is still to be found."""
    _, game, values, tree = limited(10_000)
    before = values.samples
    whole = sharpen(game, tree, 1, 0.9, values, 0.2)
    assert whole.ending == "certified"
    assert whole.samples > before + 10
    few = sharpen(game, tree, 1, 0.9, values, 0.2, most=before + 10)
    assert (few.ending, few.samples) == ("samples", before + 10)
    stop = Stop()
    stop.asked = True
    assert sharpen(game, tree, 1, 0.9, values, 0.2, stop=stop).ending == "interrupted"
    over = Stop().until(0.0)
    assert sharpen(game, tree, 1, 0.9, values, 0.2, stop=over).ending == "seconds"


def test_what_is_known_can_be_kept_and_recalled() -> None:
    game = parse(random_game(np.random.default_rng(3)))
    states = [node for node in _nodes(game.root()) if node.player in (1, 2)]
    one, two = rollouts(game), rollouts(game)
    one.values(states[:5])
    one.more([states[1]], [100])
    two.recall(one.kept())
    assert (two.samples, two.estimates) == (one.samples, one.estimates)
    assert two.values(states[:8]) == one.values(states[:8])  # the same shares of δ are spent


def test_an_interruption_while_playing() -> None:
    raw, game, values, tree = limited(10_000)
    stop = Stop()
    calls = 0

    class Interrupted:
        def play(self, requests: Sequence[PlayoutRequest[Node]]) -> Sequence[Outcomes]:
            nonlocal calls
            calls += 1
            if calls == 3:
                stop.request()
            answer: Sequence[Outcomes] = values.sampler.play(requests)
            return answer

    tampered = AdaptiveRollouts(game, Interrupted(), 0.1)
    result = sharpen(game, tree, 1, 0.001, tampered, 0.01, stop=stop)
    assert result.ending == "interrupted"
    assert calls == 3
    assert best_net(raw, 1, 0.001) <= result.upper


def test_sharpening_needs_a_cost_and_an_epsilon() -> None:
    _, game, values, tree = limited(8)
    with pytest.raises(InputError, match=r"cost 0\.0; expected"):
        sharpen(game, tree, 1, 0.0, values, 0.1)
    with pytest.raises(InputError, match="epsilon -1; expected"):
        sharpen(game, tree, 1, 0.1, values, -1)
