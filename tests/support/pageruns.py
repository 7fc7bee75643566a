"""Run directories to make pages of: small ones, large ones, hostile ones, all without engines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
from typer.testing import CliRunner

from preplay import response, runs
from preplay.book import Book
from preplay.cli.app import application
from preplay.equilibria import solve
from preplay.equilibria.contest import Alone, Contest, explain
from preplay.experiments.sweep import Point
from preplay.game import CHANCE, Side
from preplay.growth import Contested
from preplay.preparation import entry
from preplay.repairs import Repair
from preplay.report.gather import gather
from preplay.runs.directory import POINTS
from preplay.runs.equilibria import EquilibriumResult, MixedSide
from preplay.runs.prepared import PrepareResult
from preplay.sampling.timeshare import Mean, TimeShare
from preplay.tree import Tree, from_parents

HOSTILE = "<!--<script </script><script>hacked=1</script><img src=x onerror='hacked=1'>\"&{{data}}"
"""What a name in a PGN, an engine or a configuration might hold."""
SPECIAL = "r3k2r/pPp2ppp/8/3pP3/8/8/P1P2PpP/R3K2R w KQkq d6 0 1"
"""A start from which castling, en passant and promotions come at once."""
SHUFFLED = "1r2k1r1/pp4pp/8/8/8/8/PP4PP/1R2K1R1 w KQkq - 0 1"
"""A Chess960 start in which castling is likely."""
LATE = "rnbqkbnr/pppp1ppp/4p3/8/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 2"
"""The position after 1. e4 e6 2. d4."""
LONG = "Stockfishbuiltfromsourcewithmypatchesandalongname" * 3
"""A name with nowhere to break it."""
PLAYER: dict[str, Any] = {"engine": None, "options": {}, "nodes": 1000, "multipv": 2, "randomness": 0.0}
CHESS = {
    "kind": "chess",
    "start": {"fen": "", "moves": []},
    "chess960": False,
    "length": 100,
    "white": PLAYER,
    "black": PLAYER | {"randomness": 10.0},
    "prep": PLAYER | {"nodes": 4000},
    "value": {"model": "linear"},
    "engines": ["Testfish 1 [0123456789abcdef]"],
}

CLOCKED = {
    "kind": "chess-clock",
    "start": {"fen": "", "moves": []},
    "clock": {"unit": "nodes", "budget": 5000, "increment": 10},
    "white": {"engine": None, "multipv": 2, "randomness": 0.0, "budget": 7000, "increment": None},
    "black": {"engine": None, "multipv": 2, "randomness": 10.0, "budget": None, "increment": 0},
    "prep": PLAYER | {"nodes": 4000},
    "value": {"epsilon": 0.2, "delta": 0.05, "playouts": 1000, "games": 300},
    "engines": ["Testfish 1 [0123456789abcdef]"],
}
MEASURED = TimeShare(
    side=1, games=300, wanted=300,
    without=Mean(0.5, 0.012), charged=Mean(0.7, 0.012), value=Mean(0.75, 0.012),
    gain=Mean(0.25, 0.012), moves=Mean(0.2, 0.012), time=Mean(0.05, 0.012), share=Mean(0.2, 0.012),
)  # fmt: skip
"""What `preplay prepare chess-clock` found by playing."""


def chess_tree(
    own: int,
    side: Side = 1,
    start: str = "",
    seed: int = 0,
    *,
    both: bool = False,
    replies: int = 2,
    chess960: bool = False,
) -> Tree:
    """Random legal chess, breadth first, until `side` has `own` positions with a move to play.

    With `both`, base and prep differ at every position, as equilibria need it.
    """
    rng = np.random.default_rng(seed)
    names: dict[str, int] = {}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("parent", "player", "base", "prep", "value", "action")
    }
    boards: list[chess.Board | None] = []

    def add(parent: int, board: chess.Board, move: str, base: float, prep: float) -> None:
        mine = 0.5 + 0.45 * (1.0 - 0.95 ** board.ply()) + rng.uniform(0.0, 0.001)
        columns["parent"].append(parent)
        columns["player"].append(1 if board.turn else 2)
        columns["base"].append(base)
        columns["prep"].append(prep)
        value = mine if side == 1 else 1 - mine
        columns["value"].append(float(rng.integers(0, 2)) if both else value)
        columns["action"].append(names.setdefault(move, len(names)) if move else -1)
        boards.append(board)

    add(-1, chess.Board(start or chess.STARTING_FEN, chess960=chess960), "", 1.0, 1.0)
    k = expanded = 0
    while k < len(boards) and (expanded < own or columns["player"][k] != side):
        board = boards[k]
        boards[k] = None
        assert board is not None
        moves = list(board.legal_moves)
        if not moves:
            columns["player"][k] = -1
            columns["value"][k] = 0.5 if not board.is_check() else 0.0 if board.turn else 1.0
        else:
            mine = columns["player"][k] == side
            expanded += mine
            width = 2 if both else 1 if mine else replies
            chosen = rng.choice(len(moves), min(len(moves), width), replace=False)
            shares = rng.dirichlet(np.full(len(chosen), 1.5))
            study = rng.dirichlet(np.full(len(chosen), 0.3))
            for j, p, q in zip(chosen, shares, study, strict=True):
                after = board.copy(stack=False)
                after.push(moves[j])
                base, prep = (p, q) if both else (np.nan, 1.0) if mine else (p, np.nan)
                add(k, after, board.uci(moves[j]), float(base), float(prep))
        k += 1
    return from_parents(**{n: columns[n] for n in columns if n != "action"},
                        action=columns["action"], names=tuple(names))  # fmt: skip


def with_times(tree: Tree, side: Side) -> Tree:
    """The same tree under a clock: the opponent's moves take time, and its last line is given up."""
    names: dict[str, int] = {}
    action, player = [-1], tree.player.copy()
    last = max(k for k in range(1, tree.size) if tree.leaves[k] and tree.player[tree.parent[k]] != side)
    for k in range(1, tree.size):
        name = tree.names[tree.action[k]]
        if tree.player[tree.parent[k]] != side:
            name = f"{name}@{100 + 7 * (k % 5)}"
            if k == last:
                name, player[k] = "resign@100", -1
        action.append(names.setdefault(name, len(names)))
    return replace(
        tree, action=np.array(action, dtype=tree.action.dtype), names=tuple(names), player=player
    )


