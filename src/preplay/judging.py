"""Second opinions about values: judge what a choice rests on, and choose again.

Cheap values are noisy, and a best book is drawn to the noise. So what the chosen book rests on is valued
again by a *judge*, these values are put in place, and the book is chosen again, until it rests on judged
values alone (fact 8 of docs/model.md). Only few histories are ever judged. The book is best by the values
in use, and a fresh search that took no part in the choice says what it is worth. Where cheap values are
*doubted*, what would be best if they were too low is judged as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from preplay import response
from preplay.arguments import check_number
from preplay.game import Game, S, Side, walk
from preplay.growth import Grown
from preplay.growth.goals import Ending
from preplay.policy import REST, Ahead, ahead_of, check_answers
from preplay.stopping import NEVER, Stop
from preplay.tree import Floats, Ints, Tree
from preplay.value import Evaluator, Value, check_evaluator

CONFIDENT = 1.96
"""Standard errors in a 95 % interval."""
CUT = ("seconds", "interrupted")
"""Endings of a growth that ran out of time."""
History = tuple[str, ...]


@dataclass(frozen=True)
class Judge(Generic[S]):
    """Who gives second opinions."""

    value: Evaluator[S]
    """Counts in the choice."""
    fresh: Evaluator[S]
    """Says what the final choice is worth, and takes no part in it."""
    doubt: float = 0.0
    """How much too low for the side that chooses a first value may be: what would be best then is judged
    too, so that a line which the first values underrate is found."""

    def __post_init__(self) -> None:
        check_evaluator(self.value, "a judge's value")
        check_evaluator(self.fresh, "a judge's fresh")
        check_number("doubt", self.doubt, finite=True)


@dataclass(frozen=True)
class Opinions(Generic[S]):
    """v(h) as the judge said where it was asked, elsewhere as the first evaluator says."""

    game: Game[S]
    first: Evaluator[S]
    judged: Mapping[History, Value] = field(default_factory=dict)

    def ahead(self) -> Ahead[S] | None:
        """As the first evaluator, about what the judge has not valued."""
        inside = ahead_of(self.first)
        return None if inside is None else inside.of(self._unjudged)

    def values(self, states: Sequence[S]) -> list[Value]:
        """The value in use at each state."""
        known = [self.judged.get(self.game.history(state)) for state in states]
        rest = self._unjudged(states)
        asked = iter(self.first.values(rest) if rest else ())
        return [value if value is not None else next(asked) for value in known]

    def _unjudged(self, states: Sequence[S]) -> list[S]:
        return [state for state in states if self.game.history(state) not in self.judged]


@dataclass(frozen=True)
class Hopeful(Generic[S]):
    """The values of another evaluator, each so much better for a side."""

    inside: Evaluator[S]
    side: Side
    more: float

    def ahead(self) -> Ahead[S] | None:
        """As the one inside."""
        return ahead_of(self.inside)

    def values(self, states: Sequence[S]) -> list[Value]:
        """The value inside and so much more, at most a win."""
        better = self.more if self.side == 1 else -self.more
        return [
            Value(min(1.0, max(0.0, mean + better)), radius)
            for mean, radius in self.inside.values(states)
        ]


@dataclass(frozen=True)
class Judged:
    """What the judge made of a choice, from the point of view of the preparing side."""

    rounds: int
    """Choices that were judged, the last one included; of books that choose, those of fewer deviations,
    which are judged first, too."""
    searches: int
    """Histories that the judge valued in all these rounds."""
    before: float
    """What the first choice promised, by the first values alone."""
    after: float
    """What the last choice promises, by the values in use."""
    fresh: float | None = None
    """What the fresh values say of it; None where there was no time for them."""
    error: float = 0.0
    """How far judge and fresh values are apart: 95 % of what independent errors at the exits add up to,
    and at least the difference of the two promises."""
    left: int = 0
    """Histories that the choice rests on and the judge had no time for."""

    def lines(self) -> list[str]:
        """As a reader sees it."""
        told = [f"promised {self.before:.4g} by the first values, {self.after:.4g} by the judge's"]
        if self.fresh is not None:
            told.append(f"a fresh search says {self.fresh:.4g} (within {self.error:.2g})")
        else:
            told.append("there was no time for a fresh search")
        if self.left:
            told.append(f"not judged for want of time: {self.left:,} of the histories it rests on")
        return told


class JudgedChoice(Protocol):
    """A book chosen on a grown tree: a best book, or the largest one of a frontier."""

    @property
    def side(self) -> Side:
        """Who prepares."""
        ...

    @property
    def grown(self) -> Grown:
        """The growth it was chosen on."""
        ...

    @property
    def book(self) -> Ints:
        """The memorized histories as indices of the tree."""
        ...

    @property
    def cost(self) -> float:
        """The cost for which the tree was grown."""
        ...

    @property
    def value(self) -> float:
        """What it promises."""
        ...

    @property
    def net(self) -> float:
        """The same, less the price of the memory."""
        ...

    @property
    def stale(self) -> bool:
        """Whether growth gave up a move that may be best by the values in use."""
        ...


C = TypeVar("C", bound=JudgedChoice)


@dataclass(frozen=True, eq=False)
class Settled(Generic[C]):
    """A choice that rests on judged values, and all that the judge said."""

    choice: C
    judged: Judged
    known: Mapping[History, Value]


def settle(
    game: Game[S],
    first: Evaluator[S],
    judge: Judge[S],
    grow: Callable[[Evaluator[S], bool], C],
    again: Callable[[C, Grown], C],
    stop: Stop,
    tell: Callable[[str], None],
    known: Mapping[History, Value] | None = None,
) -> Settled[C]:
    """Choose and judge in turns until the choice rests on judged values; a stop leaves the best so far.

    `grow` grows a tree with the values given and chooses on it (it hears whether that is the first time);
    `again` chooses on the same tree with other values. A tree is grown again only where a value fell at
    the end of a line, or below a move that had beaten another: going on from there might pay now. `known`
    is what the judge said before, of another choice: it is not asked that again.

    Where first values are doubted, the same is done once with hopeful values, only for what the judge
    says then. If no first value is further below the judge's than the doubt, no book is better by the
    judge's values than the result.
    """
    said = dict(known or {})
    rounds = 0

    def turns(values: Evaluator[S], choice: C, placed: set[History], fell: bool) -> C:
        """Judge and choose until all is judged; `placed` is what the tree has of what was said.

        A tree that was cut short may hold less than the one before it: the best judged choice counts.
        """
        nonlocal rounds
        kept: C | None = None
        while True:
            while (missing := _unjudged(choice, placed)) and not stop.asked:
                new = {history: k for history, k in missing if history not in said}
                if new:
                    rounds += 1
                    tell(f"judging: round {rounds}, {len(new):,} histories")
                    said.update(zip(new, ask(game, judge.value, list(new), stop), strict=False))
                here = {k: said[history] for history, k in missing if history in said}
                placed.update(history for history, _ in missing if history in said)
                tree, reopened = _in_place(choice, here)
                choice = again(choice, replace(choice.grown, tree=tree))
                fell |= reopened or choice.stale
            if not fell or stop.asked:
                break
            fell = False
            kept = choice if kept is None or choice.net >= kept.net else kept
            choice = grow(Opinions(game, values, said), False)
            placed.clear()
            placed.update(said)
        if kept is None or not (stop.asked or choice.grown.ending in (*CUT, "histories")):
            return choice
        begun = choice.grown.tree.starts(choice.side)  # else there is no book, only the start's value
        if begun and choice.net >= kept.net and not _unjudged(choice, placed):
            return choice
        ending = stop.reason if stop.asked else choice.grown.ending
        tree, _ = _in_place(kept, _placed(kept.grown.tree, kept.side, said))
        return again(kept, replace(kept.grown, tree=tree, ending=ending))

    choice = grow(Opinions(game, first), True)
    before, placed = choice.value, set[History]()
    choice = turns(first, choice, placed, bool(said))
    cut: Ending | None = None
    if judge.doubt > 0.0 and not stop.asked:
        tell(f"looking where values may be up to {judge.doubt:g} too low")
        hopeful, heard = Hopeful(first, choice.side, judge.doubt), len(said)
        hoped = turns(hopeful, grow(Opinions(game, hopeful, said), False), set(said), False)
        if len(said) > heard:
            choice = turns(first, choice, placed, True)
        cut = hoped.grown.ending if hoped.grown.ending in CUT else None
    left = len(_unjudged(choice, placed))
    if left or (judge.doubt > 0.0 and stop.asked):
        cut = stop.reason
    if cut is not None:
        choice = again(choice, replace(choice.grown, ending=cut))
    return Settled(choice, Judged(rounds, len(said), before, choice.value, left=left), said)


def _unjudged(choice: JudgedChoice, known: Collection[History]) -> list[tuple[History, int]]:
    """What the choice rests on and nobody judged, likeliest first.

    These are the root, its exits and the empty book's; once all of them are judged, its own histories:
    with them every gain, and so the order in which to learn, is judged.
    """
    tree, side = choice.grown.tree, choice.side
    ends = response.exits(tree, side, choice.book)
    start = response.exits(tree, side, choice.book[:0])
    reach = response.reach(tree, side)
    for nodes in (np.concatenate((np.zeros(1, dtype=np.int32), ends, start)), choice.book):
        different = np.unique(nodes)
        ranked = different[np.lexsort((different, -reach[different]))]
        rows = [(_asked(tree, int(k)), int(k)) for k in ranked if _valued(tree, side, int(k))]
        if missing := [(history, k) for history, k in rows if history not in known]:
            return missing
    return []


def _valued(tree: Tree, side: Side, k: int) -> bool:
    """Whether v(h) stands at `k`, and was not left unknown because hardly anybody comes there."""
    here = k == 0 or tree.player[k] == side or tree.names[tree.action[k]] == REST
    return bool(here and (tree.open[k] or tree.radius[k] < 0.5))


def _asked(tree: Tree, k: int) -> History:
    """Where the value of `k` is asked: the rest of the opponent's moves is valued before them."""
    history = tree.history(k)
    return history[:-1] if history and history[-1] == REST else history


