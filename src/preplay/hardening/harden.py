"""How a side should mix its moves so that one who prepares against it gains least (fact 11)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from preplay.book import Book, Entry
from preplay.errors import InputError
from preplay.game import Distribution, S, Side, other
from preplay.growth.goals import Ending, Limits
from preplay.hardening import passes
from preplay.hardening.hideout import HIDES, OWN, Hideout, Hiding
from preplay.hardening.program import given_away, solve
from preplay.matchup import Matchup
from preplay.policy import Ahead, Policy, ahead_of, softmax
from preplay.preparation import prepare
from preplay.response import check_cost
from preplay.stopping import NEVER, Stop
from preplay.tree import Bools, Floats

LEAST = 1e-9
"""Shares below this are left out of the policy."""
WIDTH = 32
"""Histories that are expanded between two solutions, at least."""
GRID = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
"""Randomness of the softmax beside the mix, in mean distances of menu moves from the first choice."""


@dataclass(frozen=True)
class HardenProgress:
    """How far hardening is."""

    histories: int
    lower: float
    upper: float
    questions: int

    def __str__(self) -> str:
        return (
            f"{self.histories:,} histories  the preparer nets {self.lower:.5f} to {self.upper:.5f}  "
            f"{self.questions:,} questions"
        )


@dataclass(frozen=True)
class Softmax:
    """The paper's way to hide: one temperature everywhere."""

    randomness: float
    """In the units of the menu's opinions: centipawns in chess. 0: always the first choice."""
    value: float
    """A preparer nets at least this much against it."""
    loss: float
    """What it gives away against one who does not prepare."""


@dataclass(frozen=True, eq=False)
class Hardened:
    """A mix by position with what it leaves a preparer. Values are the preparer's, net of memory."""

    side: Side
    """Who hides."""
    cost: float
    value: float
    """What the best book that was found nets against the mix."""
    lower: float
    """No mix of these menus, within the loss, leaves less."""
    upper: float
    """No book nets more against this mix."""
    loss: float
    """What the mix gives away against one who does not prepare."""
    unprepared: float
    """What the preparer has without a book."""
    softmax: tuple[Softmax, ...]
    """The same menus played by softmax, by rising randomness."""
    method: str
    ending: Ending
    histories: int
    questions: int
    policy: Mapping[tuple[str, ...], Distribution] = field(repr=False)
    """What the hider plays, by history."""
    books: tuple[Book, Book] = field(repr=False)
    """Of each side: the mix as a book, and the best book against it."""

    @property
    def gap(self) -> float:
        """How far the mix may be from the best one."""
        return self.upper - self.lower

    def before(self, loss: float | None = None) -> Softmax | None:
        """The softmax that leaves a preparer least, of those that give away no more than `loss`."""
        fits = [s for s in self.softmax if loss is None or s.loss <= loss + 1e-12]
        return min(fits, key=lambda s: s.value, default=None)


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


Table = Mapping[tuple[str, ...], Distribution]
"""What is played, by history."""


def played_by(matchup: Matchup[S], side: Side, table: Table) -> Matchup[S]:
    """The matchup in which a side plays a mix at the board."""
    hides: Policy[S] = Mix(table, matchup.base[side - 1], matchup.game.history)
    base = (hides, matchup.base[1]) if side == 1 else (matchup.base[0], hides)
    return replace(matchup, base=base)


