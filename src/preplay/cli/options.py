"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Spec = Annotated[
    str,
    typer.Argument(
        metavar="MATCHUP",
        help="A built-in name, a .toml file, a .json tabular game, or module:function of your own.",
    ),
]
SideName = Annotated[str, typer.Option("--side", help="Who prepares: 1 or 2; white or black in chess.")]
Cost = Annotated[
    float | None,
    typer.Option("--cost", help="Price of one memorized history, above 0.", show_default=False),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the matchup; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")]
Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="DIR", help="Keep the run here; the same command takes it up again."),
]
Histories = Annotated[
    int | None, typer.Option("--histories", min=1, help="Stop growing at this many histories.")
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", min=0.0, help="Stop after this long, with the best so far.")
]
Gap = Annotated[
    float, typer.Option("--within", min=0.0, help="Stop when the certified upper bound is this near.")
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, max=1024, help="Engines at work; default: all cores.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Engines on a Ray cluster: auto, local, or HOST:PORT.",
        envvar="PREPLAY_CLUSTER",
        show_envvar=False,
        show_default=False,
    ),
]
Store = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="Where engine analyses are kept.")
]
Choose = Annotated[
    int | None,
    typer.Option("--choose", min=1, help="Let the book choose among this many moves a position."),
]
Margin = Annotated[
    float | None,
    typer.Option("--margin", min=0.0, help="None of them this far behind the best; chess: centipawns."),
]
Deviations = Annotated[
    int | None,
    typer.Option(
        "--deviations", min=0, help="At most this many moves of a line other than the first choice."
    ),
]
Repertoire = Annotated[
    Path | None,
    typer.Option("--repertoire", metavar="PGN", help="Where these lines have moves, play them."),
]
Avoid = Annotated[
    Path | None,
    typer.Option("--avoid", metavar="PGN", help="Never play your last move of these lines."),
]
Extend = Annotated[
    Path | None,
    typer.Option("--extend", metavar="PGN", help="Known already: what to add, what to repair."),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Write a figure (.svg, .png or .pdf).")
]


def date(option: str, text: str) -> str:
    """A date as an option has it: 2019, 2019.05 or 2019-05-31."""
    from preplay.errors import InputError
    from preplay.matchup.people import parse_since

    try:
        return parse_since(text)
    except ValueError as error:
        raise InputError(f"{option} {text}; {error}") from None
