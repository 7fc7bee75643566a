"""Playing a book for real: prepared against unprepared, or two books of an equilibrium, game by game.

Every game is a small routine that asks for one decision at a time; many are under way together, and
their searches keep all engines busy. A game's dice depend on the seed and its number alone, so results
do not depend on timing, and an interrupted match goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np

from preplay import journal
from preplay.book import Book, draw
from preplay.chess.clock import ClockedChess
from preplay.chess.endings import MODEL, NEVER_SETTLED, Settling, ending, played_out
from preplay.chess.players.play import EnginePolicy
from preplay.chess.players.repertoire import KnownGame
from preplay.chess.rules import ChessGame
from preplay.chess.scoresheet import PlayedGame, read_scoresheet
from preplay.errors import InputError
from preplay.game import CHANCE, FINAL, Distribution, Side, check_length, other
from preplay.matchup import Matchup
from preplay.policy import REST, ahead_of, spread_rest
from preplay.randomness import generator
from preplay.scheduling import Question, Turns, in_turns
from preplay.stopping import Stop
from preplay.tree import Tree
from preplay.value import Value, utility_of

Adjudication = Literal["model", "rules"]
"""`model`: the game is scored by the value model where the book ends, of two books where the second ends
(fact 10); `rules`: played to its end."""

OVER = "the game is over"
"""How games other than chess end."""
AT_ONCE = 48
"""Games under way together."""


@dataclass(frozen=True)
class Pairing:
    """A book that is played, and what it meets: base play, or the opponent's book of an equilibrium."""

    book: Book
    against: Book | None = None
    tree: Tree | None = None
    """What was grown: the model scores games by its values, which may be judged ones."""


def play_games(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    numbers: Iterable[int],
    adjudication: Adjudication,
    seed: int,
    *,
    control: bool = False,
    settling: Settling = NEVER_SETTLED,
    stop: Stop,
) -> Iterator[PlayedGame]:
    """Play the games with these numbers; they come in the order in which they end.

    Game number n is played by pairing n modulo their number: both colours in turn when both prepare.
    By the rules no game is cut, unless `settling` asks for it: the model's length does not count.
    """
    rules = _game_of(matchup, adjudication, settling)

    def game(number: int) -> Turns[PlayedGame]:
        pairing = pairings[number % len(pairings)]
        rng = generator(seed, (str(number), "control" if control else "book"))
        return _game(matchup, rules, pairing, number, adjudication, settling, rng, control)

    return in_turns(map(game, numbers), AT_ONCE, stop)


def is_chess(game: object) -> TypeGuard[ChessGame | ClockedChess | KnownGame]:
    """Whether games can be written down and settled as those of chess."""
    return isinstance(game, (ChessGame, ClockedChess, KnownGame))


def _game_of(matchup: Matchup[Any], adjudication: Adjudication, settling: Settling) -> Any:
    """The game as the match plays it; refuses what cannot be."""
    game = matchup.game
    if not is_chess(game):
        if settling.asked:
            raise InputError(
                f"matchup '{matchup.name}' is not chess; resign, draw and longest are for games of chess"
            )
        return game
    if adjudication == "model" and isinstance(game, ClockedChess):
        raise InputError(
            "adjudication 'model' under a clock; expected rules: games are played to the end"
        )
    if settling.by_score and not all(isinstance(policy, EnginePolicy) for policy in matchup.base):
        raise InputError(
            f"matchup '{matchup.name}': not both sides are engines that search for each move; "
            "games are settled by the scores of such searches"
        )
    if adjudication == "model":
        return game
    return _by_rules(game, settling)


def _by_rules(game: Any, settling: Settling) -> Any:
    """The game played to its end by the rules, known moves and all."""
    if isinstance(game, KnownGame):
        return replace(game, game=_by_rules(game.game, settling))
    return played_out(game, settling)