def save_preparation(  # noqa: PLR0913  # what a test may want otherwise
    directory: Path,
    tree: Tree,
    side: Side = 1,
    cost: float = 1e-9,
    *,
    budget: int | None = None,
    start: str = "",
    chess960: bool = False,
    matchup: Mapping[str, Any] = CHESS,
    name: str = "test",
    versions: Mapping[str, str] | None = None,
    clock: TimeShare | None = None,
    repairs: tuple[Repair, ...] | None = None,
) -> Book:
    """A finished `preplay prepare` run with this tree."""
    identity = {"side": side, "cost": cost, "budget": budget, "matchup": dict(matchup)}
    run = runs.start(directory, "prepare", name, identity, dict(versions or {}))
    best = response.best_book(tree, side, cost, budget)
    rows = zip(best.nodes.tolist(), best.reach.tolist(), best.gain.tolist(), strict=True)
    book = Book(
        side=side,
        entries=tuple(entry(tree, side, k, reach, gain) for k, reach, gain in rows),
        baseline=best.baseline,
        value=best.value,
        cost=cost,
        upper=best.upper,
        start=start,
        chess960=chess960,
        provenance=run.provenance,
    )
    result = PrepareResult(
        side=run.label(side), cost=cost, budget=budget,
        baseline=best.baseline, value=best.value, net=best.net,
        upper=best.upper, error=best.error, size=best.size, ending="complete", histories=tree.size,
        questions=tree.size, book=book, clock=clock, repairs=repairs, tree=tree,
    )  # fmt: skip
    runs.save(run, result)
    return book


def save_extension(directory: Path) -> Tree:
    """A run that adds to a known first move, with two known moves that lose, one where no book leads."""
    plain = chess_tree(8, seed=5)
    player, base = plain.player.copy(), plain.base.copy()
    player[0], base[plain.children(0)] = CHANCE, 1.0
    tree = replace(plain, player=player, base=base)
    reply = next(int(k) for k in plain.children(1) if len(plain.children(int(k))))
    first, second = tree.history(1)[0], tree.history(int(plain.children(reply)[0]))[-1]
    dear = Repair(tree.history(reply), (second,), 0.25, 0.6, 0.5)
    gone = Repair(("a2a3", "a7a6"), ("b2b4",), 0.5, 0.51, 0.5)
    assert first != "a2a3"
    save_preparation(directory, tree, repairs=(dear, gone))
    return tree


def save_equilibrium(
    directory: Path,
    tree: Tree,
    cost: float = 1e-3,
    matchup: Mapping[str, Any] = CHESS,
    name: str = "test",
) -> dict[str, Any]:
    """A finished `preplay equilibrium` run with this tree."""
    identity = {"costs": [cost, cost], "matchup": dict(matchup)}
    run = runs.start(directory, "equilibrium", name, identity, {})
    found = solve(tree, (cost, cost), gap=1e-5, iterations=2000)
    inner, order = ~tree.leaves, np.arange(tree.size)
    grown = Contested(tree, inner, inner, (1, 1), order, "complete", tree.size, tree.size, 0.0)
    base = 0.5
    alone = Alone(0.6, 0.6, 0.6, True), Alone(0.4, 0.4, 0.4, True)
    meant = explain(grown, found, 100, base, alone)
    result = EquilibriumResult(
        value=found.value, lower=found.lower, upper=found.upper,
        gap=found.gap, solver_gap=found.solver_gap,
        sampling_error=found.radius_error, open_error=found.open_error, method=found.method,
        iterations=found.iterations, seconds=found.seconds, costs=found.costs, baseline=meant.baseline,
        utility=meant.utility, only_one_prepares=(0.6, 0.4), histories=tree.size, ending="complete",
        questions=tree.size, sides=(_mixed(meant, 1), _mixed(meant, 2)), trace=found.trace, tree=tree,
    )  # fmt: skip
    runs.save(run, result)
    return runs.as_data(result)


