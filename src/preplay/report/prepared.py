"""A best book as data for the page: its tree, why it ends, the order to learn.

Of `preplay prepare` it is the book, of `preplay frontier` the largest one: its beginnings are the others.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from preplay import response
from preplay.book import Book
from preplay.chess.rules import UNPLAYED
from preplay.errors import StoreError
from preplay.files import read_arrays
from preplay.game import FINAL, Side, other
from preplay.report import clocks, notation, openings, words
from preplay.report.alternatives import Reply, kept
from preplay.report.cut import Continuation, columns, cut, dropped, rounded, unchosen
from preplay.report.drawings import drawn
from preplay.report.repaired import repaired
from preplay.report.rivalgames import met
from preplay.report.trust import MATCH, trust
from preplay.runs import load_run
from preplay.runs.directory import BOOK, CHECKPOINT, RESULT, TREE, Run, open_run
from preplay.runs.frontiers import FrontierResult
from preplay.runs.outcomes import MatchResult
from preplay.runs.prepared import PrepareResult
from preplay.tree import Bools, Floats, Ints, Tree

WON = 0.75
"""From this value on a book ends because enough is won rather than because a line is rare."""
SELDOM = 0.2
"""Histories met less often than this are called rare where the price decides."""
RANDOM = 1.6
"""From this effective number of answers on the opponent's choice is called too random."""

GAME_OVER, WON_ENOUGH, TOO_RARE, TOO_RANDOM, NOT_WORTH, NO_ROOM, CUT_SHORT = "gwrxnbo"
"""Why a book ends, one letter each; a dash stands where it does not."""


def preparation(run: Run) -> dict[str, Any]:
    """What the page needs of a best book against a given opponent."""
    kept = load_run(run.directory)
    result: PrepareResult = kept.as_prepared() if isinstance(kept, FrontierResult) else kept
    book, whole = result.book, result.tree
    side: Side = book.side
    chosen = _chosen(run, whole, book)
    shown = cut(whole, ~whole.leaves & ((whole.player != side) | chosen))
    inside, unfinished = chosen[shown.original], _unfinished(whole)[shown.original]
    tree = replace(shown.tree, open=shown.tree.leaves & unfinished)
    reach = response.reach(tree, side)
    value = tree.value_for(side)
    beyond = _beyond(run, whole, tree, shown.original, side)
    ends = _ends(tree, inside, reach, value, book.cost, result.budget, beyond)
    beyond = {k: line for k, line in beyond.items() if ends[k] in (TOO_RANDOM, NOT_WORTH, NO_ROOM)}
    matchup = run.matchup
    written = None
    if run.is_chess:
        written = notation.standard(tree, book.start, book.chess960, beyond)
    beyond = written.beyond if written else beyond
    move = np.where(tree.player[np.maximum(tree.parent, 0)] == side, tree.prep, tree.base)
    rank, steps, unprepared = _order(tree, side, inside)
    unprepared = book.baseline if result.clock else unprepared
    early = notation.before(matchup)
    names = {}
    if written and not book.chess960:
        names = openings.named(tree, written.moves, book.start, early["played"])
    return {
        "side": side,
        "rival": words.rival(matchup, side),
        "chess": written is not None,
        "chess960": book.chess960,
        "lines": _within_lines(matchup, side),
        "drawing": None if written else drawn(tree, matchup),
        "start": book.start,
        **early,
        "trust": trust(result, matchup, unprepared, _match(run)),
        "repairs": repaired(result, tree, written is not None),
        "files": _files(run, book) if written else {},
        "worth": {
            "cost": book.cost,
            "budget": result.budget,
            "baseline": book.baseline,
            "unprepared": unprepared,
            "value": book.value,
            "net": book.net,
            "upper": book.upper,
            "error": result.error,
            "size": book.size,
            "ending": result.ending,
            "histories": result.histories,
            "questions": result.questions,
        },
        "clock": result.clock and clocks.told(tree, matchup, result.clock),
        "tree": columns(tree, *((written.moves, written.labels) if written else (None, None)))
        | {
            "p": rounded(move)[1:],
            "value": rounded(np.where(_known(tree), value, np.nan)),
            "rank": rank.tolist(),
            "end": "".join(ends),
            "openings": names,
            "others": _others(run, tree, book) if written else {},
            "choice": _choices(tree, book, written is not None),
            "games": met(tree, written.moves, book.start, matchup, other(side)) if written else {},
            "beyond": {k: [line.move, *map(list, line.replies)] for k, line in beyond.items()},
        },
        "steps": steps,
    }


