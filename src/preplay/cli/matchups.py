"""preplay matchups: what comes built in."""

from __future__ import annotations

from preplay.cli import options, show


def matchups(as_json: options.Json = False) -> None:
    """List the built-in matchups.

    Example: preplay matchups
    """
    from preplay.matchup.builtin import BUILTIN

    if as_json:
        show.print_json(
            {
                "matchups": [
                    {"name": n, "summary": b.summary, "config": dict(b.config)}
                    for n, b in BUILTIN.items()
                ]
            }
        )
    else:
        for name, builtin in BUILTIN.items():
            show.fact(name, builtin.summary, indent=17, margin=0)
