"""All verbs in one application. Verb files import heavy parts only when they run."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from preplay import __version__
from preplay.cli import Interrupted, MisuseError
from preplay.errors import expected_of

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


MISTAKE: Any = typer.BadParameter.__mro__[1]
"""What typer raises for any wrong usage, wherever its versions keep the class."""


class _Verbs(TyperGroup):
    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """What is wrong with the words before a command, in one line; without any there is help."""
        asked = bool(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except MISTAKE as mistake:
            if not asked:
                raise
            raise MisuseError(_told(mistake)) from None

    def invoke(self, ctx: Any) -> Any:
        """Ctrl-C and wrong usage are ours to tell: one line, and an exit code of their own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None
        except MISTAKE as mistake:
            raise MisuseError(_told(mistake)) from None


def _told(mistake: Any) -> str:
    """A mistake of usage in one line: the option, its value and what is expected."""
    problems: list[Any] = getattr(mistake.__cause__, "errors", list)()
    if problems and mistake.param is not None:
        problem = problems[0]
        option = mistake.param.metavar if mistake.param.param_type_name == "argument" else None
        option = option or max(mistake.param.opts, key=len)
        return f"{option} {problem['input']}; {expected_of(problem) or problem['msg']}"
    said = str(mistake.format_message()).rstrip(".")
    then = "" if said.endswith("?") else ";"
    where = "" if mistake.ctx is None else f"{then} see `{mistake.ctx.command_path} --help`"
    return f"{said[:1].lower()}{said[1:]}{where}"


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