def _within_lines(matchup: Mapping[str, Any], side: Side) -> bool:
    """Whether a side's books keep to lines of its own, or avoid some."""
    tables = [matchup.get(name) or {} for name in ("prep", f"{('white', 'black')[side - 1]}_prep")]
    return any(table.get(key) for table in tables for key in ("repertoire", "avoid"))


def _match(run: Run) -> MatchResult | None:
    """The match that is kept with a run, if there is one with a result."""
    directory = run.path(MATCH)
    if not (directory / RESULT).exists():
        return None
    kept = open_run(directory)
    return MatchResult.found(kept) if kept.command == "match" else None


def _others(run: Run, tree: Tree, book: Book) -> dict[int, list[Any]]:
    """The studied alternatives at own histories: [move, SAN, score, worth, replies, line] each."""
    found: dict[int, list[Any]] = {}
    for history, options in kept(run).items():
        k = tree.get(history)
        if k is None or tree.leaves[k]:
            continue
        found[k] = []
        for option in options:
            told = notation.continued(history, option.line or (option.move,), book.start, book.chess960)
            replies = [[_said((*history, option.move), r.move, book), *_short(r)] for r in option.replies]
            worth = float(f"{option.worth:.6g}")
            found[k].append([option.move, told[0], option.score, worth, replies, told])
    return found


def _choices(tree: Tree, book: Book, chess: bool) -> dict[int, dict[str, Any]]:
    """Where the book chose: options [move, said, worth, most, opinion], which one, what it hopes for."""
    found: dict[int, dict[str, Any]] = {}
    for entry in book.entries:
        decision, k = entry.decision, tree.get(entry.history)
        if decision is None or k is None:
            continue

        def say(*moves: str, history: tuple[str, ...] = entry.history) -> str:
            return _said((*history, *moves[:-1]), moves[-1], book) if chess else moves[-1]

        played, hoped = decision.options[decision.played], decision.hoped
        found[k] = {
            "options": [
                [o.move, say(o.move), *(float(f"{x:.6g}") for x in (o.worth, o.most)), o.opinion]
                for o in decision.options
            ],
            "played": decision.played,
            "hoped": hoped and [say(played.move, hoped.reply), hoped.probability, hoped.worth],
        }
    return found


def _said(history: tuple[str, ...], move: str, book: Book) -> str:
    """A move after a history as people write it."""
    return UNPLAYED.get(move) or notation.continued(history, [move], book.start, book.chess960)[0]


def _short(reply: Reply) -> tuple[float, float]:
    return float(f"{reply.probability:.4g}"), float(f"{reply.value:.4g}")


def _files(run: Run, book: Book) -> dict[str, str]:
    """The book as files for other programs, as text that a page can hold."""
    from preplay.chess.books.anki import anki_bytes
    from preplay.chess.books.polyglot import polyglot_bytes

    if not book.size:
        return {}
    deck = anki_bytes(book, f"preplay {run.name}", run.time)
    return {
        "polyglot": base64.b64encode(polyglot_bytes(book)).decode(),
        "anki": base64.b64encode(deck).decode(),
    }


