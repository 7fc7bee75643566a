"""A UCI engine with faults to choose from: python fake_engine.py FAULT [--times N --log FILE].

It scores legal moves by their place in the list. With `--times` only the first N searches, counted over
all processes that share the log, show the fault. Every search appends its process id to the log.

slow        answers after a third of a second
hang        answers only when told to stop
deaf        never answers and never listens
crash       exits inside a search with a word on stderr
garbage     prints bytes that are not UCI, then a good answer
flood       prints rubbish without end
stream      prints rubbish without end and without a line's end
complain    prints rubbish on stderr without end, and never answers
grumble     prints 64 MB on stderr, then a good answer
chatter     prints a lot of options without end in place of its name
stall       answers half a line, and no more
nonsense    bestmove banana
illegal     bestmove is a move that nobody can make
illegal-pv  a scored move that nobody can make
scoreless   bestmove without a score
mute        never says uciok
stillborn   exits at once
simple      has no options at all
orphan      leaves a child in a session of its own that holds its output, and never answers
say         prints the rows of the file SCRIPT in place of an answer (`--script SCRIPT`)
greet       prints the rows of the file SCRIPT in place of its name and options

The environment may change the fault (FAKE_FAULT) and the name (FAKE_NAME) of engines on one machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import chess


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def rave(fault: str) -> None:
    """Too much, or too little, of anything."""
    while fault == "stream":
        sys.stdout.write("x" * 65536)
    while fault == "complain":
        sys.stderr.write("y" * 65536)
    for _ in range(1024 if fault == "grumble" else 0):
        sys.stderr.write("z" * 65536)
    if fault == "stall":
        sys.stdout.write("bestmo")
        sys.stdout.flush()
        time.sleep(3600)
    while fault == "flood":
        say("info depth 1 currmove e2e4 currmovenumber 1" * 50)


def answer(board: chess.Board, fault: str, multipv: int, script: Path | None) -> None:
    moves = [board.uci(move) for move in board.legal_moves][: max(multipv, 1)]
    wrong = "a1a8" if "a1a8" not in moves else "a8a1"
    if fault == "slow":
        time.sleep(0.33)
    if fault == "hang":
        for line in sys.stdin:
            if line.strip() == "stop":
                break
        else:
            sys.exit()
    if fault == "orphan":
        holder = [sys.executable, "-c", "import time; time.sleep(3600)"]
        child = subprocess.Popen(holder, start_new_session=True)
        if script is not None:
            script.write_text(str(child.pid))
    if fault == "say" and script is not None:
        sys.stdout.buffer.write(script.read_bytes())
        sys.stdout.buffer.flush()
        return
    if fault in {"deaf", "orphan"}:
        time.sleep(3600)
    if fault == "crash":
        print("out of luck", file=sys.stderr)
        sys.exit(3)
    if fault == "garbage":
        sys.stdout.buffer.write(b"\xff\xfe\x00 info depth\ninfo\ninfo depth x score cp y pv z\n\n")
        sys.stdout.buffer.write(
            b"info string score cp 1 pv e2e4\ninfo score pv\n" + b"?" * 100_000 + b"\n"
        )
    rave(fault)
    if fault == "nonsense":
        say("info depth 1 score cp 3 pv e2e4", "bestmove banana")
        return
    if fault == "illegal":
        say(f"info depth 1 score cp 3 pv {wrong}", f"bestmove {wrong}")
        return
    if fault != "scoreless":
        for depth in (1, 2):
            for rank, move in enumerate(moves, 1):
                shown = wrong if fault == "illegal-pv" else move
                say(f"info depth {depth} multipv {rank} score cp {-10 * rank} nodes {depth} pv {shown}")
    say(f"bestmove {moves[0]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("fault")
    parser.add_argument("--times", type=int)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--script", type=Path)
    options = parser.parse_args()
    options.fault = os.environ.get("FAKE_FAULT", options.fault)
    if options.fault == "stillborn":
        print("no such library", file=sys.stderr)
        sys.exit(1)
    board, multipv = chess.Board(), 1
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "uci" and options.fault == "greet":
            sys.stdout.buffer.write(options.script.read_bytes())
            sys.stdout.buffer.flush()
        elif words[0] == "uci" and options.fault == "chatter":
            while True:
                say("option name Hash type spin default 16 min 1 max 64")
        elif words[0] == "uci" and options.fault != "mute":
            say(f"id name {os.environ.get('FAKE_NAME', 'Fake 1.0')}", "id author nobody")
            if options.fault != "simple":
                say("option name Hash type spin default 16 min 1 max 64")
                say("option name MultiPV type spin default 1 min 1 max 500")
                say("option name UCI_Chess960 type check default false")
                say("option name Contempt type combo default Off var Off var On")
            say("uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[:3] == ["setoption", "name", "MultiPV"]:
            multipv = int(words[4])
        elif words[0] == "position":
            fen, _, moves = line.strip().removeprefix("position fen ").partition(" moves ")
            board = chess.Board(fen)
            for move in moves.split():
                board.push_uci(move)
        elif words[0] == "go":
            fault = options.fault
            if options.log:
                with options.log.open("a") as log:
                    log.write(f"{os.getpid()} {board.fen()}\n")
                if (
                    options.times is not None
                    and len(options.log.read_text().splitlines()) > options.times
                ):
                    fault = ""
            answer(board, fault, multipv, options.script)
        elif words[0] == "quit":
            return


if __name__ == "__main__":
    main()
