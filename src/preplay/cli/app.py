"""All verbs in one application. Verb files import heavy parts only when they run."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

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


KINDS = {
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "X",
    "<float range>": "X",
    "<float,float>...": "X X",
}
"""What stands for a value in the help, in place of Python's types."""


class _Verb(TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments by their names alone."""
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        names = [str(p.metavar) if p.required else f"[{p.metavar}]" for p in arguments]
        return ["[OPTIONS]", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options without the types of Python."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            rows = []
            for param in self.get_params(ctx):
                row = param.get_help_record(ctx)
                if param.param_type_name == kind and row is not None:
                    option, space, value = row[0].partition(" <")
                    named = f"{option} {KINDS.get('<' + value, '<' + value)}" if space else option
                    rows.append((str(param.metavar) if kind == "argument" else named, row[1]))
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


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


_verb = partial(app.command, cls=_Verb)
_verb("prepare")(prepare.prepare)
_verb("frontier")(frontier.frontier)
_verb("bounds")(bounds.bounds)
_verb("calibrate")(calibrate.calibrate)
_verb("equilibrium")(equilibrium.equilibrium)
_verb("harden")(harden.harden)
_verb("draw")(draw.draw)
_verb("sweep")(sweep.sweep)
_verb("figure1")(figure1.figure1)
_verb("export")(export.export)
_verb("uci")(uci.uci)
_verb("match")(match.match)
_verb("check")(check.check)
_verb("opponent")(opponent.opponent)
_verb("report")(report.report)
_verb("store")(store.store)
_verb("cluster")(cluster.cluster)
_verb("matchups")(matchups.matchups)
