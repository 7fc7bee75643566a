"""What a score is worth to the players at hand: games of base against base, and a curve through them.

The paper's v(h) is what base against base earns from h, a result and not a score. From games of the
pairing itself `score = σ(intercept + slope · pawns)` is fitted: the intercept holds that one side plays
worse at the board, the slope how much a pawn is worth to these players (fact 13 of docs/model.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import accumulate

import numpy as np

from preplay.chess.engines.analysis import MATE
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.store import AnalysisStore
from preplay.chess.players.play import Search, scores
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import StoreError
from preplay.game import FINAL, Side
from preplay.logistic import LINE_STEP, Curve, fitted, line_error
from preplay.policy import Ahead, Policy, ahead_of, spread_rest
from preplay.randomness import generator
from preplay.scheduling import Question, Turns, in_turns
from preplay.stopping import NEVER, Stop

CLIP = 10.0
"""Pawns beyond which a position is won: scores of mates must not bend the curve."""
HORIZON = 40
"""Half-moves of base against base in which positions are taken: books end early in a game."""
TAKEN = 2
"""Positions taken of each game, beside the one where base meets base first."""
LINE = 10
"""The most moves of preparation before base meets base."""
LIVELY = 30.0
"""Randomness of whoever meets a preparation in calibration games, at least: books reach many lines."""
LENGTHS = range(0, 6 * LINE_STEP, LINE_STEP)
"""Half-moves of lines that are told apart from the curve."""
AT_ONCE = 16
"""Games under way together."""


@dataclass(frozen=True)
class CalibrationGame:
    """One game to the end, and what the value's search said on the way."""

    number: int
    moves: str
    """In UCI notation, separated by spaces."""
    points: tuple[tuple[int, int], ...]
    """Half-moves played, and White's centipawns there: positions of base against base."""
    result: float
    """White's: 1, 1/2 or 0."""

    @property
    def pawns(self) -> list[float]:
        """White's scores in pawns, within what the curve tells apart."""
        return [clipped(centipawns) for _, centipawns in self.points]


def clipped(centipawns: float) -> float:
    """Centipawns as pawns within ±`CLIP`."""
    return min(CLIP, max(-CLIP, centipawns / 100.0))


@dataclass(frozen=True)
class Table:
    """All that calibration games need: the rules without a length, the players, and who scores."""

    game: ChessGame
    base: tuple[Policy[ChessState], Policy[ChessState]]
    lively: tuple[Policy[ChessState], Policy[ChessState]]
    """Base that plays more lines, against a preparation."""
    prep: tuple[Policy[ChessState], Policy[ChessState]]
    analyst: Analyst
    scoring: Search
    seed: int = 0

    def question(self, state: ChessState) -> Question[ChessState, int]:
        """What the value's search says of a state to whoever is to move there."""

        def prefetch(states: Sequence[ChessState]) -> None:
            self.analyst.prefetch([self.scoring.request(one) for one in states])

        def cancel(states: Sequence[ChessState]) -> None:
            self.analyst.cancel([self.scoring.request(one) for one in states])

        return Question(partial(scores, self.analyst, self.scoring), state, Ahead(prefetch, cancel))


def _game(table: Table, number: int) -> Turns[CalibrationGame]:
    """A game; half of them from the start, the others from where one side's preparation led.

    Of four games two are base against base throughout; in one each, White and Black play a few moves of
    their preparation first, as they would with a book.
    """
    game = table.game
    rng = generator(table.seed, ("calibration", str(number)))
    opener: Side | None = (None, None, 1, 2)[number % 4]
    line = int(rng.integers(1, LINE + 1)) if opener else 0
    wanted = {0, *rng.integers(1, HORIZON, size=TAKEN).tolist()}
    points: list[tuple[int, int]] = []
    state, begun = game.root(), -1
    while (player := game.player(state)) != FINAL:
        played = len(state.moves)
        if begun < 0 and not line and opener in (None, player):
            begun = played
        if begun >= 0 and played - begun in wanted:
            score = yield table.question(state)
            points.append((played, score if state.board.turn else -score))
        mover: Policy[ChessState]
        if begun >= 0:
            mover = table.base[player - 1]
        elif player == opener:
            mover, line = table.prep[player - 1], line - 1
        else:
            mover = table.lively[player - 1]
        distribution = yield Question(mover.distributions, state, ahead_of(mover))
        moves = spread_rest(distribution, game.actions(state))
        names, shares = list(moves), np.cumsum(list(moves.values()))
        place = int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))
        state = game.next(state, names[min(place, len(names) - 1)])
    return CalibrationGame(number, " ".join(state.moves), tuple(points), game.utility(state))


