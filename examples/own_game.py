"""A game and two policies of your own: take one or two stones, who takes the last one wins.

At the board a player sees only the end, and mostly takes one before it; after study they know the right
moves. What is worth memorizing?

Where every move loses against best play, a book may try any: it chooses what the opponent answers worst.
And what is to be done depends on the stones alone, so memory may be paid for by position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from preplay import Advantage, Matchup, frontier, grow, make_matchup, prepare, theorem1

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


def at_the_board(game: Nim, state: History) -> dict[str, float]:
    return game.right(state) if game.left(state) <= 4 else {"1": 0.8, "2": 0.2}


def traps(game: Nim, state: History) -> dict[str, float]:
    """What a book may play, and what is thought of it: where all is lost, anything."""
    return {} if game.left(state) % 3 else dict.fromkeys(game.actions(state), 0.0)


def choosing(stones: int, by_position: bool) -> Matchup[History]:
    game = Nim(stones)
    return make_matchup(
        game,
        base=partial(at_the_board, game),
        prep=lambda state: {"2": 1.0} if game.left(state) % 3 == 0 else game.right(state),
        menus=partial(traps, game),
        position=(lambda state: (game.left(state), game.player(state))) if by_position else None,
        cost=0.01,
    )


def main() -> None:
    game = Nim(16)
    matchup = make_matchup(game, base=partial(at_the_board, game), prep=game.right, cost=0.01)
    book = prepare(matchup, side=1)
    print(f"without a book {book.baseline:.3f}, with {book.size} histories {book.value:.3f}")
    for cost, size, worth in frontier(matchup, side=1, cost=0.01).points:
        print(f"below a price of {cost:.4f}: {size} histories, value {worth:.3f}")

    # What stands below the front door: trees grown towards any goal, and theorems about them.
    tree = grow(game, 1, matchup.base, matchup.prep[0], matchup.value, Advantage(0.7)).tree
    bound = theorem1(tree, side=1, advantage=0.7, epsilon=0.5, longest=game.longest)
    print(f"Theorem 1: {bound.size_bound} histories surely earn {bound.guarantee:.3f},", end=" ")
    print(f"the {len(bound.nodes)} of its proof {bound.value:.3f}")

    # Books that choose their moves, and memory by position.
    for by_position in (False, True):
        best = prepare(choosing(15, by_position), side=1)
        tried = sum(entry.deviates for entry in best.book.entries)
        what = "positions" if by_position else "histories"
        print(f"choosing: {best.size} {what}, {tried} traps, value {best.value:.3f}")


if __name__ == "__main__":
    main()