def _chosen(run: Run, tree: Tree, book: Book) -> Bools:
    """[n] the book's histories in the run's tree."""
    chosen = np.zeros(tree.size, dtype=np.bool_)
    for entry in book.entries:
        k = tree.get(entry.history)
        if k is None or tree.player[k] != book.side:
            line = " ".join(entry.history)
            raise StoreError(f"{run.directory}: {BOOK} holds '{line}', which {TREE} does not")
        chosen[k] = True
    return chosen


def _unfinished(tree: Tree) -> Bools:
    """[n] whether something that might still pay lies at or below each history."""
    found = np.zeros(tree.size, dtype=np.bool_)
    for k in np.flatnonzero(tree.open).tolist():
        at = k
        while at >= 0 and not found[at]:
            found[at] = True
            at = int(tree.parent[at])
    return found


def _known(tree: Tree) -> Bools:
    """[n] whether the value tells anything: negligible histories, at 0.5 ± 0.5, were never looked at."""
    known: Bools = (tree.radius != 0.5) | (tree.value != 0.5) | (tree.player == FINAL)
    return known


def _beyond(run: Run, whole: Tree, tree: Tree, original: Ints, side: Side) -> dict[int, Continuation]:
    """What was looked at below the ends of the book: still in the tree, or dropped during growth."""
    found: dict[int, Continuation] = {}
    if run.path(CHECKPOINT).exists():
        try:
            found = dropped(tree, read_arrays(run.path(CHECKPOINT)))
        except Exception:  # whatever a damaged archive raises
            found = {}  # only explanations are lost
    for k in np.flatnonzero(tree.leaves & (tree.player == side)).tolist():
        if len(whole.children(int(original[k]))):
            found[k] = unchosen(whole, int(original[k]))
    return found


def _ends(
    tree: Tree,
    inside: Bools,
    reach: Floats,
    value: Floats,
    cost: float,
    budget: int | None,
    beyond: Mapping[int, Continuation],
) -> list[str]:
    """Why the book ends at each leaf; fact 2 of docs/model.md gives the first two reasons."""
    ends = []
    size, known = int(inside.sum()), _known(tree)
    for k, leaf in enumerate(tree.leaves.tolist()):
        if not leaf:
            ends.append("-")
        elif tree.player[k] == FINAL:
            ends.append(GAME_OVER)
        elif reach[k] * (1.0 - value[k]) <= cost or not known[k]:
            rare = reach[k] <= cost or not known[k] or (value[k] < WON and reach[k] < SELDOM)
            ends.append(TOO_RARE if rare else WON_ENOUGH if value[k] >= WON else NOT_WORTH)
        elif tree.open[k]:
            ends.append(CUT_SHORT)
        elif budget is not None and size >= budget:
            ends.append(NO_ROOM)
        else:
            line = beyond.get(k)
            ends.append(TOO_RANDOM if line is not None and line.spread >= RANDOM else NOT_WORTH)
    return ends


def _order(tree: Tree, side: Side, inside: Bools) -> tuple[Ints, list[list[float]], float]:
    """[n] the place of each history in the order worth learning, and the nested books on the way.

    On the tree cut at the book's ends every best smaller book is a part of this one, so the frontier
    there is the frontier of the run for all costs above its own.
    """
    closed = replace(tree, open=np.zeros(tree.size, dtype=np.bool_))
    front = response.frontier(closed, side)
    rank = np.full(tree.size, -1, dtype=np.int32)
    rank[front.order] = np.arange(len(front.order))
    late = np.flatnonzero(inside & (rank < 0))
    rank[late] = len(front.order) + np.arange(len(late))
    rows = zip(front.size.tolist(), front.value.tolist(), front.cost.tolist(), strict=True)
    steps = [[size, float(f"{value:.8g}"), float(f"{price:.6g}")] for size, value, price in rows]
    if len(late):  # a book given as it is may hold what does not pay
        value = response.evaluate(closed, side, np.flatnonzero(inside).astype(np.int32))
        steps.append([int(inside.sum()), float(f"{value:.8g}"), 0.0])
    return rank, steps, front.unprepared
