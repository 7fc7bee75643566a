"""A game and two policies of your own: take one or two stones, who takes the last one wins.

At the board a player sees only the end, and mostly takes one before it; after study they know the right
moves. What is worth memorizing?
"""

from __future__ import annotations

from dataclasses import dataclass

from preplay import Advantage, frontier, grow, make_matchup, prepare, theorem1

History = tuple[str, ...]


@dataclass(frozen=True)
class Nim:
    stones: int
    widest = 2

    @property
    def longest(self) -> int:
        return self.stones

    def left(self, state: History) -> int:
        return self.stones - sum(map(int, state))

    def right(self, state: History) -> dict[str, float]:
        return {"2" if self.left(state) % 3 == 2 else "1": 1.0}  # leave a multiple of three

    def root(self) -> History:
        return ()

    def history(self, state: History) -> History:
        return state

    def player(self, state: History) -> int:
        return 1 + len(state) % 2 if self.left(state) else -1

    def actions(self, state: History) -> list[str]:
        return ["1", "2"][: self.left(state)]

    def chance(self, state: History) -> dict[str, float]:
        return {}

    def next(self, state: History, action: str) -> History:
        return (*state, action)

    def utility(self, state: History) -> float:
        return float(len(state) % 2)  # player 1 made the last move


def main() -> None:
    game = Nim(16)
    matchup = make_matchup(
        game,
        base=lambda state: game.right(state) if game.left(state) <= 4 else {"1": 0.8, "2": 0.2},
        prep=game.right,
        cost=0.01,
    )
    book = prepare(matchup, side=1)
    print(f"without a book {book.baseline:.3f}, with {book.size} histories {book.value:.3f}")
    for cost, size, worth in frontier(matchup, side=1, cost=0.01).points:
        print(f"below a price of {cost:.4f}: {size} histories, value {worth:.3f}")

    # What stands below the front door: trees grown towards any goal, and theorems about them.
    tree = grow(game, 1, matchup.base, matchup.prep[0], matchup.value, Advantage(0.7)).tree
    bound = theorem1(tree, side=1, advantage=0.7, epsilon=0.5, longest=game.longest)
    print(f"Theorem 1: {bound.size_bound} histories surely earn {bound.guarantee:.3f},", end=" ")
    print(f"the {len(bound.nodes)} of its proof {bound.value:.3f}")


if __name__ == "__main__":
    main()
