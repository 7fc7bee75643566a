"""An outside referee: does a book keep its promise against an engine that knows nothing of preplay?

Usage: python bench/outside.py RUN [--games 400] [--processes 2] [--out result.json] [--control]

Only python-chess is used. The prepared side is the process `preplay uci --book RUN`, seen as any GUI
sees it. The opponent is a bare Stockfish: for each move it is told the moves of the game, with a fresh
hash, and the referee itself draws from the softmax of its best moves, by the limits and the randomness
that the run states (`run.json`). Games are played to the end by the rules of chess. Every game is kept as
it ends (beside `--out`, as .jsonl), and the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chess
import chess.engine

BASE_NODES = 5_000
"""What a run means where it states no limit."""
MATE = 32_000


@dataclass(frozen=True)
class Promise:
    """What a run says of itself, read from its files."""

    run: str
    side: str
    value: float
    """The promised score."""
    error: float
    """How far it may be off, at 95 %."""
    unprepared: float
    """The promised score without the book."""
    moves: float
    """Promised book moves a game."""
    white: dict[str, Any]
    black: dict[str, Any]
    start: dict[str, Any]

    @classmethod
    def read(cls, run: Path) -> Promise:
        matchup = json.loads((run / "run.json").read_text())["identity"]["matchup"]
        result = json.loads((run / "result.json").read_text())
        book = json.loads((run / "book.json").read_text())
        for colour in ("white", "black"):
            known = {"engine", "options", "nodes", "depth", "milliseconds", "multipv", "randomness"}
            more = {k for k, v in matchup[colour].items() if v and k not in known}
            if more:
                sys.exit(f"{run}: {colour} has {', '.join(sorted(more))}; expected a plain engine")
        return cls(
            run=str(run),
            side=result["side"],
            value=result["value"],
            error=result["error"],
            unprepared=book["baseline"] if book.get("unprepared") is None else book["unprepared"],
            moves=math.fsum(e["reach"] * e.get("probability", 1.0) for e in book["entries"]),
            white=matchup["white"],
            black=matchup["black"],
            start=matchup["start"],
        )

    def player(self, own: bool) -> dict[str, Any]:
        return self.white if (self.side == "white") == own else self.black


@dataclass(frozen=True)
class Played:
    """A game that is over."""

    number: int
    control: bool
    score: float
    """Of the prepared side: 1, 1/2 or 0."""
    book_moves: int
    plies: int
    ending: str
    moves: str


def limit(player: dict[str, Any]) -> chess.engine.Limit:
    if player.get("depth"):
        return chess.engine.Limit(depth=player["depth"])
    if player.get("milliseconds"):
        return chess.engine.Limit(time=player["milliseconds"] / 1000)
    return chess.engine.Limit(nodes=player.get("nodes") or BASE_NODES)


def mixture(
    engine: chess.engine.SimpleEngine, board: chess.Board, player: dict[str, Any]
) -> dict[chess.Move, float]:
    """What a randomizing engine plays: softmax of centipawns over its K best moves.

    The scores are those of the last complete iteration: all K lines printed in a row, of one depth, none
    of them a bound; of several prints of one depth the last. Randomness 0 is the engine's best move.
    """
    want = min(player.get("multipv") or 2, board.legal_moves.count())
    lines: list[chess.engine.InfoDict] = []
    # A new game object is a `ucinewgame`: the hash is empty.
    with engine.analysis(board, limit(player), multipv=want, game=object()) as analysis:
        lines += [info for info in analysis if "pv" in info and "score" in info]
        best = analysis.wait().move
    r = player.get("randomness") or 0.0
    if not r:
        return {best: 1.0} if best is not None else {}
    scores = _scores(lines, want)
    top = max(scores.values())
    weights = {move: math.exp((score - top) / r) for move, score in scores.items()}
    total = math.fsum(weights.values())
    return {move: weight / total for move, weight in weights.items()}


def _scores(lines: list[chess.engine.InfoDict], want: int) -> dict[chess.Move, int]:
    """The centipawns of the best moves in what an engine printed."""
    blocks: dict[int, list[chess.engine.InfoDict]] = {}
    at = 0
    while at + want <= len(lines):
        block = lines[at : at + want]
        if [info.get("multipv", 1) for info in block] == list(range(1, want + 1)):
            blocks[max(info["depth"] for info in block)] = block
            at += want
        else:
            at += 1
    for depth in sorted(blocks, reverse=True):
        block = blocks[depth]
        exact = not any("upperbound" in info or "lowerbound" in info for info in block)
        found = {info["pv"][0]: _centipawns(info) for info in block}
        if exact and len(found) == want and all(info["depth"] == depth for info in block):
            return found
    latest: dict[int, chess.engine.InfoDict] = {}
    for bounds in (True, False):  # no whole iteration: exact scores before bounds, the latest last
        for info in lines:
            if ("upperbound" in info or "lowerbound" in info) == bounds:
                latest[info.get("multipv", 1)] = info
    return {info["pv"][0]: _centipawns(info) for _, info in sorted(latest.items(), reverse=True)}


def _centipawns(info: chess.engine.InfoDict) -> int:
    score = info["score"].relative
    mate = score.mate()
    if mate is None:
        return max(-31_000, min(31_000, score.score(mate_score=MATE)))
    return MATE - (2 * mate - 1) if mate > 0 else -MATE - 2 * mate


def result(board: chess.Board) -> tuple[str, float] | None:
    """How the rules end a game here, and White's score; None: they do not."""
    if board.is_checkmate():
        return "checkmate", 0.0 if board.turn == chess.WHITE else 1.0
    draws = {
        "stalemate": board.is_stalemate(),
        "insufficient material": board.is_insufficient_material(),
        "threefold repetition": board.is_repetition(3),
        "fifty moves": board.halfmove_clock >= 100,
    }
    return next(((why, 0.5) for why, so in draws.items() if so), None)


