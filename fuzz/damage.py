"""Every byte of every file that a run keeps, damaged once: a result, or one line that names the file.

Damage that leaves text valid, as another digit does, cannot be seen. Arrays have checksums: those that
are accepted must be the same.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from fuzz.campaign import ACCEPTED, THROUGH, Finding, tried
from fuzz.targets import Target, read_checkpoint, read_tree, small_growth, small_runs
from preplay.chess.scoresheet import read_scoresheet
from preplay.errors import PreplayError
from preplay.experiments.sweep import read_points
from preplay.runs.keeping import load_run

JOURNALS = {"points.jsonl": read_points, "games.jsonl": read_scoresheet}


def kept_files() -> list[Target]:
    """The files of small runs of every kind, each with what reads it."""
    targets = [
        Target(f"{run}/{name}", partial(_read, run, name), partial(list, [data]))
        for run, files in small_runs().items()
        for name, data in files.items()
        if name.endswith((".json", ".jsonl", "tree.npz"))
    ]
    tree = Target("tree.npz", read_tree, lambda: [small_growth(False)])
    return [*targets, tree, Target("checkpoint.npz", read_checkpoint, lambda: [small_growth(True)])]


def _read(run: str, name: str, data: bytes, folder: Path) -> None:
    """The run with this file in place of its own."""
    here = folder / run
    if not here.exists():
        here.mkdir()
        for other, content in small_runs()[run].items():
            (here / other).write_bytes(content)
    (here / name).write_bytes(data)
    if name in JOURNALS:
        JOURNALS[name](here / name)
    load_run(here)


def damaged(data: bytes, most: int) -> Iterator[bytes]:
    """One bit changed in each byte; of more than `most` bytes in as many, evenly spread."""
    for k in range(0, len(data), max(1, -(-len(data) // most))):
        yield data[:k] + bytes([data[k] ^ 1 << k % 8]) + data[k + 1 :]


def damage(target: Target, most: int) -> tuple[Counter[str], list[Finding]]:
    """How often each way out was taken, and what got through, or was told of no file."""
    ways: Counter[str] = Counter()
    found: list[Finding] = []
    file = target.name.rpartition("/")[2]
    folder = Path(tempfile.mkdtemp())
    try:
        for data in target.seeds:
            target.read(data, folder)
            for changed in damaged(data, most):
                way = tried(_naming(target, file), changed, folder)
                ways[THROUGH if isinstance(way, Finding) else way] += 1
                found += [way] if isinstance(way, Finding) else []
    finally:
        shutil.rmtree(folder)
    return ways, found


def _naming(target: Target, file: str) -> Target:
    """The same, where a refusal that does not name the file is a finding."""

    def read(data: bytes, folder: Path) -> None:
        try:
            target.read(data, folder)
            if file.endswith(".npz") and _arrays(data) != _arrays(target.seeds[0]):
                raise AssertionError(f"{file}: damage was believed")
        except PreplayError as error:
            if file not in str(error):
                raise AssertionError(f"{file} is not named: {error}") from None
            raise

    return Target(target.name, read, target.examples)


def _arrays(data: bytes) -> dict[str, tuple[str, bytes]]:
    """What an .npz file says."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {
            name: (f"{column.dtype} {column.shape}", column.tobytes()) for name, column in file.items()
        }


def main() -> int:
    """`python -m fuzz.damage`: a row for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=5000, help="bytes of a file")
    parser.add_argument("--file", action="append", help="only these")
    given = parser.parse_args()
    total, failures = 0, 0
    for target in kept_files():
        if given.file and target.name not in given.file:
            continue
        ways, found = damage(target, given.most)
        done = ways.total()
        total, failures = total + done, failures + len(found)
        told = f"{target.name:<24} {done:>6,} bytes  {ways[ACCEPTED] / done:>4.0%} still valid"
        print(f"{told}  {len(found)} got through", flush=True)
        for what in sorted({finding.what.strip().splitlines()[-1] for finding in found})[:10]:
            print(f"  {what}")
    print(f"{total:,} bytes, {failures} got through")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
