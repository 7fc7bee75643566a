"""What a command on a small game costs in CPU seconds: mostly imports, hardly work.

python bench/startup.py [--times 5]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

GAME = str(Path(__file__).parent.parent / "examples" / "game.json")
COMMANDS = (
    ("--help",),
    ("prepare", GAME, "--side", "1", "--cost", "0.01"),
    ("prepare", "synthetic", "--side", "1"),
    ("prepare", GAME, "--side", "1", "--budget", "3"),
    ("frontier", GAME, "--side", "1"),
    ("bounds", GAME, "--side", "1", "--advantage", "0.6", "--epsilon", "0.5"),
    ("equilibrium", GAME, "--cost", "0.01"),
)
IMPORTS = "import numpy, pydantic, typer"
"""What every command imports of other people's: no command can take less."""


def spent(arguments: list[str]) -> float:
    """User and system seconds of a process."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    used = after.children_user - before.children_user
    return used + after.children_system - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    imports = min(spent(["-c", IMPORTS]) for _ in range(given.times))
    print(f"{imports:5.2f} s  {IMPORTS}")
    for command in COMMANDS:
        least = min(spent(["-m", "preplay", *command]) for _ in range(given.times))
        words = " ".join(Path(word).name for word in command)
        print(f"{least:5.2f} s  preplay {words}  ({least / imports:.1f} times the imports)")


if __name__ == "__main__":
    main()
