"""Reads a search's output: which of an engine's info lines to believe.

Engines print a line for each of the K best moves whenever an iteration of the search ends, and once more
when the search is cut off inside one. What is printed last is therefore often a bound instead of a
score, or a mix of depths. The lines are read backwards, and no further than needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import chess

from preplay.chess.engines.analysis import CEILING, Analysis, Line, mate_score
from preplay.errors import EngineError

MOST_NODES = (1 << 63) - 1
"""More nodes than that nobody has searched."""
_DIGITS = 20
"""No number that an engine prints in earnest is longer."""
_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][nbrq]?")


@dataclass(frozen=True, slots=True)
class _Info:
    rank: int
    exact: bool
    line: Line


def read_analysis(output: str, want: int, seconds: float) -> Analysis:
    """The analysis in `output`, which ends with a bestmove line.

    `want` is K, or the number of legal moves if that is smaller. The lines are those of the last
    complete iteration: ranks 1 to `want` printed in a row, of one depth, none of them a bound, all
    moves different. (A search cut off inside the last rank may print such a block too: its scores are
    exact and comparable, only a move that was not yet looked at could still replace the last one.)
    Of the prints of one iteration only the last counts: a search that lasts for seconds also prints
    after each rank, and how fast the machine is must not matter.
    If there is none, as in very short searches, each rank has its latest exact score, else its latest
    bound, and the analysis is not `complete`. Raises EngineError when there is nothing to believe.
    """
    rows = output.splitlines()
    best = _best_move(rows)
    newest: list[_Info] = []  # newest first
    over: set[int] = set()  # iterations whose last print is not whole
    for row in reversed(rows):
        info = _read(row)
        if info is None:
            continue
        newest.append(info)
        block = newest[-want:]
        if info.rank == 1 and _printed(block, want):
            iteration = max(line.line.depth for line in block)
            if iteration not in over and _whole(block):
                return _analysis(block, best, _nodes(rows), True, seconds)
            over.add(iteration)
    chosen = _remains(newest, want)
    if not chosen:
        raise EngineError(f"bestmove {best} came without a score")
    return _analysis(chosen, best, _nodes(rows), False, seconds)


def check_moves(analysis: Analysis, board: chess.Board) -> None:
    """Raise EngineError unless the engine's moves are legal on `board`."""
    for move in {analysis.best, *(line.move for line in analysis.lines)}:
        try:
            legal = board.is_legal(chess.Move.from_uci(move))
        except ValueError:
            legal = False
        if not legal:
            raise EngineError(f"illegal move {move}")


def _best_move(rows: list[str]) -> str:
    row = next((row for row in reversed(rows) if row.startswith("bestmove")), "bestmove")
    words = row.split()
    if len(words) < 2 or not _MOVE.fullmatch(words[1]):
        raise EngineError(f"answer '{row.strip()}'; expected bestmove and a move")
    return words[1]


def _printed(block: list[_Info], want: int) -> bool:
    """Whether `block`, newest first, is all `want` ranks in a row."""
    return len(block) == want and [info.rank for info in block] == list(range(want, 0, -1))


def _whole(block: list[_Info]) -> bool:
    """Whether all lines of `block` are exact scores of one iteration, and of different moves."""
    exact = all(info.exact and info.line.depth == block[0].line.depth for info in block)
    return exact and len({info.line.move for info in block}) == len(block)


def _remains(newest: list[_Info], want: int) -> list[_Info]:
    chosen: dict[int, _Info] = {}
    moves: set[str] = set()
    for exact in (True, False):
        for info in newest:
            fits = info.exact == exact and 1 <= info.rank <= want
            if fits and info.rank not in chosen and info.line.move not in moves:
                chosen[info.rank] = info
                moves.add(info.line.move)
    return [chosen[rank] for rank in sorted(chosen, reverse=True)]


def _analysis(block: list[_Info], best: str, nodes: int, complete: bool, seconds: float) -> Analysis:
    lines = sorted((info.line for info in reversed(block)), key=lambda line: -line.score)
    return Analysis(tuple(lines), best, nodes, complete, round(seconds * 1000))


def _nodes(rows: list[str]) -> int:
    """The last node count that was printed."""
    for row in reversed(rows):
        if row.startswith("info ") and not row.startswith("info string"):
            _, found, rest = row.partition(" nodes ")
            if found and (count := whole_number(rest.split(" ", 1)[0], MOST_NODES)) is not None:
                return count
    return 0


def whole_number(text: str, most: int) -> int | None:
    """The number from 0 to `most` that an engine printed in plain digits; None for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        return None
    number = int(text)
    return number if number <= most else None


def _read(row: str) -> _Info | None:
    """A scored line with a move, or None for anything else an engine may print."""
    if not row.startswith("info ") or row.startswith("info string"):
        return None
    head, found, tail = row.partition(" pv ")
    if not found or " score " not in head:
        return None
    words = head.split()
    try:
        at = words.index("score")
        kind, amount = words[at + 1], signed_number(words[at + 2])
        score = mate_score(amount) if kind == "mate" else max(-CEILING, min(CEILING, amount))
        depth = max(0, signed_number(words[words.index("depth") + 1])) if "depth" in words else 0
        rank = signed_number(words[words.index("multipv") + 1]) if "multipv" in words else 1
        wdl = None
        if "wdl" in words:
            at = words.index("wdl")
            wins, draws, losses = (signed_number(word) for word in words[at + 1 : at + 4])
            if min(wins, draws, losses) >= 0 and wins + draws + losses == 1000:
                wdl = (wins, draws, losses)
    except (ValueError, IndexError):
        return None
    if kind not in {"cp", "mate"}:
        return None
    pv: list[str] = []
    for move in tail.split():
        if not _MOVE.fullmatch(move):
            break
        pv.append(move)
    if not pv:
        return None
    exact = "upperbound" not in words and "lowerbound" not in words
    return _Info(rank, exact, Line(pv[0], score, depth, wdl, " ".join(pv)))


def signed_number(text: str) -> int:
    """A whole number in plain digits, perhaps with a sign; raises ValueError for anything else."""
    number = whole_number(text.removeprefix("-").removeprefix("+"), MOST_NODES)
    if number is None:
        raise ValueError(text)
    return -number if text.startswith("-") else number
