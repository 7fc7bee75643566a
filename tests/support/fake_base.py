"""A base engine for tests: it writes down what it is told, and misbehaves as it is told to.

    python fake_base.py LOG [MODE]

Modes: `plain` answers `go` at once (but not `go infinite` or `go ponder`), `eager` answers those too,
`lazy` waits for `stop`, `mute` gives no info, `frail` dies at the first `go` of all, `dying` at each,
`silent` never answers `uci`, `gone` ends at once, `single` has no MultiPV.
"""

from __future__ import annotations

import sys
from pathlib import Path

LINES = (("e2e4", 30), ("d2d4", 10), ("g1f3", -10), ("c2c4", -30))


def main(log: Path, mode: str = "plain") -> None:
    def say(*lines: str) -> None:
        print("\n".join(lines), flush=True)

    def answer() -> None:
        for k, (move, score) in enumerate(LINES[:multipv], 1):
            if mode != "mute":
                effort = "nodes 100 nps 1000 time 100"
                say(f"info depth 5 multipv {k} score cp {score} {effort} pv {move} a7a6")
        say("bestmove e2e4 ponder a7a6")

    multipv, waiting = 1, False
    if mode == "gone":
        sys.exit(7)
    for raw in sys.stdin:
        line = raw.strip()
        with log.open("a") as target:
            target.write(line + "\n")
        word, *rest = line.split() or [""]
        if word == "uci" and mode != "silent":
            say(
                "",
                "id name Fake 1",
                "id author nobody",
                "option name Hash type spin default 16 min 1 max 64",
            )
            say("option name OwnBook type check default true", "option name Clear Hash type button")
            say("option name UCI_Chess960 type check default false")
            if mode != "single":
                say("option name MultiPV type spin default 1 min 1 max 9")
            say("uciok")
        elif word == "isready":
            say("readyok")
        elif word == "setoption" and "MultiPV" in rest:
            multipv = int(rest[-1])
        elif word == "go":
            first = log.read_text().count("\ngo") == 1
            if mode == "dying" or (mode == "frail" and first):
                sys.exit(3)
            waiting = mode == "lazy" or (mode != "eager" and ("infinite" in rest or "ponder" in rest))
            if not waiting:
                answer()
        elif word in {"stop", "ponderhit"} and waiting:
            waiting = False
            answer()
        elif word == "quit":
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
