"""Matches: books played for real, every game kept, from where the same match goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

from preplay import scoring
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
from preplay.chess.endings import NEVER_SETTLED, Settling
from preplay.chess.scoresheet import PlayedGame
from preplay.errors import InputError
from preplay.hardening import mix_of, played_by
from preplay.matches import Adjudication, Pairing, is_chess, play_match
from preplay.matchup import Matchup
from preplay.matchup.model import check_matchup
from preplay.runs.directory import GAMES, check_same_game, settings_of, start
from preplay.runs.equilibria import EquilibriumResult
from preplay.runs.frontiers import FrontierResult
from preplay.runs.hardened import HardenResult
from preplay.runs.keeping import save as keep
from preplay.runs.outcomes import MatchResult, by_score, outcome
from preplay.runs.prepared import PrepareResult
from preplay.runs.prepared import prepare as prepare_now
from preplay.stopping import NEVER, Stop

PREPARED = (PrepareResult, FrontierResult, EquilibriumResult, HardenResult, Book)
"""What can be played."""


class MatchProgress(NamedTuple):
    """So many games are done."""

    done: int
    games: int
    score: float

    def __str__(self) -> str:
        return f"{self.done}/{self.games} games  score {self.score:.4f}"


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

    `prepared` is a result of `prepare`, `frontier`, `equilibrium` or `harden`, or a book; without one,
    `side` (or "both") is prepared now at `cost`. Of `harden` the best book meets the mix that it was
    found against. In an equilibrium both sides play their mixed books, and `side` says whose score
    counts. `control` plays as many games without the book; `sprt` = (elo0, elo1) stops when one of the
    two is accepted. Games that are played by the rules end by these alone, unless `settling` asks for
    more. With `save` every game is kept, and the same call goes on from there.
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
        return sprt is not None and scoring.sprt(by_score(played), *sprt).decision != "go on"

    play = partial(play_match, matchup, pairings, settling=settling, kept=kept, stop=stop)
    played = play(games, mode, seed, tell=tell)
    without: list[PlayedGame] = []
    if control and not stop.asked:
        without = play(len(played), mode, seed, control=True)
    if not played:
        raise KeyboardInterrupt
    result = outcome(matchup, pairings, played, without, mode, sprt, seed, run)
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
    if prepared is book and book.against != "base":
        whom = {"book": "an opponent with a book", "mix": "an opponent who mixes their moves"}
        raise InputError(
            f"{_place(prepared)}: its value is against {whom[book.against]}; expected the result "
            "of equilibrium or harden, or a book against an opponent without one"
        )


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
