"""Runs hostile inputs: the only ways out of a reader are a result, or a PreplayError of one line."""

from __future__ import annotations

import argparse
import hashlib
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

from fuzz.targets import TARGETS, Target
from preplay.errors import PreplayError

CORPUS = Path(__file__).with_name("corpus")
ACCEPTED, THROUGH = "accepted", "got through"
SECONDS = 10
"""Of processor time: no input may take longer."""
GIGABYTES = 4
"""Nor the whole campaign more memory."""


@dataclass(frozen=True)
class Finding:
    """An input that got through."""

    target: str
    data: bytes
    what: str


def tried(target: Target, data: bytes, folder: Path) -> Finding | str:
    """What one input led to: "accepted", the kind of its refusal, or a finding if it was neither."""
    try:
        with _alarm():
            target.read(data, folder)
    except PreplayError as error:
        text = str(error)
        if "\n" in text or not text:
            return Finding(target.name, data, f"a message of {len(text)} characters: {text[:200]!r}")
        return _kind(text)
    except (Exception, SystemExit):
        return Finding(target.name, data, traceback.format_exc(limit=-4))
    return ACCEPTED


def _kind(message: str) -> str:
    """A refusal without its numbers and names: different checks speak differently."""
    return re.sub(r"'[^']*'|\S*[\d/\\]\S*", "", message)[:60]


def inputs(target: Target, count: int, seed: int) -> Iterator[bytes]:
    """Everything that ever failed, then new inputs; the same for the same seed."""
    yield from corpus(target)
    rng = Random(f"{seed} {target.name}")
    for _ in range(count):
        yield target.mutate(rng, target.seeds)


def corpus(target: Target) -> list[bytes]:
    """The inputs that failed once."""
    return [path.read_bytes() for path in sorted((CORPUS / target.name).glob("*"))]


def campaign(
    target: Target, count: int, seed: int, tell: Callable[[Finding], None] | None = None
) -> tuple[Counter[str], list[Finding]]:
    """How often each way out was taken, and what got through."""
    found: dict[str, Finding] = {}
    ways: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for data in target.seeds:  # loads and compiles all that is needed
            target.read(data, Path(folder))
        for data in inputs(target, count, seed):
            finding = tried(target, data, Path(folder))
            ways[THROUGH if isinstance(finding, Finding) else finding] += 1
            if isinstance(finding, Finding) and finding.what[-300:] not in found:
                found[finding.what[-300:]] = finding
                if tell is not None:
                    tell(finding)
    return ways, list(found.values())


@contextmanager
def _alarm() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def main() -> int:
    """`python -m fuzz.campaign`: all targets, a report, and new findings kept in the corpus."""
    parser = argparse.ArgumentParser(description="Hostile input for every reader.")
    parser.add_argument("--inputs", type=int, default=100_000, help="in all, shared by the targets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    chosen = [TARGETS[name] for name in given.target or sorted(TARGETS)]
    share = sum(target.weight for target in chosen)
    total, failures = 0, 0
    for target in chosen:
        began = time.monotonic()
        count = round(given.inputs * target.weight / share)
        ways, found = campaign(target, count, given.seed)
        done = ways.total()
        total, failures = total + done, failures + len(found)
        told = (
            f"{target.name:<12} {done:>7,} inputs  {ways[ACCEPTED] / done:>4.0%} accepted  "
            f"{len(set(ways) - {ACCEPTED, THROUGH}):>4} kinds of refusal  {len(found)} got through"
        )
        print(f"{told}  {time.monotonic() - began:.0f} s", flush=True)
        for finding in found:
            place = CORPUS / target.name / hashlib.sha256(finding.data).hexdigest()[:16]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(finding.data)
            print(
                f"  kept as {place.relative_to(CORPUS.parent)}\n  {finding.what.strip().splitlines()[-1]}"
            )
    print(f"{total:,} inputs, {failures} got through")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
