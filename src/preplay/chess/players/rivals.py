"""Several possible opponents as one: who it is shows in what is played, by Bayes along the line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from preplay.accounts import Sources
from preplay.chess.players.person import PersonPolicy
from preplay.chess.rules import ChessGame, ChessState, parse_move
from preplay.game import Distribution, Side
from preplay.policy import REST, probability


@dataclass(frozen=True, eq=False)
class RivalsPolicy:
    """A mixture of players, each with the probability that it is this one after the moves played.

    The policy depends on the history: every move of the opponent makes those more likely who would
    play it. So a book against it is best on average over whom one will meet.
    """

    game: ChessGame
    side: Side
    rivals: tuple[PersonPolicy, ...]
    shares: tuple[float, ...]
    """How likely each is before the first move; they sum to 1."""
    known: dict[tuple[str, ...], tuple[float, ...]] = field(default_factory=dict, repr=False)
    """How likely each is after the opponent's moves of a history."""

    def prefetch(self, states: Sequence[ChessState]) -> None:
        """Let the searches begin."""
        for rival in self.rivals:
            rival.prefetch(states)

    def cancel(self, states: Sequence[ChessState]) -> None:
        """Drop searches that have not begun."""
        for rival in self.rivals:
            rival.cancel(states)

    def distributions(self, states: Sequence[ChessState]) -> list[Distribution]:
        """The mean of the rivals' play, each weighted by how likely it is that this is the one."""
        each = [rival.distributions(states) for rival in self.rivals]
        return [
            mixed([plays[k] for plays in each], self.posterior(state), state.board.legal_moves.count())
            for k, state in enumerate(states)
        ]

    def sources(self, states: Sequence[ChessState]) -> list[dict[str, Sources]]:
        """The same by where it comes from; what a rival counts among the rest is a tail."""
        each = [rival.sources(states) for rival in self.rivals]
        answer = []
        for k, (state, mean) in enumerate(zip(states, self.distributions(states), strict=True)):
            weights, legal = self.posterior(state), state.board.legal_moves.count()
            parts = {move: np.zeros(4) for move in mean}
            for weight, found in zip(weights, (one[k] for one in each), strict=True):
                play = {move: sum(source) for move, source in found.items()}
                for move in parts:
                    named = found.get(move) if move != REST else None
                    tail = 0.0 if move == REST else probability(play, move, legal)
                    parts[move] += weight * np.array(named if named is not None else Sources(tail=tail))
            rest = mean.get(REST, 0.0)
            answer.append({m: Sources(tail=rest) if m == REST else Sources(*p) for m, p in parts.items()})
        return answer

    def posterior(self, state: ChessState) -> tuple[float, ...]:
        """How likely each rival is after the moves of a history."""
        moves = state.moves
        start = len(moves)
        while start > 0 and moves[:start] not in self.known:
            start -= 1
        weights = self.known.get(moves[:start]) or self._first()
        now = self.game.root()
        for k, move in enumerate(moves):
            if k >= start:
                weights = self._after(weights, now, move)
                self.known[moves[: k + 1]] = weights
            now = self.game.next(now, move)
        return weights

    def _first(self) -> tuple[float, ...]:
        """How likely each is where the game begins, which may be after some moves."""
        opening, weights = replace(self.game, before=()), self.shares
        state = opening.root()
        for text in self.game.before:
            move = state.board.uci(parse_move(state.board, text))
            weights = self._after(weights, state, move)
            state = opening.next(state, move)
        return weights

    def _after(self, weights: tuple[float, ...], state: ChessState, move: str) -> tuple[float, ...]:
        """How likely each is after a move, if it was the opponent's."""
        if state.board.turn != (self.side == 1):
            return weights
        plays = [rival.distributions([state])[0] for rival in self.rivals]
        return updated(weights, plays, move, state.board.legal_moves.count())


def updated(
    weights: Sequence[float], plays: Sequence[Distribution], move: str, legal: int
) -> tuple[float, ...]:
    """Bayes' rule after a move; a move that nobody would play tells nothing."""
    joint = [w * probability(play, move, legal) for w, play in zip(weights, plays, strict=True)]
    total = sum(joint)
    return tuple(w / total for w in joint) if total > 0.0 else tuple(weights)


def mixed(plays: Sequence[Distribution], weights: Sequence[float], legal: int) -> Distribution:
    """The mean of some plays; what one names and another counts among the rest is named."""
    names = dict.fromkeys(move for play in plays for move in play if move != REST)
    answer = {
        move: sum(w * probability(play, move, legal) for w, play in zip(weights, plays, strict=True))
        for move in names
    }
    rest = 1.0 - sum(answer.values())
    return answer | {REST: rest} if rest > 1e-12 and legal > len(names) else answer
