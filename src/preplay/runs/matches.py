"""Matches: books played for real, the result beside the promise, kept and found again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from preplay import __version__, scoring
from preplay.arguments import (
    as_path,
    check_both,
    check_flag,
    check_function,
    check_made,
    check_whole,
    shown,
)
from preplay.book import Book
from preplay.chess.books.naming import at_the_board
from preplay.chess.endings import CUT, NEVER_SETTLED, SETTLED, Settling
from preplay.chess.scoresheet import Heading, PlayedGame, pgn_of, read_scoresheet
from preplay.errors import InputError
from preplay.files import write_text
from preplay.frozen import freeze
from preplay.hardening import mix_of, played_by
from preplay.matches import Adjudication, Pairing, is_chess, play_match
from preplay.matchup import Matchup
from preplay.matchup.model import check_matchup
from preplay.matchup.searching import BASE_NODES
from preplay.runs.directory import GAMES, GAMES_PGN, RESULT, Run, check_same_game, settings_of, start
from preplay.runs.encoding import beside, from_data, optional
from preplay.runs.equilibria import EquilibriumResult
from preplay.runs.frontiers import FrontierResult
from preplay.runs.hardened import HardenResult
from preplay.runs.keeping import save as keep
from preplay.runs.prepared import PrepareResult
from preplay.runs.prepared import prepare as prepare_now
from preplay.scoring import Interval
from preplay.stopping import NEVER, Stop

if TYPE_CHECKING:
    from pandas import DataFrame


PREPARED = (PrepareResult, FrontierResult, EquilibriumResult, HardenResult, Book)
"""What can be played."""


class MatchProgress(NamedTuple):
    """So many games are done."""

    done: int
    games: int
    score: float

    def __str__(self) -> str:
        return f"{self.done}/{self.games} games  score {self.score:.4f}"


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


def match(
    matchup: Matchup[Any],
    prepared: PrepareResult | FrontierResult | EquilibriumResult | HardenResult | Book | None = None,
    games: int = 400,
    *,
    side: str | int | None = None,
    adjudication: Adjudication | None = None,
    control: bool = False,
    seed: int = 0,
    sprt: tuple[float, float] | None = None,
    settling: Settling = NEVER_SETTLED,
    cost: float | None = None,
    save: str | Path | None = None,
    stop: Stop = NEVER,
    progress: Callable[[object], None] | None = None,
) -> MatchResult:
    """Play a book for real and compare the score with what was promised.

    `prepared` is a result of `prepare` or `equilibrium`, or a book; without one, `side` (or "both") is
    prepared now at `cost`. Of `harden` the best book meets the mix that it was found
    against. In an equilibrium both sides play their mixed books, and `side` says whose
    score counts. `control` plays as many games without the book; `sprt` = (elo0, elo1) stops when one of
    the two is accepted. Games that are played by the rules end by these alone, unless `settling` asks
    for more. With `save` every game is kept, and the same call goes on from there.
    """
    check_matchup(matchup)
    check_whole("seed", seed)
    check_flag("control", control)
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    directory = None if save is None else as_path("save", save)
    mode = _mode(matchup, prepared, games, adjudication, sprt, settling)
    _check_prepared(matchup, prepared, cost)
    hides = None
    if isinstance(prepared, HardenResult):
        hides = prepared.policy
        matchup = played_by(matchup, hides.side, mix_of(hides))
        prepared = prepared.best
    pairings = _pairings(matchup, prepared, side, cost, stop)
    run = None
    if directory is not None:
        identity = {
            "matchup": settings_of(matchup),
            "adjudication": mode,
            "seed": seed,
            "control": control,
            "books": [_digest(b) for p in pairings for b in (p.book, p.against) if b is not None],
        }
        if hides is not None:
            identity["mix"] = [_digest(hides)]
        if mode == "rules":
            identity["settling"] = asdict(settling)
        run = start(directory, "match", matchup.name, identity, matchup.versions)
    kept = run.path(GAMES) if run is not None else None

    def tell(played: Sequence[PlayedGame]) -> bool:
        if progress is not None:
            now = sum(g.score for g in played) / len(played)
            progress(MatchProgress(len(played), games, now))
        return sprt is not None and scoring.sprt(_counts(played), *sprt).decision != "go on"

    play = partial(play_match, matchup, pairings, settling=settling, kept=kept, stop=stop)
    played = play(games, mode, seed, tell=tell)
    without: list[PlayedGame] = []
    if control and not stop.asked:
        without = play(len(played), mode, seed, control=True)
    if not played:
        raise KeyboardInterrupt
    text = _pgn(matchup, seed, (*played, *without)) if is_chess(matchup.game) else ""
    result = _result(matchup, pairings, played, without, mode, sprt, text, run)
    if run is not None:
        keep(run, result)
    return result


def _mode(
    matchup: Matchup[Any],
    prepared: object,
    games: int,
    adjudication: Adjudication | None,
    sprt: tuple[float, float] | None,
    settling: Settling,
) -> Adjudication:
    """How games are scored; refuses a match that cannot be played."""
    if sprt is not None:
        check_both("sprt", sprt, "elo0 and elo1")
        scoring.sprt(scoring.Tally(0, 0, 0), *sprt)
    check_whole("games", games, 1)
    check_made("settling", settling, Settling, "as Settling(resign=600)")
    if adjudication not in (None, *get_args(Adjudication)):
        raise InputError(f"adjudication '{adjudication}'; expected model or rules")
    if prepared is not None and not isinstance(prepared, PREPARED):
        raise InputError(
            f"prepared is of type {type(prepared).__name__}; expected a result of prepare, frontier, "
            "equilibrium or harden, or a book; preplay.load_run finds that of a directory"
        )
    to_the_end = matchup.clock is not None or not is_chess(matchup.game)
    mode: Adjudication = adjudication or ("rules" if to_the_end else "model")
    if settling.asked and mode == "model":
        raise InputError(
            "resign, draw and longest are for games that are played out; expected adjudication rules"
        )
    return mode


def _check_prepared(
    matchup: Matchup[Any],
    prepared: PrepareResult | FrontierResult | EquilibriumResult | HardenResult | Book | None,
    cost: float | None,
) -> None:
    """Raise InputError for a book of another game, and for a cost where nothing is prepared."""
    if prepared is None:
        return
    if cost is not None:
        raise InputError(f"cost {shown(cost)} with a book, which has its cost; expected one of the two")
    if isinstance(prepared, EquilibriumResult):
        book = prepared.books[0]
    elif isinstance(prepared, HardenResult):
        book = prepared.best
    else:
        book = prepared if isinstance(prepared, Book) else prepared.book
    check_same_game(book, matchup, _place(prepared))


def _pairings(
    matchup: Matchup[Any],
    prepared: PrepareResult | FrontierResult | EquilibriumResult | Book | None,
    side: str | int | None,
    cost: float | None,
    stop: Stop,
) -> list[Pairing]:
    """The books to play: those given, or newly prepared ones."""
    named = ("1", "2") if side == "both" else ("1" if side is None else str(side),)
    who = [matchup.side(name) for name in named]
    if prepared is None:
        made = [prepare_now(matchup, one, cost, stop=stop) for one in who]
        return [Pairing(one.book, tree=one.tree) for one in made]
    if isinstance(prepared, EquilibriumResult):
        both = prepared.books
        pairings = [Pairing(both[one - 1], both[2 - one], prepared.tree) for one in who]
    else:
        book, tree = (prepared, None) if isinstance(prepared, Book) else (prepared.book, prepared.tree)
        if side is not None and who != [book.side]:
            raise InputError(
                f"{_place(prepared)}: holds a book for {matchup.label(book.side)}, not for {side}"
            )
        pairings = [Pairing(book, tree=tree)]
    board = matchup.notation
    if board is None:  # no chess: the games themselves refuse
        return pairings
    for pairing in pairings:
        if (pairing.book.start, pairing.book.chess960) != (board.start, board.chess960):
            here = board.start or "the usual position"
            there = pairing.book.start or "the usual position"
            raise InputError(f"{_place(prepared)}: a book from {there}; the match starts from {here}")
    return pairings


def _place(prepared: PrepareResult | FrontierResult | EquilibriumResult | HardenResult | Book) -> str:
    """Where a book comes from, for messages."""
    run = None if isinstance(prepared, Book) else prepared.run
    return "the book" if run is None else str(run.directory)


def _digest(book: Book) -> str:
    text = repr(
        [(entry.history, sorted(entry.moves.items()), entry.probability) for entry in book.entries]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _counts(played: Sequence[PlayedGame]) -> Counter[float]:
    """The games by what the prepared side got."""
    return Counter(game.score for game in played)


def _result(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    played: Sequence[PlayedGame],
    without: Sequence[PlayedGame],
    adjudication: Adjudication,
    sprt: tuple[float, float] | None,
    pgn: str,
    run: Run | None,
) -> MatchResult:
    results = _counts(played)
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
        pgn=pgn,
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
