"""Promise against fresh value: ten books of different settings, chosen without and with a judge.

A fresh value is that of a search which took no part in the choice, with twice the judge's nodes (twenty
times those of the values). `--rival FILE --player NAME` adds what a book promises against a real player.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from dataclasses import replace
from pathlib import Path

from preplay.judging import afresh
from preplay.matchup import open_matchup
from preplay.preparation import prepare
from preplay.stopping import NEVER

SETTINGS = (
    ("white", 5_000, 10.0),
    ("black", 5_000, 10.0),
    ("white", 20_000, 1.0),
    ("white", 20_000, 10.0),
    ("white", 20_000, 30.0),
    ("black", 20_000, 10.0),
    ("black", 20_000, 30.0),
    ("white", 50_000, 10.0),
)
"""Who prepares, the nodes of preparation and values, the opponent's randomness."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=float, default=3e-3)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rival", nargs=2, action="append", default=[], metavar=("FILE", "PLAYER"),
                        help="games of a player; the first is met with White")  # fmt: skip
    parser.add_argument("--out", type=Path, help="a JSON line for each book")
    given = parser.parse_args()
    rows = [
        (side, nodes, f"r = {r:g}", [f"{_other(side)}.randomness={r}"]) for side, nodes, r in SETTINGS
    ]
    for side, (file, player) in zip(("white", "black"), given.rival, strict=False):
        table = f"{_other(side)}.games"
        sets = [f"{table}.file={file}", f"{table}.player={player}", f"{_other(side)}.randomness=30"]
        rows.append((side, 20_000, "a player's games", sets))
    print("| prepared | nodes | opponent | size | promise | fresh | size, judged | promise | fresh |")
    print("|---|---|---|---|---|---|---|---|---|")
    apart: tuple[list[float], list[float]] = ([], [])
    for side, nodes, opponent, sets in rows:
        changes = [*sets, f"prep.nodes={nodes}", "value.model=linear", "judge=true"]
        with open_matchup("chess", changes, workers=given.workers, store=given.store) as matchup:
            who, judge = matchup.side(side), matchup.judge
            assert judge is not None
            first = prepare(replace(matchup, judge=None), who, given.cost)
            again = afresh(matchup.game, judge.fresh, first, NEVER)
            last = prepare(matchup, who, given.cost)
        assert again is not None
        assert last.judged is not None
        assert last.judged.fresh is not None
        found = {
            "side": side, "nodes": nodes, "opponent": opponent, "cost": given.cost,
            "first": {"size": first.response.size, "promise": first.value, "fresh": again.value},
            "judged": {"size": last.response.size, "promise": last.value, "fresh": last.judged.fresh,
                       "rounds": last.judged.rounds, "searches": last.judged.searches,
                       "net": last.judged.fresh - given.cost * last.response.size,
                       "unprepared": last.response.unprepared},
        }  # fmt: skip
        if given.out is not None:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
        apart[0].append(again.value - first.value)
        apart[1].append(last.judged.fresh - last.value)
        print(
            f"| {side} | {nodes:,} | {opponent} | {first.response.size} | {first.value:.4f} "
            f"| {again.value:.4f} | {last.response.size} | {last.value:.4f} | {last.judged.fresh:.4f} |",
            flush=True,
        )
    for name, differences in zip(("without a judge", "with a judge"), apart, strict=True):
        error = statistics.stdev(differences) / math.sqrt(len(differences))
        mean = statistics.mean(differences)
        print(f"fresh less promise {name}: {mean:+.4f} ± {error:.4f} (one standard error)")


def _other(side: str) -> str:
    return "black" if side == "white" else "white"


if __name__ == "__main__":
    main()
