"""How far the scores of short searches are from those of long ones.

    python bench/search_noise.py [--positions 600] [--nodes 1000 2000 5000 10000 20000] [--long 200000]

Positions come from games in which Stockfish chooses between its two best moves with 500 nodes. A score
is off when it is more than 150 centipawns from the long one, both clipped at 400 as the linear value is.
"""

from __future__ import annotations

import argparse
import random

import chess

from preplay.chess.engines.analysis import EngineSpec, Limit, SearchRequest, search_position
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.discovery import find_engine
from preplay.chess.engines.pool import EnginePool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 2000, 5000, 10_000, 20_000])
    parser.add_argument("--long", type=int, default=200_000)
    given = parser.parse_args()
    engine = EngineSpec.of(find_engine())

    def requests(boards: list[chess.Board], nodes: int) -> list[SearchRequest]:
        return [SearchRequest(engine, search_position(board), Limit(nodes=nodes), 2) for board in boards]

    with EnginePool() as pool:
        analyst = Analyst(pool)

        def scores(boards: list[chess.Board], nodes: int) -> list[int]:
            found = analyst.analyse(requests(boards, nodes))
            return [max(-400, min(400, analysis.lines[0].score)) for analysis in found]

        rng = random.Random(5)
        boards = [chess.Board() for _ in range(given.positions)]
        left = [rng.randrange(1, 30) for _ in boards]
        while any(left):
            moving = [k for k, plies in enumerate(left) if plies]
            found = analyst.analyse(requests([boards[k] for k in moving], 500))
            for k, analysis in zip(moving, found, strict=True):
                after = boards[k].copy()
                after.push_uci(rng.choice(analysis.lines).move)
                over = after.is_game_over()
                left[k] = 0 if over else left[k] - 1
                boards[k] = boards[k] if over else after
        long = scores(boards, given.long)
        print(f"of {len(boards)} scores, off by more than 150 centipawns against {given.long:,} nodes:")
        for nodes in given.nodes:
            off = sum(abs(a - b) > 150 for a, b in zip(scores(boards, nodes), long, strict=True))
            print(f"  {nodes:>9,} nodes  {off}")


if __name__ == "__main__":
    main()
