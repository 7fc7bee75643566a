"""Reading and writing files: a kill leaves the old one or the new one, never half of one."""

from __future__ import annotations

import glob
import json
import math
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preplay.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ABANDONED = 3600.0
"""Seconds after which nobody goes on writing a temporary file."""
_HARMLESS = 64 << 20
"""Bytes that any file may unpack to."""
_ZIP_END = 22
"""Bytes of the end of a zip archive; the number of its parts is in it."""
_PACKED = 100
"""How many times their size larger ones may unpack to; what preplay writes stays far below that."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file to write to; it takes the place of `path` when all went well.

    A symbolic link stays, and what it points to is replaced. What is no plain file (a device, a pipe) is
    written to as it is.
    """
    target = Path(os.path.realpath(path))
    special = target.exists() and not target.is_file()
    place = Path(tempfile.gettempdir()) / f"preplay-{target.name}" if special else target
    temporary = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_over(place)
        yield temporary
        if special:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        else:
            temporary.replace(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _remove_left_over(place: Path) -> None:
    """Remove what killed processes were writing to take the place of a file, if it is `ABANDONED`."""
    before = time.time() - ABANDONED
    for other in place.parent.glob(f"{glob.escape(place.name)}.*.tmp"):
        with suppress(OSError):
            if other.stat().st_mtime < before:
                other.unlink()


def write_text(path: Path, text: str) -> None:
    """Put `text` in place of what `path` held."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` in place of what `path` held."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def check_apart(*paths: Path | None) -> None:
    """Raise InputError for two files to write that are one; devices and pipes take several."""
    met = set()
    for path in paths:
        place = None if path is None else path.resolve()
        if place is None or (place.exists() and not place.is_file()):
            continue
        if place in met:
            raise InputError(f"{path}: is to be written twice; expected a file of its own for each")
        met.add(place)


def check_writable(path: Path) -> None:
    """Raise InputError now rather than later if nothing can be written to `path`.

    All is left as it is: folders that are missing are made when there is something to write.
    """
    if path.is_dir():
        raise InputError(f"{path}: cannot be written (is a directory)")
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise InputError(f"{path}: cannot be written (Permission denied)")
        return
    missing = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        probe = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):
            for folder in missing:
                folder.rmdir()


def read_text(path: Path, expected: str) -> str:
    """The UTF-8 text of a file, with or without a mark at its beginning; else an InputError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; expected {expected}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; expected {expected}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}; expected {expected}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read ({reason}); expected {expected}") from None


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of an .npz file; one that unpacks to far more than its size is no honest one.

    Raises what NumPy raises for damaged files, and ValueError. A changed length in the archive's
    directory may hide a part in another's comment: its end says how many there are.
    """
    import zipfile

    import numpy as np

    with zipfile.ZipFile(path) as file:
        parts = file.infolist()
    with path.open("rb") as raw:
        raw.seek(-_ZIP_END, os.SEEK_END)
        end = raw.read()
    if int.from_bytes(end[10:12], "little") != len(parts):
        raise ValueError("arrays are missing")
    unpacked = sum(part.file_size for part in parts)
    if unpacked > max(_HARMLESS, _PACKED * path.stat().st_size):
        raise ValueError(f"{unpacked:,} bytes in a file of {path.stat().st_size:,}")
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put arrays in place of what `path` held, as a compressed .npz file."""
    import numpy as np

    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def parse_json(
    text: str, source: object, pairs: Callable[[Any], Any] | None = None, *, finite: bool = False
) -> Any:
    """The data in a JSON text; every mistake is an InputError that names the source and the place.

    With `finite`, numbers that JSON does not have (NaN) or that are too large are mistakes too. Halves of
    characters always are: nobody can write them to a file again.
    """
    number = _finite if finite else None
    if _halved(text):
        raise InputError(f"{source}: half of a character (a lone surrogate); expected text")
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=number, parse_float=number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{source}: {where}: {error.msg}; expected JSON") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply for JSON; expected fewer levels") from None
    except InputError as error:  # of `pairs` or `number`
        raise InputError(f"{source}: {error}") from None
    except ValueError:
        raise InputError(f"{source}: a number of thousands of digits; expected a shorter one") from None


def _halved(text: str) -> bool:
    """Whether a JSON text escapes a surrogate that is no part of a pair."""
    if _SURROGATE.search(text) is None:
        return False
    return _SURROGATE.search(_WHOLE.sub("", text)) is not None


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_WHOLE = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
"""Backslashes that stand for themselves, and pairs of surrogates."""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"the number {text}; expected a finite one")
    return number
