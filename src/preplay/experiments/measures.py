"""What a sweep can measure, by name."""

from __future__ import annotations

BOOK = (
    "value",
    "size",
    "net",
    "upper",
    "baseline",
    "unprepared",
    "gain",
    "histories",
    "questions",
    "searches",
    "seconds",
)
"""What a sweep can tell of the best book at each point."""
BOUNDS = ("entropy", "p_norm", "firsts", "size_bound", "guarantee", "reached")
"""What it can tell of Theorem 1 and Lemma 1: how exploitable the opponent's randomness leaves them."""
EQUILIBRIUM = (
    "equilibrium",
    "equilibrium_lower",
    "equilibrium_upper",
    "equilibrium_gap",
    "equilibrium_size",
    "equilibrium_entropy",
)
"""What it can tell of the equilibrium of preparation, for the side: its value, bounds of that, and how
much the side memorizes and how randomly it plays in it."""
CERTIFIED = ("upper", "equilibrium_lower", "equilibrium_upper")
"""What bounds the others, and is told too where a point was cut short."""
MEASURES = (*BOOK, *BOUNDS, *EQUILIBRIUM)
"""What a sweep can tell of each point."""
