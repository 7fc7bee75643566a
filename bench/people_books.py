"""Prepared books beside naive ones of the same size on an opponent's held-out games.

    python bench/people_books.py FOLDER --store FILE [--side black] [--cost 0.002] [--nodes 5000]

Each file of the folder holds the games of the player it is named after; the model is made of games before
the newest fifth, of the player and of the others. Every held-out game is followed by the opponent's moves
alone, and the position where the book ends is judged by a long search. Naive books: the opponent's most
frequent lines, answered by the move most often played, or by the engine's best move.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import chess

from preplay.book import Book
from preplay.chess.books.lookup import book_lookup
from preplay.chess.check import plies_before
from preplay.chess.engines.analysis import EngineSpec, Limit, SearchRequest, search_position
from preplay.chess.engines.analyst import Analyst
from preplay.chess.engines.discovery import find_command
from preplay.chess.engines.pool import EnginePool
from preplay.chess.engines.store import AnalysisStore
from preplay.chess.heldout import follow
from preplay.chess.players.filters import GameFilter, date_of
from preplay.chess.players.frequent import frequent_book, most_played
from preplay.chess.players.gather import gather_games
from preplay.chess.players.names import meant
from preplay.chess.players.opponent import NEWEST, Asking, fit_opponent
from preplay.chess.players.opponents import save_opponent
from preplay.chess.players.person import Level
from preplay.chess.players.readgames import ReadGame, read_file
from preplay.game import Side, other
from preplay.matchup import open_matchup
from preplay.matchup.chess import kept_games
from preplay.runs.prepared import prepare


@dataclass(frozen=True)
class Exits:
    """Where held-out games leave a book."""

    moves: float
    value: float
    error: float


def main() -> None:
    """Print a line for each book of each player."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--side", choices=("white", "black"), default="black")
    parser.add_argument("--cost", type=float, default=0.002)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--judge", type=int, default=100_000)
    parser.add_argument("--histories", type=int, default=20_000)
    parser.add_argument("--players", nargs="*")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    side: Side = 1 if given.side == "white" else 2
    for path in sorted(given.folder.glob("*.pgn*")):
        player = path.name.partition(".")[0]
        if given.players and player not in given.players:
            continue
        compare(given, path, player, side)


def compare(given: argparse.Namespace, path: Path, player: str, side: Side) -> None:
    """One player's held-out games against three books."""
    keep, mine = kept_games(given.store), other(side)
    games = gather_games([path], [player], side, keep=keep).games
    until = games[len(games) - round(NEWEST * len(games))].date
    spec = EngineSpec.of(find_command(None))
    with AnalysisStore(given.store) as store, EnginePool(workers=given.workers) as pool:
        analyst = Analyst(pool, store)
        asking = Asking(
            GameFilter(until=until), (str(given.folder),), (Level(nodes=given.nodes),), sample=1000
        )
        rival = fit_opponent(analyst, [path], [player], side, asking, keep=keep).opponent
        saved = given.store.with_name(f"{player}-{given.side}.json")
        save_opponent(rival, saved)
        settings = [
            f"{given.side}.opponent={saved}",
            "prep.choose=3",
            "prep.margin=40",
            "prep.deviations=1",
        ]
        settings += [f"prep.nodes={given.nodes}", f"judge.nodes={given.judge}", "value.model=linear"]
        with open_matchup("chess", settings, workers=given.workers, store=given.store) as matchup:
            found = prepare(matchup, str(mine), given.cost, histories=given.histories)
        habits = rival.person.habits

        def best(board: chess.Board) -> chess.Move | None:
            search = SearchRequest(spec, search_position(board), Limit(nodes=given.nodes), 3)
            return board.parse_uci(analyst.analyse([search])[0].best) if any(board.legal_moves) else None

        size = found.size
        books = {
            "prepared": found.book,
            "most frequent": frequent_book(habits.own, most_played(habits.replies), mine, size),
            "frequent, engine's best": frequent_book(habits.own, best, mine, size),
        }
        new = [
            game
            for game in read_file(path, [])
            if game.standard and meant([player], game.player(side)) and date_of(game.tags) >= until
        ]
        promise = f"promised {found.value:.4f} from {found.unprepared:.4f}"
        print(f"{player} as {given.side}: {len(new)} games since {until}, {promise}")
        for name, book in books.items():
            one = exits(analyst, spec, book, new, given.judge)
            print(f"  {name:24} {book.size:4} histories, {one.moves:.2f} book moves a game, ", end="")
            print(f"exit value {one.value:.4f} ± {one.error:.4f}", flush=True)


def exits(analyst: Analyst, spec: EngineSpec, book: Book, games: list[ReadGame], nodes: int) -> Exits:
    """How far the games go in a book, and what the judge says where they leave it."""
    lookup = book_lookup(book)
    moves, requests, turns = [], [], []
    for game in games:
        before = plies_before(lookup.start, game)
        if before is None:
            continue
        count, board = follow(lookup, book.side, game, before)
        moves.append(count)
        position = search_position(board.copy(stack=board.halfmove_clock))
        requests.append(SearchRequest(spec, position, Limit(nodes=nodes), 1))
        turns.append(board.turn == (book.side == 1))
    analyses = analyst.analyse(requests)
    scores = [
        a.lines[0].score if mine else -a.lines[0].score for a, mine in zip(analyses, turns, strict=True)
    ]
    values = [min(1.0, max(0.0, 0.5 + score / 800)) for score in scores]
    return Exits(fmean(moves), fmean(values), stdev(values) / len(values) ** 0.5)


if __name__ == "__main__":
    main()
