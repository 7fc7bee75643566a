"""Searches in the configuration: an engine, its options, a limit, and how many moves it scores."""

from __future__ import annotations

from pydantic import Field, model_validator

from preplay.chess.engines.analysis import EngineSpec, Limit
from preplay.chess.engines.discovery import find_command
from preplay.chess.players.play import Search
from preplay.matchup.settings import LIMITS, Settings

Positive = Field(default=None, gt=0)
BASE_NODES, PREP_NODES = 5_000, 20_000
"""The limits of base and preparation where nothing is said."""


class Searching(Settings):
    """An engine with its options, a limit (exactly one) and K, the number of moves it scores."""

    engine: str | None = None
    options: dict[str, str | int | bool] = Field(default_factory=dict)
    nodes: int | None = Positive
    depth: int | None = Positive
    milliseconds: int | None = Positive
    multipv: int = Field(default=2, ge=1, le=218)

    @model_validator(mode="after")
    def _one_limit(self) -> Searching:
        if sum(x is not None for x in (self.nodes, self.depth, self.milliseconds)) > 1:
            raise ValueError("expected exactly one of nodes, depth, milliseconds")
        return self


def search_of(player: Searching, nodes: int) -> Search:
    """What a player searches; `nodes` where it has no limit of its own."""
    limit = Limit(player.nodes, player.depth, player.milliseconds) if limited(player) else Limit(nodes)
    return Search(EngineSpec.of(find_command(player.engine), player.options), limit, player.multipv)


def limited(player: Searching) -> bool:
    """Whether a table has a limit of its own."""
    return any(getattr(player, limit) is not None for limit in LIMITS)
