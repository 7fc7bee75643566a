"""From a run directory to plain JSON data for the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from preplay.errors import InputError
from preplay.report import words
from preplay.runs import Run, open_run

COMMANDS = ("prepare", "frontier", "equilibrium", "match", "harden", "sweep", "figure1")
"""The commands whose runs a page can show."""


def gather(directory: Path) -> dict[str, Any]:
    """Everything that the page shows of a run."""
    run = open_run(directory)
    matchup = run.matchup
    common = {
        "command": run.command,
        "matchup": run.name,
        "created": run.created,
        "sides": list(words.sides(matchup)),
        "players": list(words.players(matchup)),
        "game": words.game(matchup, run.name),
        "model": "rollouts" if words.timed(matchup) else words.table(matchup, "value").get("model"),
        "facts": [list(row) for row in words.facts(matchup, run.name)],
        "config": run.identity,
        "versions": run.versions,
    }
    return common | _results(run)


def _results(run: Run) -> dict[str, Any]:
    if run.command in ("prepare", "frontier"):
        from preplay.report.prepared import preparation

        return {"kind": "book"} | preparation(run)
    if run.command == "equilibrium":
        from preplay.report.mixture import mixture

        return {"kind": "mixed"} | mixture(run)
    if run.command == "match":
        from preplay.report.played import played

        return {"kind": "match"} | played(run)
    if run.command == "harden":
        from preplay.report.hardened import hardened

        return {"kind": "policy"} | hardened(run)
    if run.command in ("sweep", "figure1"):
        from preplay.report.curves import curves

        return {"kind": "curves"} | curves(run)
    raise InputError(
        f"{run.directory}: there is no page of a run of `preplay {run.command}`; "
        f"expected one of {', '.join(COMMANDS)}"
    )
