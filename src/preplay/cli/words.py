"""Results in the words of players and coaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preplay.cli import show

if TYPE_CHECKING:
    from preplay.accounts import Account

SOURCES = {
    "own": "the opponent's own games",
    "population": "how others play",
    "engine": "the engine standing in",
    "tail": "moves that nobody listed",
}


def points(gain: float) -> str:
    """A gain in expected score as points in a hundred games."""
    value = 100.0 * gain
    return (
        f"{value:+.2f} points per 100 games" if abs(value) < 10 else f"{value:+.1f} points per 100 games"
    )


def positions(count: int) -> str:
    """So many positions."""
    return f"{count:,} {'position' if count == 1 else 'positions'}"


def print_account(account: Account) -> None:
    """What a book against people rests on, and whom it is good against."""
    print(
        f"  met before           {account.met:,} of {positions(account.size)} occurred in the opponent's games"
    )
    for name, gain in account.gain._asdict().items():
        if abs(gain) > 5e-7:
            print(f"  gained from          {points(gain)}: {SOURCES[name]}")
    if account.against:
        print()
        rows = [
            (
                worth.name,
                f"{worth.share:.0%}",
                f"{worth.unprepared:.4f}",
                f"{worth.value:.4f}",
                points(worth.gain),
            )
            for worth in account.against
        ]
        show.print_table(("against", "comes", "unprepared", "prepared", "gain"), rows, right=(1, 2, 3))
