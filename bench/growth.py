"""Growth against a plain depth-first walk with the same calls, and the memory of a million histories.

The walk knows the game by the same protocols and asks the same policies and values about the same
histories, one at a time; it keeps nothing, has no bounds and no limits. Growth works out bounds only
where somebody reads them: the second ratio is that of a growth whose progress is watched. A growth that
prunes, as that of `preplay prepare`, always does; the walk beside it is told what was asked, and asks the
same. Figures are the best of a few runs that take turns in one process: compare the ratios. With
`--instructions` the processor's instructions are counted instead (by valgrind, Debian's package): that
takes half an hour, and says the same on a machine with busy neighbours, whose caches are not its own.

python bench/growth.py [--quick | --instructions]
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from preplay.game import CHANCE, FINAL, Game
from preplay.games.openspiel import openspiel
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticValue
from preplay.growth import Goal, GrowthProgress, Lemma1, Limits, Pays, grow
from preplay.policy import Policy, Uniform
from preplay.value import Evaluator, Value


class Even:
    """A value that costs nothing to find."""

    def values(self, states: Sequence[Any]) -> list[Value]:
        """A half everywhere."""
        return [Value(0.5) for _ in states]


class Counted:
    """Counts the calls of a game, a policy or an evaluator, and the states that it is asked about."""

    def __init__(self, inner: Any, name: str, calls: Counter[str]) -> None:
        self._inner, self._name, self._calls = inner, name, calls

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._inner, method)
        if not callable(found):
            return found

        def call(*arguments: Any) -> Any:
            batch = method in ("distributions", "values")
            self._calls[f"{self._name}.{method}"] += len(arguments[0]) if batch else 1
            return found(*arguments)

        return call


def walk(game: Game[Any], base: Policy[Any], prep: Policy[Any], value: Evaluator[Any], goal: Goal) -> int:
    """How many histories side 1 meets that grows towards `goal`."""
    count, stack = 0, [(game.root(), 1.0)]
    while stack:
        state, reach = stack.pop()
        count += 1
        player = game.player(state)
        if player == FINAL:
            game.utility(state)
            continue
        if player == CHANCE:
            moves = game.chance(state)
        elif player == 1:
            (worth,) = value.values([state])
            if goal.potential(reach, worth.mean) <= 0.0:
                continue
            (moves,) = prep.distributions([state])
        else:
            (moves,) = base.distributions([state])
        stack.extend((game.next(state, action), reach * p) for action, p in moves.items() if p > 0.0)
    return count


Plan = tuple[bool, bool, tuple["Plan", ...]]
"""Of a history: whether its value and its moves were asked, and the plans of its children, if any."""


class Recorded:
    """Remembers the histories that a game's chance, a policy or an evaluator is asked about."""

    def __init__(self, inner: Any, game: Game[Any]) -> None:
        self.inner, self._history = inner, game.history
        self.asked: set[tuple[str, ...]] = set()
        self.moved: set[tuple[str, ...]] = set()

    def __getattr__(self, method: str) -> Any:
        return getattr(self.inner, method)

    def next(self, state: Any, action: str) -> Any:
        self.moved.add(self._history(state))
        return self.inner.next(state, action)

    def chance(self, state: Any) -> Any:
        self.asked.add(self._history(state))
        return self.inner.chance(state)

    def distributions(self, states: Sequence[Any]) -> Any:
        self.asked.update(map(self._history, states))
        return self.inner.distributions(states)

    def values(self, states: Sequence[Any]) -> Any:
        self.asked.update(map(self._history, states))
        return self.inner.values(states)


def planned(game: Recorded, base: Recorded, prep: Recorded, value: Recorded) -> Plan:
    """What a growth of side 1 has asked, for `follow` to ask again."""
    rules = game.inner

    def plan(state: Any) -> Plan:
        history, player = rules.history(state), rules.player(state)
        valued, mover = history in value.asked, {CHANCE: game, 1: prep}.get(player, base)
        if history not in game.moved:  # what was asked of it may have become idle since
            return valued, history in mover.asked, ()
        moves = rules.chance(state) if player == CHANCE else mover.inner.distributions([state])[0]
        below = (plan(rules.next(state, action)) for action, p in moves.items() if p > 0.0)
        return valued, True, tuple(below)

    return plan(rules.root())


def follow(
    game: Game[Any], base: Policy[Any], prep: Policy[Any], value: Evaluator[Any], plan: Plan
) -> int:
    """The walk that makes the calls of a plan: how many histories it meets."""
    count, stack = 0, [(game.root(), 1.0, plan)]
    while stack:
        state, reach, (valued, asked, below) = stack.pop()
        count += 1
        player = game.player(state)
        if player == FINAL:
            game.utility(state)
            continue
        if valued:
            value.values([state])
        if not asked:
            continue
        if player == CHANCE:
            moves = game.chance(state)
        else:
            (moves,) = (prep if player == 1 else base).distributions([state])
        if below:
            played = [(action, reach * p) for action, p in moves.items() if p > 0.0]
            stack.extend(
                (game.next(state, a), r, plan) for (a, r), plan in zip(played, below, strict=True)
            )
    return count


Players = tuple[Any, Any, Any, Any]
"""A game, both sides' base, prep and an evaluator."""


