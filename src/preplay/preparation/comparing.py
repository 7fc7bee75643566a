"""A choosing book beside those that choose less: it is never worse, whatever cut the work short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic

from preplay.game import S, Side
from preplay.matchup import Matchup
from preplay.preparation.found import Fixed, Prepared
from preplay.response import AGREEMENT

LOWER = 4
"""Classes of fewer deviations that are looked at first, at most: those of 0, 1, 2 and 3."""
UNLIMITED = 2
"""Of these, how many where deviations have no limit: the largest may then be all there is."""


@dataclass(frozen=True)
class Rung(Generic[S]):
    """A class of books: those with at most so many deviations a line."""

    matchup: Matchup[S]
    part: float = 1.0
    """What it may take of the time left."""
    name: str = ""
    """Of its checkpoint; empty for the class that was asked for."""
    telling: str = ""
    """What a reader hears when it begins."""

    def checkpoint(self, whole: Path | None) -> Path | None:
        """Where its growth may go on from, beside that of the class that was asked for."""
        return whole.with_stem(self.name) if whole is not None and self.name else whole


def ladder(matchup: Matchup[S], side: Side) -> list[Rung[S]]:
    """The classes of books with 0, 1, … deviations a line, up to the one that was asked for.

    Each holds the one before it and is several times as large (fact 9), so each may take twice the time
    of the one before, and all but the last together half.
    """
    choices = matchup.choices(side)
    most = 0 if choices is None else choices.deviations
    below = range(UNLIMITED if most is None else min(most, LOWER))
    one, two = matchup.deviations
    judge = (
        None if matchup.judge is None else replace(matchup.judge, doubt=0.0)
    )  # the largest class has all
    return [
        Rung(
            replace(matchup, deviations=(few, two) if side == 1 else (one, few), judge=judge),
            0.5 ** (len(below) - few + 1),
            f"deviations-{few}" if few else "fixed",
            f"books whose lines deviate at most {few} times" if few else "the book of first choices",
        )
        for few in below
    ] + [Rung(matchup)]


def best_of(books: Sequence[Prepared]) -> Prepared:
    """The best of a ladder's books by the values in use, with what that of first choices is worth.

    The last class holds the others (fact 9), so with all the time there is its book is at least as good.
    It need not be where it was cut short, or where prep mixes its moves. The bound is the last one's.
    What was cut short before the side's first decision has another kind of value: the start's.
    """
    first, last = books[0], books[-1]
    if first is last:
        return first
    best = last
    for book in reversed(books):
        better = book.response.net > best.response.net + AGREEMENT
        if (_starts(book), better) > (_starts(best), False):
            best = book
    judged = best.judged
    if judged is not None and last.judged is not None:  # the last one knows all that was judged before
        rounds = sum(book.judged.rounds for book in books if book.judged is not None)
        judged = replace(judged, rounds=rounds, searches=last.judged.searches)
    bounds = last.response.upper, best.response.upper, *(book.response.net for book in books)
    net, size = first.response.net, first.response.size
    ending = best.grown.ending if last.grown.ending == "complete" else last.grown.ending
    looked = replace(last.grown, tree=best.tree, ending=ending)  # what the bound rests on
    return replace(
        best,
        grown=looked,
        response=replace(best.response, upper=max(bounds)),
        judged=judged,
        narrow=best is not last,
        fixed=Fixed(first.value, net, size, first.grown.ending, best is first),
    )


def _starts(book: Prepared) -> bool:
    return book.tree.starts(book.side)
