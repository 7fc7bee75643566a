"""Growth, playouts, fresh games: each stage can be stopped, says so, and is taken up again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clockedgames import LEVELS, Blend, one_line
from hypothesis import given, settings
from randomgames import Raw, games
from winlossgames import random_game

from preplay import response
from preplay.cli.prepare import print_book
from preplay.game import Distribution
from preplay.games import tabular
from preplay.games.clocked import AtTheBoard, Clocked, ClockedState, FromMemory, ShareOfTheRest
from preplay.games.tabular import Node, TabularPolicy
from preplay.growth import Limits, Pays, grow
from preplay.matchup import Clock, Deciding, Matchup, Sampling, open_matchup
from preplay.preparation import Prepared, book_of, prepare
from preplay.runs.encoding import plain
from preplay.runs.prepared import result_of
from preplay.sampling import streams
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.replaying import Memory, time_share
from preplay.sampling.samplers import PlayoutRequest, Playouts, at
from preplay.sampling.sharpen import sharpen
from preplay.sampling.streams import PIECE, Streams, play_alike, play_unless
from preplay.sampling.timeshare import TimeShare
from preplay.stopping import Stop
from preplay.value import Exact, ValueFunction

RULE = ShareOfTheRest(0.5)
BASE = (TabularPolicy("base"), TabularPolicy("base"))


@dataclass(frozen=True)
class Watched(Blend):
    """Plays as in the file, and calls somebody before every answer."""

    call: Callable[[], None]

    def distributions(
        self, states: Sequence[ClockedState[Node]], efforts: Sequence[int]
    ) -> list[Distribution]:
        self.call()
        return super().distributions(states, efforts)


def clocked(
    call: Callable[[], None] = lambda: None,
    *,
    fresh: int = 200,
    playouts: int = 200,
    seed: int = 0,
    epsilon: float = 0.02,
) -> Matchup[ClockedState[Node]]:
    """A clocked game whose guess promises far too much of the only book: it brings 0.125."""
    game = Clocked(tabular.parse(one_line()), (4, 4), levels=LEVELS)
    at_board = AtTheBoard(game, RULE, Watched(call))
    base, prep = (at_board, at_board), FromMemory(TabularPolicy("prep"))
    rollouts = AdaptiveRollouts(game, Streams(game, base, seed), 0.05, first=0)

    def replay(side: Any, book: Memory, stop: Stop, progress: Any) -> TimeShare:
        return time_share(game, base, side, book, RULE, fresh, seed, stop=stop, progress=progress)

    guess = ValueFunction[ClockedState[Node]](lambda state: 0.9 if state.actions else 0.3)
    return Matchup(
        name="clocked",
        game=game,
        base=base,
        prep=(prep, prep),
        value=guess,
        clock=Clock(Deciding(rollouts, epsilon, playouts), replay),
    )


def outcome(prepared: Prepared) -> tuple[Any, ...]:
    """All that a result says."""
    best = prepared.response
    numbers = (best.baseline, best.value, best.net, best.upper, best.error, best.nodes.tolist())
    return *numbers, prepared.grown.ending, prepared.played, prepared.refused


@pytest.mark.parametrize("stage", ["playouts", "fresh games"])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_stop_after_the_growth_is_told_and_taken_up(stage: str, at_once: bool, tmp_path: Path) -> None:
    """Between two batches, or by a signal in the middle of a game."""
    whole = prepare(clocked(), 1, 0.05)
    assert whole.grown.ending == "complete"
    stop = Stop()
    begun = False

    def tell(text: str) -> None:
        nonlocal begun
        begun = begun or stage in text
        if begun and not at_once:
            stop.asked = True

    def move() -> None:
        if begun and at_once:
            stop.request()

    cut = prepare(clocked(move), 1, 0.05, stop=stop, playing=tell, checkpoint=tmp_path / "c.npz")
    assert stop.asked
    assert cut.grown.ending == "interrupted"
    best = cut.response
    assert best.size > 0
    assert best.value - best.error <= 0.75 <= best.value + best.error  # what it is worth
    assert best.upper >= best.net
    if stage == "playouts":
        assert cut.played is None
        assert best.error > 0.5  # nothing but a guess
    else:
        assert cut.played is not None
        assert 0 < cut.played.games < cut.played.wanted == 200
        assert best.value == cut.played.value.mean
        assert "of 200 games each" in dict(cut.played.lines())["played afresh"]
    again = prepare(clocked(), 1, 0.05, checkpoint=tmp_path / "c.npz")
    assert outcome(again) == outcome(whole)


@pytest.mark.parametrize("cut", [1, 2, 5])
def test_adaptive_rollouts_are_taken_up_where_they_were(cut: int, tmp_path: Path) -> None:
    game = tabular.parse(random_game(np.random.default_rng(12), depth=6))

    def matchup() -> Matchup[Node]:
        values = AdaptiveRollouts(game, Playouts(game, BASE, 3), 0.1)
        prep = TabularPolicy("prep")
        sampling = Sampling(lambda price: values, Deciding(values, 0.01))
        return Matchup("adaptive", game, BASE, (prep, prep), values, sampling=sampling)

    whole = prepare(matchup(), 1, 0.002)
    stop = Stop()
    heard: list[str] = []

    def tell(text: str) -> None:
        heard.append(text)
        stop.asked = len(heard) >= cut

    part = prepare(matchup(), 1, 0.002, stop=stop, playing=tell, checkpoint=tmp_path / "c.npz")
    assert part.grown.ending == "interrupted"
    assert part.response.upper >= whole.response.net
    again = prepare(matchup(), 1, 0.002, checkpoint=tmp_path / "c.npz")
    assert outcome(again) == outcome(whole)
    assert outcome(prepare(matchup(), 1, 0.002, checkpoint=tmp_path / "c.npz")) == outcome(whole)


def test_seconds_are_for_the_games_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that runs only while somebody thinks, so that a busy machine changes nothing."""
    began = now = time.monotonic()

    def think() -> None:
        nonlocal now
        now += 3e-4

    slow = clocked(think, fresh=10**4, playouts=10**5, epsilon=1e-3)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(streams, "monotonic", lambda: now)
    prepared = prepare(slow, 1, 0.05, limits=Limits(seconds=2.0))
    monkeypatch.undo()
    assert 2.0 <= now - began < 4.0
    assert prepared.grown.ending == "seconds"
    played = prepared.played
    assert played is not None
    assert 0 < played.games < played.wanted
    assert prepared.response.error == pytest.approx(1.96 * played.value.error)


