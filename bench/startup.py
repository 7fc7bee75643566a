"""What each command on a small game costs in CPU seconds: mostly imports, hardly work.

python bench/startup.py [--times 5] [WORD ...]

With words, only the commands that have one of them, as `equilibrium` or `tic-tac-toe`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
GAMES = (str(EXAMPLES / "game.json"), "synthetic", "tic-tac-toe", str(EXAMPLES / "dice_race.toml"))
"""The smallest game of each kind: tabular, made at random, of OpenSpiel, written in Python."""
QUESTIONS = (
    ("prepare", "--side", "1", "--cost", "0.01"),
    ("prepare", "--side", "1", "--budget", "3"),
    ("frontier", "--side", "1", "--cost", "0.01"),
    ("bounds", "--side", "1", "--advantage", "0.6", "--epsilon", "0.5"),
    ("equilibrium", "--cost", "0.01"),
    ("sweep", "--side", "1", "--key", "cost", "--values", "0.02,0.01"),
)
KEEPING = (
    ("prepare", GAMES[0], "--side", "1", "--cost", "0.01", "--save", "runs/book"),
    ("equilibrium", GAMES[0], "--cost", "0.01", "--save", "runs/both"),
    ("harden", "tic-tac-toe", "--side", "2", "--cost", "0.01", "--choose", "2", "--save", "runs/hard"),
)
"""Commands that leave a run in the folder where they are started."""
OF_RUNS = (
    ("export", "runs/book", "--json", "book.json"),
    ("report", "runs/book"),
    ("report", "runs/hard"),
    ("draw", "runs/both", "--side", "1"),
)
OTHERS = (("--help",), ("matchups",), ("prepare", "synthetic", "--side", "1"))
IMPORTS = "import numpy, pydantic, typer"
"""What every command imports of other people's: no command can take less."""
ENVIRONMENT = {name: told for name, told in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""As users have it: the second start of a command finds its modules compiled."""


def spent(arguments: list[str], folder: Path) -> float:
    """User and system seconds of a process started in a folder."""
    before = os.times()
    command = [sys.executable, *arguments]
    nowhere = subprocess.DEVNULL
    subprocess.run(command, stdout=nowhere, stderr=nowhere, check=True, cwd=folder, env=ENVIRONMENT)
    after = os.times()
    used = after.children_user - before.children_user
    return used + after.children_system - before.children_system


def least(command: tuple[str, ...], folder: Path, times: int) -> float:
    """The least CPU seconds of a command, with no run of its own in the way."""
    found = float("inf")
    for _ in range(times):
        if command in KEEPING:
            shutil.rmtree(folder / command[-1], ignore_errors=True)
        found = min(found, spent(["-m", "preplay", *command], folder))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("words", nargs="*", help="which commands; default: all")
    given = parser.parse_args()
    asked = [(verb, game, *rest) for verb, *rest in QUESTIONS for game in GAMES]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imports = min(spent(["-c", IMPORTS], folder) for _ in range(given.times))
        print(f"{imports:5.2f} s  {IMPORTS}")
        for command in [*OTHERS, *asked, *KEEPING, *OF_RUNS]:
            words = [word.removeprefix(f"{EXAMPLES}/") for word in command]
            if given.words and not set(given.words) & set(words) and command not in KEEPING:
                continue
            used = least(command, folder, given.times)
            print(f"{used:5.2f} s  preplay {' '.join(words)}  ({used / imports:.1f} times the imports)")


if __name__ == "__main__":
    main()
