"""The matchup itself: plain data that growth and solvers can work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic

from preplay.errors import InputError
from preplay.game import Game, S, Side
from preplay.policy import Policy
from preplay.value import Evaluator

if TYPE_CHECKING:
    from preplay.book import Entry
    from preplay.sampling.adaptive import AdaptiveRollouts
    from preplay.sampling.timeshare import Memory, TimeShare
    from preplay.stopping import Stop


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
    valuing: Callable[[float], Evaluator[S]] | None = None
    """Where `value` samples: the same by a fixed number of playouts a history, enough for books at a
    price that all radii hold together (Theorem 3)."""
    costs: tuple[float | None, float | None] = (None, None)
    """Default price of a memorized history for each side."""
    sides: tuple[str, str] = ("1", "2")
    """What the sides are called."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Everything that determines results, as JSON data: the identity of a run."""
    enumerable: bool = False
    """Whether the whole game may be grown, so that no cost is needed to bound it."""
    window: int = 64
    """How many questions growth keeps under way."""
    negligible: float = 0.0
    """Histories rarer than this are not asked about; what they could change is in the bounds."""
    sampling: tuple[AdaptiveRollouts[S], float] | None = None
    """Adaptive roll-outs and their ε, where `value` samples."""
    playouts: int | None = None
    """At most so many playouts choose a book."""
    guessing: bool = False
    """Whether `value` is a first guess, to be trusted as far as playouts do not contradict it."""
    replay: Callable[[Side, Memory, Stop, Callable[[int], None] | None], TimeShare] | None = None
    """Plays a chosen book afresh, where time is part of the game: what it earns, and how."""
    counting: Callable[[], int] | None = None
    """How many engine searches were made so far."""
    telling: Callable[[], str] | None = None
    """What the engines have done so far, for the progress line."""
    notation: Callable[[Sequence[str], str | None], str] | None = None
    """Writes a history, or a move after it, as people read it."""
    scoring: Callable[[Side, Sequence[Sequence[str]]], list[int]] | None = None
    """What the engine of a side's preparation says of own histories, in centipawns for the side."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Engines and libraries that made the answers."""

    def side(self, text: str) -> Side:
        """The side that a user means by a name."""
        return side_named(text, self.sides)

    def searches(self) -> int:
        """Engine searches made so far; 0 where no engines are."""
        return 0 if self.counting is None else self.counting()

    def label(self, side: Side) -> str | int:
        """What a side is called in results: a number, or a colour in chess."""
        name = self.sides[side - 1]
        return int(name) if name.isdigit() else name

    def cost(self, side: Side, given: float | None) -> float:
        """The price to use: the one given, else the matchup's own."""
        cost = given if given is not None else self.costs[side - 1]
        if cost is None:
            raise InputError(
                f"no cost for side {self.sides[side - 1]}; give --cost or set it in the matchup"
            )
        return cost

    def value_at(self, price: float) -> Evaluator[S]:
        """v(h) for books at a price, which says how many histories may matter (Theorem 3)."""
        return self.value if self.valuing is None or not price > 0.0 else self.valuing(price)

    def scored(self, side: Side, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """The entries of a side's book with what the preparation's engine says, where there is one."""
        if self.scoring is None:
            return tuple(entries)
        scores = self.scoring(side, [entry.history for entry in entries])
        return tuple(replace(e, score=score) for e, score in zip(entries, scores, strict=True))

    def write_line(self, history: Sequence[str]) -> str:
        """A history as people read it."""
        return " ".join(history) if self.notation is None else self.notation(history, None)

    def write_move(self, history: Sequence[str], move: str) -> str:
        """A move after a history as people read it."""
        return move if self.notation is None else self.notation(history, move)


def side_named(text: str, sides: tuple[str, str]) -> Side:
    """The side that a user means: by its number, or by its name in this game."""
    if text in ("1", sides[0]):
        return 1
    if text in ("2", sides[1]):
        return 2
    raise InputError(f"side '{text}'; expected {sides[0]} or {sides[1]}")