def test_without_time_for_a_game_the_guess_is_told_as_a_guess() -> None:
    for guess in (0.3, 0.9):
        matchup = clocked()
        matchup = replace(matchup, value=ValueFunction(lambda state, v=guess: v))  # type: ignore[misc]
        prepared = prepare(matchup, 1, 0.05, limits=Limits(seconds=0.0))
        assert prepared.grown.ending == "seconds"
        assert prepared.played is None
        best = prepared.response
        assert best.value - best.error <= 0.0 + 1e-9
        assert best.value + best.error >= 1.0 - 1e-9
        assert book_of(matchup, prepared).error == best.error


def test_a_sampler_without_a_clock_is_given_one() -> None:
    """Playouts in pieces are the same playouts; and time can be up between two pieces."""
    game = tabular.parse(random_game(np.random.default_rng(2)))
    start = at(game, game.root())
    requests = [
        PlayoutRequest(start, 5, 3 * PIECE + 1),
        PlayoutRequest(start, 0, 0),
        PlayoutRequest(start, 0, PIECE),
    ]
    sampler = Playouts(game, BASE, 1)
    late = Stop().until(time.monotonic() + 600.0)
    pieces = play_unless(sampler, requests, late)
    assert pieces is not None
    for piece, whole in zip(pieces, sampler.play(requests), strict=True):
        assert np.array_equal(piece.utilities, whole.utilities)
        assert piece.certain == whole.certain
    over = Stop().until(time.monotonic())
    assert play_unless(sampler, requests, over) is None
    assert play_unless(Streams(game, BASE, 1), requests, over) is None
    assert play_unless(Streams(game, BASE, 1), requests, late) is not None


@settings(max_examples=20, deadline=None)
@given(games(depth=4))
def test_games_cut_short_are_the_first_ones(raw: Raw) -> None:
    """Whatever ends first: what counts is a beginning of the games that would have been played."""
    game = tabular.parse(raw)
    request = PlayoutRequest(at(game, game.root()), 0, 60)
    streams = [Streams(game, BASE, seed, at_once=7) for seed in (1, 2)]
    whole = play_alike(streams, request)
    stop = Stop()
    heard: list[int] = []

    def tell(count: int) -> None:
        heard.append(count)
        stop.asked = count >= 10

    part = play_alike(streams, request, stop=stop, progress=tell)
    assert heard == sorted(set(heard))
    for some, every in zip(part, whole, strict=True):
        assert 10 <= len(some.utilities) <= 60
        assert np.array_equal(some.utilities, every.utilities[: len(some.utilities)])


def test_searches_of_abandoned_games_are_given_up() -> None:
    game = tabular.parse(one_line())
    asked: list[Node] = []

    class Thinker:
        def prefetch(self, states: Sequence[Node]) -> None:
            asked.extend(states)

        def cancel(self, states: Sequence[Node]) -> None:
            for state in states:
                asked.remove(state)

        def distributions(self, states: Sequence[Node]) -> Sequence[Distribution]:
            for state in states:
                asked.remove(state)
            return [state.base for state in states]

    thinker: Any = Thinker()
    stop = Stop()
    streams = Streams(game, (thinker, thinker), at_once=8)

    def tell(count: int) -> None:
        stop.asked = True

    play_alike([streams], PlayoutRequest(at(game, game.root()), 0, 50), stop=stop, progress=tell)
    assert asked == []


