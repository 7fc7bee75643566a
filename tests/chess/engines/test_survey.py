"""What a cluster has, told with pretended machines and real processes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from preplay.chess.engines.analysis import EngineSpec
from preplay.chess.engines.cluster import Absent, NodeReport
from preplay.chess.engines.pool import EnginePool
from preplay.chess.engines.survey import ClusterReport, MachineReport, survey

FAKE = str(Path(__file__).parents[2] / "support" / "fake_engine.py")


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_engines_are_found_or_missed_and_timed(seconds: float) -> None:
    there = EngineSpec.of([sys.executable, FAKE, "none"])
    gone = EngineSpec.of(["/nowhere/engine"])
    with EnginePool(1) as engines:
        pool: Any = engines
        pool.nodes = lambda: [
            NodeReport(
                "here", "192.0.2.1", 1, {there: engines.identity(there), gone: Absent("no such program")}
            )
        ]
        found = survey(pool, "auto", [gone, there], nodes=10, seconds=seconds)
        identity = str(engines.identity(there))
    rate = found.searches_per_second
    machine = MachineReport("here", "192.0.2.1", 1, {str(there): identity, str(gone): "no such program"})
    assert found == ClusterReport("auto", 1, (machine,), found.missing, rate, 10)
    assert list(found.missing) == [str(gone)]
    assert rate is None if seconds == 0.0 else rate is not None and rate > 0.0
