"""A mix at the board: a policy by history, and what a preparer who chooses gets against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic

from preplay.book import Book
from preplay.game import Distribution, S, Side, other
from preplay.growth.goals import Limits
from preplay.matchup import Matchup
from preplay.policy import Ahead, Policy, ahead_of
from preplay.preparation import Prepared, prepare
from preplay.stopping import NEVER, Stop


@dataclass(frozen=True)
class Mix(Generic[S]):
    """A hardened way of playing: the mix where it knows the history, and another policy elsewhere."""

    table: Mapping[tuple[str, ...], Distribution]
    beyond: Policy[S]
    history: Callable[[S], tuple[str, ...]]

    def ahead(self) -> Ahead[S] | None:
        """The policy beyond the table works ahead, if it can."""
        inner = ahead_of(self.beyond)
        return None if inner is None else inner.of(self._unknown)

    def distributions(self, states: Sequence[S]) -> list[Distribution]:
        """The mix, or what the other policy plays."""
        unknown = self._unknown(states)
        answers = iter(self.beyond.distributions(unknown) if unknown else ())
        known = [self.table.get(self.history(state)) for state in states]
        return [next(answers) if mix is None else mix for mix in known]

    def _unknown(self, states: Sequence[S]) -> list[S]:
        return [state for state in states if self.history(state) not in self.table]


def mix_of(book: Book) -> dict[tuple[str, ...], Distribution]:
    """The policy that a hider's book holds."""
    return {entry.history: entry.moves for entry in book.entries}


ByHistory = Mapping[tuple[str, ...], Distribution]
"""What is played, by history."""


def played_by(matchup: Matchup[S], side: Side, table: ByHistory) -> Matchup[S]:
    """The matchup in which a side plays a mix at the board."""
    hides: Policy[S] = Mix(table, matchup.base[side - 1], matchup.game.history)
    base = (hides, matchup.base[1]) if side == 1 else (matchup.base[0], hides)
    return replace(matchup, base=base)


def against(
    matchup: Matchup[S],
    side: Side,
    table: ByHistory,
    cost: float,
    limits: Limits | None = None,
    stop: Stop = NEVER,
    *,
    progress: Callable[[object], None] | None = None,
    checkpoint: Path | None = None,
) -> Prepared | None:
    """The best book of a preparer who also chooses its moves against the mix of `side`, judged where
    there is a judge; None: the preparer has no menus, or there is no time."""
    preparer = other(side)
    if matchup.menus[preparer - 1] is None or stop.asked:
        return None
    meets = played_by(matchup, side, table)
    return prepare(
        meets,
        preparer,
        cost,
        limits=limits,
        stop=stop,
        progress=progress,
        playing=progress,
        checkpoint=checkpoint,
    )
