"""Playing a book for real: prepared against unprepared, or two books of an equilibrium, game by game.

Every game is a small routine that asks for one decision at a time; many are under way together, and
their searches keep all engines busy. A game's dice depend on the seed and its number alone, so results
do not depend on timing, and an interrupted match goes on where it was.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import chess
import chess.pgn
import numpy as np

from preplay.book import Book, draw
from preplay.chess.clock import ClockedChess, State
from preplay.chess.rules import ChessGame, ChessState
from preplay.errors import InputError
from preplay.game import FINAL, Distribution, Side, other
from preplay.games.clocked import RESIGN, ClockedState, untimed
from preplay.matchup import Matchup
from preplay.policy import ahead_of
from preplay.randomness import generator
from preplay.stopping import Stop
from preplay.tree import Tree
from preplay.value import Value

Adjudication = Literal["model", "rules"]
"""`model`: the game is scored by the value model where the book ends; `rules`: it is played out."""

AT_ONCE = 48
"""Games under way together."""


@dataclass(frozen=True)
class Pairing:
    """A book that is played, and what it meets: base play, or the opponent's book of an equilibrium."""

    book: Book
    against: Book | None = None
    tree: Tree | None = None
    """Where the opponent is prepared too: what was grown. Its leaves end games that the model scores."""


@dataclass(frozen=True)
class PlayedGame:
    """One finished game, from the point of view of the prepared side."""

    number: int
    side: Side
    prepared: bool
    """False in control games without the book."""
    moves: tuple[str, ...]
    """The history; under a clock, moves tell their time."""
    score: float
    """Utility of the prepared side: 1, 1/2, 0, or the model's value where the book ended."""
    depth: int
    """Book moves played."""
    reason: str


@dataclass(frozen=True)
class _Question:
    """A decision that a game waits for: a move by a policy, or the model's value."""

    kind: Literal["move", "value"]
    side: Side
    state: ChessState | State


def play_games(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    numbers: Iterable[int],
    adjudication: Adjudication,
    seed: int,
    *,
    control: bool = False,
    stop: Stop,
) -> Iterator[PlayedGame]:
    """Play the games with these numbers; they come in the order in which they end.

    Game number n is played by pairing n modulo their number: both colours in turn when both prepare.
    """
    if not isinstance(matchup.game, (ChessGame, ClockedChess)):
        raise InputError(f"matchup '{matchup.name}' is not chess; matches are played in chess only")
    if adjudication == "model" and isinstance(matchup.game, ClockedChess):
        raise InputError(
            "adjudication 'model' under a clock; expected rules: games are played to the end"
        )
    waiting = iter(numbers)
    running: deque[tuple[Generator[_Question, Any, PlayedGame], _Question]] = deque()

    def begin() -> bool:
        number = next(waiting, None)
        if number is None:
            return False
        pairing = pairings[number % len(pairings)]
        game = _game(matchup, pairing, number, adjudication, seed, control)
        _ask(matchup, running, game, next(game))
        return True

    while len(running) < AT_ONCE and begin():
        pass
    while running and not stop.asked:
        game, question = running.popleft()
        try:
            with stop.interruptible():
                answer = _answer(matchup, question)
        except KeyboardInterrupt:
            return
        try:
            _ask(matchup, running, game, game.send(answer))
        except StopIteration as end:
            yield end.value
            begin()


def _ask(
    matchup: Matchup[Any],
    running: deque[tuple[Generator[_Question, Any, PlayedGame], _Question]],
    game: Generator[_Question, Any, PlayedGame],
    question: _Question,
) -> None:
    ahead = ahead_of(matchup.value if question.kind == "value" else matchup.base[question.side - 1])
    if ahead is not None:
        ahead.prefetch([question.state])
    running.append((game, question))


def _answer(matchup: Matchup[Any], question: _Question) -> Distribution | Value:
    if question.kind == "value":
        return matchup.value.values([question.state])[0]
    return matchup.base[question.side - 1].distributions([question.state])[0]


def _game(
    matchup: Matchup[Any],
    pairing: Pairing,
    number: int,
    adjudication: Adjudication,
    seed: int,
    control: bool,
) -> Generator[_Question, Any, PlayedGame]:
    """One game: the prepared side plays its book, then base; so does the opponent if he has one."""
    game, side = matchup.game, pairing.book.side
    rng = generator(seed, (str(number), "control" if control else "book"))
    entries = {side: {} if control else _pure(pairing.book, rng)}
    entries[other(side)] = {} if pairing.against is None else _pure(pairing.against, rng)
    state, place, depth = game.root(), 0, 0
    while game.player(state) != FINAL:
        history = game.history(state)
        player: Side = side if game.player(state) == side else other(side)
        distribution = entries[player].get(history)
        if distribution is None:
            entries[player] = {}  # whoever has left a book does not come back
        if adjudication == "model" and _over(pairing, player, distribution is not None, place):
            score = yield from _score(side, state, pairing.tree, place)
            return PlayedGame(number, side, not control, history, score, depth, "model")
        if distribution is None:
            distribution = yield _Question("move", player, state)
        elif player == side:
            depth += 1
        action = _pick(distribution, rng)
        place = _below(pairing.tree, place, action)
        state = game.next(state, action)
    utility = game.utility(state)
    score = utility if side == 1 else 1.0 - utility
    reason = _ending(game, state)
    return PlayedGame(number, side, not control, game.history(state), score, depth, reason)


