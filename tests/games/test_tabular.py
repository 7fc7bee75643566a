"""The file format of tabular games: what is read, and what every mistake is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from randomgames import Raw, at, games, own_histories, v

from preplay.errors import InputError
from preplay.game import CHANCE, FINAL, walk
from preplay.games import tabular
from preplay.policy import check_distribution

LEAF: Raw = {"utility": 0.5}


def edge(base: Any = 1, prep: Any = 1, to: Any = LEAF) -> Raw:
    return {"base": base, "prep": prep, "to": to}


def node(player: Any = 1, value: Any = None, **actions: Any) -> Raw:
    more = {} if value is None else {"value": value}
    return {"player": player, "actions": actions} | more


def file(root: Any, form: Any = "preplay-game/1") -> Raw:
    return {"format": form, "root": root}


DEEP = node(2, b=edge(to=node(1, c=edge(to={"utility": 7}))))

MISTAKES: list[tuple[str, Any, str]] = [
    # the file
    ("a list", [], "file: []; expected an object"),
    ("no root", {"format": "preplay-game/1"}, "file: key 'root' is missing"),
    ("no format", {"root": LEAF}, "file: key 'format' is missing"),
    (
        "another format",
        file(LEAF, "preplay-game/2"),
        "format is 'preplay-game/2'; expected 'preplay-game/1'",
    ),
    ("a root that is the end", file(LEAF), "root: the game is over before it begins"),
    ("a number as format", file(LEAF, 1), "format is 1; expected 'preplay-game/1'"),
    (
        "a key too many",
        file(LEAF) | {"name": "x"},
        "file: unknown key 'name'; expected one of: format, root",
    ),
    # nodes
    ("a root that is no node", file(3), "root: 3; expected an object"),
    ("null as a root", file(None), "root: null; expected an object"),
    ("an empty node", file({}), "root: key 'actions' is missing; expected actions, player"),
    ("no player", file({"actions": {"a": edge()}}), "root: key 'player' is missing"),
    ("no actions", file({"player": 1}), "root: key 'actions' is missing"),
    (
        "a misspelt key",
        file(node(a=edge()) | {"vaule": 1}),
        "root: unknown key 'vaule'; did you mean 'value'?",
    ),
    ("utility and player", file({"utility": 1, "player": 1}), "root: unknown key 'player'"),
    ("a leaf with a value", file({"utility": 1, "value": 1}), "root: unknown key 'value'"),
    ("player 3", file(node(3, a=edge())), 'root.player: 3; expected 1, 2 or "chance"'),
    ("player 0", file(node(0, a=edge())), 'root.player: 0; expected 1, 2 or "chance"'),
    ("player true", file(node(True, a=edge())), 'root.player: True; expected 1, 2 or "chance"'),
    ("player 1.0", file(node(1.0, a=edge())), 'root.player: 1.0; expected 1, 2 or "chance"'),
    ("player as text", file(node("1", a=edge())), "root.player: '1'; expected 1, 2 or \"chance\""),
    ("player null", file(node(None, a=edge())), 'root.player: None; expected 1, 2 or "chance"'),
    ("a list as player", file(node([1], a=edge())), 'root.player: [1]; expected 1, 2 or "chance"'),
    ("empty actions", file(node()), "root.actions: {}; expected an object with at least one action"),
    ("a list of actions", file({"player": 1, "actions": [1]}), "root.actions: [1]; expected an object"),
    ("actions null", file({"player": 1, "actions": None}), "root.actions: null; expected an object"),
    # values
    ("a value of 1.5", file(node(1, 1.5, a=edge())), "root.value: 1.5; expected a number in [0, 1]"),
    ("a value of true", file(node(1, True, a=edge())), "root.value: true; expected a number in [0, 1]"),
    (
        "a chance node's value",
        file(node("chance", 0.5, a={"prob": 1, "to": LEAF})),
        "root.value: a chance node carries a value; only decision nodes may",
    ),
    # utilities
    ("a utility of 1.01", file({"utility": 1.01}), "root.utility: 1.01; expected a number in [0, 1]"),
    ("a negative utility", file({"utility": -0.1}), "root.utility: -0.1; expected a number in [0, 1]"),
    ("utility NaN", file({"utility": float("nan")}), "root.utility: NaN; expected a number in [0, 1]"),
    ("utility infinite", file({"utility": float("inf")}), "root.utility: Infinity; expected a number"),
    ("utility true", file({"utility": True}), "root.utility: true; expected a number in [0, 1]"),
    ("utility as text", file({"utility": "0.5"}), 'root.utility: "0.5"; expected a number in [0, 1]'),
    ("utility null", file({"utility": None}), "root.utility: null; expected a number in [0, 1]"),
    (
        "a place below",
        file(node(1, a=edge(to=DEEP))),
        'root.actions["a"].to.actions["b"].to.actions["c"].to.utility: 7; expected a number in [0, 1]',
    ),
    # edges
    ("an edge that is no object", file(node(a=0.5)), 'root.actions["a"]: 0.5; expected an object'),
    ("no base", file(node(a={"prep": 1, "to": LEAF})), "root.actions[\"a\"]: key 'base' is missing"),
    ("no prep", file(node(a={"base": 1, "to": LEAF})), "root.actions[\"a\"]: key 'prep' is missing"),
    ("no to", file(node(a={"base": 1, "prep": 1})), "root.actions[\"a\"]: key 'to' is missing"),
    (
        "prob of a player",
        file(node(a={"prob": 1, "to": LEAF})),
        "root.actions[\"a\"]: unknown key 'prob'; expected one of: base, menu, prep, to",
    ),
    (
        "base of chance",
        file(node("chance", a=edge())),
        "root.actions[\"a\"]: unknown key 'base'; expected one of: prob, to",
    ),
    (
        "a negative base",
        file(node(a=edge(-0.5), b=edge(1.5))),
        'root.actions["a"].base: -0.5; expected a number in [0, 1]',
    ),
    (
        "a negative prep",
        file(node(a=edge(1, -1))),
        'root.actions["a"].prep: -1; expected a number in [0, 1]',
    ),
    ("a base of 2", file(node(a=edge(2))), 'root.actions["a"].base: 2; expected a number in [0, 1]'),
    ("a base of NaN", file(node(a=edge(float("nan")))), 'root.actions["a"].base: NaN; expected a number'),
    ("a base of true", file(node(a=edge(True))), 'root.actions["a"].base: true; expected a number'),
    (
        "a prob as text",
        file(node("chance", a={"prob": "1", "to": LEAF})),
        'root.actions["a"].prob: "1"; expected a number in [0, 1]',
    ),
    (
        "base sums to 0.9",
        file(node(a=edge(0.4, 1), b=edge(0.5, 0))),
        "root: 'base' probabilities sum to 0.9; expected 1",
    ),
    (
        "prep sums to 1.1",
        file(node(a=edge(1, 0.6), b=edge(0, 0.5))),
        "root: 'prep' probabilities sum to 1.1; expected 1",
    ),
    (
        "prob sums to 0.5",
        file(node("chance", a={"prob": 0.5, "to": LEAF})),
        "root: 'prob' probabilities sum to 0.5; expected 1",
    ),
    (
        "a quote in a name",
        file(node(**{'a"b': edge(to=3)})),
        'root.actions["a\\"b"].to: 3; expected an object',
    ),
]


@pytest.mark.parametrize(("data", "message"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_every_mistake_is_told_in_one_line_with_its_place(
    data: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as parsed:
        tabular.parse(data)
    path = tmp_path / "game.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as loaded:
        tabular.load(path)
    assert str(parsed.value).startswith(message)
    assert str(loaded.value) == f"{path}: {parsed.value}"
    assert "\n" not in str(loaded.value)


def refused(path: Path, message: str) -> None:
    with pytest.raises(InputError) as error:
        tabular.load(path)
    assert str(error.value).startswith(f"{path}: {message}")
    assert "\n" not in str(error.value)
    assert error.value.__suppress_context__


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    refused(tmp_path / "none.json", "no such file; expected a preplay-game/1 JSON file")
    refused(tmp_path, "is a directory; expected a preplay-game/1 JSON file")
    path = tmp_path / "game.json"
    path.write_bytes(b'{"format": "\xff"}')
    refused(path, "not UTF-8 text at byte 12; expected a preplay-game/1 JSON file")
    path.write_text('{"format": "preplay-game/1",\n "root": {"utility": 0.5}')
    refused(path, "line 2, column 26: Expecting ',' delimiter; expected JSON")
    path.write_text("")
    refused(path, "line 1, column 1: Expecting value; expected JSON")
    path.write_text('{"a": 1, "a": 2}')
    refused(path, "key 'a' stands twice in one object; expected each name once")
    path.write_text(
        json.dumps(file(node(a=edge(0.5, 0.5)))).replace(
            '"a": {', '"a": {"base": 0.5, "prep": 0.5, "to": {"utility": 0}}, "a": {'
        )
    )
    refused(path, "key 'a' stands twice in one object")
    path.write_text("[" * 100_000)
    refused(path, "nested too deeply for JSON")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(file(node(a=edge()))).encode())
    assert tabular.load(path).histories == 2


def test_games_as_deep_as_json_goes_are_read(tmp_path: Path) -> None:
    root: Raw = LEAF
    for ply in range(200):
        root = node(1 + ply % 2, a=edge(to=root))
    path = tmp_path / "game.json"
    path.write_text(json.dumps(file(root)))
    game = tabular.load(path)
    assert (game.longest, game.widest, game.histories) == (200, 1, 201)


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    coin = node(
        "chance", heads={"prob": 0.25, "to": {"utility": 1}}, tails={"prob": 0.75, "to": {"utility": 0}}
    )
    reply = node(2, 0.9, x=edge(1, 0, coin), y=edge(0, 1, {"utility": 1}))
    root = node(1, b=edge(0.2, 1, reply), a=edge(0.8, 0, {"utility": 0.5}))
    path = tmp_path / "game.json"
    path.write_text(json.dumps(file(root)))
    game = tabular.load(str(path))
    assert (game.longest, game.widest, game.histories) == (3, 2, 7)
    start = game.root()
    assert game.player(start) == 1
    assert game.actions(start) == ("b", "a")  # the file's order
    assert game.history(start) == ()
    luck = walk(game, ("b", "x"))
    assert game.player(luck) == CHANCE
    assert game.chance(luck) == {"heads": 0.25, "tails": 0.75}
    end = walk(game, ("b", "x", "heads"))
    assert game.player(end) == FINAL
    assert game.utility(end) == 1.0
    assert game.history(end) == ("b", "x", "heads")
    base, prep = tabular.TabularPolicy("base"), tabular.TabularPolicy("prep")
    assert base.distributions([start, game.next(start, "b")]) == [
        {"b": 0.2, "a": 0.8},
        {"x": 1.0, "y": 0.0},
    ]
    assert prep.distributions([start]) == [{"b": 1.0, "a": 0.0}]
    values = tabular.TabularValue()
    # The estimate 0.9 stands in for the exact 0.25, above as well: 0.2 * 0.9 + 0.8 * 0.5.
    assert [x.mean for x in values.values([luck, game.next(start, "b"), start])] == pytest.approx(
        [0.25, 0.9, 0.58]
    )
    assert all(x.radius == 0.0 for x in values.values([start]))


@settings(max_examples=100, deadline=None)
@given(games(depth=5, own=40, estimates=True))
def test_estimates_stand_in_for_exact_values(raw: Raw) -> None:
    game = tabular.parse(raw)
    for side in (1, 2):
        for history in own_histories(raw["root"], side):
            value = tabular.TabularValue().values([walk(game, history)])[0].mean
            assert value == pytest.approx(v(at(raw["root"], history)), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(games(depth=4, own=40))
def test_every_history_of_a_game_keeps_the_contract(raw: Raw) -> None:
    game = tabular.parse(raw)
    stack, met = [game.root()], 0
    while stack:
        state = stack.pop()
        met += 1
        assert len(game.history(state)) <= game.longest
        assert walk(game, game.history(state)) is state
        if game.player(state) == FINAL:
            assert 0.0 <= game.utility(state) <= 1.0
            continue
        assert len(game.actions(state)) <= game.widest
        kinds = [game.chance(state)] if game.player(state) == CHANCE else []
        for kind in ("base", "prep"):
            kinds += tabular.TabularPolicy(kind).distributions([state])
        for distribution in kinds:
            check_distribution(distribution, "here")
            assert set(distribution) == set(game.actions(state))
        stack += [game.next(state, action) for action in game.actions(state)]
    assert met == game.histories


def test_marked_actions_are_a_menu_what_prep_likes_best_first() -> None:
    end = {"utility": 0.5}
    shares = {"a": (0.2, True), "b": (0.5, False), "c": (0.3, True), "d": (0.0, True)}
    actions = {n: {"base": 0.25, "prep": p, "menu": m, "to": end} for n, (p, m) in shares.items()}
    game = tabular.parse({"format": tabular.FORMAT, "root": {"player": 2, "actions": actions}})
    assert game.offers == (False, True)
    (menu,) = tabular.TabularMenus().menus([game.root()])
    assert menu == (("c", 0.3), ("a", 0.2), ("d", 0.0))


def test_a_menu_is_true_or_false_and_not_for_chance() -> None:
    edge = {"base": 1, "prep": 1, "menu": 1, "to": {"utility": 0.5}}
    root = {"player": 1, "actions": {"a": edge}}
    with pytest.raises(InputError, match=r'root.actions\["a"\].menu: 1; expected true or false'):
        tabular.parse({"format": tabular.FORMAT, "root": root})
    lottery = {"player": "chance", "actions": {"a": {"prob": 1, "menu": True, "to": {"utility": 0.5}}}}
    with pytest.raises(InputError, match="unknown key 'menu'"):
        tabular.parse({"format": tabular.FORMAT, "root": lottery})
