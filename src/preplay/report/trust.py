"""How far a result may be believed: promised, judged, checked afresh and played, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from preplay.matchup.chess_values import RESULTS
from preplay.report.words import MODELS, table
from preplay.runs.outcomes import MatchResult
from preplay.runs.prepared import PrepareResult

MATCH = "match"
"""Where a run keeps a match of its own: `preplay match RUN --save RUN/match`."""


@dataclass(frozen=True)
class Row:
    """What the book is worth, found in one way."""

    name: str
    title: str
    note: str
    score: float
    without: float | None
    """The same without the book; None where nobody looked."""
    error: float = 0.0
    without_error: float = 0.0


def trust(
    result: PrepareResult, matchup: Mapping[str, Any], unprepared: float, match: MatchResult | None
) -> dict[str, Any]:
    """The rows of the table, the one that heads the page, and what to keep in mind.

    Only values that were calibrated and judged, or games that were played, are called a score; else it
    is a model's.
    """
    real = are_results(result, matchup)
    rows = [*_valued(result, unprepared), *_played(result, match)]
    return {
        "rows": [asdict(row) for row in rows],
        "headline": _headline(rows, real, matchup),
        "scores": "expected score" if real else "model score",
        "notes": _notes(result, matchup, rows, real),
    }


def are_results(result: PrepareResult, matchup: Mapping[str, Any]) -> bool:
    """Whether values are expected results rather than an engine's scores on some scale."""
    scored = matchup.get("kind") == "chess" and table(matchup, "value").get("model") not in RESULTS
    return result.scores == "results" and not scored


def _valued(result: PrepareResult, unprepared: float) -> list[Row]:
    """What the values say that chose the book, and what deeper searches made of them."""
    chose = "by the values that chose the book"
    judged = result.judged
    if judged is None:
        return [Row("promised", "Promised", chose, result.value, unprepared, result.error)]
    turns = f" in {judged.rounds} rounds" if judged.rounds > 1 else ""
    left = f"; {judged.left:,} more were wanted" if judged.left else ""
    note = f"by {judged.searches:,} deep searches{turns} where the book ends{left}"
    rows = [
        Row("promised", "Promised", "by the first values, of the first choice", judged.before, None),
        Row("judged", "Judged", note, judged.after, unprepared),
    ]
    if judged.fresh is not None:
        fresh = "by searches that chose nothing"
        rows.append(Row("fresh", "Checked afresh", fresh, judged.fresh, unprepared, judged.error))
    return rows


def _played(result: PrepareResult, match: MatchResult | None) -> list[Row]:
    """What games gave: under the clock while the book was chosen, and in a match."""
    rows = []
    if clock := result.clock:
        note = f"{clock.games:,} games of each kind under the clock"
        rows.append(Row("clock", "Played", note, *_pair(clock.value, clock.without)))
    if match is not None:
        how = "scored where the book ends" if match.adjudication == "model" else "to the end"
        control = match.control.score if match.control else None
        note = f"{match.games:,} games, {how}" + (", and as many without" if control else "")
        name = "scored" if match.adjudication == "model" else "played"
        rows.append(Row(name, "Played in a match", note, *_pair(match.score, control)))
    return rows


def _pair(value: Any, without: Any) -> tuple[float, float | None, float, float]:
    if without is None:
        return value.mean, None, value.error, 0.0
    return value.mean, without.mean, value.error, without.error


def _headline(rows: list[Row], real: bool, matchup: Mapping[str, Any]) -> dict[str, Any]:
    """The row to believe: games to compare first, then the best searched values.

    In chess, values must be judged as well to be called expected scores.
    """
    judged = matchup.get("kind") != "chess" or any(row.name == "judged" for row in rows)
    by_name = {row.name: row for row in rows}
    for name in ("played", "clock", "fresh", "judged", "promised"):
        row = by_name.get(name)
        if row is None or row.without is None:
            continue
        if name in ("played", "clock"):
            label = "in games played"
        else:
            label = "expected score" if real and judged else "model score"
        data = {"row": name, "label": label, "score": row.score, "without": row.without}
        return data | {"error": row.error}
    raise ValueError("a table without a row to head it")


def _notes(result: PrepareResult, matchup: Mapping[str, Any], rows: list[Row], real: bool) -> list[str]:
    notes: list[str] = []
    if fixed := result.fixed:
        notes.append(f"A book of first choices alone: {fixed}.")
    if matchup.get("kind") != "chess":
        return notes
    model = str(table(matchup, "value").get("model") or "linear")
    if curve := result.calibration:
        notes.append(
            f"Scores are results: by {curve.games:,} games of the two sides a level position is worth "
            f"{curve.score(0.0):.1%} to White and a pawn more {curve.score(1.0):.1%} (intercept "
            f"{curve.intercept:.3f} ± {curve.intercept_error:.3f}, slope {curve.slope:.3f} ± "
            f"{curve.slope_error:.3f} a pawn). With the error of this curve the score of the book may "
            f"be off by {100.0 * result.error:.1f} points per 100 games (95 %)."
        )
    if not real:
        notes.append(
            "A model score is no result: it says how the engine likes the positions in which the book "
            f"ends ({MODELS.get(model, model)}). Games to the end may give more or less, so no rating is "
            "told."
        )
    if {row.name for row in rows} == {"promised"}:
        notes.append(
            "A best book is drawn to positions that its values overrate. Nothing here was searched again "
            "more deeply, and no match is kept with the run (`preplay match RUN --save RUN/match`)."
        )
    return notes
