"""An opponent fitted to games: gathered, fitted, held against the newest games, saved and loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import chess
import numpy as np

from preplay.chess.engines.analysis import Analysis
from preplay.chess.engines.analyst import Analyst
from preplay.chess.players import fit
from preplay.chess.players.counts import MoveCounts
from preplay.chess.players.filters import GameFilter
from preplay.chess.players.fit import MoveColumns, SeenMove
from preplay.chess.players.foresight import Foresight, foresight, simpler
from preplay.chess.players.gather import Gathered, OwnGame, count_others, gather_games, own_moves
from preplay.chess.players.habits import Habits, digest_of_games
from preplay.chess.players.opponents import Opponent
from preplay.chess.players.person import LEAST, Level, Person
from preplay.chess.players.sources import digest_of, find_files
from preplay.chess.players.squares import coded_move, move_code
from preplay.chess.rules import ChessState
from preplay.game import Side
from preplay.stopping import NEVER, Stop

NEWEST = 0.2
"""The share of games held against the model, and of those before them that it is fitted to."""
PLIES = 20
"""Half-moves of each game that are explained."""
SAMPLE = 1000
"""Moves that engines are asked about, at most, of each of the two."""
TRIAL = 300
"""Moves that levels of an engine are compared on."""
BATCH = 64
LEVELS = (Level(nodes=1000), Level(nodes=5000))


@dataclass(frozen=True)
class Asking:
    """How an opponent is fitted: which games count, whose else, who may stand in, how much is asked."""

    which: GameFilter = field(default_factory=GameFilter)
    population: tuple[str, ...] = ()
    levels: tuple[Level, ...] = LEVELS
    sample: int = SAMPLE
    least: float = LEAST


@dataclass(frozen=True, eq=False)
class Fit:
    """An opponent who was fitted to games, and what came out of it."""

    opponent: Opponent
    asking: Asking
    gathered: Gathered
    train: int
    """How many games are before those held against the model."""
    test: int
    """How many these are."""
    since: str | None
    """The date of the first of them; None where they are drawn."""
    known: float | None
    """The share of their positions that occur in the others."""
    asked: int
    """Moves that an engine was asked about."""
    held: int
    """Moves that the model was held against."""
    foresight: Foresight | None
    """How well it foresaw them; None where there were none."""
    simpler: Mapping[str, Foresight]
    """How well simpler models did, by name, their reliability left out."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Window:
    """Games to be explained by those before them."""

    games: Sequence[OwnGame]
    own: MoveCounts
    others: MoveCounts


def fit_opponent(
    analyst: Analyst,
    files: Sequence[str | Path],
    players: Sequence[str],
    side: Side,
    asking: Asking | None = None,
    *,
    keep: Path | None = None,
    stop: Stop = NEVER,
    progress: Callable[[str], None] | None = None,
) -> Fit:
    """Fit the model to somebody's games.

    The newest fifth of the games is explained by the older ones: that is the log-loss reported, with
    weights fitted to the games just before them. The model that is returned has counted all games, and
    its weights are fitted to both. Where `stop` cuts it short, games read and questions answered so far
    count.
    """
    asking = asking or Asking()
    which = asking.which
    gathered = gather_games(files, players, side, which, keep=keep, stop=stop, progress=progress)
    dated = 2 * sum(game.date > "0001" for game in gathered.games) > len(gathered.games)
    games = gathered.games if dated else _shuffled(gathered.games)
    tested = round(NEWEST * len(games))
    tuned = round(NEWEST * (len(games) - tested))
    cuts = len(games) - tested - tuned, len(games) - tested
    dates = [games[k].date if dated and k < len(games) else "9999" for k in cuts]
    every = [*files, *asking.population]
    tables = count_others(
        every, players, side, which, before=dates, keep=keep, stop=stop, progress=progress
    )
    windows = [
        _Window(games[low:high], gathered.counts(games[:low]), others)
        for low, high, others in zip(cuts, (cuts[1], len(games)), tables, strict=False)
    ]
    ask = _Questions(analyst, side, asking.sample, stop, progress)
    level, tuning = _best_level(ask, windows[0], asking.levels)
    weights = fit.fit_weights(MoveColumns.of([move for move, _ in tuning]))
    testing = ask.moves(windows[1], level, "newest games")
    final = fit.fit_weights(MoveColumns.of([move for move, _ in (*tuning, *testing)]))
    habits = Habits(
        gathered.counts(),
        len(games),
        final.own,
        digest_of_games(gathered),
        tables[-1],
        final.others,
        gathered.replies(),
        gathered.met(),
    )
    person = Person(habits, level, final.engine, asking.least)
    held = Habits(windows[1].own, len(games) - tested, weights.own, "", windows[1].others, weights.others)
    quality, others = _quality(Person(held, level, weights.engine, asking.least), testing)
    newest = windows[1]
    undated = () if dated else ("the games have no dates: those held out are drawn, not the newest",)
    return Fit(
        opponent=Opponent(side, tuple(players) or tuple(gathered.names)[:1], person),
        asking=asking,
        gathered=gathered,
        train=cuts[1],
        test=len(newest.games),
        since=newest.games[0].date if dated and newest.games else None,
        known=_known(newest, side),
        asked=len(tuning) + len(testing),
        held=len(testing),
        foresight=quality,
        simpler=others,
        warnings=(*gathered.warnings, *undated),
    )


