"""preplay match: real games that prove what a book is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from preplay.cli import options, show
from preplay.cli.working import check_engines

if TYPE_CHECKING:
    from preplay.runs.outcomes import MatchResult


def match(
    config: Annotated[
        str,
        typer.Argument(
            metavar="RUN|MATCHUP",
            help="A folder that `prepare`, `frontier`, `equilibrium` or `harden` kept, or a matchup "
            "to prepare now: a built-in name, a .toml or .json file, or module:function.",
        ),
    ],
    games: Annotated[int, typer.Option("--games", min=1, help="How many games to play.")] = 400,
    side: Annotated[
        str | None,
        typer.Option(
            "--side",
            help="Whose book: white, black (or 1, 2) or both; default: the run's, or white.",
            show_default=False,
        ),
    ] = None,
    adjudication: Annotated[
        str | None,
        typer.Option(
            "--adjudication",
            help="rules: play each game to its end; model: score it where the book ends, by the value "
            "model (not under a clock). Default: model in chess without a clock, else rules.",
        ),
    ] = None,
    resign: Annotated[
        int | None,
        typer.Option(
            "--resign",
            metavar="CP",
            min=1,
            help="With rules: a side loses when its own searches say that it is this far behind, in 3 of "
            "its moves in a row.",
        ),
    ] = None,
    drawn: Annotated[
        int | None,
        typer.Option(
            "--draw",
            metavar="CP",
            min=0,
            help="With rules: drawn when 8 searches in a row are this near to 0, after move 40.",
        ),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option("--longest", metavar="N", min=1, help="With rules: drawn after so many half-moves."),
    ] = None,
    control: Annotated[
        bool, typer.Option("--control", help="Also play as many games without the book, for comparison.")
    ] = False,
    seed: Annotated[
        int,
        typer.Option("--seed", help="Decides all random choices; the same seed plays the same games."),
    ] = 0,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--sprt",
            metavar="ELO0 ELO1",
            help="Stop when a sequential test accepts one of these Elo differences.",
        ),
    ] = None,
    cost: options.Cost = None,
    changes: options.Set = None,
    pgn: Annotated[
        Path | None, typer.Option("--pgn", metavar="FILE", help="Write all games as PGN.")
    ] = None,
    save: options.Save = None,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play games with a book, and compare them with its promise.

    The opponent has no book; of an equilibrium run each side plays its own mixed one.

    Example: preplay match runs/white --games 400 --adjudication rules --pgn games.pgn
    """
    from preplay.chess.endings import Settling
    from preplay.errors import InputError
    from preplay.files import check_writable, write_text
    from preplay.matches import Adjudication
    from preplay.matchup import load_config
    from preplay.matchup.settings import check_price
    from preplay.matchup.source import BY_ENGINES, from_config
    from preplay.runs import as_data, load_run, open_run
    from preplay.runs.matches import match as match_run
    from preplay.runs.reopening import check_unchanged, settings_to_open
    from preplay.stopping import on_interrupt

    if pgn is not None:
        check_writable(pgn)
    run = open_run(Path(config)) if Path(config).is_dir() else None
    if cost is not None and run is not None:
        raise InputError(f"--cost {cost:g} with a run, which has its cost; expected a matchup")
    check_price(cost, changes or ())
    if run is None:
        name, settings = load_config(config, changes or ())
    else:
        run.check_books()
        name, settings = run.name, settings_to_open(run, changes or ())
    check_engines(name, settings, workers=workers, store=store, cluster=cluster)
    if pgn is not None and settings.get("kind") not in BY_ENGINES:
        raise InputError(f"--pgn {pgn}: matchup '{name}' is not chess; expected a game of chess")
    with (
        from_config(name, settings, workers=workers, store=store, cluster=cluster) as matchup,
        on_interrupt() as stop,
    ):
        progress = show.progress(quiet or as_json, matchup.telling)
        prepared = None if run is None else load_run(run.directory)
        if run is not None:
            check_unchanged(run, matchup)
        result = match_run(
            matchup,
            prepared,
            games,
            side=side,
            adjudication=cast("Adjudication | None", adjudication),
            control=control,
            seed=seed,
            sprt=sprt,
            settling=Settling(resign, drawn, longest),
            cost=cost,
            save=save,
            stop=stop,
            progress=progress,
        )
        show.end_progress(progress)
        if pgn is not None:
            write_text(pgn, result.pgn)
        if as_json:
            show.print_json(as_data(result))
        else:
            print_match(result)
            show.kept(result, pgn)
    if stop.asked:
        raise typer.Exit(130)


def print_match(result: MatchResult) -> None:
    """A readable account of a match."""
    score, elo = result.score, result.elo
    sides = " and ".join(map(str, result.sides))
    prepared = "both" if result.opponent == "prepared" else sides
    of = f", score of {sides}" if prepared == "both" else ""
    show.say(f"{show.counted(result.games, 'game')}, {result.matchup}, prepared: {prepared}{of}")
    plain = result.scores == "results" or result.adjudication == "rules"
    what = "" if plain else ": model scores, not results"
    print(f"  scored by            {result.adjudication}{what}")
    if result.wins is not None:
        print(f"  won/drawn/lost       {result.wins} / {result.draws} / {result.losses}")
    print(f"  score                {score.mean:.4f}  (95 %: {score.low:.4f} to {score.high:.4f})")
    if elo is not None and elo.mean is not None:
        low = "-inf" if elo.low is None else f"{elo.low:+.0f}"
        high = "inf" if elo.high is None else f"{elo.high:+.0f}"
        print(f"  Elo difference       {elo.mean:+.0f}  (95 %: {low} to {high})")
    print(f"  superiority          {result.superiority:.2%}")
    promised = (
        "" if result.promised_book_moves is None else f", promised {result.promised_book_moves:.2f}"
    )
    print(f"  book moves a game    {result.book_moves:.2f}{promised}")
    if result.settled:
        print(f"  settled by scores    {show.counted(result.settled, 'game')}, as asked for")
    if result.cut:
        print(f"  cut as drawn         {show.counted(result.cut, 'game')}, as asked for")
    if result.time is not None:
        time = result.time
        print(f"  time after the book  {time.prepared:,.0f}, opponent {time.opponent:,.0f} a move")
    verdict = "agree" if result.agrees else "differ"
    error = f" ± {result.promised_error:.4f}" if result.promised_error > 1e-6 else ""
    print(f"  promised             {result.promised:.4f}{error}")
    print(f"  played and promised  {verdict} (p = {result.p_value:.3f})")
    if result.adjudication == "rules" and result.scores == "model":
        show.fact("", "(promised is a model score, where the book ends; played is a result)")
    if result.sprt is not None:
        print(f"  SPRT                 {result.sprt.decision}, LLR {result.sprt.llr:.2f}")
    if result.control is not None:
        without = result.control.score
        interval = f"(95 %: {without.low:.4f} to {without.high:.4f})"
        print(f"  without the book     {without.mean:.4f}  {interval}")
