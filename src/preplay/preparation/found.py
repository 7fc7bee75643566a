"""What a preparation comes to: a best book, or all of them by cost, with the tree they were chosen on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from preplay import choice, response
from preplay.game import FINAL, Side
from preplay.growth import Grown
from preplay.growth.goals import Ending
from preplay.judging import CONFIDENT, Judged
from preplay.logistic import Curve
from preplay.response import BestBook, Frontier
from preplay.sampling.timeshare import TimeShare
from preplay.tree import Ints, Tree


@dataclass(frozen=True)
class Refused:
    """A book that was chosen, and that fresh games did not bear out."""

    size: int
    price: float
    """What its memory costs."""
    clock: TimeShare
    """What the games said."""

    def __str__(self) -> str:
        won = f"{self.clock.gain.mean:+.4g} ± {self.clock.gain.error:.2g}"
        return f"fresh games did not bear it out: {won} for memory that costs {self.price:.4g}"


@dataclass(frozen=True)
class Fixed:
    """What the book of first choices is worth, where books may choose."""

    value: float
    net: float
    """Value less the price of the memory."""
    size: int
    ending: Ending
    """What ended the work on it: `complete`, or the limit that cut it short."""
    played: bool = False
    """Whether it is the result, because no book that was found by choosing is better."""

    def __str__(self) -> str:
        memory = "nothing memorized" if not self.size else f"{self.size:,} memorized"
        cut = "" if self.ending == "complete" else f" (stopped by {self.ending})"
        told = f"value {self.value:.6g}, net {self.net:.6g}, {memory}{cut}"
        return f"{told}; no choice that was found is better, so this is the book" if self.played else told


@dataclass(frozen=True, eq=False)
class Prepared:
    """A best book with the tree it was chosen on."""

    side: Side
    grown: Grown
    response: BestBook
    played: TimeShare | None = None
    """What fresh games with the book said, where time is part of the game."""
    refused: Refused | None = None
    """The book that these games spoke against; the empty one is then the result."""
    judged: Judged | None = None
    """What second opinions said of the values, where there is a judge."""
    curve: Curve | None = None
    """What a score is worth to the two sides, where values are calibrated."""
    choice: choice.Choice | None = None
    """How the moves were chosen, where there are menus; `grown` has the tree with its moves fixed."""
    fixed: Fixed | None = None
    """What the book of first choices is worth by the same values, where this one may choose."""
    narrow: bool = False
    """Whether it was chosen in a class of fewer deviations than was asked for, and the larger one was not
    looked through: what else it could have played may then be worth more than its options say."""
    short: bool = False
    """Whether a larger tree is needed by the values in use: a budget has places left, which a lower price
    might fill, or the bound is further away than was asked for."""

    @property
    def tree(self) -> Tree:
        """The tree the book was chosen on."""
        return self.grown.tree

    @property
    def stale(self) -> bool:
        """Whether what growth gave up or left out may be best by the values in use."""
        return self.short or (self.choice is not None and self.choice.stale)

    @property
    def book(self) -> Ints:
        """The memorized histories as indices of the tree."""
        return self.response.nodes

    @property
    def cost(self) -> float:
        """The price that the tree was grown for; with a budget alone the book's own is 0."""
        return self.tree.prices[self.side - 1]

    @property
    def value(self) -> float:
        """What the book promises, costs not subtracted."""
        return self.response.value

    @property
    def net(self) -> float:
        """The same, less the price of the memory."""
        return self.response.net


@dataclass(frozen=True, eq=False)
class Explored:
    """Every optimal trade-off between memory and value, with the tree it was found on."""

    side: Side
    grown: Grown
    frontier: Frontier
    cost: float
    """The least cost that was looked at."""
    judged: Judged | None = None
    """What second opinions said of the largest book, where there is a judge."""
    curve: Curve | None = None
    """What a score is worth to the two sides, where values are calibrated."""
    choice: choice.Choice | None = None
    """How the moves were chosen, where there are menus: for the least cost."""

    @property
    def error(self) -> float:
        """How far judge and calibration may be off at the largest book."""
        scale = (
            0.0 if self.curve is None else curve_error(self.curve, self.grown.tree, self.side, self.book)
        )
        return math.hypot(self.judged.error if self.judged else 0.0, scale)

    @property
    def stale(self) -> bool:
        """Whether an option that growth gave up may be best by the values in use."""
        return self.choice is not None and self.choice.stale

    @property
    def book(self) -> Ints:
        """The largest book: all others are beginnings of it."""
        return self.frontier.order

    @property
    def value(self) -> float:
        """What the largest book promises."""
        return float(self.frontier.value[-1]) if len(self.frontier.value) else self.frontier.unprepared

    @property
    def net(self) -> float:
        """The same, less the price of its memory at the least cost."""
        return self.largest.response.net

    @property
    def largest(self) -> Prepared:
        """The largest book as the best one for the least cost."""
        best = self.choice.best if self.choice else None
        if best is None:
            best = response.best_known(self.grown.tree, self.side, self.cost)
        return Prepared(self.side, self.grown, best, choice=self.choice)


def curve_error(curve: Curve, tree: Tree, side: Side, book: Ints) -> float:
    """How far the error of a calibration can move what a book earns, with 95 % confidence."""
    ends = response.exits(tree, side, book)
    ends = ends[tree.player[ends] != FINAL]
    reach = response.reach(tree, side)[ends]
    lengths = [len(tree.history(int(k))) for k in ends]
    return CONFIDENT * curve.error(tree.value[ends].tolist(), reach.tolist(), lengths)
