"""Who meets whom in words that a player understands, from a run's configuration.

Configurations come in many kinds, and later ones may hold what is not known here: whatever has no
sentence of its own is told as "key value".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from preplay.chess.books.naming import clock_of, engine_of
from preplay.matchup.source import BY_ENGINES

JsonTable = Mapping[str, Any]

TOLD = {"engine", "options", "nodes", "depth", "milliseconds", "multipv", "randomness"} | {
    "budget",
    "increment",
    "games",
}
"""Settings of a chess player that `chess_player` puts into words."""
MODELS = {
    "linear": "linear in the engine's score: 0 at −4 pawns, 1 at +4",
    "threshold": "won or lost beyond 4 pawns, else drawn",
    "logistic": "a logistic curve of the engine's score",
    "wdl": "the engine's own win and draw rates",
    "rollouts": "games played out by both sides",
}


def is_chess(matchup: JsonTable) -> bool:
    """Whether it can be shown on a board."""
    return matchup.get("kind") in BY_ENGINES


def sides(matchup: JsonTable) -> tuple[str, str]:
    """What the players are called."""
    if is_chess(matchup):
        return "White", "Black"
    named = matchup.get("sides")
    if isinstance(named, list) and len(named) == 2 and named != ["1", "2"]:
        return str(named[0]), str(named[1])
    return "Player 1", "Player 2"


def players(matchup: JsonTable) -> tuple[str, str]:
    """How each player plays at the board."""
    if is_chess(matchup):
        return chess_player(matchup, "white"), chess_player(matchup, "black")
    if matchup.get("kind") == "openspiel":
        base = table(matchup, "base")
        return policy(table(matchup, "base1") or base), policy(table(matchup, "base2") or base)
    if matchup.get("kind") == "synthetic":
        play = listed({k: matchup[k] for k in ("randomness", "noise") if k in matchup})
        return play or "at random", play or "at random"
    if matchup.get("kind") == "python":
        return "as its code says", "as its code says"
    return "as the file says", "as the file says"


def rival(matchup: JsonTable, side: int) -> str:
    """What the opponent of `side` is called: by name where their games are known."""
    if not is_chess(matchup):
        return sides(matchup)[2 - side]
    own = table(matchup, "black" if side == 1 else "white")
    named = table(own, "games").get("player")
    if isinstance(named, list):  # several spellings
        named = named[0] if named else ""
    fitted = own.get("opponent")
    if not named and isinstance(fitted, list):  # files of `preplay opponent`, called after whom they fit
        files = [str(one.get("file")) for one in fitted if isinstance(one, Mapping)]
        named = " or ".join(PurePath(file).name.partition(".")[0] for file in files)
    return str(named) if named else engine_of(matchup, own)


def game(matchup: JsonTable, name: str) -> str:
    """Which game it is."""
    kind = matchup.get("kind")
    if is_chess(matchup):
        rules = "Chess960" if matchup.get("chess960") else "Chess"
        return f"{rules} with a clock" if kind == "chess-clock" else rules
    if kind == "openspiel":
        return str(matchup.get("game", name))
    if kind == "synthetic":
        size = listed({k: matchup[k] for k in ("length", "width", "seed") if k in matchup})
        return "Random game" + (f" ({size})" if size else "")
    return name


def facts(matchup: JsonTable, name: str) -> list[tuple[str, str]]:
    """How it was computed, row by row."""
    who = sides(matchup)
    rows = [("Game", game(matchup, name))]
    rows += [(f"{who[k]} at the board", play) for k, play in enumerate(players(matchup))]
    if is_chess(matchup):
        start = table(matchup, "start")
        begin = " ".join([str(start.get("fen") or ""), *map(str, start.get("moves") or ())]).strip()
        rows.append(("Start position", begin or "the usual one"))
        for key, label in (
            ("prep", "Study"),
            ("white_prep", "White's study"),
            ("black_prep", "Black's study"),
        ):
            if matchup.get(key):
                rows.append((label, chess_player(matchup, key)))
        value = table(matchup, "value")
        model = "rollouts" if timed(matchup) else str(value.get("model", "linear"))
        rows.append(("Value of a position", MODELS.get(model, model)))
        if limit(value):
            rows.append(("Searches for values", limit(value)))
        rows.append(("Games end in a draw after", f"{matchup.get('length', 100)} half-moves"))
    elif matchup.get("kind") == "python":
        rows.append(("Settings", listed(table(matchup, "settings"))))
    elif matchup.get("kind") == "openspiel":
        rows.append(("Study", policy(table(matchup, "prep"))))
        rows.append(("Value of a position", listed(table(matchup, "value"))))
    return [(label, text) for label, text in rows if text]


def chess_player(matchup: JsonTable, key: str) -> str:
    """A chess player as its engine, its limit and how it chooses."""
    own = table(matchup, key)
    parts = [known_by(own) + engine_of(matchup, own)]
    if limit(own):
        parts.append(limit(own))
    if timed(matchup) and key in ("white", "black"):
        parts.append(clock_of(matchup, own))
    randomness = own.get("randomness") or 0.0
    if randomness:
        parts.append(varied(int(own.get("multipv") or 2), float(randomness)))
    if own.get("options"):
        parts.append(listed(own["options"]))
    rest = {k: v for k, v in own.items() if k not in TOLD and v not in (None, "", [], {})}
    if rest:
        parts.append(listed(rest))
    return ", ".join(parts)


def varied(moves: int, randomness: float) -> str:
    """How a player chooses who does not always play the best: softmax with a temperature r."""
    less = f"one that looks {randomness:g} centipawns worse is played a third as often"
    return f"chooses among its {moves} best moves ({less})"


def known_by(player: JsonTable) -> str:
    """Whom the engine stands in for, if their games are known."""
    games = table(player, "games")
    if not games:
        return ""
    return f"{games.get('player') or 'a player'} as in {PurePath(str(games.get('file'))).name}, else "


def timed(matchup: JsonTable) -> bool:
    """Whether a clock runs for the whole game."""
    return matchup.get("kind") == "chess-clock"


def limit(player: JsonTable) -> str:
    """How long an engine thinks."""
    if player.get("nodes"):
        return f"{player['nodes']:,} nodes a move"
    if player.get("depth"):
        return f"depth {player['depth']}"
    if player.get("milliseconds"):
        return f"{player['milliseconds']:,} ms a move"
    return ""


def policy(play: JsonTable) -> str:
    """A policy of a plain game."""
    kind = play.get("policy", "uniform")
    if kind == "uniform":
        return "any move, all alike"
    if kind == "search":
        text = f"search to depth {play.get('depth')}"
    elif kind == "mcts":
        text = f"tree search, {play.get('simulations')} simulations"
    else:
        return listed(play)
    return text + (f", randomness {play['randomness']:g}" if play.get("randomness") else "")


def listed(settings: JsonTable | Sequence[Any]) -> str:
    """Settings that have no sentence of their own."""
    if not isinstance(settings, Mapping):
        return ", ".join(map(str, settings))
    return ", ".join(f"{key} {value}" for key, value in settings.items() if value not in (None, "", {}))


def table(matchup: JsonTable, key: str) -> JsonTable:
    """A sub-table; empty if there is none."""
    found = matchup.get(key)
    return found if isinstance(found, Mapping) else {}
