"""preplay cluster: which machines a Ray cluster has, their engines, and how fast they are together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.chess.engines.survey import ClusterReport


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
    from preplay.chess.engines.survey import survey
    from preplay.runs import as_data

    specs = [EngineSpec.of(find_command(name)) for name in engine or ["stockfish"]]
    with ClusterPool(address, workers, tell=lambda text: None) as pool:
        found = survey(pool, address, specs, nodes=nodes, seconds=seconds)
    if as_json:
        show.print_json(as_data(found))
    else:
        _tell(found)


def _tell(found: ClusterReport) -> None:
    machines = show.counted(len(found.nodes), "machine")
    print(f"{machines}, {show.counted(found.engines, 'engine')} at once")
    for node in found.nodes:
        show.say(f"{node.name} ({node.address}): {show.counted(node.engines, 'engine')}", indent=2)
        for command, identity in node.found.items():
            show.say(f"{command}: {identity}", indent=4)
    for command, fault in found.missing.items():
        show.say(f"not found: {command} ({fault})", indent=2)
    if found.searches_per_second is not None:
        speed = f"{found.searches_per_second:.1f} searches of {found.search_nodes:,} nodes"
        show.say(f"{speed} a second", indent=2)
