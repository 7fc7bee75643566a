"""How this process joins a Ray cluster, or makes one of its own machine."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from preplay.errors import InputError
from preplay.machine import cores


def connect(address: str, workers: int | None = None) -> Any:
    """Ray itself, connected to a cluster; one clear line where it is not installed or not reached."""
    try:
        import ray
    except ImportError:
        raise InputError("cluster needs Ray: pip install 'preplay[cluster]'") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if ray.is_initialized():
        return ray
    try:
        if address == "local":
            ray.init(num_cpus=workers or cores(), include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cluster '{address}': {reason}; expected local, auto or HOST:PORT of a Ray cluster"
        ) from None
    return ray


@contextlib.contextmanager
def shared(address: str, workers: int | None = None) -> Iterator[tuple[str, int]]:
    """A cluster that several processes use at once: its address, and how many engines it can run."""
    ray = connect(address, workers)
    try:
        total = int(sum(row["Resources"].get("CPU", 0) for row in ray.nodes() if row["Alive"]))
        yield ray.get_runtime_context().gcs_address, min(total, workers or total)
    finally:
        ray.shutdown()
