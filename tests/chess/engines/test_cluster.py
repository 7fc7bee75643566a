"""Engines on a Ray cluster: the answers of a local pool, whatever happens to the nodes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pytest

from preplay.chess.engines.analysis import (
    EngineSpec,
    Identity,
    Limit,
    SearchPosition,
    SearchRequest,
    search_position,
)
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.cluster import NOBODY, Absent, ClusterPool
from preplay.chess.engines.pool import EnginePool
from preplay.chess.engines.team import SearchTeam
from preplay.errors import EngineError, InputError

ray = pytest.importorskip("ray", reason="Ray is not installed (preplay[cluster])")

FAKE = str(Path(__file__).parents[2] / "support" / "fake_engine.py")


def fake(fault: str, *more: str) -> EngineSpec:
    return EngineSpec.of([sys.executable, FAKE, fault, *more])


def requests(spec: EngineSpec, count: int) -> list[SearchRequest]:
    """Searches after every first move, and after every answer to them."""
    found = []
    for first in chess.Board().legal_moves:
        board = chess.Board()
        board.push(first)
        for second in list(board.legal_moves)[:2]:
            after = board.copy()
            after.push(second)
            found.append(SearchRequest(spec, search_position(after), Limit(nodes=100), 2))
    return found[:count]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes on this machine, one engine each."""
    os.environ["RAY_DISABLE_IMPORT_WARNING"] = "1"
    from ray.cluster_utils import Cluster

    made: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()


def wait_for(condition: Any, seconds: float = 40.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_cluster_answers_as_a_pool_does(cluster: Any) -> None:
    wanted = requests(fake("none"), 30)
    with EnginePool(2) as pool:
        expected = Analyst(pool).analyse(wanted)
    with ClusterPool(cluster.address) as pool:
        assert pool.workers == 2
        assert Analyst(pool).analyse(wanted) == expected
        assert pool.stats().searches == 30
        assert len(pool.nodes()) == 2
        with pytest.raises(EngineError, match="no/such/engine"):
            pool.identity(EngineSpec.of("/no/such/engine"))
        over = SearchPosition("7k/8/8/8/8/8/5q2/7K w - - 0 1")
        with pytest.raises(InputError, match="no legal moves"):
            Analyst(pool).analyse([SearchRequest(fake("none"), over, Limit(nodes=1))])
        assert pool.stats().failures == 0


def test_a_team_answers_in_the_order_asked() -> None:
    """Batches are spread over its engines; one that crashes fails its own search alone."""
    wanted = requests(fake("none"), 12)
    with EnginePool(2) as pool:
        expected = Analyst(pool).analyse(wanted)
    team = SearchTeam(3)
    answers = team.search(wanted)
    assert [answer.analysis for answer in answers] == expected
    assert all(answer.busy > 0.0 for answer in answers)
    mixed = team.search([wanted[0], *requests(fake("crash"), 1), wanted[1]])
    assert [answer.analysis for answer in mixed] == [expected[0], None, expected[1]]
    assert "engine" in mixed[1].fault
    assert isinstance(team.identity(wanted[0].engine), Identity)
    assert "no/such" in str(team.identity(EngineSpec.of("/no/such")))
    team.close()


def test_nodes_come_and_go(cluster: Any, tmp_path: Path) -> None:
    """A node is killed in mid-run and another one comes: nothing is lost, the answers are the same."""
    wanted = requests(fake("slow", "--log", str(tmp_path / "log")), 24)
    said: list[str] = []
    extra = cluster.add_node(num_cpus=2)  # a team of two
    with ClusterPool(cluster.address, tell=said.append) as pool:
        wait_for(lambda: pool.workers == 4)
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.extend(Analyst(pool).analyse(wanted)))
        thread.start()
        wait_for(lambda: pool.stats().searches >= 4)
        cluster.remove_node(extra, allow_graceful=False)
        fresh = cluster.add_node(num_cpus=1)
        thread.join(60)
        assert not thread.is_alive()
        wait_for(lambda: any("is gone" in text for text in said))
        wait_for(lambda: any("is new" in text for text in said))
    with EnginePool(2) as local:
        assert [a.lines for a in answers] == [
            a.lines for a in Analyst(local).analyse(requests(fake("none"), 24))
        ]
    cluster.remove_node(fresh)


