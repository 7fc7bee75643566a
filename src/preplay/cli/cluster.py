"""preplay cluster: which machines a Ray cluster has, their engines, and how fast they are together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.chess.engines.analysis import EngineSpec
    from preplay.chess.engines.cluster import ClusterPool


def cluster(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="auto, local, or HOST:PORT of a Ray cluster.")
    ] = "auto",
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", help="An engine to look for; may be repeated; default: stockfish."),
    ] = None,
    nodes: Annotated[
        int, typer.Option("--nodes", min=1, help="Nodes of each search that measures the speed.")
    ] = 20_000,
    seconds: Annotated[
        float,
        typer.Option("--seconds", min=0.0, help="How many seconds to measure the speed; 0: not at all."),
    ] = 3.0,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Show the machines of a Ray cluster, their engines and speed.

    Example: preplay cluster local
    """
    from preplay.chess.engines.analysis import EngineSpec
    from preplay.chess.engines.cluster import ClusterPool
    from preplay.chess.engines.discovery import find_command
    from preplay.errors import EngineError

    specs = [EngineSpec.of(find_command(name)) for name in engine or ["stockfish"]]
    with ClusterPool(address, workers, tell=lambda text: None) as pool:
        faults: dict[str, str] = {}
        for spec in specs:
            try:
                pool.identity(spec)
            except EngineError as error:
                faults[str(spec)] = str(error)
        known = [spec for spec in specs if str(spec) not in faults]
        rate = _rate(pool, known[0], nodes, seconds) if known and seconds > 0.0 else None
        data = {
            "address": address,
            "engines": pool.workers,
            "nodes": [
                {
                    "name": node.name,
                    "address": node.address,
                    "engines": node.engines,
                    "found": {str(spec): str(found) for spec, found in node.identities.items()},
                }
                for node in pool.nodes()
            ],
            "missing": faults,
            "searches_per_second": rate,
            "search_nodes": nodes,
        }
    if as_json:
        show.print_json(data)
    else:
        _tell(data)


def _tell(data: dict[str, Any]) -> None:
    machines = show.counted(len(data["nodes"]), "machine")
    print(f"{machines}, {show.counted(data['engines'], 'engine')} at once")
    for node in data["nodes"]:
        show.say(
            f"{node['name']} ({node['address']}): {show.counted(node['engines'], 'engine')}", indent=2
        )
        for command, found in node["found"].items():
            show.say(f"{command}: {found}", indent=4)
    for command, fault in data["missing"].items():
        show.say(f"not found: {command} ({fault})", indent=2)
    if data["searches_per_second"] is not None:
        speed = f"{data['searches_per_second']:.1f} searches of {data['search_nodes']:,} nodes"
        show.say(f"{speed} a second", indent=2)


def _rate(pool: ClusterPool, spec: EngineSpec, nodes: int, seconds: float) -> float:
    """Searches a second with all engines at work."""
    import time
    from concurrent.futures import FIRST_COMPLETED, wait
    from itertools import count

    import chess

    from preplay.chess.engines.analysis import Limit, SearchRequest, search_position
    from preplay.randomness import generator

    def request(number: int) -> SearchRequest:
        rng, board = generator(0, (str(number),)), chess.Board()
        for _ in range(6):
            moves = list(board.legal_moves)
            board.push(moves[int(rng.integers(len(moves)))])
        return SearchRequest(spec, search_position(board), Limit(nodes=nodes))

    numbers = count()
    waiting = {pool.submit(request(next(numbers))) for _ in range(3 * pool.workers)}
    began, done = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        ready, waiting = wait(waiting, timeout=seconds, return_when=FIRST_COMPLETED)
        done += len(ready)
        waiting |= {pool.submit(request(next(numbers))) for _ in ready}
    rate = done / (time.monotonic() - began)
    for future in waiting:
        future.cancel()
    return rate
