"""The equilibrium solvers: against OpenSpiel's CFR+ on the explicit game, on a million histories,
and against each other.

    python bench/equilibrium.py [--quick] [--only openspiel|million|methods] [--patience SECONDS]
        [--depth D]

- openspiel: public trees of depth 4 to 12, branching 2. OpenSpiel loads G' of the same meta-game from
  .efg and runs its C++ CFR+. Per iteration we compare the same algorithm, CFR+ with alternating
  updates, on all decisions (nothing dropped). To a gap of 1e-6 we count everything we do, from tree to
  certificate; of OpenSpiel only the iterations, not loading nor measuring its gap.
- million: a public tree of 1,048,575 histories, to a gap of 1e-4 with the certificate.
- methods: iterations to a gap by every method, on trees of many kinds. `docs/solvers.md` has the table.

Times are processor time of one thread, and of an iteration the least of several measurements, since
other work may share the machine.
"""

from __future__ import annotations

import argparse
import heapq
import math
import multiprocessing
import resource
import time
from collections.abc import Iterator

import numpy as np

from preplay import compiled
from preplay.equilibria import METHODS, iteration, solve
from preplay.equilibria.explicit import explicit_game, explicit_size
from preplay.equilibria.folding import FoldedGame, fold
from preplay.equilibria.gambit import efg_text
from preplay.equilibria.minimizing import Best, Method, Watch, minimize
from preplay.equilibria.publicgame import decisions
from preplay.tree import Floats, Tree, from_parents

GAP = 1e-6


def iterations_to(game: FoldedGame, method: Method, gap: float, limit: int) -> int | None:
    """How many iterations a method takes to the gap on a folded game; None beyond the limit."""
    best = Best(game)
    watch = Watch(time.perf_counter(), gap, limit, None, None, None)
    done = minimize(game, method, None, best, watch)
    return done if best.gap <= gap else None