def play(table: Table, numbers: Iterable[int], stop: Stop = NEVER) -> Iterator[CalibrationGame]:
    """The games with these numbers, in the order in which they end; a stop leaves out the rest."""
    return in_turns((_game(table, number) for number in numbers), AT_ONCE, stop)


@dataclass
class Calibrator:
    """Plays the games that are missing and fits the curve, once: then the scale stands."""

    table: Table
    store: AnalysisStore
    topic: str
    """All that determines the games."""
    wanted: int
    """How many games to play."""
    alike: bool = False
    """Whether both sides are the same player, so that colours can be exchanged."""
    _curve: Curve | None = None
    _games: list[CalibrationGame] = field(default_factory=list)

    def curve(self, stop: Stop = NEVER, tell: Callable[[str], None] | None = None) -> Curve:
        """The curve through the games; games of earlier times are in the store, as are their searches."""
        if self._curve is None:
            self._games = self.played(self.wanted, stop, tell)
            curve = fitted(different(self._games), self.alike)
            apart = [line_error(curve, lines(self._games, length)) for length in LENGTHS]
            self._curve = replace(curve, line_errors=tuple(accumulate(apart, max)))
        return self._curve

    @property
    def games(self) -> Sequence[CalibrationGame]:
        """The games behind the curve."""
        self.curve()
        return self._games

    @property
    def whole(self) -> bool:
        """Whether no game is missing."""
        return len(self.games) >= self.wanted

    def worth(self, centipawns: float) -> float:
        """What a position is worth to White whose score is this."""
        return self.curve().score(clipped(centipawns))

    def played(
        self, wanted: int, stop: Stop = NEVER, tell: Callable[[str], None] | None = None
    ) -> list[CalibrationGame]:
        """The first `wanted` games; after a stop those before the first that is missing, so that a stop
        favours no short games."""
        try:
            done = {game.number: game for game in map(read_game, self.store.notes(self.topic).values())}
        except StoreError as error:
            raise StoreError(f"{self.store.path}: {error}") from None
        missing = [number for number in range(wanted) if number not in done]
        for game in play(self.table, missing, stop):
            done[game.number] = game
            self.store.note(self.topic, str(game.number), json.dumps(asdict(game)))
            if tell is not None:
                tell(f"calibration: {sum(n in done for n in range(wanted)):,} of {wanted:,} games")
        counted: list[CalibrationGame] = []
        while len(counted) < wanted and len(counted) in done:
            counted.append(done[len(counted)])
        return counted


def different(games: Sequence[CalibrationGame]) -> list[tuple[list[float], float]]:
    """Scores on the way and the result of each game; games with the same moves count once."""
    return [(game.pawns, game.result) for game in {game.moves: game for game in games}.values()]


def lines(games: Sequence[CalibrationGame], length: int) -> list[tuple[str, float, float]]:
    """The first moves of each different game, the first score after them, and the result."""
    found = []
    for game in {game.moves: game for game in games}.values():
        after = [k for k, (played, _) in enumerate(game.points) if played >= length]
        if after:
            line = " ".join(game.moves.split()[:length])
            found.append((line, game.pawns[after[0]], game.result))
    return found


def read_game(text: str) -> CalibrationGame:
    """A game as it was kept; raises StoreError for anything else."""
    from pydantic import TypeAdapter, ValidationError

    try:
        game = TypeAdapter(CalibrationGame).validate_json(text, strict=True)
    except ValidationError as error:
        said = " ".join(error.errors(include_url=False)[0]["msg"].lower().split())
        raise StoreError(f"a kept calibration game is damaged ({said})") from None
    odd = any(ply < 0 or abs(score) > MATE for ply, score in game.points)
    if odd or game.number < 0 or not 0.0 <= game.result <= 1.0:
        raise StoreError(f"a kept calibration game is damaged (number {game.number}, {game.result})")
    return game
