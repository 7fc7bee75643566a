"""What a book may choose from, and pays for, in a game of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from preplay.errors import GameError, InputError
from preplay.game import Distribution, Game, S
from preplay.matchup.model import Matchup
from preplay.policy import Ahead, Menu, Menus, Option, Policy, ahead_of, menu_of

Offer = Menus[S] | Callable[[S], Mapping[str, float]]
"""What a book may play: menus, or a function from a state to what is thought of each action."""


@dataclass(frozen=True)
class OpinionMenus(Generic[S]):
    """The menus of a plain function, held to the actions that the game has.

    What prep likes best leads if it is on the menu; the others follow by falling opinion.
    """

    game: Game[S]
    offer: Callable[[S], Mapping[str, float]]
    prep: Policy[S]

    def menus(self, states: Sequence[S]) -> list[Menu]:
        """All that is offered at each state; empty: prep plays."""
        options = [self._options(state) for state in states]
        offering = [k for k, found in enumerate(options) if found]
        played = self.prep.distributions([states[k] for k in offering]) if offering else ()
        answer: list[Menu] = [()] * len(states)
        for k, moves in zip(offering, played, strict=True):
            offered = {option.action for option in options[k]}
            first = max(moves, key=lambda action: (moves[action], action in offered), default=None)
            answer[k] = menu_of(options[k], len(options[k]), math.inf, first)
        return answer

    def _options(self, state: S) -> list[Option]:
        opinions = self.offer(state)
        if not isinstance(opinions, Mapping):
            raise GameError(
                f"{self._where(state)}: menus gives {type(opinions).__name__}; "
                "expected a dict from actions to what is thought of them"
            )
        known = self.game.actions(state) if opinions else ()
        for action, opinion in opinions.items():
            if action not in known:
                raise GameError(
                    f"{self._where(state)}: menus offers {action!r}; "
                    f"expected some of {', '.join(map(str, known))}"
                )
            if not isinstance(opinion, int | float) or not math.isfinite(opinion):
                raise GameError(
                    f"{self._where(state)}: menus thinks {opinion!r} of {action!r}; expected a number"
                )
        return [Option(action, float(opinion)) for action, opinion in opinions.items()]

    def _where(self, state: S) -> str:
        return f"history {list(self.game.history(state))}"


@dataclass(frozen=True)
class ShortMenus(Generic[S]):
    """The best of what another one offers; its first choice stays the first."""

    inside: Menus[S]
    most: int | None = None
    """At most so many actions; None: all."""
    margin: float | None = None
    """None of them so far behind the best; None: any."""

    def ahead(self) -> Ahead[S] | None:
        """As the one inside."""
        return ahead_of(self.inside)

    def menus(self, states: Sequence[S]) -> list[Menu]:
        """What is left of each menu."""
        margin = math.inf if self.margin is None else self.margin
        return [
            menu_of(menu, self.most or len(menu), margin, menu[0].action) if menu else menu
            for menu in self.inside.menus(states)
        ]


def searched(policy: Policy[Any], most: int, margin: float) -> Menus[Any] | None:
    """The best actions of the search that a policy makes; None where it makes none."""
    from preplay.games.mcts import MctsMenus, MctsPolicy
    from preplay.games.search import SearchMenus, SearchPolicy

    if isinstance(policy, SearchPolicy):
        return SearchMenus(policy, most, margin)
    if isinstance(policy, MctsPolicy):
        return MctsMenus(policy, most, margin)
    return None


def menus_of(
    menus: Offer[S] | tuple[Offer[S] | None, Offer[S] | None] | None,
    prep: tuple[Policy[S], Policy[S]],
    game: Game[S],
) -> tuple[Menus[S] | None, Menus[S] | None]:
    """The menus of each side, as a user gives them."""
    both = menus if isinstance(menus, tuple) else (menus, menus)
    if len(both) != 2:
        raise InputError(f"menus: {len(both)} of them; expected one, or one for each side")
    return _menus(both[0], prep[0], game), _menus(both[1], prep[1], game)


def _menus(offer: Offer[S] | None, prep: Policy[S], game: Game[S]) -> Menus[S] | None:
    if offer is None:
        return None
    if not isinstance(offer, type):
        if isinstance(offer, Menus):
            return offer
        if callable(offer):
            return OpinionMenus(game, offer, prep)
    raise InputError(
        f"menus is {offer!r}; expected a function from a state to a dict of opinions by action"
    )


def choosing(
    matchup: Matchup[S], choose: int | None, margin: float | None, deviations: int | None
) -> Matchup[S]:
    """The matchup whose books choose among so many actions, none so far behind the best, so often a line.

    Where a side has no menus of its own, prep's search offers its best actions.
    """
    given = {"choose": choose, "margin": margin, "deviations": deviations}
    given = {name: number for name, number in given.items() if number is not None}
    if not given:
        return matchup
    _check_choosing(choose, margin, deviations)
    offers = tuple(
        menus or (None if choose is None else searched(prep, matchup.game.widest, math.inf))
        for menus, prep in zip(matchup.menus, matchup.prep, strict=True)
    )
    if not any(offers):
        name, number = next(iter(given.items()))
        raise InputError(
            f"{name} {number}: matchup '{matchup.name}' has no menus; expected `menus` of it, or a "
            "SearchPolicy or MctsPolicy as prep"
        )
    config = {name: x for name, x in matchup.config.items() if name not in given}
    if choose == 1 or deviations == 0:  # books that play prep
        none = (0, 0) if deviations == 0 else (None, None)
        return replace(matchup, menus=(None, None), deviations=none, config=config)
    one, two = (menus and _shorter(menus, choose, margin) for menus in offers)
    often = matchup.deviations if deviations is None else (deviations, deviations)
    return replace(matchup, menus=(one, two), deviations=often, config=config | given)


def _shorter(menus: Menus[S], choose: int | None, margin: float | None) -> Menus[S]:
    if choose is None and margin is None:
        return menus
    cut = menus if isinstance(menus, ShortMenus) else ShortMenus(menus)
    most = cut.most if choose is None else choose
    return replace(cut, most=most, margin=cut.margin if margin is None else margin)


def _check_choosing(choose: int | None, margin: float | None, deviations: int | None) -> None:
    """Raise InputError for numbers that no choice has."""
    for name, number, least in (("choose", choose, 1), ("deviations", deviations, 0)):
        wrong = isinstance(number, bool) or not isinstance(number, int)
        if number is not None and (wrong or number < least):
            raise InputError(f"{name} {number!r}; expected a whole number of at least {least}")
    if margin is not None and not (isinstance(margin, int | float) and 0.0 <= margin < math.inf):
        raise InputError(f"margin {margin!r}; expected a number of at least 0")


@dataclass(frozen=True)
class Placed(Generic[S]):
    """The position of a state, as a plain function says; histories of one must look alike from there."""

    game: Game[S]
    function: Callable[[S], Hashable]
    known: dict[tuple[str, Hashable], tuple[object, tuple[str, ...]]] = field(default_factory=dict)
    """What was first seen at a position, and after which history."""

    def __call__(self, state: S) -> Hashable:
        """Its position, which has the mover and the actions that it had before."""
        key = self.function(state)
        try:
            hash(key)
        except TypeError:
            raise GameError(
                f"history {list(self.game.history(state))}: position gives {type(key).__name__}; "
                "expected something hashable, as a tuple"
            ) from None
        self._alike("mover", key, state, self.game.player(state))
        self._alike("actions", key, state, frozenset(self.game.actions(state)))
        return key

    def check_prep(self, state: S, moves: Distribution) -> None:
        """Raise GameError where prep plays otherwise than at a history of the same position."""
        self._alike("prep", self(state), state, {action: p for action, p in moves.items() if p > 0.0})

    def _alike(self, what: str, key: Hashable, state: S, seen: object) -> None:
        first, there = self.known.setdefault((what, key), (seen, self.game.history(state)))
        if seen != first:
            raise GameError(
                f"history {list(self.game.history(state))}: not the {what} of {list(there)}, which "
                f"has the same position; expected the same {what} at both"
            )