def test_a_book_that_games_do_not_bear_out_gives_way_to_none() -> None:
    kept = prepare(clocked(playouts=0, fresh=1000), 1, 0.05)
    assert kept.refused is None
    assert kept.response.size == 1
    prepared = prepare(clocked(playouts=0, fresh=1000), 1, 0.25)
    best, refused, played = prepared.response, prepared.refused, prepared.played
    assert refused is not None
    assert played is not None
    assert (best.size, refused.size, refused.price) == (0, 1, 0.25)
    assert refused.clock.gain.mean < 0.25
    assert best.value == best.net == best.baseline == refused.clock.without.mean
    assert best.error == pytest.approx(1.96 * refused.clock.without.error)
    assert (played.value, played.gain) == (played.without, (0.0, 0.0))
    book = book_of(clocked(), prepared)
    assert (book.size, book.value) == (0, best.value)
    assert plain(refused)["clock"]["games"] == 1000


def test_games_cut_short_refuse_a_book_only_beyond_doubt() -> None:
    for fresh, refused in ((20, False), (700, True)):
        stop = Stop()

        def tell(text: str, stop: Stop = stop, fresh: int = fresh) -> None:
            words = text.split()
            stop.asked = "fresh" in text and int(words[0].replace(",", "")) >= fresh

        prepared = prepare(clocked(playouts=0, fresh=1000), 1, 0.25, stop=stop, playing=tell)
        assert prepared.grown.ending == "interrupted"
        assert prepared.played is not None
        assert prepared.played.gain.mean < 0.25 or not refused
        assert (prepared.refused is not None) == refused


def test_of_two_prices_the_better_book_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A growth that is stopped at its beginning knows less than the one before it."""
    stop = Stop()
    growths: list[Any] = []

    def growing(*given: Any, **options: Any) -> Any:
        stop.asked = len(growths) == 1
        growths.append(grow(*given, **options))
        return growths[-1]

    monkeypatch.setattr("preplay.preparation.stages.grow", growing)
    with open_matchup("synthetic-large", ()) as matchup:
        cut = prepare(matchup, 1, budget=20, stop=stop)
    first, second = growths
    assert second.tree.size < first.tree.size
    assert cut.grown.ending == "interrupted"
    assert cut.response.value == response.best_known(first.tree, 1, 0.0, 20).value
    assert cut.response.size > 0
    assert cut.response.upper >= cut.response.value


def test_rounding_is_not_a_loss(capsys: pytest.CaptureFixture[str]) -> None:
    with open_matchup("synthetic", ()) as matchup:
        prepared = prepare(matchup, 1, 0.9)
        best = replace(prepared.response, value=prepared.response.unprepared - 1.1e-16)
        prepared = replace(prepared, response=best)
        print_book(matchup, result_of(matchup, prepared), 5)
    assert best.size == 0
    out = capsys.readouterr().out
    assert "(+0)" in out
    assert "e-1" not in out


def test_a_scan_of_prices_spends_its_confidence_once() -> None:
    """A budget is met by trying prices, and the certificate rests on all of them. Theorem 3 divides δ
    among (L + 1)/λ histories: what one price spends of δ is what it was sampled for, over the price."""
    game = tabular.parse(random_game(np.random.default_rng(5), 6))
    asked: list[float] = []

    def sampled(price: float) -> Any:
        asked.append(price)
        return Exact(game, BASE)

    prep = TabularPolicy("prep")
    matchup = Matchup(
        "scan", game, BASE, (prep, prep), Exact(game, BASE), sampling=Sampling(sampled), enumerable=False
    )
    best = prepare(matchup, 1, budget=9).response
    assert best.size > 0
    assert len(asked) > 1
    tried = [0.02 * 0.5**step for step in range(len(asked))]
    assert sum(spent / price for spent, price in zip(asked, tried, strict=True)) <= 1.0
    # What is known with a smaller share of δ is known less well.
    tree = grow(game, 1, BASE, prep, Exact(game, BASE), Pays(0.01)).tree
    unsure = replace(tree, radius=np.where(tree.leaves & (tree.player >= 0), 0.5, tree.radius))
    known = []
    for share in (1.0, 0.01):
        rollouts = AdaptiveRollouts(game, Playouts(game, BASE, seed=1), 0.05)
        known.append(sharpen(game, unsure, 1, 0.01, rollouts, 0.3, most=400, share=share))
    assert known[1].upper - known[1].lower >= known[0].upper - known[0].lower - 1e-12


def test_what_was_prepared_before_changes_nothing() -> None:
    """A matchup whose playouts choose gives the same book again, whatever it was asked in between."""
    with open_matchup("pig", ("value.epsilon=0.1",)) as matchup:
        first = outcome(prepare(matchup, 1, 0.05))
        prepare(matchup, 2, 0.1)
        assert outcome(prepare(matchup, 1, 0.05)) == first
