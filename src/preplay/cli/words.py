"""Results in the words of players and coaches."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from preplay.cli import show
from preplay.errors import InputError

if TYPE_CHECKING:
    from preplay.accounts import Account
    from preplay.game import Side
    from preplay.matchup import Matchup

SOURCES = {
    "own": "the opponent's own games",
    "population": "how others play",
    "engine": "the engine standing in",
    "tail": "moves that nobody listed",
}


def rivals(given: Sequence[str], side: str) -> list[str]:
    """The settings that `--rival FILE[:SHARE]` stands for, against a side that prepares."""
    if not given:
        return []
    rows: list[dict[str, object]] = []
    for text in given:
        file, colon, share = text.rpartition(":")
        number = _number(share) if colon else None
        rows.append({"file": text} if number is None else {"file": file, "share": number})
        if number is not None and not 0.0 < number <= 1.0:
            raise InputError(f"--rival {text}: share {share}; expected a number above 0 and at most 1")
    other = "black" if side in ("1", "white") else "white"
    return [f"{other}.opponent={json.dumps(rows)}"]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def warn_of_sides(matchup: Matchup[Any], side: Side) -> None:
    """Somebody's games on the side that prepares, and none on the other, are a mistake in most cases."""
    if matchup.people[side - 1] is not None and matchup.people[2 - side] is None:
        mine, theirs = matchup.sides[side - 1], matchup.sides[2 - side]
        print(
            f"preplay: warning: {mine} prepares, and the games are of {mine}'s player; "
            f"an opponent's games are {theirs}.games or {theirs}.opponent",
            file=sys.stderr,
        )


def points(gain: float) -> str:
    """A gain in expected score as points in a hundred games."""
    value = 100.0 * gain
    return f"{value:+.{2 if abs(value) < 10 else 1}f} points per 100 games"


def positions(count: int) -> str:
    """So many positions."""
    return f"{count:,} {'position' if count == 1 else 'positions'}"


def print_account(account: Account) -> None:
    """What a book against people rests on, and whom it is good against."""
    met = f"{account.met:,} of {positions(account.size)}"
    if account.size:
        print(f"  met before           {met} occurred in the opponent's games")
    for name, gain in account.gain._asdict().items():
        if abs(gain) > 5e-7:
            print(f"  gained from          {points(gain)}: {SOURCES[name]}")
    if account.against:
        print()
        rows = [
            (w.name, f"{w.share:.0%}", f"{w.unprepared:.4f}", f"{w.value:.4f}", points(w.gain))
            for w in account.against
        ]
        show.print_table(("against", "comes", "unprepared", "prepared", "gain"), rows, right=(1, 2, 3))