def _game(
    matchup: Matchup[Any],
    rules: Any,
    pairing: Pairing,
    number: int,
    adjudication: Adjudication,
    settling: Settling,
    rng: np.random.Generator,
    control: bool,
) -> Turns[PlayedGame]:
    """One game: the prepared side plays its book, then base; so does the opponent if they have one."""
    yield None  # a game that ends without a question takes its turn too
    side = pairing.book.side
    entries = {side: {} if control else _pure(pairing.book, rng)}
    entries[other(side)] = {} if pairing.against is None else _pure(pairing.against, rng)
    state, place, depth = rules.root(), 0, 0
    searched: list[int] = []  # scores of the searches since the books
    stopped = set[Side]() if pairing.against is not None else {other(side)}

    def ended(score: float, reason: str) -> PlayedGame:
        date = datetime.now(UTC).strftime("%Y.%m.%d")
        return PlayedGame(number, side, not control, rules.history(state), score, depth, reason, date)

    while (mover := rules.player(state)) != FINAL:
        if not is_chess(rules):  # whose own rules end every game, where nothing settles it before
            check_length(len(rules.history(state)) + 1, rules.longest)
        if mover == CHANCE:
            action = _pick(rules.chance(state), rng)
            place, state = _below(pairing.tree, place, action), rules.next(state, action)
            continue
        history = rules.history(state)
        player: Side = side if mover == side else other(side)
        distribution = entries[player].get(history)
        if distribution is None:
            entries[player] = {}  # whoever has left a book does not come back
            second = player not in stopped and other(player) in stopped
            stopped.add(player)
            if adjudication == "model" and second:
                return ended((yield from _score(matchup, side, state, pairing.tree, place)), MODEL)
        if distribution is not None:
            _check_legal(distribution, history, rules.actions(state))
            searched.clear()
            depth += player == side
        else:
            policy = matchup.base[player - 1]
            distribution = yield Question(policy.distributions, state, ahead_of(policy))
            if settling.by_score:
                assert isinstance(policy, EnginePolicy)  # checked before the games began
                searched.append((yield Question(policy.scores, state, ahead_of(policy))))
                verdict = settling.verdict(len(history), searched)
                if verdict is not None:
                    reason, result = verdict
                    return ended(result if player == side else 1.0 - result, reason)
        action = _pick(distribution, rng)
        if action == REST:
            if adjudication == "model":  # the promise values it where the opponent is to move
                rest = _below(pairing.tree, place, REST)
                return ended((yield from _score(matchup, side, state, pairing.tree, rest)), MODEL)
            action = _pick(_the_rest(distribution, rules.actions(state)), rng)
        place = _below(pairing.tree, place, action)
        state = rules.next(state, action)
    utility = utility_of(rules, state)
    reason = ending(state) if is_chess(rules) else OVER
    return ended(utility if side == 1 else 1.0 - utility, reason)


def _check_legal(moves: Distribution, history: Sequence[str], known: Sequence[str]) -> None:
    """Raise InputError for a book of another game."""
    for action in moves:
        if action not in known:
            raise InputError(
                f"history {list(history)}: the book plays {action!r}; "
                f"expected one of {', '.join(map(repr, known))}"
            )


def _the_rest(distribution: Distribution, actions: Sequence[str]) -> Distribution:
    """What an opponent plays who plays none of the moves that were named, where there are others."""
    spread = spread_rest(distribution, actions)
    return {a: p for a, p in spread.items() if a not in distribution} or spread


def _pure(book: Book, rng: np.random.Generator) -> dict[tuple[str, ...], Distribution]:
    """What a game's pure book plays: the book itself, or one drawn from a mixed one."""
    pure = draw(book, rng) if book.mixed else book
    return {entry.history: entry.moves for entry in pure.entries}


def _score(
    matchup: Matchup[Any], side: Side, state: Any, tree: Tree | None, place: int
) -> Generator[Question[Any, Value], Value, float]:
    """The side's utility by the value model; where a tree was grown, the value that it has there."""
    if tree is not None and place >= 0 and not np.isnan(tree.value[place]):
        return float(tree.value[place] if side == 1 else 1.0 - tree.value[place])
    value = yield Question(matchup.counted.values, state, ahead_of(matchup.counted))
    return value.for_player(side).mean


def _below(tree: Tree | None, place: int, action: str) -> int:
    """Where an action leads in the tree; -1 outside it."""
    if tree is None or place < 0:
        return -1
    return next((c for c in tree.children(place) if tree.names[tree.action[c]] == action), -1)


def _pick(distribution: Distribution, rng: np.random.Generator) -> str:
    names = list(distribution)
    if len(names) == 1:
        return names[0]
    total = np.cumsum([distribution[name] for name in names])
    return names[min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), len(names) - 1)]


def play_match(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    games: int,
    adjudication: Adjudication,
    seed: int,
    *,
    control: bool = False,
    settling: Settling = NEVER_SETTLED,
    kept: Path | None = None,
    stop: Stop,
    tell: Callable[[Sequence[PlayedGame]], bool] | None = None,
) -> list[PlayedGame]:
    """The games of a match in the order of their numbers, those in the file `kept` included.

    Games end in any order, short ones first. What counts is always the first n of them: `tell` sees these
    one by one and may end the match by True, and a match that is stopped counts no game before a missing
    one. So neither favours short games. The others stay in `kept` for the next time.
    """
    known = read_scoresheet(kept) if kept is not None else []
    done = {g.number: g for g in known if g.prepared != control and g.number < games}
    counted: list[PlayedGame] = []

    def ended() -> bool:
        while len(counted) in done:
            counted.append(done[len(counted)])
            if tell is not None and tell(counted):
                return True
        return len(counted) == games

    if ended():
        return counted
    rest = [number for number in range(games) if number not in done]
    for game in play_games(
        matchup, pairings, rest, adjudication, seed, control=control, settling=settling, stop=stop
    ):
        done[game.number] = game
        if kept is not None:
            journal.append(kept, game)
        if ended():
            break
    return counted
