"""Where games come from: files, folders and patterns, packed or not, in any encoding."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from glob import has_magic
from pathlib import Path
from typing import IO

from preplay.errors import InputError

SUFFIXES = (".pgn", ".pgn.gz", ".pgn.zst", ".pgn.bz2")
"""What is read of a folder."""
PART = 1 << 22
"""Bytes of text read at a time."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")
"""What no text has; the 0x1a that ended files under DOS may stay."""
_BEGINNINGS = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2"}


class BrokenFileError(InputError):
    """A file that cannot be read as games; the others still can."""


def find_files(words: Iterable[str | Path]) -> tuple[Path, ...]:
    """The files that `words` name: files, folders (all PGN below them), patterns such as `*.pgn.gz`."""
    found: dict[Path, None] = {}
    for word in words:
        text, path = str(word), Path(word)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and _named_pgn(p))
            if not inside:
                raise InputError(f"{text}: no {' or '.join(SUFFIXES)} file in this folder")
        elif path.exists() or not has_magic(text):
            inside = [path]
        else:
            there = Path(path.anchor)
            inside = sorted(p for p in there.glob(str(path.relative_to(there))) if p.is_file())
            if not inside:
                raise InputError(f"{text}: no file fits this pattern")
        found |= dict.fromkeys(inside)
    return tuple(found)


def _named_pgn(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file as it lies on the disk."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BrokenFileError(f"cannot read {path}: {error.strerror}") from None


def parts_of(path: Path) -> Iterator[bytes]:
    """The text of a file in parts: unpacked, UTF-16 turned to UTF-8, without a byte order mark.

    Latin-1 stays as it is: moves are ASCII in every encoding, and tags are told apart one by one.
    """
    try:
        with path.open("rb") as raw:
            kind = next((k for b, k in _BEGINNINGS.items() if _begins(raw, b)), "")
            with _unpacked(raw, kind) as file:
                yield from _plain(file, path)
    except OSError as error:
        raise BrokenFileError(f"cannot read {path}: {error.strerror or error}") from None
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BrokenFileError(
            f"{path}: damaged ({error}); the games before the damage were read"
        ) from None


def _begins(file: IO[bytes], mark: bytes) -> bool:
    found = file.read(len(mark)) == mark
    file.seek(0)
    return found


def _unpacked(raw: IO[bytes], kind: str) -> IO[bytes]:
    if kind == "gz":
        return gzip.open(raw, "rb")  # type: ignore[return-value]
    if kind == "bz2":
        return bz2.open(raw, "rb")
    if kind == "zst":
        import zstandard

        class Reading(io.RawIOBase):
            """zstandard's reader, whose errors are its own."""

            def __init__(self) -> None:
                self._inner = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)

            def readable(self) -> bool:
                return True

            def read(self, size: int = -1) -> bytes:
                try:
                    return self._inner.read(size)
                except zstandard.ZstdError as error:
                    raise EOFError(str(error)) from None

        return Reading()  # type: ignore[return-value]
    return raw


def _plain(file: IO[bytes], name: Path) -> Iterator[bytes]:
    first = file.read(PART)
    wide = _width(first)
    decoder = codecs.getincrementaldecoder(wide)() if wide else None
    part, begun, line = first, False, 1
    while part:
        text = part if decoder is None else decoder.decode(part).encode()
        if not begun:
            text, begun = text.removeprefix(codecs.BOM_UTF8), True
        if found := _CONTROL.search(text):
            line += text.count(b"\n", 0, found.start())
            what = f"control character 0x{found[0][0]:02x} in line {line}"
            raise BrokenFileError(
                f"{name}: not PGN text ({what}); expected PGN in UTF-8, Latin-1 or UTF-16"
            )
        yield text.replace(b"\x1a", b" ")
        line += text.count(b"\n")
        part = file.read(PART)


def _width(text: bytes) -> str:
    """The name of a UTF-16, by its mark or by the zeros between ASCII letters; empty for narrow text."""
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = text[:200]
    if len(head) >= 20 and not any(head[1::2]):
        return "utf-16-le"
    return "utf-16-be" if len(head) >= 20 and not any(head[0::2]) else ""


def tag_of(value: bytes) -> str:
    """A tag's value: UTF-8, or the Latin-1 that PGN was before."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("cp1252", errors="replace")
    return text.replace('\\"', '"').replace("\\\\", "\\")
