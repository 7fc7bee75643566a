"""What a large book promises against a deeper search that took no part: a sample of its exits.

python bench/exits_check.py --side white --randomness 102.4 --cost 1e-5 --histories 12000 --exits 300

A book of a thousand positions has thousands of exits, most of them rarely met. A sample that is drawn by
how often they are met tells fresh less promised value without bias, and how sure that is.
"""

from __future__ import annotations

import argparse

import numpy as np

import preplay
from preplay import response
from preplay.game import FINAL
from preplay.growth import Limits
from preplay.judging import ask
from preplay.preparation import prepare
from preplay.stopping import NEVER


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", choices=("white", "black"), default="white")
    parser.add_argument("--randomness", type=float, required=True)
    parser.add_argument("--cost", type=float, default=1e-5)
    parser.add_argument("--histories", type=int)
    parser.add_argument("--exits", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    opponent = "black" if given.side == "white" else "white"
    choosing = [
        *("value.model=linear", "white.nodes=4000", "black.nodes=4000", "prep.nodes=20000"),
        f"{opponent}.randomness={given.randomness}",
    ]
    with preplay.open_matchup("chess", [*choosing, "judge=false"]) as matchup:
        side = matchup.side(given.side)
        found = prepare(matchup, side, given.cost, limits=Limits(given.histories))
        tree, best = found.tree, found.response
        ends = response.exits(tree, side, best.nodes)
        reach = response.reach(tree, side)[ends]
        inner = tree.player[ends] != FINAL
        share = np.where(inner, reach, 0.0)
        rng = np.random.default_rng(given.seed)
        drawn = rng.choice(ends, size=given.exits, p=share / share.sum())
        unique = sorted({int(k) for k in drawn})
        histories = [tree.history(k) for k in unique]
        promised = {k: float(tree.value[k]) for k in unique}
    with preplay.open_matchup("chess", [*choosing, f"judge.nodes={given.nodes}"]) as matchup:
        assert matchup.judge is not None
        answers = ask(matchup.game, matchup.judge.value, histories, NEVER)
    fresh = {k: answer.mean for k, answer in zip(unique, answers, strict=True)}
    sign = 1.0 if side == 1 else -1.0
    apart = sign * np.array([fresh[int(k)] - promised[int(k)] for k in drawn]) * share.sum()
    error = 1.96 * float(apart.std(ddof=1)) / len(apart) ** 0.5
    print(
        f"{given.side}, r = {given.randomness:g}, cost {given.cost:g}: {best.size} histories, "
        f"{len(ends)} exits; promised {best.value:.4f}, fresh {best.value + apart.mean():.4f} "
        f"± {error:.4f} ({len(drawn)} exits drawn, {len(unique)} different, {given.nodes:,} nodes)"
    )


if __name__ == "__main__":
    main()
