"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CLUSTER = "PREPLAY_CLUSTER"
"""The environment variable that says `--cluster` for all commands."""

Spec = Annotated[
    str,
    typer.Argument(
        metavar="MATCHUP",
        help="A built-in name, a .toml file, a .json tabular game, or module:function of your own.",
    ),
]
SideName = Annotated[
    str, typer.Option("--side", help="The side that prepares: 1 or 2, in chess white or black.")
]
Cost = Annotated[
    float | None,
    typer.Option(
        "--cost",
        help="Price of memorizing one history, above 0; default: the matchup's.",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the matchup; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress on stderr.")]
Silent = Annotated[bool, typer.Option("--quiet", help="Do not tell what was written.")]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="DIR", help="Keep the run in this folder; the same command continues it."
    ),
]
Histories = Annotated[
    int | None, typer.Option("--histories", min=1, help="Stop when the tree has this many histories.")
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", min=0.0, help="Stop after so many seconds, with the best result so far."),
]
Gap = Annotated[
    float,
    typer.Option("--within", min=0.0, help="Stop when the result is certified to be this near the best."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, max=1024, help="How many engines work at once; default: one for each core."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run the engines on a Ray cluster: auto, local or HOST:PORT.",
        envvar=CLUSTER,
        show_envvar=False,
        show_default=False,
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="The file that keeps what engines found; default: one for all runs.",
    ),
]
Choose = Annotated[
    int | None,
    typer.Option(
        "--choose", min=1, help="Let the book choose among so many of the best moves at each position."
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin",
        min=0.0,
        help="How much worse than the best a chosen move may be; in chess: centipawns.",
    ),
]
Deviations = Annotated[
    int | None,
    typer.Option(
        "--deviations", min=0, help="How many moves of a line may differ from the first choice."
    ),
]
Repertoire = Annotated[
    Path | None,
    typer.Option(
        "--repertoire", metavar="PGN", help="Lines of your own: play their moves wherever they have one."
    ),
]
Avoid = Annotated[
    Path | None,
    typer.Option(
        "--avoid", metavar="PGN", help="Lines to avoid: the last move of yours in each is never played."
    ),
]
Extend = Annotated[
    Path | None,
    typer.Option(
        "--extend",
        metavar="PGN",
        help="Lines that you know already: find what to add and what to repair.",
    ),
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
