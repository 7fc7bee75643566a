"""The matchup itself: plain data that growth and solvers can work with."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol

from preplay.accounts import People
from preplay.arguments import check_made, is_number, shown
from preplay.book import KnownMoves
from preplay.errors import GameError, InputError
from preplay.game import Game, S, Side
from preplay.growth.goals import Limits
from preplay.policy import Choices, Menus, Policy, ahead_of
from preplay.text import harmless
from preplay.value import Evaluator

if TYPE_CHECKING:
    from preplay.book import Entry
    from preplay.judging import Judge
    from preplay.logistic import Curve
    from preplay.sampling.adaptive import AdaptiveRollouts
    from preplay.sampling.replaying import Memory
    from preplay.sampling.timeshare import TimeShare
    from preplay.stopping import Stop


@dataclass(frozen=True)
class Deciding(Generic[S]):
    """Playouts that choose a book: they go on where they could change it (Theorem 3, adaptive)."""

    rollouts: AdaptiveRollouts[S]
    epsilon: float
    """The chosen book is this near to the best one."""
    most: int | None = None
    """At most so many playouts; None: as many as that takes."""


@dataclass(frozen=True)
class Sampling(Generic[S]):
    """v(h) comes from games that are played out."""

    at: Callable[[float], Evaluator[S]]
    """For books at a price: a fixed number of playouts a history, so that all radii hold together."""
    deciding: Deciding[S] | None = None
    """How a single book is chosen with fewer; None: by the values that `at` gives."""


@dataclass(frozen=True)
class Clock(Generic[S]):
    """Time is part of the game. No score tells what saved time is worth: v(h) is a first guess, trusted
    as far as playouts do not contradict it, and fresh games say what the chosen book earns."""

    deciding: Deciding[S]
    replay: Callable[[Side, Memory, Stop, Callable[[int], None] | None], TimeShare]
    """Plays a chosen book afresh: what it earns, and how."""


class Calibration(Protocol):
    """A curve from scores to results, through games of the two sides. Once asked for, it stands."""

    def curve(self, stop: Stop = ..., tell: Callable[[str], None] | None = None) -> Curve:
        """The curve; games that are missing are played first, as far as there is time."""
        ...

    @property
    def whole(self) -> bool:
        """Whether all games that were wanted are behind the curve."""
        ...


@dataclass(frozen=True)
class Notation:
    """How people write a game, and in chess where it begins."""

    write: Callable[[Sequence[str], str | None], str]
    """A history, or a move after it."""
    start: str = ""
    """The FEN of the first position; empty for the usual one, and where there are no boards."""
    chess960: bool = False


@dataclass(frozen=True)
class Engines:
    """The outside programs that answer."""

    searches: Callable[[], int]
    """How many searches were made so far."""
    telling: Callable[[], str]
    """What they have done so far, for the progress line."""
    scores: Callable[[Side, Sequence[Sequence[str]]], list[int]]
    """What the engine of a side's preparation says of own histories, in centipawns for the side."""


