"""preplay match: real games that prove what a book is worth."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from preplay.cli import options, show

if TYPE_CHECKING:
    from preplay.book import Book
    from preplay.chess.match import Adjudication, Pairing, PlayedGame
    from preplay.matchup import Matchup


def match(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG", help="A run made by `prepare --save`, or a matchup to prepare now."
        ),
    ],
    games: Annotated[int, typer.Option("--games", min=1, help="How many games.")] = 400,
    side: Annotated[
        str | None,
        typer.Option(
            "--side",
            help="Whose book: white, black or both; default: the run's, or white.",
            show_default=False,
        ),
    ] = None,
    adjudication: Annotated[
        str | None,
        typer.Option(
            "--adjudication",
            help="model: scored by the value model where the book ends (not under a clock); "
            "rules: to the end.",
        ),
    ] = None,
    control: Annotated[
        bool, typer.Option("--control", help="Play as many games without the book, for comparison.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same games.")] = 0,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option("--sprt", metavar="ELO0 ELO1", help="Stop when one of the two is accepted."),
    ] = None,
    cost: options.Cost = None,
    changes: options.Set = None,
    pgn: Annotated[Path | None, typer.Option("--pgn", metavar="FILE", help="Write all games.")] = None,
    save: options.Save = None,
    workers: options.Workers = None,
    store: options.Store = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play prepared against unprepared and compare the result with what was promised.

    In a match of an equilibrium run both sides are prepared: each plays its own mixed book.

    Example: preplay match runs/white --games 400 --adjudication rules --pgn games.pgn
    """
    from preplay import runs
    from preplay import scoring as scores
    from preplay.chess.match import pgn_of, play_match
    from preplay.errors import InputError
    from preplay.files import check_writable, write_text
    from preplay.matchup.source import from_config
    from preplay.stopping import on_interrupt

    if adjudication not in (None, "model", "rules"):
        raise InputError(f"adjudication '{adjudication}'; expected model or rules")
    if sprt is not None:
        scores.sprt(scores.Tally(0, 0, 0), *sprt)
    if pgn is not None:
        check_writable(pgn)
    if cost is not None and Path(config).is_dir():
        raise InputError(f"--cost {cost:g} with a run, which has its cost; expected a matchup")
    name, settings = _settings(config, changes or ())
    if not str(settings.get("kind")).startswith("chess"):
        raise InputError(f"matchup '{name}' is not chess; matches are played in chess only")
    with from_config(name, settings, workers=workers, store=store) as matchup, on_interrupt() as stop:
        clocked = matchup.clock is not None
        mode: Adjudication = (
            "rules" if adjudication == "rules" or (clocked and not adjudication) else "model"
        )
        pairings = _pairings(config, matchup, side, cost, stop)
        run = None
        if save is not None:
            identity = {
                "matchup": dict(matchup.config),
                "adjudication": mode,
                "seed": seed,
                "control": control,
                "books": [_digest(b) for p in pairings for b in (p.book, p.against) if b is not None],
            }
            run = runs.start(save, "match", matchup.name, identity, matchup.versions)
        kept = run.path("games.jsonl") if run is not None else None

        def tell(played: Sequence[PlayedGame]) -> bool:
            if not (quiet or as_json) and sys.stderr.isatty():
                now = sum(g.score for g in played) / len(played)
                line = f"\r{len(played)}/{games} games  score {now:.4f}  {matchup.searches():,} searches"
                print(line.ljust(70), end="", file=sys.stderr, flush=True)
            return sprt is not None and scores.sprt(counts(played), *sprt).decision != "go on"

        played = play_match(
            matchup,
            pairings,
            games,
            mode,
            seed,
            kept=kept,
            stop=stop,
            tell=tell,
        )
        without = (
            play_match(matchup, pairings, len(played), mode, seed, control=True, kept=kept, stop=stop)
            if control and not stop.asked
            else []
        )
        if not (quiet or as_json) and sys.stderr.isatty():
            print(file=sys.stderr)
        if not played:
            raise typer.Exit(130)
        names = ("Prepared", "Opponent")
        text = "".join(pgn_of(game, matchup, names) for game in (*played, *without))
        for path in (pgn, run.path("games.pgn") if run is not None else None):
            if path is not None:
                write_text(path, text)
        data = as_data(matchup, pairings, played, without, mode, sprt)
        if run is not None:
            run.write("result.json", data)
        if as_json:
            show.print_json(data)
        else:
            print_match(data)
            if pgn is not None:
                print(f"\nGames in {pgn}")
            if run is not None:
                print(f"\nKept in {run.directory}: result.json, games.pgn, games.jsonl")
    if stop.asked:
        raise typer.Exit(130)


