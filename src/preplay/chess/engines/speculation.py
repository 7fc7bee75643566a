"""What engines without work may look at: the positions that will probably be asked about next.

Where the tree is a line, each question waits for the answer to the one before it, and all engines but one
have nothing to do. An engine that answered also said how it expects the game to go on; the positions on
that line are searched ahead, in the way that such positions were asked about lately. The answers go to
memory and store like all others. What is asked, and in which order, is nobody's business here: results do
not depend on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from preplay.chess.engines.analysis import Analysis, SearchPosition, SearchRequest, search_position

LATELY: Final = 32
"""How many questions tell how positions are asked about."""
DEEP: Final = 8
"""Half-moves of an expected line that are looked at."""


class Speculation:
    """Remembers what engines expected, and how positions were asked about."""

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        """Whether engines are told the game from its start."""
        self._lately: deque[SearchRequest] = deque(maxlen=LATELY)
        self._expected: deque[tuple[SearchRequest, Analysis]] = deque(maxlen=LATELY)

    def heard(self, request: SearchRequest, analysis: Analysis) -> None:
        """An answer to a question that was really asked.

        Searches by the clock on the wall are left alone: more of them at once would change them.
        """
        if request.limit.kind == "milliseconds":
            return
        self._lately.append(request)
        self._expected.append((request, analysis))

    def guesses(self) -> Iterator[SearchRequest]:
        """What may be asked next, the latest answers first; no answer is thought through twice."""
        while self._expected:
            request, analysis = self._expected.pop()
            line = next((line.pv for line in analysis.lines if line.move == analysis.best), "")
            yield from self._along(request, line.split()[:DEEP])

    def _along(self, request: SearchRequest, moves: list[str]) -> Iterator[SearchRequest]:
        board = request.position.board()
        for move in moves:
            try:
                board.push_uci(move)
            except ValueError:  # an engine may print anything
                return
            if board.is_game_over(claim_draw=True):
                return
            if not self._whole and board.halfmove_clock == 0:
                board.clear_stack()
            position = search_position(board)
            for kind in self._kinds(board.turn):
                yield replace(kind, position=position)

    def _kinds(self, turn: bool) -> list[SearchRequest]:
        """The different searches that were lately asked for with this side to move."""
        found = {(r.engine, r.limit, r.multipv): r for r in self._lately if _turn(r.position) == turn}
        return list(found.values())


def _turn(position: SearchPosition) -> bool:
    """Whether White is to move."""
    return (position.start.split(" ", 2)[1] == "w") == (len(position.moves) % 2 == 0)
