"""preplay check: where games that were really played left the preparation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from preplay.cli import options, show


def check(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A folder made with --save, or the file of a book (.json or .pgn)."
        ),
    ],
    games: Annotated[Path, typer.Argument(metavar="GAMES", help="A PGN file of games that were played.")],
    player: Annotated[
        str, typer.Option("--player", help="Only games in which this player has the book's colour.")
    ] = "",
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            help="Follow this player's games, by their moves alone; may be repeated for other spellings.",
        ),
    ] = None,
    since: Annotated[
        str,
        typer.Option("--since", help="With --opponent: only games since this date, as 2021 or 2021-05."),
    ] = "",
    side: Annotated[
        str | None, typer.Option("--side", help="Whose book, where the run has one of each side.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", min=0, help="How many games to list.")] = 40,
    as_json: options.Json = False,
) -> None:
    """Tell where each game left the book, and how often.

    deviation: you played another move; gap: the book has no answer to the opponent's move; ended: the
    line of the book was over; completed: the game was over in the book. A game counts from where it
    reaches the book's start position; one that never does is listed as elsewhere.

    With --opponent the games are the opponent's against anybody: how far they would have followed the
    book if you had played it, beside a book of the same size with their most frequent lines.

    Example: preplay check runs/white games.pgn
    """
    from preplay.errors import InputError
    from preplay.runs import as_data, find_chess_book
    from preplay.runs.checks import check as check_games

    if since and not opponent:
        raise InputError(f"--since {since}: expected together with --opponent NAME")
    if player and opponent:
        raise InputError(f"--player {player} and --opponent {opponent[0]}; expected one of the two")
    if opponent:
        _follow(run, games, opponent, options.date("--since", since), side, as_json)
        return
    found = check_games(find_chess_book(run, side), games, player=player)
    if as_json:
        show.print_json(as_data(found))
        return
    rows = [
        (
            f"{r.number}",
            f"{r.white} - {r.black}",
            r.result,
            r.outcome,
            f"{r.moves}",
            r.played,
            " / ".join(r.expected),
        )
        for r in found.games[:lines]
    ]
    show.print_table(
        ("", "game", "result", "left by", "book moves", "played", "book"), rows, right=(0, 4), cut=1
    )
    if len(found.games) > lines:
        print(f"... and {len(found.games) - lines} more (--lines N or --json for all)")
    summary = found.summary
    elsewhere = summary.outcomes["elsewhere"]
    among = f" in the {summary.games - elsewhere} that reached the book's start" if elsewhere else ""
    besides = f" and {summary.known:.1f} known before it" if summary.known else ""
    average = f"{summary.moves:.1f} book moves{besides} on average"
    print(f"\n{show.counted(summary.games, 'game')}, {average}{among}")
    for outcome, count in summary.outcomes.items():
        if outcome == "elsewhere" and not count:
            continue
        points = summary.points.get(outcome)
        scored = f", score {points:.3f}" if points is not None else ""
        meaning = " (never reached the book's start)" if outcome == "elsewhere" else ""
        print(f"  {outcome}: {count}{scored}{meaning}")
    if summary.skipped:
        print(f"  {show.counted(summary.skipped, 'game')} skipped (another player)")
    if summary.broken:
        print(f"  {show.counted(len(summary.broken), 'game')} left out ({summary.broken[0]})")
    for leaving in summary.leavings[:5]:
        expected = f" instead of {' / '.join(leaving.expected)}" if leaving.expected else ""
        after = leaving.line or "the start"
        show.say(
            f"{leaving.games}x {leaving.outcome} after {after}: {leaving.played}{expected}", indent=2
        )


def _follow(
    run: Path, games: Path, opponent: list[str], since: str, side: str | None, as_json: bool
) -> None:
    """The held-out test of a book against somebody's new games."""
    from preplay.chess.heldout import held_out
    from preplay.matchup.people import frequent_of
    from preplay.runs import as_data, find_chess_book

    book = find_chess_book(run, side)
    found = held_out(book, [games], opponent, frequent_of(book), since=since)
    if as_json:
        show.print_json(as_data(found))
        return
    followed = f"{show.counted(found.games, 'game')} of {' or '.join(opponent)}"
    print(f"{followed}, {found.skipped:,} others skipped")
    rows = []
    for name, one in (("this book", found.book), ("most frequent lines", found.frequent)):
        if one is not None:
            answered = "-"
            if one.answered_seen is not None and one.answered_expected is not None:
                error = one.answered_error or 0.0
                answered = f"{one.answered_expected:.0%} / {one.answered_seen:.0%} ± {error:.0%}"
            moves = f"{one.expected:.2f} / {one.seen:.2f} ± {one.error:.2f}"
            rows.append((name, f"{one.size:,}", moves, answered, f"{one.answers:,}"))
    titles = ("book", "size", "book moves a game", "has an answer", "of moves")
    print("\nexpected / seen")
    show.print_table(titles, rows, right=(1, 2, 3, 4))
    if found.frequent is None:
        print("No games of the opponent are known to this run: nothing to compare with.")
    if found.broken:
        print(f"{show.counted(len(found.broken), 'game')} left out ({found.broken[0]})")
