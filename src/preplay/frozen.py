"""What nobody changes any more: results hold Python's own numbers, tuples and frozen dicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that cannot be changed; `dict(…)` of it can."""

    __slots__ = ()

    def _refuse(self, *args: object, **named: object) -> NoReturn:
        raise TypeError("results are frozen; expected a change to a copy, as in dict(moves)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return FrozenDict, (dict(self),)


def frozen(value: Any) -> Any:
    """The same value: numpy's numbers as Python's, lists as tuples, dicts frozen all the way down."""
    if isinstance(value, dict):
        return FrozenDict({key: frozen(part) for key, part in value.items()})
    if isinstance(value, list):
        return tuple(map(frozen, value))
    if isinstance(value, tuple):
        parts = map(frozen, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if getattr(value, "shape", None) == ():  # a number of numpy's, which need not be imported for this
        return value.item()
    return value


def thawed(value: Any) -> Any:
    """A copy of JSON data, whatever it came from, that may be changed."""
    if isinstance(value, Mapping):
        return {key: thawed(part) for key, part in value.items()}
    return [thawed(part) for part in value] if isinstance(value, list | tuple) else value


def freeze(data: Any) -> None:
    """Freeze the fields of a frozen dataclass: its `__post_init__`."""
    for f in fields(data):
        object.__setattr__(data, f.name, frozen(getattr(data, f.name)))
