"""A setting that has no effect is refused: a sweep over it would tell of an effect that is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preplay.errors import InputError
from preplay.matchup import load_config, open_matchup
from preplay.matchup.chess_settings import AtBoard, Chess, Preparation, recorded, study
from preplay.matchup.chess_values import ChessValue
from preplay.matchup.plain import OpenSpiel, PlainValue, Play
from preplay.matchup.settings import override, validate

BASES = ["base1.policy=uniform", "base2.policy=mcts"]
PREPS = ["prep1.policy=search", "prep2.policy=search"]


@pytest.mark.parametrize(
    ("spec", "changes", "message"),
    [
        ("tic-tac-toe", ["base.randomness=2"], "randomness = 2.0 has no effect here"),
        ("tic-tac-toe", ["prep.simulations=7"], "simulations = 7 has no effect here"),
        ("tic-tac-toe", ["prep.seed=1"], "seed = 1 has no effect here"),
        ("breakthrough", ["base.depth=3"], "depth = 3 has no effect here"),
        ("tic-tac-toe", ["value.epsilon=0.1"], "epsilon = 0.1 has no effect here"),
        ("breakthrough", ["value.samples=10"], "samples = 10 has no effect here"),
        ("tic-tac-toe", ["prep.margin=0.5"], "prep.margin = 0.5 has no effect without choose"),
        ("tic-tac-toe", ["prep.deviations=1"], "prep.deviations = 1 has no effect without choose"),
        ("tic-tac-toe", [*PREPS, "prep1.margin=0.5"], "prep1.margin = 0.5 has no effect without choose"),
        ("tic-tac-toe", [*BASES, "base.policy=mcts"], "openspiel matchup: base has no effect here"),
        ("tic-tac-toe", [*PREPS, "prep.policy=mcts"], "openspiel matchup: prep has no effect here"),
        ("synthetic", ["judge=exact"], 'judge = "exact" has no effect here'),
        ("chess", ["prep.margin=40"], "prep.margin = 40.0 has no effect without choose"),
        ("chess", ["black_prep.deviations=0"], "black_prep.deviations = 0 has no effect without choose"),
        (
            "chess",
            ["white_prep.choose=3", "black_prep.margin=9"],
            "black_prep.margin = 9.0 has no effect without choose",
        ),
    ],
)
def test_what_has_no_effect_is_refused(spec: str, changes: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message), open_matchup(spec, changes):
        pass


def test_chess_settings_without_effect() -> None:
    with pytest.raises(InputError, match=r"randomness = 10\.0 has no effect here"):
        validate(AtBoard, {"multipv": 1, "randomness": 10.0}, "white")
    with pytest.raises(InputError, match="samples = 5 has no effect here"):
        validate(ChessValue, {"model": "wdl", "samples": 5}, "value")
    with pytest.raises(InputError, match=r"epsilon = 0\.3 has no effect here"):
        validate(ChessValue, {"model": "rollouts", "samples": 5, "epsilon": 0.3}, "value")
    validate(ChessValue, {"model": "rollouts", "epsilon": 0.3}, "value")


def test_nobody_asks_the_engine_where_a_person_plays() -> None:
    """An opponent has an engine of their own; beside a weight the side's own engine counts."""
    for who in ("opponent=x.json", "games.file=x.pgn"):
        for change in ("randomness=3", "multipv=4", "depth=3"):
            message = f"black: {change.replace('=', ' = ')}.* has no effect here"
            changes = [f"black.{who}", f"black.{change}"]
            with pytest.raises(InputError, match=message), open_matchup("chess", changes):
                pass
            with pytest.raises(InputError, match=message), open_matchup("chess", changes[::-1]):
                pass
    config = load_config("chess-paper", ["black.opponent=x.json", "black.rating=2000"])[1]
    assert config["black"] == {"opponent": "x.json", "rating": 2000}
    config = load_config("chess", ["black.games.file=x.pgn", "black.options.Hash=4"])[1]
    assert config["black"] == {"nodes": 5000, "games": {"file": "x.pgn"}, "options": {"Hash": 4}}
    weighed = {"games": {"file": "x.pgn", "weight": 1.0}, "randomness": 3.0}
    assert validate(AtBoard, weighed, "black").randomness == 3.0
    recorded = {"opponent": [{"file": "x.json", "digest": "abc"}], "nodes": 5000}
    assert validate(AtBoard, recorded, "black").nodes == 5000


def test_one_limit_takes_the_place_of_another() -> None:
    """One that is said takes that of the matchup's; two that are said contradict each other."""
    assert override({"prep": {"nodes": 9}}, ["prep.depth=3"]) == {"prep": {"depth": 3}}
    assert override({"prep": {"nodes": 9}}, ["prep.nodes=5", "prep.nodes=6"]) == {"prep": {"nodes": 6}}
    for changes in (["prep.depth=3", "prep.nodes=5"], ['prep={"depth": 3}', "prep.nodes=5"]):
        with pytest.raises(InputError, match="prep: expected exactly one of nodes, depth, milliseconds"):
            validate(Chess, override({"kind": "chess"}, changes), "chess")
    name, config = load_config("chess", ["prep.depth=3"], usual=["prep.nodes=7", "length=50"])
    assert (name, config["prep"], config["length"]) == ("chess", {"depth": 3}, 50)