@pytest.mark.slow
def test_nodes_without_this_very_engine_are_left_out(cluster: Any) -> None:
    odd = [cluster.add_node(num_cpus=1, env_vars={"FAKE_NAME": "Fake 2.0"}, wait=False)]
    odd.append(cluster.add_node(num_cpus=1, env_vars={"FAKE_FAULT": "stillborn"}, wait=False))
    said: list[str] = []
    try:
        with ClusterPool(cluster.address, tell=said.append) as pool:
            wait_for(lambda: pool.workers == 4)
            assert len(Analyst(pool).analyse(requests(fake("none"), 12))) == 12
            for words in ("another build", "no such library"):
                assert sum("left out" in text and words in text for text in said) == 1
            told = [found for node in pool.nodes() for found in node.identities.values()]
            assert [one.silent for one in told if isinstance(one, Absent)] == [False, False]
            assert pool.stats().failures == 0
    finally:
        for node in odd:
            cluster.remove_node(node)


@pytest.mark.slow
def test_an_engine_that_crashes_on_one_node_only(cluster: Any) -> None:
    """Its searches are made again until another node takes them."""
    odd = cluster.add_node(num_cpus=1, env_vars={"FAKE_FAULT": "crash"})
    try:
        with ClusterPool(cluster.address, attempts=12) as pool:
            wait_for(lambda: pool.workers == 3)
            assert len(Analyst(pool).analyse(requests(fake("none"), 20))) == 20
            assert pool.stats().failures > 0
    finally:
        cluster.remove_node(odd)


def test_an_engine_that_always_fails_is_told(cluster: Any) -> None:
    with (
        ClusterPool(cluster.address, attempts=2, patience=5.0) as pool,
        pytest.raises(EngineError, match=r"banana.*2 times"),
    ):
        Analyst(pool).analyse(requests(fake("nonsense"), 1))


def test_a_driver_is_killed_and_goes_on(cluster: Any, tmp_path: Path) -> None:
    """`kill -9` of the driver leaves no engine behind; begun again it ends in the same bytes as here."""
    small = ["white.nodes=200", "black.nodes=200", "prep.nodes=400", "value.model=linear", "judge=false"]
    sets = [word for change in ["black.randomness=20", *small] for word in ("--set", change)]
    words = [sys.executable, "-m", "preplay", "prepare", "chess", "--side", "white", "--cost", "0.01"]

    def start(name: str, *more: str) -> subprocess.Popen[bytes]:
        kept = ["--save", str(tmp_path / name), "--store", str(tmp_path / f"{name}.sqlite"), "--quiet"]
        return subprocess.Popen(
            [*words, *sets, *kept, *more],
            stdout=subprocess.DEVNULL,
        )

    def engines() -> set[str]:
        """The engines of the cluster's actors."""
        found = set()
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and (folder / "comm").read_text() == "stockfish\n":
                    parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                    if b"SearchTeam" in (Path("/proc") / parent / "cmdline").read_bytes():
                        found.add(folder.name)
        return found

    driver = start("far", "--cluster", cluster.address)
    wait_for(engines)
    time.sleep(0.5)
    driver.kill()
    driver.wait()
    wait_for(lambda: not engines())
    assert start("far", "--cluster", cluster.address).wait(120) == 0
    assert start("near").wait(120) == 0
    for name in ("book.json", "result.json", "tree.npz"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes()


def test_the_cloud_recipe_is_one_that_ray_takes() -> None:
    """The file for `ray up` passes Ray's own check, and its image has the Ray that the tests ran with."""
    yaml = pytest.importorskip("yaml")  # Ray brings it
    from ray.autoscaler._private.util import prepare_config, validate_config

    here = Path(__file__).parents[3] / "docs" / "cluster"
    filled = prepare_config(yaml.safe_load((here / "aws.yaml").read_text(encoding="utf-8")))
    validate_config(filled)
    assert filled["available_node_types"]["worker"]["min_workers"] == filled["max_workers"]
    assert f"ray:{ray.__version__}-" in (here / "Dockerfile").read_text(encoding="utf-8")


def test_a_node_that_says_nothing_may_have_the_engine_all_the_same() -> None:
    def asked(ref: Any, timeout: float) -> Any:
        if isinstance(ref, Exception):
            raise ref
        return ref

    def node(answer: Any) -> Any:
        actor = SimpleNamespace(identity=SimpleNamespace(remote=lambda spec: answer))
        return SimpleNamespace(slots=[SimpleNamespace(actor=actor)])

    pool: Any = ClusterPool.__new__(ClusterPool)
    pool._lock, pool._ray = threading.RLock(), SimpleNamespace(get=asked)
    nodes = [node(f"{NOBODY}, says the engine"), node(TimeoutError()), SimpleNamespace(slots=[])]
    assert pool._greet(nodes, fake("none")) == [
        Absent(f"{NOBODY}, says the engine"),
        Absent(f"{NOBODY} (TimeoutError)", silent=True),
        Absent(NOBODY, silent=True),
    ]