def _pure(book: Book, rng: np.random.Generator) -> dict[tuple[str, ...], Distribution]:
    """What a game's pure book plays: the book itself, or one drawn from a mixed one."""
    pure = draw(book, rng) if book.mixed else book
    return {entry.history: entry.moves for entry in pure.entries}


def _over(pairing: Pairing, player: Side, inside: bool, place: int) -> bool:
    """Whether the model scores the game here: the book has ended, or what was grown for both has."""
    if pairing.tree is None:
        return player == pairing.book.side and not inside
    return place < 0 or bool(pairing.tree.leaves[place])


def _score(
    side: Side, state: ChessState | State, tree: Tree | None, place: int
) -> Generator[_Question, Value, float]:
    """The side's utility by the value model; where a tree was grown, the value that it has there."""
    if tree is not None and place >= 0:
        return float(tree.value[place] if side == 1 else 1.0 - tree.value[place])
    value = yield _Question("value", side, state)
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


UNPREPARED = "Unprepared"
RESIGNATION, FLAG = "resignation", "time forfeit"


def _ending(game: Any, state: ChessState | State) -> str:
    if isinstance(state, ClockedState):
        if state.lost:
            return RESIGNATION if untimed(state.actions[-1])[0] == RESIGN else FLAG
        return _ending(game.game, state.inner)
    board = state.board
    if board.is_checkmate():
        return "checkmate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_insufficient_material():
        return "insufficient material"
    if board.is_repetition(3):
        return "threefold repetition"
    if board.halfmove_clock >= 100:
        return "fifty moves"
    return f"{game.length} half-moves"


def pgn_of(played: PlayedGame, matchup: Matchup[Any], names: tuple[str, str]) -> str:
    """One game as PGN, with where the book ended."""
    rules = matchup.game.game if isinstance(matchup.game, ClockedChess) else matchup.game
    root = rules.root().board
    game = chess.pgn.Game()
    if root.fen() != chess.STARTING_FEN:
        game.setup(root)
    prepared, opponent = names
    prepared = prepared if played.prepared else UNPREPARED
    white, black = (prepared, opponent) if played.side == 1 else (opponent, prepared)
    white_score = played.score if played.side == 1 else 1.0 - played.score
    result = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}.get(white_score, "*")
    game.headers.update(
        {
            "Event": f"preplay match: {matchup.name}",
            "Site": "-",
            "Date": "????.??.??",
            "Round": str(played.number + 1),
            "White": white,
            "Black": black,
            "Result": result,
            "Termination": played.reason,
            "BookMoves": str(played.depth),
            "Score": f"{played.score:.6g}",
        }
    )
    node: chess.pgn.GameNode = game
    moves = played.moves[:-1] if played.reason in (RESIGNATION, FLAG) else played.moves
    for name in moves:
        move, time = untimed(name)
        node = node.add_variation(node.board().parse_uci(move))
        node.comment = f"time {time}" if time else ""
    node.comment = f"{played.reason}, score {played.score:.4g} for {prepared}"
    return str(game) + "\n\n"


def read_games(path: Path) -> list[PlayedGame]:
    """Games kept by an earlier run; a last line cut off by a kill is passed over."""
    if not path.exists():
        return []
    games = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            games.append(PlayedGame(**(row | {"moves": tuple(row["moves"])})))
        except (ValueError, TypeError, KeyError):
            continue
    return games


def keep_game(path: Path, game: PlayedGame) -> None:
    """Append a finished game."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(game)) + "\n")


def play_match(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    games: int,
    adjudication: Adjudication,
    seed: int,
    *,
    control: bool = False,
    kept: Path | None = None,
    stop: Stop,
    tell: Callable[[Sequence[PlayedGame]], bool] | None = None,
) -> list[PlayedGame]:
    """The games of a match in the order of their numbers, those in the file `kept` included.

    Games end in any order, short ones first. What counts is always the first n of them: `tell` sees these
    one by one and may end the match by True, and a match that is stopped counts no game before a missing
    one. So neither favours short games. The others stay in `kept` for the next time.
    """
    known = read_games(kept) if kept is not None else []
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
    for game in play_games(matchup, pairings, rest, adjudication, seed, control=control, stop=stop):
        done[game.number] = game
        if kept is not None:
            keep_game(kept, game)
        if ended():
            break
    return counted
