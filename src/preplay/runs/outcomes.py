"""What a match came to: the score beside the promise, kept with every game and found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from preplay import __version__, scoring
from preplay.book import Book
from preplay.chess.books.naming import at_the_board
from preplay.chess.endings import CUT, SETTLED
from preplay.chess.scoresheet import Heading, PlayedGame, pgn_of, read_scoresheet
from preplay.files import write_text
from preplay.frozen import freeze
from preplay.matches import Adjudication, Pairing, is_chess
from preplay.matchup import Matchup
from preplay.matchup.searching import BASE_NODES
from preplay.runs.directory import GAMES, GAMES_PGN, RESULT, Run
from preplay.runs.encoding import beside, from_data, optional
from preplay.scoring import Interval

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class EloEstimate:
    """An Elo difference with its error and its 95 % interval; None where it is infinite."""

    mean: float | None
    error: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SprtResult:
    """Where a sequential test stands."""

    llr: float
    lower: float
    upper: float
    decision: Literal["elo0", "elo1", "go on"]


@dataclass(frozen=True)
class Control:
    """The same match without the book."""

    games: int
    score: Interval


@dataclass(frozen=True, kw_only=True)
class TimeSpent:
    """The mean time of a move after the book."""

    prepared: float
    opponent: float
    control: TimeSpent | None = optional()
    """In the control games."""


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """What games with a book came to, and whether that agrees with what was promised."""

    matchup: str
    """The matchup's name."""
    adjudication: Adjudication
    """`model`: scored by the value model where the book ends; `rules`: played to the end."""
    sides: tuple[str | int, ...]
    """Whose books were played, in turn."""
    games: int
    """How many games count."""
    opponent: Literal["prepared", "unprepared"]
    """Whether the opponent had a book too."""
    wins: int | None
    """Games won; None where games are scored by values in between, as for draws and losses."""
    draws: int | None
    """Games drawn."""
    losses: int | None
    """Games lost."""
    score: Interval
    """The mean score of the prepared side, with its 95 % interval."""
    elo: EloEstimate | None
    """The same as an Elo difference; None for scores of a model, which are no results."""
    superiority: float
    """The probability that the prepared side is the stronger one."""
    book_moves: float
    """Book moves a game."""
    endings: Mapping[str, int]
    """How often games ended by what."""
    promised: float
    """The score that was promised."""
    promised_error: float
    """How far the promise may be off, where it was sampled."""
    z: float
    """Standard deviations between score and promise."""
    p_value: float
    """How often chance alone brings a difference this large."""
    agrees: bool
    """Whether score and promise agree (5 %)."""
    scores: Literal["results", "model"] = "results"
    """What was promised: an expected result, or the score of a model that no games bear out."""
    promised_book_moves: float | None = optional()
    """Book moves a game as promised: how often each history of the book is met."""
    settled: int | None = optional()
    """Games that were settled by the scores of searches, as asked for."""
    cut: int | None = optional()
    """Games that were cut as drawn, as asked for."""
    sprt: SprtResult | None = optional()
    """Where the sequential test stands, if one was asked for."""
    control: Control | None = optional()
    """The same match without the book, if it was asked for."""
    time: TimeSpent | None = optional()
    """Under a clock: what moves took."""
    played: tuple[PlayedGame, ...] = beside(())
    """The games."""
    without: tuple[PlayedGame, ...] = beside(())
    """The control games."""
    pgn: str = beside("")
    """All games as PGN."""
    run: Run | None = beside()
    """The directory that keeps it; None where it was not saved."""

    def __post_init__(self) -> None:
        freeze(self)

    def files(self) -> Mapping[str, Callable[[Path], None]]:
        """The games as PGN, in chess; what each was is kept as soon as it is over."""
        return {GAMES_PGN: partial(write_text, text=self.pgn)} if self.pgn else {}

    @classmethod
    def found(cls, run: Run) -> MatchResult:
        """The result of a `match` run."""
        games, pgn = read_scoresheet(run.path(GAMES)), run.path(GAMES_PGN)
        result = from_data(
            cls,
            run.read(RESULT),
            run.path(RESULT),
            pgn=pgn.read_text(encoding="utf-8") if pgn.exists() else "",
            run=run,
        )
        control = 0 if result.control is None else result.control.games
        return replace(
            result,
            played=_counted(games, True, result.games),
            without=_counted(games, False, control),
        )

    def to_pandas(self) -> DataFrame:
        """A row for each game, control games too: needs pandas."""
        from preplay.runs.tables import table

        columns = ("number", "side", "prepared", "score", "depth", "reason", "moves")
        rows = [
            {name: getattr(game, name) for name in columns} | {"moves": " ".join(game.moves)}
            for game in (*self.played, *self.without)
        ]
        return table(rows, columns)


