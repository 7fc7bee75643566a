"""Which games count: by date, speed and rating, as their tags tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from preplay.chess.players.archive import GameTags
from preplay.errors import InputError
from preplay.game import Side

SPEEDS = ("bullet", "blitz", "rapid", "classical", "correspondence")


@dataclass(frozen=True)
class GameFilter:
    """Which games count; each test is of the game or of the player whose moves are counted."""

    since: str = ""
    """A date: 2019, 2019.05 or 2019.05.31."""
    speeds: tuple[str, ...] = ()
    rating: tuple[int, int] | None = None
    until: str = ""
    """The day before which games were played, written like `since`."""

    def __post_init__(self) -> None:
        if self.until and self.until <= self.since:
            raise InputError(
                f"since {self.since} and until {self.until} leave no day; expected the earlier date first"
            )

    def takes(self, tags: GameTags, side: Side) -> bool:
        """Whether a game counts for the player of `side`."""
        if self.since and date_of(tags) < self.since:
            return False
        if self.until and date_of(tags) >= self.until:
            return False
        if self.speeds and speed_of(tags)[0] not in self.speeds:
            return False
        if self.rating is not None:
            text = (tags.white_elo if side == 1 else tags.black_elo).strip()
            rating = int(text) if text.isascii() and text.isdigit() else -1
            return self.rating[0] <= rating <= self.rating[1]
        return True


def date_of(tags: GameTags) -> str:
    """The date as text that sorts: 2019.05.31, zeros where it is unknown."""
    words = re.findall(r"[0-9?]+", tags.date)[:3]
    widths = (4, 2, 2)
    digits = [word.replace("?", "0").rjust(w, "0")[:w] for word, w in zip(words, widths, strict=False)]
    return ".".join(digits + ["0000", "00", "00"][len(digits) :])


def speed_of(tags: GameTags) -> tuple[str, bool]:
    """How fast the game was, and whether the file says so: else it counts as classical."""
    control = tags.control.strip()
    if re.fullmatch(r"-|1/\d{5,}.*", control):
        return "correspondence", True
    period = re.match(r"(?:\d+/)?(\d+)(?:\+(\d+))?", control)
    if period:
        seconds = int(period[1]) + 40 * int(period[2] or 0)
        limits = ((180, "bullet"), (480, "blitz"), (1500, "rapid"))
        return next((name for limit, name in limits if seconds < limit), "classical"), True
    event = tags.event.casefold()
    for word, speed in (
        ("bullet", "bullet"),
        ("blitz", "blitz"),
        ("rapid", "rapid"),
        ("corr", "correspondence"),
    ):
        if word in event:
            return speed, True
    return "classical", "classical" in event
