"""How many playouts a certified book takes: the paper's K, Hoeffding's, and the adaptive scheme.

    python bench/rollouts.py [--epsilon 0.1 0.05 ...] [--delta 0.05] [--runs 5] [--most 1000000] [--json]

All three promise a book within ε of the best, but for a chance of δ, on the same synthetic games:

- paper: Algorithm 1 on all histories of reach at least λ and what follows them, K of Theorem 3 for each
- Hoeffding: the same with the K that Hoeffding's inequality asks for
- adaptive: growth with few playouts, then samples only where they can change the book (`sharpen`)

Playouts are counted. The error is what the book really nets less than the best one, by exact values, the
worst of the runs for the adaptive scheme; fixed schemes of more than `--most` playouts are not run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, replace

import numpy as np

from preplay import response
from preplay.game import walk
from preplay.games.synthetic import SyntheticGame, SyntheticPolicy, SyntheticState
from preplay.growth import Lemma1, Pays, grow
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.rollouts import Rollouts, hoeffding_samples, theorem3_samples
from preplay.sampling.samplers import Playouts
from preplay.sampling.sharpen import sharpen
from preplay.tree import Ints, Tree
from preplay.value import Exact


@dataclass(frozen=True)
class Case:
    name: str
    game: SyntheticGame
    randomness: float
    cost: float


CASES = (
    Case("quiet", SyntheticGame(longest=8, widest=3, spread=0.5, seed=1), 0.2, 0.003),
    Case("sharp", SyntheticGame(longest=8, widest=3, spread=3.0, seed=2), 1.0, 0.003),
    Case("wild", SyntheticGame(longest=8, widest=4, spread=2.0, seed=3), 3.0, 0.001),
    Case("dice", SyntheticGame(longest=8, widest=3, spread=2.0, luck=0.3, seed=4), 1.0, 0.001),
)


@dataclass(frozen=True)
class Row:
    game: str
    epsilon: float
    delta: float
    size: int  # of the best book
    histories: int  # that Algorithm 1 samples
    paper: int
    paper_error: float | None
    hoeffding: int
    hoeffding_error: float | None
    adaptive: int
    adaptive_least: int
    adaptive_most: int
    adaptive_error: float
    regret: float  # the largest certified
    width: float  # of the largest certified interval for the best net
    seconds: float


def evaluated(tree: Tree) -> int:
    return int(np.count_nonzero(((tree.player == 1) | tree.leaves) & (tree.player != -1)))


def true_net(exact: Exact[SyntheticState], tree: Tree, book: Ints, cost: float) -> float:
    value = tree.value.copy()
    for k in np.flatnonzero((tree.player != -1) & ((tree.player == 1) | tree.leaves)).tolist():
        (value[k], _) = exact.values([walk(exact.game, tree.history(k))])[0]
    tree = replace(tree, value=value, radius=np.zeros(tree.size))
    return response.evaluate(tree, 1, book) - cost * len(book)


def measure(case: Case, epsilon: float, delta: float, runs: int, most: int) -> Row:
    game, cost = case.game, case.cost
    policy = SyntheticPolicy(game, "base", case.randomness)
    base, prep = (policy, policy), SyntheticPolicy(game, "prep", 0.02)
    exact = Exact(game, base)
    paper_tree = grow(game, 1, base, prep, exact, Lemma1(cost)).tree
    best = response.best_book(paper_tree, 1, cost)
    histories = evaluated(paper_tree)
    counts = (
        theorem3_samples(epsilon, delta, cost, game.longest, game.widest),
        hoeffding_samples(epsilon, delta, histories),
    )
    errors: list[float | None] = []
    for count in counts:
        errors.append(None)
        if count * histories <= most:
            values = Rollouts(game, Playouts(game, base, 1), count, delta / histories)
            tree = grow(game, 1, base, prep, values, Lemma1(cost)).tree
            book = response.best_book(tree, 1, cost).nodes
            errors[-1] = best.net - true_net(exact, tree, book, cost)
    samples, regret, width, error = [], 0.0, 0.0, 0.0
    start = time.process_time()
    for seed in range(runs):
        adaptive = AdaptiveRollouts(game, Playouts(game, base, seed), delta)
        tree = grow(game, 1, base, prep, adaptive, Pays(cost)).tree
        result = sharpen(game, tree, 1, cost, adaptive, epsilon)
        samples.append(result.samples)
        regret = max(regret, result.regret)
        width = max(width, result.upper - result.lower)
        error = max(error, best.net - true_net(exact, result.tree, result.book, cost))
    return Row(
        game=case.name,
        epsilon=epsilon,
        delta=delta,
        size=best.size,
        histories=histories,
        paper=counts[0] * histories,
        paper_error=errors[0],
        hoeffding=counts[1] * histories,
        hoeffding_error=errors[1],
        adaptive=round(sum(samples) / runs),
        adaptive_least=min(samples),
        adaptive_most=max(samples),
        adaptive_error=error,
        regret=regret,
        width=width,
        seconds=(time.process_time() - start) / runs,
    )


def line(row: Row) -> str:
    def shown(error: float | None) -> str:
        return "    –   " if error is None else f"{abs(error):8.5f}"

    return (
        f"{row.game:6} {row.epsilon:6.3f} {row.size:5} {row.histories:9,}"
        f" {row.paper:15,} {shown(row.paper_error)} {row.hoeffding:13,} {shown(row.hoeffding_error)}"
        f" {row.adaptive:9,} {shown(row.adaptive_error)} {row.regret:8.5f}"
        f" {row.paper / row.adaptive:8,.0f}x {row.hoeffding / row.adaptive:6,.0f}x {row.seconds:7.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.05, 0.02, 0.01])
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(
            "game        ε  size histories           paper    error     Hoeffding    error"
            "  adaptive    error  regret≤  paper/ad   H/ad   cpu s"
        )
    rows = []
    for case in CASES:
        for epsilon in options.epsilon:
            rows.append(measure(case, epsilon, options.delta, options.runs, options.most))
            if not options.json:
                print(line(rows[-1]), flush=True)
    if options.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1)


if __name__ == "__main__":
    main()
