"""The equilibrium of the meta-game, in which both sides choose mixed books."""

from preplay.equilibrium.publicgame import (
    Certificate,
    Costs,
    Mixed,
    Response,
    advantages,
    best_response,
    certify,
    payoff,
)
from preplay.equilibrium.solvers import METHODS, Equilibrium, Progress, solve

__all__ = [
    "METHODS",
    "Certificate",
    "Costs",
    "Equilibrium",
    "Mixed",
    "Progress",
    "Response",
    "advantages",
    "best_response",
    "certify",
    "payoff",
    "solve",
]
