"""The paper's setting on real engines: how many searches and seconds a best book takes.

White prepares with λ = 1e-3, K = 2, linear values, 10 ms at the board, 50 ms for preparation and values,
against r = 0.1, 10 and 100 in turn, sharing one store. The author's published program needed for the
three together 19,845 searches of 50 ms and 4,035 of 10 ms, 1,166 s on a two-core machine with
Stockfish 15.1 (for r = 10 alone 15,340 and 3,095, 901 s).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from preplay.chess.engines.store import AnalysisStore
from preplay.matchup import open_matchup
from preplay.preparation import prepare

AUTHOR = {"50 ms": 19_845, "10 ms": 4_035}
AUTHOR_SECONDS = 1_166


def searches(store: Path) -> dict[str, int]:
    """Searches kept so far, by limit."""
    with AnalysisStore(store) as kept:
        return {str(h.setting.limit): h.analyses for h in kept.summary()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cost", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    titles = ("r", 6), ("value", 8), ("size", 5), ("net", 8), ("50 ms", 7), ("10 ms", 7), ("seconds", 8)
    print(" ".join(title.rjust(width) for title, width in titles) + "  all busy")
    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "store.sqlite"
        before: dict[str, int] = {}
        total = 0.0
        for r in (0.1, 10.0, 100.0):
            changes = (f"black.randomness={r}", "value.model=linear")
            start = time.perf_counter()
            with open_matchup("chess-paper", changes, workers=given.workers, store=store) as matchup:
                pool = matchup.base[0].analyst.pool  # type: ignore[attr-defined]
                best = prepare(matchup, 1, given.cost).response
                busy = pool.stats().all_busy_share
            seconds = time.perf_counter() - start
            total += seconds
            now = searches(store)
            new = {limit: now.get(limit, 0) - before.get(limit, 0) for limit in AUTHOR}
            before = now
            print(
                f"{r:>6} {best.value:>8.4f} {best.size:>5} {best.net:>8.4f} {new['50 ms']:>7,} "
                f"{new['10 ms']:>7,} {seconds:>8.1f} {busy:>9.2f}"
            )
    print(f"{'all':>6} {'':>23} {before['50 ms']:>7,} {before['10 ms']:>7,} {total:>8.1f}")
    print(f"author {'':>23} {AUTHOR['50 ms']:>7,} {AUTHOR['10 ms']:>7,} {AUTHOR_SECONDS:>8,}")
    print(f"ratio  {'':>23} {AUTHOR['50 ms'] / before['50 ms']:>7.1f} "
          f"{AUTHOR['10 ms'] / before['10 ms']:>7.1f} {AUTHOR_SECONDS / total:>8.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
