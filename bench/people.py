"""How well opponents are foreseen: every file in turn, both colours, with and without a population.

    python bench/people.py FOLDER --store FILE [--sample 1500] [--nodes 5000] [--save JSON] [--plot SVG]

Each file of the folder holds the games of the player it is named after. The newest fifth of the games is
explained by the older ones; the other files are the population, as it was by then.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.pool import EnginePool
from preplay.chess.engines.store import AnalysisStore
from preplay.chess.players.opponent import Asking, fit_opponent
from preplay.chess.players.person import Level
from preplay.game import Side
from preplay.matchup.chess import kept_games
from preplay.runs import as_data
from preplay.runs.opponents import opponent_result


def main() -> None:
    """Fit everybody, print a table, keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=1500)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    sides: tuple[Side, Side] = (1, 2)
    with AnalysisStore(given.store) as store, EnginePool(workers=given.workers) as pool:
        analyst = Analyst(pool, store)
        for path in sorted(given.folder.glob("*.pgn*")):
            player = path.name.partition(".")[0]
            for side in sides:
                for population in ((str(given.folder),), ()):
                    levels = (Level(nodes=given.nodes),)
                    asking = Asking(population=population, levels=levels, sample=given.sample)
                    keep = kept_games(given.store)
                    found = fit_opponent(analyst, [path], [player], side, asking, keep=keep)
                    rows.append(
                        as_data(opponent_result(found)) | {"player": player, "with": bool(population)}
                    )
                    print(line(rows[-1]), flush=True)
    print(summary(rows))
    if given.save:
        given.save.write_text(json.dumps(rows, indent=1) + "\n")
    if given.plot:
        plot(rows, given.plot)


def line(row: dict[str, Any]) -> str:
    """One player and colour."""
    crowd = "population" if row["with"] else "alone"
    losses = " ".join(f"{loss:.3f}" for loss in row["baselines"].values())
    who = f"{row['player']:10} {row['side']:5} {crowd:10}"
    return (
        f"{who} {row['games']:5} games, {row['known']:.0%} known, "
        f"{row['logloss']:.3f} ± {row['error']:.3f}, top {row['top1']:.1%}, "
        f"below {row['below']:.2%} | {losses}"
    )


def summary(rows: list[dict[str, Any]]) -> str:
    """The means over players and colours."""
    text = []
    for crowd in (True, False):
        some = [row for row in rows if row["with"] == crowd]
        text.append("with a population" if crowd else "own file alone")
        for name in some[0]["levels"]:
            levels = [row["levels"][name] for row in some]
            loss, top, below = (np.mean([x[key] for x in levels]) for key in ("logloss", "top1", "below"))
            text.append(f"  {name:40} {loss:.3f} nats, top {top:.1%}, below 1e-4 {below:.2%}")
        loss, top, below = (np.mean([row[key] for row in some]) for key in ("logloss", "top1", "below"))
        error = np.sqrt(np.sum([row["error"] ** 2 for row in some])) / len(some)
        text.append(
            f"  {'the model':40} {loss:.3f} ± {error:.3f} nats, top {top:.1%}, below 1e-4 {below:.2%}"
        )
    return "\n".join(text)


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """How often moves were played that the model gave about so much, with 95 % intervals."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    bins: dict[int, list[tuple[float, float, int]]] = {}
    for row in rows:
        if row["with"]:
            for k, point in enumerate(row["reliability"]):
                bins.setdefault(k, []).append(point)
    points = []
    for some in bins.values():
        n = sum(count for _, _, count in some)
        points.append([sum(x[k] * x[2] for x in some) / n for k in (0, 1)] + [n])
    given, seen, n = np.array(points).T
    figure, axes = plt.subplots(figsize=(4.2, 4.0))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    error = 1.96 * np.sqrt(seen * (1 - seen) / n)
    axes.errorbar(given, seen, yerr=error, fmt="o", markersize=4, color="#1f5f8b")
    axes.set(xlabel="probability that the model gave", ylabel="share of such moves that were played")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
