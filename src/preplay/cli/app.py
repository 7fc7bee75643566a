"""All verbs in one application. Verb files import heavy parts only when they run."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from preplay import __version__
from preplay.cli import Interrupted

VERBS = (
    "prepare",
    "frontier",
    "bounds",
    "calibrate",
    "equilibrium",
    "harden",
    "draw",
    "sweep",
    "figure1",
    "export",
    "uci",
    "match",
    "check",
    "opponent",
    "report",
    "store",
    "cluster",
    "matchups",
)
"""In the order of the help; each is the function of its name in the file of its name."""


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


def _version(value: bool) -> None:
    if value:
        print(f"preplay {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What is worth memorizing before a game?"""


def application(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command line with these verbs; a start with one verb need not read and build the others."""
    app = typer.Typer(
        name="preplay",
        cls=_Verbs,
        help="What is worth memorizing before a game?",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_common)
    for verb in verbs:
        app.command(verb, cls=_Verb)(getattr(import_module(f"preplay.cli.{verb}"), verb))
    return app
