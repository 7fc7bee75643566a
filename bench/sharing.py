"""How many searches are saved where lines meet, by how much of the game engines are told.

Usage: python bench/sharing.py [--nodes 300] [--cost 2e-5]

Grows the tree of a best book (White's, the paper's value rule, a low cost, so that it is wide) against
opponents of different randomness, and counts how many different questions its histories are.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import chess

from preplay.game import walk
from preplay.matchup import open_matchup
from preplay.preparation import prepare


def questions(board: chess.Board) -> dict[str, object]:
    """What a search is known by, under each rule."""
    position = board.epd(en_passant="xfen")
    recent = tuple(board.move_stack[len(board.move_stack) - board.halfmove_clock :])
    return {
        "the position alone": position,
        "and its clock": (position, board.halfmove_clock),
        "and the moves since the last capture or pawn's move": (position, recent),
        "and the move number (reversible)": (position, recent, board.fullmove_number),
        "the whole game (whole)": tuple(board.move_stack),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--cost", type=float, default=2e-5)
    parser.add_argument("--randomness", type=float, nargs="+", default=[10, 30, 100])
    given = parser.parse_args()
    for r in given.randomness:
        changes = [f"white.nodes={given.nodes}", f"black.nodes={given.nodes}", f"black.randomness={r}"]
        changes += [
            f"prep.nodes={2 * given.nodes}",
            "value.model=threshold",
            "judge=false",
            "history=whole",
        ]
        with (
            tempfile.TemporaryDirectory() as place,
            open_matchup("chess", changes, store=Path(place) / "s.sqlite") as matchup,
        ):
            tree = prepare(matchup, 1, given.cost).tree
            asked: dict[str, set[object]] = {}
            for k in range(tree.size):
                for rule, question in questions(walk(matchup.game, tree.history(k)).board).items():
                    asked.setdefault(rule, set()).add(question)
        print(f"r = {r:g}: {tree.size:,} histories")
        least = len(asked["the position alone"])
        for rule, known in asked.items():
            print(f"  {len(known):7,}  {len(known) / least - 1:+6.1%}  {rule}")


if __name__ == "__main__":
    main()
