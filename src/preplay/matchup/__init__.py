"""A matchup: the game, how both sides play, how they prepare, what a history is worth, what memory costs.

This is the only room that knows configuration. `open_matchup` takes a built-in name, a `.toml` file or a
tabular `.json` game and yields a `Matchup`; engines that it needs live as long as the `with` block.
"""

from preplay.matchup.builtin import BUILTIN, Builtin
from preplay.matchup.model import Clock, Deciding, Engines, Matchup, Notation, Sampling
from preplay.matchup.source import load_config, open_matchup

__all__ = [
    "BUILTIN",
    "Builtin",
    "Clock",
    "Deciding",
    "Engines",
    "Matchup",
    "Notation",
    "Sampling",
    "load_config",
    "open_matchup",
]
