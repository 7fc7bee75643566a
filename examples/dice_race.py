"""A game of your own with chance in it, as a matchup that every function and command of preplay takes.

Two runners take turns. Who walks gets one step on; who jumps gets three, or falls and stays. The first to
reach the goal wins; if nobody does, the one who is ahead. At the board a runner who fell in the last turn
does not dare to jump again: such a policy depends on the history, not only on where the runners stand.

    preplay prepare examples/dice_race.toml --side 1
    preplay equilibrium examples/dice_race.toml --set settings.goal=8
    preplay sweep examples/dice_race.toml --side 1 --key settings.courage --values 0.1,0.5,0.9
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import preplay
from preplay import CHANCE, FINAL

History = tuple[str, ...]
STEPS = {"walk": 1, "lands": 3, "falls": 0}


def turns_of(state: History) -> list[int]:
    """The steps made in each turn so far."""
    return [STEPS[action] for action in state if action in STEPS]


@dataclass(frozen=True)
class Race:
    goal: int = 6
    turns: int = 4
    widest = 2

    @property
    def longest(self) -> int:
        return 4 * self.turns  # a jump is two actions: the runner's and chance's

    def places(self, state: History) -> tuple[int, int]:
        """Where both runners stand."""
        steps = turns_of(state)
        return sum(steps[0::2]), sum(steps[1::2])

    def root(self) -> History:
        return ()

    def history(self, state: History) -> History:
        return state

    def player(self, state: History) -> int:
        if state[-1:] == ("jump",):
            return CHANCE
        turn = len(turns_of(state))
        if max(self.places(state)) >= self.goal or turn == 2 * self.turns:
            return FINAL
        return 1 + turn % 2

    def actions(self, state: History) -> tuple[str, ...]:
        return ("lands", "falls") if self.player(state) == CHANCE else ("walk", "jump")

    def chance(self, state: History) -> dict[str, float]:
        return {"lands": 0.5, "falls": 0.5}

    def next(self, state: History, action: str) -> History:
        return (*state, action)

    def utility(self, state: History) -> float:
        first, second = self.places(state)
        return 1.0 if first > second else 0.0 if first < second else 0.5


def at_the_board(courage: float, state: History) -> dict[str, float]:
    """Jumps with probability `courage`, but never after a fall."""
    fell = turns_of(state)[-2:-1] == [0]
    return {"walk": 1.0} if fell else {"walk": 1.0 - courage, "jump": courage}


def after_study(race: Race) -> Callable[[History], dict[str, float]]:
    """How a runner plays after long study: the best move against best play."""

    @cache
    def value(turn: int, first: int, second: int) -> float:
        if max(first, second) >= race.goal or turn == 2 * race.turns:
            return 1.0 if first > second else 0.0 if first < second else 0.5
        each = moves(turn, first, second).values()
        return max(each) if turn % 2 == 0 else min(each)

    def moves(turn: int, first: int, second: int) -> dict[str, float]:
        def after(steps: int) -> float:
            mine, theirs = (steps, 0) if turn % 2 == 0 else (0, steps)
            return value(turn + 1, first + mine, second + theirs)

        return {"walk": after(1), "jump": (after(3) + after(0)) / 2.0}

    def best(state: History) -> dict[str, float]:
        turn = len(turns_of(state))
        each = moves(turn, *race.places(state))
        wanted = max(each.values()) if turn % 2 == 0 else min(each.values())
        return {"walk" if each["walk"] == wanted else "jump": 1.0}

    return best


def build(goal: int = 6, turns: int = 4, courage: float = 0.4) -> preplay.Matchup[History]:
    """The matchup; its arguments are the settings of the matchup file."""
    race = Race(goal, turns)
    settings = {"goal": goal, "turns": turns, "courage": courage}
    return preplay.make_matchup(
        race,
        base=partial(at_the_board, courage),
        prep=after_study(race),
        cost=0.005,
        name="race",
        identity=settings,
    )


def main() -> None:
    matchup = build()
    result = preplay.prepare(matchup, side=1)
    print(f"without a book {result.unprepared:.3f}, with {result.size} histories {result.value:.3f}")
    both = preplay.equilibrium(matchup)
    print(f"when both prepare {both.value:.3f}, certified within {both.gap:.0e}")
    swept = preplay.sweep(build, "courage", [0.1, 0.5, 0.9], side=1)
    for point in swept.points:
        print(f"courage {point.setting}: {point.size} histories, value {point.value:.3f}")


if __name__ == "__main__":
    main()