def first_board(start: dict[str, Any]) -> chess.Board:
    board = chess.Board(start.get("fen") or chess.STARTING_FEN)
    for move in start.get("moves") or ():
        try:
            board.push_uci(move)
        except ValueError:
            board.push_san(move)
    return board


def play(
    promise: Promise,
    prepared: chess.engine.SimpleEngine,
    opponent: chess.engine.SimpleEngine,
    number: int,
    seed: int,
    control: bool,
) -> Played:
    """One game to its end."""
    rng = random.Random(f"{seed} {number} {control}")
    board, known = first_board(promise.start), 0
    colour = chess.WHITE if promise.side == "white" else chess.BLACK
    game = object()
    while (over := result(board)) is None:
        if board.turn == colour:
            answer = prepared.play(
                board, limit(promise.player(True)), game=game, info=chess.engine.INFO_ALL
            )
            assert answer.move is not None
            known += str(answer.info.get("string", "")).startswith("book move")
            board.push(answer.move)
        else:
            moves = mixture(opponent, board, promise.player(False))
            board.push(rng.choices(list(moves), list(moves.values()))[0])
    why, white = over
    score = white if colour == chess.WHITE else 1.0 - white
    line = " ".join(move.uci() for move in board.move_stack)
    return Played(number, control, score, known, board.ply(), why, line)


def work(task: tuple[Promise, list[int], int, bool, str, str, Any]) -> None:
    """One process: its own engines, its share of the games."""
    promise, numbers, seed, control, preplay, stockfish, done = task
    own = promise.player(True)
    command = [preplay, "uci", "--by-history", "--fresh-hash", "--engine", stockfish]
    command += ["--book", promise.run] if not control else []
    command += ["--multipv", str(own.get("multipv") or 2)]
    command += ["--randomness", str(own.get("randomness") or 0.0), "--seed", str(seed + 1 + numbers[0])]
    with (
        chess.engine.SimpleEngine.popen_uci(command, timeout=120) as prepared,
        chess.engine.SimpleEngine.popen_uci(stockfish, timeout=120) as opponent,
    ):
        prepared.configure(own.get("options") or {})
        opponent.configure({"Threads": 1, "Hash": 2} | (promise.player(False).get("options") or {}))
        for number in numbers:
            done.put(play(promise, prepared, opponent, number, seed, control))
    done.put(None)


