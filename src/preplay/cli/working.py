"""What every command that works on a matchup does first: open it, watch the time, listen to Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from preplay.cli import options, show

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
    changes: Sequence[str],
    seconds: float | None,
    silent: bool,
    *,
    cost: object,
    workers: int | None,
    store: Path | None,
    cluster: str | None,
) -> Iterator[Work]:
    """Open a matchup for a command at a cost; the seconds count from now, opening included."""
    from preplay.matchup import load_config
    from preplay.matchup.settings import check_price
    from preplay.matchup.source import from_config
    from preplay.stopping import on_interrupt

    left, reading = show.left(seconds), show.progress(silent)
    check_price(cost, changes)
    name, config = load_config(spec, changes)
    check_engines(name, config, workers=workers, store=store, cluster=cluster)
    engines: dict[str, Any] = {"workers": workers, "store": store, "cluster": cluster}
    with from_config(name, config, **engines, progress=reading) as matchup, on_interrupt() as stop:
        yield Work(matchup, stop, left, show.progress(silent, matchup.telling))


def check_engines(
    name: str,
    config: Mapping[str, Any],
    *,
    workers: int | None,
    store: Path | None,
    cluster: str | None,
) -> None:
    """Raise InputError for options that have no effect without engines; the environment may say them."""
    from preplay.errors import InputError
    from preplay.matchup.source import BY_ENGINES, KINDS

    if config.get("kind") in BY_ENGINES or config.get("kind") not in KINDS:  # which opening refuses
        return
    asked = None if cluster == os.environ.get(options.CLUSTER) else cluster
    for option, value in (("workers", workers), ("store", store), ("cluster", asked)):
        if value is not None:
            raise InputError(
                f"--{option} {value}: matchup '{name}' has no engines; expected a chess matchup"
            )
