"""The page of a mix that is hard to prepare against, in games whose sides do not move in turn."""

from __future__ import annotations

import zlib
from pathlib import Path

import preplay
from preplay.report.gather import gather


class InPairs:
    """Side 1 moves twice, then chance, then side 2 twice; what comes of it is arbitrary."""

    longest, widest = 5, 2

    def root(self) -> str:
        return ""

    def history(self, state: str) -> tuple[str, ...]:
        return tuple(state)

    def player(self, state: str) -> int:
        return (1, 1, preplay.CHANCE, 2, 2, preplay.FINAL)[len(state)]

    def actions(self, state: str) -> list[str]:
        return ["x", "y"]

    def chance(self, state: str) -> dict[str, float]:
        return {"x": 0.5, "y": 0.5}

    def next(self, state: str, action: str) -> str:
        return state + action

    def utility(self, state: str) -> float:
        return zlib.crc32(state.encode()) % 1000 / 1000


def test_a_position_is_the_sides_where_the_mix_speaks(tmp_path: Path) -> None:
    game, even = InPairs(), {"x": 0.5, "y": 0.5}

    def thinks(state: str) -> dict[str, float]:
        return {"x": float(len(state)), "y": 0.1}

    matchup = preplay.make_matchup(
        game,
        base=lambda state: even,
        prep=lambda state: {"x": 1.0},
        menus=thinks,
        choose=2,
        cost=0.001,
        sides=("the elder", "the younger"),
    )
    for side in (1, 2):
        found = preplay.harden(matchup, side, save=tmp_path / str(side))
        data = gather(tmp_path / str(side))
        tree = data["tree"]
        parents = [k for k, n in enumerate(tree["kids"]) for _ in range(n)]
        states = [""]
        for k, action in zip(parents, tree["move"], strict=True):
            states.append(states[k] + tree["names"][action])
        assert data["side"] == side
        mine = {
            state for state, player in zip(states, tree["player"], strict=True) if player == str(side)
        }
        assert mine == {"".join(entry.history) for entry in found.policy.entries}
        assert all(game.player(state) == side for state in mine)
        assert mine
