"""The deviations of a saved choosing book that buy most, each on a board with the reply it hopes for.

python bench/traps.py runs/white --boards docs/choice --most 3
"""

from __future__ import annotations

import argparse
from pathlib import Path

import chess
import chess.svg

import preplay
from preplay.book import Decision, Entry
from preplay.runs.prepared import PrepareResult


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--boards", type=Path, help="write one SVG for each here")
    parser.add_argument("--most", type=int, default=3)
    given = parser.parse_args()
    run = preplay.load_run(given.run, PrepareResult)
    entries = {entry.history: entry for entry in run.book.entries}
    other = [e for e in entries.values() if e.decision is not None and e.decision.played > 0]
    for number, entry in enumerate(sorted(other, key=_buys, reverse=True)[: given.most], 1):
        board = chess.Board()
        said = _san(board, entry.history)
        print(f"{number}. after {said or 'the start'} (met in {100 * entry.reach:.3g} % of the games)")
        tell(board, entry, entries)
        if given.boards is not None:
            picture = given.boards / f"{given.run.name}-{number}.svg"
            picture.write_text(drawn(board, entry), encoding="utf-8")


def _buys(entry: Entry) -> float:
    """At least what the deviation adds to the whole book."""
    decision = _decision(entry)
    return entry.reach * (decision.options[decision.played].worth - decision.options[0].most)


def _decision(entry: Entry) -> Decision:
    assert entry.decision is not None
    return entry.decision


def _san(board: chess.Board, history: tuple[str, ...]) -> str:
    """A line in SAN; the board is moved along."""
    said: list[str] = []
    for move in history:
        if board.turn or not said:
            said.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
        said.append(board.san_and_push(chess.Move.from_uci(move)))
    return " ".join(said)


def tell(board: chess.Board, entry: Entry, entries: dict[tuple[str, ...], Entry]) -> None:
    """What is played instead of what, what it hopes for, and the book's most likely line from there."""
    decision = _decision(entry)
    played, first = decision.options[decision.played], decision.options[0]
    names = [board.san(chess.Move.from_uci(option.move)) for option in (played, first)]
    print(f"   {names[0]}, net {played.worth:.4f} from here; {names[1]} at most {first.most:.4f}")
    print(f"   by the search of the preparation {played.opinion:+g} and {first.opinion:+g} centipawns")
    history = entry.history
    line: list[str] = []
    while history in entries:
        move = next(iter(entries[history].moves))
        line.append(move)
        below = [
            h for h in entries if h[: len(history) + 1] == (*history, move) and len(h) == len(history) + 2
        ]
        if not below:
            break
        likely = max(below, key=lambda h: entries[h].reach)
        line.append(likely[-1])
        history = likely
    print(f"   the book's most likely line: {_san(board.copy(), tuple(line))}")
    if decision.hoped is not None:
        after = board.copy()
        after.push_uci(played.move)
        reply = after.san(chess.Move.from_uci(decision.hoped.reply))
        print(f"   hopes for {reply} ({decision.hoped.probability:.1%}), then {decision.hoped.worth:.4f}")


def drawn(board: chess.Board, entry: Entry) -> str:
    """The position with the deviation in green and the reply it hopes for in red."""
    decision = _decision(entry)
    moves = [(decision.options[decision.played].move, "green")]
    if decision.hoped is not None:
        moves.append((decision.hoped.reply, "red"))
    parsed = [(chess.Move.from_uci(move), colour) for move, colour in moves]
    arrows = [chess.svg.Arrow(m.from_square, m.to_square, color=colour) for m, colour in parsed]
    return chess.svg.board(board, orientation=board.turn, arrows=arrows, size=300) + "\n"


if __name__ == "__main__":
    main()