def _placed(tree: Tree, side: Side, said: Mapping[History, Value]) -> dict[int, Value]:
    """What the judge said, by the histories of a tree that are valued by it."""
    found = {}
    for history, value in said.items():
        for place in (history, (*history, REST)):
            k = tree.get(place)
            if k is not None and _valued(tree, side, k):
                found[k] = value
    return found


def _in_place(choice: JudgedChoice, values: Mapping[int, Value]) -> tuple[Tree, bool]:
    """The tree with these values, and whether it may have ended a line too early.

    A line ends where going on could not beat the value there. Where that value fell, it may: such a
    history is open again, so that the bound counts what could be below it. Where memory is by position,
    the price may be shared with other histories, so any fall will do.
    """
    tree, side = choice.grown.tree, choice.side
    value, radius, open = tree.value.copy(), tree.radius.copy(), tree.open.copy()
    reach, leaves = response.reach(tree, side), tree.leaves
    for k, new in values.items():
        old, mine = (x if side == 1 else 1.0 - x for x in (value[k], new.mean))
        if (
            tree.player[k] == side
            and leaves[k]
            and mine < old
            and reach[k] * (1.0 - mine + new.radius) > (choice.cost if tree.position is None else 0.0)
        ):
            open[k] = True
        value[k], radius[k] = new
    return replace(tree, value=value, radius=radius, open=open), bool((open & ~tree.open).any())