def complete(depth: int, seed: int, *, skill: bool = False, chance: bool = False) -> Tree:
    """A full binary tree; alternating players, every third move chance's if wanted.

    Policies and values are random; with `skill`, prep prefers what is better and base sees it
    through noise.
    """
    rng = np.random.default_rng(seed)
    sizes = [2**d for d in range(depth + 1)]
    n = sum(sizes)
    level = np.repeat(np.arange(depth + 1), sizes)
    player = np.where(level == depth, -1, 1 + level % 2)
    if chance:
        player[(level % 3 == 2) & (level < depth)] = 0
    value = np.where(level == depth, rng.random(n), np.nan)
    base = np.append(1.0, rng.dirichlet((1.0, 1.0), n // 2).ravel())
    prep = np.append(1.0, rng.dirichlet((1.0, 1.0), n // 2).ravel())
    if skill:
        quality = np.nan_to_num(value)
        for d in range(depth - 1, -1, -1):
            start, end = sizes[d] - 1, 2 * sizes[d] - 1
            below = slice(end, end + 2 * sizes[d])
            likes = {1: 1.0, 2: -1.0, 0: 0.0}[int(player[start])] * quality[below].reshape(-1, 2)
            sharp, blurred = (
                _softmax(likes / 0.03),
                _softmax((likes + rng.normal(0, 0.15, likes.shape)) / 0.1),
            )
            prep[below], base[below] = sharp.ravel(), blurred.ravel()
            mean = (sharp + blurred) / 2
            quality[start:end] = (mean * quality[below].reshape(-1, 2)).sum(axis=1)
    moved_by_chance = player[(np.arange(1, n) - 1) // 2] == 0
    prep[1:][moved_by_chance] = base[1:][moved_by_chance]
    return from_parents((np.arange(n) - 1) // 2, player, base, prep, value)


def _softmax(scores: Floats) -> Floats:
    weights: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def wide(size: int, seed: int, *, skill: bool) -> Tree:
    """1 to 6 moves a history, chance now and then, likely lines grown deeper than others."""
    rng = np.random.default_rng(seed)
    parent, player, base, prep = [-1], [1], [1.0], [1.0]
    first: dict[int, range] = {}
    heap = [(-1.0, 0)]
    while len(parent) < size:
        reach, k = heapq.heappop(heap)
        count = int(rng.integers(1, 7))
        if skill:
            quality = rng.normal(0, 1, count)
            b, p = (
                _softmax((quality + rng.normal(0, 0.7, count))[None])[0],
                _softmax(2.5 * quality[None])[0],
            )
        else:
            b, p = rng.dirichlet(np.full(count, 0.7)), rng.dirichlet(np.full(count, 0.3))
        if player[k] == 0:
            p = b
        first[k] = range(len(parent), len(parent) + count)
        for c in range(count):
            follower = 3 - player[k] if player[k] and rng.random() < 0.95 else int(rng.integers(1, 3))
            heapq.heappush(heap, (reach * max(b[c], p[c]) * rng.uniform(0.5, 1), len(parent)))
            parent.append(k)
            player.append(0 if rng.random() < 0.1 else follower)
            base.append(float(b[c]))
            prep.append(float(p[c]))
    order = [0]
    for k in order:
        order.extend(first.get(k, ()))
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    leaf = np.array([k not in first for k in order])
    above = np.append(-1, place[np.array(parent)[order][1:]])
    who = np.where(leaf, -1, np.array(player)[order])
    b, p = np.array(base)[order], np.array(prep)[order]
    latent = np.zeros(len(order))
    for k in range(1, len(order)):  # moves that prep likes and base does not are good for the mover
        side = {1: 1.0, 2: -1.0}.get(int(who[above[k]]), 0.0)
        shift = 0.4 * side * (math.log(p[k] + 0.05) - math.log(b[k] + 0.05))
        latent[k] = latent[above[k]] + rng.normal(0, 0.5) + shift
    return from_parents(above, who, b, p, np.where(leaf, 1 / (1 + np.exp(-latent)), np.nan))


def seconds_per_iteration(game: FoldedGame, method: str, at_least: float = 0.6) -> float:
    """The least mean over short blocks of iterations: other work lengthens some of them."""
    one, two = game.sides
    states = iteration.new_state(one), iteration.new_state(two)
    iteration.forward(two, states[1], states[0].worth, 0.0)
    rule = METHODS[method].rule
    best, done, block = math.inf, 1, 1
    iteration.iterate(one, two, *states, rule, 0, 1, 0, 0.0, 0.0)  # load the machine code
    began = time.process_time()
    while time.process_time() - began < at_least or done < 3 * block:
        clock = time.process_time()
        iteration.iterate(one, two, *states, rule, done, done + block, 0, float(done), 0.0)
        taken = time.process_time() - clock
        done += block
        best = min(best, taken / block)
        block = max(block, min(1000, int(0.003 / max(taken / block, 1e-7))))
    return best


def seconds_to_solve(tree: Tree, cost: float, method: str) -> float:
    """From the tree to a certified gap of 1e-6."""
    clock = time.process_time()
    run = solve(tree, (cost, cost), gap=GAP, method=method)
    taken = time.process_time() - clock
    assert run.gap <= GAP
    return taken


def openspiel(depths: range, cost: float, patience: float) -> None:
    import pyspiel

    print(f"Against OpenSpiel's CFR+ on G' (depth, branching 2, cost {cost:g})")
    print(
        f"{'depth':>5} {'histories':>9} {'G-nodes':>8} {'theirs':>10} {'ours':>10} {'ratio':>6}  |"
        f" {'theirs to 1e-6':>26} {'ours to 1e-6':>13} {'ratio':>9} {'LP':>9}"
    )
    for depth in depths:
        tree, costs = complete(depth, depth), (cost, cost)
        text = efg_text(explicit_game(tree, costs))
        game = pyspiel.load_efg_game(text)
        solver = pyspiel.CFRPlusSolver(game)
        per, spent, done, check, gap = math.inf, 0.0, 0, 20, math.inf
        while gap > GAP and spent < patience:
            clock = time.process_time()
            solver.evaluate_and_update_policy()
            taken = time.process_time() - clock
            per, spent, done = min(per, taken), spent + taken, done + 1
            if done >= check or spent >= patience:
                gap = pyspiel.nash_conv(game, solver.average_policy(), False) / 2  # payoffs in [-1, 1]
                check = int(done * 1.2) + 1
        all_decisions = fold(tree, costs, decisions(tree), drop=False)
        ours = seconds_per_iteration(all_decisions, "cfr+")
        mine = min(seconds_to_solve(tree, cost, "sweep") for _ in range(4))
        program = min(seconds_to_solve(tree, cost, "lp") for _ in range(2))
        reached = gap <= GAP
        more = "" if reached else "> "
        theirs = f"{more}{spent:.3g} s ({done:,} it{'' if reached else f', {gap:.0e}'})"
        print(
            f"{depth:>5} {tree.size:>9,} {explicit_size(tree):>8,}"
            f" {per * 1e3:>7.3f} ms {ours * 1e3:>7.4f} ms {per / ours:>6,.0f}  |"
            f" {theirs:>26} {mine * 1e3:>10.2f} ms {f'{more}{spent / mine:,.0f}':>9}"
            f" {program * 1e3:>6.1f} ms",
            flush=True,
        )
    print()


def million(depth: int) -> None:
    """In a process of its own, so that the peak of its memory can be read."""
    print(f"A public tree of {2 ** (depth + 1) - 1:,} histories")
    context = multiprocessing.get_context("spawn")
    for skill in (False, True):
        for cost in (1e-4, 1e-5, 1e-6):
            with context.Pool(1) as pool:
                pool.apply(_million, (depth, skill, cost))
    with context.Pool(1) as pool:
        pool.apply(_undropped, (depth,))
    print()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _million(depth: int, skill: bool, cost: float) -> None:
    tree = complete(depth, 5, skill=skill)
    solve(complete(4, 1), (cost, cost))  # load the machine code
    before = _peak()
    clock = time.process_time()
    run = solve(tree, (cost, cost), gap=1e-4)
    taken = time.process_time() - clock
    grown = _peak() - before
    game = fold(tree, (cost, cost), decisions(tree))
    per = seconds_per_iteration(game, "sweep")
    print(
        f"  {'skill' if skill else 'random'} policies, cost {cost:g}: gap {run.gap:.1e} after"
        f" {run.iterations} iterations, {taken:.2f} s in all; {run.decisions:,} decisions can pay;"
        f" {per * 1e9 / tree.size:.2f} ns per history and iteration"
        f" ({per * 1e9 / max(game.size, 1):.1f} per decision); {tree.nbytes / tree.size:.0f} bytes per"
        f" history for the tree and {grown / tree.size:.0f} more at the peak",
        flush=True,
    )


def _undropped(depth: int) -> None:
    tree = complete(depth, 5)
    game = fold(tree, (1e-5, 1e-5), decisions(tree), drop=False)
    states = [iteration.new_state(side) for side in game.sides]
    working = game.nbytes + sum(array.nbytes for state in states for array in state)
    clock = time.process_time()
    done = iterations_to(game, METHODS["sweep"], 1e-4, 1_000)
    taken = time.process_time() - clock
    print(f"  nothing dropped, sweep: to a gap of 1e-4 in {done} iterations, {taken:.2f} s", flush=True)
    for method in ("sweep", "cfr+"):
        per = seconds_per_iteration(game, method, 2.0)
        print(
            f"  nothing dropped, {method}: {game.size:,} decisions, {per * 1e9 / tree.size:.1f} ns per"
            f" history and iteration, {(tree.nbytes + working) / tree.size:.0f} bytes per history",
            flush=True,
        )


def collection(quick: bool) -> Iterator[tuple[str, str, FoldedGame]]:
    """(family, cost, game) of many kinds, those with at least ten decisions."""
    costs = ((0.1, 0.1), (1e-2, 1e-2), (1e-3, 3e-3), (1e-4, 1e-4))
    for depth in range(4, 11 if quick else 15, 2):
        for skill in (False, True):
            for seed in (1, 2):
                tree = complete(depth, depth + 100 * seed, skill=skill, chance=seed == 2)
                for pair in costs:
                    game = fold(tree, pair, decisions(tree))
                    if game.size >= 10:
                        yield f"binary, {'skill' if skill else 'random'}", f"{pair[0]:g}", game
    for size, seed in ((300, 1), (1_000, 4), (3_000, 2), (3_000, 5), (20_000, 3), (20_000, 6)):
        if quick and size > 3_000:
            continue
        for skill in (False, True):
            tree = wide(size, seed, skill=skill)
            for pair in (*costs[1:], (1e-5, 1e-5)):
                game = fold(tree, pair, decisions(tree))
                if game.size >= 10:
                    yield f"wide, {'skill' if skill else 'random'}", f"{pair[0]:g}", game


def methods(quick: bool, limit: int = 5_000) -> None:
    targets = (1e-4, 1e-6, 1e-8)
    games = list(collection(quick))
    sizes = sorted(game.size for _, _, game in games)
    print(
        f"Iterations to a gap: {len(games)} games, {sizes[0]} to {sizes[-1]:,} decisions, limit {limit:,}"
    )
    families = sorted({family for family, _, _ in games})
    print(f"{'method':>15}  " + "  ".join(f"{f'all, {t:g}':>16}" for t in targets), end="  ")
    print("  ".join(f"{family + ', 1e-6':>20}" for family in families))
    for name, method in METHODS.items():
        counts = {
            t: np.array([iterations_to(game, method, t, limit) or math.inf for _, _, game in games])
            for t in targets
        }
        cells = []
        for t in targets:
            late = int(np.isinf(counts[t]).sum())
            mean = math.exp(np.log(np.minimum(counts[t], 2 * limit)).mean())
            cells.append(f"{f'{mean:,.0f} ({late} never)':>16}")
        for family in families:
            some = counts[1e-6][[f == family for f, _, _ in games]]
            cells.append(f"{math.exp(np.log(np.minimum(some, 2 * limit)).mean()):>20,.0f}")
        print(f"{name:>15}  " + "  ".join(cells), flush=True)
    print("Geometric means; a game that is not solved within the limit counts as twice the limit.\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller trees, less patience")
    parser.add_argument("--only", choices=("openspiel", "million", "methods"))
    parser.add_argument("--cost", type=float, default=1e-3, help="of the OpenSpiel comparison")
    parser.add_argument("--patience", type=float, help="seconds that OpenSpiel gets per tree")
    parser.add_argument("--depth", type=int, help="of the OpenSpiel comparison, this one alone")
    choice = parser.parse_args()
    compiled.TO_IMPORT = compiled.TO_LOAD = 0  # what is measured are the compiled loops
    if choice.only in (None, "openspiel"):
        patience = choice.patience or (5.0 if choice.quick else 120.0)
        depths = range(4, 9 if choice.quick else 13, 2)
        if choice.depth is not None:
            depths = range(choice.depth, choice.depth + 1)
        openspiel(depths, choice.cost, patience)
    if choice.only in (None, "million"):
        million(15 if choice.quick else 19)
    if choice.only in (None, "methods"):
        methods(choice.quick)


if __name__ == "__main__":
    main()