def harden(
    matchup: Matchup[S],
    side: Side,
    cost: float | None = None,
    *,
    loss: float | None = None,
    gap: float = 1e-4,
    method: str | None = None,
    limits: Limits | None = None,
    stop: Stop = NEVER,
    progress: Callable[[HardenProgress], None] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Hardened:
    """The mix over the menus of `side` that leaves a preparer least, certified by exact best responses.

    `cost` is the preparer's price of a memorized history; `loss` limits what the mix may give away
    against one who does not prepare. Growing and solving take turns: a preparer's history is expanded
    where, against the present mix, going on might pay, until its best response is certain within `gap`.
    """
    preparer = other(side)
    price = matchup.cost(preparer, cost)
    check_cost(price)
    if loss is not None and not loss >= 0.0:
        raise InputError(f"loss {loss}; expected a number of at least 0")
    menus = matchup.menus[side - 1]
    if menus is None:
        raise InputError(
            f"side {matchup.sides[side - 1]} has no moves to choose among; give --choose K, or in a "
            'tabular game "menu": true'
        )
    limits = limits or Limits()
    clock = stop if limits.seconds is None else stop.until(time.monotonic() + limits.seconds)
    growth = Hiding(
        matchup.game,
        side,
        matchup.base,
        matchup.prep[preparer - 1],
        menus,
        matchup.counted_at(price),
        clock,
    )
    at, y, ending = growth.hideout(), np.ones(1), "complete"
    found = solve(at, price, loss, gap / 4.0, method)
    while True:
        y = found.y
        hope, upper = _hopes(at, y, price)
        if progress is not None:
            progress(HardenProgress(len(growth), found.lower, upper, growth.questions))
        wanted = np.zeros(0, dtype=np.int64)
        if upper - found.lower > gap:
            if not hope.any():  # this mix holds; look where another might be better
                hope = _hopes(at, found.rival, price)[0]
            wanted = np.flatnonzero(hope > 0.0)
        if not len(wanted):  # the mix is as good as asked; is it better than every softmax for sure?
            wanted = _behind(at, price, upper)
        if not len(wanted):
            break
        if limits.histories is not None and len(growth) >= limits.histories:
            ending = "histories"
            break
        if clock.asked:
            ending = clock.reason
            break
        most = max(WIDTH, len(growth) // 4)
        wanted = wanted[np.argsort(-hope[wanted], kind="stable")][:most]
        try:
            growth.expand(wanted.tolist())
        except KeyboardInterrupt:
            ending = clock.reason
            break
        at = growth.hideout()
        found = solve(at, price, loss, gap / 4.0, method)
    return _told(matchup, growth, at, found.y, side, price, found.lower, found.method, ending, provenance)


def _hopes(at: Hideout, y: Floats, cost: float) -> tuple[Floats, float]:
    """[n] what going on from open histories may add for the preparer, and the most that it nets then."""
    hope = np.zeros(len(at.parent))
    stay = np.zeros(len(at.parent), dtype=np.bool_)
    return hope, passes.respond(at, passes.reaches(at, False), y, cost, True, stay, hope)


def _nets(at: Hideout, y: Floats, cost: float) -> tuple[float, Bools]:
    """What the best book of this hideout nets, and which histories it holds."""
    stay = np.zeros(len(at.parent), dtype=np.bool_)
    reach = passes.reaches(at, False)
    return passes.respond(at, reach, y, cost, False, stay, np.zeros(len(at.parent))), stay


def _temperatures(at: Hideout) -> list[float]:
    """The randomness values to compare with: none, and the grid in the menus' own scale."""
    above = np.maximum(at.parent, 0)
    others = (at.kind[above] == HIDES) & (at.parent >= 0) & ~at.lead
    lead = np.zeros(len(at.parent))
    leads = np.flatnonzero(at.lead)
    lead[at.parent[leads]] = at.opinion[leads]
    behind = lead[above[others]] - at.opinion[others]
    scale = float(np.mean(np.abs(behind))) if len(behind) else 0.0
    return [0.0, *(_round(scale * part) for part in GRID)] if scale > 0.0 else [0.0]


def _round(number: float) -> float:
    """Two digits are enough for a randomness."""
    return float(f"{number:.2g}")


def _softmax_plan(at: Hideout, randomness: float) -> Floats:
    mix = np.ones(len(at.parent))
    for k in np.flatnonzero(at.kind == HIDES).tolist():
        below = slice(int(at.first[k]), int(at.first[k] + at.children[k]))
        mix[below] = softmax(at.opinion[below].tolist(), randomness)
    return passes.plan(at, mix)


def _behind(at: Hideout, cost: float, upper: float) -> Any:
    """Where to grow so that the preparer's gain against some softmax is known to be above `upper`."""
    for randomness in _temperatures(at):
        y = _softmax_plan(at, randomness)
        if _nets(at, y, cost)[0] < upper:
            hope = _hopes(at, y, cost)[0]
            if hope.any():
                return np.flatnonzero(hope > 0.0)
    return np.zeros(0, dtype=np.int64)


def _told(
    matchup: Matchup[S],
    growth: Hiding[S],
    at: Hideout,
    y: Floats,
    side: Side,
    cost: float,
    lower: float,
    method: str,
    ending: Any,
    provenance: Mapping[str, Any] | None,
) -> Hardened:
    value, stay = _nets(at, y, cost)
    upper = _hopes(at, y, cost)[1]
    compared = []
    for randomness in _temperatures(at):
        other_y = _softmax_plan(at, randomness)
        compared.append(Softmax(randomness, _nets(at, other_y, cost)[0], given_away(at, other_y)))
    policy, entries = _policy(growth, at, y)
    reach = passes.reaches(at, False) * y
    first = _first_own(at)
    unprepared = float((reach * np.where(first, at.value, 0.0)).sum())
    book = _best_book(growth, at, reach, stay)
    preparer = other(side)
    start = matchup.notation.start if matchup.notation else ""
    chess960 = matchup.notation is not None and matchup.notation.chess960
    paid = cost * len(book)
    theirs = Book(
        preparer,
        matchup.scored(preparer, book),
        baseline=unprepared,
        value=value + paid,
        cost=cost,
        upper=upper,
        unprepared=unprepared,
        start=start,
        chess960=chess960,
        provenance=dict(provenance or {}),
    )
    mine = replace(
        theirs,
        side=side,
        entries=tuple(entries),
        baseline=1.0 - unprepared,
        unprepared=1.0 - unprepared,
        value=1.0 - theirs.value,
        cost=0.0,
        upper=1.0 - theirs.value,
    )
    return Hardened(
        side=side,
        cost=cost,
        value=value,
        lower=min(lower, value),
        upper=upper,
        loss=given_away(at, y),
        unprepared=unprepared,
        softmax=tuple(compared),
        method=method,
        ending=ending,
        histories=len(growth),
        questions=growth.questions,
        policy=policy,
        books=(mine, theirs) if side == 1 else (theirs, mine),
    )


def _first_own(at: Hideout) -> Bools:
    """[n] where an unprepared preparer is valued: its first own histories, and games that end before."""
    n = len(at.parent)
    before = np.zeros(n, dtype=np.bool_)
    for k in range(1, n):
        above = at.parent[k]
        before[k] = before[above] or at.kind[above] == OWN
    found: Bools = ~before & ((at.children == 0) | (at.kind == OWN))
    return found


def _policy(
    growth: Hiding[S], at: Hideout, y: Floats
) -> tuple[dict[tuple[str, ...], Distribution], list[Entry]]:
    """The mix by history where the hider comes, the likeliest moves first, and as entries of a book."""
    mix, met = passes.mixed(at, y), passes.reaches(at, False) * y
    policy: dict[tuple[str, ...], Distribution] = {}
    entries = []
    for k in np.flatnonzero((at.kind == HIDES) & (y > LEAST)).tolist():
        below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
        shares = {growth.names[c]: float(mix[c]) for c in below if mix[c] > LEAST}
        total = math.fsum(shares.values())
        moves = {a: p / total for a, p in sorted(shares.items(), key=lambda item: -item[1])}
        history = growth.history(k)
        policy[history] = moves
        entries.append(Entry(history, moves, min(1.0, float(met[k])), 0.0, 1.0 - _worth(at, k, mix)))
    return policy, sorted(entries, key=lambda entry: len(entry.history))


def _worth(at: Hideout, k: int, mix: Floats) -> float:
    """The preparer's value at a history of the hider, who plays the mix, at the next own histories."""
    if not math.isnan(at.value[k]):
        return float(at.value[k])
    below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
    kind = at.kind[k]
    return math.fsum((mix[c] if kind == HIDES else at.share[c]) * _worth(at, c, mix) for c in below)


def _best_book(growth: Hiding[S], at: Hideout, reach: Floats, stay: Bools) -> list[Entry]:
    """The preparer's best book, with gains that add up (fact 1)."""
    entries = []
    for k in np.flatnonzero(stay).tolist():
        below = range(int(at.first[k]), int(at.first[k] + at.children[k]))
        moves = {growth.names[c]: float(at.share[c]) for c in below}
        after, stack = 0.0, list(below)
        while stack:
            c = stack.pop()
            if at.children[c] == 0 or at.kind[c] == OWN:
                after += float(reach[c] * at.value[c])
            else:
                stack.extend(range(int(at.first[c]), int(at.first[c] + at.children[c])))
        gain = after - float(reach[k] * at.value[k])
        met, value = float(reach[k]), float(at.value[k])
        entries.append(Entry(growth.history(k), moves, met, gain, value))
    return sorted(entries, key=lambda entry: len(entry.history))


def against_choice(
    matchup: Matchup[S], hardened: Hardened, limits: Limits | None = None, stop: Stop = NEVER
) -> tuple[float, float] | None:
    """What a preparer who also chooses its moves nets against the mix, and at most; None: no menus."""
    preparer = other(hardened.side)
    if matchup.menus[preparer - 1] is None or stop.asked:
        return None
    meets = played_by(matchup, hardened.side, hardened.policy)
    found = prepare(meets, preparer, hardened.cost, limits=limits, stop=stop).response
    return found.net, found.upper
