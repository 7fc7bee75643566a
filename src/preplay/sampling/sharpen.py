"""The best book from roll-outs, sampling only where more samples could change it (Theorem 3).

Algorithm 1 estimates every history to within ε/2. Here every value is an interval, and what is bounded is
the *regret* of the book chosen by the means: how much more the best book might net. Where both agree
nothing is lost, however uncertain the values are, so only decisions in doubt call for samples. Exits
between two own decisions that nobody would memorize are one random number, not many: a playout first
draws the exit.

δ is shared by reach. Own histories of one length have a reach of at most 1 together, so the shares
δ π(h)/L of all of them sum to at most δ, whatever their number and whichever are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Generic, Literal

import numpy as np
import numpy.typing as npt

from preplay.game import FINAL, Game, S, Side
from preplay.randomness import BOOK, POOL
from preplay.response import check_cost, reach
from preplay.sampling import _regret as loops
from preplay.sampling.adaptive import PARTS, AdaptiveRollouts, Estimate
from preplay.sampling.rollouts import check_guarantee, theorem3_samples
from preplay.sampling.samplers import PlayoutRequest, PlayoutStart, at, lottery
from preplay.sampling.streams import play_unless
from preplay.stopping import NEVER, Stop
from preplay.tree import Bools, Floats, Ints, Tree

BLOCK = 32
"""The least number of playouts added to an estimate; fewer hardly move its radius."""

_OWN: Final = 0  # the row of playouts from own histories
_POOL: Final = 1  # the row of playouts from the pools of exits below them

Nodes = npt.NDArray[np.intp]
SharpenEnding = Literal["certified", "open", "samples", "seconds", "interrupted"]


@dataclass(frozen=True, eq=False)
class Sharpened:
    """A book chosen by roll-outs and what is certain about it, but for a chance of `delta`."""

    tree: Tree  # with the sharper values and radii; exits of one pool share their common mean
    side: Side
    cost: float
    epsilon: float
    delta: float
    book: Ints  # [size] the chosen histories as indices of the tree, ascending
    net: float  # the book's value less its cost, by the means
    regret: float  # no book nets more than this above the chosen one
    lower: float  # the chosen book nets at least this
    upper: float  # no book nets more than this
    samples: int  # playouts, those of the growth included
    fixed: int  # playouts that Algorithm 1 takes for the same ε and δ on the same histories
    ending: SharpenEnding  # "open": what keeps the regret above ε lies in histories not yet expanded


@dataclass(frozen=True)
class Sharpening:
    """A snapshot for a live line."""

    regret: float
    samples: int


def sharpen(  # noqa: PLR0913  # an option each
    game: Game[S],
    tree: Tree,
    side: Side,
    cost: float,
    rollouts: AdaptiveRollouts[S],
    epsilon: float,
    *,
    most: int | None = None,
    trusted: bool = False,
    share: float = 1.0,
    stop: Stop = NEVER,
    progress: Callable[[Sharpening], None] | None = None,
) -> Sharpened:
    """The book of `side` that is within `epsilon` of the best, but for a chance of `rollouts.delta`.

    `tree` was grown for this side and cost with `rollouts` as its values (or with exact ones). Then the
    chosen book is played as a whole until its net is known to within ε/2. There are at most `most`
    playouts, those of the growth included; where they end, or `stop` is asked, the book comes with the
    regret that it may have.
    `share`: where several books are chosen with the same rollouts and all that is said of them must hold
    at once, what of δ this one may spend. What is known of single histories is spent once for all.
    `trusted`: choose by the tree's values as far as the playouts do not contradict them, instead of by
    the means of the playouts. What is certain does not depend on it.
    """
    check_cost(cost)
    check_guarantee(epsilon, rollouts.delta)
    before = rollouts.samples
    room = None if most is None else max(0, most - before)
    doubt = _Doubt(game, tree, side, cost, rollouts, trusted, room, share)
    ending: SharpenEnding = "certified"
    while (bounds := doubt.bounds()).regret > epsilon:
        arms = doubt.arms(bounds, epsilon)
        if not len(arms):
            ending = "open"
        elif doubt.room == 0:
            ending = "samples"
        elif stop.asked or not doubt.narrow(arms, stop):
            ending = stop.reason
        if ending != "certified":
            break
        if progress is not None:
            progress(Sharpening(bounds.regret, before + doubt.samples))
    lower, upper = bounds.lower, bounds.upper
    book, exits = loops.played(tree.parent, doubt.kind, bounds.chosen)
    if ending in ("certified", "open") and upper - lower > 2.0 * epsilon:
        low, high, known = doubt.certify(np.flatnonzero(exits), epsilon / 2.0, stop)
        price = cost * int(book.sum())
        lower, upper = max(lower, low - price), min(upper, high - price + bounds.regret)
        if not known:
            ending = "samples" if doubt.room == 0 else stop.reason
    return Sharpened(
        tree=doubt.sharper(),
        side=side,
        cost=cost,
        epsilon=epsilon,
        delta=rollouts.delta,
        book=np.flatnonzero(book).astype(np.int32),
        net=bounds.net,
        regret=bounds.regret,
        lower=lower,
        upper=upper,
        samples=before + doubt.samples,
        fixed=doubt.evaluated()
        * theorem3_samples(epsilon, rollouts.delta, cost, game.longest, game.widest),
        ending=ending,
    )


@dataclass(frozen=True, eq=False)
class _Bounds:
    """What the intervals imply for the book that is best by the means."""

    net: float
    lower: float
    upper: float
    regret: float
    chosen: Bools  # [n] go on by the book at k, if the book gets there
    eager: Bools  # [n] the most that k can hold is had by going on
    torn: Bools  # [n] the regret below k is from deciding otherwise at k itself


@dataclass
class _Arm(Generic[S]):
    """A start of playouts, and an interval for its value from the side's point of view."""

    start: PlayoutStart[S]
    delta: float
    mean: float
    low: float
    high: float
    estimate: Estimate = field(default_factory=Estimate)
    guess: float | None = None
    """Counts in place of the mean of the playouts, as far as they allow."""

    @property
    def wanted(self) -> int:
        """A quarter more playouts."""
        return max(BLOCK, self.estimate.samples // 4)

    def update(self, estimate: Estimate, side: Side) -> None:
        self.estimate = estimate
        radius = estimate.radius(self.delta)
        mean = estimate.mean if side == 1 else 1.0 - estimate.mean
        low, high = max(self.low, mean - radius), min(self.high, mean + radius)
        if low > high:  # an interval failed, which has a chance of δ: believe the newest
            low, high = max(0.0, mean - radius), min(1.0, mean + radius)
        if self.guess is not None:
            mean = self.guess
        self.mean, self.low, self.high = min(max(mean, low), high), low, high


class _Doubt(Generic[S]):
    """Intervals of the value mass at own histories and in pools, and the arms that narrow them."""

    def __init__(
        self,
        game: Game[S],
        tree: Tree,
        side: Side,
        cost: float,
        rollouts: AdaptiveRollouts[S],
        trusted: bool,
        room: int | None = None,
        share: float = 1.0,
    ) -> None:
        self.game, self.tree, self.side, self.cost, self.rollouts = game, tree, side, cost, rollouts
        self.trusted = trusted
        self.share = share
        self.samples = 0
        self.room = room
        """How many playouts may still be made; None: any number."""
        self.pi = reach(tree, side)
        self.above = loops.own_above(tree.parent, tree.player, side)
        unknown = np.isnan(tree.value)
        mean = np.where(unknown, 0.5, tree.value_for(side))
        radius = np.where(unknown, 0.5, tree.radius)
        low, high = np.maximum(0.0, mean - radius), np.minimum(1.0, mean + radius)
        leaves = tree.leaves
        pooled = leaves & ~tree.open & (self.pi * radius > 0.0) & (self.above >= 0)
        cases = [pooled, leaves & tree.open, leaves, tree.player == side]
        self.kind = np.select(
            cases, [loops.POOLED, loops.OPEN, loops.EXIT, loops.DECISION], loops.SUM
        ).astype(np.int8)
        members = np.flatnonzero(pooled)
        self.members = members[np.argsort(self.above[members], kind="stable")]
        self.owner = self.above[self.members]
        # [2, n] masses: of an own history or exit, and of the pool of the exits below it
        self.weight = self._masses(np.ones(tree.size))
        self.mean, self.low, self.high = self._masses(mean), self._masses(low), self._masses(high)
        self.taken = np.ones((2, tree.size))  # [2, n] playouts so far
        self.taken[_OWN] = max(1, rollouts.first)
        self._arms: dict[tuple[int, int], _Arm[S]] = {}
        self._states: dict[int, S] = {0: game.root()}

    def _masses(self, value: Floats) -> Floats:
        mass = self.pi * value
        pools = np.bincount(self.owner, mass[self.members], self.tree.size)
        return np.stack((mass, pools))

    def bounds(self) -> _Bounds:
        """The book that is best by the means, and its regret."""
        hope = np.where(self.kind == loops.OPEN, self.pi - self.cost, 0.0)
        net, lower, upper, regret, chosen, eager, torn = loops.backward(
            self.tree.parent, self.kind, self.mean, self.low, self.high, hope, self.cost
        )
        return _Bounds(net, lower, upper, regret, chosen, eager, torn)

    def arms(self, bounds: _Bounds, epsilon: float) -> Nodes:
        """[m, 2] the arms worth sampling: what keeps the regret up, the most for a playout first.

        None if the rest of the regret, above ε, is what open histories may hold.
        """
        marked = loops.witnesses(self.tree.parent, self.kind, bounds.chosen, bounds.eager, bounds.torn)
        width = np.where(marked, self.high - self.low, 0.0)
        if bounds.regret - width.sum() > epsilon or not width.any():
            return np.zeros((0, 2), dtype=np.intp)
        # A radius falls as 1/√n: the next playout takes width / 2n off.
        profit = width / self.taken
        return np.argwhere(profit >= 0.5 * profit.max())

    def narrow(self, arms: Nodes, stop: Stop) -> bool:
        """More playouts for all of these arms in one batch; whether they came to their end."""
        pulled = [(row, k, self._arm(row, k)) for row, k in arms[: self.room].tolist()]
        played = self._sample([arm for _, _, arm in pulled], stop)
        if played is None:
            return False
        for row, k, arm in pulled[:played]:
            weight = self.weight[row, k]
            self.mean[row, k], self.low[row, k] = weight * arm.mean, weight * arm.low
            self.high[row, k], self.taken[row, k] = weight * arm.high, arm.estimate.samples
            if row == _OWN:
                self.rollouts.estimates[arm.start.key] = arm.estimate
        return True

    def certify(self, exits: Nodes, radius: float, stop: Stop) -> tuple[float, float, bool]:
        """The least and greatest value of a book, from playouts that leave it by its `exits`.

        And whether they are as near to each other as asked.
        """
        mean, width = self.mean[_OWN, exits], self.high[_OWN, exits] - self.low[_OWN, exits]
        exact = float(mean[width == 0.0].sum())
        exits = exits[width > 0.0]
        weight = float(self.pi[exits].sum())
        delta = self.share * self.rollouts.delta / PARTS
        arm = _Arm(self._lottery(0, exits, BOOK), delta, 0.5, 0.0, 1.0)
        while weight * (arm.high - arm.low) > 2.0 * radius:
            if self.room == 0 or stop.asked or self._sample([arm], stop) is None:
                return exact + weight * arm.low, exact + weight * arm.high, False
        return exact + weight * arm.low, exact + weight * arm.high, True

    def _sample(self, arms: list[_Arm[S]], stop: Stop) -> int | None:
        """More playouts of the first arms, as many as there is room for; None where a stop came first."""
        requests: list[PlayoutRequest[S]] = []
        left = self.room
        for arm in arms:
            count = arm.wanted if left is None else min(arm.wanted, left)
            if count == 0:
                break
            left = None if left is None else left - count
            requests.append(PlayoutRequest(arm.start, arm.estimate.samples, count))
        try:
            with stop.interruptible():
                outcomes = play_unless(self.rollouts.sampler, requests, stop)
        except KeyboardInterrupt:
            if not stop.asked:
                raise
            return None
        if outcomes is None:
            return None
        self.room = left
        for arm, outcome in zip(arms, outcomes, strict=False):
            self.samples += len(outcome.utilities)
            arm.update(arm.estimate.after(outcome), self.side)
        return len(requests)

    def _arm(self, row: int, k: int) -> _Arm[S]:
        if (row, k) not in self._arms:
            delta = self.rollouts.delta / PARTS * float(self.pi[k]) / max(1, self.game.longest)
            if row == _POOL:
                delta *= self.share
                start = self._lottery(k, self._pool(k), POOL)
                estimate = Estimate()
            else:
                start = at(self.game, self._state(k))
                estimate = self.rollouts.estimates.get(start.key, Estimate())
            mean, low, high = (float(x[row, k]) for x in (self.mean, self.low, self.high))
            weight = float(self.weight[row, k])
            guess = mean / weight if self.trusted else None
            self._arms[row, k] = _Arm(
                start, delta, mean / weight, low / weight, high / weight, estimate, guess
            )
        return self._arms[row, k]

    def _pool(self, k: int) -> Nodes:
        low, high = np.searchsorted(self.owner, (k, k + 1))
        return self.members[low:high]

    def _lottery(self, k: int, exits: Nodes, purpose: int) -> PlayoutStart[S]:
        states = [self._state(j) for j in exits.tolist()]
        return lottery(self.tree.history(k), states, self.pi[exits].tolist(), purpose)

    def _state(self, k: int) -> S:
        path = []
        while k not in self._states:
            path.append(k)
            k = int(self.tree.parent[k])
        for j in reversed(path):
            self._states[j] = self.game.next(self._states[k], self.tree.names[self.tree.action[j]])
            k = j
        return self._states[k]

    def sharper(self) -> Tree:
        """The tree with what is known now; exits of a sampled pool get the mean of the pool."""
        value, radius = self.tree.value.copy(), self.tree.radius.copy()
        for (row, k), arm in self._arms.items():
            if not arm.estimate.samples:
                continue
            mean = arm.mean if self.side == 1 else 1.0 - arm.mean
            if row == _OWN:
                value[k], radius[k] = mean, max(arm.high - arm.mean, arm.mean - arm.low)
            else:
                exits = self._pool(k)
                radius[exits] += np.abs(value[exits] - mean)
                value[exits] = mean
        return replace(self.tree, value=value, radius=radius)

    def evaluated(self) -> int:
        """How many histories Algorithm 1 samples: own ones and exits that follow a reach of λ."""
        samples = ((self.tree.player == self.side) | self.tree.leaves) & (self.tree.player != FINAL)
        follows = (self.above < 0) | (self.pi[self.above] >= self.cost)
        return int(np.count_nonzero(samples & follows & (self.pi > 0.0)))