@dataclass(frozen=True)
class Matchup(Generic[S]):
    """Who meets whom, and what each would play at the board and after long study."""

    name: str
    game: Game[S]
    base: tuple[Policy[S], Policy[S]]
    """What each side plays at the board."""
    prep: tuple[Policy[S], Policy[S]]
    """What each side would play after long study."""
    value: Evaluator[S]
    """v(h) of base against base."""
    judge: Judge[S] | None = None
    """Second opinions about `value`, asked where a choice rests on it."""
    calibration: Calibration | None = None
    """Games that say what a score is worth to the two sides, where `value` rests on them."""
    scores: Literal["results", "model"] = "results"
    """What values are: expected results, or scores of a model that no games bear out."""
    menus: tuple[Menus[S] | None, Menus[S] | None] = (None, None)
    """What each side's book may play instead of prep's first choice; None: prep, always."""
    deviations: tuple[int | None, int | None] = (None, None)
    """How many moves of a line may then be others than the first choice; None: any number."""
    position: Callable[[S], Hashable] | None = None
    """What memory is paid for: histories of one key once; None: each history is paid for."""
    known: tuple[KnownMoves | None, KnownMoves | None] = (None, None)
    """What each side knows already, if it does: `game` then plays it by itself, as chance does."""
    sampling: Sampling[S] | None = None
    """Where `value` comes from games."""
    clock: Clock[S] | None = None
    """Where time is part of the game."""
    costs: tuple[float | None, float | None] = (None, None)
    """Default price of a memorized history for each side."""
    sides: tuple[str, str] = ("1", "2")
    """What the sides are called."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Everything that determines results, as JSON data: the identity of a run."""
    fingerprint: Callable[[], str] | None = None
    """What tells the matchup from others where `config` does not: asked for when a run is kept."""
    enumerable: bool = False
    """Whether the whole game may be grown, so that no cost is needed to bound it."""
    window: int = 64
    """How many questions growth keeps under way."""
    busy: int = 0
    """How many it takes to keep all engines busy, where that is more."""
    negligible: float = 0.0
    """Histories rarer than this are not asked about; what they could change is in the bounds."""
    people: tuple[People[S] | None, People[S] | None] = (None, None)
    """What is known of the people on each side, where a side is one."""
    notation: Notation | None = None
    """How people write it; None: by the names of the actions."""
    engines: Engines | None = None
    """Who answers, where engines do."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Engines and libraries that made the answers."""

    def limits(self, given: Limits | None = None) -> Limits:
        """Limits of growth, with what belongs to the matchup.

        Where histories or a gap cut growth short, what is grown depends on how many questions are under
        way: then it is the same number for any number of engines. Whoever works ahead is always told of
        that many; others are asked in rounds.
        """
        limits = Limits() if given is None else given
        cut = limits.histories is not None or limits.gap > 0.0
        window = self.window if cut else max(self.window, self.busy)
        ahead = any(ahead_of(each) is not None for each in (*self.base, *self.prep, self.value))
        refill = window - 1 if ahead else 0
        return replace(limits, window=window, refill=refill, negligible=self.negligible)

    def choices(self, side: Side) -> Choices[S] | None:
        """What a side's book may choose from; None: it plays prep."""
        menus = self.menus[side - 1]
        return None if menus is None else Choices(menus, self.deviations[side - 1])

    @property
    def identity(self) -> dict[str, Any]:
        """What a run is told apart by."""
        more = {} if self.fingerprint is None else {"fingerprint": self.fingerprint()}
        return {**self.config, **more}

    def side(self, text: str) -> Side:
        """The side that a user means by a name."""
        return side_named(text, self.sides)

    @property
    def deciding(self) -> Deciding[S] | None:
        """The playouts that choose a book, where they do."""
        part = self.sampling if self.clock is None else self.clock
        return None if part is None else part.deciding

    def afresh(self) -> Matchup[S]:
        """The same matchup before any playouts that choose: no choice depends on earlier ones."""
        deciding = self.deciding
        if deciding is None:
            return self
        again = replace(deciding, rollouts=deciding.rollouts.afresh())
        value = again.rollouts if self.value is deciding.rollouts else self.value
        if self.clock is not None:
            return replace(self, value=value, clock=replace(self.clock, deciding=again))
        assert self.sampling is not None
        return replace(self, value=value, sampling=replace(self.sampling, deciding=again))

    @property
    def guessing(self) -> bool:
        """Whether `value` is a first guess only, which says nothing about how far it is wrong."""
        return self.clock is not None

    @property
    def counted(self) -> Evaluator[S]:
        """The values that a chosen book's promise rests on: the judge's, where there is one."""
        return self.value if self.judge is None else self.judge.value

    def counted_at(self, price: float) -> Evaluator[S]:
        """The same for books at a price: v(h) wherever it counts, whatever else was looked at."""
        return self.value_at(price) if self.judge is None else self.judge.value

    def searches(self) -> int:
        """Engine searches made so far; 0 where no engines are."""
        return 0 if self.engines is None else self.engines.searches()

    @property
    def telling(self) -> Callable[[], str] | None:
        """What the engines have done so far, for the progress line."""
        return None if self.engines is None else self.engines.telling

    def label(self, side: Side) -> str | int:
        """What a side is called in results: a number, or a colour in chess."""
        return label_of(self.sides[side - 1])

    @property
    def is_chess(self) -> bool:
        """Whether it is chess, which engines play here, whatever the sides are called."""
        return self.engines is not None

    def cost(self, side: Side, given: float | None) -> float:
        """The price to use: the one given, else the matchup's own."""
        cost = given if given is not None else self.costs[side - 1]
        if cost is None:
            raise InputError(
                f"no cost for side {self.sides[side - 1]}; expected one, given or in the matchup"
            )
        return float(cost) if is_number(cost) else cost

    def value_at(self, price: float) -> Evaluator[S]:
        """v(h) for books at a price, which says how many histories may matter (Theorem 3)."""
        return self.value if self.sampling is None or not price > 0.0 else self.sampling.at(price)

    def scored(self, side: Side, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """The entries of a side's book with what the preparation's engine says, where there is one."""
        if self.engines is None:
            return tuple(entries)
        scores = self.engines.scores(side, [entry.history for entry in entries])
        return tuple(replace(e, score=score) for e, score in zip(entries, scores, strict=True))

    @property
    def write(self) -> Callable[[Sequence[str], str | None], str] | None:
        """Writes a history, or a move after it, as people read it; None: by the names of the actions."""
        return None if self.notation is None else self.notation.write

    def write_line(self, history: Sequence[str]) -> str:
        """A history as people read it."""
        return self._written(" ".join(history), history, None)

    def write_move(self, history: Sequence[str], move: str) -> str:
        """A move after a history as people read it."""
        return self._written(move, history, move)

    def _written(self, plain: str, history: Sequence[str], move: str | None) -> str:
        if self.write is None:
            return harmless(plain)
        written = self.write(history, move)
        if not isinstance(written, str):
            raise GameError(f"history {list(history)}: write gives {shown(written)}; expected text")
        return harmless(written)


def check_matchup(matchup: object) -> None:
    """Raise InputError for what is no matchup, as its name where it has to be open."""
    check_made("matchup", matchup, Matchup, "as make_matchup gives, or open_matchup in a `with`")


def check_by_history(matchup: Matchup[Any], what: str) -> None:
    """Raise InputError for memory by position where each history is paid for."""
    if matchup.position is not None:
        raise InputError(
            f'memory = "positions" has no effect on {what}: each history counts there; '
            'expected "histories", from Python no position'
        )


def label_of(name: str) -> str | int:
    """What a side of this name is called in results: a number, or as it is, like a colour in chess."""
    return int(name) if name.isascii() and name.isdecimal() else name


def side_named(text: str, sides: tuple[str, str]) -> Side:
    """The side that a user means: by its number, or by its name in this game."""
    if text in ("1", sides[0]):
        return 1
    if text in ("2", sides[1]):
        return 2
    raise InputError(f"side {shown(text)}; expected {sides[0]} or {sides[1]}")
