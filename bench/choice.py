"""Books that choose their moves: searches and seconds of growth against a plain depth-first walk.

Both look for the best book of one class (a menu at every own position, at most so many deviations a line)
with the same searches and one engine. The walk goes on wherever memorizing might pay by fact 2
(reach * (1 - value) > cost); growth also leaves what cannot beat what is known (facts 3 and 9).

    python bench/choice.py --nodes 500 --cost 5e-3 --deviations 1
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from preplay.choice import choose
from preplay.game import FINAL
from preplay.growth import Pays, grow
from preplay.matchup import Matchup, open_matchup


def walked(matchup: Matchup[Any], cost: float, deviations: int) -> float:
    """The best net of White's books, by recursion: no bounds, no order, no batches."""
    game, menus = matchup.game, matchup.menus[0]
    assert menus is not None

    def visit(state: Any, reach: float, spent: int) -> float:
        player = game.player(state)
        if player == FINAL:
            return reach * game.utility(state)
        if reach <= matchup.negligible:
            return 0.5 * reach
        if player == 2:
            (replies,) = matchup.base[1].distributions([state])
            return sum(visit(game.next(state, move), reach * p, spent) for move, p in replies.items())
        stop = reach * matchup.value.values([state])[0].mean
        if reach - stop <= cost:
            return stop
        (menu,) = menus.menus([state])
        moves = [option.action for option in menu] if spent < deviations else [menu[0].action]
        on = [visit(game.next(state, move), reach, spent + (j > 0)) for j, move in enumerate(moves)]
        return max(stop, max(on) - cost)

    return visit(game.root(), 1.0, 0)


def grown(matchup: Matchup[Any], cost: float) -> float:
    """The same by growth."""
    limits = matchup.limits()
    done = grow(
        matchup.game, 1, matchup.base, matchup.prep[0], matchup.value, Pays(cost), limits,
        choices=matchup.choices(1),
    )  # fmt: skip
    return choose(done.tree, 1, cost).best.net


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--cost", type=float, default=5e-3)
    parser.add_argument("--deviations", type=int, default=1)
    parser.add_argument("--choose", type=int, default=3)
    parser.add_argument("--margin", type=float, default=40.0)
    parser.add_argument("--randomness", type=float, default=10.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    changes = (
        f"white.nodes={given.nodes}", f"black.nodes={given.nodes}", f"prep.nodes={given.nodes}",
        f"black.randomness={given.randomness}", f"prep.multipv={given.choose}", "value.model=linear",
        "judge=false", f"prep.choose={given.choose}", f"prep.margin={given.margin}",
        f"prep.deviations={given.deviations}",
    )  # fmt: skip
    found: dict[str, dict[str, float]] = {}
    for name in ("growth", "walk"):
        with TemporaryDirectory() as folder:
            store = Path(folder) / "store.sqlite"
            with open_matchup("chess", changes, workers=1, store=store) as matchup:
                began = time.perf_counter()
                if name == "walk":
                    net = walked(matchup, given.cost, given.deviations)
                else:
                    net = grown(matchup, given.cost)
                seconds = time.perf_counter() - began
                found[name] = {"net": net, "searches": matchup.searches(), "seconds": seconds}
        if not given.json:
            row = found[name]
            print(
                f"{name:6}  net {row['net']:.6f}  {row['searches']:,} searches  {seconds:.1f} s",
                flush=True,
            )
    fewer = found["walk"]["searches"] / found["growth"]["searches"]
    faster = found["walk"]["seconds"] / found["growth"]["seconds"]
    if given.json:
        print(json.dumps(found | {"searches_ratio": fewer, "seconds_ratio": faster}))
    else:
        print(f"growth: {fewer:.1f} times fewer searches, {faster:.1f} times fewer seconds")


if __name__ == "__main__":
    main()
