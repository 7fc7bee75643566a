"""The equilibrium of the meta-game, in which both sides choose mixed books."""

from preplay.equilibria.minimizing import METHODS, SolverProgress
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
from preplay.equilibria.solvers import Equilibrium, solve

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
