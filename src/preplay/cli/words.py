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
    from preplay.sampling.timeshare import TimeShare

SOURCES = {
    "own": "the opponent's own games",
    "population": "how others play",
    "engine": "the engine standing in",
    "tail": "moves that nobody listed",
}


def rivals(given: Sequence[str], side: str, spec: str, changes: Sequence[str]) -> list[str]:
    """The settings that `--rival FILE[:SHARE]` stands for, against a side that prepares."""
    from preplay.matchup import load_config
    from preplay.matchup.settings import saying
    from preplay.matchup.source import BY_ENGINES

    if not given:
        return []
    if load_config(spec)[1].get("kind") not in BY_ENGINES:
        raise InputError(f"--rival {given[0]}: plays chess; expected a chess matchup, not '{spec}'")
    rows: list[dict[str, object]] = []
    for text in given:
        file, colon, share = text.rpartition(":")
        number = _number(share) if colon else None
        rows.append({"file": text} if number is None else {"file": file, "share": number})
        if number is not None and not 0.0 < number <= 1.0:
            raise InputError(f"--rival {text}: share {share}; expected a number above 0 and at most 1")
    other = "black" if side in ("1", "white") else "white"
    for key in (f"{other}.opponent", f"{other}.games"):
        if change := saying(key, changes):
            raise InputError(f"--rival {given[0]} and --set {change}; expected one of the two")
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


def print_clock(clock: TimeShare) -> None:
    """What fresh games under a clock said."""
    print()
    for label, text in clock.lines():
        show.fact(label, text)


def print_account(account: Account) -> None:
    """What a book against people rests on, and whom it is good against."""
    if account.size:
        met = f"{account.met:,} of {show.histories(account.size)}"
        show.fact("met before", f"{met} end in positions of the opponent's games")
    for name, gain in account.gain._asdict().items():
        if abs(gain) > 5e-7:
            show.fact("gained from", f"{points(gain)}: {SOURCES[name]}")
    if account.against:
        print()
        rows = [
            (w.name, f"{w.share:.0%}", f"{w.unprepared:.4f}", f"{w.value:.4f}", points(w.gain))
            for w in account.against
        ]
        titles = ("against", "comes", "unprepared", "prepared", "gain")
        show.print_table(titles, rows, right=(1, 2, 3), cut=0)