def _counted(games: Sequence[PlayedGame], prepared: bool, count: int) -> tuple[PlayedGame, ...]:
    """The games that count, in the order of their numbers."""
    mine = {game.number: game for game in games if game.prepared == prepared}
    return tuple(mine[number] for number in sorted(mine) if number < count)


def by_score(played: Sequence[PlayedGame]) -> Counter[float]:
    """The games by what the prepared side got."""
    return Counter(game.score for game in played)


def outcome(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    played: Sequence[PlayedGame],
    without: Sequence[PlayedGame],
    adjudication: Adjudication,
    sprt: tuple[float, float] | None,
    seed: int,
    run: Run | None,
) -> MatchResult:
    """What games came to, beside what was promised of their books."""
    results = by_score(played)
    plain = set(results) <= {0.0, 0.5, 1.0}  # else the model's values: there are no wins to count
    books = [pairing.book for pairing in pairings]
    promised = sum(books[g.number % len(books)].value for g in played) / len(played)
    error = sum(books[g.number % len(books)].error for g in played) / len(played)
    agreement = scoring.agreement(promised, [game.score for game in played], error)
    test = None if sprt is None else scoring.sprt(results, *sprt)
    time = None
    if matchup.clock is not None:
        spent = _time(matchup, without) if without else None
        time = _time(matchup, played, spent)
    return MatchResult(
        matchup=matchup.name,
        adjudication=adjudication,
        sides=tuple(matchup.label(book.side) for book in books),
        games=len(played),
        opponent="prepared" if pairings[0].against is not None else "unprepared",
        wins=results[1.0] if plain else None,
        draws=results[0.5] if plain else None,
        losses=results[0.0] if plain else None,
        score=agreement.played,
        elo=EloEstimate(*scoring.elo_difference(results))
        if adjudication == "rules" or matchup.scores == "results"
        else None,
        superiority=scoring.superiority(results),
        book_moves=sum(game.depth for game in played) / len(played),
        endings={r: sum(g.reason == r for g in played) for r in sorted({g.reason for g in played})},
        promised=promised,
        promised_error=error,
        z=agreement.z,
        p_value=agreement.p_value,
        agrees=agreement.agrees,
        scores=matchup.scores,
        promised_book_moves=sum(_book_moves(books[g.number % len(books)]) for g in played) / len(played),
        settled=sum(g.reason in SETTLED for g in played),
        cut=sum(g.reason == CUT for g in played),
        sprt=None if test is None else SprtResult(test.llr, test.lower, test.upper, test.decision),
        control=Control(len(without), scoring.agreement(0.5, [g.score for g in without]).played)
        if without
        else None,
        time=time,
        played=tuple(played),
        without=tuple(without),
        pgn=_pgn(matchup, seed, (*played, *without)) if is_chess(matchup.game) else "",
        run=run,
    )


def _book_moves(book: Book) -> float:
    """How many book moves a game is promised to have."""
    return sum(entry.reach * entry.probability for entry in book.entries)


def _pgn(matchup: Matchup[Any], seed: int, games: Sequence[PlayedGame]) -> str:
    """The games as people write them down."""
    config, board = matchup.config, matchup.notation
    white, black = (at_the_board(config, colour, BASE_NODES) for colour in ("white", "black"))
    heading = Heading(
        f"preplay match: {matchup.name}",
        engines=(white, black),
        start="" if board is None else board.start,
        chess960=board is not None and board.chess960,
        more={"Seed": str(seed), "PreplayVersion": __version__},
    )
    return "".join(pgn_of(game, heading) for game in games)


def _time(
    matchup: Matchup[Any], played: Sequence[PlayedGame], control: TimeSpent | None = None
) -> TimeSpent:
    """The mean time of a move after the book, by the side that may have one and by its opponent."""
    from preplay.chess.clock import ClockedChess, thinking_times

    assert isinstance(matchup.game, ClockedChess)
    mine: list[int] = []
    theirs: list[int] = []
    for game in played:
        white, black = thinking_times(matchup.game, game.moves)
        mine += white if game.side == 1 else black
        theirs += (black if game.side == 1 else white)[game.depth :]
    means = [sum(times) / max(1, len(times)) for times in (mine, theirs)]
    return TimeSpent(prepared=means[0], opponent=means[1], control=control)
