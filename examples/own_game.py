"""A game and two policies of your own: take one or two stones, who takes the last one wins.

At the board a player sees only the end, and mostly takes one before it; after study he knows the right
moves. What is worth memorizing?
"""

from __future__ import annotations

from dataclasses import dataclass

from preplay import Advantage, Exact, Pays, PolicyFunction, best_book, frontier, grow, theorem1

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
    study = PolicyFunction[History](game.right)
    board = PolicyFunction[History](
        lambda state: game.right(state) if game.left(state) <= 4 else {"1": 0.8, "2": 0.2}
    )
    both = (board, board)
    value = Exact(game, both)

    tree = grow(game, 1, both, study, value, Pays(0.01)).tree
    book = best_book(tree, side=1, cost=0.01)
    print(f"without a book {book.baseline:.3f}, with {book.size} histories {book.value:.3f}")
    front = frontier(tree, side=1, cost=0.01)
    for cost, size, worth in zip(front.cost, front.size, front.value, strict=True):
        print(f"below a price of {cost:.4f}: {size} histories, value {worth:.3f}")

    tree = grow(game, 1, both, study, value, Advantage(0.7)).tree
    bound = theorem1(tree, side=1, advantage=0.7, epsilon=0.5, longest=game.longest)
    print(f"Theorem 1: {bound.size_bound} histories surely earn {bound.guarantee:.3f},", end=" ")
    print(f"the {len(bound.nodes)} of its proof {bound.value:.3f}")


if __name__ == "__main__":
    main()
