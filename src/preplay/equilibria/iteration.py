"""The compiled loops of the solvers: one backward and one forward sweep a side and iteration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preplay.compiled import jit
from preplay.equilibria.folding import (
    BASE,
    COST,
    IN_IN,
    IN_LEFT,
    LEFT_IN,
    LEFT_LEFT,
    PREP,
    Decisions,
)
from preplay.tree import Floats


class Rule(NamedTuple):
    """How regrets become the next strategy: the family that all methods are members of."""

    alpha: float = 0.0
    """Positive regrets are discounted by t^α / (t^α + 1); 0 keeps them."""
    beta: float = 1.0
    """Negative regrets are multiplied by this in every iteration."""
    floor: float = 0.0
    """Regrets never fall below this: 0 in the CFR+ family, -inf in CFR."""
    gamma: float = 0.0
    """Iteration t weighs t^γ in the average strategy."""
    trust: float = 0.0
    """Weight of the last regret as a prediction of the next: 0 none, 1 predictive CFR+."""
    eager: float = 0.0
    """1: values passed up already use the new strategy below (Gauss-Seidel); 0: the old one (CFR)."""


class State(NamedTuple):
    """What one side keeps between iterations."""

    worth: Floats  # [m, 2] accumulates the worth below a decision once left, and in book
    regret: Floats  # [m, 2] of staying, of leaving
    stay: Floats  # [m] P(stay in book | in book)
    mass: Floats  # [m, 2] mass that has left the book at or before a decision, and that stays in it
    mean: Floats  # [m] average of the in-book mass


def new_state(side: Decisions) -> State:
    """A state in which the side stays with probability 1/2 everywhere."""
    m = len(side.history)
    zeros = np.zeros
    return State(zeros((m, 2)), zeros((m, 2)), np.full(m, 0.5), zeros((m, 2)), zeros(m))


@jit
def iterate(
    one: Decisions,
    two: Decisions,
    state_one: State,
    state_two: State,
    rule: Rule,
    start: int,
    stop: int,
    restarted: int,
    weights: float,
    age: float,
) -> float:
    """Iterations start + 1 .. stop with alternating updates; the average began after `restarted`.

    `weights` is the sum of the weights in the average so far; the new sum is returned. `age` is added to
    t where regrets are discounted: those of a warm start are not to be forgotten at once.
    """
    for t in range(start + 1, stop + 1):
        now = ahead = 1.0
        if rule.alpha > 0.0:
            power = (t - 1.0 + age) ** rule.alpha
            now = power / (power + 1.0)
            if rule.trust > 0.0:
                power = (t + age) ** rule.alpha
                ahead = power / (power + 1.0)
        weight = float(t - restarted) ** rule.gamma
        weights += weight
        backward(one, state_one, state_two.mass, rule, now, ahead)
        forward(one, state_one, state_two.worth, weight / weights)
        backward(two, state_two, state_one.mass, rule, now, ahead)
        forward(two, state_two, state_one.worth, weight / weights)
    return weights


@jit
def backward(
    side: Decisions, state: State, rival_mass: Floats, rule: Rule, now: float, ahead: float
) -> None:
    """Counterfactual advantages from the last decision up, new regrets and new `stay`.

    The advantage is divided by the constant prep reach P, to which regret matching is indifferent.
    """
    table, worth, regret, stay = side.table, state.worth, state.regret, state.stay
    floor, trust, eager, beta = rule.floor, rule.trust, rule.eager, rule.beta
    # What a rule leaves out is not computed: the same numbers in four fifths of the time.
    forgets, predicts = now != 1.0 or beta != 1.0, trust > 0.0 or ahead != 1.0
    for d in range(len(stay) - 1, 0, -1):
        gone, held = rival_mass[side.rival[d], 0], rival_mass[side.rival[d], 1]
        leaving = worth[d, 0] + table[d, LEFT_LEFT] * gone + table[d, LEFT_IN] * held
        staying = worth[d, 1] + table[d, IN_LEFT] * gone + table[d, IN_IN] * held - table[d, COST]
        worth[d, 0] = 0.0
        worth[d, 1] = 0.0
        advantage = staying - leaving
        old = stay[d]
        of_staying = (1.0 - old) * advantage
        of_leaving = -old * advantage
        r0, r1 = regret[d, 0], regret[d, 1]
        if forgets:
            r0 *= now if r0 > 0.0 else beta
            r1 *= now if r1 > 0.0 else beta
        r0 = max(floor, r0 + of_staying)
        r1 = max(floor, r1 + of_leaving)
        regret[d, 0] = r0
        regret[d, 1] = r1
        if predicts:
            r0 = r0 * ahead + trust * of_staying
            r1 = r1 * ahead + trust * of_leaving
        r0, r1 = max(0.0, r0), max(0.0, r1)
        new = r0 / (r0 + r1) if r0 + r1 > 0.0 else 0.5
        stay[d] = new
        used = old
        if eager > 0.0:
            used = old + eager * (new - old)
        p = side.previous[d]
        worth[p, 0] += table[d, BASE] * leaving
        worth[p, 1] += table[d, PREP] * (leaving + used * advantage)
    worth[0, 0] = 0.0
    worth[0, 1] = 0.0


@jit
def forward(side: Decisions, state: State, rival_worth: Floats, weight: float) -> None:
    """Masses from the first decision down, into the average, and on to what the rival's are worth."""
    table, mass, stay, mean = side.table, state.mass, state.stay, state.mean
    mass[0, 0] = 0.0
    mass[0, 1] = 1.0
    pass_on(table, 0, side.rival[0], 0.0, 1.0, rival_worth)
    for d in range(1, len(stay)):
        p = side.previous[d]
        inside = mass[p, 1] * table[d, PREP]
        held = stay[d] * inside
        gone = mass[p, 0] * table[d, BASE] + (inside - held)
        mass[d, 0] = gone
        mass[d, 1] = held
        mean[d] += weight * (held - mean[d])
        pass_on(table, d, side.rival[d], gone, held, rival_worth)