def _mixed(meant: Contest, side: Side) -> MixedSide:
    tree, found = meant.tree, meant.equilibrium
    x = found.x[side - 1]
    entries = tuple(
        replace(entry(tree, side, int(k), 1.0, 0.0), probability=float(x[k]))
        for k in np.flatnonzero(x > 0.0)
    )
    book = Book(
        side=side, entries=entries, baseline=0.5, value=0.5, cost=found.costs[side - 1], upper=1.0
    )
    return MixedSide(
        expected_size=found.expected_size[side - 1], entropy=meant.entropy[side - 1], book=book
    )


def save_sweep(
    directory: Path,
    command: str = "sweep",
    key: str = "randomness",
    settings: tuple[Any, ...] = (0.1, 1.0, 10.0, 100.0),
    sides: tuple[str, ...] = ("white", "black"),
    name: str = "test",
) -> list[Point]:
    """A finished sweep or Figure 1."""
    run = runs.start(directory, command, name, {"matchup": CHESS, "cost": 1e-3}, {})
    points = [
        Point(side, key, setting, 0.9 - 0.08 * k, 20 + 3 * k, 0.8 - 0.08 * k, 0.81 - 0.08 * k, 0.52, 0.53,
              100 * k + 7, 200 * k + 9, 50 * k, 1.5 * k, "complete")
        for k, setting in enumerate(settings)
        for side in sides
    ]  # fmt: skip
    lines = "".join(json.dumps(asdict(point)) + "\n" for point in points)
    run.path(POINTS).write_text(lines, encoding="utf-8")
    return points


def long_runs(place: Path) -> None:
    """Runs of every kind in which every name that comes from outside is long."""
    player = PLAYER | {"engine": LONG, "options": {LONG: LONG}}
    start = SHUFFLED.replace("KQkq", "GBgb")
    matchup = CHESS | {
        "white": player, "black": player, "prep": player, "engines": [LONG], "chess960": True,
        "start": {"fen": start, "moves": []}, "value": {"model": LONG},
    }  # fmt: skip
    tree = chess_tree(20, start=start, seed=4, chess960=True)
    save_preparation(
        place / "long",
        tree,
        start=start,
        chess960=True,
        matchup=matchup,
        name=LONG,
        versions={LONG: LONG},
    )
    tree = chess_tree(20, seed=3, both=True)
    save_equilibrium(place / "long-mixed", tree, 3e-3, CHESS | {"engines": [LONG], "black": player}, LONG)
    save_sweep(place / "long-sweep", key=LONG, settings=(LONG, "b"), sides=(LONG,), name=LONG)
    plain = chess_tree(20, seed=5)
    plain = replace(plain, names=tuple(name + LONG for name in plain.names))
    game = {"kind": "openspiel", "game": LONG, "base": {"policy": LONG}}
    save_preparation(place / "long-moves", plain, matchup=game, name=LONG)


def hostile_run(place: Path) -> Path:
    """A run in which every name that comes from outside is an attack."""
    attack = PLAYER | {"engine": HOSTILE, "options": {HOSTILE: HOSTILE}, HOSTILE: HOSTILE}
    matchup = CHESS | {
        "white": attack, "black": attack, "prep": attack, "engines": [HOSTILE],
        "start": {"fen": HOSTILE, "moves": [HOSTILE]}, "value": {"model": HOSTILE},
    }  # fmt: skip
    tree = chess_tree(8)
    save_preparation(
        place, tree, matchup=matchup, name=HOSTILE, versions={HOSTILE: HOSTILE, "engine 1": HOSTILE}
    )
    return place


def prepare(directory: Path, game: Path | str, *options: str) -> dict[str, Any]:
    """A real run of `preplay prepare`, and its page data as it comes out of JSON."""
    save_run("prepare", directory, game, *options)
    data: dict[str, Any] = as_json(gather(directory))
    return data


def save_run(command: str, directory: Path, game: Path | str, *options: str) -> None:
    """A real run by the command line."""
    words = [command, str(game), "--save", str(directory), "--quiet", *options]
    done = CliRunner().invoke(application(), words, catch_exceptions=False)
    assert done.exit_code == 0, done.output


def as_json(data: Any) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))