def _shuffled(games: Sequence[OwnGame]) -> tuple[OwnGame, ...]:
    """The games in an order that has nothing to do with that of the file."""
    return tuple(games[int(k)] for k in np.random.default_rng(0).permutation(len(games)))


class _Questions:
    """Asks an engine about the positions of games, as many as are wanted and as time allows."""

    def __init__(
        self,
        analyst: Analyst,
        side: Side,
        most: int,
        stop: Stop,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._analyst, self._side, self._most = analyst, side, most
        self._stop, self._progress = stop, progress

    def moves(
        self, window: _Window, level: Level, what: str, most: int | None = None
    ) -> list[tuple[SeenMove, chess.Board]]:
        """Moves of the player in these games with what was known before them."""
        search = level.search()
        picked = self._picked(window, most or self._most)
        found: list[tuple[SeenMove, chess.Board]] = []
        for low in range(0, len(picked), BATCH):
            if self._stop.asked:
                break
            part = picked[low : low + BATCH]
            boards = [_board_before(game, ply) for game, ply in part]
            states = [ChessState((), board) for board in boards]
            try:
                with self._stop.interruptible():
                    analyses = self._analyst.analyse([search.request(state) for state in states])
            except KeyboardInterrupt:
                if not self._stop.requested:
                    raise
                break
            for (game, ply), board, analysis in zip(part, boards, analyses, strict=True):
                key, code = int(game.keys[ply]), int(game.codes[ply])
                own, others = window.own.at(key), window.others.at(key)
                found.append((_seen(board, code, own, others, analysis), board))
            if self._progress is not None:
                self._progress(f"{what}: {len(found):,} of {len(picked):,} moves ({level})")
        return found

    def _picked(self, window: _Window, most: int) -> list[tuple[OwnGame, int]]:
        """Moves drawn from all, in an order in which every beginning is a fair sample."""
        every = [
            (game, ply)
            for game in window.games
            for ply in range(self._side - 1, min(PLIES, len(game.codes)), 2)
        ]
        order = np.random.default_rng(0).permutation(len(every))[:most]
        return [every[int(k)] for k in order]


def _board_before(game: OwnGame, ply: int) -> chess.Board:
    """The position before a half-move, remembering what the rules of matchups do."""
    board = chess.Board()
    for code in game.codes[:ply].tolist():
        board.push(coded_move(code))
    return board.copy(stack=board.halfmove_clock)


def _seen(
    board: chess.Board, code: int, own: dict[int, int], others: dict[int, int], analysis: Analysis
) -> SeenMove:
    codes = tuple(move_code(chess.Move.from_uci(line.move)) for line in analysis.lines)
    best = move_code(chess.Move.from_uci(analysis.best))
    return SeenMove(code, own, others, analysis, codes, best, board.legal_moves.count())


def _best_level(
    ask: _Questions, window: _Window, levels: Sequence[Level]
) -> tuple[Level, list[tuple[SeenMove, chess.Board]]]:
    """The level that explains the player's moves best, and all moves with what it says of them."""
    best, least = levels[0], np.inf
    if len(levels) > 1:
        for level in levels:
            moves = ask.moves(window, level, "level", TRIAL)
            columns = MoveColumns.of([move for move, _ in moves])
            loss = fit.fitted_loss(columns, fit.fit_weights(columns)) if moves else np.inf
            if loss < least:
                best, least = level, loss
    return best, ask.moves(window, best, "fitting")


def _quality(
    person: Person, testing: Sequence[tuple[SeenMove, chess.Board]]
) -> tuple[Foresight | None, dict[str, Foresight]]:
    """How well the newest games are explained, and how well by simpler models."""
    if not testing:
        return None, {}
    levels = {name: foresight(one, testing) for name, one in simpler(person).items()}
    told = {name: replace(level, reliability=None) for name, level in levels.items()}
    return foresight(person, testing), told


def _known(newest: _Window, side: Side) -> float | None:
    """The share of the positions of some games that occur in those before them."""
    seen = [own_moves(game, side)[0][: PLIES // 2] for game in newest.games]
    keys = np.concatenate(seen) if seen else np.zeros(0, np.uint64)
    return float(newest.own.knows(keys).mean()) if len(keys) else None


def digest_of_all(files: Sequence[str | Path]) -> str:
    """Changes with any of some files."""
    return hashlib.sha256(" ".join(digest_of(path) for path in find_files(files)).encode()).hexdigest()[
        :16
    ]