class Fresh(NamedTuple):
    """What a choice is worth by values that took no part in it."""

    value: float
    error: float
    """How far these values are from those that the choice was made with, as in `Judged`."""


def afresh(
    game: Game[S],
    fresh: Evaluator[S],
    choice: JudgedChoice,
    stop: Stop = NEVER,
    tell: Callable[[str], None] | None = None,
) -> Fresh | None:
    """Value the exits of a choice again; None where a stop comes first."""
    tree, side = choice.grown.tree, choice.side
    ends = [int(k) for k in response.exits(tree, side, choice.book) if _valued(tree, side, int(k))]
    if tell is not None:
        tell(f"a fresh value of {len(ends):,} exits")
    answers = ask(game, fresh, [_asked(tree, k) for k in ends], stop)
    if len(answers) < len(ends):
        return None
    value = tree.value.copy()
    value[ends] = [answer.mean for answer in answers]
    found = response.evaluate(replace(tree, value=value), side, choice.book)
    apart = response.reach(tree, side)[ends] * (value[ends] - tree.value[ends])
    return Fresh(found, error_of(found - choice.value, apart))


def error_of(moved: float, apart: Floats) -> float:
    """How far a value may be off (95 %) that a fresh search has moved: by so much in all, and by each of
    these parts."""
    return max(abs(moved), CONFIDENT * math.sqrt(float(np.square(apart).sum())))


def ask(game: Game[S], oracle: Evaluator[S], histories: Sequence[History], stop: Stop) -> list[Value]:
    """The values of histories, in their order; fewer where a stop comes first."""
    states = [walk(game, history) for history in histories]
    ahead = ahead_of(oracle)
    if ahead is None:
        told = oracle.values(states) if states else []
        check_answers(told, len(states))
        return list(told)
    ahead.prefetch(states)
    answers: list[Value] = []
    try:
        for state in states:
            if stop.asked:
                break
            with stop.interruptible():
                (answer,) = oracle.values([state])
            answers.append(answer)
    except KeyboardInterrupt:
        if not stop.asked:
            raise
    ahead.cancel(states[len(answers) :])
    return answers
