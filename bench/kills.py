"""Ten kills of a cluster's nodes and of its driver in one preparation: is anything lost?

    python bench/kills.py [--kills 10] [--nodes 20000] [--cost 2e-3]

A Ray cluster of two nodes on this machine prepares White against Stockfish. Every so many searches a node
is killed (another one comes), then the driver (kill -9; it is started again), in turns. In the end all
files are compared with those of a run without a cluster.
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FILES = ("book.json", "result.json", "tree.npz")


def kept(store: Path) -> int:
    """Analyses in a store so far."""
    place = f"file:{store}?mode=ro"  # a store that is not there yet is not to be made here
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(place, uri=True)) as base,
    ):
        return int(base.execute("SELECT count(*) FROM analysis").fetchone()[0])
    return 0


def main() -> None:
    from ray.cluster_utils import Cluster

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--every", type=int, default=15, help="new analyses between two kills")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--cost", default="2e-3")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        words = [sys.executable, "-m", "preplay", "prepare", "chess", "--side", "white", "--quiet"]
        sets = [f"white.nodes={given.nodes}", f"black.nodes={given.nodes}", f"prep.nodes={given.nodes}"]
        sets += ["black.randomness=10", "value.model=linear", "judge=false"]
        words += ["--cost", given.cost, *(word for change in sets for word in ("--set", change))]

        def start(name: str, *more: str) -> subprocess.Popen[bytes]:
            files = ["--save", str(folder / name), "--store", str(folder / f"{name}.sqlite")]
            return subprocess.Popen([*words, *files, *more], stdout=subprocess.DEVNULL)

        cluster: Any = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        victim = cluster.add_node(num_cpus=1)
        began, kills, known = time.perf_counter(), {"node": 0, "driver": 0}, 0
        store, address = folder / "far.sqlite", ("--cluster", cluster.address)
        driver = start("far", *address)
        while driver.poll() is None or driver.returncode:
            if driver.poll() is not None:
                driver = start("far", *address)
            elif sum(kills.values()) < given.kills and kept(store) >= known + given.every:
                known = kept(store)
                if kills["node"] > kills["driver"]:
                    driver.kill()
                    driver.wait()
                    kills["driver"] += 1
                    assert kept(store) >= known, "analyses were lost"
                else:
                    cluster.remove_node(victim, allow_graceful=False)
                    victim = cluster.add_node(num_cpus=1)
                    kills["node"] += 1
            time.sleep(0.05)
        seconds = time.perf_counter() - began
        cluster.shutdown()
        if start("near").wait() != 0:
            raise SystemExit("the run without a cluster failed")
        same = all(
            (folder / "far" / name).read_bytes() == (folder / "near" / name).read_bytes()
            for name in FILES
        )
        told = f"{kills['node']} nodes and {kills['driver']} drivers killed in {seconds:.0f} s"
        print(f"{told}, {kept(store)} analyses kept; same bytes as without a cluster: {same}")
        if not same or sum(kills.values()) < given.kills:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
