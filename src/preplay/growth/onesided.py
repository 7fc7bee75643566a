"""Growing what one side could memorize against a fixed opponent: anytime, with exact pruning.

Every history carries an interval of what its subtree is worth (`intervals`). The widest interval is asked
about first, and where going on cannot beat stopping, nothing is asked any more (`front`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from preplay.arguments import (
    as_path,
    check_function,
    check_made,
    check_number,
    check_player,
    check_rules,
)
from preplay.game import Game, S, Side, other
from preplay.growth import checkpoints
from preplay.growth.front import Front
from preplay.growth.goals import Goal, Grown, GrowthProgress, Limits, check_goal
from preplay.growth.window import Window
from preplay.policy import Choices, Policy, check_pair, check_policy
from preplay.stopping import NEVER, Stop
from preplay.value import Evaluator, check_evaluator


def grow(  # noqa: PLR0913  # an option each
    game: Game[S],
    side: Side,
    base: tuple[Policy[S], Policy[S]],
    prep: Policy[S],
    value: Evaluator[S],
    goal: Goal,
    limits: Limits | None = None,
    *,
    choices: Choices[S] | None = None,
    stop: Stop = NEVER,
    progress: Callable[[GrowthProgress], None] | None = None,
    checkpoint: Path | None = None,
    every: float = 30.0,
) -> Grown:
    """Grow the tree on which `side` chooses its book, most promising histories first.

    With `choices`, a book chooses its moves: at an own history it plays one of the menu, at most so many
    times on a line another one than the first; where these are spent, or the menu is empty, it plays
    prep. The tree then holds the options side by side (`Tree.choice`), for `preplay.choice.choose`.

    Where the goal has memory by position, the tree says which histories share it (`Tree.position`), for
    `preplay.choice.shared.choose`.

    With `checkpoint`, the state is written there every so many seconds and at the end, and taken up
    again when the file exists. Answers are applied in the order asked, so a finished growth, and one
    cut short by `limits.histories`, does not depend on timing or on how many engines work.
    """
    limits = Limits() if limits is None else limits
    check_made("limits", limits, Limits, "as Limits(histories=1000)")
    check_rules(game)
    check_player(side)
    check_pair(base, "base")
    check_policy(prep, "prep")
    check_evaluator(value)
    check_goal(goal)
    if choices is not None:
        check_made("choices", choices, Choices, "as Choices(menus, deviations=1)")
    check_made("stop", stop, Stop, "as Stop()")
    check_function("progress", progress)
    check_number("every", every)
    checkpoint = None if checkpoint is None else as_path("checkpoint", checkpoint)
    watched = progress is not None or checkpoint is not None
    opponent = base[other(side) - 1]
    front = Front(game, side, prep, opponent, value, goal, limits, choices=choices, watched=watched)

    def save() -> None:
        if checkpoint is not None:
            checkpoints.save(front, window, checkpoint)

    window = Window(front, limits, stop, progress, save, every)
    if checkpoint is not None and checkpoint.exists():
        checkpoints.take_up(front, window, checkpoint)
    else:
        with stop.interruptible():  # the value of the root may take long; before it there is no result
            front.plant()
    try:
        ending = window.run(limits)
        save()
    finally:
        window.forget()
    window.tell()
    tree = front.freeze()
    return Grown(
        tree=tree,
        ending="complete" if tree.complete and ending != "interrupted" else ending,
        histories=len(front.built),
        questions=window.asked,
        values=front.values,
        seconds=window.seconds,
    )
