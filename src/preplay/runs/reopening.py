"""The matchup of a run, opened again from what the run records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from preplay.errors import InputError
from preplay.matchup.model import Matchup
from preplay.matchup.own import OPENING
from preplay.matchup.settings import override
from preplay.matchup.source import from_config
from preplay.runs.directory import Run

FOUND = ("engines", "sha256")
"""Settings that tell what was found when the matchup was opened: they open nothing."""


def settings_to_open(run: Run, changes: Iterable[str] = ()) -> dict[str, Any]:
    """The settings that open the matchup of a run, with `--set` changes applied."""
    settings = override(_recorded(run), changes)
    if settings.get("kind") == "tabular" and "file" not in settings:
        raise InputError(
            f"{run.directory}: records no file of its tabular game; expected --set file=FILE"
        )
    return settings


def _recorded(run: Run) -> dict[str, Any]:
    """What opens a matchup; other settings tell what it was, as a game's own identity."""
    known = run.matchup
    if known.get("kind") != "python":
        return {key: told for key, told in known.items() if key not in FOUND}
    if "matchup" not in known:
        raise InputError(
            f"{run.directory}: of a matchup made in Python, which commands cannot open; "
            "expected preplay.match"
        )
    return {key: known[key] for key in OPENING if key in known}


def check_unchanged(run: Run, matchup: Matchup[Any]) -> None:
    """Raise InputError if the game of a run is in a file that is another one now."""
    if run.matchup.get("sha256") != matchup.config.get("sha256"):
        raise InputError(f"{run.directory}: the file of its game has changed since it was made")


@contextmanager
def reopened(
    run: Run,
    changes: Iterable[str] = (),
    *,
    workers: int | None = None,
    store: Path | None = None,
    cluster: str | None = None,
) -> Iterator[Matchup[Any]]:
    """The matchup of a run, live for as long as the block."""
    settings = settings_to_open(run, changes)
    with from_config(run.name, settings, workers=workers, store=store, cluster=cluster) as matchup:
        check_unchanged(run, matchup)
        yield matchup
