"""One way to keep a result in its run's directory, and one way to find it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, overload

from preplay.arguments import as_path
from preplay.errors import InputError, PreplayError, nearest
from preplay.runs.directory import RESULT, RUN, Run, open_run
from preplay.runs.encoding import as_data

R = TypeVar("R")
HOMES = {
    "prepare": ("prepared", "PrepareResult"),
    "frontier": ("frontiers", "FrontierResult"),
    "bounds": ("bounded", "BoundsResult"),
    "equilibrium": ("equilibria", "EquilibriumResult"),
    "harden": ("hardened", "HardenResult"),
    "sweep": ("swept", "SweepResult"),
    "figure1": ("swept", "SweepResult"),
    "match": ("outcomes", "MatchResult"),
}
"""The module of this room and the class of each command's result."""


class Result(Protocol):
    """What a command found: frozen, with typed fields that `as_data` turns into its JSON."""

    @property
    def run(self) -> Run | None:
        """The directory that keeps it, with what made it; None where it was not saved."""
        ...

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """What belongs in files of its own: by name, a function that writes it."""
        ...

    @classmethod
    def found(cls, run: Run) -> Result:
        """The result that a run directory holds."""
        ...


K = TypeVar("K", bound=Result)


def save(run: Run, result: Result) -> None:
    """Keep a result in its run's directory."""
    run.write(RESULT, as_data(result))
    for name, write in result.files().items():
        write(run.path(name))


def keep_better(run: Run | None, result: K, better: Callable[[K], bool], *, cut: bool = True) -> K:
    """Keep a result in its run's directory, if there is one: which result stands there then.

    One that was `cut` short does not replace what is `better`: there was more time then. What cannot be
    read any more is replaced.
    """
    if run is None:
        return result
    if cut and run.path(RESULT).exists():
        with suppress(PreplayError):
            before = cast(K, type(result).found(run))
            if better(before):
                return before
    save(run, result)
    return result


@overload
def load_run(directory: str | Path) -> Any: ...
@overload
def load_run(directory: str | Path, kind: type[R]) -> R: ...
def load_run(directory: str | Path, kind: type[R] | None = None) -> Any:
    """The result that a directory made with --save or `save=` holds, whatever command made it.

    With `kind`, as in `load_run("runs/white", PrepareResult)`, it must be of that kind.
    """
    run = open_run(as_path("directory", directory))
    if run.command not in HOMES:
        made = f"{run.path(RUN)}: made by `preplay {run.command}`"
        raise InputError(f"{made}; {nearest(run.command, HOMES)}")
    module, name = HOMES[run.command]
    home: type[Result] = getattr(import_module(f"preplay.runs.{module}"), name)
    if kind is not None and not issubclass(home, kind):
        raise InputError(
            f"{directory}: made by `preplay {run.command}`, a {name}; expected a {kind.__name__}"
        )
    return home.found(run)
