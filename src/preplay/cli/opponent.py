"""preplay opponent: a model of somebody's play, fitted to games."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.chess.players.person import Level
    from preplay.runs.opponents import OpponentResult


def opponent(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES...", help="Games as PGN: files, folders or patterns."),
    ],
    side: Annotated[
        str, typer.Option("--side", help="The side that the opponent plays: white or black.")
    ],
    player: Annotated[
        list[str] | None,
        typer.Option("--player", help="The opponent's name; may be repeated for other spellings."),
    ] = None,
    population: Annotated[
        list[str] | None,
        typer.Option(
            "--population",
            metavar="FILES",
            help="Games of other players, for positions the opponent never had.",
        ),
    ] = None,
    since: Annotated[
        str, typer.Option("--since", help="Only games since this date, as 2019 or 2019-05.")
    ] = "",
    until: Annotated[str, typer.Option("--until", help="Only games before this date.")] = "",
    speed: Annotated[
        str,
        typer.Option(
            "--speed",
            help="Only these speeds, separated by commas: bullet, blitz, rapid, classical, "
            "correspondence.",
        ),
    ] = "",
    rating: Annotated[
        str, typer.Option("--rating", help="Only moves of players with such a rating, as 2000-2400.")
    ] = "",
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            help="How strong the engine is that stands in: nodes=2000, UCI_Elo=1800, 'Skill Level=5'; of "
            "several the one that fits best.",
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", help="The engine that stands in where there are no games.")
    ] = None,
    sample: Annotated[
        int,
        typer.Option(
            "--sample",
            min=0,
            help="Ask the engine about at most so many moves to fit the model, and as many to test it.",
        ),
    ] = 1000,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Keep the model, for `prepare --set black.opponent=FILE`."
        ),
    ] = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a model to a player's games, and test it on the newest.

    Example: preplay opponent rival.pgn --player "Rival, Anna" --side black --save rival.json
    """
    from preplay.chess.engines.analyst import Analyst
    from preplay.chess.engines.cluster import open_pool
    from preplay.chess.engines.store import AnalysisStore
    from preplay.chess.players.filters import GameFilter
    from preplay.chess.players.opponent import Asking, fit_opponent
    from preplay.files import check_writable
    from preplay.matchup.chess import default_store, kept_games
    from preplay.matchup.model import side_named
    from preplay.matchup.people import parse_rating, parse_speeds
    from preplay.runs import as_data
    from preplay.runs.opponents import opponent_result
    from preplay.stopping import on_interrupt

    who = side_named(side, ("white", "black"))
    speeds, span = parse_speeds(speed), parse_rating(rating)
    which = GameFilter(options.date("--since", since), speeds, span, options.date("--until", until))
    asking = Asking(which, tuple(population or ()), _levels(level or [], engine), sample)
    if save is not None:
        check_writable(save)
    progress = show.progress(quiet or as_json)
    with (
        AnalysisStore(store or default_store()) as kept,
        open_pool(cluster, workers) as pool,
        on_interrupt() as stop,
    ):
        limit = stop if seconds is None else stop.until(time.monotonic() + seconds)
        fit = fit_opponent(
            Analyst(pool, kept),
            files,
            player or (),
            who,
            asking,
            keep=kept_games(store),
            stop=limit,
            progress=progress,
        )
    found = opponent_result(fit)
    show.end_progress(progress)
    if save is not None:
        found.save(save)
    if as_json:
        show.print_json(as_data(found))
    else:
        _print(found, save)
    if stop.requested:
        raise typer.Exit(130)


def _levels(given: list[str], engine: str | None) -> tuple[Level, ...]:
    from preplay.chess.players.opponent import LEVELS
    from preplay.chess.players.person import Level, parse_level

    if given:
        return tuple(parse_level(text, engine) for text in given)
    return tuple(Level(engine, one.options, one.nodes, one.multipv) for one in LEVELS)


def _print(found: OpponentResult, save: Path | None) -> None:
    """What a coach wants to know."""
    names = ", ".join(f"{name} ({count})" for name, count in list(found.names.items())[:6])
    names += ", …" if len(found.names) > 6 else ""
    span = f", {' to '.join(found.dates)}" if found.dates else ""
    show.say(f"{found.opponent.title} as {found.side.capitalize()}")
    show.fact("games", f"{found.games:,}{span}: {names}")
    show.fact("positions known", f"{found.positions:,}")
    if found.population.positions:
        show.fact("of others", f"{found.population.positions:,}")
    if found.known is not None:
        held, rest = ("newest games", "older") if found.split.since else ("games held out", "other")
        show.fact(held, f"{found.known:.0%} of their positions occur in the {rest} ones")
    fitted = found.fitted
    show.fact("own games", f"all else counts as {fitted.own_weight:g} of them")
    show.fact("games of others", f"the engine counts as {fitted.population_weight:g} of them")
    show.fact(
        "engine",
        f"{fitted.engine}: {fitted.narrow:.0%} among its best 2 "
        f"(r = {fitted.narrow_randomness:.0f}), else among 10 (r = {fitted.wide_randomness:.0f}), "
        f"{fitted.rest:.1%} other moves",
    )
    _print_test(found)
    skipped = {f.name.replace("_", " "): getattr(found.skipped, f.name) for f in fields(found.skipped)}
    if any(skipped.values()):
        print()
        show.say("Not counted: " + ", ".join(f"{n:,} {name}" for name, n in skipped.items() if n))
    for warning in found.warnings:
        show.fact("Warning:", warning, indent=9, margin=0)
    if save is not None:
        print(f"\nKept in {save}; use it with\n  --set {found.side}.opponent={save}")


def _print_test(found: OpponentResult) -> None:
    """How the model did against the games that were held out."""
    if found.logloss is None:
        show.fact("log-loss", "too few games to hold the model against")
        return
    split = found.split
    since = f"the newest {split.test} games (since {split.since})"
    which = since if split.since else f"{split.test} games drawn at random"
    print()
    show.say(f"Held against {which}, {found.moves:,} moves of their first 10:")
    rows = [(f"{loss:.3f}", name) for name, loss in found.baselines.items()]
    rows = sorted([*rows, (f"{found.logloss:.3f}", f"this model (± {found.error:.2f})")], key=_losing)
    show.print_table(("nats", "model"), rows, right=(0,), cut=1)
    show.say(f"Its first choice was played in {found.top1:.0%} of them.")


def _losing(row: tuple[str, str]) -> float:
    return -float(row[0])
