"""What to grow towards, when to stop, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from preplay.arguments import check_number, check_share, check_whole
from preplay.errors import InputError
from preplay.tree import Tree

Ending = Literal["complete", "histories", "seconds", "gap", "interrupted"]


@runtime_checkable
class Goal(Protocol):
    """Which own histories are worth expanding."""

    @property
    def cost(self) -> float:
        """What each memorized history costs in the bounds."""
        ...

    @property
    def price(self) -> float:
        """The least cost at which the grown tree holds all that a book could use; inf: at none."""
        ...

    @property
    def certain(self) -> bool:
        """Whether histories that cannot pay may be dropped (else only `potential` decides)."""
        ...

    @property
    def limited(self) -> bool:
        """Whether books have a limited size: an option that is worse without a limit may then be best."""
        ...

    @property
    def position(self) -> Callable[[Any], Hashable] | None:
        """What memory is paid for: histories of one key are paid once; None: each is paid for."""
        ...

    def potential(self, reach: float, low: float) -> float:
        """How much expanding may add, given the reach and the least value; 0 or less: a leaf."""
        ...


def check_goal(goal: Goal) -> None:
    """Raise InputError for what is no goal, and for costs by which nothing can be compared."""
    if isinstance(goal, type) or not isinstance(goal, Goal):
        raise InputError(f"goal {goal!r}; expected one as Pays(0.001)")
    check_prices(goal.cost)


def check_prices(*costs: float) -> None:
    """Raise InputError unless all costs are numbers of at least 0."""
    for cost in costs:
        check_number("cost", cost)


@dataclass(frozen=True)
class Pays:
    """Expand while memorizing might pay: π(h)(1 - v(h)) > λ. Cost 0 grows all that can gain."""

    cost: float
    certain: bool = True
    limited: bool = field(default=False, repr=False)
    position: Callable[[Any], Hashable] | None = field(default=None, repr=False)

    @property
    def price(self) -> float:
        """Books at this cost and above are certain."""
        return self.cost

    def potential(self, reach: float, low: float) -> float:
        """Fact 2: a subtree gains at most π(1 - v) and costs at least λ."""
        return reach * (1.0 - low) - self.cost


@dataclass(frozen=True)
class Lemma1:
    """Expand all histories with reach at least λ: the paper's bounding tree, kept for comparison."""

    cost: float
    certain: bool = False
    limited: bool = field(default=False, repr=False)
    position: Callable[[Any], Hashable] | None = field(default=None, repr=False)

    @property
    def price(self) -> float:
        """Books at this cost and above are certain."""
        return self.cost

    def potential(self, reach: float, low: float) -> float:
        """Lemma 1: a history of reach below λ cannot pay for itself."""
        return reach if reach >= self.cost else 0.0


@dataclass(frozen=True)
class Advantage:
    """Expand until the side first has an advantage of at least `least` (Theorem 1)."""

    least: float
    cost: float = 0.0
    certain: bool = False
    limited: bool = field(default=False, repr=False)
    position: Callable[[Any], Hashable] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_share("least", self.least)

    @property
    def price(self) -> float:
        """The tree ends where the advantage is there: it says nothing about best books."""
        return math.inf

    def potential(self, reach: float, low: float) -> float:
        """All of the reach while the advantage is not there."""
        return reach if low < self.least else 0.0


@dataclass(frozen=True)
class Limits:
    """When to stop before everything is grown."""

    histories: int | None = None
    seconds: float | None = None
    gap: float = 0.0
    """Stop when the certified upper bound is this near to the best net found."""
    negligible: float = 0.0
    """Histories reached no oftener than this stay leaves of unknown value, 0.5 ± 0.5."""
    window: int = 64
    """Questions under way at once; part of the result's identity when growth is cut short."""
    refill: int = 0
    """More is asked when at most so many are left. With 0 they are asked in rounds, which takes least
    time; with window - 1 each answer is followed by a question, which keeps those busy who work ahead."""

    def __post_init__(self) -> None:
        if self.histories is not None:
            check_whole("histories", self.histories, 1)
        if self.seconds is not None:
            check_number("seconds", self.seconds)
        check_number("gap", self.gap)
        check_number("negligible", self.negligible)
        check_whole("window", self.window, 1)
        check_whole("refill", self.refill)


@dataclass(frozen=True)
class GrowthProgress:
    """A snapshot for a live line."""

    histories: int
    waiting: int
    low: float
    up: float
    seconds: float
    questions: int

    def __str__(self) -> str:
        rate = self.questions / self.seconds if self.seconds > 0.0 else 0.0
        parts = [f"{self.histories:,} histories", f"{rate:,.0f}/s"]
        if not math.isnan(self.up):
            parts += [f"net {self.low:.4f}", f"upper {self.up:.4f}"]
        # At least what the questions already known take; more may come up.
        left = f"at least {self.waiting / rate:.0f} s left" if rate > 0.0 else f"{self.waiting} waiting"
        return "  ".join([*parts, f"{self.seconds:.0f} s, {left}"])


@dataclass(frozen=True)
class Grown:
    """A grown tree and how its growth ended."""

    tree: Tree
    ending: Ending
    histories: int
    """Histories met, those later dropped included."""
    questions: int
    """Policy and value questions asked."""
    values: int
    """Value questions among them."""
    seconds: float
