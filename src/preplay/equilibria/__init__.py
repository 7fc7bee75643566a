"""The equilibrium of the meta-game, in which both sides choose mixed books."""

from preplay.equilibria.publicgame import (
    BestResponse,
    Certificate,
    Costs,
    Mixed,
    advantages,
    best_response,
    certify,
    payoff,
)
from preplay.equilibria.solvers import METHODS, Equilibrium, SolverProgress, solve

__all__ = [
    "METHODS",
    "BestResponse",
    "Certificate",
    "Costs",
    "Equilibrium",
    "Mixed",
    "SolverProgress",
    "advantages",
    "best_response",
    "certify",
    "payoff",
    "solve",
]
