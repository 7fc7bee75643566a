"""Roll-outs under a clock: are the engines busy, are analyses shared, how many games does certainty take?

    python bench/clock_rollouts.py [--games 100] [--budget 20000] [--epsilon 0.2] [--json]

- pace: games from the start position, by `Streams` (each game at its own pace) and by `Playouts` (all
  games a ply at a time). "busy": the mean share of the time in which an engine was searching;
  "all_busy": the share in which all of them were. "shared": decisions of `Streams` that were answered by
  the search of another game.
- grid: games from one position that White has reached with none to four moves from memory, with search
  limits hardly rounded (ratio 1.001) and rounded as by default (1.25), and the same dice for all clocks.
- certainty: the best book within ε but for a chance of δ, on a short game: playouts that the adaptive
  scheme takes against Theorem 3's fixed K for each of the histories it samples.

Other load on the machine lowers the busy shares; the numbers of games and searches do not depend on it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from preplay.chess.engines.analyst import Analyst
from preplay.games.clocked import timed
from preplay.growth import Pays, grow
from preplay.matchup import Matchup, open_matchup
from preplay.sampling.rollouts import hoeffding_samples, theorem3_samples
from preplay.sampling.samplers import PlayoutRequest, Playouts, Sampler, at
from preplay.sampling.sharpen import sharpen
from preplay.sampling.streams import Streams
from preplay.value import FirstGuess

SHORT = (
    "clock.budget=3000",
    "clock.share=0.1",
    "clock.least=40",
    "length=60",
    "prep.nodes=2000",
    "white.randomness=20",
    "black.randomness=5",
)


RUY_LOPEZ = ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6")


def analyst_of(matchup: Matchup[Any]) -> Analyst:
    policy: Any = matchup.base[0]
    analyst: Analyst = policy.effort.analyst
    return analyst


def pace(games: int, budget: int, kind: type, changes: tuple[str, ...] = ()) -> dict[str, float]:
    """Games from the start, with an empty store."""
    with tempfile.TemporaryDirectory() as directory:
        sets = (f"clock.budget={budget}", *changes)
        with open_matchup("chess-clock", sets, store=Path(directory) / "s.sqlite") as matchup:
            analyst = analyst_of(matchup)
            sampler: Sampler[Any] = kind(matchup.game, matchup.base)
            before, clock, cpu = analyst.pool.stats(), time.perf_counter(), time.process_time()
            sampler.play([PlayoutRequest(at(matchup.game, matchup.game.root()), 0, games)])
            wall, cpu = time.perf_counter() - clock, time.process_time() - cpu
            done, stats = analyst.pool.stats().since(before), analyst.stats()
    row = {
        "games": games,
        "seconds_per_game": wall / games,
        "python_seconds_per_game": cpu / games,
        "searches_per_game": stats.searches / games,
        "busy": done.busy_share,
        "all_busy": done.all_busy_share,
    }
    # `Playouts` asks once for all games at a history, so its questions do not count decisions.
    return row | ({"shared": 1.0 - stats.searches / stats.asked} if kind is Streams else {})


def sharing(games: int, budget: int, ratio: float) -> dict[str, float]:
    """Games from one position, which White reaches with none to four moves from memory."""
    sets = (f"clock.budget={budget}", f"clock.grid={ratio}")
    with (
        tempfile.TemporaryDirectory() as directory,
        open_matchup("chess-clock", sets, store=Path(directory) / "s.sqlite") as matchup,
    ):
        game: Any = matchup.game
        policies: Any = matchup.base
        requests = []
        for memorized in range(5):
            state = game.root()
            for ply, move in enumerate(RUY_LOPEZ):
                mine = ply % 2 == 0 and ply // 2 < memorized
                rule = policies[state.player - 1].rule
                state = game.next(state, timed(move, 0 if mine else rule(game, state)))
            requests.append(PlayoutRequest(at(game, state), 0, games // 5))
        # The same dice for all five, so that only the clocks make a difference.
        same = [replace(request, start=replace(request.start, key=())) for request in requests]
        Streams(game, matchup.base).play(same)
        stats = analyst_of(matchup).stats()
    return {
        "decisions": stats.asked,
        "searches": stats.searches,
        "shared": 1.0 - stats.searches / stats.asked,
    }


def certainty(cost: float, epsilon: float, most: int) -> dict[str, Any]:
    """Theorem 3's guarantee on a short game, adaptively."""
    with (
        tempfile.TemporaryDirectory() as directory,
        open_matchup("chess-clock", SHORT, store=Path(directory) / "s.sqlite") as matchup,
    ):
        assert matchup.deciding is not None
        rollouts = matchup.deciding.rollouts
        prep = matchup.prep[0]
        guess = FirstGuess(matchup.value)
        tree = grow(matchup.game, 1, matchup.base, prep, guess, Pays(cost)).tree
        clock = time.perf_counter()
        found = sharpen(
            matchup.game, tree, 1, cost, rollouts, epsilon, most=most, trusted=matchup.guessing
        )
        seconds = time.perf_counter() - clock
        stats = analyst_of(matchup).stats()
        k = theorem3_samples(epsilon, rollouts.delta, cost, matchup.game.longest, matchup.game.widest)
    histories = found.fixed // k
    return {
        "epsilon": epsilon,
        "delta": rollouts.delta,
        "cost": cost,
        "histories": histories,
        "playouts": found.samples,
        "playouts_per_history": found.samples / max(1, histories),
        "fixed_k": k,
        "hoeffding_k": hoeffding_samples(epsilon, rollouts.delta, histories),
        "fixed_playouts": found.fixed,
        "times_fewer": found.fixed / max(1, found.samples),
        "ending": found.ending,
        "regret": found.regret,
        "book": len(found.book),
        "seconds": seconds,
        "shared": 1.0 - stats.searches / max(1, stats.asked),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--cost", type=float, default=0.05)
    parser.add_argument("--epsilon", type=float, default=0.2)
    parser.add_argument("--most", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results: dict[str, Any] = {
        "streams": pace(given.games, given.budget, Streams),
        "playouts": pace(given.games, given.budget, Playouts),
        "grid 1.001": sharing(given.games, given.budget, 1.001),
        "grid 1.25": sharing(given.games, given.budget, 1.25),
        "certainty": certainty(given.cost, given.epsilon, given.most),
    }
    if given.json:
        print(json.dumps(results))
        return
    for name, row in results.items():
        print(name)
        for key, value in row.items():
            print(f"  {key:24} {value:,.3f}" if isinstance(value, float) else f"  {key:24} {value}")


if __name__ == "__main__":
    main()
