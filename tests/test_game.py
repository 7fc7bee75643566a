"""What every game has to keep to, and what is told where one does not."""

from __future__ import annotations

from typing import Any

import pytest

from preplay.errors import GameError, InputError
from preplay.game import actions_of, check_length, check_side, other, walk
from preplay.games import tabular

END = {"utility": 0.5}
REPLY = {"player": 2, "actions": {"c": {"base": 1, "prep": 1, "to": END}}}
ACTIONS = {"a": {"base": 1, "prep": 0, "to": END}, "b": {"base": 0, "prep": 1, "to": REPLY}}
GAME = tabular.parse({"format": "preplay-game/1", "root": {"player": 1, "actions": ACTIONS}})


def test_a_walk_goes_where_the_actions_lead() -> None:
    state = walk(GAME, ["b", "c"])
    assert GAME.history(state) == ("b", "c")
    assert GAME.history(walk(GAME, [])) == ()


def test_sides() -> None:
    assert (other(1), other(2)) == (2, 1)
    check_side(1)
    check_side(2)
    wrong: Any
    for wrong in (0, 3, True, "white"):
        with pytest.raises(InputError, match=f"side {wrong!r}; expected 1 or 2"):
            check_side(wrong)


def test_a_history_is_as_long_as_the_game_says() -> None:
    check_length(12, 12)
    with pytest.raises(GameError, match=r"a history of 1,300 actions; expected at most 12, .*`longest`"):
        check_length(1300, 12)


class Odd:
    """A game whose root has whatever actions it is given."""

    widest = 2

    def __init__(self, actions: Any) -> None:
        self.given = actions

    def actions(self, state: int) -> Any:
        return self.given

    def history(self, state: int) -> tuple[str, ...]:
        return ("before",)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"a", "b"}, "expected a list of names"),
        ([], "no actions where the game is not over; expected at least one"),
        (["a", "a"], "the action 'a' twice; expected each action once"),
        (["a", "b", "c"], "3 actions; expected at most 2, the game's `widest`"),
    ],
)
def test_actions_are_some_each_once_and_no_more_than_said(actions: Any, message: str) -> None:
    odd: Any = Odd(actions)
    with pytest.raises(GameError) as told:
        actions_of(odd, 0)
    assert str(told.value).startswith("history ['before']: ")
    assert str(told.value).endswith(message)
    odd.given = ["a", "b"]
    assert actions_of(odd, 0) == ["a", "b"]