def games(
    promise: Promise, numbers: list[int], given: argparse.Namespace, control: bool
) -> Iterator[Played]:
    """The games with these numbers as they end."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        done = manager.Queue()
        shares = [numbers[k :: given.processes] for k in range(given.processes)]
        tasks = [
            (promise, share, given.seed, control, given.preplay, given.stockfish, done)
            for share in shares
            if share
        ]
        with context.Pool(len(tasks)) as pool:
            waiting = pool.map_async(work, tasks, chunksize=1)
            left = len(tasks)
            while left:
                try:
                    one = done.get(timeout=5)
                except Exception:
                    if waiting.ready():
                        waiting.get()  # says what went wrong
                    continue
                if one is None:
                    left -= 1
                else:
                    yield one


def tell(values: list[float], promised: float, error: float = 0.0) -> dict[str, float]:
    """A mean beside what was promised: standard error, z and two-sided p-value.

    A promise that may be off by `error` at 95 % adds its own spread.
    """
    n, mean = len(values), math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / max(1, n - 1) / n)
    if spread == 0.0 and 0.0 < promised < 1.0:  # all alike: the spread that the promise allows
        spread = math.sqrt(promised * (1 - promised) / n)
    both = math.hypot(spread, error / 1.96)
    z = (mean - promised) / both if both else 0.0
    p = math.erfc(abs(z) / math.sqrt(2))
    return {"mean": mean, "error": spread, "promised": promised, "z": z, "p_value": p}


def summary(promise: Promise, played: list[Played]) -> dict[str, Any]:
    with_book = [game for game in played if not game.control]
    without = [game for game in played if game.control]
    data: dict[str, Any] = {
        "run": Path(promise.run).name,
        "side": promise.side,
        "opponent": {k: v for k, v in promise.player(False).items() if v},
        "games": len(with_book),
        "different_games": len({game.moves for game in with_book}),
        "score": tell([game.score for game in with_book], promise.value, promise.error),
        "promised_error": promise.error,
        "book_moves": tell([float(game.book_moves) for game in with_book], promise.moves),
        "results": Counter(str(game.score) for game in with_book),
        "endings": Counter(game.ending for game in with_book),
        "plies": sum(game.plies for game in with_book) / len(with_book),
    }
    if without:
        data["without"] = tell([game.score for game in without], promise.unprepared)
        data["without_games"] = len(without)
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="a run made by `preplay prepare chess --save RUN`")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--control", action="store_true", help="as many games without the book")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where the result goes; games beside it, as .jsonl")
    parser.add_argument(
        "--preplay", default=shutil.which("preplay") or str(Path(sys.executable).with_name("preplay"))
    )
    parser.add_argument("--stockfish", default=shutil.which("stockfish") or "/usr/games/stockfish")
    given = parser.parse_args()
    promise = Promise.read(given.run)
    kept = given.out.with_suffix(".jsonl") if given.out else None
    played: list[Played] = []
    if kept is not None and kept.exists():
        played = [Played(**json.loads(line)) for line in kept.read_text().splitlines()]
    for control in (False, True) if given.control else (False,):
        known = {game.number for game in played if game.control == control}
        missing = [number for number in range(given.games) if number not in known]
        for game in games(promise, missing, given, control) if missing else ():
            played.append(game)
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(game)) + "\n")
            print(f"\r{len(played)} games", end="", file=sys.stderr, flush=True)
    counted = [game for game in played if game.number < given.games]
    text = json.dumps(summary(promise, counted), indent=1)
    if given.out is not None:
        given.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