@jit
def pass_on(table: Floats, d: int, rival: int, gone: float, held: float, rival_worth: Floats) -> None:
    """Add the leaves below decision d to the worth of the rival's last decision before it."""
    rival_worth[rival, 0] -= table[d, LEFT_LEFT] * gone + table[d, IN_LEFT] * held
    rival_worth[rival, 1] -= table[d, LEFT_IN] * gone + table[d, IN_IN] * held


@jit
def masses(side: Decisions, held: Floats, mass: Floats) -> float:
    """Fill `mass` from in-book masses alone (kept within the possible); return the cost of the book."""
    table = side.table
    mass[0, 0] = 0.0
    mass[0, 1] = 1.0
    cost = 0.0
    for d in range(1, len(held)):
        p = side.previous[d]
        inside = mass[p, 1] * table[d, PREP]
        mass[d, 1] = min(held[d], inside)
        mass[d, 0] = mass[p, 0] * table[d, BASE] + (inside - mass[d, 1])
        cost += table[d, COST] * mass[d, 1]
    return cost


@jit
def best_response(side: Decisions, rival: Decisions, rival_mass: Floats, worth: Floats) -> float:
    """What the best book of `side` earns it against `rival_mass`; `worth` [m, 2] is for scratch."""
    table = side.table
    worth[:] = 0.0
    for d in range(len(rival.history)):
        pass_on(rival.table, d, rival.rival[d], rival_mass[d, 0], rival_mass[d, 1], worth)
    for d in range(len(side.history) - 1, 0, -1):
        gone, held = rival_mass[side.rival[d], 0], rival_mass[side.rival[d], 1]
        leaving = worth[d, 0] + table[d, LEFT_LEFT] * gone + table[d, LEFT_IN] * held
        staying = worth[d, 1] + table[d, IN_LEFT] * gone + table[d, IN_IN] * held - table[d, COST]
        p = side.previous[d]
        worth[p, 0] += table[d, BASE] * leaving
        worth[p, 1] += table[d, PREP] * max(staying, leaving)
    gone, held = rival_mass[side.rival[0], 0], rival_mass[side.rival[0], 1]
    return float(worth[0, 1] + table[0, IN_LEFT] * gone + table[0, IN_IN] * held)


@jit
def resume(side: Decisions, state: State, held: Floats) -> None:
    """Go on from the strategy with in-book masses `held`; the size of the regrets stays as it is."""
    masses(side, held, state.mass)
    for d in range(1, len(held)):
        inside = state.mass[side.previous[d], 1] * side.table[d, PREP]
        if inside > 0.0:
            size = max(0.0, state.regret[d, 0]) + max(0.0, state.regret[d, 1])
            state.stay[d] = state.mass[d, 1] / inside
            state.regret[d, 0] = size * state.stay[d]
            state.regret[d, 1] = size - state.regret[d, 0]
