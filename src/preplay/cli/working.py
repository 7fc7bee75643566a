"""What every command that works on a matchup does first: open it, watch the time, listen to Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from preplay.cli import show

if TYPE_CHECKING:
    from preplay.matchup import Matchup
    from preplay.stopping import Stop


class Work(NamedTuple):
    """An open matchup, and what limits and shows the work on it."""

    matchup: Matchup[Any]
    stop: Stop
    """Set by Ctrl-C."""
    left: Callable[[], float | None]
    """How many of the seconds are left; None: there is no limit."""
    progress: Callable[[object], None] | None


@contextmanager
def at_work(
    spec: str,
    changes: Iterable[str],
    seconds: float | None,
    silent: bool,
    *,
    workers: int | None,
    store: Path | None,
    cluster: str | None,
) -> Iterator[Work]:
    """Open a matchup for a command; the seconds count from now, opening included."""
    from preplay.matchup import open_matchup
    from preplay.stopping import on_interrupt

    left, reading = show.left(seconds), show.progress(silent)
    engines: dict[str, Any] = {"workers": workers, "store": store, "cluster": cluster}
    with open_matchup(spec, changes, **engines, progress=reading) as matchup, on_interrupt() as stop:
        yield Work(matchup, stop, left, show.progress(silent, matchup.telling))
