"""Results as JSON data and back: the fields of a result are its keys, in their order.

To add something to a result, add a field to its class: `optional()` where it is not always there,
`told(as_json)` where JSON has it in another form, `beside()` where it lives in a file of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from preplay.arguments import shown
from preplay.errors import InputError, StoreError

T = TypeVar("T")


def optional() -> Any:
    """A field that JSON leaves out where it is None."""
    return field(default=None, metadata={"optional": True})


def told(form: Callable[[Any], Any], default: Any = MISSING, *, whole: bool = False) -> Any:
    """A field that JSON has in another form: a function of its value, or of the whole result."""
    return field(default=default, metadata={"form": form, "whole": whole})


def beside(default: Any = None) -> Any:
    """A field that is not part of the JSON: it is kept in a file of its own, or not at all."""
    return field(default=default, repr=False, compare=False, metadata={"beside": True})


def as_data(result: Any) -> dict[str, Any]:
    """A result as the JSON object that its command prints and keeps."""
    if not is_dataclass(result) or isinstance(result, type):
        raise InputError(f"result is {shown(result)}; expected one of preplay, as prepare(...) is")
    data = {}
    for f in fields(result):
        value = getattr(result, f.name)
        if f.metadata.get("beside") or (value is None and f.metadata.get("optional")):
            continue
        form = f.metadata.get("form")
        data[f.name] = plain(value if form is None else form(result if f.metadata["whole"] else value))
    return data


def plain(value: Any) -> Any:
    """Typed values as JSON data; JSON has no infinity: None stands for it."""
    if is_dataclass(value) and not isinstance(value, type):
        return as_data(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_data(kind: type[T], data: Mapping[str, Any], where: object, **besides: Any) -> T:
    """The result that JSON data tells of, checked; keys that are not known are passed over."""
    from pydantic import TypeAdapter, ValidationError

    hints, found = get_type_hints(kind), dict(besides)
    for f in fields(kind):  # type: ignore[arg-type]  # every result is a dataclass
        if f.metadata.get("beside") or (f.name not in data and f.default is not MISSING):
            continue
        if f.name not in data:
            raise StoreError(f"{where}: damaged ('{f.name}' is missing)")
        try:
            found[f.name] = TypeAdapter(hints[f.name]).validate_python(data[f.name])
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, (f.name, *problem["loc"])))
            raise StoreError(f"{where}: damaged ({place}: {problem['msg'].lower()})") from None
    return kind(**found)
