"""A game and two policies of your own: take one or two stones, who takes the last one wins.

The weaker player guesses; after study he knows the winning moves. What is worth memorizing?
"""

from __future__ import annotations

from dataclasses import dataclass

from preplay import Exact, Pays, PolicyFunction, Uniform, best_book, frontier, grow

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
    game = Nim(8)
    base: Uniform[History] = Uniform(game)
    prep = PolicyFunction[History](lambda state: {"2" if game.left(state) % 3 == 2 else "1": 1.0})
    grown = grow(game, 1, (base, base), prep, Exact(game, (base, base)), Pays(0.01))
    book = best_book(grown.tree, side=1, cost=0.01)
    print(f"without a book {book.baseline:.3f}, with {book.size} histories {book.value:.3f}")
    front = frontier(grown.tree, side=1)
    for cost, size, value in zip(front.cost, front.size, front.value, strict=True):
        print(f"below a price of {cost:.4f}: {size} histories, value {value:.3f}")


if __name__ == "__main__":
    main()