def test_what_is_as_ever_may_stand_there() -> None:
    """Runs keep every key."""
    config = {"kind": "openspiel", "game": "tic_tac_toe"}
    whole = validate(OpenSpiel, config, "matchup").model_dump()
    assert validate(OpenSpiel, whole, "matchup").model_dump() == whole
    assert validate(Play, {"policy": "search", "rollouts": 3, "seed": 1}, "base").seed == 1
    assert validate(PlainValue, {"model": "rollouts", "samples": 3}, "value").samples == 3


def test_another_kind_leaves_the_old_ones_keys_behind() -> None:
    config = {"prep": {"policy": "search", "depth": 9, "randomness": 0.5}}
    assert override(config, ["prep.policy=mcts"]) == {"prep": {"policy": "mcts", "randomness": 0.5}}
    assert override(config, ["prep.policy=uniform"]) == {"prep": {"policy": "uniform"}}
    changed = override({"value": {"model": "adaptive", "epsilon": 0.1}}, ["value.model=exact"])
    assert changed == {"value": {"model": "exact"}}
    again = override(config, ["prep.policy=mcts", "prep.depth=3"])  # said after it: a mistake
    assert again["prep"]["depth"] == 3


@pytest.mark.parametrize(
    "tables",
    [
        {"prep": {"choose": 3, "margin": 40, "deviations": 0}},
        {"prep": {"choose": 1, "margin": 40}},  # where a sweep over `choose` begins
        {"prep": {"choose": 3}, "white_prep": {"deviations": 0}},
        {"prep": {"margin": 30}, "black_prep": {"choose": 2}},
    ],
)
def test_what_is_said_of_menus_counts_where_some_are(tables: dict[str, Any]) -> None:
    """Also of a run's own record, which is opened again."""
    first = validate(Chess, {"kind": "chess"} | tables, "chess")
    again = validate(Chess, recorded(first, [{}, {}]), "chess")
    for one, other in zip(_studied(first), _studied(again), strict=True):
        assert one.offering == other.offering
        assert one == other or not one.offering


def _studied(settings: Chess) -> list[Preparation]:
    return [study(settings.prep, own) for own in (settings.white_prep, settings.black_prep)]


def test_a_side_is_recorded_with_what_its_table_says() -> None:
    """What it leaves out is as in the common table, whatever that says, and menus are told apart."""

    def config(**white: Any) -> dict[str, Any]:
        tables = {"prep": {"nodes": 777, "multipv": 3, "choose": 3}, "white_prep": white}
        return recorded(validate(Chess, {"kind": "chess"} | tables, "chess"), [{}, {}])

    assert config(randomness=5.0)["white_prep"] == {"randomness": 5.0}
    assert config(deviations=0) != config(deviations=2)
    again = validate(Chess, config(repertoire="mine.pgn"), "chess")
    own = _studied(again)[0]
    assert (own.nodes, own.multipv, own.choose, own.repertoire) == (777, 3, 3, "mine.pgn")
    within = [{"choose": n, "deviations": 0, "repertoire": "mine.pgn"} for n in (1, 3)]
    alone, chosen = (validate(Chess, {"kind": "chess", "prep": prep}, "chess") for prep in within)
    assert recorded(alone, [{}, {}]) != recorded(chosen, [{}, {}])  # of several moves: any, the first


def test_tabular_games_without_menus_or_estimates(tmp_path: Path) -> None:
    path, game = tmp_path / "game.toml", tmp_path / "game.json"
    leaf = {"base": 1, "prep": 1, "to": {"utility": 0.5}}
    root: dict[str, Any] = {"player": 1, "actions": {"a": leaf}}
    game.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    for key, message in (
        ("deviations = 1", 'deviations = 1 has no effect, as no action of .* has "menu"'),
        ('judge = "exact"', 'judge = "exact" has no effect, as no history of .* has a "value"'),
    ):
        path.write_text(f'kind = "tabular"\nfile = "game.json"\n{key}\n')
        with pytest.raises(InputError, match=message), open_matchup(path):
            pass
    root |= {"value": 0.4, "actions": {"a": leaf | {"menu": True}}}
    game.write_text(json.dumps({"format": "preplay-game/1", "root": root}))
    path.write_text('kind = "tabular"\nfile = "game.json"\njudge = "exact"\ndeviations = 1\n')
    with open_matchup(path) as opened:
        assert opened.deviations == (1, 1)
        assert opened.judge is not None


def test_tables_of_both_sides_take_the_place_of_the_common_one() -> None:
    """As settings do that came before; said after them, it is a mistake."""
    config = {"kind": "openspiel", "game": "x", "base": {"policy": "mcts", "simulations": 4}}
    changed = override(config, BASES)
    assert "base" not in changed
    first = validate(OpenSpiel, changed, "game")
    validate(OpenSpiel, first.model_dump(), "game")  # as a run records it
    assert "base" in override(config, BASES[:1])
    with pytest.raises(InputError, match="base has no effect here"):
        validate(OpenSpiel, override(config, [*BASES, "base.policy=mcts"]), "game")