def works(players: Players, goal: Goal) -> list[Callable[..., int]]:
    """The walk, growth, and growth that is watched."""

    def growth(game: Any, base: Any, prep: Any, value: Any) -> int:
        return grow(game, 1, (base, base), prep, value, goal, Limits()).histories

    plan: Plan | None = None
    if goal.certain:
        recorded = [Recorded(one, players[0]) for one in players]
        growth(*recorded)
        plan = planned(*recorded)

    def plain(game: Any, base: Any, prep: Any, value: Any) -> int:
        if plan is not None:
            return follow(game, base, prep, value, plan)
        return walk(game, base, prep, value, goal)

    def watched(game: Any, base: Any, prep: Any, value: Any) -> int:
        bases, seen = (base, base), list[GrowthProgress]()
        return grow(game, 1, bases, prep, value, goal, Limits(), progress=seen.append).histories

    return [plain, growth, watched]


def compare(name: str, players: Players, goal: Goal, runs: int) -> None:
    """Seconds of growth for each second of the walk, after a check that the calls are the same.

    Growth keeps a bounded number of states: in a large tree it makes some of them again.
    """
    calls: list[Counter[str]] = [Counter(), Counter()]
    kinds = works(players, goal)
    for work, counter in zip(kinds[:2], calls, strict=True):
        names = ("game", "base", "prep", "value")
        work(*(Counted(p, name, counter) for p, name in zip(players, names, strict=True)))
    again = calls[1]["game.next"] / calls[0]["game.next"]
    if calls[0] != calls[1] | {"game.next": calls[0]["game.next"]}:
        raise SystemExit(f"{name}: the walk calls {calls[0]}, growth {calls[1]}")
    best, met = [float("inf")] * 3, 0
    for _ in range(runs):
        for j, work in enumerate(kinds):
            start = time.process_time()
            met = work(*players)
            best[j] = min(best[j], time.process_time() - start)
    print(
        f"{name:<48} {met:>9,} histories  walk {best[0] / met * 1e6:5.1f} µs  "
        f"growth {best[1] / met * 1e6:5.1f} µs  ratio {best[1] / best[0]:.2f}  "
        f"watched {best[2] / best[0]:.2f}{f'  moves made {again:.2f} times' if again > 1.0 else ''}",
        flush=True,
    )


def cases(cost: float) -> Iterator[tuple[str, Players, Goal]]:
    """What is grown: games, players and goals, by name."""
    game = SyntheticGame(20, 3, luck=0.05)
    base, prep = SyntheticPolicy(game, "base", 0.2), SyntheticPolicy(game, "prep", 0.2)
    for goal in (Lemma1(cost), Pays(cost, certain=False), Pays(cost)):
        kind = f"{type(goal).__name__}{', pruned' if goal.certain else ''}"
        yield f"synthetic, noisy policies, {kind}", (game, base, prep, SyntheticValue()), goal
        for name in ("tic_tac_toe", "connect_four"):
            spiel = openspiel(name)
            uniform = Uniform(spiel)
            yield f"{name}, uniform policies, {kind}", (spiel, uniform, uniform, Even()), goal


def instructions(cost: float) -> None:
    """Instructions of growth for each one of the walk, that of the program's start taken off."""
    counting = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]

    def count(case: int, work: int, times: int) -> int:
        again = [sys.executable, __file__, "--again", str(case), str(work), str(times)]
        run = subprocess.run(
            counting + again,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        found = re.search(r"I\s+refs:\s+([\d,]+)", run.stderr)
        assert found is not None
        return int(found[1].replace(",", ""))

    for case, (name, _, _) in enumerate(cases(cost)):
        walk, growth, watched = (count(case, work, 4) - count(case, work, 1) for work in range(3))
        print(f"{name:<48} ratio {growth / walk:.2f}  watched {watched / walk:.2f}", flush=True)


def memory(histories: int) -> None:
    """Grow connect_four to so many histories and tell the largest size of the process."""
    game = openspiel("connect_four")
    uniform = Uniform(game)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    limits = Limits(histories=histories)
    grown = grow(game, 1, (uniform, uniform), uniform, Even(), Lemma1(1e-9), limits)
    took = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"connect_four: {grown.histories:,} histories in {took:.0f} s of CPU, {peak:,.0f} MB at most "
        f"({before:,.0f} MB before)"
    )


def main() -> None:
    """Compare, and measure memory in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--instructions", action="store_true", help="count instructions instead")
    parser.add_argument("--memory", type=int, help="only grow connect_four to so many histories")
    parser.add_argument("--again", type=int, nargs=3, help="only this case, this work, so many times")
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        return
    if given.instructions:
        instructions(1e-3)
        return
    if given.again:
        case, work, times = given.again
        _, players, goal = list(cases(1e-3))[case]
        again = works(players, goal)[work]
        for _ in range(times):
            again(*players)
        return
    cost, runs = (1e-3, 60) if given.quick else (1e-4, 5)
    for name, players, goal in cases(cost):
        compare(name, players, goal, runs)
    size = 100_000 if given.quick else 1_000_000
    subprocess.run([sys.executable, __file__, "--memory", str(size)], check=True)


if __name__ == "__main__":
    main()
