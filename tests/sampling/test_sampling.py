"""Sampled values where a book is not all that is asked: equilibria, frontiers, and what a run keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import preplay
from hypothesis import given, settings
from hypothesis import strategies as st
from randomgames import Raw, games

from preplay.equilibria.contest import contest
from preplay.errors import InputError
from preplay.games import tabular
from preplay.matchup import Deciding, Matchup, Sampling
from preplay.policy import Uniform
from preplay.sampling.adaptive import AdaptiveRollouts
from preplay.sampling.rollouts import Rollouts, enough_samples
from preplay.sampling.samplers import Playouts
from preplay.value import Exact

BASE, PREP = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")


@settings(max_examples=15, deadline=None)
@given(games(depth=4, own=8), st.integers(0, 1000))
def test_an_equilibrium_of_sampled_values_is_certified_to_their_error(raw: Raw, seed: int) -> None:
    game = tabular.parse(raw)
    sampler = Playouts(game, (BASE, BASE), seed=seed)
    adaptive = AdaptiveRollouts(game, sampler, 1e-6)

    def valuing(price: float) -> Rollouts[tabular.Node]:
        return Rollouts(game, sampler, *enough_samples(0.1, 1e-6, price, game.longest, game.widest))

    sampling = Sampling(valuing, Deciding(adaptive, 0.1))
    sampled = Matchup("test", game, (BASE, BASE), (PREP, PREP), adaptive, sampling=sampling)
    exact = Matchup("test", game, (BASE, BASE), (PREP, PREP), Exact(game, (BASE, BASE)), enumerable=True)
    truth = contest(exact, (0.05, 0.05), gap=1e-7).equilibrium
    found = contest(sampled, (0.05, 0.05), gap=1e-4).equilibrium
    assert found.gap <= 0.2 + 1e-3  # each value is within 0.1
    assert 0.0 <= found.lower <= truth.upper + 1e-9  # fails with a chance of 1e-6
    assert truth.lower - 1e-9 <= found.upper <= 1.0
    assert found.trace[-1].iteration == found.iterations


def test_enough_samples_are_enough() -> None:
    samples, delta = enough_samples(0.1, 0.05, 0.01, 9, 3)
    game = tabular.parse(
        {
            "format": "preplay-game/1",
            "root": {"player": 1, "actions": {"a": {"base": 0.5, "prep": 1, "to": {"utility": 1}},
                                              "b": {"base": 0.5, "prep": 0, "to": {"utility": 0}}}},
        }
    )  # fmt: skip
    (value,) = Rollouts(game, Playouts(game, (BASE, BASE), seed=1), samples, delta).values([game.root()])
    assert 0.09 < value.radius <= 0.1
    assert delta == pytest.approx(0.05 / (9 * 10 / 0.01))


def test_exact_values_are_for_games_that_can_be_enumerated() -> None:
    game = tabular.load(Path(__file__).parents[2] / "examples" / "game.json")
    with pytest.raises(InputError, match=r"exact values of more than 3 histories; expected a smaller"):
        Exact(game, (Uniform(game), Uniform(game)), most=3).values([game.root()])


SMALL = ("synthetic", "--cost", "0.002")


def test_a_better_equilibrium_is_not_replaced_by_a_worse_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("equilibrium", *SMALL, "--gap", "1e-6", "--save", tmp_path / "run")
    assert preplay(capsys, *words)[0] == 0
    (tmp_path / "run" / "checkpoint.npz").unlink()  # else it goes on from there, and is no worse
    kept = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    code, out, _ = preplay(capsys, *words, "--histories", 3)
    assert code == 0
    assert "keeps a better one" in " ".join(out.split())
    now = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    assert {name: now[name] for name in kept} == kept


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("prepare", "synthetic", "--side", "1", "--cost", "-1"), "cost -1.0"),
        (("prepare", "synthetic", "--side", "1", "--cost", "nan"), "cost nan"),
        (("prepare", "synthetic", "--side", "1", "--report", "."), "cannot be written"),
        (("equilibrium", "synthetic", "--cost", "0"), "cost 0.0"),
        (("equilibrium", *SMALL, "--method", "foo"), "unknown method 'foo'"),
        (("equilibrium", *SMALL, "--plot", "x.foo"), "expected a name ending in"),
    ],
)
def test_a_mistake_leaves_no_run_behind(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = preplay(capsys, *words, "--save", tmp_path / "run")
    assert (code, out) == (1, "")
    assert message in err
    assert not (tmp_path / "run").exists()


def test_a_budget_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("prepare", "synthetic-large", "--side", "1", "--budget", "20", "--json")
    code, out, _ = preplay(capsys, *words)
    assert code == 0
    whole = json.loads(out)
    code, out, _ = preplay(capsys, *words, "--save", tmp_path / "run", "--histories", 60)
    part = json.loads(out)
    assert part["ending"] == "histories"
    assert (tmp_path / "run" / "checkpoint-0.npz").exists()
    code, out, _ = preplay(capsys, *words, "--save", tmp_path / "run")
    again = json.loads(out)
    assert again["book"] == whole["book"]
    assert part["value"] <= again["value"] + 1e-12 == whole["value"] + 1e-12
