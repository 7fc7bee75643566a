"""All verbs in one application. Verb files import heavy parts only when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from preplay import __version__
from preplay.cli import (
    Interrupted,
    bounds,
    calibrate,
    check,
    cluster,
    draw,
    equilibrium,
    export,
    figure1,
    frontier,
    harden,
    match,
    matchups,
    opponent,
    prepare,
    report,
    store,
    sweep,
    uci,
)


class _Verbs(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Ctrl-C is ours to tell: one line, and its own exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


app = typer.Typer(
    name="preplay",
    cls=_Verbs,
    help="What is worth memorizing before a game?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:
    if value:
        print(f"preplay {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What is worth memorizing before a game?"""


app.command("prepare")(prepare.prepare)
app.command("frontier")(frontier.frontier)
app.command("bounds")(bounds.bounds)
app.command("calibrate")(calibrate.calibrate)
app.command("equilibrium")(equilibrium.equilibrium)
app.command("harden")(harden.harden)
app.command("draw")(draw.draw)
app.command("sweep")(sweep.sweep)
app.command("figure1")(figure1.figure1)
app.command("export")(export.export)
app.command("uci")(uci.uci)
app.command("match")(match.match)
app.command("check")(check.check)
app.command("opponent")(opponent.opponent)
app.command("report")(report.report)
app.command("store")(store.store)
app.command("cluster")(cluster.cluster)
app.command("matchups")(matchups.matchups)
