"""From a name or a file to a live matchup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from preplay.arguments import check_listed, shown
from preplay.errors import InputError, nearest
from preplay.matchup import settings
from preplay.matchup.builtin import BUILTIN
from preplay.matchup.model import Matchup

BY_ENGINES = ("chess", "chess-clock")
"""Kinds of matchups in which engines play."""
KINDS = (*BY_ENGINES, "openspiel", "python", "synthetic", "tabular")


TABULAR = ("deviations",)
"""What may be set of a tabular game: all else is in its file."""


def load_config(
    spec: str | Path, changes: Iterable[str] = (), usual: Sequence[str] = ()
) -> tuple[str, dict[str, Any]]:
    """The name and the configuration tables that `spec` stands for, with `--set` changes applied.

    The `usual` changes come before, as if they stood in the matchup.
    """
    spec, changes = _said(spec, changes)
    suffix = Path(spec).suffix.lower()
    if suffix == ".json":
        for change in changes:
            if change.partition("=")[0].strip() not in TABULAR:
                raise InputError(
                    f"change {change}: a tabular game has no settings to change but {', '.join(TABULAR)}"
                )
        return Path(spec).stem, settings.override({"kind": "tabular", "file": spec}, changes)
    if suffix == ".toml":
        name, config = Path(spec).stem, settings.read_toml(Path(spec))
        if config.get("kind") == "python":
            config["path"] = str(Path(spec).parent / str(config.get("path", "")))
        _from_here(config, Path(spec).parent)
    elif ":" in spec and not Path(spec).exists():
        name, config = spec, {"kind": "python", "matchup": spec}
    elif spec in BUILTIN:
        name, config = spec, dict(BUILTIN[spec].config)
    elif Path(spec).exists():
        raise InputError(
            f"matchup '{spec}'; expected a .toml or .json file, a built-in name or module:function"
        )
    else:
        raise InputError(
            f"unknown matchup '{spec}'; {nearest(spec, BUILTIN)} "
            "(or give a .toml or .json file, or module:function)"
        )
    config = settings.override(settings.override(config, usual), changes)
    if "kind" not in config:
        raise InputError(f"{spec}: key 'kind' is missing; expected one of {', '.join(KINDS)}")
    _without_engines_of_people(config, changes)
    if spec in BUILTIN and not any(change.startswith("value.model") for change in (*usual, *changes)):
        _without_games_of_people(config)
    return name, config


def _said(spec: str | Path, changes: Iterable[str]) -> tuple[str, list[str]]:
    """A name or a file and changes as text, which they have to be."""
    if not isinstance(spec, str | Path):
        raise InputError(f"matchup {shown(spec)}; expected a built-in name, or a .toml or .json file")
    check_listed("changes", changes)
    several = list(changes)
    for change in several:
        if not isinstance(change, str):
            raise InputError(f"change {shown(change)}; expected text, as 'black.randomness=10'")
    return str(spec), several


def _without_engines_of_people(config: dict[str, Any], changes: Sequence[str]) -> None:
    """A person who is seated by a change takes the place of the engine that was there before."""
    for side in ("white", "black"):
        for who, idle in settings.SEATED.items():
            player = config.get(side)
            if (
                config.get("kind") != "chess"
                or not isinstance(player, dict)
                or not player.get(who)
                or settings.saying(f"{side}.{who}", changes) is None
                or (isinstance(player[who], dict) and player[who].get("weight") is not None)
            ):
                continue
            for key in idle:
                if settings.saying(f"{side}.{key}", changes) is None:
                    player.pop(key, None)


def _without_games_of_people(config: dict[str, Any]) -> None:
    """A person's model is of the opening: games that it plays on say nothing of what a score is worth.

    So the built-in matchups take the curve of Lichess there, which has no games of the pairing.
    """
    players = [config.get(side) for side in ("white", "black")]
    people = any(isinstance(p, dict) and (p.get("games") or p.get("opponent")) for p in players)
    value = config.get("value")
    if people and isinstance(value, dict) and value.get("model") == "calibrated":
        config["value"] = {k: x for k, x in value.items() if k != "games"} | {"model": "logistic"}


def _from_here(config: dict[str, Any], place: Path) -> None:
    """Files are named from where the matchup is."""

    def there(given: Any) -> Any:
        if isinstance(given, list):
            return [there(one) for one in given]
        if isinstance(given, dict) and "file" in given:
            return given | {"file": there(given["file"])}
        return str(place / given) if isinstance(given, str) and given else given

    players = [config.get(side) for side in ("white", "black")]
    people = [player for player in players if isinstance(player, dict)]
    games = [player["games"] for player in people if isinstance(player.get("games"), dict)]
    for table, names in ((config, ("file",)), *((t, ("opponent",)) for t in people)):
        table.update({name: there(table[name]) for name in names if name in table})
    for table in games:
        table.update({name: there(table[name]) for name in ("file", "population") if name in table})


@contextmanager
def open_matchup(
    spec: str | Path,
    changes: Iterable[str] = (),
    *,
    workers: int | None = None,
    store: Path | str | None = None,
    cluster: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Matchup[Any]]:
    """The matchup that `spec` names: a built-in, a `.toml` or `.json` file, or `module:function`.

    Engines run as long as the block; `workers` says how many, `store` where their analyses are kept, and
    `cluster` on which Ray cluster they run instead of here. `progress` hears of games that are read and
    people who are fitted in passing.
    """
    name, config = load_config(spec, changes)
    kept = None if store is None else Path(store)
    with from_config(
        name, config, workers=workers, store=kept, cluster=cluster, progress=progress
    ) as matchup:
        yield matchup


@contextmanager
def from_config(
    name: str,
    config: Mapping[str, Any],
    *,
    workers: int | None = None,
    store: Path | None = None,
    cluster: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Matchup[Any]]:
    """The matchup of a configuration that is already read."""
    kind = config.get("kind")
    if kind == "tabular":
        from preplay.matchup.plain import open_tabular

        yield replace(open_tabular(config), name=name)
    elif kind == "synthetic":
        from preplay.matchup.plain import open_synthetic

        yield replace(open_synthetic(config), name=name)
    elif kind == "openspiel":
        from preplay.matchup.plain import open_openspiel

        yield replace(open_openspiel(config), name=name)
    elif kind == "chess":
        from preplay.matchup.chess import open_chess

        with open_chess(
            config, workers=workers, store=store, cluster=cluster, progress=progress
        ) as matchup:
            yield replace(matchup, name=name)
    elif kind == "chess-clock":
        from preplay.matchup.chess_clock import open_chess_clock

        with open_chess_clock(config, workers=workers, store=store, cluster=cluster) as matchup:
            yield replace(matchup, name=name)
    elif kind == "python":
        from preplay.matchup.own import open_python

        with open_python(config) as matchup:
            yield replace(matchup, name=name)
    else:
        raise InputError(f"{name}: kind = '{kind}'; {nearest(str(kind), KINDS)}")


def sides_of(config: Mapping[str, Any]) -> tuple[str, str]:
    """What the sides are called; runs of a game of one's own have it written down."""
    if "sides" in config:
        sides = config["sides"]
        if not isinstance(sides, list | tuple) or len(sides) != 2:
            raise InputError(f"sides {shown(sides)}; expected two names")
        return str(sides[0]), str(sides[1])
    if config.get("kind") == "python" and "matchup" in config:
        from preplay.matchup.own import open_python

        with open_python(config) as matchup:
            return matchup.sides
    return ("white", "black") if config.get("kind") in BY_ENGINES else ("1", "2")