def _settings(config: str, changes: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The matchup of a run directory, or the one that CONFIG names."""
    from preplay import runs
    from preplay.errors import InputError
    from preplay.matchup import load_config
    from preplay.matchup.settings import override

    if not Path(config).is_dir():
        return load_config(config, changes)
    run = runs.load(Path(config))
    if run.command not in ("prepare", "equilibrium"):
        raise InputError(
            f"{config}: made by `preplay {run.command}`; expected a prepare or equilibrium run"
        )
    settings = {k: v for k, v in run.identity["matchup"].items() if k != "engines"}
    return run.name, override(settings, changes)


def _pairings(
    config: str, matchup: Matchup[Any], side: str | None, cost: float | None, stop: Any
) -> list[Pairing]:
    """The books to play: those of a run, or newly prepared ones."""
    from preplay import book as books
    from preplay import tree
    from preplay.chess.match import Pairing
    from preplay.errors import InputError
    from preplay.preparation import book_of, prepare

    directory = Path(config)
    who = [matchup.side(name) for name in (("1", "2") if side == "both" else (side or "1",))]
    if not directory.is_dir():
        return [Pairing(book_of(matchup, prepare(matchup, one, cost, stop=stop))) for one in who]
    if (directory / "book.json").exists():
        book = books.load(directory / "book.json")
        if side is not None and who != [book.side]:
            raise InputError(f"{config}: holds a book for {matchup.label(book.side)}, not for {side}")
        pairings = [Pairing(book)]
    else:
        both = [books.load(directory / f"book-{number}.json") for number in (1, 2)]
        grown = tree.load(directory / "tree.npz")
        pairings = [Pairing(both[one - 1], both[2 - one], grown) for one in who]
    board = matchup.notation
    assert board is not None  # it is chess
    for pairing in pairings:
        if (pairing.book.start, pairing.book.chess960) != (board.start, board.chess960):
            here, there = board.start or "the usual position", pairing.book.start or "the usual position"
            raise InputError(f"{config}: a book from {there}; the match starts from {here}")
    return pairings


def _digest(book: Book) -> str:
    import hashlib

    text = repr(
        [(entry.history, sorted(entry.moves.items()), entry.probability) for entry in book.entries]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def counts(played: Sequence[PlayedGame]) -> Counter[float]:
    """The games by what the prepared side got."""
    return Counter(game.score for game in played)


def as_data(
    matchup: Matchup[Any],
    pairings: Sequence[Pairing],
    played: Sequence[PlayedGame],
    without: Sequence[PlayedGame],
    adjudication: str,
    sprt: tuple[float, float] | None,
) -> dict[str, Any]:
    """What a match says, as JSON data."""
    from preplay import scoring as scores

    results = counts(played)
    plain = set(results) <= {0.0, 0.5, 1.0}  # else the model's values: there are no wins to count
    books = [pairing.book for pairing in pairings]
    promised = sum(books[g.number % len(books)].value for g in played) / len(played)
    error = sum(books[g.number % len(books)].error for g in played) / len(played)
    agreement = scores.agreement(promised, [game.score for game in played], error)
    elo = scores.elo_difference(results)
    data: dict[str, Any] = {
        "matchup": matchup.name,
        "adjudication": adjudication,
        "sides": [matchup.label(book.side) for book in books],
        "games": len(played),
        "opponent": "prepared" if pairings[0].against is not None else "unprepared",
        "wins": results[1.0] if plain else None,
        "draws": results[0.5] if plain else None,
        "losses": results[0.0] if plain else None,
        "score": _interval(agreement.played),
        "elo": _interval(elo),
        "superiority": scores.superiority(results),
        "book_moves": sum(game.depth for game in played) / len(played),
        "endings": {r: sum(g.reason == r for g in played) for r in sorted({g.reason for g in played})},
        "promised": promised,
        "promised_error": error,
        "z": agreement.z,
        "p_value": agreement.p_value,
        "agrees": agreement.agrees,
    }
    if sprt is not None:
        test = scores.sprt(results, *sprt)
        data["sprt"] = {
            "llr": test.llr,
            "lower": test.lower,
            "upper": test.upper,
            "decision": test.decision,
        }
    if without:
        data["control"] = {
            "games": len(without),
            "score": _interval(scores.agreement(0.5, [g.score for g in without]).played),
        }
    if matchup.clock is not None:
        data["time"] = _time(matchup, played) | ({"control": _time(matchup, without)} if without else {})
    return data


def _time(matchup: Matchup[Any], played: Sequence[PlayedGame]) -> dict[str, float]:
    """The mean time of a move after the book, by the side that may have one and by its opponent."""
    from preplay.chess.clock import ClockedChess, thinking_times

    assert isinstance(matchup.game, ClockedChess)
    mine: list[int] = []
    theirs: list[int] = []
    for game in played:
        white, black = thinking_times(matchup.game, game.moves)
        mine += white if game.side == 1 else black
        theirs += (black if game.side == 1 else white)[game.depth :]
    return {"prepared": sum(mine) / max(1, len(mine)), "opponent": sum(theirs) / max(1, len(theirs))}


def _interval(interval: Any) -> dict[str, float | None]:
    return {key: show.finite(getattr(interval, key)) for key in ("mean", "error", "low", "high")}


def print_match(data: dict[str, Any]) -> None:
    """A readable account of a match."""
    score, elo = data["score"], data["elo"]
    prepared = "both" if data["opponent"] == "prepared" else " and ".join(map(str, data["sides"]))
    of = f", score of {' and '.join(map(str, data['sides']))}" if prepared == "both" else ""
    print(f"{data['games']} games, {data['matchup']}, prepared: {prepared}{of}")
    print(f"  scored by            {data['adjudication']}")
    if data["wins"] is not None:
        print(f"  won/drawn/lost       {data['wins']} / {data['draws']} / {data['losses']}")
    print(
        f"  score                {score['mean']:.4f}  (95 %: {score['low']:.4f} to {score['high']:.4f})"
    )
    if elo["mean"] is not None:
        low = "-inf" if elo["low"] is None else f"{elo['low']:+.0f}"
        high = "inf" if elo["high"] is None else f"{elo['high']:+.0f}"
        print(f"  Elo difference       {elo['mean']:+.0f}  (95 %: {low} to {high})")
    print(f"  superiority          {data['superiority']:.2%}")
    print(f"  book moves a game    {data['book_moves']:.1f}")
    if "time" in data:
        time = data["time"]
        print(f"  time after the book  {time['prepared']:,.0f}, opponent {time['opponent']:,.0f} a move")
    verdict = "agree" if data["agrees"] else "differ"
    error = f" ± {data['promised_error']:.4f}" if data["promised_error"] > 1e-6 else ""
    print(f"  promised             {data['promised']:.4f}{error}")
    print(f"  played and promised  {verdict} (p = {data['p_value']:.3f})")
    if data["adjudication"] == "rules" and not data["promised_error"] > 1e-6:
        print(
            "                       (promised by the value model, where the book ends; played to the end)"
        )
    if "sprt" in data:
        print(f"  SPRT                 {data['sprt']['decision']}, LLR {data['sprt']['llr']:.2f}")
    if "control" in data:
        without = data["control"]["score"]
        interval = f"(95 %: {without['low']:.4f} to {without['high']:.4f})"
        print(f"  without the book     {without['mean']:.4f}  {interval}")
