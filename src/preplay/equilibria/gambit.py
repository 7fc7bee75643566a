"""The explicit game G' as a Gambit `.efg` file, for other people's solvers."""

from __future__ import annotations

from collections.abc import Iterator

from preplay.equilibria.explicit import CHANCE, DIGITS, TERMINAL, UNIT, ExplicitGame


def efg_lines(game: ExplicitGame, title: str) -> Iterator[str]:
    """The lines of a Gambit `.efg` file, which OpenSpiel reads too.

    Gambit wants probabilities and constant-sum payoffs that are exact; OpenSpiel wants information
    sets numbered from 1 without gaps, every node in full and, for its linear program, payoffs that
    sum to 0: player 1 gets twice the payoff less 1, from -1 for a loss to 1 for a win.
    """
    yield f'EFG 2 R {_quoted(title)} {{ "Player 1" "Player 2" }}'
    numbers = game.infosets()
    chances = outcomes = 0
    tree = game.tree
    for node in game.nodes:
        if node.player == TERMINAL:
            outcomes += 1
            pays = 2 * node.payoff - UNIT
            yield f't "" {outcomes} "" {{ {_decimal(pays)}, {_decimal(-pays)} }}'
        elif node.player == CHANCE:
            chances += 1
            below = [game.nodes[c].history for c in node.children]
            lottery = below == [node.history] * 3
            names = (
                ("play", "audit 1", "audit 2") if lottery else [tree.names[tree.action[k]] for k in below]
            )
            pairs = zip(names, node.probabilities, strict=True)
            listed = " ".join(f"{_quoted(name)} {_decimal(p)}" for name, p in pairs)
            yield f'c "" {chances} "" {{ {listed} }} 0'
        else:
            label = _quoted(" ".join(tree.history(node.history)))
            yield f'p "" {node.player} {numbers[node.history]} {label} {{ "stay" "leave" }} 0'


def efg_text(game: ExplicitGame, title: str = "preplay") -> str:
    """The whole `.efg` file."""
    return "\n".join(efg_lines(game, title)) + "\n"


def _decimal(units: int) -> str:
    """A whole number of units as a plain decimal, exactly."""
    sign, units = ("-", -units) if units < 0 else ("", units)
    whole, rest = divmod(units, UNIT)
    return f"{sign}{whole}.{rest:0{DIGITS}d}".rstrip("0").rstrip(".")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "").replace('"', "'") + '"'
